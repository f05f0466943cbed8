"""Transcriptions: notes by onset and pitch, and the melody as a curve of frequencies.

Conventions: an answer is numbers in rows. ``notes`` have onset, offset (seconds) and MIDI number;
F1 of notes whose onsets are within 50 ms and pitches within 50 cents, whatever their offsets.
``melody`` has time (seconds) and frequency (Hz, 0 where there is no melody); overall accuracy.

Source: mir_eval.transcription, mir_eval.melody.
"""

import re
from operator import itemgetter
from typing import Any

import numpy as np

from music_evals.scorers.answer_kinds.kind import AnswerKind
from music_evals.scorers.answer_kinds.pitches import frequency

_WIDTHS = {"notes": 3, "melody": 2}  # numbers in a row
_NUMBER = r"\d{1,5}(?:[.,]\d{1,6})?"
_LONGEST = 200  # characters of a row
_MOST_WORDS = 4  # beside the numbers of a row
_ROWS = 5_000  # of an answer
_LATEST = 10_000.0  # seconds
_HIGHEST = {"notes": 127.0, "melody": 20_000.0}

Table = np.ndarray[Any, np.dtype[np.float64]]


def make(name: str, *_: object) -> AnswerKind:
    """Make ``notes`` or ``melody``."""
    score = _score_notes if name == "notes" else _score_melody

    def read(statement: str) -> list[str]:
        lines = re.split(r"[\n;]|(?<=[)\]]), ?(?=[(\[])", statement)
        rows = [row for line in lines if (row := _row(line, _WIDTHS[name]))]
        is_valid = all(row[0] <= _LATEST and row[-1] <= _HIGHEST[name] for row in rows)
        if not is_valid or not 0 < len(rows) <= _ROWS:
            return []
        rows.sort(key=itemgetter(0))
        return ["; ".join(" ".join(f"{number:g}" for number in row) for row in rows)]

    return AnswerKind(read=read, score=score, is_long=True)


def _row(line: str, width: int) -> list[float]:
    """The numbers of a line that holds a row and little else."""
    if len(line) > _LONGEST:
        return []
    line = re.sub(r"(?i)(?<![A-Za-z0-9])[A-G](?:#|b)?\d\b|\([^()]*hz\)", " ", line)
    if len(re.findall(r"[^\W\d_]+", line)) > _MOST_WORDS:
        return []
    # Commas are decimal ones if there are no points and too few numbers otherwise.
    for pattern in (r"\d{1,5}(?:\.\d{1,6})?", _NUMBER):
        numbers = re.findall(rf"(?<![\w.])-?{pattern}(?![\d.])", line)
        if len(numbers) == width:
            return [float(number.replace(",", ".")) for number in numbers]
    return []


def _table(text: str, width: int) -> Table:
    return np.array([float(number) for number in text.replace(";", " ").split()]).reshape(-1, width)


def _score_notes(answer: str, reference: str) -> float:
    from mir_eval.transcription import precision_recall_f1_overlap

    sides = []
    for text in (reference, answer):
        rows = _table(text, 3)
        # A note has to sound: mir_eval refuses notes that end where they begin.
        rows = rows[rows[:, 1] > rows[:, 0]]
        sides += [rows[:, :2], frequency(rows[:, 2])]
    if not len(sides[0]) or not len(sides[2]):
        return 0.0
    return float(precision_recall_f1_overlap(*sides, offset_ratio=None)[2])


def _score_melody(answer: str, reference: str) -> float:
    from mir_eval.melody import evaluate

    given = _table(answer, 2)
    expected = _table(reference, 2)
    if len(given) < 2 or len(expected) < 2:
        return 0.0
    # Of rows with the same time the first counts.
    given = given[np.unique(given[:, 0], return_index=True)[1]]
    figures = evaluate(expected[:, 0], expected[:, 1], given[:, 0], given[:, 1])
    return float(figures["Overall Accuracy"])
