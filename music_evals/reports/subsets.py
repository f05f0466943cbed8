"""Subsets of tasks' questions: drawn by logs, and taken for estimates of the scores on all
questions.

The file of subsets is a run config of Inspect: `--run-config` asks their questions, and the log
holds what an estimate needs.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt
from typing import Any, Self

import numpy as np
import pandas as pd
from pydantic import BaseModel, ValidationError, model_validator

from music_evals.reports.records import Records
from music_evals.reports.table import Rows, Table, notes
from music_evals.scorers.metrics.resampling import Floats
from music_evals.scorers.metrics.subsets import draw, strata_by_difficulty, subset_estimate

SPLITS, DRAWS = 40, 10
"""Ways to hold out half of the models, and subsets for each."""
_LEAST_MODELS = 6
_ERRORS = 2  # standard errors that a gain must have
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
    """Draw questions of each task, by its complete runs of models that are no baselines.

    Tasks of a single model are left out, and tasks whose runs have too few questions in common.
    Questions are a simple random sample, unless strata of difficulty serve models better that were
    held out.

    Returns:
        A run config of Inspect. Its metadata have the ``subsets`` by task and data.
    """
    runs = records.current(is_complete=True)
    subsets, selectors = {}, []
    for key, alike in runs.groupby(_keys(runs)):
        group = alike.query("not model.str.startswith('baseline/')", engine="python")
        items = records.items.query("is_main and counts and run in @group.index")
        responses = items.pivot_table("value", "run", "sample").dropna(axis=1)
        questions, values = responses.columns, responses.to_numpy()
        models = group["model"].nunique()
        if len(questions) <= size or models < 2:
            continue
        agreement: list[dict[str, Any]] = []
        is_better = False
        if models >= _LEAST_MODELS:
            agreement, is_better = cross_validate(responses, group["model"], size)
        rng = np.random.default_rng(0)
        strata = [np.arange(len(questions))]
        if is_better:
            strata = strata_by_difficulty(values.mean(axis=0), size, rng)
        drawn = draw(strata, size, rng)
        chosen = [*questions[np.concatenate(drawn)]]
        task = records.headers[group.index[0]].eval.task
        selectors += [f"{task}:{item}" for item in chosen]
        subsets[key] = {
            "models": [*group["model"]],
            "items": chosen,
            "strata": [number for number, items in enumerate(drawn) for _ in items],
            "sizes": [*map(len, strata)],
            "agreement": agreement,
        }
    return {"eval_config": {"sample_id": selectors}, "metadata": {"subsets": subsets}}


def cross_validate(
    responses: pd.DataFrame, models: pd.Series, size: int
) -> tuple[list[dict[str, Any]], bool]:
    """Hold out half of the models at a time, and score their runs on subsets that the others' runs
    stratify.

    Args:
        responses: scores from 0 to 1, a row per run and a column per question.
        models: the model of each run.
        size: the number of questions.

    Returns:
        For strata of difficulty and for simple random samples the ``error`` of the score (root of
        the mean square, in percentage points) and ``kendall`` of the ranking, which is 0 if a
        ranking tells no two models apart. And whether the strata have smaller errors, by more than
        two standard errors, and rank no worse.
    """
    rng = np.random.default_rng(0)
    names = models.unique()
    errors: dict[str, list[float]] = {"difficulty": [], "random": []}
    rankings: dict[str, list[float]] = {"difficulty": [], "random": []}
    for _ in range(SPLITS):
        is_held_out = models.isin(rng.permutation(names)[: len(names) // 2]).to_numpy()
        values = responses.to_numpy()[is_held_out]
        means = responses.to_numpy()[~is_held_out].mean(axis=0)
        for design in errors:
            strata = [np.arange(len(means))]
            if design == "difficulty":
                strata = strata_by_difficulty(means, size, rng)
            error, kendall = _agreement(values, strata, size, rng)
            errors[design].append(error)
            rankings[design].append(kendall)
    rows: list[dict[str, Any]] = []
    for design, ranked in rankings.items():
        error = 100 * sqrt(np.mean(np.square(errors[design])))
        rows.append({"strata": design, "error": error, "kendall": float(np.mean(ranked))})
    saved = np.subtract(np.square(errors["random"]), np.square(errors["difficulty"]))
    ranked_better = np.subtract(rankings["difficulty"], rankings["random"])
    is_better = _deviate(saved) > _ERRORS and _deviate(ranked_better) > -_ERRORS
    return rows, is_better


def _deviate(gains: Floats) -> float:
    """A mean gain in standard errors."""
    error = gains.std(ddof=1) / sqrt(len(gains))
    return float(gains.mean() / error) if error else 0.0


def _agreement(
    values: Floats, strata: Sequence[Any], size: int, rng: np.random.Generator
) -> tuple[float, float]:
    """The error of `DRAWS` subsets and how they rank, against the scores on all questions."""
    scores = []
    for _ in range(DRAWS):
        parts = [
            len(items) * values[:, chosen].mean(axis=1)
            for items, chosen in zip(strata, draw(strata, size, rng), strict=True)
        ]
        scores.append(sum(parts) / values.shape[1])
    frame, full = pd.DataFrame(np.array(scores).T), pd.Series(values.mean(axis=1))
    error = np.sqrt(frame.sub(full, axis=0).pow(2).to_numpy().mean())
    return float(error), float(frame.corrwith(full, method="kendall").fillna(0).mean())


def estimates_table(records: Records, benchmark: str) -> Table:
    """Make the table of scores on all questions, as runs on subsets estimate them."""
    rows: Rows = []
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
