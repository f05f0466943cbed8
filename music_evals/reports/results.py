"""All figures of a report for other programs: ``results.json``, and ``results.csv`` of the same
records.

A record is a row of `Records.scores` with the facts of its run. Values are from 0 to 1, as in the
log; those of papers are as printed. `SCHEMA` is raised if a field changes its meaning or goes.
"""

import json
from datetime import datetime
from typing import Any

import pandas as pd

from music_evals.reports.records import Records
from music_evals.reports.sanitize import no_formula
from music_evals.reports.summary import aggregates
from music_evals.scorers.metrics.estimates import Estimate

_VALUES = ("value", "low", "high", "n")
SCHEMA = 2
FACTS = (
    "benchmark",
    "task",
    "model",
    "condition",
    "data",
    "signature",
    "is_published_test",
    "is_complete",
    "created",
    "log",
)
"""Facts of a run that its records have."""


def result_rows(records: Records) -> pd.DataFrame:
    """Return the figures of all current runs, their floors, and the published figures of their
    benchmarks.
    """
    current = records.current()
    scores = records.scores[
        records.scores["run"].isin(current.index) | records.scores["run"].isna()
    ]
    facts = current[[*FACTS]].assign(created=current["created"].map(datetime.isoformat))
    rows = scores.merge(
        facts, left_on="run", right_index=True, how="left", suffixes=("_published", "")
    )
    # Published figures have no run; they name benchmark and model themselves.
    for name in ("model", "benchmark"):
        if f"{name}_published" in rows:
            rows[name] = rows[name].fillna(rows[f"{name}_published"])
    figures = [name for name in scores if name not in (*FACTS, "run")]
    return rows.reindex(columns=[*FACTS, *figures])


def as_json(records: Records, made_by: str) -> str:
    """Return the text of ``results.json``: records, and the aggregates of the summary, in
    percent.
    """
    means = []
    for mean in aggregates(records)[0]:
        facts: dict[str, Any] = {"model": mean.model, "section": mean.section}
        facts |= {"tasks": mean.runs["task"].tolist(), "data": mean.data}
        for name in ("score", "floor", "gain", "normalised"):
            estimate: Estimate | None = getattr(mean, name)
            facts[name] = estimate and {key: getattr(estimate, key) for key in _VALUES}
        means.append(facts)
    frame = result_rows(records).astype(object)
    rows = frame.where(frame.notna(), None).to_dict(orient="records")
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
