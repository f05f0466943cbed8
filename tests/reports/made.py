"""Headers of logs as tasks leave them, and reports of them as the command makes them."""

from collections.abc import Mapping
from typing import Any
from unittest.mock import patch

from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalMetric, EvalPlan, EvalResults, EvalScore, EvalSpec
from inspect_ai.model import GenerateConfig
from matplotlib.figure import Figure

from music_evals.commands.report import _defaults
from music_evals.reports.runs import Run
from music_evals.reports.sections import part_report, read_parts
from music_evals.reports.tables import Report, Table

Groups = Mapping[str, Mapping[str, float]]
"""Group → name of a metric → value."""


def score(name: str, groups: Groups, samples: int | None = None, unscored: int = 0, **params: Any) -> EvalScore:
    """Figures of a scorer; those of the group "" have none."""
    metrics = {
        f"{group}/{metric}": EvalMetric(name=metric, group=group or None, value=value)
        for group, values in groups.items()
        for metric, value in values.items()
    }
    found = {"scored_samples": samples, "unscored_samples": unscored} if samples is not None else {}
    return EvalScore(name=name, scorer=name, params=params, metrics=metrics, **found)


def made_log(
    benchmark: str,
    config: str,
    *scores: EvalScore,
    samples: int,
    label: str,
    asked: Mapping[str, Any],
    about: Mapping[str, Any] | None = None,
    model: str = "some/model",
    created: str = "2026-01-02T10:00:00+00:00",
    limit: int | None = None,
    status: Any = "success",
    sampling: GenerateConfig | None = None,
) -> EvalLog:
    """The header of a log written before logs told their condition."""
    return EvalLog(
        status=status,
        eval=EvalSpec(
            created=created,
            task=f"{benchmark}_{config}",
            model=model,
            dataset=EvalDataset(samples=samples),
            config=EvalConfig(limit=limit),
            task_args=dict(asked),
            task_args_passed=dict(asked),
            metadata={"benchmark": benchmark, "config": config, "dataset_label": label, **(about or {})},
        ),
        plan=EvalPlan(config=sampling or GenerateConfig()),
        results=EvalResults(total_samples=limit or samples, completed_samples=limit or samples, scores=list(scores)),
    )


def reports(*logs: EvalLog) -> Report:
    """Tables and figures of all parts that logs are of, without comparisons."""
    found, passed_over = read_parts(logs, _defaults(logs))
    made = [part_report(part, some) for part, some, _ in found]
    figures = {name: svg for report in made for name, svg in report.figures.items()}
    return Report([table for report in made for table in report.tables], passed_over, figures)


undrawn = patch.object(Figure, "savefig", lambda _, out, **__: out.write("<svg/>"))
"""Leaves out the drawing of figures, which takes most of the time."""


@undrawn
def tables(*logs: EvalLog) -> dict[str, Table]:
    return {table.name: table for table in reports(*logs).tables}


def runs(*logs: EvalLog) -> list[Run]:
    return [run for _, some, _ in read_parts(logs, _defaults(logs))[0] for run in some]


def reasons(*logs: EvalLog) -> list[str]:
    return [why for _, why in read_parts(logs, _defaults(logs))[1]]


def rows(table: Table, **labels: Any) -> list[dict[str, Any]]:
    """The rows with these labels, by heading."""
    found = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    return [row for row in found if all(row[heading] == value for heading, value in labels.items())]
