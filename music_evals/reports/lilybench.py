"""LilyBench's understanding as the paper's Table 3, beside the published figures, and what stands behind its figures.

Source: arXiv 2606.08722, Table 3 and section 4.2.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from inspect_ai.log import EvalLog

from music_evals.reports.lilybench_figures import Curve, within_errors
from music_evals.reports.lilybench_runs import Run, conditions, notes_on, read_runs, why_not
from music_evals.reports.published import Published, load
from music_evals.reports.tables import Cell, Figure, Report, Table
from music_evals.scorers.metrics.measures import combined_interval
from music_evals.scorers.metrics.proportion import wilson_interval

__all__ = ["Run", "read_runs", "report"]

MUTOPIA: Final = (
    "bar_count",
    "metadata_qa",
    "bar_sequencing",
    "next_bar_prediction",
    "metadata_prediction",
    "music_captioning",
    "composer_recognition",
    "genre_recognition",
)
"""The tasks of the two averages: those on Mutopia but for the detection of errors."""

PUBLISHED_WEIGHTS: Final[Mapping[str, int]] = {
    "bar_count": 100,
    "metadata_qa": 60,
    "bar_sequencing": 119,
    "next_bar_prediction": 119,
    "metadata_prediction": 60,
    "music_captioning": 31,
    "composer_recognition": 96,
    "genre_recognition": 132,
}
"""Rows of each task that reproduce the published weighted averages: those of Table 1, but 31 titles and not 60. The
published accuracies of `music_captioning`, too, are shares of 31."""

MACRO: Final = "Mutopia macro avg"
WEIGHTED: Final = "Mutopia weighted avg"

CORRUPTIONS: Final = (
    "invalid_metadata",
    "invalid_content",
    "invalid_bar_duration",
    "melodic_leap",
    "accidental_outside_key",
)
WITHIN: Final[Mapping[int, str]] = {0: "exact", 1: "within_1", 5: "within_5", 10: "within_10"}
"""Error in measures → the share of answers of `bar_count` within it."""

PAPER_WITHIN_10: Final = (0.06, 0.18)
"""The lowest and the highest share within 10 of the paper's models."""

FIELDS: Final = ("key", "metre", "note_length")
_TAKEN: Final = ("0", "1", "2", "3", "unreadable")
_LABELS: Final = ("Model", "Source", "Condition")


def report(logs: Sequence[EvalLog]) -> Report:
    """Make the tables and the figure of LilyBench's understanding.

    Args:
        logs: headers of logs of LilyBench; those that did not end in success are passed over.

    Returns:
        The tables that the runs have figures for, a figure of the errors of `bar_count`, and the logs that could not be
        used.

    Example:
        >>> report([])
        Report(tables=(), passed_over=())
    """
    passed_over = tuple((log.location, reason) for log in logs if (reason := why_not(log)))
    runs = read_runs(logs)
    if not runs:
        return Report((), passed_over)
    asked = {run.task for run in runs}
    tables = [main_table(runs)]
    if "bar_count" in asked:
        tables.append(counts_table(runs))
    if asked & {"metadata_qa", "metadata_prediction"}:
        tables.append(fields_table(runs))
    if "error_detection" in asked:
        tables.append(errors_table(runs))
    if "emotion_recognition" in asked:
        tables.append(emotion_table(runs))
    figures = {"lilybench_bar_count": svg} if (svg := counts_figure(runs)) else {}
    return Report((*tables, form_table(runs)), passed_over, figures)


def main_table(runs: Sequence[Run]) -> Table:
    """Lay out Table 3: tasks down, the paper's models and then the measured ones across.

    Args:
        runs: the runs; the tasks of a condition share a column.

    Returns:
        The table, from 0 to 1.

    Example:
        >>> table = main_table([])
        >>> table.columns[2], str(table.rows[-2][2])
        ('Phi-4', '0.651')
    """
    paper = load("lilybench_table3")
    measured = conditions(runs)
    rows: list[list[Cell]] = []
    for row in paper.rows:
        task = row.labels["task"]
        rows.append(
            [
                row.labels["category"] or None,
                task,
                *(Figure(value, decimals=3) for value in row.figures.values()),
                *(_measured(tasks, task) for tasks in measured.values()),
            ]
        )
    return Table(
        "lilybench_table3",
        "LilyBench Table 3: understanding",
        ("Category", "Task", *paper.rows[0].figures, *(condition.heading for condition in measured)),
        rows,
        (
            f"Paper (Phi-4 to DeepSeek-Coder-V2-Lite): {paper.source}.",
            "bar_count: exact match; bar_sequencing: penalised Kendall τ, (τ + 1) / 2 and 0 for what is no order; "
            "error_detection: macro F1 over the five categories, without clean scores; else accuracy.",
            f"Averages: over the {len(MUTOPIA)} tasks on Mutopia other than error_detection, the exact match of "
            "bar_count among them; weighted by the number of rows asked. A condition has them where all were run. The "
            "paper's weighted averages follow from 31 rows of music_captioning, not the 60 of its Table 1.",
            "Intervals: Wilson's for shares, bootstrap for τ and F1. A bootstrap interval has no width where all rows "
            "earn the same, which is no certainty.",
            *notes_on(runs),
        ),
    )


def counts_table(runs: Sequence[Run]) -> Table:
    """Lay out how near the numbers of measures come.

    Args:
        runs: the runs; those of tasks other than `bar_count` are left out.

    Returns:
        The table, from 0 to 1, the error in measures.

    Example:
        >>> counts_table([]).columns[3:6]
        ('Rows', 'Exact', 'Within 1')
    """
    asked = [run for run in runs if run.task == "bar_count"]
    group = "number_figures"
    rows: list[list[Cell]] = [
        [
            *_labels(run),
            _whole(run.questions),
            *(run.figure(group, name) for name in WITHIN.values()),
            run.figure(group, "median_absolute_error", decimals=1),
            run.figure(group, "unreadable"),
        ]
        for run in asked
    ]
    return Table(
        "lilybench_bar_count",
        "LilyBench: bar_count",
        (*_LABELS, "Rows", "Exact", "Within 1", "Within 5", "Within 10", "Median absolute error", "Unreadable"),
        rows,
        (
            "Median absolute error in measures, over the answers that can be read.",
            "Paper, section 4.2: {:.2f} to {:.2f} within 10, a median absolute error of 37 to 56, right answers from 1 "
            "to 1508.".format(*PAPER_WITHIN_10),
            *notes_on(asked),
        ),
    )


def counts_figure(runs: Sequence[Run]) -> str | None:
    """Draw the share of numbers of measures that come within an error.

    Args:
        runs: the runs; those of tasks other than `bar_count` are left out.

    Returns:
        The figure as SVG, or None where there is nothing to draw.
    """
    curves = []
    for run in runs:
        shares = [run.figure("number_figures", name) for name in WITHIN.values()] if run.task == "bar_count" else []
        known = [share for share in shares if share is not None]
        if known and len(known) == len(shares):
            curves.append(Curve(f"{run.condition.model} ({run.condition.source}; {run.condition})", known))
    return within_errors(list(WITHIN), curves, PAPER_WITHIN_10) if curves else None


def fields_table(runs: Sequence[Run]) -> Table:
    """Lay out the two tasks on metadata by field.

    Args:
        runs: the runs; those of other tasks are left out.

    Returns:
        The table of accuracies, from 0 to 1.

    Example:
        >>> fields_table([]).columns[-3:]
        ('Key', 'Metre', 'Note length')
    """
    asked = [run for run in runs if run.task in ("metadata_qa", "metadata_prediction")]
    rows: list[list[Cell]] = [
        [*_labels(run), run.task, *(run.figure("by_kind", f"{field}/accuracy") for field in FIELDS)] for run in asked
    ]
    return Table(
        "lilybench_metadata",
        "LilyBench: key, metre and note length",
        (*_LABELS, "Task", *(_words(field) for field in FIELDS)),
        rows,
        notes_on(asked),
    )


def errors_table(runs: Sequence[Run]) -> Table:
    """Lay out the detection of errors by category, and what is said of clean scores.

    Args:
        runs: the runs; those of other tasks are left out.

    Returns:
        The table, from 0 to 1; the paper's models have their macro F1 alone.

    Example:
        >>> errors_table([]).columns[-4:]
        ('Macro F1', 'Exact', 'Clean', 'False alarms')
    """
    asked = [run for run in runs if run.task == "error_detection"]
    rows: list[list[Cell]] = [
        [model, "paper", None, *[None] * len(CORRUPTIONS), Figure(value, decimals=3), None, None, None]
        for model, value in _published(load("lilybench_table3"), "error_detection").items()
    ]
    rows += [
        [
            *_labels(run),
            *(run.figure("by_category", f"{kind}/f1") for kind in CORRUPTIONS),
            run.figure("error_figures", "macro_f1"),
            run.figure("error_figures", "exact"),
            run.figure("by_category", "clean/f1"),
            run.figure("error_figures", "false_alarms"),
        ]
        for run in asked
    ]
    return Table(
        "lilybench_error_detection",
        "LilyBench: error_detection, F1 by category",
        (*_LABELS, *(_words(kind) for kind in CORRUPTIONS), "Macro F1", "Exact", "Clean", "False alarms"),
        rows,
        (
            "Mean F1 of the measures named. Exact: corrupted scores whose wrong measures are named and no others. "
            "Clean: F1 on scores without an error, which is the share of them that are called so; False alarms: the "
            "share in which some measure is called wrong. Neither is part of the macro F1, and the paper has none.",
            "Paper, section 4.2: the best category of any model is 0.068 (DeepSeek-Coder-V2-Lite, invalid metadata).",
            *notes_on(asked),
        ),
    )


def emotion_table(runs: Sequence[Run]) -> Table:
    """Lay out which quadrant was taken for which.

    Args:
        runs: the runs; those of tasks other than `emotion_recognition` are left out.

    Returns:
        The table: a row for each right quadrant, numbers of responses.

    Example:
        >>> emotion_table([]).columns[3:]
        ('Right', 'Said Q1', 'Said Q2', 'Said Q3', 'Said Q4', 'Unreadable')
    """
    asked = [run for run in runs if run.task == "emotion_recognition"]
    rows: list[list[Cell]] = [
        [
            *_labels(run),
            f"Q{right + 1}",
            *(run.figure("confusion", f"{right}_as_{taken}", decimals=0) for taken in _TAKEN),
        ]
        for run in asked
        for right in range(4)
    ]
    return Table(
        "lilybench_emotion",
        "LilyBench: quadrants of emotion_recognition",
        (*_LABELS, "Right", *(f"Said Q{place + 1}" for place in range(4)), "Unreadable"),
        rows,
        (
            "Q1: high arousal, positive valence; Q2: high, negative; Q3: low, negative; Q4: low, positive.",
            "Paper, section 4.2: Qwen2.5-Coder-14B says Q1 97 times in 120; Codestral-22B gives no index.",
            *notes_on(asked),
        ),
    )


def form_table(runs: Sequence[Run]) -> Table:
    """Lay out which share of the answers are in the required form.

    Args:
        runs: the runs.

    Returns:
        The table, from 0 to 1: tasks down, conditions across.

    Example:
        >>> form_table([]).columns
        ('Task',)
    """
    measured = conditions(runs)
    tasks = [row.labels["task"] for row in load("lilybench_table3").rows if row.labels["category"]]
    rows: list[list[Cell]] = [
        [task, *(_in_form(parts[task]) if task in parts else None for parts in measured.values())]
        for task in tasks
        if any(task in parts for parts in measured.values())
    ]
    return Table(
        "lilybench_form",
        "LilyBench: share of answers in the required form",
        ("Task", *(condition.heading for condition in measured)),
        rows,
        (
            "In the required form: what the strict protocol reads as an answer, whatever the protocol of the run.",
            *notes_on(runs),
        ),
    )


def average(figures: Sequence[Figure], weights: Sequence[float]) -> Figure:
    """The weighted mean of the tasks' figures.

    Args:
        figures: a figure with its interval for each task.
        weights: as many weights.

    Returns:
        The mean, with an interval where all figures have one.

    Raises:
        ValueError: as `combined_interval`.

    Example:
        >>> str(average([Figure(0.5), Figure(0.7)], [100, 300]))
        '0.650'
    """
    value = sum(weight * figure.value for figure, weight in zip(figures, weights, strict=True)) / sum(weights)
    parts = [
        (figure.value, figure.low, figure.high)
        for figure in figures
        if figure.low is not None and figure.high is not None
    ]
    if len(parts) < len(figures):
        return Figure(value, decimals=3)
    return Figure(value, *combined_interval(parts, weights), decimals=3)


def _measured(tasks: Mapping[str, Run], task: str) -> Figure | None:
    if task not in (MACRO, WEIGHTED):
        return tasks[task].headline if task in tasks else None
    runs = [tasks[name] for name in MUTOPIA if name in tasks]
    figures = [figure for run in runs if (figure := run.headline) is not None]
    if len(figures) < len(MUTOPIA):
        return None
    return average(figures, [1] * len(runs) if task == MACRO else [run.questions for run in runs])


def _published(table: Published, task: str) -> Mapping[str, float]:
    return next(row.figures for row in table.rows if row.labels["task"] == task)


def _in_form(run: Run) -> Figure | None:
    share = run.value(run.group, "in_form")
    if share is None or not run.questions:
        return None
    return Figure(share, *wilson_interval(share, run.questions), decimals=3)


def _labels(run: Run) -> tuple[str, str, str]:
    return run.condition.model, run.condition.source, str(run.condition)


def _whole(number: int) -> Figure:
    return Figure(number, decimals=0)


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize()
