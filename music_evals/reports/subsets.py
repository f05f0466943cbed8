"""Subsets of tasks' questions: chosen from logs, and taken for estimates of the scores on all
questions.

The file of subsets is a run config of Inspect: `--run-config` asks their questions, and the log holds
what an estimate needs.
"""

from typing import Any

import pandas as pd

from music_evals.benchmarks import fingerprint
from music_evals.reports.records import GROUPS, Records
from music_evals.reports.table import Rows, Table, notes
from music_evals.scorers.metrics.resampling import Floats
from music_evals.scorers.metrics.subsets import choose_items, discrimination, full_score

DRAWS = 100
"""Random subsets that a chosen one is compared with."""
Subsets = dict[str, dict[str, Any]]
"""What a file says of each subset, by task and data."""


def make_subsets(records: Records, size: int) -> Subsets:
    """Choose questions of each task, by its complete runs of models that are no baselines.

    Tasks of a single model are left out, and tasks whose runs have too few questions in common.
    """
    runs = records.current()
    runs = runs[runs["is_complete"] & ~runs["model"].str.startswith("baseline/")]
    subsets: Subsets = {}
    for key, group in runs.groupby(_keys(runs)):
        items = records.items.query("is_main and counts and run in @group.index")
        responses = items.pivot_table("value", "run", "sample").dropna(axis=1)
        questions, values = responses.columns, responses.to_numpy()
        if len(questions) <= size or group["model"].nunique() < 2:
            continue
        facts = items.groupby("sample").first().loc[questions].reindex(columns=GROUPS)
        kinds = pd.get_dummies(facts.astype(str)).to_numpy(float).T
        order = choose_items(values, kinds, size)
        subsets[key] = {
            "name": records.headers[group.index[0]].eval.task,
            "questions": len(questions),
            "fingerprint": fingerprint(questions),
            "models": [*group["model"]],
            "items": [*questions[order]],
            "difficulty": (1 - values.mean(axis=0))[order].tolist(),
            "discrimination": discrimination(values)[order].tolist(),
            "agreement": cross_validate(responses, group["model"], kinds, size),
        }
    return subsets


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
    full, rows = responses.mean(axis=1), []
    for items in (size // 4, size // 2, size):
        chosen = full.copy()
        for model in models.unique():
            is_out = models == model
            order = choose_items(responses[~is_out].to_numpy(), kinds, items)
            chosen[is_out] = responses[is_out].iloc[:, order].mean(axis=1)
        draws = [responses.sample(items, axis=1, random_state=seed) for seed in range(DRAWS)]
        columns = [chosen, *(draw.mean(axis=1) for draw in draws)]
        scores = pd.concat(columns, axis=1, ignore_index=True)
        agreement = {
            "error": scores.sub(full, axis=0).pow(2).mean().pow(0.5) * 100,
            "kendall": scores.corrwith(full, method="kendall"),
            "spearman": scores.rank().corrwith(full.rank()),
        }
        figures = pd.DataFrame(agreement).fillna(0)
        random = figures[1:].mean().add_suffix("_random")
        rows.append({"items": items, **figures.loc[0], **random})
    return rows


def run_config(subsets: Subsets) -> dict[str, Any]:
    """Return the run config of Inspect that asks the questions of subsets."""
    ids: list[str] = []
    for subset in subsets.values():
        ids += [f"{subset['name']}:{item}" for item in subset["items"]]
    return {"eval_config": {"sample_id": ids}, "metadata": {"subsets": subsets}}


def estimates_table(records: Records, benchmark: str) -> Table:
    """Make the table of scores on all questions, as runs on subsets estimate them."""
    rows: Rows = []
    runs = records.runs[records.runs["benchmark"] == benchmark]
    for run, key in _keys(runs).items():
        about, score = records.headers[run].eval.metadata or {}, records.percent(run)
        subset = about.get("subsets", {}).get(key)
        if score and subset and {*subset["items"]} == {*records.main[run]["sample"]}:
            error, models = subset["agreement"][-1]["error"], len({*subset["models"]})
            names = runs.loc[run, ["model", "task", "condition"]]
            rows.append([*names, score, full_score(score, error, models)])
    columns = ["Model", "Task", "Condition", "On the subset", "On all questions"]
    return Table("estimates", "Estimates from subsets", columns, rows, notes("estimates"))


def _keys(runs: pd.DataFrame) -> pd.Series:
    """Task and data, as the signatures of runs say them."""
    return runs["signature"].str.replace(r"\|.*(\|data:[^|]*)\|.*", r"\1", regex=True)
