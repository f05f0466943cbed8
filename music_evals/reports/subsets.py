"""Subsets of tasks' questions: drawn by logs, and taken for estimates of the scores on all
questions.

The file of subsets is a run config of Inspect: `--run-config` asks their questions, and the log
holds what an estimate needs.
"""

from dataclasses import replace
from typing import Any, Self

import numpy as np
import pandas as pd
from pydantic import BaseModel, ValidationError, model_validator

from music_evals.reports.comparisons import BASELINE
from music_evals.reports.records import Records
from music_evals.reports.table import Table, notes
from music_evals.scorers.metrics.subsets import draw, strata_by_difficulty, subset_estimate

_COLUMNS = ("Model", "Task", "Condition", "On the subset", "On all questions")


class _Subset(BaseModel):
    """A subset as a log holds it: its items, the stratum of each, and the sizes of the strata."""

    items: list[str]
    strata: list[int]
    sizes: list[int]

    @model_validator(mode="after")
    def _check(self) -> Self:
        drawn = [self.strata.count(number) for number in range(len(self.sizes))]
        is_possible = all(2 <= n <= size for n, size in zip(drawn, self.sizes, strict=True))
        if not is_possible or not len(self.items) == len(self.strata) == sum(drawn):
            raise ValueError("the strata do not fit the items")
        return self


def make_subsets(records: Records, size: int) -> dict[str, Any]:
    """Draw questions of each task, from strata of difficulty for models that are no baselines.

    Tasks without a complete run are left out, as are those whose runs share too few questions.

    Returns:
        A run config of Inspect. Its metadata have the ``subsets`` by task and data.
    """
    runs = records.current(is_complete=True)
    runs = runs[~runs["model"].str.startswith(BASELINE)]
    subsets, selectors = {}, []
    for key, group in runs.groupby(_keys(runs)):
        items = records.items.query("is_main and counts and run in @group.index")
        responses = items.pivot_table("value", "run", "sample").dropna(axis=1)
        questions = responses.columns
        if len(questions) <= size:
            continue
        rng = np.random.default_rng(0)
        strata = strata_by_difficulty(responses.to_numpy().mean(axis=0), size, rng)
        drawn = draw(strata, size, rng)
        chosen = [*questions[np.concatenate(drawn)]]
        task = records.headers[group.index[0]].eval.task
        selectors += [f"{task}:{item}" for item in chosen]
        subsets[key] = {
            "models": [*group["model"]],
            "items": chosen,
            "strata": [number for number, items in enumerate(drawn) for _ in items],
            "sizes": [*map(len, strata)],
        }
    return {"eval_config": {"sample_id": selectors}, "metadata": {"subsets": subsets}}


def estimates_table(records: Records, benchmark: str) -> Table:
    """Make the table of scores on all questions, as runs on subsets estimate them."""
    rows = []
    runs = records.runs[records.runs["benchmark"] == benchmark]
    for run, key in _keys(runs).items():
        about, score = records.headers[run].eval.metadata or {}, records.percent(run)
        try:
            subset = _Subset.model_validate(about.get("subsets", {}).get(key))
        except ValidationError:  # no subset, or that of another version
            continue
        scored = records.main[run].query("counts").groupby("sample")["value"].mean().dropna()
        if score and {*subset.items} == {*scored.index}:
            drawn = scored[subset.items].groupby(subset.strata)
            values = [items.to_numpy() for _, items in drawn]
            full = replace(subset_estimate(values, subset.sizes).percent(), n=score.n)
            rows.append([*runs.loc[run, ["model", "task", "condition"]], score, full])
    return Table("estimates", "Estimates from subsets", _COLUMNS, rows, notes("estimates"))


def _keys(runs: pd.DataFrame) -> pd.Series:
    """Task and data, as the signatures of runs say them."""
    signatures = runs.get("signature", pd.Series(dtype=str))
    return signatures.str.replace(r"\|.*(\|data:[^|]*)\|.*", r"\1", regex=True)
