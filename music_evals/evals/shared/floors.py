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
    forms = Counter((split, form_of(row)) for split in rows for row in rows[split])
    if not forms or any(form not in measured.get(split, {}) for split, form in forms):
        return {}
    facts = [measured[split][form] for split, form in forms]
    weights = [count / forms.total() for count in forms.values()]
    weighted = list(zip(weights, facts, strict=True))
    effective = 1 / sum(weight**2 / form["questions"] for weight, form in weighted)
    names = set(facts[0]).intersection(*facts) - {"questions"}
    return {name: _weighted_floor(name, weighted, effective) for name in facts[0] if name in names}


def _weighted_floor(
    name: str, weighted: Sequence[tuple[float, Mapping[str, float]]], effective: float
) -> dict[str, float]:
    """A floor over forms with weights, with its interval unless it is chance."""
    value = round(min(sum(weight * form[name] for weight, form in weighted), 1.0), 6)
    if all(form[name] == form["chance"] for _, form in weighted):
        return {"value": value}
    low, high = wilson_interval(value, max(round(effective), 1))
    return {"value": value, "low": low, "high": high}
