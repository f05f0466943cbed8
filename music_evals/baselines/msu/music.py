"""Reads the notes of one measure in ABC, with what a question can ask about them: spelling, written value and signs."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

_VALUES: Final = {
    Fraction(4): "Longa",
    Fraction(2): "Double whole",
    Fraction(1): "Whole",
    Fraction(1, 2): "Half",
    Fraction(1, 4): "Quarter",
    Fraction(1, 8): "Eighth",
    Fraction(1, 16): "Sixteenth",
    Fraction(1, 32): "Thirty-second",
    Fraction(1, 64): "Sixty-fourth",
}
_DOTS: Final = {"": Fraction(1), "Dotted ": Fraction(3, 2), "Double-dotted ": Fraction(7, 4)}
_NAMES: Final = {
    value * factor: f"{dots}{name.lower()}" if dots else name
    for dots, factor in _DOTS.items()
    for value, name in _VALUES.items()
}
_SIGNS: Final = {-2: "𝄫", -1: "♭", 0: "", 1: "♯", 2: "𝄪"}
_ALTERATIONS: Final = {"^^": 2, "^": 1, "=": 0, "_": -1, "__": -2}
_SEMITONES: Final = {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}
_FIFTHS: Final = "FCGDAEB"
_SHORTHANDS: Final = {
    ".": "staccato",
    "H": "fermata",
    "L": "accent",
    "M": "lowermordent",
    "O": "coda",
    "P": "uppermordent",
    "S": "segno",
    "T": "trill",
    "u": "upbow",
    "v": "downbow",
    "~": "roll",
}

_NOTE: Final = r"(?:\^\^?|__?|=)?[A-Ga-g][,']{0,6}"
_LENGTH: Final = r"[0-9]{0,6}(?:/[0-9]{1,6}|/{0,6})"
# Each alternative either fits or fails close to where it begins, so that no text is looked at again and again.
_TOKEN: Final = re.compile(
    "|".join(
        f"(?P<{kind}>{pattern})"
        for kind, pattern in {
            "space": r"[ \t\f\v`\\]+|y[0-9]{0,3}",
            "text": r'"[^"\n]*"',
            "field": r"\[[A-Za-z]:[^\[\]\n]{0,400}\]",
            "grace": r"\{[^{}\n]*\}",
            "ending": r"\[[1-9][0-9,.\-]{0,16}",
            "bar": r"\.?(?:\[\||\|\]|[|:]){1,16}(?:[1-9][0-9,.\-]{0,16})?",
            "overlay": r"&",
            "chord": rf"\[[^\[\]|\n]{{1,400}}\]{_LENGTH}",
            "note": rf"{_NOTE}{_LENGTH}",
            "rest": rf"[zx]{_LENGTH}",
            "measures": r"[ZX][0-9]{0,3}",
            "tuplet": r"\([2-9](?::[0-9]{0,2}(?::[0-9]{0,2})?)?",
            "tie": r"\.?-",
            "slur": r"\.?[()]",
            "decoration": r"![^!\s|]{1,30}!|[.~H-WYh-w]",
        }.items()
    )
)
_IN_CHORD: Final = re.compile(
    rf'(?P<note>{_NOTE})(?P<length>{_LENGTH})|"[^"\n]*"|!(?P<mark>[^!\s]{{1,30}})!|(?P<tie>-)|[.~()H-Wh-w ]'
)

_MOST_TOKENS: Final = 20_000  # no measure has so many

Token = tuple[str, str]
"""Its kind and its text."""


@dataclass(frozen=True, slots=True)
class Pitch:
    """A written pitch.

    Args:
        letter: C to B.
        alter: semitones that its accidental or the key signature adds.
        octave: 4 from middle C on.
    """

    letter: str
    alter: int
    octave: int

    @property
    def height(self) -> int:
        """Semitones, 60 for middle C."""
        return 12 * (self.octave + 1) + _SEMITONES[self.letter] + self.alter

    @property
    def place(self) -> int:
        """Steps of the staff, whatever the accidental."""
        return 7 * self.octave + "CDEFGAB".index(self.letter)

    @property
    def name(self) -> str:
        """Letter and sign, such as ``F♯``."""
        return self.letter + _SIGNS[self.alter]

    def __str__(self) -> str:
        """Name and octave, such as ``F♯4``."""
        return f"{self.name}{self.octave}"


@dataclass(frozen=True, slots=True)
class Event:
    """A note, chord or rest.

    Args:
        start: from the beginning of the measure, in whole notes.
        length: that it sounds, in whole notes; 0 for grace notes.
        value: name of its written value, such as ``Dotted quarter``; empty in tuplets and where no sign has it.
        pitches: from the lowest to the highest; none for a rest.
        marks: names of the decorations on it.
        is_grace: whether it is a grace note.
        is_tied: whether one of its notes is tied to the next.
        is_hidden: whether it is a rest that is not printed.
    """

    start: Fraction
    length: Fraction
    value: str
    pitches: tuple[Pitch, ...] = ()
    marks: frozenset[str] = frozenset()
    is_grace: bool = False
    is_tied: bool = False
    is_hidden: bool = False

    @property
    def end(self) -> Fraction:
        """Where it ends, in whole notes from the beginning of the measure."""
        return self.start + self.length


def signed(letter: str, sharps: int) -> int:
    """What a key signature does to a letter.

    Args:
        letter: C to B.
        sharps: of the signature; flats are negative.

    Returns:
        Semitones.

    Example:
        >>> signed("F", 1), signed("B", -2), signed("A", -2)
        (1, -1, 0)
    """
    order = _FIFTHS.index(letter)
    return 1 if order < sharps else -1 if 6 - order < -sharps else 0


def tokens(line: str) -> Iterator[Token]:
    """Split a line of music without its comment.

    Args:
        line: the music.

    Yields:
        Kind and text of each token; what is no ABC is of the kind ``unknown``.

    Example:
        >>> [kind for kind, _ in tokens('"G"!p!G2{a} ?|')]
        ['text', 'decoration', 'note', 'grace', 'space', 'unknown', 'bar']
    """
    place = 0
    while place < len(line):
        match = _TOKEN.match(line, place)
        if match is None or match.lastgroup is None:
            yield "unknown", line[place]
            place += 1
        else:
            yield match.lastgroup, match[0]
            place = match.end()


def read_events(
    music: Sequence[Token], unit: Fraction, full: Fraction | None, sharps: int
) -> tuple[tuple[Event, ...], tuple[tuple[Fraction, str], ...]]:
    """Read the notes of a measure, layer after layer.

    An accidental holds up to the end of the measure for its letter and octave, as in print, in its own layer.

    Args:
        music: tokens of a measure; fields and bar lines are passed over. A token of the kind ``key`` is a number of
            sharps that holds from there.
        unit: unit note length, in whole notes.
        full: length of a whole measure, in whole notes, if there is a metre.
        sharps: of the key signature; flats are negative.

    Returns:
        The events; and all decorations and (in quotation marks) annotations, with the moments at which they stand.

    Raises:
        ValueError: the measure is too long, a token is unknown, or a length or tuplet cannot be read.

    Example:
        >>> events, _ = read_events(list(tokens("^f/!trill!F2 & (3CDE z")), Fraction(1, 8), None, 0)
        >>> [(str(event.start), event.value, *map(str, event.pitches)) for event in events]
        [('0', 'Sixteenth', 'F♯5'), ('1/16', 'Quarter', 'F4'), ('0', '', 'C4'), ('1/12', '', 'D4'), ('1/6', '', 'E4'), \
('1/4', 'Eighth')]
    """
    if len(music) > _MOST_TOKENS:
        raise ValueError(f"a measure of {len(music)} tokens is too long; accepted are {_MOST_TOKENS}")
    events: list[Event] = []
    signs: list[tuple[Fraction, str]] = []
    marks: list[str] = []
    altered: dict[tuple[str, int], int] = {}
    now = Fraction(0)
    ratio, left = Fraction(1), 0  # of the tuplet, and how many of its notes are still to come
    for kind, token in music:
        if kind == "unknown":
            raise ValueError(f"cannot read {token!r} as ABC music")
        if kind == "overlay":
            now, altered, left = Fraction(0), {}, 0
        elif kind == "decoration":
            mark = token.strip("!") if token.startswith("!") else _SHORTHANDS.get(token, token)
            marks.append(mark)
            signs.append((now, mark))
        elif kind == "text":
            signs.append((now, token))
        elif kind == "tuplet":
            ratio, left = _tuplet(token)
        elif kind == "tie":
            if events and events[-1].pitches:
                events[-1] = _tied(events[-1])
        elif kind == "grace":
            for inner_kind, inner in tokens(token[1:-1].removeprefix("/")):
                if inner_kind in ("note", "chord"):
                    grace, *_ = _pitches(inner, sharps, altered)
                    events.append(Event(now, Fraction(0), "", grace, is_grace=True))
        elif kind in ("note", "chord", "rest", "measures"):
            pitches: tuple[Pitch, ...] = ()
            inner_marks: list[str] = []
            is_tied = False
            if kind == "measures":
                if full is None:
                    raise ValueError(f"{token} has no metre to tell its length")
                length = full * int(token[1:] or 1)
            elif kind == "rest":
                length = unit * _length(token[1:])
            else:
                pitches, length, inner_marks, is_tied = _pitches(token, sharps, altered)
                length *= unit
            value = "" if left else _NAMES.get(length, "")
            if left:
                length *= ratio
                left -= 1
            events.append(
                Event(
                    now,
                    length,
                    value,
                    pitches,
                    frozenset([*marks, *inner_marks]),
                    is_tied=is_tied,
                    is_hidden=token[0] in "xX",
                )
            )
            now += length
            marks = []
    return tuple(events), tuple(signs)


def _tied(event: Event) -> Event:
    return Event(event.start, event.length, event.value, event.pitches, event.marks, event.is_grace, is_tied=True)


def _tuplet(token: str) -> tuple[Fraction, int]:
    """Ratio of sounding to written length, and number of notes, of ``(p:q:r``."""
    numbers = [int(number) if number else 0 for number in token[1:].split(":")]
    notes = numbers[0]
    usual = {2: 3, 3: 2, 4: 3, 6: 2, 8: 3}.get(notes, 2)
    time = (numbers[1] if len(numbers) > 1 else 0) or usual
    return Fraction(time, notes), (numbers[2] if len(numbers) > 2 else 0) or notes


def _pitches(
    token: str, sharps: int, altered: dict[tuple[str, int], int]
) -> tuple[tuple[Pitch, ...], Fraction, list[str], bool]:
    """Pitches, length in units, decorations and tie of a note or chord; `altered` holds the accidentals so far."""
    inner, outer = (token[1:].rsplit("]", 1)) if token.startswith("[") else (token, "")
    found: list[tuple[Pitch, Fraction]] = []
    marks: list[str] = []
    is_tied = False
    place = 0
    while place < len(inner):
        match = _IN_CHORD.match(inner, place)
        if match is None:
            raise ValueError(f"cannot read chord {token!r}")
        if match["note"]:
            found.append((_pitch(match["note"], sharps, altered), _length(match["length"])))
        elif match["mark"]:
            marks.append(match["mark"])
        is_tied = is_tied or bool(match["tie"])
        place = match.end()
    if not found:
        raise ValueError(f"chord {token!r} has no notes")
    # The first note's length counts for all.
    pitches = tuple(sorted((pitch for pitch, _ in found), key=lambda pitch: pitch.height))
    return pitches, found[0][1] * _length(outer), marks, is_tied


def _pitch(note: str, sharps: int, altered: dict[tuple[str, int], int]) -> Pitch:
    accidental = note.rstrip("ABCDEFGabcdefg,'")
    letter = note[len(accidental)]
    octave = 4 + letter.islower() + note.count("'") - note.count(",")
    place = (letter.upper(), octave)
    if accidental:
        altered[place] = _ALTERATIONS[accidental]
    return Pitch(letter.upper(), altered.get(place, signed(letter.upper(), sharps)), octave)


def _length(text: str) -> Fraction:
    """A length such as ``""``, ``3``, ``/``, ``//``, ``3/2``."""
    over, slash, under = text.partition("/")
    below = int(under) if under.strip("/") else 2 ** (len(slash) + len(under))
    above = int(over) if over else 1
    if above == 0 or below == 0:
        raise ValueError(f"length {text!r} is none")
    return Fraction(above, below)
