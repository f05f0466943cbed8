"""All measured figures of a report in one form, for other programs: ``results.json``, and ``results.csv`` of the same.

A record is a figure: of a benchmark, a task, a condition, a model and a metric. Values are as in the log: shares lie
between 0 and 1. What is not known is null, or empty. `SCHEMA` is raised where a field changes its meaning or goes.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pandas as pd
from pydantic import BaseModel, Field

from music_evals.reports.runs import Run
from music_evals.reports.summary import SUITE, Aggregate
from music_evals.reports.tables import Figure, no_formula

SCHEMA: Final = 1


class Number(BaseModel):
    """A value with the ends of its 95% interval."""

    value: float
    low: float | None = None
    high: float | None = None


class Record(Number):
    """A figure of a run."""

    benchmark: str
    task: str
    model: str = Field(description="with its arguments, where they differ among its runs")
    condition: dict[str, Any] = Field(description="parameters of the task that are not as by default")
    condition_words: str = Field(description="the condition as tables say it, with generation settings that differ")
    data: str = Field(description="label of the dataset")
    is_papers_test: bool = Field(description="whether it is the published test, under the paper's conditions")
    is_complete: bool = Field(description="whether all samples were asked and scored")
    metric: str = Field(description="GROUP/NAME, or SCORER/NAME")
    is_main: bool = Field(description="whether it is the task's main metric")
    samples: int = Field(description="how many the main scorer scored")
    floors: dict[str, Number] = Field(description="kind of floor -> what is earned on this metric without the music")
    gain: Number | None = Field(description="of the main metric: above the best floor")
    created: str = Field(description="when the run began, ISO 8601")
    log: str = Field(description="name of the log's file")


class Mean(BaseModel):
    """An aggregate, in percent; see `music_evals.reports.summary`."""

    model: str
    benchmark: str = Field(description="title of a benchmark or of a part of it, or Suite")
    tasks: list[str]
    data: list[str]
    score: Number | None = Field(description="mean of the tasks' main metrics")
    floor: Number | None = Field(description="mean of their best floors")
    gain: Number | None = Field(description="mean of the gains over the floors")
    normalised: Number | None = Field(description="mean of 100*(score - floor)/(100 - floor)")


class Results(BaseModel):
    """What ``results.json`` holds."""

    schema_version: int = SCHEMA
    made_by: str
    records: list[Record]
    aggregates: list[Mean]


def results(runs: Sequence[Run], found: Sequence[Aggregate], made_by: str) -> Results:
    """Put the figures of runs and the aggregates in records."""
    means = [
        Mean(
            model=one.model,
            benchmark=one.title,
            tasks=[run.task for run in one.runs] if one.title != SUITE else [],
            data=list(dict.fromkeys(str(run.facts.get("dataset_label")) for run in one.runs)),
            score=_number(one.score),
            floor=_number(one.floor),
            gain=_number(one.gain),
            normalised=_number(one.normalised),
        )
        for one in found
    ]
    return Results(made_by=made_by, records=[each for run in runs for each in _records(run)], aggregates=means)


def as_csv(found: Results) -> str:
    """Lay the records out as CSV: a row each, the best known floors in columns of their own."""
    rows = []
    for record in found.records:
        row = record.model_dump(exclude={"floors", "gain", "condition"})
        row |= {f"floor: {name}": floor.value for name, floor in record.floors.items()}
        rows.append(row | {f"gain{end}": getattr(record.gain, name, None) for end, name in _ENDS.items()})
    safe = [{name: no_formula(cell) if isinstance(cell, str) else cell for name, cell in row.items()} for row in rows]
    text: str = pd.DataFrame(safe).to_csv(index=False, lineterminator="\n")
    return text


_ENDS: Final[Mapping[str, str]] = {"": "value", "_low": "low", "_high": "high"}


def _records(run: Run) -> Iterator[Record]:
    told: set[str] = set()
    mains = [f"{group}/{name}" for scorer, group, name in run.listed if (scorer, name) == run.main][:1]
    for _, group, name in run.listed:
        metric = f"{group}/{name}"
        is_main = metric in mains
        at = "" if is_main else metric
        figure = run.figure(at, ends="ci95" if (group, "ci95_low") in run.metrics else "")
        if figure is None or metric in told or _is_end(run, group, name):
            continue
        told.add(metric)
        yield Record(
            **_of(figure),
            benchmark=run.part.benchmark,
            task=run.task,
            model=run.model,
            condition=run.facts.get("condition") or {},
            condition_words=run.whole_condition,
            data=str(run.facts.get("dataset_label")),
            is_papers_test=run.is_papers,
            is_complete=run.is_complete,
            metric=metric,
            is_main=is_main,
            samples=run.samples,
            floors={kind: Number(**_of(floor)) for kind, floor in run.floors_of(at, decimals=6).items()},
            gain=_number(run.gain(1)) if is_main else None,
            created=run.created.isoformat(),
            log=run.location.rpartition("/")[2],
        )


def _is_end(run: Run, group: str, name: str) -> bool:
    """Whether a metric is an end of another one's interval."""
    stem = name.removesuffix("_low").removesuffix("_high")
    return stem != name and (stem == "ci95" or (group, stem) in run.metrics or stem.endswith("_by_score"))


def _number(figure: Figure | None) -> Number | None:
    return Number(**_of(figure)) if figure else None


def _of(figure: Figure) -> dict[str, Any]:
    return {"value": figure.value, "low": figure.low, "high": figure.high}
