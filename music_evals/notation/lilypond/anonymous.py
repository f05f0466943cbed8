"""Leak-free LilyPond text: the music without title, composer and other marks that identify the piece.

`anonymise` keeps notes, rhythm, keys, metres, clefs, repeats, dynamics, articulation and metronome figures as they are
written, so LilyPond plays the same notes at the same times. It removes headers, comments, markup and all other printed
text, lyrics, instrument names and MIDI instruments, names of output files, and tempi in words.

It also removes what identifies an editor, and so a series of pieces: settings of paper, layout, MIDI output and looks,
and line breaks. Note names become Dutch. Variables, contexts, tags and quoted parts get neutral names (``voiceA``,
``partA``, ``tagA``, ``cueA`` …), in order of first appearance. It works on the tokens of the text, and never runs
LilyPond.

It refuses a text that it cannot clean with certainty: text within a Scheme program, for instance, or a word after an
unknown command.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Final, NoReturn

from music_evals.notation.lilypond.source import OWN_FILES
from music_evals.notation.lilypond.syntax.header import Definition, definitions
from music_evals.notation.lilypond.syntax.languages import LANGUAGES, languages_of, name_of, pitch_of
from music_evals.notation.lilypond.syntax.lexer import (
    LONG,
    LYRICS,
    MARKUPS,
    Edit,
    Kind,
    Token,
    apply_edits,
    block_spans,
    closing_index,
    code_tokens,
    comment_spans,
    embedded_span,
    literal_value,
    scheme_tokens,
    string_value,
)
from music_evals.notation.lilypond.syntax.markups import markup_end, value_end

_TABLE: Final = tomllib.loads(files(__package__).joinpath("anonymous.toml").read_text(encoding="utf-8"))
_MUSICAL, _PLAIN_NAMES, _OWN_VARIABLES = (
    frozenset(_TABLE[name].split()) for name in ("musical", "plain_names", "own_variables")
)
_BLOCKS, _BREAKS, _UNPITCHED, _PASSING, _MARKS, _FILES, _TAGS, _QUOTES, _CONTEXTS = (
    frozenset(f"\\{name}" for name in names.split()) for names in _TABLE["commands"].values()
)
_KEPT_STRINGS: Final[Mapping[str, re.Pattern[str]]] = {
    "\\language": re.compile("|".join(LANGUAGES)),
    **{f"\\{name}": re.compile(pattern) for name, pattern in _TABLE["kept_strings"].items()},
}
_SIGNS: Final = frozenset({"-", "^", "_"})
_TEXT_SCHEME: Final = re.compile(r"[#$]\(\s*(?:markup|make-[a-z-]*markup|make-dynamic-script|string-append)\b")
_DROPPED_SCHEME: Final = re.compile(
    r"[#$]\(\s*(?:set-default-paper-size|set-global-staff-size|set-paper-size|ly:set-option|ly:message|ly:warning|"
    r"ly:expect-warning|ly:progress|display|format|ly:add-option|set-global-fonts|define\s+output-suffix)\b"
)
_DEFINING: Final = re.compile(r"[#$]\(\s*define(?:-public|-markup-command|-markup-list-command)?\s")
_NESTING: Final = 50  # commands ahead of lyrics
_PATH: Final = 12  # tokens in the path of a property
_NAME: Final = re.compile(r"[\w .:?!*+/-]{1,100}")
_LETTERS: Final = re.compile(r"[^\W\d_]")


def anonymise(text: str) -> str:
    r"""Return the leak-free form of a self-contained text in LilyPond 2.24's syntax; a second time changes nothing.

    ValueError if text would stay, or if music would be lost with it; the message names the place.

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
    names: dict[str, str] = field(default_factory=dict)

    def of(self, name: str) -> str:
        return self.names.setdefault(name, self.prefix + _letters(len(self.names)))


class _Cleaner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = code_tokens(text)
        self.edits: list[Edit] = []
        self.variables = _Names("voice")
        self.contexts = _Names("part")
        self.tags = _Names("tag")
        self.quotes = _Names("cue")
        self.texts: set[str] = set()  # variables that hold printed text or lyrics; they are removed with all uses
        # Kinds of arguments of the text's own markup commands, and of its variables that hold markups.
        self.markups: dict[str, str] = {}
        self.defined: dict[int, Definition] = {}  # offset → definition that stays
        self.first: dict[str, int] = {}  # the text's own variable → offset of its first definition
        self.gone: dict[int, int] = {}  # offset of a definition that is removed → index of the token after it

    def cleaned(self) -> str:
        for start, end in comment_spans(self.text, 0, len(self.text)):
            self.remove(start, end)
        self.classify()
        self.walk(self.tokens)
        return _in_dutch(apply_edits(self.text, self.edits))

    def remove(self, start: int, end: int) -> None:
        """Remove a passage, and the white space on one side of it, so that words stay separate."""
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

    def refuse(self, token: Token, what: str) -> NoReturn:
        line = self.text.count("\n", 0, token.start) + 1
        raise _refusal(f"line {line} has {what} {token.text[:60]!r}")

    # Values of variables.

    def classify(self) -> None:
        """Remove variables that hold printed text, and give the others neutral names."""
        at = {token.start: index for index, token in enumerate(self.tokens)}
        kept: list[tuple[int, str]] = []
        values = set()
        for definition in definitions(self.text):
            values.add(definition.value)
            end = self.text_value_end(at[definition.value], definition)
            if end is not None:
                self.texts.add(definition.name)
                self.markups[definition.name] = ""
                self.remove(definition.start, self.tokens[end - 1].end)
                self.gone[definition.start] = end
            else:
                self.defined[definition.start] = definition
                kept.append((definition.start, definition.name))
        blocks = [span for command in ("\\header", "\\paper") for span in block_spans(self.text, command)]
        for token in self.tokens:
            is_definition = token.kind is Kind.SCHEME and _DEFINING.match(token.text) and token.start not in values
            is_in_block = any(start < token.start < end for start, end in blocks)
            if is_definition and not is_in_block and (name := self.classify_scheme(token)):
                kept.append((token.start, name))
        for start, name in sorted(kept):
            if not _NAME.fullmatch(name):
                raise _refusal(f"it gives {name[:40]!r} a meaning of its own")
            if name in self.texts:
                raise _refusal(f"{name!r} holds text here and music there")
            if name not in _OWN_VARIABLES:
                self.variables.of(name)
                self.first.setdefault(name, start)

    def classify_scheme(self, token: Token) -> str | None:
        """The name that Scheme defines; None if its value is text, and removed."""
        inner = self.inner_tokens(token)
        if len(inner) < 4:
            return None
        head, is_function = inner[1].text, inner[2].text == "("
        name = inner[3 if is_function else 2].text
        if "markup" in head:
            self.markups[name] = _kinds(inner)
        elif not is_function and any(map(_is_worded, inner)):
            self.texts.add(name)
            self.markups[name] = ""
        else:
            return name
        self.remove(token.start, token.end)
        return None

    def inner_tokens(self, token: Token) -> list[Token]:
        return [item for item in scheme_tokens(self.text, token) if item.kind is not Kind.COMMENT]

    def text_value_end(self, index: int, definition: Definition) -> int | None:
        """Index after the printed text or the lyrics that are a variable's value; None for other values."""
        tokens = self.tokens
        index = self.text_start(tokens, index)
        word = _text_at(tokens, index)
        if word in LYRICS or (word in ("\\new", "\\context") and _text_at(tokens, index + 1) == "Lyrics"):
            return self.music_end(tokens, index, 0)
        if word.startswith("\\") and word not in MARKUPS and tokens[index].end < definition.end:
            return None  # a variable, but with more after it
        return self.text_end(tokens, index)

    # Walking over tokens; every method returns the index at which to go on.

    def walk(self, tokens: Sequence[Token]) -> None:
        index = 0
        while index < len(tokens):
            # A method that handles nothing must not stop the walk.
            index = max(self.step(tokens, index), index + 1)

    def step(self, tokens: Sequence[Token], index: int) -> int:
        token = tokens[index]
        if token.start in self.gone:
            return self.gone[token.start]
        if token.kind is Kind.COMMAND:
            return self.command(tokens, index)
        if token.kind is Kind.SIGN and token.text in _SIGNS:
            return self.attached(tokens, index)
        if token.kind is Kind.SCHEME:
            return self.scheme_at(tokens, index)
        if token.start in self.defined:
            name = self.defined[token.start].name
            if name in self.variables.names:
                self.edits.append((token.start, token.end, self.variables.of(name)))
            return index + 1
        if token.kind is Kind.WORD and _text_at(tokens, _path_end(tokens, index)) == "=":
            return self.assigned(tokens, index, index)
        if _is_worded(token):
            self.refuse(token, "the string")
        return index + 1

    def command(self, tokens: Sequence[Token], index: int) -> int:
        token = tokens[index]
        word = token.text
        following = _text_at(tokens, index + 1)
        if word in _BLOCKS and following == "{":
            end = closing_index(tokens, index + 1)
            is_header = word in ("\\header", "\\paper")
            if is_header and _text_at(tokens, index - 1) != "=":
                self.remove(token.start, tokens[end].end)
            elif is_header or end > index + 2:
                self.edits.append((tokens[index + 1].end, tokens[end].start, " "))
            return end + 1
        if word in _BREAKS or word in _FILES:
            return self.remove_tokens(tokens, index, index + (1 if word in _BREAKS else 2))
        if word in ("\\revert", "\\unset"):
            end = _path_end(tokens, index + 1, symbols=True)
            is_musical = any(item.text in _MUSICAL for item in tokens[index:end])
            return end if is_musical else self.remove_tokens(tokens, index, end)
        if word in MARKUPS:
            return self.remove_tokens(tokens, index, markup_end(self.text, tokens, index, self.markups))
        if word in LYRICS or (word in ("\\new", "\\context") and following == "Lyrics"):
            return self.remove_tokens(tokens, index, self.music_end(tokens, index, 0))
        if word in _CONTEXTS:
            return self.context(tokens, index)
        if word in ("\\set", "\\override"):
            return self.assigned(tokens, index, index + 1)
        if word in ("\\tweak", "\\tag"):
            return self.attached(tokens, index)
        if word == "\\footnote":
            return self.footnote(tokens, index, index)
        if word == "\\tempo":
            return self.tempo(tokens, index)
        if word in _MARKS:
            return self.mark(tokens, index)
        if word in _TAGS:
            return self.tagged(tokens, index + 1)
        if word in _QUOTES and index + 1 < len(tokens) and (name := _name(tokens[index + 1])) is not None:
            self.rename(tokens[index + 1], self.quotes.of(name))
            return index + 2
        if word in _KEPT_STRINGS:
            return self.kept_string(tokens, index)
        name = string_value(word[1:]) if word.startswith('\\"') else word[1:]
        if name in self.texts:
            self.remove_tokens(tokens, index, index + 1)
        elif self.is_known(name, token):
            self.edits.append((token.start, token.end, "\\" + self.variables.of(name)))
        return index + 1

    def is_known(self, name: str, token: Token) -> bool:
        """Whether a name is one of the text's own variables; ahead of its definition it is LilyPond's."""
        return name in self.variables.names and self.first.get(name, 0) < token.start

    def remove_tokens(self, tokens: Sequence[Token], first: int, end: int) -> int:
        while first and tokens[first - 1].text in _PASSING:
            first -= 1
        last = min(end, len(tokens)) - 1
        before = (_text_at(tokens, first - 2), _text_at(tokens, first - 1))
        if first <= last and (before[1] == "=" or before == ("\\score", "{")):
            # A variable needs a value, and a score needs music: none.
            self.edits.append((tokens[first].start, tokens[last].end, "{ }"))
        elif first <= last:
            self.remove(tokens[first].start, tokens[last].end)
        return end

    def attached(self, tokens: Sequence[Token], index: int) -> int:
        """Text attached to a note, from its sign of direction or its first tweak on."""
        here = self.text_start(tokens, index)
        if _text_at(tokens, here) == "\\footnote":
            return self.footnote(tokens, index, here)
        end = self.text_end(tokens, here)
        if end is not None:
            return self.remove_tokens(tokens, index, end)
        if tokens[index].text == "\\tweak":
            value = _tweaked(tokens, index)
            if value < len(tokens) and self.is_text_value(tokens[value]):
                return self.remove_tokens(tokens, index, self.value_end(tokens, value))
            return value
        if tokens[index].text == "\\tag":
            return self.tagged(tokens, index + 1)
        return index + 1

    def text_start(self, tokens: Sequence[Token], index: int) -> int:
        while True:
            word = _text_at(tokens, index)
            if word == "\\tweak":
                index = self.value_end(tokens, _tweaked(tokens, index))
            elif word == "\\tag":
                index = _tag_end(tokens, index + 1)
            elif word in _SIGNS:
                index += 1
            else:
                return index

    def value_end(self, tokens: Sequence[Token], index: int) -> int:
        if _text_at(tokens, index) in MARKUPS:
            return markup_end(self.text, tokens, index, self.markups)
        return value_end(tokens, index)

    def text_end(self, tokens: Sequence[Token], index: int) -> int | None:
        """Index after the printed text that begins at a token; None if none does."""
        if index >= len(tokens):
            return None
        token = tokens[index]
        if token.text in MARKUPS:
            return markup_end(self.text, tokens, index, self.markups)
        datum = token.text[1:].lstrip()
        is_text = token.kind is Kind.STRING or (token.kind is Kind.COMMAND and token.text[1:] in self.texts)
        if token.kind is Kind.SCHEME:
            is_text = datum.startswith('"') or datum in self.texts or _TEXT_SCHEME.match(token.text) is not None
        return index + 1 if is_text else None

    def is_text_value(self, token: Token) -> bool:
        if token.text in MARKUPS or (token.kind is Kind.COMMAND and token.text[1:] in self.texts):
            return True
        if token.kind is Kind.SCHEME:
            return any(_is_worded(item) or item.text in self.texts for item in scheme_tokens(self.text, token))
        return _is_worded(token)

    def assigned(self, tokens: Sequence[Token], index: int, path: int) -> int:
        """A property that is set; it is removed if its value is text."""
        sign = _path_end(tokens, path, symbols=path > index)
        if _text_at(tokens, sign) != "=" or sign + 1 >= len(tokens):
            return index + 1
        musical = tokens[index].text != "\\set" or any(item.text in _MUSICAL for item in tokens[path:sign])
        if tokens[index].text == "\\override" or not musical or self.is_text_value(tokens[sign + 1]):
            return self.remove_tokens(tokens, index, self.value_end(tokens, sign + 1))
        return sign + 1

    def context(self, tokens: Sequence[Token], index: int) -> int:
        if _text_at(tokens, index + 2) != "=" or index + 3 >= len(tokens):
            return index + 2
        token = tokens[index + 3]
        name = _name(token)
        if token.kind is Kind.COMMAND and token.text[1:] in self.texts:
            self.edits.append((token.start, token.end, f'"{self.contexts.of(token.text)}"'))
        elif name is None:
            return index + 3
        elif name not in _PLAIN_NAMES:
            self.rename(token, self.contexts.of(name))
        return index + 4

    def tempo(self, tokens: Sequence[Token], index: int) -> int:
        """A tempo, whose figure stays."""
        end = self.text_end(tokens, index + 1)
        if end is None:
            return index + 1
        here = end + 1
        while _text_at(tokens, here) == ".":
            here += 1
        is_duration = _text_at(tokens, end).isdecimal() or _text_at(tokens, end) in LONG
        if is_duration and _text_at(tokens, here) == "=":
            self.edits.append((tokens[index + 1].start, tokens[end].start, ""))
            return end
        return self.remove_tokens(tokens, index, end)

    def mark(self, tokens: Sequence[Token], index: int) -> int:
        """A mark; plain rehearsal marks stay."""
        if index + 1 >= len(tokens):
            return index + 1
        token = tokens[index + 1]
        if token.text == "\\default" or token.kind is Kind.NUMBER or token.text[1:].isdecimal():
            return index + 2
        return self.remove_tokens(tokens, index, self.value_end(tokens, index + 1))

    def footnote(self, tokens: Sequence[Token], first: int, index: int) -> int:
        """A footnote: perhaps a mark, an offset, perhaps the name of its object, and its text."""
        here = index + 1
        end = self.text_end(tokens, here)
        if end is not None and end < len(tokens) and tokens[end].kind is Kind.SCHEME:
            here = end
        for _ in range(6):  # an offset, and a name of up to three words
            if here < len(tokens) and (tokens[here].kind in (Kind.WORD, Kind.SCHEME) or tokens[here].text == "."):
                here += 1
        end = self.text_end(tokens, here)
        if end is None:
            self.refuse(tokens[index], "the footnote")
        return self.remove_tokens(tokens, first, end)

    def tagged(self, tokens: Sequence[Token], index: int) -> int:
        end = _tag_end(tokens, index)
        for token in tokens[index:end]:
            if token.kind is Kind.SCHEME:
                for item in scheme_tokens(self.text, token):
                    if item.kind is Kind.WORD:
                        self.edits.append((item.start, item.end, self.tags.of(item.text)))
            elif token.kind in (Kind.WORD, Kind.STRING):
                self.rename(token, self.tags.of(token.text.strip('"')))
        return end

    def kept_string(self, tokens: Sequence[Token], index: int) -> int:
        word = tokens[index].text
        if index + 1 >= len(tokens) or (value := literal_value(tokens[index + 1])) is None:
            return index + 1
        if word == "\\include" and value.removesuffix(".ly") in LANGUAGES:
            language = value.removesuffix(".ly")
            self.edits.append((tokens[index].start, tokens[index + 1].end, f'\\language "{language}"'))
        elif word == "\\include" and value not in OWN_FILES:
            self.refuse(tokens[index + 1], "the included file")
        elif not _KEPT_STRINGS[word].fullmatch(value):
            self.refuse(tokens[index + 1], f"{word} with the string")
        return index + 2

    def music_end(self, tokens: Sequence[Token], index: int, level: int) -> int:
        if index >= len(tokens) or level > _NESTING:
            return min(index, len(tokens))
        token = tokens[index]
        if token.text in ("{", "<<"):
            return closing_index(tokens, index) + 1
        if token.kind is Kind.SCHEME:
            return index + 1
        if token.kind is not Kind.COMMAND:
            return index
        if token.text in _CONTEXTS:
            index += 4 if _text_at(tokens, index + 2) == "=" else 2
            while _text_at(tokens, index) == "\\with":
                index = value_end(tokens, index + 1)
            if _text_at(tokens, index) in _CONTEXTS and _text_at(tokens, index + 1) != "Lyrics":
                return index  # an empty context for lyrics, ahead of another context
        elif token.text == "\\lyricsto":
            index += 2
        elif token.text[1:] in self.texts or token.text[1:] in self.variables.names:
            return index + 1
        else:
            index += 1
            while index < len(tokens) and tokens[index].kind in (Kind.STRING, Kind.NUMBER, Kind.WORD, Kind.SCHEME):
                index += 1
        return self.music_end(tokens, index, level + 1)

    # Scheme.

    def scheme_at(self, tokens: Sequence[Token], index: int) -> int:
        """Drop settings and text in Scheme, rename the text's own variables in it, and refuse strings."""
        token = tokens[index]
        if _DROPPED_SCHEME.match(token.text) and _text_at(tokens, index - 1) != "=":
            self.remove(token.start, token.end)
        elif token.text[1:] in self.texts:
            self.remove_tokens(tokens, index, index + 1)
        else:
            self.scheme(token)
        return index + 1

    def scheme(self, token: Token) -> None:
        inner = self.inner_tokens(token)
        is_definition = len(inner) > 1 and inner[1].text.startswith("define")
        depth, quoted = 0, None
        for index, item in enumerate(inner):
            if item.kind is Kind.SCHEME:
                self.walk(code_tokens(self.text, *embedded_span(self.text, item)))
            elif _is_worded(item):
                if is_definition and depth == 1 and _text_at(inner, index - 1) == ")" and index + 2 < len(inner):
                    self.remove(item.start, item.end)  # the docstring of a function
                else:
                    self.refuse(item, "Scheme with the string")
            elif item.kind is Kind.WORD and quoted is None and self.is_known(item.text, item):
                self.edits.append((item.start, item.end, self.variables.of(item.text)))
            if item.text in ("'", "#'") and item.kind is Kind.SIGN:
                quoted = depth if quoted is None else quoted
                continue
            depth += item.kind is Kind.SIGN and item.text.endswith(("(", "["))
            depth -= item.kind is Kind.SIGN and item.text in (")", "]")
            if quoted is not None and depth <= quoted:
                quoted = None


def _refusal(why: str) -> ValueError:
    return ValueError(f"the text cannot be made leak-free: {why}")


def _in_dutch(text: str) -> str:
    """The text with Dutch note names, unless it uses several languages, drums or figures."""
    languages = set(languages_of(text))
    tokens = code_tokens(text)
    if len(languages) != 1 or any(token.text in _UNPITCHED for token in tokens):
        return text
    (language,) = languages
    edits: list[Edit] = []
    for index, token in enumerate(tokens):
        if token.text == "\\language":
            edits.append((token.start, tokens[index + 1].end, ""))
        elif token.kind is Kind.WORD and (name := pitch_of(token.text, language)) is not None:
            edits.append((token.start, token.end, name_of(name.step, name.alteration)))
    return apply_edits(text, edits)


def _is_worded(token: Token) -> bool:
    return token.kind is Kind.STRING and _LETTERS.search(token.text) is not None


def _text_at(tokens: Sequence[Token], index: int) -> str:
    return tokens[index].text if 0 <= index < len(tokens) else ""


def _name(token: Token) -> str | None:
    return token.text if token.kind in (Kind.WORD, Kind.NUMBER) else literal_value(token)


def _path_end(tokens: Sequence[Token], index: int, *, symbols: bool = False) -> int:
    """Index after the path of a property: words, strings, numbers and perhaps symbols in Scheme, with dots between."""
    here = index
    while here < min(len(tokens), index + _PATH):
        token = tokens[here]
        joined = here == index or tokens[here - 1].text == "."
        if not symbols and here > index and token.start > tokens[here - 1].end:
            break
        if not (
            (joined and token.kind in (Kind.WORD, Kind.NUMBER, Kind.STRING))
            or (symbols and token.kind is Kind.SCHEME)
            or (token.text == "." and not joined)
        ):
            break
        here += 1
    return here


def _tag_end(tokens: Sequence[Token], index: int) -> int:
    """Index after a tag, or several with dots or commas between."""
    if index >= len(tokens) or tokens[index].kind not in (Kind.WORD, Kind.STRING, Kind.SCHEME):
        return index
    index += 1
    while _text_at(tokens, index) in (".", ",") and index + 1 < len(tokens):
        index += 2
    return index


def _tweaked(tokens: Sequence[Token], index: int) -> int:
    index += 2
    while _text_at(tokens, index) == ".":
        index += 2
    return index


def _kinds(inner: Sequence[Token]) -> str:
    """The kinds of arguments of a markup command, by the predicates in its definition."""
    lists, depth = [], 0
    for item in inner:
        if item.text == "(" and item.kind is Kind.SIGN:
            depth += 1
            if depth == 2:
                lists.append("")
        elif item.text == ")":
            depth -= 1
        elif depth == 2 and len(lists) == 2:
            lists[1] += "m" if item.text in ("markup?", "markup-list?", "cheap-markup?") else "v"
    return lists[1] if len(lists) > 1 else "m"


def _letters(number: int) -> str:
    """A, B … Z, AA, AB …: LilyPond would read a digit in a name as a duration."""
    return ("" if number < 26 else _letters(number // 26 - 1)) + chr(ord("A") + number % 26)


def _tidy(text: str) -> str:
    lines = "\n".join(line.rstrip() for line in text.split("\n"))
    return re.sub("\n{3,}", "\n\n", lines).strip("\n") + "\n"
