"""What the questions on scores are computed from, against verovio's reading of the same files.

The builder reads the works of music21's corpus through music21 alone. verovio has a MusicXML parser of its own, and
writes what it read as MEI (https://music-encoding.org), of which every staff of every measure must hold the same:
signatures and clef, pitches and written values of the notes, rests, grace notes, ties and signs.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import verovio
from defusedxml.ElementTree import fromstring
from music21 import corpus

from music_evals.datasets_builders.msu.questions.reading import Reading, read, spell
from music_evals.datasets_builders.msu.works import default_works

_MEI = "{http://www.music-encoding.org/ns/mei}"
_ID = "{http://www.w3.org/XML/1998/namespace}id"
_ALTERATIONS = {"s": "♯", "f": "♭", "n": "", "x": "𝄪", "ss": "𝄪", "ff": "𝄫", "": ""}
_VALUES = {"1": "Whole", "2": "Half", "4": "Quarter", "8": "Eighth", "16": "Sixteenth", "32": "Thirty-second"}
_VALUES |= {"64": "Sixty-fourth", "breve": "Double whole", "long": "Longa"}
_DOTS = ("{}", "Dotted {}", "Double-dotted {}")
_ARTICULATIONS = {"stacc": "Staccato", "acc": "Accent", "ten": "Tenuto", "marc": "Marcato", "stacciss": "Staccatissimo"}
_ORNAMENTS = {
    "trill": ("Trill", "Trill"),
    "mordent": ("Upper mordent", "Lower mordent"),
    "turn": ("Turn", "Inverted turn"),
}
_CLEFS = {"G2": "Treble clef", "F4": "Bass clef", "C3": "Alto clef", "C4": "Tenor clef", "C1": "Soprano clef"}


@dataclass
class Cell:
    """One measure of one staff; grace notes are not among the pitches, and values in tuplets have no name."""

    metre: str
    fifths: int
    clef: str | None
    pitches: Counter[str] = field(default_factory=Counter)
    values: Counter[str] = field(default_factory=Counter)
    rests: int = 0
    graces: int = 0
    has_tie: bool = False
    has_fermata: bool = False
    articulations: set[str] = field(default_factory=set)
    ornaments: set[str] = field(default_factory=set)
    dynamics: set[str] = field(default_factory=set)


def builder_cells(reading: Reading) -> Iterator[list[Cell]]:
    for index, measure in enumerate(reading.measures):
        yield [
            Cell(
                measure.metre,
                cell.fifths,
                cell.clef,
                Counter(spell(pitch) for event in cell.notes for pitch in event.pitches),
                Counter((event.value or "").capitalize() for event in cell.notes),
                len(cell.rests),
                sum(event.is_grace for event in cell.events),
                any(event.is_tied_on for event in cell.events),
                any(event.has_fermata for event in cell.events),
                {name for event in cell.notes for name in event.articulations},
                {name for event in cell.notes for name in event.ornaments},
                {value for _, value in cell.dynamics},
            )
            for cell in (voice.cells[index] for voice in reading.voices)
        ]


def verovio_cells(path: str) -> Iterator[list[Cell]]:
    verovio.enableLog(verovio.LOG_OFF)
    tool = verovio.toolkit()
    assert tool.loadFile(str(corpus.getWork(path)))
    metre, fifths, clefs = "", {}, {}
    number = 0
    for element in fromstring(tool.getMEI()).iter():
        kind = element.tag.removeprefix(_MEI)
        if kind == "scoreDef":
            number = 0
        elif kind == "staffDef":
            number = int(element.get("n"))
        elif kind == "keySig":
            sign = element.get("sig")
            signs = int(sign[:-1] or 0) * (-1 if sign.endswith("f") else 1)
            fifths |= {number: signs} if number else dict.fromkeys(fifths, signs)
        elif kind == "meterSig":
            metre = f"{element.get('count')}/{element.get('unit')}"
        elif kind == "clef" and number:
            clefs[number] = _clef(element)
        elif kind == "measure":
            number = 0
            staves = list(element.iter(f"{_MEI}staff"))
            cells = [Cell(metre, fifths.get(place, 0), clefs[place]) for place in range(1, len(staves) + 1)]
            place_of = {}
            for place, (staff, cell) in enumerate(zip(staves, cells, strict=True), 1):
                place_of |= {each.get(_ID): place for each in staff.iter()}
                for layer in staff.iter(f"{_MEI}layer"):
                    _read_notes(layer, cell, in_tuplet=False)
                for change in staff.iter(f"{_MEI}clef"):
                    clefs[place] = _clef(change)
            for sign in element:
                start = (sign.get("startid") or "").removeprefix("#")
                if place := place_of.get(start) or int((sign.get("staff") or "0").split()[0]):
                    _read_sign(sign, cells[place - 1])
            yield cells


def _clef(element: Any) -> str | None:
    return None if element.get("dis") else _CLEFS.get(f"{element.get('shape')}{element.get('line')}")


def _read_notes(element: Any, cell: Cell, *, in_tuplet: bool) -> None:
    for child in element:
        kind = child.tag.removeprefix(_MEI)
        if kind in ("beam", "tuplet", "graceGrp"):
            _read_notes(child, cell, in_tuplet=in_tuplet or kind == "tuplet")
        elif kind in ("rest", "mRest"):
            cell.rests += child.get("visible") != "false"
        elif kind in ("note", "chord"):
            notes = [child] if kind == "note" else list(child.iter(f"{_MEI}note"))
            if notes[0].get("grace") or child.get("grace"):
                cell.graces += 1
                continue
            cell.pitches.update(map(_pitch, notes))
            value = _DOTS[int(child.get("dots", "0"))].format(_VALUES[child.get("dur") or notes[0].get("dur")])
            cell.values["" if in_tuplet else value.capitalize()] += 1
            marks = {mark for each in child.iter(f"{_MEI}artic") for mark in each.get("artic").split()}
            cell.articulations |= {_ARTICULATIONS[mark] for mark in marks if mark in _ARTICULATIONS}


def _pitch(note: Any) -> str:
    accid = note.find(f"{_MEI}accid")
    sign = note.get("accid.ges", "") if accid is None else accid.get("accid") or accid.get("accid.ges")
    return f"{note.get('pname').upper()}{_ALTERATIONS[sign]}{note.get('oct')}"


def _read_sign(sign: Any, cell: Cell) -> None:
    kind = sign.tag.removeprefix(_MEI)
    cell.has_tie |= kind == "tie"
    cell.has_fermata |= kind == "fermata"
    if kind in _ORNAMENTS:
        cell.ornaments.add(_ORNAMENTS[kind][sign.get("form") == "lower"])
    if kind == "dynam":
        # Words such as "cresc." are dynamics to MEI.
        words = "".join(sign.itertext()).strip()
        cell.dynamics |= {words} if re.fullmatch("[fmprsz]+", words) else set()


WORKS = (
    *("bach-66-6", "bach-187-7", "bach-226-2", "corelli-3-1", "handel-lascia", "haydn-1-1-2", "mozart-545-1"),
    "mozart-80-4",
)


def test_every_measure_of_every_staff_is_read_alike() -> None:
    seen: Counter[str] = Counter()
    for work in default_works():
        if work.name not in WORKS:
            continue
        built, written = list(builder_cells(read(work.load()))), list(verovio_cells(work.path))
        assert len(built) == len(written), work.name
        for number, (ours, theirs) in enumerate(zip(built, written, strict=True)):
            assert ours == theirs, (work.name, number)
            seen.update(each.name for cell in ours for each in fields(cell) if getattr(cell, each.name))
    assert all(seen[each.name] > 2 for each in fields(Cell)), seen
