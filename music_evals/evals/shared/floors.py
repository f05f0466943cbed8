"""Floors of a task: the score that its questions give without the music, from the dataset's
provenance.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from music_evals.datasets_builders.dataset_io import Origin
from music_evals.datasets_builders.questions.items import form_of
from music_evals.scorers.metrics.proportion import wilson_interval

Floors = dict[str, dict[str, float]]
"""Kind of floor → ``value``, and ``low`` and ``high`` if it was measured, from 0 to 1."""


def floors_of(
    origin: Origin, config: str, rows: Mapping[str, Sequence[Mapping[str, Any]]]
) -> Floors:
    """Return the floors of questions of a config, by split; none if the dataset lacks the floors of
    a form.

    Measured floors other than chance have Wilson's interval for the effective number of questions
    behind them.
    """
    measured = origin.provenance.floors.get(config, {})
    counts = Counter(
        (split, form_of(row)) for split, split_rows in rows.items() for row in split_rows
    )
    if not counts or any(form not in measured.get(split, {}) for split, form in counts):
        return {}
    forms = [
        (count / counts.total(), measured[split][form]) for (split, form), count in counts.items()
    ]
    effective = 1 / sum(weight**2 / form["questions"] for weight, form in forms)
    floors: Floors = {}
    for name in forms[0][1]:
        if name != "questions" and all(name in form for _, form in forms):
            value = round(min(sum(weight * form[name] for weight, form in forms), 1.0), 6)
            low, high = wilson_interval(value, max(round(effective), 1))
            is_chance = all(form[name] == form["chance"] for _, form in forms)
            floors[name] = (
                {"value": value} if is_chance else {"value": value, "low": low, "high": high}
            )
    return floors
