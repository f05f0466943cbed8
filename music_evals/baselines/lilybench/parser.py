"""Reads LilyPond text into trees of music, by rules of its own and without running LilyPond.

Scheme, markup, lyrics, figured bass, layout and everything that changes only the look is passed over. What cannot be
understood becomes a mark in the music, and reading goes on behind it.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from importlib.resources import files
from re import compile as pattern
from typing import Final, Literal

from music_evals.baselines.lilybench.music import (
    NOTHING,
    Check,
    Group,
    GroupKind,
    Key,
    Mark,
    MarkKind,
    Music,
    Pitch,
    Problem,
    Sound,
    filtered,
    has_sound,
    relative,
    shifted,
    transposed,
)
from music_evals.baselines.lilybench.tokens import Token, UnreadableScoreError, tokens
from music_evals.notation.lilypond.languages import DEFAULT, LANGUAGES, pitch_of

MODES: Final = frozenset(
    ["major", "minor", "ionian", "dorian", "phrygian", "lydian", "mixolydian", "aeolian", "locrian"]
)

_MAX_PARSE_DEPTH: Final = 80
_MAX_DIGITS: Final = 6
_LONG: Final = {"\\breve": Fraction(2), "\\longa": Fraction(4), "\\maxima": Fraction(8)}
_CLEF: Final = pattern(
    "(?:treble|violin|G2?|tenorG|GG|french|soprano|mezzosoprano|alto|C|tenor|varC|altovarC|tenorvarC|baritonevarC|"
    "baritone|varbaritone|baritonevarF|bass|F|subbass|percussion|varpercussion|tab|moderntab|"
    "(?:vaticana|medicaea|hufnagel)-(?:do|fa)[1-3]|hufnagel-do-fa|(?:neo)?mensural-[cgf][1-5]?|"
    "blackmensural-c[1-5]|petrucci-[cgf][1-5]?|kievan-do)"
    r"(?:[_^][(\[]?(?:2|3|4|5|8|9|15|22)[)\]]?)?"
)
_FRACTION: Final = pattern(r"(-?[0-9]{1,6})(?:\s{0,9}[/.]\s{0,9}|\s{1,9})?([0-9]{1,6})?")
_TAG: Final = pattern(r"[^\W\d_][\w-]*")
_SIGNATURE: Final = pattern(r"[^\s()]+\?")
_IN_MUSIC: Final = frozenset("~()[]|-^_:!?")
_SCRIPTS_FOLLOW: Final = frozenset(["-", "^", "_"])

_STATEMENTS: Final = frozenset(
    ["\\score", "\\book", "\\bookpart", "\\header", "\\paper", "\\layout", "\\include", "\\version", "\\language"]
)

Mode = Literal["notes", "drums", "chords", "figures"]


@dataclass(frozen=True, slots=True)
class Written:
    """A score as written: its music, and the kinds of output that it asks for (``layout``, ``midi``)."""

    music: Music
    outputs: frozenset[str]


def parse(text: str) -> list[Written]:
    r"""Read the scores of a text.

    Where there is neither a score nor music outside of variables, all variables count as one score.

    Args:
        text: LilyPond, whole or only some measures.

    Raises:
        UnreadableScoreError: the text is too long or nested too deep.

    Example:
        >>> (score,) = parse("tune = { c'4 d' } \\score { \\tune \\midi { } }")
        >>> len(score.music.parts[0].parts), sorted(score.outputs)
        (2, ['midi'])
    """
    return _Parser(text).scores()


def parse_measure(text: str, length: Fraction, language: str = DEFAULT) -> tuple[Music, Fraction]:
    r"""Read a measure that is shown alone, after notes of a length.

    Args:
        text: the measure.
        length: of the note before it, in whole notes, which a first note without a length takes over.
        language: of its note names.

    Returns:
        The music, and the length that holds at its end.

    Raises:
        UnreadableScoreError: the text is too long or nested too deep.

    Example:
        >>> music, length = parse_measure("c' d'8 e'", Fraction(1, 2))
        >>> [str(part.length) for part in music.parts], str(length)
        (['1/2', '1/8', '1/8'], '1/8')
    """
    return _Parser(text, language).measure(length)


@cache
def _known_commands() -> frozenset[str]:
    source = files("music_evals.baselines.lilybench").joinpath("commands.toml").read_text(encoding="utf-8")
    return frozenset(tomllib.loads(source)["names"].split())


class _Parser:
    def __init__(self, text: str, language: str = DEFAULT) -> None:
        self._tokens = tokens(text)
        self._place = 0
        self._depth = 0
        # What a name stands for: music, how many arguments a function takes, or something that is no music.
        self._names: dict[str, Music | int | None] = {}
        self._language = language
        self._length = Fraction(1, 4)
        self._mode: Mode = "notes"
        self._scores: list[Written] = []
        # Arguments that may still come of a command whose rule is not known.
        self._arguments = 0

    # Tokens

    def _peek(self, ahead: int = 0) -> Token | None:
        place = self._place + ahead
        return self._tokens[place] if place < len(self._tokens) else None

    def _is(self, text: str, ahead: int = 0) -> bool:
        token = self._peek(ahead)
        return token is not None and token.text == text and token.kind != "string"

    def _kind(self, ahead: int = 0) -> str:
        token = self._peek(ahead)
        return token.kind if token else ""

    def _take(self) -> Token:
        token = self._tokens[self._place]
        self._place += 1
        return token

    def _take_if(self, *texts: str) -> bool:
        if any(self._is(text) for text in texts):
            self._place += 1
            return True
        return False

    def _adjacent(self) -> bool:
        """Whether the next token follows the last one without space."""
        token = self._peek()
        return token is not None and self._place > 0 and token.start == self._tokens[self._place - 1].end

    def _at_end(self) -> bool:
        token = self._peek()
        return token is None or (token.kind in ("sign", "command") and token.text in ("}", ">>", "\\\\"))

    def _skip_block(self) -> None:
        """Pass over braces and what is in them, where there are any."""
        if not self._is("{"):
            return
        depth = 0
        while self._peek() is not None:
            token = self._take()
            if token.kind == "sign":
                depth += (token.text == "{") - (token.text == "}")
            if depth == 0:
                return

    # Scores

    def scores(self) -> list[Written]:
        self._top_level(None)
        if not self._scores:
            parts = tuple(music for music in self._names.values() if not isinstance(music, int) and music is not None)
            if any(map(has_sound, parts)):
                return [Written(Group("voices", parts), frozenset())]
        return self._scores

    def measure(self, length: Fraction) -> tuple[Music, Fraction]:
        self._length = length
        parts: list[Music] = []
        while self._peek() is not None:
            self._read_on(parts)
        return Group("sequence", tuple(parts)), self._length

    def _top_level(self, closer: str | None) -> None:
        self._enter()
        while (token := self._peek()) is not None:
            if closer and self._is(closer):
                self._place += 1
                break
            if token.kind in ("word", "string") and self._assignment():
                continue
            if token.text in ("\\score", "\\book", "\\bookpart") and self._is("{", 1):
                self._place += 2
                if token.text == "\\score":
                    self._score()
                else:
                    self._top_level("}")
                continue
            found = self._item()
            if found is not None and has_sound(found):
                # Further marks and music side by side at this level are scores of their own in LilyPond.
                self._scores.append(Written(found, frozenset()))
        self._depth -= 1

    def _score(self) -> None:
        music: list[Music] = []
        outputs: set[str] = set()
        while (token := self._peek()) is not None and not self._is("}"):
            if token.text in ("\\layout", "\\midi"):
                outputs.add(token.text[1:])
            found = self._item()
            if found is not None:
                music.append(found)
        self._place += 1
        if any(map(has_sound, music)):
            self._scores.append(Written(Group("sequence", tuple(music)), frozenset(outputs)))

    def _assignment(self) -> bool:
        """Read ``name = value`` where that stands here."""
        ahead = 1
        while self._is(".", ahead) or (self._is(".", ahead - 1) and self._kind(ahead) in ("word", "number")):
            ahead += 1
        if not self._is("=", ahead):
            return False
        name = self._take().text.strip('"')
        self._place += ahead
        token = self._peek()
        if token is None:
            return True
        if token.kind == "scheme":
            self._place += 1
            self._names[name] = self._scheme_value(token.text)
        elif token.kind in ("string", "number"):
            self._place += 1
            self._names[name] = None
            self._value_goes_on()
        elif token.text in ("\\layout", "\\paper", "\\midi", "\\with", "\\header"):
            self._place += 1
            self._skip_block()
            self._names[name] = None
        elif token.text in ("-", "^", "_") or token.kind == "script":
            self._take()
            self._names[name] = None if self._kind() in ("string", "scheme") and self._take() else self._assigned()
        else:
            self._names[name] = self._assigned()
        return True

    def _assigned(self) -> Music | None:
        """The music of an assignment; a change of looks alone is none, and ends where the next statement begins."""
        while (token := self._peek()) is not None and not self._at_end() and token.text not in _STATEMENTS:
            if token.kind in ("word", "string") and (self._is("=", 1) or self._is(".", 1)):
                return None
            known = token.kind == "command" and token.text[1:] in self._names
            found = self._item()
            if found is not None or known or token.text == "\\markup":
                return found
        return None

    def _scheme_value(self, text: str) -> Music | int | None:
        """A music function counts its arguments; another expression is no music."""
        if text[1:].startswith("{") and self._depth < 4:
            return self._embedded(text)
        if not text[1:].startswith(("(define-music-function", "(define-void-function", "(define-event-function")):
            if text[1:].startswith("(define-scheme-function"):
                return len(_SIGNATURE.findall(text[:2000]))
            return self._named(text[1:])
        return len(_SIGNATURE.findall(text[: text.find("#{")][:2000]))

    def _embedded(self, text: str) -> Music | None:
        """The music between ``#{`` and ``#}``."""
        inner = _Parser(text[2:].removesuffix("}").removesuffix("#"), self._language)
        inner._names = dict(self._names)
        inner._depth = self._depth + 1
        return inner.measure(self._length)[0]

    def _named(self, name: str) -> Music | None:
        value = self._names.get(name)
        return None if isinstance(value, int) else value

    # Music

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > _MAX_PARSE_DEPTH:
            raise UnreadableScoreError(f"the text is nested deeper than {_MAX_PARSE_DEPTH} levels")

    def _music(self) -> Music:
        """The one piece of music that comes next, whatever other arguments stand before it."""
        return self._music_or_none() or NOTHING

    def _music_or_none(self) -> Music | None:
        self._enter()
        music = self._next_music()
        self._depth -= 1
        return music

    def _next_music(self) -> Music | None:
        while not self._at_end():
            start = self._place
            token = self._peek()
            if token is not None and token.kind == "command" and token.text in ("\\score", "\\markup", "\\header"):
                self._item()
                return None
            found = self._item()
            if found is not None:
                return found
            known = token is not None and token.kind == "command" and token.text[1:] in self._names
            if known and self._place == start + 1:
                return None
        return None

    def _block(self, closer: str) -> list[Music]:
        """What stands up to the closing sign."""
        found: list[Music] = []
        while self._peek() is not None:
            if self._take_if(closer):
                break
            self._read_on(found)
        return found

    def _read_on(self, found: list[Music]) -> None:
        """Add the next piece of music to what was found, or a tie to the last note there."""
        if self._is("~") and found and isinstance(last := found[-1], Sound):
            found[-1] = replace(last, tied=True)
        part = self._item()
        if part is not None:
            found.append(part)

    def _item(self) -> Music | None:
        """Read on by at least one token; None where that is no music."""
        token = self._take()
        arguments, self._arguments = self._arguments, 0
        if token.kind == "command":
            return self._command(token)
        if token.kind == "sign":
            return self._sign(token)
        if arguments:
            found = self._word(token, quiet=True) if token.kind == "word" else None
            self._arguments = arguments - 1 if found is None else 0
            return found
        if token.kind == "word":
            return self._word(token, quiet=False)
        if token.kind == "number":
            return None if self._mode == "figures" else self._again(token)
        return self._named(token.text[1:]) if token.kind == "scheme" else None

    def _sign(self, token: Token) -> Music | None:
        if token.text == "{":
            return self._sequence()
        if token.text == "<<":
            return self._simultaneous()
        if token.text == "<":
            return self._chord(token)
        if token.text == "|":
            return Check(token.start)
        if token.text in _SCRIPTS_FOLLOW:
            if self._kind() in ("string", "scheme"):
                self._place += 1
            return None
        if token.text in _IN_MUSIC or token.text in ("}", ">>", ">"):
            return None
        return self._problem(token, "sign")

    def _problem(self, token: Token, kind: Problem) -> Mark:
        return Mark(token.start, "problem", name=kind)

    def _sequence(self) -> Music:
        self._enter()
        parts = self._block("}")
        self._depth -= 1
        return Group("sequence", tuple(parts))

    def _simultaneous(self) -> Music:
        self._enter()
        groups: list[list[Music]] = [[]]
        while self._peek() is not None:
            if self._is(">>"):
                self._place += 1
                break
            if self._take_if("\\\\"):
                groups.append([])
                continue
            part = self._item()
            if part is not None:
                groups[-1].append(part)
        self._depth -= 1
        if len(groups) == 1:
            return Group("simultaneous", tuple(groups[0]))
        return Group("voices", tuple(Group("simultaneous", tuple(group)) for group in groups if group))

    def _chord(self, token: Token) -> Music | None:
        pitches: list[Pitch] = []
        while (inner := self._peek()) is not None:
            if inner.text == "\\markup":
                self._item()
                continue
            if inner.kind == "sign" and inner.text in ("{", "}", "<<", "|", "<"):
                return self._problem(inner, "sign")  # the chord is not closed
            self._place += 1
            if inner.kind == "sign" and inner.text == ">":
                break
            if inner.text == "->" or (inner.kind == "sign" and inner.text == ">>"):
                self._split(inner)
                if inner.text == ">>":
                    break
            elif inner.text == "\\tweak":
                self._tweak()
            elif inner.kind == "word" and self._mode == "notes":
                pitch = self._pitch_of(inner)
                if pitch is None:
                    bad = self._problem(inner, "word")
                    self._skip_adjacent()
                    return Group("sequence", (bad, *self._rest_of_chord(token, pitches)))
                pitches.append(pitch)
        if not pitches and self._mode == "notes":
            self._written_length()
            return Sound(token.start, "skip", (), Fraction(0))  # an empty chord lasts no time
        return Sound(token.start, "note", tuple(pitches), self._duration())

    def _split(self, token: Token) -> None:
        """Leave the second ``>`` of a double sign to be read again."""
        if token.text == ">>":
            self._place -= 1
            self._tokens[self._place] = Token("sign", ">", token.start + 1, token.end)

    def _rest_of_chord(self, token: Token, pitches: list[Pitch]) -> tuple[Music, ...]:
        while (inner := self._peek()) is not None and not (inner.kind == "sign" and inner.text in "{}|<>"):
            self._place += 1
            if inner.kind == "word" and (pitch := self._pitch_of(inner)) is not None:
                pitches.append(pitch)
        self._take_if(">")
        return (Sound(token.start, "note", tuple(pitches), self._duration()),)

    def _skip_adjacent(self) -> None:
        while self._adjacent() and (
            self._kind() in ("word", "number") or any(self._is(sign) for sign in ("'", ",", ".", "!", "?", "*"))
        ):
            self._place += 1

    def _word(self, token: Token, *, quiet: bool) -> Music | None:
        word = token.text
        if word in ("r", "R", "s"):
            return Sound(token.start, "skip" if word == "s" else "rest", (), self._duration())
        if self._mode == "figures":
            return None
        if word == "q":
            return Sound(token.start, "again", (), self._duration())
        if self._mode == "drums":
            return Sound(token.start, "note", (), self._duration())
        pitch = self._pitch_of(token)
        if pitch is None:
            self._skip_adjacent()
            return None if quiet or word[0].isupper() else self._problem(token, "word")
        length = self._duration()
        # LilyPond complains of octave marks behind the duration, but heeds them.
        pitch = pitch._replace(octave=pitch.octave + self._octave_marks())
        if self._mode == "chords":
            while self._adjacent() and self._peek() and not self._is("}"):
                self._place += 1
            return Sound(token.start, "skip", (), length)
        if self._take_if("\\rest"):
            # Its pitch still counts for the octave of the next note.
            return Sound(token.start, "rest", (pitch,), length)
        return Sound(token.start, "note", (pitch,), length)

    def _again(self, token: Token) -> Music | None:
        """A duration without a note repeats the note before it."""
        start = self._place
        self._place -= 1
        length = self._duration()
        if self._place < start:
            self._place = start
            return None
        return Sound(token.start, "again", (), length)

    def _pitch_of(self, token: Token) -> Pitch | None:
        """The pitch of a word and of the octave marks behind it."""
        name = pitch_of(token.text, self._language)
        if name is None:
            return None
        octave = self._octave_marks() - 1
        while self._take_if("!", "?"):
            pass
        if self._take_if("="):
            while self._take_if("'", ","):
                pass
        return Pitch(name.step, name.alteration, octave)

    def _octave_marks(self) -> int:
        octaves = 0
        while (mark := self._peek()) is not None and mark.kind == "sign" and mark.text in "',":
            octaves += 1 if mark.text == "'" else -1
            self._place += 1
            if abs(octaves) > 15:
                raise UnreadableScoreError(f"the note at offset {mark.start} has {abs(octaves)} octave marks")
        return octaves

    def _duration(self) -> Fraction:
        """The length written here, or else the last one; it holds for what follows."""
        length = self._written_length()
        if length is not None:
            self._length = length
        if self._is(":"):
            self._place += 1
            if self._kind() == "number":
                self._place += 1
        return self._length

    def _written_length(self) -> Fraction | None:
        token = self._peek()
        if token is None:
            return None
        if token.kind == "number" and token.text.isascii() and token.text.isdigit() and len(token.text) < 5:
            value = int(token.text)
            if value == 0 or value & (value - 1):
                return None
            length = Fraction(1, value)
        elif token.text in _LONG:
            length = _LONG[token.text]
        else:
            return None
        self._place += 1
        dot = length
        for _ in range(8):
            if not self._take_if("."):
                break
            dot /= 2
            length += dot
        for _ in range(8):
            if not (self._is("*") and self._kind(1) == "number"):
                break
            self._place += 1
            ratio = self._ratio()
            length *= Fraction(0) if ratio is None else ratio
        return length

    def _whole(self) -> int | None:
        """A whole number written here."""
        token = self._peek()
        if token is None or token.kind != "number" or not token.text.isdigit() or len(token.text) > _MAX_DIGITS:
            return None
        self._place += 1
        return int(token.text)

    def _ratio(self) -> Fraction | None:
        """A number or fraction written here, above 0."""
        token = self._peek()
        if token is not None and token.kind == "scheme":
            self._place += 1
            match = _FRACTION.search(token.text)
            over, under = (int(match[1]), int(match[2] or 1)) if match else (0, 1)
            return Fraction(over, under) if over > 0 and under else None
        above = self._whole()
        if above is None:
            return None
        below: int | None = 1
        if self._is("/") and self._kind(1) == "number":
            self._place += 1
            below = self._whole()
        return Fraction(above, below) if above and below else None

    # Commands

    def _command(self, token: Token) -> Music | None:
        name = token.text[1:].strip('"')
        if name in self._names:
            value = self._names[name]
            if not isinstance(value, int):
                return value
            self._arguments = value
            return None
        rule = _RULES.get(name)
        if rule is not None:
            return rule(self, token)
        if name[:1].isalpha() and name not in _known_commands():
            self._arguments = 1
            return self._problem(token, "command")
        return None

    def _path(self) -> None:
        """A property's name: words joined by dots, and Scheme symbols."""
        if self._kind() in ("word", "scheme", "string", "command"):
            self._place += 1
        while self._is(".") and self._kind(1) in ("word", "scheme", "number"):
            self._place += 2
        while self._kind() == "scheme":
            self._place += 1

    def _value(self) -> None:
        """The value of a property."""
        token = self._peek()
        if token is None:
            return
        if token.text == "\\markup":
            self._item()
        elif token.kind != "sign" or token.text == "-":
            self._place += 1
            self._value_goes_on()

    def _value_goes_on(self) -> None:
        while (
            (self._is(",") and self._kind(1) in ("number", "word"))
            or (self._is(".") and self._kind(1) in ("number", "word"))
            or (self._is("/") and self._kind(1) == "number")
            or (self._is("+") and self._kind(1) in ("string", "number"))
        ):
            self._place += 2
        while self._kind() == "number" or (self._is(".") and self._adjacent()):
            self._place += 1

    def _set(self, token: Token) -> Music | None:
        start = self._place
        self._path()
        name = "".join(part.text for part in self._tokens[start : self._place])
        if not self._take_if("="):
            return None
        value = self._peek()
        self._value()
        kind: MarkKind | None = None
        if token.text == "\\set":
            if name.endswith("measurePosition"):
                kind = "position"
            elif name.endswith("measureLength"):
                kind = "measure_length"
            elif name.endswith(".timing"):
                kind = "timing"
        if kind is None or value is None:
            return None
        if kind == "timing":
            return Mark(token.start, kind, numbers=(Fraction(value.text.endswith("#t")),))
        if "ZERO" in value.text:
            return Mark(token.start, kind, numbers=(Fraction(0),))
        match = _FRACTION.search(value.text)
        if match is None or not int(match[2] or 1):
            return None
        return Mark(token.start, kind, numbers=(Fraction(int(match[1]), int(match[2] or 1)),))

    def _one_path(self, token: Token) -> Music | None:
        self._path()
        return None

    def _one_argument(self, token: Token) -> Music | None:
        if self._kind() in ("string", "scheme", "number", "script") or self._is("-") or self._is("\\default"):
            self._take_if("-")
            self._place += 1
        elif self._is("\\markup"):
            self._item()
        return None

    def _tweak(self) -> None:
        if self._kind() in ("word", "scheme", "string"):
            self._place += 1
        while self._is(".") and self._kind(1) in ("word", "scheme"):
            self._place += 2
        if self._is("\\markup"):
            self._item()
            return
        self._take_if("-")
        if self._kind() in ("scheme", "number", "string", "word", "script", "command"):
            self._place += 1

    def _tweak_item(self, token: Token) -> Music | None:
        self._tweak()
        return None

    def _skipped_block(self, token: Token) -> Music | None:
        if self._kind() in ("string", "command") and self._is("{", 1):
            self._place += 1
        self._skip_block()
        return None

    def _markup(self, token: Token) -> Music | None:
        while (part := self._peek()) is not None:
            if self._is("{"):
                self._skip_block()
                return None
            if part.kind == "sign" and part.text in ("}", ">>", "|"):
                return None
            self._place += 1
            if part.kind == "command":
                name = part.text[1:]
                if name in self._names or name in _SIGNS_OF_MARKUP:
                    while self._kind() == "scheme":
                        self._place += 1
                    if name in ("musicglyph", "char", "note", "note-by-number", "rest", "dynamic", "lookup", "number"):
                        if self._kind() in ("string", "word", "number"):
                            self._place += 1
                        elif self._is("{"):
                            self._skip_block()
                        while self._kind() == "scheme":
                            self._place += 1
                    return None
                continue
            if part.kind == "scheme" and (self._kind() in ("command", "string", "scheme") or self._is("{")):
                # An argument of a markup command, with the text still to come.
                if self._kind() == "command" and not self._markup_goes_on():
                    return None
                continue
            if part.kind == "scheme" and self._kind() == "word":
                continue
            if part.kind in ("number", "sign", "script"):
                continue
            return None
        return None

    def _markup_goes_on(self) -> bool:
        token = self._peek()
        name = token.text[1:] if token else ""
        return name not in _known_commands() and name not in self._names and name not in _RULES

    def _lyrics(self, token: Token) -> Music | None:
        if token.text == "\\lyricsto":
            if self._kind() in ("string", "word", "scheme"):
                self._place += 1
            self._take_if("\\lyricmode", "\\lyrics")
        if self._is("{") or self._is("<<"):
            closer = 0
            while self._peek() is not None:
                inner = self._take()
                if inner.kind == "sign":
                    closer += (inner.text in ("{", "<<")) - (inner.text in ("}", ">>"))
                if closer <= 0:
                    break
        elif self._kind() == "command":
            self._place += 1
        return None

    def _language_name(self, token: Token) -> Music | None:
        if self._kind() == "string":
            name = self._take().text.strip('"').removesuffix(".ly")
            if name in LANGUAGES:
                self._language = name
        return None

    def _key(self, token: Token) -> Music | None:
        if self._take_if("\\default"):
            return None
        tonic = None
        word = self._peek()
        if word is not None and word.kind == "word":
            self._place += 1
            tonic = self._pitch_of(word)
        mode = self._peek()
        if mode is None or mode.kind not in ("command", "scheme"):
            return self._problem(token, "metadata")
        name = mode.text[1:]
        self._place += 1
        if mode.kind == "command" and name not in MODES and name not in self._names:
            if name in _known_commands() or name in _RULES:
                self._place -= 1
            return self._problem(token, "metadata")
        if tonic is None:
            return self._problem(token, "metadata")
        return Mark(token.start, "key", key=Key(tonic, name if mode.kind == "command" else ""))

    def _time(self, token: Token) -> Music | None:
        if self._kind() == "scheme":
            self._place += 1
        elif self._is(",", 1):
            while self._kind() == "number" and self._is(",", 1):
                self._place += 2
            self._place += self._kind() == "number"
        above = self._whole()
        if above is not None and self._take_if("/"):
            below = self._whole()
            if below and above and below <= 1024 and not below & (below - 1):
                return Mark(token.start, "metre", numbers=(Fraction(above), Fraction(below)))
        elif above is None and self._kind() in ("word", "string"):
            self._place += 1
            self._skip_adjacent()
            while self._take_if("/") or (self._adjacent() and self._kind() == "number" and self._take()):
                pass
        return self._problem(token, "metadata")

    def _clef(self, token: Token) -> Music | None:
        argument = self._peek()
        if argument is None or argument.kind not in ("string", "word", "scheme"):
            return self._problem(token, "metadata")
        self._place += 1
        name = argument.text.lstrip("#").strip('"')
        while argument.kind == "word" and self._adjacent() and self._kind() in ("script", "number", "word"):
            name += self._take().text
        if argument.kind == "scheme" and not argument.text.startswith('#"'):
            return None
        return None if _CLEF.fullmatch(name) else self._problem(token, "metadata")

    def _partial(self, token: Token) -> Music | None:
        length = self._written_length()
        return Mark(token.start, "partial", numbers=(length,)) if length is not None else None

    def _cadenza(self, token: Token) -> Music | None:
        return Mark(token.start, "timing", numbers=(Fraction(token.text == "\\cadenzaOff"),))

    def _tempo(self, token: Token) -> Music | None:
        while self._kind() in ("string", "scheme") or self._is("\\markup"):
            if self._is("\\markup"):
                self._item()
            else:
                self._place += 1
        start = self._place
        if self._written_length() is not None:
            if not self._take_if("="):
                self._place = start
                return None
            for _ in range(3):
                self._take_if("-", "~")
                if self._kind() in ("number", "scheme", "script"):
                    self._place += 1
                if not (self._is("-") or self._is("~") or self._kind() == "script"):
                    break
        return None

    def _skip(self, token: Token) -> Music | None:
        if self._kind() == "scheme":
            self._place += 1
            return None
        length = self._written_length()
        return Sound(token.start, "skip", (), self._length if length is None else length)

    def _staff_change(self, token: Token) -> Music | None:
        kind, name = self._context_name()
        return Mark(token.start, "staff", name=name) if kind == "Staff" and name else None

    def _context_name(self) -> tuple[str, str]:
        kind = self._take().text if self._kind() in ("word", "command", "string") else ""
        name = ""
        if self._take_if("=") and self._kind() in ("string", "word", "scheme", "number"):
            name = self._take().text.lstrip("#").strip('"')
            while self._adjacent() and self._kind() in ("number", "word"):
                name += self._take().text
        return kind.strip('"\\'), name

    def _context(self, token: Token) -> Music | None:
        kind, name = self._context_name()
        while self._take_if("\\with"):
            if self._is("{"):
                self._skip_block()
            else:
                self._place += 1
        if kind == "Lyrics" and self._is("{"):
            self._skip_block()
            return None
        music = self._music_or_none()
        group: GroupKind = "new_context" if token.text == "\\new" else "context"
        return None if music is None else Group(group, (music,), name=f"{kind} {name}".strip())

    def _with_mode(self, mode: Mode, kind: str) -> Music | None:
        before, self._mode = self._mode, mode
        music = self._music_or_none()
        self._mode = before
        return music if music is None or not kind else Group("new_context", (music,), name=kind)

    def _relative(self, token: Token) -> Music | None:
        word = self._peek()
        reference = None
        if word is not None and word.kind == "word":
            self._place += 1
            reference = self._pitch_of(word)
        # Without one, the first note counts as if the f below middle C came before it, which is to say as written.
        music = relative(self._music(), reference or Pitch(3, Fraction(0), -1))
        return Group("absolute", (music,))

    def _fixed(self, token: Token) -> Music | None:
        pitch = self._pitch_argument()
        return shifted(self._music(), pitch.octave + 1 if pitch else 0)

    def _pitch_argument(self) -> Pitch | None:
        word = self._peek()
        if word is None or word.kind != "word":
            return None
        self._place += 1
        return self._pitch_of(word)

    def _transpose(self, token: Token) -> Music | None:
        start, end = self._pitch_argument(), self._pitch_argument()
        music = self._music()
        return transposed(music, start, end) if start and end else music

    def _transposition(self, token: Token) -> Music | None:
        self._pitch_argument()
        return None

    def _tuplet(self, token: Token) -> Music | None:
        ratio = self._ratio() or Fraction(1)
        if token.text == "\\tuplet":
            ratio = 1 / ratio
            self._written_length()
        return Group("scaled", (self._music(),), ratio=ratio)

    def _tuplet_span(self, token: Token) -> Music | None:
        if not self._take_if("\\default"):
            self._written_length()
        return None

    def _grace(self, token: Token) -> Music | None:
        return Group("grace", (self._music(),))

    def _after_grace(self, token: Token) -> Music | None:
        if self._kind() == "scheme" or self._kind() == "number":
            self._ratio()
        main = self._music()
        while not self._at_end() and not (self._is("{") or self._kind() == "word"):
            start = self._place
            if self._take_if("~") and isinstance(main, Sound):
                main = replace(main, tied=True)
            elif self._item() is not None:
                self._place = start
                break
        return Group("sequence", (main, Group("grace", (self._music(),))))

    def _repeat(self, token: Token) -> Music | None:
        kind = self._take().text.strip('"') if self._kind() in ("word", "string") else ""
        count = self._whole() or 1
        body = self._music()
        if kind == "tremolo":
            return Group("scaled", (body,), ratio=Fraction(count))
        parts = [body]
        while self._is("|") and self._is("\\alternative", 1):
            self._place += 1
        if self._take_if("\\alternative"):
            parts.append(self._alternatives())
        return Group("repeat", tuple(parts), count=count, name=kind)

    def _alternatives(self) -> Music:
        music = self._music()
        # Each part of the block is an ending; around bar checks nothing is lost.
        parts = music.parts if isinstance(music, Group) and music.kind in ("sequence", "simultaneous") else (music,)
        return Group("alternatives", parts)

    def _alternative(self, token: Token) -> Music | None:
        return self._alternatives()

    def _volta(self, token: Token) -> Music | None:
        if self._kind() == "scheme":
            self._place += 1
        else:
            self._whole()
            while self._is(",") and self._kind(1) == "number":
                self._place += 2
        return self._music_or_none()

    def _joined(self, kind: GroupKind) -> Music:
        first = self._music()
        return Group(kind, (first, self._music()))

    def _part_combine(self, token: Token) -> Music | None:
        while self._kind() == "scheme":
            self._place += 1
        return self._joined("voices")

    def _unfold(self, token: Token) -> Music | None:
        return Group("unfolded", (self._music(),))

    def _tags(self) -> frozenset[str]:
        if self._kind() == "scheme":
            return frozenset(_TAG.findall(self._take().text))
        found = set()
        if self._kind() in ("word", "string"):
            found.add(self._take().text.strip('"'))
            while self._is(",") and self._kind(1) == "word":
                self._place += 1
                found.add(self._take().text)
        return frozenset(found)

    def _tag(self, token: Token) -> Music | None:
        name = " ".join(sorted(self._tags()))
        if self._kind() in ("script", "string") or self._is("-") or self._is("^") or self._is("_"):
            return None  # on an articulation
        return Group("tagged", (self._music(),), name=name)

    def _filter(self, token: Token) -> Music | None:
        tags = self._tags()
        return filtered(self._music(), tags, keep=token.text == "\\keepWithTag")

    def _pitched_trill(self, token: Token) -> Music | None:
        main = self._music()
        while not self._at_end() and self._kind() != "word":
            self._place += 1
        self._pitch_argument()
        return main

    def _apply(self, token: Token) -> Music | None:
        if self._kind() == "scheme" and "unfold" in self._take().text:
            return self._unfold(token)
        return self._music_or_none()

    def _parallel(self, token: Token) -> Music | None:
        """Share the measures of a block out among variables in turn."""
        names = _TAG.findall(self._take().text) if self._kind() == "scheme" else []
        while self._kind() == "word":
            names.append(self._take().text)
            self._take_if(",")
        music = self._music()
        voices: list[list[Music]] = [[] for _ in names]
        turn = 0
        for part in music.parts if isinstance(music, Group) and names else ():
            voices[turn].append(part)
            if isinstance(part, Check):
                turn = (turn + 1) % len(names)
        for name, voice in zip(names, voices, strict=True):
            self._names[name] = Group("sequence", tuple(voice))
        return None

    def _arguments_then_music(self, token: Token) -> Music | None:
        while self._kind() in ("string", "scheme", "number"):
            self._place += 1
        return self._music_or_none()

    def _ignored_music(self, token: Token) -> Music | None:
        while self._kind() in ("string", "scheme"):
            self._place += 1
        self._music_or_none()
        return None

    def _book_score(self, token: Token) -> Music | None:
        self._skip_block()
        return None

    def _side_by_side(self, token: Token) -> Music | None:
        if not self._take_if("{"):
            return self._music_or_none()
        self._enter()
        parts = self._block("}")
        self._depth -= 1
        return Group("simultaneous", tuple(parts))


_Rule = Callable[[_Parser, Token], Music | None]

_SIGNS_OF_MARKUP: Final = frozenset(
    [
        *["flat", "sharp", "natural", "doublesharp", "doubleflat", "semiflat", "semisharp", "null", "strut"],
        *["musicglyph", "char", "note", "note-by-number", "rest", "vspace", "hspace", "draw-line", "draw-hline"],
        *["fermata", "simple", "lookup", "score", "dynamic", "number", "triangle", "markalphabet", "markletter"],
        *["postscript", "epsfile", "fret-diagram", "fret-diagram-terse", "fret-diagram-verbose", "segno", "coda"],
        *["varcoda", "eyeglasses", "tied-lyric", "beam"],
    ]
)


def _rules() -> Mapping[str, _Rule]:
    rules: dict[str, _Rule] = {
        "key": _Parser._key,
        "time": _Parser._time,
        "clef": _Parser._clef,
        "partial": _Parser._partial,
        "tempo": _Parser._tempo,
        "skip": _Parser._skip,
        "change": _Parser._staff_change,
        "tupletSpan": _Parser._tuplet_span,
        "relative": _Parser._relative,
        "fixed": _Parser._fixed,
        "transpose": _Parser._transpose,
        "afterGrace": _Parser._after_grace,
        "repeat": _Parser._repeat,
        "alternative": _Parser._alternative,
        "volta": _Parser._volta,
        "unfolded": _Parser._volta,
        "unfoldRepeats": _Parser._unfold,
        "applyMusic": _Parser._apply,
        "tag": _Parser._tag,
        "tweak": _Parser._tweak_item,
        "markup": _Parser._markup,
        "pitchedTrill": _Parser._pitched_trill,
        "parallelMusic": _Parser._parallel,
        "score": _Parser._book_score,
        "simultaneous": _Parser._side_by_side,
        "drummode": lambda parser, _: parser._with_mode("drums", ""),
        "chordmode": lambda parser, _: parser._with_mode("chords", ""),
        "figuremode": lambda parser, _: parser._with_mode("figures", ""),
        "notemode": lambda parser, _: parser._with_mode("notes", ""),
        "drums": lambda parser, _: parser._with_mode("drums", "DrumStaff"),
        "chords": lambda parser, _: parser._with_mode("chords", "ChordNames"),
        "figures": lambda parser, _: parser._with_mode("figures", "FiguredBass"),
    }
    for names, rule in (
        ("cadenzaOn cadenzaOff", _Parser._cadenza),
        ("language include", _Parser._language_name),
        ("new context", _Parser._context),
        ("times tuplet scaleDurations", _Parser._tuplet),
        ("grace acciaccatura appoggiatura slashedGrace", _Parser._grace),
        ("partCombine partcombine partCombineUp partCombineDown", _Parser._part_combine),
        ("keepWithTag removeWithTag", _Parser._filter),
        ("set override overrideProperty", _Parser._set),
        ("unset revert hide omit accidentalStyle shape offset vshape alterBroken single", _Parser._one_path),
        (
            "bar mark version ottava barNumberCheck bendAfter textMark textEndMark sectionLabel rehearsalMark label "
            "instrumentSwitch cueClef bookOutputName bookOutputSuffix stringTuning jump codaMark "
            "segnoMark applyContext applyOutput finger rightHandFinger settingsFrom magnifyStaff",
            _Parser._one_argument,
        ),
        (
            "header paper layout midi with markuplist markuplines defineBarLine overrideTimeSignatureSettings remove "
            "consists",
            _Parser._skipped_block,
        ),
        ("lyricmode lyrics lyricsto addlyrics", _Parser._lyrics),
        ("transposition octaveCheck resetRelativeOctave", _Parser._transposition),
        ("magnifyMusic cueDuring cueDuringWithClef quoteDuring", _Parser._arguments_then_music),
        ("addQuote displayMusic displayLilyMusic musicLength contextStringTuning", _Parser._ignored_music),
    ):
        rules |= dict.fromkeys(names.split(), rule)
    return rules


_RULES: Final = _rules()
