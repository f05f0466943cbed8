"""Tables of ZIQI-Eval: the paper's Tables 1 to 3, accuracy by theme, and which letters models
choose.

Source: arXiv 2406.15885, sections 4 to 6; leaderboards of its repository.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from statistics import fmean

import pandas as pd

from music_evals.benchmarks import published
from music_evals.reports.records import Records, score_of
from music_evals.reports.table import Cell, Table
from music_evals.reports.tables.common import (
    Figures,
    Row,
    condition_rows,
    items_with,
    make_table,
    paper_labels,
    run_table,
    share_of,
)
from music_evals.scorers.metrics.choices import LETTERS, choice_figures
from music_evals.scorers.metrics.estimates import Estimate, Estimates, average

MARGIN = 0.05
"""The paper's ±5.0%, read as a share of the mean F1; read as 5 points, its own shares of classes do
not come out.
"""
BIAS = {
    "female": "Female",
    "black": "Black African",
    "european": "European",
    "other": "Other regions",
}
_CLASSES = {"Gender": "female", "Race": "black"}


def tables(records: Records) -> list[Table]:
    """Make the tables of ZIQI-Eval."""
    runs, human = records.current("ziqi"), records.current("ziqi", subset="human")
    themes = [_themes(records, shots) for shots in ("zero", "five")]
    first = [_table1(records, runs), _table2(records), *themes]
    return [*first, _table3(records, human), _letters(records, runs)]


def figures_of(items: pd.DataFrame) -> Estimates:
    """Return accuracy, precision and F1 of items, in percent."""
    figures = choice_figures(
        right=int((items["value"] == 1).sum()),
        answered=int(items["answer"].notna().sum()) if "answer" in items else 0,
        responses=len(items),
        questions=items["cluster"].nunique(),
    )
    figures["accuracy"] = score_of(items) or figures["accuracy"]
    return {name: figure.percent() for name, figure in figures.items()}


def _table1(records: Records, runs: pd.DataFrame) -> Table:
    names = {"precision": "precision", "recall": "accuracy", "F1": "f1"}
    tasks = {"comprehension": "Compr.", "generation": "Gen."}
    columns = [f"{short} {name}" for short in tasks.values() for name in names]
    paper = []
    for row in published("ziqi", "table1").rows:
        printed = {}
        for heading, (task, name) in zip(columns, product(tasks, names), strict=True):
            printed[heading] = Estimate(row.figures[f"{task} {name.lower()}"], decimals=2)
        paper.append((paper_labels(row.labels["model"]), printed))
    measured = []
    for cells, group in condition_rows(runs):
        values = {}
        for number, run in group.iterrows():
            figures = figures_of(records.main[number])
            for name, figure in names.items():
                values[f"{tasks[run['task']]} {name}"] = figures[figure]
        measured.append((cells, values))
    title = "ZIQI-Eval Table 1: main results in percent"
    return make_table("ziqi_table1", title, columns, measured, runs, published=paper)


def classify(value: float, mean: float | None) -> str | None:
    """Classify an F1 by the paper's rule: above the mean over models, near it (`MARGIN`), or below
    it.

    >>> classify(60, 50), classify(52, 50), classify(40, 50)
    ('no bias', 'neutral', 'biased')
    """
    if mean is None:
        return None
    distance = round(value - mean, 9)
    if abs(distance) <= round(mean * MARGIN, 9):
        return "neutral"
    return "no bias" if distance > 0 else "biased"


def _table2(records: Records) -> Table:
    """F1 where the paper looks for bias, and its classes of gender and race."""
    paper = []
    *models, mean_row = published("ziqi", "table2").rows
    for row in (*models, mean_row):
        figures = {name: Estimate(row.figures[name], decimals=2) for name in BIAS}
        means = {} if row is mean_row else mean_row.figures
        paper.append(_bias_row(paper_labels(row.labels["model"]), figures, means))
    runs = records.current("ziqi", task="comprehension")
    by_condition: dict[tuple[Cell, ...], list[tuple[list[Cell], Estimates]]] = {}
    for cells, group in condition_rows(runs):
        if figures := _bias_figures(records.main[int(group.index[0])]):
            by_condition.setdefault(tuple(cells[2:]), []).append((cells, figures))
    measured = []
    for rows in by_condition.values():
        means = _means([figures for _, figures in rows]) if len(rows) > 1 else {}
        measured += [_bias_row(cells, figures, means) for cells, figures in rows]
    title = "ZIQI-Eval Table 2: F1 in percent on female music and on regions of world ethnic music"
    return make_table(
        "ziqi_table2", title, [*BIAS.values(), *_CLASSES], measured, runs, published=paper
    )


def _means(models: Sequence[Estimates]) -> dict[str, float]:
    """The means of the figures that all models have."""
    shared = set(BIAS).intersection(*models)
    return {name: fmean(figures[name].value for figures in models) for name in shared}


def _bias_row(
    cells: Sequence[Cell], figures: Mapping[str, Estimate], means: Mapping[str, float]
) -> Row:
    shown: dict[str, Cell] = {BIAS[name]: figure for name, figure in figures.items()}
    for heading, name in _CLASSES.items():
        if name in figures:
            shown[heading] = classify(figures[name].value, means.get(name))
    return cells, shown


def _bias_figures(items: pd.DataFrame) -> Estimates:
    if not {"theme", "subtheme"} <= {*items}:
        return {}
    world = items[items["theme"] == "world ethnic music"]
    regions = {name: figures_of(group)["f1"] for name, group in world.groupby("subtheme")}
    female = items[items["theme"] == "female music"]
    figures = {
        "female": figures_of(female)["f1"] if len(female) else None,
        "black": regions.get("Black African music"),
        "european": regions.pop("European music", None),
        "other": average([*regions.values()]) if regions else None,
    }
    return {name: figure for name, figure in figures.items() if figure}


def _themes(records: Records, shots: str) -> Table:
    """Accuracy by theme."""
    table = published("ziqi", f"leaderboard_{shots}_shot")
    *themes, last = table.rows[0].figures
    figures: Figures = {theme: partial(records.percent, group=f"theme={theme}") for theme in themes}
    figures["Average"] = records.percent
    rows = []
    for row in table.rows:
        printed = {name: Estimate(value, decimals=2) for name, value in row.figures.items()}
        printed["Average"] = printed.pop(last)
        rows.append((paper_labels(row.labels["model"], "repository"), printed))
    runs = records.current("ziqi", task="comprehension", shots=shots)
    runs = runs[[records.main[number]["theme"].nunique() > 1 for number in runs.index]]
    title = f"ZIQI-Eval: accuracy by theme in percent, {shots}-shot"
    name = f"ziqi_themes_{shots}_shot"
    return run_table(name, title, runs, figures, published=rows, note="ziqi_themes")


def _table3(records: Records, runs: pd.DataFrame) -> Table:
    """Precision on the questions of the human study, over both tasks."""
    paper = []
    for row in published("ziqi", "table3").rows:
        background = {name: row.labels[name] for name in ("music major", "musical background")}
        stated = [f"{name}: {value}" for name, value in background.items() if value]
        values = {
            name.capitalize(): Estimate(value, decimals=0) for name, value in row.figures.items()
        }
        values["Precision"] = replace(values["Precision"], decimals=2)
        paper.append((paper_labels(", ".join([row.labels["education"], *stated])), values))
    measured = []
    for cells, group in condition_rows(runs):
        items = pd.concat([records.main[number] for number in group.index])
        only = "" if len(group) > 1 else f", {group['task'].iloc[0]} only"
        cells[2] = f"{cells[2]}{only}"
        measured.append((cells, {"Precision": figures_of(items)["precision"]}))
    title = "ZIQI-Eval Table 3: precision in percent on the questions of the human study"
    columns = ("Lowest", "Highest", "Precision")
    return make_table("ziqi_table3", title, columns, measured, runs, published=paper)


def _letters(records: Records, runs: pd.DataFrame) -> Table:
    """Which letters models choose, and whether they choose the same answer under all rotations of
    the options.
    """

    def chosen(letter: str, run: int) -> Cell:
        answers = items_with(records, run, "answer")
        return share_of(answers["answer"] == letter, answers)

    def consistent(run: int) -> Cell:
        items = records.main[run]
        if "rotation" not in items or items["rotation"].nunique() < 2:
            return None
        worst = items.groupby("cluster")["value"].min().reset_index()
        return share_of(worst["value"] == 1, worst.assign(item=worst["cluster"]))

    figures: Figures = {f"Chose {letter}": partial(chosen, letter) for letter in LETTERS}
    figures["Consistent"] = consistent
    return run_table(
        "ziqi_letters",
        "ZIQI-Eval: which letters models choose",
        runs,
        figures,
        groups={"Task": "task"},
    )
