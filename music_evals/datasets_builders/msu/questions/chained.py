"""Questions above level 1 of difficulty: sentences lead to the measure that a question is about.

At level n there are n - 1 sentences, and each compares up to 2 ** n measures.
"""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from random import Random

from music_evals.datasets_builders.msu.questions.reading import Cell, Reading, Voice
from music_evals.notation.scores.chains import STEP, TARGET, resolve


def draw_leads(reading: Reading, level: int, rng: Random) -> dict[str, str]:
    """Draw sentences; return measures, such as ``measure 3``, and the sentences that lead there."""
    numbers = [measure.number for measure in reading.measures]
    parts = {
        voice.label: _plain_cells(numbers, voice)
        for voice in reading.voices
        if voice.is_at_pitch
    }
    span = min(2**level, len(numbers) // level)
    leads = {}
    for _ in range(4000):
        text, start = "", f"measure {rng.choice(numbers)}"
        for _ in range(1, level):
            end = rng.choice(("highest", "lowest"))
            text += STEP.format(span, start, end, rng.choice([*parts]))
            start = "it"
        with suppress(ValueError, LookupError):
            leads[resolve(text + TARGET, parts.__getitem__)] = text
    return leads


def _plain_cells(numbers: Iterable[int], voice: Voice) -> dict[int, Cell]:
    """The measures of a part by number, without those whose extremes depend on grace notes."""
    cells = zip(numbers, voice.cells, strict=True)
    return {number: cell for number, cell in cells if not cell.has_grace}


def lead_to(question: str, leads: Mapping[str, str]) -> str:
    """Put sentences in the place of the number of a measure; without sentences it stays as it
    is.
    """
    for measure in re.findall("measure [0-9]+", question):
        if measure in leads:
            return leads[measure] + question.replace(measure, TARGET)
    return question
