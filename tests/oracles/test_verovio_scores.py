"""What the questions on scores are computed from, against verovio's reading of the same files, in
`data`.

The builder reads the works of music21's corpus through music21 alone. verovio has a MusicXML parser
of its own. Every staff of every measure must hold the same: signatures and clef, pitches and
written values of the notes, rests, grace notes, ties and signs.
"""

import json
from collections import Counter
from dataclasses import dataclass, fields
from difflib import SequenceMatcher
from hashlib import sha256
from pathlib import Path

import pytest

from music_evals.datasets_builders.msu.questions.reading import read, spell
from music_evals.datasets_builders.msu.works import default_works

ORACLE = json.loads((Path(__file__).parent / "data" / "verovio_scores.json").read_text("utf-8"))[
    "measures"
]

DIVIDED = {"bach-226-2": 2, "mozart-80-4": 3}
"""Works → how many of their measures the files have in two pieces."""


@dataclass
class Cell:
    """One measure of one staff; grace notes are not among the pitches, and values in tuplets have
    no name.
    """

    metre: str
    fifths: int
    clef: str | None
    pitches: Counter[str]
    values: Counter[str]
    rests: int
    graces: int
    has_tie: bool
    has_fermata: bool
    articulations: set[str]
    ornaments: set[str]
    dynamics: set[str]


def builder_cells(reading):
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


def digest(cells):
    values = [[getattr(cell, field.name) for field in fields(Cell)] for cell in cells]
    plain = [[_sorted(value) for value in row] for row in values]
    return sha256(json.dumps(plain).encode()).hexdigest()[:8]


def _sorted(value):
    if isinstance(value, Counter):
        return sorted(value.items())
    return sorted(value) if isinstance(value, set) else value


@pytest.mark.slow
@pytest.mark.parametrize(
    "work", [work for work in default_works() if work.name in ORACLE], ids=lambda work: work.name
)
def test_every_measure_of_every_staff_is_read_alike(work):
    """verovio has the two pieces of a divided measure one by one."""
    measures = [digest(cells) for cells in builder_cells(read(work.load()))]
    pieces = ORACLE[work.name].split()
    matcher = SequenceMatcher(None, measures, pieces, autojunk=False)
    alike = sum(block.size for block in matcher.get_matching_blocks())
    divided = len(pieces) - len(measures)
    assert alike == len(measures) - divided
    assert divided == DIVIDED.get(work.name, 0)
