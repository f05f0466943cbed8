"""A small dataset of MSU-Bench's form, with scores of the tests' own."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from PIL import Image

from music_evals.datasets_builders.dataset_io import GENERATED, make_provenance
from music_evals.datasets_builders.msu.dataset import write
from music_evals.datasets_builders.msu.rows import (
    NAME,
    SPLITS,
    VERSION,
    Plan,
)

Rows = Mapping[str, Sequence[Any]]
ABC = """X:1
T:{title}
C:Nobody
M:{metre}
L:1/4
K:C
V:1 treble nm="Voice"
V:1
C D E F | %1
G A B c |] %2
"""
QUESTIONS = (
    (1, "time signature", "What is the time signature?", "{metre}", "metre"),
    (1, "composer", "Who is the composer?", "Nobody", "text"),
    (1, "anacrusis", "Does the piece begin with an anacrusis?", "No", "yes_no"),
    (2, "highest pitch", "In measure 1, what is the highest pitch?", "F4", "pitch"),
    (2, "lowest pitch", "In measure 2, what is the lowest pitch?", "G4", "pitch"),
    (2, "rest", "In measure 1, is there a rest?", "No", "yes_no"),
    (3, "ends on the tonic", "Does the piece end on the tonic?", "Yes", "yes_no"),
    (3, "key", "In which key does it end?", "C major", "key"),
    (3, "cadence", "In measure 2, is there a plagal cadence?", "No", "yes_no"),
    (4, "rhythm", "What is the most frequent note value?", "crotchet", "duration"),
    (4, "texture", "What is the texture?", "monophonic", "text"),
    (4, "parts", "How many parts are there?", "1", "number"),
)


def png(shade):
    """A grey image of one pixel."""
    file = io.BytesIO()
    Image.new("L", (1, 1), shade).save(file, "PNG")
    return file.getvalue()


def score(score_id, /, **changes):
    return {
        "score_id": score_id,
        "title": score_id.capitalize(),
        "composer": "Nobody",
        "abc": ABC.format(title=score_id.capitalize(), metre="4/4"),
        "images": [],
        "pdf": None,
        "musicxml": None,
        "source": "made in a test",
        **changes,
    }  # type: ignore[typeddict-item]


def question(score_id, number, /, **changes):
    """The question of a number from 0 to 11, three a level."""
    level, kind, text, answer, answer_type = QUESTIONS[number]
    return {
        "id": f"{score_id}-level{level}-{number % 3 + 1}",
        "score_id": score_id,
        "level": level,
        "kind": kind,
        "question": text,
        "answer": answer.format(metre="4/4"),
        "answer_type": answer_type,
        **changes,
    }  # type: ignore[typeddict-item]


def write_rows(folder, scores, questions, source=GENERATED, seed=5):
    """Write scores and questions by split."""
    plan = Plan(scores, questions, make_provenance(NAME, VERSION, source, seed=seed))  # type: ignore[arg-type]
    write(plan, folder)
    return str(folder)


def write_small(folder):
    """Write the golden record's three scores of two pages, one a split, with twelve questions
    each.
    """
    data = Path(__file__).parent / "golden" / "data" / "msu"
    scores, questions = (
        {
            split: pq.read_table(data / config / f"{split}-00000-of-00001.parquet").to_pylist()
            for split in SPLITS
        }
        for config in ("scores", "questions")
    )
    # The record is of a version without PDFs.
    scores = {split: [{"pdf": None, **row} for row in rows] for split, rows in scores.items()}
    return write_rows(folder, scores, questions)
