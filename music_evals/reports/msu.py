"""MSU-Bench's results as the paper's Tables 2, 3 and 5 and its level-wise success, beside the published figures.

Source: arXiv 2511.20697, Tables 2, 3 and 5, section 5.2 (level-wise success rate).
"""

from collections.abc import Sequence
from math import nan
from typing import Final

from inspect_ai.log import EvalLog

from music_evals.reports.msu_figures import Panel, Series, levels_figure
from music_evals.reports.msu_runs import LEVELS, MODALITIES, Run, notes_on, read_runs, why_not
from music_evals.reports.published import Name, load
from music_evals.reports.tables import Cell, Figure, Footnotes, Report, Table

__all__ = ["Run", "read_runs", "report"]

PAPERS_JUDGES: Final = "models: the paper's three"
SURVIVORS: Final = {"textual": 41.5, "visual": 4.25}
"""Scores of the paper's 150 that are mastered at level 1, as the mean of its models (section 5.2)."""

SCORES: Final = 150
SUCCESS: Final = "msu_level_success"
_BENT: Final = (
    "One wrong question is enough to fail a score, to pass it takes a verdict on all: a rate over a part of the scores "
    "may be too high or too low."
)
_LABELS: Final = ("Modality", "Model", "Source", "Condition", "Judged by")


def report(logs: Sequence[EvalLog]) -> Report:
    """Make the tables of MSU-Bench, and the figure of its levels.

    Args:
        logs: headers of logs of MSU-Bench; those that did not end in success are passed over.

    Returns:
        The tables, the figure ``msu_level_success``, and the logs that could not be used.

    Example:
        >>> report([])
        Report(tables=(), passed_over=())
    """
    passed_over = tuple((log.location, reason) for log in logs if (reason := why_not(log)))
    runs = read_runs(logs)
    if not runs:
        return Report((), passed_over)
    tables = (levels_table(runs), overall_table(runs), success_table(runs))
    return Report(tables, passed_over, {SUCCESS: levels_figure(panels(runs))})


def levels_table(runs: Sequence[Run]) -> Table:
    """Lay out Tables 2 and 5: accuracy by level and overall, the paper's models and then the measured ones.

    Args:
        runs: the runs.

    Returns:
        The table, in percent.

    Example:
        >>> table = levels_table([])
        >>> len(table.rows), [str(cell) for cell in table.rows[6][5:]]
        (25, ['65.33', '56.00', '38.67', '37.78', '49.44'])
    """
    footnotes = Footnotes()
    names: tuple[Name, ...] = ("msu_table2", "msu_table5")
    rows: list[list[Cell]] = []
    for modality in MODALITIES:
        rows += [
            [modality, row.labels["model"], _source(name), None, PAPERS_JUDGES, *map(Figure, row.figures.values())]
            for name in names
            for row in load(name).rows
            if row.labels["modality"] == modality
        ]
        rows += [
            [
                *_labels(run),
                *(_level(run, level, footnotes) for level in LEVELS),
                run.percent("judged_accuracy", "accuracy"),
            ]
            for run in runs
            if run.task == modality
        ]
    return Table(
        "msu_table2",
        "MSU-Bench Tables 2 and 5: accuracy in percent by level",
        (*_LABELS, *(f"Level {level}" for level in LEVELS), "Overall"),
        rows,
        (
            f"Paper: {load('msu_table2').source}, and {load('msu_table5').source}; 450 questions a level. Overall is "
            "the mean of the levels, but for Grok 4 on text: its levels make 42.56, not 42.61.",
            "The paper's Appendix J puts Qwen3-VL-235B-A22B-Instruct about 4 points above Qwen3-Max; by its tables it "
            "is 1.55.",
            "Measured figures are followed by a 95% bootstrap interval that draws questions. It has no width where all "
            "are right or all wrong, which is no certainty.",
            *footnotes.notes(),
            *notes_on(runs),
        ),
    )


def overall_table(runs: Sequence[Run]) -> Table:
    """Lay out Table 3: overall accuracy with its interval, and what it rests on.

    Args:
        runs: the runs.

    Returns:
        The table; accuracies in percent, questions as numbers.

    Example:
        >>> [str(cell) for cell in overall_table([]).rows[3][5:]]
        ['49.44 (47.14–51.75)', 'None', '1800', 'None', 'None']
    """
    paper = load("msu_table3")
    rows: list[list[Cell]] = []
    for modality in MODALITIES:
        rows += [
            [
                *(modality, row.labels["model"], _source("msu_table3"), None, PAPERS_JUDGES),
                Figure(row.figures["accuracy"], row.figures["low"], row.figures["high"]),
                *(None, Figure(1800, decimals=0), None, None),
            ]
            for row in paper.rows
            if row.labels["modality"] == modality
        ]
        rows += [
            [
                *_labels(run),
                run.percent("judged_accuracy", "accuracy"),
                _by_score(run),
                *(Figure(run.count("judged_accuracy", name), decimals=0) for name in ("questions", "unscored")),
                run.percent("judged_accuracy", "answered"),
            ]
            for run in runs
            if run.task == modality
        ]
    return Table(
        "msu_table3",
        "MSU-Bench Table 3: overall accuracy in percent, with intervals",
        (*_LABELS, "Accuracy", "By whole scores", "Questions", "Unscored", "Answered"),
        rows,
        (
            f"Paper: {paper.source}. It calls its intervals percentile bootstrap; all eight are Wilson's of 1,800 "
            "questions, to the last digit.",
            "Measured: 95% bootstrap intervals that draw questions, and by whole scores, which questions on one score "
            "ask for. Unscored questions, which no judge or rule decides, count neither as right nor as wrong.",
            *notes_on(runs),
        ),
    )


def success_table(runs: Sequence[Run]) -> Table:
    """Lay out the level-wise success rate: the share of scores with every question right up to a level.

    Args:
        runs: the runs.

    Returns:
        The table, in percent.

    Example:
        >>> success_table([]).columns[-4:]
        ('Up to level 1', 'Up to level 2', 'Up to level 3', 'Up to level 4')
    """
    footnotes = Footnotes()
    rows: list[list[Cell]] = [
        [*_labels(run), *(_success(run, level, footnotes) for level in LEVELS)]
        for modality in MODALITIES
        for run in runs
        if run.task == modality
    ]
    textual, visual = (f"{SURVIVORS[modality]:g}" for modality in MODALITIES)
    return Table(
        SUCCESS,
        "MSU-Bench: level-wise success rate in percent",
        (*_LABELS, *(f"Up to level {level}" for level in LEVELS)),
        rows,
        (
            "The share of scores with all questions right at this level and those before it, with Wilson's 95% "
            "interval.",
            f"Paper, section 5.2: about {textual} of {SCORES} scores are left after level 1 in textual and {visual} in "
            "visual QA, as the mean of models; its Figure 6 prints no rates.",
            *footnotes.notes(),
            *([_BENT] if footnotes.notes() else []),
            *notes_on(runs),
        ),
    )


def panels(runs: Sequence[Run]) -> list[Panel]:
    """Take what the figure of the levels shows: for each modality that was run accuracy, and level-wise success.

    Args:
        runs: the runs.

    Returns:
        Two panels a modality, with the paper's models of Table 3 in the first.
    """
    found: list[Panel] = []
    for modality in MODALITIES:
        asked = [run for run in runs if run.task == modality]
        if not asked:
            continue
        best = {row.labels["model"] for row in load("msu_table3").rows if row.labels["modality"] == modality}
        paper = [
            Series(f"{row.labels['model']} (paper)", [Figure(row.figures[f"level {level}"]) for level in LEVELS], False)
            for row in load("msu_table2").rows
            if row.labels["modality"] == modality and row.labels["model"] in best
        ]
        mean = Figure(100 * SURVIVORS[modality] / SCORES)
        found += [
            Panel(
                modality,
                "accuracy (%)",
                [
                    *paper,
                    *(Series(_name(run), [_level(run, n, Footnotes()) for n in LEVELS], True) for run in asked),
                ],
            ),
            Panel(
                modality,
                "scores all right up to here (%)",
                [
                    Series("mean of the paper's models", [mean, None, None, None], False),
                    *(Series(_name(run), [_success(run, n, Footnotes()) for n in LEVELS], True) for run in asked),
                ],
            ),
        ]
    return found


def _labels(run: Run) -> tuple[str, str, str, str, str]:
    condition = run.condition
    return run.task, condition.model, condition.source, str(condition), condition.judged_by


def _source(name: Name) -> str:
    return f"paper, Table {name[-1]}"


def _name(run: Run) -> str:
    condition = run.condition
    dagger = "" if condition.is_papers_test else " †"
    return f"{condition.model}{dagger} ({condition}, judged by {condition.judged_by})"


def _level(run: Run, level: int, footnotes: Footnotes) -> Figure | None:
    """The accuracy at a level; undefined where no question of it could be scored, nothing where none was asked."""
    figure = run.percent("judged_by_level", f"level_{level}/accuracy")
    if figure is None and level in run.condition.levels:
        return Figure(nan, mark=footnotes.mark("no question of the level could be scored"))
    return figure


def _success(run: Run, level: int, footnotes: Footnotes) -> Figure | None:
    if level not in run.condition.levels:
        return None
    figure = run.percent("judged_success", f"level_{level}/success")
    if figure is None:
        return Figure(nan, mark=footnotes.mark("no score can be judged, because too many questions are unscored"))
    if not run.count("judged_success", f"level_{level}/unjudged_scores"):
        return figure
    judged = run.count("judged_success", f"level_{level}/judged_scores")
    of_all = judged + run.count("judged_success", f"level_{level}/unjudged_scores")
    mark = footnotes.mark(f"of the {judged} of {of_all} scores that can be judged")
    return Figure(figure.value, figure.low, figure.high, mark=mark)


def _by_score(run: Run) -> Figure | None:
    figure = run.percent("judged_accuracy", "accuracy", ends="accuracy_by_score")
    return figure if figure is not None and figure.low is not None else None
