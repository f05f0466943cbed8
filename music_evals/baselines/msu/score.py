"""Reads a score in ABC: header, parts, and their measures by number; notes only where they are asked for.

Goes by the form in which this suite writes scores: a section a voice, a measure a line, and the number of the measure
as a comment at its end. Lines without a number are counted.
"""

import re
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Final

from music_evals.baselines.msu.music import Event, Token, read_events, tokens
from music_evals.notation.abc import MAX_CHARACTERS, parse_key

_STAVES: Final = re.compile(r"%%(?:score|staves)\b(.*)")
_FIELD: Final = re.compile(r"([A-Za-z]):(?![|:])(.*)", re.DOTALL)
_NUMBER: Final = re.compile(r" {0,4}([0-9]{1,6}) {0,4}")
_METRE: Final = re.compile(r"([1-9][0-9]?)/(1|2|4|8|16|32|64)")
_UNIT: Final = re.compile(r"1/(1|2|4|8|16|32|64)|1")
_PROPERTY: Final = re.compile(r'([A-Za-z-]{1,20})=("[^"\n]*"|\S+)')
_QUOTED: Final = re.compile(r'"([^"\n]*)"')
_BEATS: Final = re.compile(r"= ?([0-9]{1,4})(?![0-9.])")
# What ABC has no decoration for is an annotation below the note.
_DYNAMIC: Final = re.compile(r'!?"?_?((?=[a-z]{0,5}[fp])[fmprsz]{1,6})"?')
_CLEF: Final = re.compile(r"(treble|bass|alto|tenor|soprano|mezzo|mezzosoprano|baritone|perc|none)[1-5]?([+^_-]8)?")
_MUSIC: Final = ("note", "chord", "rest", "measures")
_CLEFS: Final = {
    "treble": "Treble clef",
    "bass": "Bass clef",
    "alto": "Alto clef",
    "tenor": "Tenor clef",
    "soprano": "Soprano clef",
    "mezzo": "Mezzo-soprano clef",
    "mezzosoprano": "Mezzo-soprano clef",
    "alto1": "Soprano clef",
    "alto2": "Mezzo-soprano clef",
    "alto4": "Tenor clef",
}


@dataclass
class Measure:
    """One measure of one part, as it is written.

    Args:
        number: the number of the measure.
        music: its tokens.
        unit: unit note length, in whole notes.
        metre: its time signature, such as ``3/4``; empty where there is none.
        sharps: of the key signature at its beginning; flats are negative.
        clef: name of the clef at its beginning; empty where it has no plain name.
        new_clefs: clefs that it changes to after its beginning.
        has_new_metre: whether its time signature differs from the one before.
        has_new_key: whether its key signature differs from the one before.
        has_repeat: whether a repeat bar line stands at its beginning or end.
        has_music: whether a note or rest is in it so far.
        layers: the same measure of further voices on the staff.
    """

    number: int = 0
    music: list[Token] = field(default_factory=list)
    unit: Fraction = Fraction(1, 8)
    metre: str = ""
    sharps: int = 0
    clef: str = ""
    new_clefs: list[str] = field(default_factory=list)
    has_new_metre: bool = False
    has_new_key: bool = False
    has_repeat: bool = False
    has_music: bool = False
    layers: list["Measure"] = field(default_factory=list)

    @property
    def full(self) -> Fraction | None:
        """What the time signature asks for, in whole notes."""
        return Fraction(self.metre) if _METRE.fullmatch(self.metre) else None

    @cached_property
    def _content(self) -> tuple[tuple[Event, ...], tuple[tuple[Fraction, str], ...]]:
        events, signs = read_events(self.music, self.unit, self.full, self.sharps)
        for layer in self.layers:
            events, signs = events + layer._content[0], signs + layer._content[1]
        return events, signs

    @property
    def events(self) -> tuple[Event, ...]:
        """Notes, chords and rests, layer after layer; `ValueError` if they cannot be read."""
        return self._content[0]

    @property
    def signs(self) -> tuple[tuple[Fraction, str], ...]:
        """Decorations and annotations, and the moments at which they stand; `ValueError` as for events."""
        return self._content[1]

    @property
    def length(self) -> Fraction:
        """How long it lasts, in whole notes."""
        return max((event.end for event in self.events), default=Fraction(0))

    @property
    def notes(self) -> list[Event]:
        """Notes and chords that are no grace notes."""
        return [event for event in self.events if event.pitches and not event.is_grace]

    @property
    def rests(self) -> list[Event]:
        """Rests that are printed."""
        return [event for event in self.events if not event.pitches and not event.is_hidden]

    @property
    def dynamics(self) -> list[tuple[Fraction, str]]:
        """Dynamic markings and the moments at which they stand."""
        found = ((start, _DYNAMIC.fullmatch(mark)) for start, mark in self.signs)
        return [(start, match[1]) for start, match in found if match]


@dataclass
class Part:
    """A part: one staff.

    Args:
        voice: its name in ABC, such as ``1``.
        name: as printed before it; empty if there is none.
        measures: in order.
    """

    voice: str
    name: str = ""
    measures: list[Measure] = field(default_factory=list)
    # What goes on from measure to measure while the part is read.
    _unit: Fraction = Fraction(1, 8)
    _metre: str = ""
    _sharps: int = 0
    _clef: str = ""
    _open: Measure | None = None

    @property
    def full(self) -> Fraction | None:
        """What the time signature asks for so far, in whole notes."""
        return self._current().full

    def measure(self, number: int) -> Measure:
        """The measure of a number; `ValueError` if there is none, or more than one."""
        found = [each for each in self.measures if each.number == number]
        if len(found) != 1:
            raise ValueError(f"{len(found)} measures have the number {number}")
        return found[0]

    def inherit(self, other: "Part") -> None:
        """Begin with the key, metre and unit of the header."""
        self._unit, self._metre, self._sharps = other._unit, other._metre, other._sharps
        self._open = None
        # What could not be read in the header cannot be read in its parts.
        self._current().music.extend(other._current().music)

    def set_field(self, letter: str, value: str) -> None:
        """Take a field in: L, M, K, and the clef of K and V."""
        measure = self._current()
        if letter == "L" and _UNIT.fullmatch(value):
            self._unit = measure.unit = Fraction(value)
        elif letter == "M":
            metre = {"C": "4/4", "C|": "2/2", "none": ""}.get(value, value.replace(" ", ""))
            measure.has_new_metre = bool(self.measures) and metre != self._metre
            self._metre = measure.metre = metre
        elif letter in "KV":
            self._set_clef(value)
        if letter == "K":
            self._set_key(value)

    def add(self, kind: str, token: str) -> None:
        """Take a token of music in."""
        measure = self._current()
        if kind == "field":
            self.set_field(token[1], token[3:-1].strip())
        elif kind == "bar":
            self._bar(token)
        else:
            measure.music.append((kind, token))
            measure.has_music = measure.has_music or kind in _MUSIC

    def end_line(self, number: int | None, before: int) -> None:
        """Close the measure that is open, and number the last one; there were so many before the line."""
        self._close()
        if number is not None:
            # A measure may be empty.
            if len(self.measures) == before:
                self.measures.append(self._current())
                self._open = None
            self.measures[-1].number = number

    def join(self, other: "Part") -> None:
        """Take another voice in, which stands on the same staff."""
        layers = {measure.number: measure for measure in other.measures}
        for measure in self.measures:
            if measure.number in layers:
                measure.layers.append(layers[measure.number])

    def _bar(self, token: str) -> None:
        measure = self._current()
        line = token.rstrip("0123456789,.-")
        if measure.has_music:
            measure.has_repeat = measure.has_repeat or line.startswith(":")
            self._close()
            # A sign for what follows would otherwise be lost with the line.
            self._current().has_repeat = line.endswith(":")
        else:
            if line.startswith(":") and self.measures:
                self.measures[-1].has_repeat = True
            measure.has_repeat = measure.has_repeat or line.endswith(":")

    def _current(self) -> Measure:
        if self._open is None:
            number = self.measures[-1].number + 1 if self.measures else 1
            self._open = Measure(number, [], self._unit, self._metre, self._sharps, self._clef)
        return self._open

    def _close(self) -> None:
        measure = self._open
        if measure is not None and measure.has_music:
            self.measures.append(measure)
            self._open = None

    def _set_clef(self, value: str) -> None:
        words = [*dict(_PROPERTY.findall(value)).get("clef", "").split(), *_PROPERTY.sub("", value).split()]
        name = next((word for word in words if _CLEF.fullmatch(word)), "")
        if not name:
            return
        clef = _CLEFS.get(name, "")
        measure = self._current()
        if not measure.has_music:
            measure.clef = clef
        elif clef != self._clef:
            measure.new_clefs.append(clef)
        self._clef = clef

    def _set_key(self, value: str) -> None:
        words = [word for word in _PROPERTY.sub("", value).split() if not _CLEF.fullmatch(word)]
        if not words:
            return
        try:
            sharps = 0 if words[0] == "none" else parse_key(" ".join(words)).sharps
        except ValueError:
            # Notes of an unknown key must not be read as of another.
            self._current().music.append(("unknown", value))
            return
        measure = self._current()
        if not measure.has_music:
            measure.sharps = sharps
            measure.has_new_key = bool(self.measures) and sharps != self._sharps
        else:
            measure.music.append(("key", str(sharps)))
        self._sharps = sharps


@dataclass
class Score:
    """A score.

    Args:
        title: empty if there is none.
        composer: empty if there is none.
        tempo_words: of the tempo at the beginning; empty if there are none.
        beats: a minute, at the beginning; None if there is no such mark.
        parts: from the top.
    """

    title: str = ""
    composer: str = ""
    tempo_words: str = ""
    beats: int | None = None
    parts: list[Part] = field(default_factory=list)


def read_score(text: str) -> Score:
    """Read a score.

    Args:
        text: the ABC, from its X field; text before that is passed over.

    Returns:
        The score. What cannot be read is found out when its notes are asked for.

    Raises:
        ValueError: there is no score, or it is too long.

    Example:
        >>> score = read_score("X:1\\nT:Two\\nL:1/4\\nM:2/4\\nK:G\\nV:1 name=\\"Alto\\"\\nFF | %1\\nG2 |] %2\\n")
        >>> score.title, score.parts[0].name, [str(note.pitches[0]) for note in score.parts[0].measure(1).notes]
        ('Two', 'Alto', ['F♯4', 'F♯4'])
    """
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"ABC text of {len(text)} characters is too long; accepted are {MAX_CHARACTERS}")
    start = re.search(r"^X:", text, re.MULTILINE)
    if start is None:
        raise ValueError("there is no X field")
    reader = _Reader()
    for line in text[start.start() :].split("\n"):
        reader.read(line.rstrip("\r"))
    reader.score.parts = reader.staves()
    return reader.score


class _Reader:
    """Goes through the lines of a score."""

    def __init__(self) -> None:
        self.score = Score()
        self.parts: dict[str, Part] = {}
        self.groups: list[list[str]] = []
        self.header = Part("")
        self.part = self.header
        self.has_unit = False
        self.is_in_body = False

    def staves(self) -> list[Part]:
        """The parts that have music; voices on one staff are one part."""
        joined: set[str] = set()
        named: set[str] = set()
        for group in self.groups:
            # A voice that is named twice would be a layer of itself.
            first, *others = [name for name in dict.fromkeys(group) if name in self.parts and name not in named] or [""]
            named |= {first, *others}
            for name in others:
                self.parts[first].join(self.parts[name])
            joined |= set(others)
        return [part for name, part in self.parts.items() if part.measures and name not in joined]

    def read(self, line: str) -> None:
        """Read a line."""
        if line.startswith("%"):
            if match := _STAVES.match(line):
                groups = re.findall(r"\(([^()]*)\)", match[1])
                self.groups = [re.findall(r"[^\s{}\[\]|*]+", group) for group in groups]
            return
        match = _FIELD.fullmatch(line)
        if match is not None:
            self._field(match[1], line[2:].partition("%")[0].strip())
            return
        if not self.is_in_body or not line.strip():
            return
        if self.part is self.header:
            self._switch("1")
        before = len(self.part.measures)
        for kind, token in tokens(line):
            if token == "%":
                break
            if kind == "field" and token[1] == "V":
                self._switch(token[3:-1].strip())
                before = len(self.part.measures)
            else:
                self.part.add(kind, token)
        number = _NUMBER.fullmatch(line.rpartition("%")[2]) if "%" in line else None
        self.part.end_line(int(number[1]) if number else None, before)

    def _field(self, letter: str, value: str) -> None:
        if letter == "T" and not self.score.title:
            self.score.title = value
        elif letter == "C" and not self.score.composer:
            self.score.composer = value
        elif letter == "Q" and not self.is_in_body:
            words, beats = _QUOTED.search(value), _BEATS.search(value)
            self.score.tempo_words = words[1].strip() if words else ""
            self.score.beats = int(beats[1]) if beats else None
        elif letter == "V":
            self._switch(value)
        elif letter in "LMK":
            self.part.set_field(letter, value)
            self.has_unit = self.has_unit or letter == "L"
            if letter == "K" and not self.is_in_body:
                self._begin()

    def _begin(self) -> None:
        self.is_in_body = True
        full = self.header.full
        if not self.has_unit and full is not None:
            # A unit that is not said is the metre's.
            self.header.set_field("L", "1/16" if full < Fraction(3, 4) else "1/8")
        for part in self.parts.values():
            part.inherit(self.header)

    def _switch(self, value: str) -> None:
        voice = value.split(maxsplit=1)[0] if value.split() else ""
        part = self.parts.get(voice)
        if part is None:
            part = self.parts[voice] = Part(voice)
            part.inherit(self.header)
        properties = {key: each.strip('"') for key, each in _PROPERTY.findall(value)}
        part.name = properties.get("name", properties.get("nm", part.name))
        part.set_field("V", value[len(voice) :])
        if self.is_in_body:
            self.part = part
