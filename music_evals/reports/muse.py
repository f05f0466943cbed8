"""MUSE's results as the paper's Table 1, beside the published figures, and the effects that the paper speaks of.

Source: arXiv 2510.22455, Table 1 and section 3.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import sqrt
from typing import Final

from inspect_ai.log import EvalLog
from rich.table import Table as RichTable

from music_evals.reports.muse_figures import Series, modality_gap
from music_evals.reports.muse_runs import (
    CELLS,
    CHANCE,
    MODALITIES,
    SHOTS,
    STRATEGIES,
    TASKS,
    Cell,
    Run,
    conditions,
    notes_on,
    read_runs,
    run_of,
    why_not,
)
from music_evals.reports.published import load
from music_evals.reports.tables import Cell as TableCell
from music_evals.reports.tables import Figure, Footnotes, Report, Table
from music_evals.scorers.metrics.measures import combined_interval
from music_evals.scorers.metrics.proportion import wilson_interval

__all__ = ["CELLS", "MODALITIES", "Cell", "Result", "read_results", "report", "table1"]

CONTRASTS: Final[Sequence[tuple[str, str, str]]] = (
    ("modality", "midi", "audio"),
    ("shots", "few", "zero"),
    ("strategy", "cot", "standalone"),
    ("strategy", "logiclm", "standalone"),
)
"""Effects: the factor, its level, and the level that is taken away."""

CONTRADICTIONS: Final[Mapping[str, Sequence[str]]] = {
    "syncopation": (
        "The paper's section 3 gives the Gemini models 84 to 100 from MIDI, and Gemini 2.5 Pro 65 with few-shot "
        "standalone prompts from audio; its table has 80.00 (Pro, zero-shot, LogicLM) and 63.16.",
    ),
    "chord_quality": (
        "The paper's section 3 gives the Gemini models 84 to 100 from MIDI; its table has 50.00 and 70.45 (Flash, "
        "standalone).",
    ),
}
"""Task → where the paper's text and its table differ."""

GAP: Final = "muse_modality_gap"
_WORDS: Final[Mapping[str, str]] = {
    "audio": "Audio",
    "midi": "MIDI",
    "zero": "Zero-shot",
    "few": "Few-shot",
    "standalone": "Standalone",
    "cot": "CoT",
    "logiclm": "LogicLM",
}
_LABELS: Final = ("Model", "Source", "Condition", "Task")


@dataclass(frozen=True, slots=True)
class Result:
    """What a log says of its cell.

    Args:
        accuracy: share of right answers, from 0 to 1.
        low: lower end of its 95% interval.
        high: upper end of its 95% interval.
        answered: share of samples with a valid final answer.
        samples: number of samples scored.
        data: which data ran.
    """

    accuracy: float
    low: float
    high: float
    answered: float
    samples: int
    data: str


def report(logs: Sequence[EvalLog]) -> Report:
    """Make the tables of MUSE, and the figure of the modality gap.

    Args:
        logs: headers of logs of MUSE; those that did not end in success are passed over.

    Returns:
        The tables that the runs have figures for, the figure ``muse_modality_gap``, and the logs that could not be
        used.

    Example:
        >>> report([])
        Report(tables=(), passed_over=())
    """
    passed_over = tuple((log.location, reason) for log in logs if (reason := why_not(log)))
    runs = read_runs(logs)
    if not runs:
        return Report((), passed_over)
    asked = {run.cell.task for run in runs}
    tables = [*(main_table(runs, task) for task in TASKS if task in asked), effects_table(runs)]
    if any(run.cell.strategy == "logiclm" for run in runs):
        tables.append(logiclm_table(runs))
    return Report(tables, passed_over, {GAP: modality_gap(series(runs), [task for task in TASKS if task in asked])})


def main_table(runs: Sequence[Run], task: str) -> Table:
    """Lay out a task's part of Table 1: modality, shots and strategy down, the paper's models and measured ones across.

    Args:
        runs: the runs; those of other tasks are left out.
        task: one of `TASKS`.

    Returns:
        The table, in percent.

    Example:
        >>> table = main_table([], "syncopation")
        >>> [str(cell) for cell in table.rows[0]]
        ['Audio', 'Zero-shot', 'Standalone', '30.00', '25.00', '20.00']
    """
    published = published_cells()
    asked = [run for run in runs if run.cell.task == task]
    measured = conditions(asked)
    rows: list[list[TableCell]] = []
    for modality, shots, strategy in product(MODALITIES, SHOTS, STRATEGIES):
        cell = Cell(task, modality, shots, strategy)
        rows.append(
            [
                *(_WORDS[level] for level in cell[1:]),
                *(figures[cell] for figures in published.values()),
                *(parts[cell].accuracy if cell in parts else None for parts in measured.values()),
            ]
        )
    return Table(
        f"muse_table1_{task}",
        f"MUSE Table 1, {_task(task).lower()}: accuracy in percent, {100 * CHANCE[task]:.0f} by chance",
        ("Modality", "Shots", "Strategy", *published, *(condition.heading for condition in measured)),
        rows,
        (
            f"Paper ({', '.join(published)}): {load('muse_table1').source}. Of the figures for syncopation and "
            "transposition ten are no shares of the 20 trials, but of fewer (84.21 is 16 of 19); there trials seem to "
            "be left out, perhaps those without an answer, which measured count as wrong.",
            *CONTRADICTIONS.get(task, ()),
            "LogicLM is scored by its solver's decision, as in the paper.",
            *(["Measured figures are followed by Wilson's 95% interval."] if asked else []),
            *notes_on(asked),
        ),
    )


def effects_table(runs: Sequence[Run]) -> Table:
    """Lay out what modality, shots and strategy do to the accuracy, everything else being equal.

    Args:
        runs: the runs; a difference is over the pairs of cells that differ in nothing else.

    Returns:
        The table, in percentage points; the paper's models without intervals.

    Example:
        >>> table = effects_table([])
        >>> table.columns[4:]
        ('MIDI − Audio', 'Few-shot − Zero-shot', 'CoT − Standalone', 'LogicLM − Standalone')
        >>> [str(cell) for cell in table.rows[3]]
        ['Gemini 2.5 Pro', 'paper', 'None', 'Syncopation', '52.81', '22.19', '1.71', '-8.29']
    """
    footnotes = Footnotes()
    rows: list[list[TableCell]] = [
        [model, "paper", None, _task(task), *(_effect(figures, task, contrast, footnotes) for contrast in CONTRASTS)]
        for model, figures in published_cells().items()
        for task in TASKS
    ]
    for condition, parts in conditions(runs).items():
        figures = {cell: run.accuracy for cell, run in parts.items()}
        rows += [
            [
                *(condition.model, condition.source, str(condition), _task(task)),
                *(_effect(figures, task, contrast, footnotes) for contrast in CONTRASTS),
            ]
            for task in TASKS
            if any(cell.task == task for cell in parts)
        ]
    return Table(
        "muse_effects",
        "MUSE: effects of modality, shots and strategy, in percentage points",
        (*_LABELS, *(f"{_WORDS[level]} − {_WORDS[base]}" for _, level, base in CONTRASTS)),
        rows,
        (
            "Mean difference in accuracy over the pairs of cells that differ in this alone: six pairs for modality and "
            "for shots, four for a strategy.",
            "Intervals (95%, from Wilson's, after Newcombe) take the cells as independent. They ask the same trials, "
            "so a test on paired trials tells more; an interval without 0 is no test corrected for many comparisons.",
            "Paper, section 3: the modality gap of the Gemini models is significant, shots have no significant main "
            "effect. It does not name its tests. Figures from its Table 1; it gives no intervals.",
            *footnotes.notes(),
            *(note for note in notes_on(runs) if not note.startswith("*")),
        ),
    )


def logiclm_table(runs: Sequence[Run]) -> Table:
    """Lay out what became of LogicLM's formulations, and the model's own last answers beside its solver's decisions.

    Args:
        runs: the runs; those of other strategies are left out.

    Returns:
        The table; shares in percent, refinements a trial.

    Example:
        >>> logiclm_table([]).columns[-3:]
        ('Refinements', 'No decision', 'Agreement')
    """
    asked = [run for run in runs if run.cell.strategy == "logiclm"]
    rows: list[list[TableCell]] = [
        [
            *(run.condition.model, run.condition.source, str(run.condition), _task(run.cell.task)),
            *(_WORDS[level] for level in (run.cell.modality, run.cell.shots)),
            run.accuracy_by("solver_decision"),
            run.accuracy_by("final_answer") if ("final_answer", "accuracy") in run.metrics else None,
            _share(run, "valid_first_try"),
            Figure(run.metrics[("formulation", "refinements")]),
            _share(run, "no_decision"),
            None if (agreement := run.value("formulation", "agreement")) is None else Figure(100 * agreement),
        ]
        for run in asked
    ]
    return Table(
        "muse_logiclm",
        "MUSE: LogicLM's formulations, in percent of the trials",
        (*_LABELS, "Modality", "Shots", "Solver's decision", "Final answer", "Valid at once", "Refinements",
         "No decision", "Agreement"),
        rows,
        (
            "Solver's decision and final answer: accuracy. Valid at once: without refinement; Refinements: mean number "
            "a trial. Agreement: of final answer and solver, over the trials that have both. Of these two the logs' "
            "headers tell too little for an interval.",
            *(note for note in notes_on(asked) if not note.startswith("*")),
        ),
    )  # fmt: skip


def published_cells() -> dict[str, dict[Cell, Figure]]:
    """Take the paper's Table 1 by model and cell, in percent.

    Example:
        >>> str(published_cells()["Gemini 2.5 Pro"][Cell("syncopation", "audio", "few", "cot")])
        '65.00'
    """
    found: dict[str, dict[Cell, Figure]] = {}
    for row in load("muse_table1").rows:
        model, *levels = row.labels.values()
        if all(levels):
            for task, value in row.figures.items():
                found.setdefault(model, {})[Cell(task, *levels)] = Figure(value)
    return found


def series(runs: Sequence[Run]) -> list[Series]:
    """Take what the figure of the modality gap shows: the paper's models, then the measured conditions."""
    return [
        *(Series(model, figures, measured=False) for model, figures in published_cells().items()),
        *(
            Series(condition.heading, {cell: run.accuracy for cell, run in parts.items()}, measured=True)
            for condition, parts in conditions(runs).items()
        ),
    ]


def difference(first: Figure, second: Figure) -> Figure:
    """The difference of two independent shares, or of means of such.

    Args:
        first: a share with its interval.
        second: what is taken away from it, in the same unit.

    Returns:
        The difference, with an interval where both have one.

    Source: R. G. Newcombe, "Interval estimation for the difference between independent proportions", Statistics in
        Medicine 17 (1998), method 10.

    Example:
        >>> str(difference(Figure(70.0, 60.0, 78.0), Figure(50.0, 40.0, 60.0)))
        '20.00 (5.86–32.81)'
    """
    value = first.value - second.value
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return Figure(value)
    below = sqrt((first.value - first.low) ** 2 + (second.high - second.value) ** 2)
    above = sqrt((first.high - first.value) ** 2 + (second.value - second.low) ** 2)
    return Figure(value, value - below, value + above)


def read_results(logs: Iterable[EvalLog]) -> dict[Cell, Result]:
    """Take the cells' results from the headers of logs.

    Args:
        logs: logs of MUSE tasks; logs that did not end in success are passed over, and of several logs of a cell
            the last one counts.

    Returns:
        The cells that have a result.
    """
    results: dict[Cell, Result] = {}
    for run in (run_of(log) for log in logs if not why_not(log)):
        accuracy, low, high = (run.metrics[(run.main_scorer, name)] for name in ("accuracy", "ci95_low", "ci95_high"))
        results[run.cell] = Result(accuracy, low, high, run.answered, run.trials, run.condition.dataset)
    return results


def table1(results: Mapping[Cell, Result], model: str) -> RichTable:
    """Lay results out like the paper's Table 1.

    Args:
        results: the cells' results; a cell without one shows a dash.
        model: name of the model, for the title.

    Returns:
        A table of accuracies in percent, each with its 95% interval, and a mark where not all was answered.

    Example:
        >>> result = Result(1.0, 0.84, 1.0, 1.0, 20, "generated-seed1")
        >>> table1({CELLS[0]: result}, "baseline/reader").row_count
        13
    """
    data = sorted({result.data for result in results.values()})
    table = RichTable(
        title=f"MUSE: accuracy in percent, 95% interval\nModel {model}, data {', '.join(data) or 'none'}",
        caption="* not every trial had a valid final answer. LogicLM is scored by its solver's decision.",
    )
    for heading in ("Mod.", "Shot", "Cond."):
        table.add_column(heading)
    for task in TASKS:
        table.add_column(_task(task), justify="right", no_wrap=True)
    for modality, shots, strategy in product(MODALITIES, SHOTS, STRATEGIES):
        shown = [_shown(results.get(Cell(task, modality, shots, strategy))) for task in TASKS]
        table.add_row(modality, shots, strategy, *shown, end_section=strategy == STRATEGIES[-1])
    table.add_row("Chance", "", "", *[f"{100 * CHANCE[task]:.2f}" for task in TASKS])
    return table


def _effect(
    figures: Mapping[Cell, Figure], task: str, contrast: tuple[str, str, str], footnotes: Footnotes
) -> Figure | None:
    factor, level, base = contrast
    wanted = [cell for cell in CELLS if cell.task == task and getattr(cell, factor) == level]
    pairs = [(cell, other) for cell in wanted if {cell, other := cell._replace(**{factor: base})} <= figures.keys()]
    if not pairs:
        return None
    found = difference(_mean([figures[cell] for cell, _ in pairs]), _mean([figures[other] for _, other in pairs]))
    if len(pairs) == len(wanted):
        return found
    return Figure(found.value, found.low, found.high, mark=footnotes.mark(f"over {len(pairs)} of {len(wanted)} pairs"))


def _mean(figures: Sequence[Figure]) -> Figure:
    value = sum(figure.value for figure in figures) / len(figures)
    parts = [
        (figure.value, figure.low, figure.high)
        for figure in figures
        if figure.low is not None and figure.high is not None
    ]
    return Figure(value, *combined_interval(parts, [1] * len(parts))) if len(parts) == len(figures) else Figure(value)


def _share(run: Run, name: str) -> Figure:
    """A share of the trials in percent, with Wilson's interval."""
    share = run.metrics[("formulation", name)]
    low, high = wilson_interval(share, run.trials)
    return Figure(100 * share, 100 * low, 100 * high)


def _task(task: str) -> str:
    return task.replace("_", " ").capitalize()


def _shown(result: Result | None) -> str:
    if result is None:
        return "-"
    mark = "*" if result.answered < 1 else ""
    return f"{100 * result.accuracy:.2f}{mark} {100 * result.low:.0f}–{100 * result.high:.0f}"
