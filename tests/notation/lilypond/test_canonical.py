"""The canonical form: what is written of each construct, and that LilyPond reads the same music in
it.
"""

import tomllib
from pathlib import Path

import pytest

from music_evals.notation.lilypond.canonical import (
    write_score,
)
from music_evals.notation.lilypond.structure import Structure, read_structures

CASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
SOURCES = [case["source"] for case in CASES["written"]]


@pytest.fixture(scope="module")
def readings():
    """LilyPond's readings of all texts, made together; those of the canonical forms are by form."""
    texts = [*SOURCES, *(case["source"] for case in CASES["refused"])]
    read = dict(zip(texts, read_structures(texts, together=True), strict=True))
    structures = {
        text: structure for text, structure in read.items() if isinstance(structure, Structure)
    }
    forms = [write_score(structures[source]) for source in SOURCES]
    again = zip(forms, read_structures(forms, together=True), strict=True)
    return structures | {form: reading for form, reading in again if isinstance(reading, Structure)}


@pytest.mark.parametrize("case", CASES["refused"], ids=lambda case: case["message"])
def test_what_cannot_be_written(case, readings):
    with pytest.raises(ValueError, match=case["message"]):
        write_score(readings[case["source"]])
