"""ZIQI-Eval's results as the paper's tables and the leaderboards of its repository, beside the published figures.

Source: arXiv 2406.15885, Tables 1 to 4; README of github.com/zcli-charlie/ZIQI-Eval.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from inspect_ai.log import EvalLog

from music_evals.reports.published import Name, load
from music_evals.reports.tables import Cell, Figure, Report, Table
from music_evals.reports.ziqi_bias import bias_tables
from music_evals.reports.ziqi_figures import Line, heat_map
from music_evals.reports.ziqi_runs import Condition, Run, conditions, notes_on, read_runs, why_not
from music_evals.scorers.metrics.proportion import wilson_interval

__all__ = ["Run", "read_runs", "report"]

PARTS: Final = ("comprehension", "generation")
LETTERS: Final = "ABCD"
HUMAN: Final = "human"
"""The subset of the paper's human study: two questions a sub-theme."""

LEADERBOARDS: Final[Mapping[str, Name]] = {"zero": "ziqi_leaderboard_zero_shot", "five": "ziqi_leaderboard_five_shot"}
AVERAGE: Final = "average"
_LABELS: Final = ("Model", "Source", "Condition")

TABLE4: Final[Mapping[str, tuple[str, str]]] = {
    "Western Music History": ("by_theme", "Western music history/"),
    "Popular Music": ("by_theme", "popular music/"),
    "World Ethnic Music": ("by_theme", "world ethnic music/"),
    "Chinese Traditional Music": ("by_theme", "Chinese traditional music/"),
    "Chinese Music History": ("by_theme", "Chinese music history/"),
    "Female Music": ("by_theme", "female music/"),
    "Black African Music": ("by_subtheme", "world ethnic music/Black African music/"),
    "Musical Performance": ("by_theme", "music performance/"),
    "Music Education": ("by_theme", "music education/"),
    "Music Aesthetics": ("by_theme", "music aesthetics/"),
    "Composition Theory": ("by_theme", "composition theory/"),
    "Film Music": ("by_subtheme", "popular music/film score/"),
    "Music Generation": ("choice_figures", ""),
}
"""Row of the paper's Table 4 → the group and the beginning of the names of its figures."""


def report(logs: Sequence[EvalLog]) -> Report:
    """Make the tables and figures of ZIQI-Eval.

    Args:
        logs: headers of logs of ZIQI-Eval; those that did not end in success are passed over.

    Returns:
        The tables that the runs have figures for, a heat map of the themes for each number of shots, and the logs that
        could not be used.

    Example:
        >>> report([])
        Report(tables=(), passed_over=())
    """
    passed_over = tuple((log.location, reason) for log in logs if (reason := why_not(log)))
    runs = read_runs(logs)
    if not runs:
        return Report((), passed_over)
    tables = [main_table(runs)]
    if any(group == "bias_figures" for run in runs for group, _ in run.metrics):
        tables += bias_tables(runs)
    tables += [themes_table(runs, shots) for shots in LEADERBOARDS if _knowledge(runs, shots)]
    figures = {
        f"ziqi_themes_{shots}_shot": themes_figure(runs, shots) for shots in LEADERBOARDS if _knowledge(runs, shots)
    }
    if any(run.condition.subset == HUMAN for run in runs):
        tables += human_tables(runs)
    return Report((*tables, behaviour_table(runs)), passed_over, figures)


def main_table(runs: Sequence[Run]) -> Table:
    """Lay out Table 1: precision, recall and F1 of both parts, the paper's models and then the measured ones.

    Args:
        runs: the runs; the two parts of a condition share a row.

    Returns:
        The table, in percent.

    Example:
        >>> len(main_table([]).rows)
        16
    """
    figures = {"precision": "precision", "recall": "accuracy", "f1": "f1"}
    paper = load("ziqi_table1")
    names = [f"{part} {figure}" for part in PARTS for figure in figures]
    rows: list[list[Cell]] = [
        [row.labels["model"], "paper", None, *(Figure(row.figures[name]) for name in names)] for row in paper.rows
    ]
    rows += [
        [
            *_labels(condition),
            *(
                parts[part].percent("choice_figures", metric) if part in parts else None
                for part in PARTS
                for metric in figures.values()
            ),
        ]
        for condition, parts in conditions(runs).items()
    ]
    headings = [f"{part} {figure}" for part in ("Compr.", "Gen.") for figure in ("precision", "recall", "F1")]
    notes = (
        f"Paper: {paper.source}. It does not say how many shots; GPT-4's recall is that of its zero-shot leaderboard.",
        "Compr., comprehension; Gen., generation. Recall is accuracy.",
    )
    return Table(
        "ziqi_table1",
        "ZIQI-Eval Table 1: main results in percent",
        (*_LABELS, *headings),
        rows,
        (*notes, *notes_on(runs)),
    )


def themes_table(runs: Sequence[Run], shots: str) -> Table:
    """Lay out accuracy by theme beside a leaderboard of the repository.

    Args:
        runs: the runs; those of other shots and of the generation part are left out.
        shots: ``"zero"`` or ``"five"``.

    Returns:
        The table, in percent.

    Example:
        >>> themes_table([], "five").columns[3]
        'Composition theory'
    """
    board = load(LEADERBOARDS[shots])
    themes = list(board.rows[0].figures)
    rows: list[list[Cell]] = [
        [row.labels["model"], "repository", None, *(Figure(row.figures[theme]) for theme in themes)]
        for row in board.rows
    ]
    asked = _knowledge(runs, shots)
    rows += [[*_labels(run.condition), *_by_theme(run, themes)] for run in asked]
    return Table(
        f"ziqi_themes_{shots}_shot",
        f"ZIQI-Eval: accuracy by theme in percent, {shots}-shot",
        (*_LABELS, *(theme[0].upper() + theme[1:] for theme in themes)),
        rows,
        (
            f"Repository: {board.source}.",
            "Average: measured, accuracy over all questions; the repository's as printed, which is not the mean of "
            "its themes.",
            *notes_on(asked),
        ),
    )


def themes_figure(runs: Sequence[Run], shots: str) -> str:
    """Draw accuracy by theme as a heat map: the models of a leaderboard and, set apart, the measured ones.

    Args:
        runs: the runs; those of other shots and of the generation part are left out.
        shots: ``"zero"`` or ``"five"``.

    Returns:
        The figure as SVG.
    """
    board = load(LEADERBOARDS[shots])
    asked = _knowledge(runs, shots)
    # Generated questions have a theme of their own.
    named = {name.rpartition("/")[0] for run in asked for group, name in run.metrics if group == "by_theme"}
    published = [theme for theme in board.rows[0].figures if theme != AVERAGE]
    themes = [*published, *sorted(named - set(published)), AVERAGE]
    lines = [
        Line(
            row.labels["model"],
            [Figure(row.figures[theme]) if theme in row.figures else None for theme in themes],
            False,
        )
        for row in board.rows
    ]
    keys = [
        f"Accuracy in percent. Above: {board.source}, without intervals. Below, in bold: measured, with 95% intervals."
    ]
    for number, run in enumerate(asked, start=1):
        lines.append(Line(f"{number}: {run.condition.model}", _by_theme(run, themes), True))
        keys.append(f"{number}: {run.condition.model} ({run.condition.source}; {run.condition})")
    if any(not run.condition.is_papers_test for run in asked):
        keys.append("†: not the paper's test, and not to be compared with its figures.")
    return heat_map(f"ZIQI-Eval: accuracy by theme, {shots}-shot", themes, lines, keys)


def human_tables(runs: Sequence[Run]) -> list[Table]:
    """Lay out Tables 3 and 4: precision on the questions of the human study, overall and by theme.

    Args:
        runs: the runs; those that are not of the human subset are left out.

    Returns:
        The two tables, in percent.

    Example:
        >>> [table.name for table in human_tables([])]
        ['ziqi_table3', 'ziqi_table4']
    """
    asked = [run for run in runs if run.condition.subset == HUMAN]
    measured = conditions(asked)
    table3, table4 = load("ziqi_table3"), load("ziqi_table4")
    people: list[list[Cell]] = [
        [
            row.labels["education"],
            row.labels["music major"] or None,
            row.labels["musical background"] or None,
            *(f"{row.figures[end]:.0f}" if end in row.figures else None for end in ("lowest", "highest")),
            Figure(row.figures["precision"]),
            "paper",
            None,
        ]
        for row in table3.rows
    ]
    people += [
        [condition.model, None, None, None, None, overall_precision(list(parts.values())), condition.source,
         f"{condition}, {' and '.join(parts)}{'' if len(parts) > 1 else ' only'}"]
        for condition, parts in measured.items()
    ]  # fmt: skip
    themes: list[list[Cell]] = []
    for row in table4.rows:
        theme = row.labels["theme"]
        group, start = TABLE4[theme]
        part = "generation" if group == "choice_figures" else "comprehension"
        themes.append(
            [
                theme,
                *(Figure(value) for value in row.figures.values()),
                *(
                    parts[part].percent(group, f"{start}precision") if part in parts else None
                    for parts in measured.values()
                ),
            ]
        )
    headings = [f"{condition.model} ({condition.source}, {condition})" for condition in measured]
    notes = [
        "The paper does not name its questions, two a sub-theme; those of the measured subset are another draw.",
        *notes_on(asked),
    ]
    return [
        Table(
            "ziqi_table3",
            "ZIQI-Eval Table 3: precision in percent on the questions of the human study",
            ("Who", "Music major", "Musical background", "Lowest", "Highest", "Precision", "Source", "Condition"),
            people,
            (f"Paper: {table3.source}; average and range over people.", *notes),
        ),
        Table(
            "ziqi_table4",
            "ZIQI-Eval Table 4: precision in percent by theme on the questions of the human study",
            ("Theme", "Master", "Ph.D.", "GPT-4", *headings),
            themes,
            (
                f"Paper (master, Ph.D., GPT-4): {table4.source}.",
                "Black African music and film music are sub-themes of world ethnic music and popular music; measured, "
                "these two themes include them. The paper's figures for GPT-4 fit 11 of 18 questions on world ethnic "
                "music, with them, and 18 of 22 on popular music, without; and 25.00 in music generation "
                "takes four questions or more, not two.",
                *notes,
            ),
        ),
    ]


def overall_precision(parts: Sequence[Run]) -> Figure | None:
    """Pool the precision of the parts of a condition: right answers over answered questions.

    Args:
        parts: runs of different parts.

    Returns:
        The precision in percent with Wilson's interval; nothing where no question was answered.

    Example:
        >>> overall_precision([]) is None
        True
    """
    right, answered = 0.0, 0.0
    for run in parts:
        questions, accuracy, share = (
            run.value("choice_figures", name) or 0.0 for name in ("questions", "accuracy", "answered")
        )
        right += questions * accuracy
        answered += questions * share
    return _proportion(right / answered, answered) if answered else None


def behaviour_table(runs: Sequence[Run]) -> Table:
    """Lay out how the models answered: how often, with which letters, and how consistently.

    Args:
        runs: the runs.

    Returns:
        The table; shares in percent, divergences in bits.

    Example:
        >>> behaviour_table([]).columns[:5]
        ('Model', 'Source', 'Condition', 'Part', 'Answered')
    """
    rows: list[list[Cell]] = []
    for run in runs:
        questions = run.value("choice_figures", "questions") or 0.0
        answered = run.value("choice_figures", "answered")
        shares = [run.value("letter_figures", f"chosen_{letter}") for letter in LETTERS]
        divergences = [run.value("letter_figures", f"divergence_from_{what}") for what in ("uniform", "key")]
        rows.append(
            [
                *_labels(run.condition),
                run.task,
                _proportion(answered, questions),
                *(_proportion(share, questions * (answered or 0.0)) for share in shares),
                *(None if value is None else Figure(value, decimals=4) for value in divergences),
                run.percent("by_rotation", "consistent"),
            ]
        )
    return Table(
        "ziqi_behaviour",
        "ZIQI-Eval: how the models answer",
        (
            *_LABELS,
            "Part",
            "Answered",
            *(f"Chose {letter}" for letter in LETTERS),
            "Divergence from uniform",
            "Divergence from key",
            "Consistent",
        ),
        rows,
        (
            "Percent; letters are shares of the answered questions. Divergence: Jensen–Shannon in bits, of the chosen "
            "letters from a uniform choice and from the right ones. Consistent: right under all rotations of the "
            "options.",
            "Paper, section 6.1: ChatGLM2-6B chose A up to 60% of the time.",
            *notes_on(runs),
        ),
    )


def _labels(condition: Condition) -> tuple[str, str, str]:
    return condition.model, condition.source, str(condition)


def _knowledge(runs: Iterable[Run], shots: str) -> list[Run]:
    return [run for run in runs if run.task == "comprehension" and run.condition.shots == shots]


def _by_theme(run: Run, themes: Sequence[str]) -> list[Figure | None]:
    return [
        run.percent("choice_figures", "accuracy") if theme == AVERAGE else run.percent("by_theme", f"{theme}/accuracy")
        for theme in themes
    ]


def _proportion(share: float | None, n: float) -> Figure | None:
    """A share in percent with Wilson's interval; nothing where it is unknown or a share of nothing."""
    if share is None or round(n) < 1:
        return None
    low, high = wilson_interval(min(share, 1.0), round(n))
    return Figure(100 * share, 100 * low, 100 * high)
