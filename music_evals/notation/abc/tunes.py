"""ABC notation as text: the tunes of a file, the measures of a tune, the notes of a measure, and
their plain spelling.

The module covers the part of ABC 2.1 that collections of traditional tunes use
(https://abcnotation.com/wiki/abc:standard:v2.1; section numbers below are its own), in time linear
in the text. Grace notes, decorations, annotations, chord symbols and slurs are skipped. Voice
overlays and macros are not accepted. Text that cannot be read is a `ValueError` that quotes the
place. Durations and unit note lengths are in whole notes.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache
from string import ascii_lowercase

MAX_CHARACTERS = 1_000_000  # longest text that is read

Meter = tuple[int, int]
_Field = tuple[str, str]  # letter and value
_Token = tuple[str, str]  # kind and text

MODES = {"": 0, "mix": -1, "dor": -2, "m": -3, "phr": -4, "loc": -5, "lyd": 1}
"""Modes as ABC writes them after the tonic (4.6.14) → number of sharps more than in major."""

_LONGEST_BAR = 16  # characters; the rest does not change how a tune is played
_SYNONYMS = {"maj": "", "ion": "", "min": "m", "aeo": "m"}
_SOUNDING = ("note", "chord", "rest", "measures")  # kinds of tokens
FIFTHS = "FCGDAEB"
"""The letters in fifths: 7 semitones upwards each."""
ALTERATIONS = {"^^": 2, "^": 1, "=": 0, "_": -1, "__": -2}
SIGNS = {alteration: sign for sign, alteration in ALTERATIONS.items()}

# A line such as "A:|" looks like a field but is music.
FIELD = re.compile(r"(?s)([A-Za-z]):(?![|:])(.*)")
_COMMENT = re.compile(r"(?s)(?<!\\)%.*")  # 2.2.3, 6.1.1
_METER = re.compile(r"([1-9][0-9]?) ?/ ?(1|2|4|8|16|32)")

_NOTE = r"(?:\^\^?|__?|=)?[A-Ga-g][,']{0,5}"
_LENGTH = r"(?:[0-9]{0,4}/[0-9]{1,4}|[0-9]{0,3}/{0,6})"
# Each alternative matches or fails within its own line, and reading ends where all of them fail. So
# no part of a text is scanned repeatedly.
_TOKEN = re.compile(
    "|".join(
        f"(?P<{kind}>{pattern})"
        for kind, pattern in {
            "space": r"[ \t\n\r\f\v`\\$#*;]+|y[0-9]*|!(?![^!\s|]{1,30}!)",
            "text": r'"[^"\n]*"',
            "field": r"\[[A-Za-z]:[^\]\n]*\]",
            "grace": r"\{[^{}\n]*\}",
            "ending": r"\[[1-9][0-9,.\-]*",
            "bar": r"(?:\[\|\]?|\|\]|[|:])+[1-9]?(?:[,.\-][1-9])*",
            "chord": rf"\[[^\[\]|\n]{{1,120}}\]{_LENGTH}",
            "note": rf"{_NOTE}{_LENGTH}",
            "rest": rf"[zx]{_LENGTH}",
            "measures": r"[ZX][0-9]{0,3}",
            "tuplet": r"\([2-9](?::[0-9]?(?::[0-9]?)?)?",
            "broken": r">{1,3}|<{1,3}",
            "tie": r"-",
            "slur": r"[()]",
            "decoration": r"![^!\s|]{1,30}!|\+[^+\s|]{1,30}\+|[.~H-Wh-w]",
        }.items()
    )
)
_NOT_READ = {
    "&": ": voice overlays (&) are not accepted",
    **dict.fromkeys("^_=", ": microtones and accidentals without a note are not accepted"),
}
_IN_CHORD = re.compile(rf'(?P<note>{_NOTE}){_LENGTH}|"[^"\n]*"|![^!\s]{{1,30}}!|[-.~()H-Wh-w ]')


@dataclass(frozen=True, slots=True)
class Tune:
    """A tune: names and values of its header fields in order, X to K, and the lines after them
    without comments.
    """

    fields: tuple[_Field, ...]
    body: str

    def values(self, name: str) -> tuple[str, ...]:
        """Return the values of a header field, by its letter, in order."""
        return tuple(value for letter, value in self.fields if letter == name)


@dataclass(frozen=True, slots=True)
class Measure:
    """The music between two bar lines, as written."""

    text: str
    # the bar line at its end, without the number of an ending; empty if the tune ends without one
    bar: str
    ending: str = ""  # number of the variant ending that starts here, such as "1" or "1,3"
    fields: tuple[_Field, ...] = ()  # information fields since the last bar line


@dataclass(frozen=True, slots=True)
class Key:
    """A key."""

    name: str  # as ABC spells it in short, such as "Bb", "Em" or "Ador"
    tonic: int  # pitch class, 0 for C to 11 for B
    sharps: int  # flats are negative


@dataclass(slots=True)
class Event:
    """A note, chord or rest; ties and accidentals from other measures are ignored."""

    pitches: tuple[int, ...]  # MIDI, in the order of the chord; none for a rest
    duration: Fraction
    text: str  # plain spelling, without the mark of a tuplet that starts here
    tuplet: str = ""  # that mark, such as "(3"
    is_tied: bool = False  # to the next event


def split_tunes(text: str) -> list[Tune]:
    """Split an ABC file into its tunes, from an X field to an empty line, the next X field or the
    end (2.2).

    Text outside of tunes is left out, and so is a tune without a K field. ValueError for a text
    longer than `MAX_CHARACTERS`.
    """
    _check_length(text)
    sections: list[list[str]] = []
    # Not `splitlines`: Unicode has more line ends than ABC.
    for line in re.split(r"\r\n|\r|\n", text):
        field = FIELD.fullmatch(line)
        if not line.strip() or (field is not None and field[1] == "X"):
            sections.append([])
        if sections:
            sections[-1].append(line)
    tunes = (_tune(section) for section in sections if section[0].startswith("X:"))
    return list(filter(None, tunes))


def _tune(lines: Sequence[str]) -> Tune | None:
    """The tune in lines from its X field on; None without a K field."""
    fields: list[_Field] = []
    bare = [_COMMENT.sub("", line).rstrip() for line in lines]
    for number, line in enumerate(bare, 1):
        field = FIELD.fullmatch(line)
        if field is None:
            continue
        fields.append((field[1], field[2].strip()))
        if field[1] == "K":
            return Tune(tuple(fields), "\n".join(filter(None, bare[number:])))
    return None


def split_measures(body: str) -> Iterator[Measure]:
    """Split the body of a tune at its bar lines (4.8), in written order; ValueError where it is no
    ABC.

    A bar line without music before it is merged into the previous one; a bar line at the very start
    is dropped.

    Example:
        >>> for measure in split_measures('|: "G"G2 B2 |1 A4 :|2 G4 |]'):
        ...     print(measure)
        Measure(text='"G"G2 B2', bar='|', ending='', fields=())
        Measure(text='A4', bar=':|', ending='1', fields=())
        Measure(text='G4', bar='|]', ending='2', fields=())
    """
    last = None  # not yielded yet, because its bar line may go on
    text, ending = "", ""
    fields: list[_Field] = []
    has_music = False
    for kind, token in body_tokens(body):
        if kind == "field":
            fields.append((token[0], token[2:].strip()))
            continue
        if kind not in ("bar", "ending"):
            has_music = has_music or kind in _SOUNDING
            text += " " if kind == "space" else token
            continue
        bar = token.rstrip("0123456789,.-") if kind == "bar" else ""
        # An ending can start within a measure.
        if has_music:
            if last is not None:
                yield last
            last = Measure(text.strip(), bar, ending, tuple(fields))
            text, fields, ending, has_music = "", [], "", False
        elif last is not None and len(last.bar) < _LONGEST_BAR:
            last = replace(last, bar=last.bar + bar)
        ending = token[len(bar) :].strip("[,.-") or ending
    if last is not None:
        yield last
    if has_music:
        yield Measure(text.strip(), "", ending, tuple(fields))


def parse_meter(value: str) -> Meter:
    """Read an M field (3.1.6): beats of a measure and their note value; ValueError also for free
    metre.
    """
    match = _METER.fullmatch({"C": "4/4", "C|": "2/2"}.get(value, value))
    if match is None:
        raise ValueError(
            f"metre {_shown(value)} is not accepted; accepted are C, C| and fractions such as 6/8"
        )
    return int(match[1]), int(match[2])


def parse_unit(value: str | None, meter: Meter) -> Fraction:
    """Read an L field; without one, return the unit note length that the metre implies (3.1.7)."""
    if value is None:
        return Fraction(1, 16) if Fraction(*meter) < Fraction(3, 4) else Fraction(1, 8)
    if re.fullmatch(r"1/(1|2|4|8|16|32|64)|1", value) is None:
        raise ValueError(
            f"unit note length {_shown(value)} is not accepted; accepted are 1, 1/2, 1/4 and so on "
            "to 1/64"
        )
    return Fraction(value)


def parse_key(value: str) -> Key:
    """Read a K field, tonic and mode, abbreviated or not (3.1.14); ValueError for bagpipes,
    accidentals and clefs.
    """
    match = re.fullmatch(r"([A-G])([#b]?) *([A-Za-z]*)", value)
    mode = match[3][:3].lower() if match else ""
    mode = _SYNONYMS.get(mode, mode)
    if match is None or mode not in MODES:
        raise ValueError(
            f"key {_shown(value)} is not accepted; accepted are a tonic and a mode, such as Em or A"
            " Dorian"
        )
    tonic = FIFTHS.index(match[1]) - 1 + {"": 0, "#": 7, "b": -7}[match[2]]  # fifths above C
    sharps = tonic + MODES[mode]
    if abs(sharps) > 7:
        raise ValueError(
            f"key {_shown(value)} would have {abs(sharps)} accidentals; accepted are up to 7"
        )
    return Key(f"{match[1]}{match[2]}{mode}", 7 * tonic % 12, sharps)


def read_measure(text: str, unit: Fraction, meter: Meter, sharps: int = 0) -> tuple[Event, ...]:
    """Read the notes, chords and rests of music without bar lines (4.1 to 4.17).

    An accidental holds in all octaves to the end of the measure (11.3).

    Args:
        text: the music.
        unit: unit note length.
        meter: gives the length of a whole-measure rest and of tuplets of five, seven and nine.
        sharps: of the key signature; flats are negative.

    Raises:
        ValueError: the text is no ABC, has a bar line, or a broken rhythm or tuplet lacks notes.
    """
    reader = _MeasureReader(unit, meter, sharps)
    for kind, token in tokens(text):
        reader.read(kind, token)
    return reader.events(text)


def total_duration(events: Sequence[Event]) -> Fraction:
    """Return the length of a sequence of events in whole notes."""
    return sum((event.duration for event in events), Fraction(0))


def spell(events: Sequence[Event], meter: Meter, start: Fraction = Fraction(0)) -> str:
    """Spell the events of a measure as plain music: notes, chords, rests, ties and tuplets, a space
    before every beat.

    Slurs, decorations, fingerings, beams and signs of broken rhythm are left out. `start` is the
    onset of the first event in the measure, in whole notes.

    Example:
        >>> events = read_measure('u"4"(A>B) .c"D7"d', Fraction(1, 8), (2, 4))
        >>> spell(events, (2, 4))
        'A3/2B/2 cd'
    """
    beat = Fraction(3, meter[1]) if _is_compound(meter) else Fraction(1, min(meter[1], 4))
    now = start
    words: list[str] = []
    for event in events:
        if not words or now % beat == 0:
            words.append("")
        words[-1] += event.tuplet + event.text + "-" * event.is_tied
        now += event.duration
    return " ".join(words)


def body_tokens(body: str) -> Iterator[_Token]:
    """Yield kind and text of the tokens of a tune's body; a field, inline or on its own line, as
    ``M:6/8``.
    """
    _check_length(body)
    for line in body.split("\n"):
        bare = _COMMENT.sub("", line)
        if FIELD.fullmatch(line):
            yield "field", bare
            continue
        for kind, token in tokens(bare):
            yield kind, token[1:-1] if kind == "field" else token
        yield "space", " "


def tokens(music: str) -> Iterator[_Token]:
    """Yield kind and text of the tokens of music without comments and field lines; ValueError where
    it is no ABC.
    """
    _check_length(music)
    place = 0
    while place < len(music):
        match = _TOKEN.match(music, place)
        if match is None or match.lastgroup is None or match[0] == ":":
            raise ValueError(
                f"cannot read {_shown(music[place : place + 50])} as ABC music"
                f"{_NOT_READ.get(music[place], '')}"
            )
        yield match.lastgroup, match[0]
        place = match.end()


class _MeasureReader:
    """Reads the music between two bar lines, token by token."""

    def __init__(self, unit: Fraction, meter: Meter, sharps: int) -> None:
        self._unit, self._meter, self._sharps = unit, meter, sharps
        self._altered: dict[str, int] = {}  # letter → accidental so far, in semitones
        self._events: list[Event] = []
        self._tuplet, self._ratio, self._lacking = "", Fraction(1), 0  # notes to come in a tuplet
        self._mark = ""  # that of a tuplet, until its first note
        self._broken: Fraction | None = None  # factor of the next note's length

    def read(self, kind: str, token: str) -> None:
        """Read a token."""
        if kind in ("bar", "ending", "field"):
            raise ValueError(
                f"a measure holds {_shown(token)}; accepted is music between two bar lines"
            )
        if kind == "tuplet":
            self._begin_tuplet(token)
        elif kind == "broken":
            self._break_rhythm(token)
        elif kind == "grace":
            for match in _IN_CHORD.finditer(token):
                if match["note"]:
                    self._pitch(split_length(match[0])[0])
        elif kind == "tie" and self._events:
            self._events[-1].is_tied = True
        elif kind in _SOUNDING:
            self._add(self._event(kind, token))

    def events(self, text: str) -> tuple[Event, ...]:
        """Return the events; ValueError if notes are missing."""
        if self._lacking:
            raise ValueError(f"tuplet {self._tuplet} lacks {self._lacking} of its notes")
        if self._broken is not None:
            raise ValueError(f"broken rhythm has no note after it in {_shown(text)}")
        return tuple(self._events)

    def _begin_tuplet(self, token: str) -> None:
        """Read ``(p:q:r`` (4.13)."""
        if self._lacking:
            raise ValueError(
                f"tuplet {token} starts within another; accepted are tuplets one after the other"
            )
        notes, time, count, *_ = *(int(number or 0) for number in token[1:].split(":")), 0, 0
        default = 3 if _is_compound(self._meter) else 2
        usual = {2: 3, 3: 2, 4: 3, 6: 2, 8: 3}.get(notes, default)
        time, count = time or usual, count or notes
        is_usual = (time, count) == (usual, notes)
        self._mark = self._tuplet = f"({notes}" if is_usual else f"({notes}:{time}:{count}"
        self._ratio, self._lacking = Fraction(time, notes), count

    def _break_rhythm(self, token: str) -> None:
        """Read a sign such as ``>`` (4.4)."""
        if not self._events or self._broken is not None:
            raise ValueError(f"broken rhythm {token} has no note before it")
        first, self._broken = broken_factors(token)
        last = self._events[-1]
        last.text, last.duration = multiplied(last.text, first), last.duration * first

    def _add(self, event: Event) -> None:
        """Add a note, chord or rest, with its length and its duration in whole notes."""
        unit = self._unit
        if self._lacking:
            unit *= self._ratio
            self._lacking -= 1
            event.tuplet, self._mark = self._mark, ""
        if self._broken is not None:
            event.duration *= self._broken
            self._broken = None
        event.text += length_text(event.duration)
        event.duration *= unit
        self._events.append(event)

    def _event(self, kind: str, token: str) -> Event:
        """Read a note, chord or rest, without its length and with its duration in unit notes."""
        if kind == "measures":
            return Event((), Fraction(*self._meter) * int(token[1:] or 1) / self._unit, "z")
        if kind == "rest":
            return Event((), read_length(token[1:]), "z")
        if kind == "note":
            note, length = split_length(token)
            return Event((self._pitch(note),), length, note)
        inner, outer = token[1:].rsplit("]", 1)
        matches = list(_IN_CHORD.finditer(inner))
        if sum(len(match[0]) for match in matches) < len(inner):
            raise ValueError(
                f"cannot read chord {_shown(token)}: accepted are notes in square brackets"
            )
        notes = [split_length(match[0]) for match in matches if match["note"]]
        if not notes:
            raise ValueError(f"chord {_shown(token)} has no notes")
        names, lengths = zip(*notes, strict=True)
        # The length of the first note counts for all (4.17).
        length = lengths[0] * read_length(outer)
        spelling = names[0] if len(names) == 1 else f"[{''.join(names)}]"
        return Event(tuple(map(self._pitch, names)), length, spelling, is_tied="-" in inner)

    def _pitch(self, note: str) -> int:
        """MIDI pitch of a note without its length; remembers its accidental."""
        accidental = note.rstrip("ABCDEFGabcdefg,'")
        letter = note[len(accidental)]
        octave = 5 + letter.islower() + note.count("'") - note.count(",")
        letter = letter.upper()
        if accidental:
            self._altered[letter] = ALTERATIONS[accidental]
        order = FIFTHS.index(letter)
        signed = 1 if order < self._sharps else -(6 - order < -self._sharps)
        return 12 * octave + 7 * (order - 1) % 12 + self._altered.get(letter, signed)


def _is_compound(meter: Meter) -> bool:
    return meter[0] % 3 == 0 and meter[1] >= 8


def broken_factors(token: str) -> tuple[Fraction, Fraction]:
    """Return the factors of both lengths in a broken rhythm (4.4)."""
    less = Fraction(1, 2 ** len(token))
    return (2 - less, less) if token[0] == ">" else (less, 2 - less)


# Tunes have few different notes and lengths, and fractions are slow.
@lru_cache(maxsize=1024)
def split_length(note: str) -> tuple[str, Fraction]:
    """Return a note without its length, and the length."""
    bare = note.rstrip("0123456789/")
    return bare, read_length(note[len(bare) :])


@lru_cache(maxsize=1024)
def read_length(text: str) -> Fraction:
    """Read a length such as ``""``, ``3``, ``/``, ``//``, ``3/2`` (4.3)."""
    over, slash, under = text.partition("/")
    # One slash means half, two slashes a quarter.
    below = int(under) if under.strip("/") else 2 ** len(slash + under)
    above = int(over or 1)
    if above == 0 or below == 0:
        raise ValueError(f"length {text} is not accepted; accepted are lengths above 0")
    return Fraction(above, below)


def multiplied(note: str, factor: Fraction) -> str:
    """Return a note with its length multiplied."""
    bare, length = split_length(note)
    return bare + length_text(length * factor)


def length_text(value: Fraction) -> str:
    """Return the shortest common spelling of a length."""
    over = "" if value.numerator == 1 else str(value.numerator)
    return over if value.denominator == 1 else f"{over}/{value.denominator}"


def short_length_text(value: Fraction) -> str:
    """Return the shortest spelling of a length: as `length_text`, but ``/`` for a half."""
    return "/" if value == Fraction(1, 2) else length_text(value)


def is_plain_length(length: Fraction) -> bool:
    """Return whether a length is a multiple of a power of two, which needs no tuplet."""
    return length.denominator & (length.denominator - 1) == 0


def letter_text(letter: str, octave: int) -> str:
    """Return a letter with its octave marks; octave 0 begins at middle C, ``C``."""
    return letter.lower() + "'" * (octave - 1) if octave > 0 else letter + "," * -octave


def voice_names(number: int, count: int) -> list[str]:
    """Return the names of so many voices of a staff, such as 1 and 1b."""
    return [f"{number}{letter}".rstrip("a") for letter in ascii_lowercase[:count]]


def staff_layout(voices: Sequence[str]) -> str:
    """Return a staff as the value of %%score names it (11.1): several voices in parentheses."""
    return f"({' '.join(voices)})" if len(voices) > 1 else voices[0]


def key_alterations(sharps: int) -> dict[str, int]:
    """Return the alterations of the letters that a key with so many sharps alters; flats are
    negative.
    """
    if sharps > 0:
        return dict.fromkeys(FIFTHS[:sharps], 1)
    return dict.fromkeys(FIFTHS[::-1][:-sharps], -1)


@cache
def signature_name(sharps: int) -> str:
    """Name a key signature by the number of its sharps, negative for flats.

    Example:
        >>> [signature_name(sharps) for sharps in (-2, 0, 1)]
        ['2 flats', 'no sharps or flats', '1 sharp']
    """
    if not sharps:
        return "no sharps or flats"
    return f"{abs(sharps)} {'sharp' if sharps > 0 else 'flat'}{'s' * (abs(sharps) > 1)}"


def alterations_in(key: str) -> dict[str, int]:
    """Return the alterations of a key as ABC names it; of its tonic, if a wrong mode follows."""
    return {} if key == "none" else key_alterations(parse_key(key.partition(" ")[0]).sharps)


def _check_length(text: str) -> None:
    if len(text) > MAX_CHARACTERS:
        raise ValueError(
            f"ABC text of {len(text)} characters is too long; accepted are {MAX_CHARACTERS}"
        )


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")
