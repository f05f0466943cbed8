"""Subsets of tasks' questions: chosen from logs, and taken for estimates of the scores on all
questions.

The file of subsets is a run config of Inspect: `--run-config` asks their questions, and the log
holds what an estimate needs.
"""

from dataclasses import replace
from typing import Any

import pandas as pd

from music_evals.reports.records import GROUPS, Records
from music_evals.reports.table import Rows, Table, notes
from music_evals.scorers.metrics.estimates import Estimate, difference
from music_evals.scorers.metrics.resampling import Floats
from music_evals.scorers.metrics.subsets import choose_items, discrimination

DRAWS = 100
"""Random subsets that a chosen one is compared with."""
_COLUMNS = ("Model", "Task", "Condition", "On the subset", "On all questions")


def make_subsets(records: Records, size: int) -> dict[str, Any]:
    """Choose questions of each task, by its complete runs of models that are no baselines.

    Tasks of a single model are left out, and tasks whose runs have too few questions in common.

    Returns:
        A run config of Inspect. Its metadata have the ``subsets`` by task and data.
    """
    from scipy.stats import t

    runs = records.current(is_complete=True)
    subsets, selectors = {}, []
    for key, alike in runs.groupby(_keys(runs)):
        group = alike.query("not model.str.startswith('baseline/')", engine="python")
        items = records.items.query("is_main and counts and run in @group.index")
        responses = items.pivot_table("value", "run", "sample").dropna(axis=1)
        # Of equal questions the first one is chosen.
        responses = responses.sample(frac=1, axis=1, random_state=0)
        questions = responses.columns
        values = responses.to_numpy()
        models = group["model"].nunique()
        if len(questions) <= size or models < 2:
            continue
        facts = items.groupby("sample").first().reindex(questions, columns=GROUPS)
        kinds = pd.get_dummies(facts.astype(str)).to_numpy(float).T
        order = choose_items(values, kinds, size)
        agreement = cross_validate(responses, group["model"], kinds, size)
        task = records.headers[group.index[0]].eval.task
        selectors += [f"{task}:{item}" for item in questions[order]]
        subsets[key] = {
            "models": [*group["model"]],
            "items": [*questions[order]],
            "difficulty": (1 - values[:, order].mean(axis=0)).tolist(),
            "discrimination": discrimination(values)[order].tolist(),
            "agreement": agreement,
            "margin": t.ppf(0.975, models - 1) * agreement[-1]["error"],
        }
    return {"eval_config": {"sample_id": selectors}, "metadata": {"subsets": subsets}}


def cross_validate(
    responses: pd.DataFrame, models: pd.Series, kinds: Floats, size: int
) -> list[dict[str, float]]:
    """Leave out one model at a time, and score its runs on questions that the others' runs choose.

    Args:
        responses: scores from 0 to 1, a row per run and a column per question.
        models: the model of each run.
        kinds: 0 and 1, a row per kind and a column per question.
        size: the number of questions; a quarter and half of them are tried, too.

    Returns:
        For each size ``items``, the ``error`` of the score (root of the mean square, in percentage
        points), ``kendall`` and ``spearman`` of the ranking, which are 0 if a ranking tells no two
        models apart; and the means of `DRAWS` random subsets.
    """
    rows = []
    full = responses.mean(axis=1)
    for items in (size // 4, size // 2, size):
        chosen = full.copy()
        for _, left_out in responses.groupby(models):
            order = choose_items(responses.drop(left_out.index).to_numpy(), kinds, items)
            chosen[left_out.index] = left_out.iloc[:, order].mean(axis=1)
        draws = [
            responses.sample(items, axis=1, random_state=seed).mean(axis=1) for seed in range(DRAWS)
        ]
        scores = pd.concat([chosen, *draws], axis=1, ignore_index=True)
        agreement = {
            "error": scores.sub(full, axis=0).pow(2).mean().pow(0.5) * 100,
            "kendall": scores.corrwith(full, method="kendall"),
            "spearman": scores.rank().corrwith(full.rank()),
        }
        figures = pd.DataFrame(agreement).fillna(0)
        random = figures[1:].mean().add_suffix("_random")
        rows.append({"items": items, **figures.loc[0], **random})
    return rows


def estimates_table(records: Records, benchmark: str) -> Table:
    """Make the table of scores on all questions, as runs on subsets estimate them.

    The interval of an estimate is wider than that of the answers alone: the error of the choice is
    added in squares.
    """
    rows: Rows = []
    runs = records.runs[records.runs["benchmark"] == benchmark]
    for run, key in _keys(runs).items():
        about, score = records.headers[run].eval.metadata or {}, records.percent(run)
        subset = about.get("subsets", {}).get(key)
        if score and subset and {*subset["items"]} == {*records.main[run]["sample"]}:
            full = difference(score, Estimate(0, -subset["margin"], subset["margin"]))
            full = replace(full, low=max(full.low or 0, 0), high=min(full.high or 100, 100))
            rows.append([*runs.loc[run, ["model", "task", "condition"]], score, full])
    return Table("estimates", "Estimates from subsets", _COLUMNS, rows, notes("estimates"))


def _keys(runs: pd.DataFrame) -> pd.Series:
    """Task and data, as the signatures of runs say them."""
    signatures = runs.get("signature", pd.Series(dtype=str))
    return signatures.str.replace(r"\|.*(\|data:[^|]*)\|.*", r"\1", regex=True)
