"""A score in ABC by parts and measures: notes as music21 reads them, and the signs that music21
ignores.

The score must have the form in which this suite writes ABC: a section per voice, a line per
measure, and the measure's number as a comment at the end of the line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from music_evals.notation.abc.plain import parse_plain, plain_abc
from music_evals.notation.abc.tunes import parse_key

_MOST = 400_000  # characters
_LINE = re.compile(r"([^%\n]*?) {0,4}% ?([0-9]{1,6})")
_FIELD = re.compile(r"\[([KM]):([^\[\]\n]*)\]")
_CLEF = re.compile(r"(?:^|[ =])((?:treble|bass|tenor|alto|perc)[0-9]?)(?=$| )")
_SIGN = r'"[^"\n]*"|![^!\s]{1,30}!'
_MARKS = re.compile(rf"{_SIGN}|\.(?![|:])")
_TOKENS = re.compile(
    rf"{_SIGN}|\[[A-Za-z]:[^\[\]\n]*\]|\{{[^{{}}\n]*\}}|(?P<note>[A-Ga-gxz])|(?P<bar>[:.\[]?\|[|:\]]?)"
)
_CLEFS = {
    **{name: f"{name.capitalize()} clef" for name in ("treble", "bass", "alto", "tenor")},
    **{"alto1": "Soprano clef", "alto2": "Mezzo-soprano clef", "alto4": "Tenor clef"},
}
_VALUES = {
    **{name: name.capitalize() for name in ("longa", "whole", "half", "quarter", "eighth")},
    **{
        "breve": "Double whole",
        "16th": "Sixteenth",
        "32nd": "Thirty-second",
        "64th": "Sixty-fourth",
    },
}
_DOTS = ("", "Dotted ", "Double-dotted ")
_UNPRINTED_REST = "C,,,,"  # music21 has no rest that is not printed; no instrument goes so low


_Voices = dict[str, tuple[str, list[re.Match[str]]]]  # name → its definition and its lines


class Event(NamedTuple):
    """A note, chord or rest: beginning and end in quarter notes of its measure, written value, and
    music21's pitches.

    The value is empty in tuplets and for lengths without a sign. Pitches go from the lowest up; a
    rest has none.
    """

    start: Fraction
    end: Fraction
    value: str
    pitches: tuple[Any, ...]
    is_grace: bool


@dataclass
class Measure:
    """One measure of one part. Flats are negative sharps; a clef without a common name is empty."""

    number: int
    metre: str
    sharps: int
    clef: str
    texts: list[str]
    events: list[Event]
    new_clefs: list[str] = field(default_factory=list)
    has_new_metre: bool = False
    has_new_key: bool = False

    @property
    def notes(self) -> list[Event]:
        """Notes and chords, without grace notes."""
        return [event for event in self.events if event.pitches and not event.is_grace]

    @property
    def pitches(self) -> list[Any]:
        """Pitches of `notes` from the lowest up."""
        return sorted(
            (pitch for event in self.notes for pitch in event.pitches), key=lambda pitch: pitch.ps
        )

    def signs(self, *, opening: bool = False) -> list[str]:
        """Decorations without ``!``, and annotations in quotation marks; if `opening`, those before
        the first note.
        """
        texts = (text[: _first_note(text)] if opening else text for text in self.texts)
        return [sign.strip("!") for text in texts for sign in _MARKS.findall(text)]


class Part(NamedTuple):
    """A part: one staff, with its name as printed, or an empty one."""

    name: str
    measures: list[Measure]


class Score(NamedTuple):
    """A score: fields of its header, and its parts from the top."""

    header: dict[str, str]
    parts: list[Part]


@lru_cache(maxsize=64)
def read_score(abc: str) -> Score:
    r"""Read a score; ValueError if it is too long, has no numbered measures, or music21 cannot read
    it.

    Example:
        >>> score = read_score(
        ...     "X:1\nT:Air\nL:1/4\nM:3/4\nK:G\nV:1 treble\nV:1\n!p!F2 =F | %1\nG3 |] %2\n")
        >>> score.header["T"], [str(pitch) for pitch in score.parts[0].measures[0].pitches]
        ('Air', ['F4', 'F#4'])
    """
    if len(abc) > _MOST:
        raise ValueError(f"the score has {len(abc)} characters; accepted are {_MOST}")
    header: dict[str, str] = {}
    voices: _Voices = {}
    voice = "1"
    for line in abc.splitlines():
        if match := _LINE.fullmatch(line):
            voices.setdefault(voice, ("", []))[1].append(match)
        elif line.startswith("V:") and line[2:].strip():
            voice = line[2:].split()[0]
            voices.setdefault(voice, (line[2:], []))
        elif line[1:2] == ":":
            header.setdefault(line[0], line[2:].strip())
    parts = _parts(header, voices)
    if not parts:
        raise ValueError("the score has no measures with numbers")
    return Score(header, parts)


def _parts(header: dict[str, str], voices: _Voices) -> list[Part]:
    parts: list[Part] = []
    events_of_voices = _events(header, voices)
    for (voice, (words, lines)), events in zip(voices.items(), events_of_voices, strict=True):
        measures = list(_measures(header, words, lines, events))
        # A further voice on the staff has the staff's number and a letter.
        if parts and voice[-1:].isalpha():
            for above, measure in zip(parts[-1].measures, measures, strict=False):
                above.texts += measure.texts
                above.events += measure.events
        elif measures:
            name = re.search(r'nm="([^"\n]*)"', words)
            parts.append(Part(name[1] if name else "", measures))
    return parts


def _first_note(text: str) -> int:
    return next((token.start() for token in _TOKENS.finditer(text) if token["note"]), len(text))


def _measures(
    header: dict[str, str], words: str, lines: list[re.Match[str]], events: list[list[Event]]
) -> Iterator[Measure]:
    """The measures of a voice; `words` are its definition."""
    metre = header.get("M", "")
    sharps = _sharps(header.get("K", "")) or 0
    clef = _clef(words)
    for place, line in enumerate(lines):
        text, number = line.groups()
        measure = Measure(int(number), metre, sharps, clef, [text], events[place])
        for inline in _FIELD.finditer(text):
            letter, value = inline.groups()
            is_ahead = inline.start() < _first_note(text)
            if letter == "M":
                measure.has_new_metre = place > 0 and value != metre
                measure.metre = metre = value
                continue
            signs = _sharps(value)
            if signs is not None:
                measure.has_new_key = place > 0 and is_ahead and signs != sharps
                measure.sharps = signs if is_ahead else sharps
                sharps = signs
            if _CLEF.search(value):
                new_clef = _clef(value)
                if is_ahead:
                    measure.clef = new_clef
                elif new_clef != clef:
                    measure.new_clefs.append(new_clef)
                clef = new_clef
        yield measure


def _clef(value: str) -> str:
    match = _CLEF.search(value)
    return _CLEFS.get(match[1], "") if match else ""


def _sharps(value: str) -> int | None:
    """The sharps of a key signature; None for a field that changes the clef alone."""
    words = [word for word in value.split() if not word.startswith("clef=")]
    return (0 if words[0] == "none" else parse_key(" ".join(words)).sharps) if words else None


def _events(header: dict[str, str], voices: _Voices) -> Iterator[list[list[Event]]]:
    """The events that music21 reads, by voice and measure."""
    from music21 import stream
    from music21.exceptions21 import Music21Exception

    # Without metres and tempos music21 keeps the bar lines, and does not divide measures that it
    # finds too long, or in which the tempo changes.
    tune = ["X:1", f"L:{header.get('L', '1/8')}", f"K:{header.get('K', 'C')}"]
    for number, (_, lines) in enumerate(voices.values(), 1):
        music = (_music(re.sub(r"\[[MQ]:[^\]]*\]", "", line[1])) for line in lines)
        # music21 makes measures only of voices with several bar lines.
        tune += [f"V:{number}", *music, "z | z | z |"]
    try:
        score = parse_plain(plain_abc("\n".join(tune)))
        for (_, lines), part in zip(voices.values(), score.parts or [score], strict=True):
            measures = part.getElementsByClass(stream.Measure)[: len(lines)]
            if len(measures) < len(lines):
                raise ValueError(
                    f"music21 reads {len(measures)} measures, and there are {len(lines)} lines"
                )
            yield [list(_events_of(measure)) for measure in measures]
    except (
        Music21Exception,
        ArithmeticError,
        AttributeError,
        LookupError,
        TypeError,
        RecursionError,
    ) as error:
        raise ValueError(f"music21 cannot read the score: {error}") from error


def _music(text: str) -> str:
    """The text of a measure without bar lines within, and with `_UNPRINTED_REST`."""
    last = max((token.start() for token in _TOKENS.finditer(text) if token["note"]), default=0)

    def replace(token: re.Match[str]) -> str:
        if token["bar"] and token.start() < last:
            return " "
        return _UNPRINTED_REST if token[0] == "x" else token[0]

    return _TOKENS.sub(replace, text)


def _events_of(measure: Any) -> Iterator[Event]:
    for note in measure.notesAndRests:
        pitches: tuple[Any, ...] = ()
        if not note.isRest:
            pitches = tuple(sorted(note.pitches, key=lambda pitch: pitch.ps))
        is_unprinted = any((pitch.step, pitch.octave) == ("C", 0) for pitch in pitches)
        if is_unprinted or "Harmony" in note.classes:
            continue
        times = (note.offset, note.offset + note.quarterLength)
        start, end = (Fraction(time).limit_denominator(10_000) for time in times)
        yield Event(start, end, _value(note.duration), pitches, note.duration.isGrace)


def _value(duration: Any) -> str:
    """The written value; empty in tuplets and for lengths without a sign."""
    if duration.tuplets or duration.dots > 2:
        return ""
    value = _VALUES.get(duration.type, "")
    return f"{_DOTS[duration.dots]}{value.lower()}" if value and duration.dots else value
