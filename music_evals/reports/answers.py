"""What the replies of a run show besides their score, in columns of `Records.runs` and in lines."""

from collections.abc import Iterator
from math import nan
from typing import Any

import pandas as pd
from inspect_ai.log import EvalLog, EvalResults

from music_evals.reports.sanitize import plain
from music_evals.reports.table import rounded, share
from music_evals.scorers.metrics.collapse import LEAST_ITEMS, LEVEL, collapse

LOGGED = ("permutation_p", "cut", "too_long", "misnumbered", "no_decision")
"""Metrics of the main scorer that are columns of `Records.runs`."""
_SHOWN = 40  # characters of an answer
_GAPS = {
    "too_long": "{share} of the prompts are longer than the model's context",
    "misnumbered": "replies with fewer or other numbers than questions: {number}",
    "unscored": "samples without a score, which are in no figure: {number}",
}
"""Column of `Records.runs` → what a line says of a value above 0."""


def answer_facts(log: EvalLog, main: pd.DataFrame) -> dict[str, Any]:
    """Return the figures of `LOGGED`, the `Collapse` of the answers under ``collapse``, and the
    number of samples without a score under ``unscored``.
    """
    results = log.results or EvalResults()
    scorer = (log.eval.metadata or {})["main_metric"].partition("/")[0]
    metrics = next(score.metrics for score in results.scores if score.name == scorer)
    is_scored = main["value"].notna() | ~main["counts"]
    scored = len(main[is_scored].drop_duplicates(["sample", "epoch"]))
    own = main[main["counts"]].reindex(columns=["answer", "key", "item"]).dropna(subset="key")
    found = collapse(*(own[name].tolist() for name in own))
    return {
        "collapse": found,
        "unscored": results.completed_samples - scored,
        **{name: float(metrics[name].value) if name in metrics else nan for name in LOGGED},
    }


def answer_lines(runs: pd.DataFrame) -> list[str]:
    """Return a line for each run whose replies show answer collapse, no dependence on the
    questions, or gaps.
    """
    lines = []
    for _, run in runs.iterrows():
        if facts := [*_facts(run)]:
            lines.append(f"{run['benchmark']} {run['task']}, {run['model']}: {'; '.join(facts)}.")
    return lines


def _facts(run: pd.Series) -> Iterator[str]:
    found = run["collapse"]
    if found and found.is_collapsed:
        answer, key = plain(found.answer, _SHOWN), plain(found.key, _SHOWN)
        yield (
            f"{share(found.share)} of the answers are {answer}; the commonest key is {key}, "
            f"{share(found.key_share)}"
        )
    if run["permutation_p"] >= LEVEL and run["n"] >= LEAST_ITEMS:
        p = rounded(run["permutation_p"], 2)
        yield f"no sign that the answers depend on the questions (p = {p})"
    for name, text in _GAPS.items():
        if run[name] > 0:
            yield text.format(share=share(run[name]), number=f"{run[name]:.0f}")
