"""Overlap of rows: planted copies are found, whatever their key, order or case, and other rows are
not dropped.
"""

from typing import Any

import pytest

from music_evals.datasets_builders.training.decontamination import TestRows
from music_evals.notation.midi.files import write_midi
from music_evals.notation.midi.performance import Note, Performance

Row = dict[str, Any]
LONG = (
    "How many eighth notes last as long as these values in a row: dotted quarter note, dotted half "
    "note, half note?"
)
MELODY = (0, 2, 4, 5, 4, 2, 7, 5, 4, 0, 2, -1, 0, 4, 7, 9)  # semitones


def text(question):
    return {"id": "x", "question": question}


def clip(*pitches, low=0, beat=480, drums=False):
    notes = tuple(Note(beat * at, low + pitch, beat // 2, 80) for at, pitch in enumerate(pitches))
    return {
        "id": "x",
        "midi_1": write_midi(Performance(notes, 100, (4, 4), None, percussion=drums)),
    }


def tune(music, key="C", **question):
    return {"id": "x", "abc": f"X:1\nM:4/4\nL:1/8\nK:{key}\n{music}", **question}


ASKED = {
    **text(f"How does it go on?\n\n{tune('CDEFGABc | dcBAGFED |')['abc']}"),
    "options": ["EGcGECE2 | F8 |"],
}
DRUMS = clip(36, 42, 38, 42, 36, 36, 38, 42, 36, 42, drums=True)


@pytest.mark.parametrize(
    ("test", "training", "config", "is_apart"),
    [
        (text(LONG), text(LONG.upper().replace(",", "")), "", False),
        (text(LONG), text(f"Please answer. {LONG}"), "", False),
        (text(LONG), text(LONG.replace("dotted quarter note", "quarter note")), "", True),
        (
            text("Which note lies a third above G?"),
            text("Which note lies a third above G flat?"),
            "",
            True,
        ),
        (text("下列哪个音是主音？"), text("下列哪个音是主音"), "", False),
        (clip(*MELODY, low=60), clip(*MELODY, low=53, beat=240), "transposition", False),
        (clip(*MELODY, low=60), clip(*MELODY[::-1], low=60), "transposition", True),
        (clip(60, 64, 67, 72, 76), clip(62, 66, 69, 74, 78), "chord_quality", True),
        (clip(60, 64, 67, 72, 76), clip(60, 64, 67, 72, 76), "chord_quality", False),
        (DRUMS, DRUMS, "syncopation", False),
        (DRUMS, clip(36, 42, 38, 42, 36, 38, 36, 42, 38, 42, drums=True), "syncopation", True),
        (ASKED, tune("DEFGABcd | edcBAGFE |", key="D"), "", False),
        (ASKED, clip(62, 64, 66, 67, 69, 71, 73, 74, 76, 74, 73, 71, 69, 67, 66, 64), "", False),
        (ASKED, tune("CEGcGECE | FAcAFACD |"), "", True),
        (tune("CEG2 |", question="Which chord?"), text("Which chord?"), "", True),
    ],
)
def test_copies_are_found_and_other_rows_are_kept(test, training, config, is_apart):
    tests = TestRows()
    tests.add("planted", [test], config)
    assert tests.accepts(training, config, is_composed=False) is is_apart
    assert tests.record.tests == {"planted": {"rows": 1, "dropped": int(not is_apart)}}
