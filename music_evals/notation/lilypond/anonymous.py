"""The music of a LilyPond text without title, composer and other identifying marks.

`anonymise` leaves notes, rhythm, keys, metres, clefs, repeats, dynamics, articulation and metronome figures as they
stand, so that LilyPond plays the same notes at the same times. Out go headers, comments, markup and every other printed
text, lyrics, instrument names and MIDI instruments, output file names, and word tempi. So do the settings by which one
knows an editor, and with him a series: those of paper, layout and MIDI output, how things look, and line breaks; note
names become Dutch ones. Variables, contexts, tags and quoted parts get neutral names (``voiceA``, ``partA``, ``tagA``,
``cueA`` …), in order of first appearance. It works on the tokens of the text alone, and never runs LilyPond.

What it cannot clean with certainty it refuses: text within a Scheme program, for instance, or a word after a command
that is not known here.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from music_evals.notation.lilypond.languages import LANGUAGES, language_changes, name_of, pitch_of
from music_evals.notation.lilypond.markups import markup_end, value_end
from music_evals.notation.lilypond.source import OWN_FILES
from music_evals.notation.lilypond.syntax import (
    LONG,
    LYRICS,
    MARKUPS,
    Definition,
    Edit,
    Kind,
    Token,
    block_spans,
    closing,
    code_tokens,
    comment_spans,
    definitions,
    edited,
    embedded,
    literal_value,
    scheme_tokens,
    string_value,
)

_BLOCKS: Final = frozenset({"\\header", "\\paper", "\\layout", "\\midi"})
_BREAKS: Final = frozenset({"\\break", "\\noBreak", "\\pageBreak", "\\noPageBreak", "\\pageTurn", "\\allowPageTurn"})
_MUSICAL: Final = frozenset(
    {
        *("alternativeNumberingStyle", "currentBarNumber", "instrumentTransposition", "measureLength"),
        *("measurePosition", "repeatCommands", "tempoWholesPerMinute", "tieWaitForNote", "timeSignatureFraction"),
        *("timing", "transposition"),
    }
)
"""Properties that change the music or how its measures are counted; all others are how it looks."""
_UNPITCHED: Final = frozenset({"\\drummode", "\\drums", "\\figuremode", "\\figures"})
_SIGNS: Final = frozenset({"-", "^", "_"})
_PASSING: Final = frozenset({"\\once", "\\temporary", "\\undo"})

_KEPT_STRINGS: Final[Mapping[str, re.Pattern[str]]] = {
    "\\version": re.compile(r"[0-9.]{1,20}"),
    "\\language": re.compile("|".join(LANGUAGES)),
    "\\clef": re.compile(r"[A-Za-z0-9_^()\[\]-]{1,40}"),
    "\\cueClef": re.compile(r"[A-Za-z0-9_^()\[\]-]{1,40}"),
    "\\bar": re.compile(r"[^A-Za-z\s]{0,8}|[^A-Za-z\s]{0,4}[SkE][^A-Za-z\s]{0,4}"),
    "\\repeat": re.compile("volta|unfold|percent|tremolo|segno"),
    "\\include": re.compile(r"[a-z-]{1,60}\.ly"),
    **dict.fromkeys(("\\consists", "\\remove", "\\type"), re.compile("[A-Za-z_]{1,60}_(?:engraver|performer|group)")),
    **dict.fromkeys(("\\accepts", "\\denies", "\\alias", "\\defaultchild"), re.compile("[A-Za-z]{1,40}")),
}
"""Commands whose string says how the music goes or is engraved, and what it may be."""

_MARKS: Final = frozenset(
    {"\\mark", "\\textMark", "\\textEndMark", "\\sectionLabel", "\\jump", "\\tocItem", "\\markupMap"}
)
_FILES: Final = frozenset({"\\bookOutputName", "\\bookOutputSuffix", "\\sourcefilename", "\\sourcefileline", "\\label"})
_TAGS: Final = frozenset({"\\tag", "\\keepWithTag", "\\removeWithTag", "\\pushToTag", "\\appendToTag", "\\tagGroup"})
_QUOTES: Final = frozenset({"\\addQuote", "\\cueDuring", "\\cueDuringWithClef", "\\quoteDuring"})
_CONTEXTS: Final = frozenset({"\\new", "\\context", "\\change"})
_PLAIN_NAMES: Final = frozenset({"up", "down", "one", "two", "solo", "shared", "null"})
"""Names of contexts that LilyPond gives itself, in ``\\autochange`` and ``\\partCombine``."""
_OWN_VARIABLES: Final = frozenset(
    {"afterGraceFraction", "showFirstLength", "showLastLength", "musicQuotes", "midiDrumPitches", "drumPitchNames"}
)
"""Variables of LilyPond's that a text may set, and that mean nothing under another name."""

_TEXT_SCHEME: Final = re.compile(r"[#$]\(\s*(?:markup|make-[a-z-]*markup|make-dynamic-script|string-append)\b")
_DROPPED_SCHEME: Final = re.compile(
    r"[#$]\(\s*(?:set-default-paper-size|set-global-staff-size|set-paper-size|ly:set-option|ly:message|ly:warning|"
    r"ly:expect-warning|ly:progress|display|format|ly:add-option|set-global-fonts|define\s+output-suffix)\b"
)
_DEFINING: Final = re.compile(r"[#$]\(\s*define(?:-public|-markup-command|-markup-list-command)?\s")
_NESTING: Final = 50  # of commands ahead of lyrics
_PATH: Final = 12  # tokens of a property's path
_NAME: Final = re.compile(r"[\w .:?!*+/-]{1,100}")
_LETTERS: Final = re.compile(r"[^\W\d_]")


def anonymise(text: str) -> str:
    r"""Return the leak-free form of a self-contained text in LilyPond 2.24's syntax; done twice it changes nothing.

    ValueError if a text would stay, or a part of the music would have to go with one; it names the place.

    Example:
        >>> print(anonymise('''\\header { title = "Air" }
        ... melody = \\relative c' { \\tempo "Largo" 4 = 40 c4^"dolce" d } % by J. S. Bach
        ... \\score { \\new Staff = "flute" \\melody \\addlyrics { la la } \\layout { } }'''))
        voiceA = \relative c' { \tempo 4 = 40 c4 d }
        \score { \new Staff = "partA" \voiceA \layout { } }
        <BLANKLINE>
    """
    return _tidy(_Cleaner(text).cleaned())


@dataclass(slots=True)
class _Names:
    """Neutral names, in order of first appearance."""

    prefix: str
    known: dict[str, str] = field(default_factory=dict)

    def of(self, name: str) -> str:
        return self.known.setdefault(name, self.prefix + _letters(len(self.known)))


class _Cleaner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.found = code_tokens(text)
        self.edits: list[Edit] = []
        self.problems: list[tuple[int, str]] = []
        self.variables = _Names("voice")
        self.contexts = _Names("part")
        self.tags = _Names("tag")
        self.quotes = _Names("cue")
        self.texts: set[str] = set()  # variables that hold printed text or lyrics; they go with all their uses
        # Kinds of arguments of the text's own markup commands, and of its variables that hold markups.
        self.markups: dict[str, str] = {}
        self.defined: dict[int, Definition] = {}  # definitions that stay, by where they begin
        self.first: dict[str, int] = {}  # where each of the text's own variables is defined first
        self.starts: dict[int, int] = {}  # of what `text_start` found; a run of signs asks for each of them
        self.gone: dict[int, int] = {}  # definitions that go: where they begin, and the index of the token after them

    def cleaned(self) -> str:
        for start, end in comment_spans(self.text, 0, len(self.text)):
            self.remove(start, end)
        self.classify()
        self.walk(self.found)
        for offset, what in self.problems:
            line = self.text.count("\n", 0, offset) + 1
            raise _refusal(f"line {line} has {what}")
        return _in_dutch(edited(self.text, self.edits))

    def remove(self, start: int, end: int) -> None:
        """Leave out a part, with the white space ahead of it where some follows, so that words stay apart."""
        after = self.text[end : end + 1]
        if not after or after.isspace():
            while start and self.text[start - 1] in " \t":
                start -= 1
            self.edits.append((start, end, ""))
        else:
            before = self.text[start - 1 : start]
            self.edits.append((start, end, "" if not before or before.isspace() else " "))

    def rename(self, token: Token, new: str) -> None:
        quoted = '"' in token.text
        sign = token.text[0] if token.kind is Kind.SCHEME else ""
        self.edits.append((token.start, token.end, f'{sign}"{new}"' if quoted else sign + new))

    def problem(self, token: Token, what: str) -> None:
        self.problems.append((token.start, f"{what} {token.text[:60]!r}"))

    # What variables hold.

    def classify(self) -> None:
        """Tell variables with printed text from others, and give the others their names."""
        at = {token.start: index for index, token in enumerate(self.found)}
        kept: list[tuple[int, str]] = []
        values = set()
        for definition in definitions(self.text):
            values.add(definition.value)
            end = self.text_value_end(at[definition.value], definition)
            if end is not None:
                self.texts.add(definition.name)
                self.markups[definition.name] = ""
                self.remove(definition.start, self.found[end - 1].end)
                self.gone[definition.start] = end
            else:
                self.defined[definition.start] = definition
                kept.append((definition.start, definition.name))
        blocks = [span for command in ("\\header", "\\paper") for span in block_spans(self.text, command)]
        for token in self.found:
            is_definition = token.kind is Kind.SCHEME and _DEFINING.match(token.text) and token.start not in values
            if is_definition and not any(start < token.start < end for start, end in blocks):
                kept += self.classify_scheme(token)
        for start, name in sorted(kept):
            if not _NAME.fullmatch(name):
                raise _refusal(f"it gives {name[:40]!r} a meaning of its own")
            if name in self.texts:
                raise _refusal(f"{name!r} holds text here and music there")
            if name not in _OWN_VARIABLES:
                self.variables.of(name)
                self.first.setdefault(name, start)

    def classify_scheme(self, token: Token) -> list[tuple[int, str]]:
        """The name that a definition in Scheme gives to something other than text."""
        parts = [part for part in scheme_tokens(self.text, token) if part.kind is not Kind.COMMENT]
        if len(parts) < 4:
            return []
        head, is_function = parts[1].text, parts[2].text == "("
        name = parts[3 if is_function else 2].text
        if "markup" in head:
            self.markups[name] = _kinds(parts)
            self.remove(token.start, token.end)
            return []
        if not is_function and any(_is_worded(part) for part in parts):
            self.texts.add(name)
            self.markups[name] = ""
            self.remove(token.start, token.end)
            return []
        return [(token.start, name)]

    def text_value_end(self, index: int, definition: Definition) -> int | None:
        """Index after the printed text or the lyrics that a variable holds; None where it holds something else."""
        found = self.found
        index = self.text_start(found, index)
        word = _text_at(found, index)
        if word in LYRICS or (word in ("\\new", "\\context") and _text_at(found, index + 1) == "Lyrics"):
            return self.music_end(found, index, 0)
        if word.startswith("\\") and word not in MARKUPS and found[index].end < definition.end:
            return None  # a variable, but with more after it
        return self.text_end(found, index)

    # Walking over tokens; every method gives the index at which to go on.

    def walk(self, found: Sequence[Token]) -> None:
        index = 0
        while index < len(found):
            # A handler that understands nothing must not keep the walk where it is.
            index = max(self.step(found, index), index + 1)

    def step(self, found: Sequence[Token], index: int) -> int:
        token = found[index]
        if token.start in self.gone:
            return self.gone[token.start]
        if token.kind is Kind.COMMAND:
            return self.command(found, index)
        if token.kind is Kind.SIGN and token.text in _SIGNS:
            return self.attached(found, index)
        if token.kind is Kind.SCHEME:
            return self.scheme_at(found, index)
        if token.start in self.defined:
            name = self.defined[token.start].name
            if name in self.variables.known:
                self.edits.append((token.start, token.end, self.variables.of(name)))
            return index + 1
        if token.kind is Kind.WORD and _text_at(found, _path_end(found, index)) == "=":
            return self.assigned(found, index, index)
        if _is_worded(token):
            self.problem(token, "the string")
        return index + 1

    def command(self, found: Sequence[Token], index: int) -> int:
        token = found[index]
        word = token.text
        following = _text_at(found, index + 1)
        if word in _BLOCKS and following == "{":
            end = closing(found, index + 1)
            is_header = word in ("\\header", "\\paper")
            if is_header and _text_at(found, index - 1) != "=":
                self.remove(token.start, found[end].end)
            elif is_header or end > index + 2:
                self.edits.append((found[index + 1].end, found[end].start, " "))
            return end + 1
        if word in _BREAKS or word in _FILES:
            return self.remove_tokens(found, index, index + (1 if word in _BREAKS else 2))
        if word in ("\\revert", "\\unset"):
            end = _path_end(found, index + 1, symbols=True)
            is_musical = any(part.text in _MUSICAL for part in found[index:end])
            return end if is_musical else self.remove_tokens(found, index, end)
        if word in MARKUPS:
            return self.remove_tokens(found, index, markup_end(self.text, found, index, self.markups))
        if word in LYRICS or (word in ("\\new", "\\context") and following == "Lyrics"):
            return self.remove_tokens(found, index, self.music_end(found, index, 0))
        if word in _CONTEXTS:
            return self.context(found, index)
        if word in ("\\set", "\\override"):
            return self.assigned(found, index, index + 1)
        if word in ("\\tweak", "\\tag"):
            return self.attached(found, index)
        if word == "\\footnote":
            return self.footnote(found, index, index)
        if word == "\\tempo":
            return self.tempo(found, index)
        if word in _MARKS:
            return self.mark(found, index)
        if word in _TAGS:
            return self.tagged(found, index + 1)
        if word in _QUOTES and index + 1 < len(found) and (name := _name(found[index + 1])) is not None:
            self.rename(found[index + 1], self.quotes.of(name))
            return index + 2
        if word in _KEPT_STRINGS:
            return self.kept_string(found, index)
        name = string_value(word[1:]) if word.startswith('\\"') else word[1:]
        if name in self.texts:
            self.remove_tokens(found, index, index + 1)
        elif self.is_known(name, token):
            self.edits.append((token.start, token.end, "\\" + self.variables.of(name)))
        return index + 1

    def is_known(self, name: str, token: Token) -> bool:
        """Whether a name is one of the text's own; ahead of its definition it is LilyPond's."""
        return name in self.variables.known and self.first.get(name, 0) < token.start

    def remove_tokens(self, found: Sequence[Token], first: int, end: int) -> int:
        while first and found[first - 1].text in _PASSING:
            first -= 1
        last = min(end, len(found)) - 1
        before = (_text_at(found, first - 2), _text_at(found, first - 1))
        if first <= last and (before[1] == "=" or before == ("\\score", "{")):
            # A variable needs a value, and a score needs music: none.
            self.edits.append((found[first].start, found[last].end, "{ }"))
        elif first <= last:
            self.remove(found[first].start, found[last].end)
        return end

    def attached(self, found: Sequence[Token], index: int) -> int:
        """What hangs on a note, from its sign of direction or its first tweak on."""
        here = self.text_start(found, index)
        if _text_at(found, here) == "\\footnote":
            return self.footnote(found, index, here)
        end = self.text_end(found, here)
        if end is not None:
            return self.remove_tokens(found, index, end)
        if found[index].text == "\\tweak":
            value = _tweaked(found, index)
            if value < len(found) and self.is_text_value(found[value]):
                return self.remove_tokens(found, index, self.value_end(found, value))
            return value
        if found[index].text == "\\tag":
            return self.tagged(found, index + 1)
        return index + 1

    def text_start(self, found: Sequence[Token], index: int) -> int:
        """Index after signs of direction, tweaks and tags."""
        known = self.starts if found is self.found else {}
        passed = []
        while index not in known:
            word = _text_at(found, index)
            passed.append(index)
            if word == "\\tweak":
                index = self.value_end(found, _tweaked(found, index))
            elif word == "\\tag":
                index = _tag_end(found, index + 1)
            elif word in _SIGNS:
                index += 1
            else:
                known[index] = index
        known |= dict.fromkeys(passed, known[index])
        return known[index]

    def value_end(self, found: Sequence[Token], index: int) -> int:
        if _text_at(found, index) in MARKUPS:
            return markup_end(self.text, found, index, self.markups)
        return value_end(found, index)

    def text_end(self, found: Sequence[Token], index: int) -> int | None:
        """Index after the printed text that begins at a token; None where none does."""
        if index >= len(found):
            return None
        token = found[index]
        if token.text in MARKUPS:
            return markup_end(self.text, found, index, self.markups)
        datum = token.text[1:].lstrip()
        is_text = token.kind is Kind.STRING or (token.kind is Kind.COMMAND and token.text[1:] in self.texts)
        if token.kind is Kind.SCHEME:
            is_text = datum.startswith('"') or datum in self.texts or _TEXT_SCHEME.match(token.text) is not None
        return index + 1 if is_text else None

    def is_text_value(self, token: Token) -> bool:
        if token.text in MARKUPS or (token.kind is Kind.COMMAND and token.text[1:] in self.texts):
            return True
        if token.kind is Kind.SCHEME:
            parts = list(scheme_tokens(self.text, token))
            return any(_is_worded(part) or part.text in self.texts for part in parts)
        return _is_worded(token)

    def assigned(self, found: Sequence[Token], index: int, path: int) -> int:
        """A property that is set; it goes where its value is text."""
        sign = _path_end(found, path, symbols=path > index)
        if _text_at(found, sign) != "=" or sign + 1 >= len(found):
            return index + 1
        musical = found[index].text != "\\set" or any(part.text in _MUSICAL for part in found[path:sign])
        if found[index].text == "\\override" or not musical or self.is_text_value(found[sign + 1]):
            return self.remove_tokens(found, index, self.value_end(found, sign + 1))
        return sign + 1

    def context(self, found: Sequence[Token], index: int) -> int:
        if _text_at(found, index + 2) != "=" or index + 3 >= len(found):
            return index + 2
        token = found[index + 3]
        name = _name(token)
        if token.kind is Kind.COMMAND and token.text[1:] in self.texts:
            self.edits.append((token.start, token.end, f'"{self.contexts.of(token.text)}"'))
        elif name is None:
            return index + 3
        elif name not in _PLAIN_NAMES:
            self.rename(token, self.contexts.of(name))
        return index + 4

    def tempo(self, found: Sequence[Token], index: int) -> int:
        """A tempo, of which the figure stays."""
        end = self.text_end(found, index + 1)
        if end is None:
            return index + 1
        here = end + 1
        while _text_at(found, here) == ".":
            here += 1
        is_duration = _text_at(found, end).isdecimal() or _text_at(found, end) in LONG
        if is_duration and _text_at(found, here) == "=":
            self.edits.append((found[index + 1].start, found[end].start, ""))
            return end
        return self.remove_tokens(found, index, end)

    def mark(self, found: Sequence[Token], index: int) -> int:
        """A mark, of which plain rehearsal marks stay."""
        if index + 1 >= len(found):
            return index + 1
        token = found[index + 1]
        if token.text == "\\default" or token.kind is Kind.NUMBER or token.text[1:].isdecimal():
            return index + 2
        return self.remove_tokens(found, index, self.value_end(found, index + 1))

    def footnote(self, found: Sequence[Token], first: int, index: int) -> int:
        """A footnote: perhaps a mark, an offset, perhaps what it belongs to, and its text."""
        here = index + 1
        end = self.text_end(found, here)
        if end is not None and end < len(found) and found[end].kind is Kind.SCHEME:
            here = end
        for _ in range(6):  # an offset, and a name of up to three words
            if here < len(found) and (found[here].kind in (Kind.WORD, Kind.SCHEME) or found[here].text == "."):
                here += 1
        end = self.text_end(found, here)
        if end is None:
            self.problem(found[index], "the footnote")
            return index + 1
        return self.remove_tokens(found, first, end)

    def tagged(self, found: Sequence[Token], index: int) -> int:
        """The tag or tags after a command."""
        end = _tag_end(found, index)
        for token in found[index:end]:
            if token.kind is Kind.SCHEME:
                for part in scheme_tokens(self.text, token):
                    if part.kind is Kind.WORD:
                        self.edits.append((part.start, part.end, self.tags.of(part.text)))
            elif token.kind in (Kind.WORD, Kind.STRING):
                self.rename(token, self.tags.of(token.text.strip('"')))
        return end

    def kept_string(self, found: Sequence[Token], index: int) -> int:
        """A command whose string stays where it is one of those that the command takes."""
        word = found[index].text
        if index + 1 >= len(found) or (value := literal_value(found[index + 1])) is None:
            return index + 1
        if word == "\\include" and value.removesuffix(".ly") in LANGUAGES:
            language = value.removesuffix(".ly")
            self.edits.append((found[index].start, found[index + 1].end, f'\\language "{language}"'))
        elif word == "\\include" and value not in OWN_FILES:
            self.problem(found[index + 1], "the included file")
        elif not _KEPT_STRINGS[word].fullmatch(value):
            self.problem(found[index + 1], f"{word} with the string")
        return index + 2

    def music_end(self, found: Sequence[Token], index: int, level: int) -> int:
        """Index after the lyrics that begin at a token."""
        if index >= len(found) or level > _NESTING:
            return min(index, len(found))
        token = found[index]
        if token.text in ("{", "<<"):
            return closing(found, index) + 1
        if token.kind is Kind.SCHEME:
            return index + 1
        if token.kind is not Kind.COMMAND:
            return index
        if token.text in _CONTEXTS:
            index += 4 if _text_at(found, index + 2) == "=" else 2
            while _text_at(found, index) == "\\with":
                index = value_end(found, index + 1)
            if _text_at(found, index) in _CONTEXTS and _text_at(found, index + 1) != "Lyrics":
                return index  # a context for lyrics that is only announced, ahead of another
        elif token.text == "\\lyricsto":
            index += 2
        elif token.text[1:] in self.texts or token.text[1:] in self.variables.known:
            return index + 1
        else:
            index += 1
            while index < len(found) and found[index].kind in (Kind.STRING, Kind.NUMBER, Kind.WORD, Kind.SCHEME):
                index += 1
        return self.music_end(found, index, level + 1)

    # Scheme.

    def scheme_at(self, found: Sequence[Token], index: int) -> int:
        token = found[index]
        if _DROPPED_SCHEME.match(token.text) and _text_at(found, index - 1) != "=":
            self.remove(token.start, token.end)
        elif token.text[1:] in self.texts:
            self.remove_tokens(found, index, index + 1)
        else:
            self.scheme(token)
        return index + 1

    def scheme(self, token: Token) -> None:
        """Rename the text's own variables in Scheme, and find strings."""
        parts = [part for part in scheme_tokens(self.text, token) if part.kind is not Kind.COMMENT]
        is_definition = len(parts) > 1 and parts[1].text.startswith("define")
        depth, quoted = 0, None
        for index, part in enumerate(parts):
            if part.kind is Kind.SCHEME:
                self.walk(code_tokens(self.text, *embedded(self.text, part)))
            elif _is_worded(part):
                if is_definition and depth == 1 and _text_at(parts, index - 1) == ")" and index + 2 < len(parts):
                    self.remove(part.start, part.end)  # what a function's author says of it
                else:
                    self.problem(part, "Scheme with the string")
            elif part.kind is Kind.WORD and quoted is None and self.is_known(part.text, part):
                self.edits.append((part.start, part.end, self.variables.of(part.text)))
            if part.text in ("'", "#'") and part.kind is Kind.SIGN:
                quoted = depth if quoted is None else quoted
                continue
            depth += part.kind is Kind.SIGN and part.text.endswith(("(", "["))
            depth -= part.kind is Kind.SIGN and part.text in (")", "]")
            if quoted is not None and depth <= quoted:
                quoted = None


def _refusal(why: str) -> ValueError:
    return ValueError(f"the text cannot be made leak-free: {why}")


def _in_dutch(text: str) -> str:
    """The text with Dutch note names, unless it uses several languages or names of drums and figures."""
    languages = {language for _, language in language_changes(text)}
    found = code_tokens(text)
    if len(languages) != 1 or any(token.text in _UNPITCHED for token in found):
        return text
    (language,) = languages
    edits: list[Edit] = []
    for index, token in enumerate(found):
        if token.text == "\\language":
            edits.append((token.start, found[index + 1].end, ""))
        elif token.kind is Kind.WORD and (name := pitch_of(token.text, language)) is not None:
            edits.append((token.start, token.end, name_of(name.step, name.alteration)))
    return edited(text, edits)


def _is_worded(token: Token) -> bool:
    """Whether a token is a string with letters in it."""
    return token.kind is Kind.STRING and _LETTERS.search(token.text) is not None


def _text_at(found: Sequence[Token], index: int) -> str:
    """A token's text; empty where there is none."""
    return found[index].text if 0 <= index < len(found) else ""


def _name(token: Token) -> str | None:
    """A name that is given as a word or a string."""
    return token.text if token.kind in (Kind.WORD, Kind.NUMBER) else literal_value(token)


def _path_end(found: Sequence[Token], index: int, *, symbols: bool = False) -> int:
    """Index after the path of a property: words, strings and numbers with dots between, perhaps symbols in Scheme."""
    here = index
    while here < min(len(found), index + _PATH):
        token = found[here]
        joined = here == index or found[here - 1].text == "."
        if not symbols and here > index and token.start > found[here - 1].end:
            break
        if not (
            (joined and token.kind in (Kind.WORD, Kind.NUMBER, Kind.STRING))
            or (symbols and token.kind is Kind.SCHEME)
            or (token.text == "." and not joined)
        ):
            break
        here += 1
    return here


def _tag_end(found: Sequence[Token], index: int) -> int:
    """Index after a tag, or several with dots or commas between."""
    if index >= len(found) or found[index].kind not in (Kind.WORD, Kind.STRING, Kind.SCHEME):
        return index
    index += 1
    while _text_at(found, index) in (".", ",") and index + 1 < len(found):
        index += 2
    return index


def _tweaked(found: Sequence[Token], index: int) -> int:
    r"""Index of the value of a ``\tweak``."""
    index += 2
    while _text_at(found, index) == ".":
        index += 2
    return index


def _kinds(parts: Sequence[Token]) -> str:
    """The kinds of arguments of a markup command, from the predicates in its definition."""
    lists, depth = [], 0
    for part in parts:
        if part.text == "(" and part.kind is Kind.SIGN:
            depth += 1
            if depth == 2:
                lists.append("")
        elif part.text == ")":
            depth -= 1
        elif depth == 2 and len(lists) == 2:
            lists[1] += "m" if part.text in ("markup?", "markup-list?", "cheap-markup?") else "v"
    return lists[1] if len(lists) > 1 else "m"


def _letters(number: int) -> str:
    """A, B … Z, AA, AB …: neutral names hold no digits, which LilyPond would take for a duration."""
    return ("" if number < 26 else _letters(number // 26 - 1)) + chr(ord("A") + number % 26)


def _tidy(text: str) -> str:
    """Without blank lines in a row, and white space at the ends of lines."""
    lines = "\n".join(line.rstrip() for line in text.split("\n"))
    return re.sub("\n{3,}", "\n\n", lines).strip("\n") + "\n"
