"""All figures of a report for other programs: ``results.json``, and ``results.csv`` of the same
records.

A record is a row of `Records.scores` with the facts of its run. Values are from 0 to 1, as in the
log; those of papers are as printed. `SCHEMA` is raised if a field changes its meaning or goes.
"""

import json
from typing import Any, Final

import pandas as pd

from music_evals.reports.records import Records
from music_evals.reports.sanitize import no_formula
from music_evals.reports.summary import aggregates
from music_evals.scorers.metrics.estimates import Estimate

SCHEMA: Final = 2
FACTS: Final = (
    *(
        "benchmark",
        "task",
        "model",
        "condition",
        "data",
        "signature",
        "is_published_test",
        "is_complete",
    ),
    *("created", "log"),
)
"""Facts of a run that its records have."""


def result_rows(records: Records) -> pd.DataFrame:
    """Return the figures of all current runs, their floors, and the published figures of their
    benchmarks.
    """
    scores = records.scores
    current = records.current().index
    scores = scores[scores["run"].isin(current) | scores["run"].isna()]
    facts = records.runs.loc[current, list(FACTS)].assign(
        created=lambda runs: runs["created"].map(lambda day: day.isoformat())
    )
    joined = scores.merge(
        facts, left_on="run", right_index=True, how="left", suffixes=("_published", "")
    )
    for name in ("model", "benchmark"):
        if f"{name}_published" in joined:
            joined[name] = joined[name].fillna(joined.pop(f"{name}_published"))
    return joined.drop(columns="run").reindex(
        columns=[*FACTS, *(name for name in scores if name not in (*FACTS, "run"))]
    )


def as_json(records: Records, made_by: str) -> str:
    """Return the text of ``results.json``: records, and the aggregates of the summary, in
    percent.
    """
    means = [
        {
            "model": one.model,
            "section": one.section,
            "tasks": one.runs["task"].tolist(),
            "data": one.data,
        }
        | {name: _values(getattr(one, name)) for name in ("score", "floor", "gain", "normalised")}
        for one in aggregates(records)[0]
    ]
    rows = json.loads(result_rows(records).to_json(orient="records", double_precision=15))
    return json.dumps(
        {"schema_version": SCHEMA, "made_by": made_by, "records": rows, "aggregates": means},
        indent=1,
    )


def as_csv(records: Records) -> str:
    """Return the text of ``results.csv``; the share of unread replies is in ``results.json``
    alone.
    """
    rows = result_rows(records).drop(columns="unread", errors="ignore")
    safe = rows.map(lambda cell: no_formula(cell) if isinstance(cell, str) else cell)
    text: str = safe.to_csv(index=False, lineterminator="\n")
    return text


def _values(one: Estimate | None) -> dict[str, Any] | None:
    return {"value": one.value, "low": one.low, "high": one.high, "n": one.n} if one else None
