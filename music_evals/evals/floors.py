"""What a task's log says of its floors: of the questions that are asked, out of what the dataset knows of each form."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from music_evals.datasets_builders.dataset_io import Origin
from music_evals.datasets_builders.questions.items import form_of
from music_evals.scorers.metrics.proportion import wilson_interval

Floors = dict[str, dict[str, float]]
"""Kind of floor → ``value``, and ``low`` and ``high`` where it was measured, from 0 to 1."""


def floors_of(origin: Origin, config: str, asked: Mapping[str, Sequence[Mapping[str, Any]]]) -> Floors:
    """Return the floors of some of a config's questions, by split; none where the dataset does not tell all of them.

    Those that are measured, and are not chance, have Wilson's interval, for as many questions as tell as much as those
    of the forms do.
    """
    known = origin.provenance.floors.get(config, {})
    counts = Counter((split, form_of(row)) for split, rows in asked.items() for row in rows)
    if not counts or any(form not in known.get(split, {}) for split, form in counts):
        return {}
    forms = [(count / counts.total(), known[split][form]) for (split, form), count in counts.items()]
    worth = 1 / sum(weight**2 / form["questions"] for weight, form in forms)
    found: Floors = {}
    for name in forms[0][1]:
        if name != "questions" and all(name in form for _, form in forms):
            value = min(sum(weight * form[name] for weight, form in forms), 1.0)
            low, high = wilson_interval(value, max(round(worth), 1))
            is_chance = all(form[name] == form["chance"] for _, form in forms)
            found[name] = {"value": value} if is_chance else {"value": value, "low": low, "high": high}
    return found
