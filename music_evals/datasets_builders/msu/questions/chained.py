"""Questions above level 1 of difficulty: sentences lead to the measure that a question is about.

At level n there are n - 1 sentences, and each compares up to 2 ** n measures.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from operator import attrgetter
from random import Random

from music_evals.datasets_builders.msu.questions.reading import Reading
from music_evals.notation.scores.chains import STEP, TARGET, resolve


def draw_leads(reading: Reading, level: int, rng: Random) -> dict[str, str]:
    """Draw sentences; return measures, such as ``measure 3``, and the sentences that lead there."""
    numbers = [measure.number for measure in reading.measures]
    parts = {}
    for voice in filter(attrgetter("is_at_pitch"), reading.voices):
        cells = zip(numbers, voice.cells, strict=True)
        # Measures with grace notes are not compared: not everybody counts these.
        parts[voice.label] = {number: cell for number, cell in cells if not cell.has_grace}
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


def lead_to(question: str, leads: Mapping[str, str]) -> tuple[str, str]:
    """Return the sentences that lead to the measure of a question, and the question with them; both
    are empty if there are no sentences.
    """
    (measure,) = re.findall("measure [0-9]+", question)
    lead = leads.get(measure, "")
    return lead, lead and lead + question.replace(measure, TARGET)
