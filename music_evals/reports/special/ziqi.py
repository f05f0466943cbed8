"""ZIQI-Eval's question of bias, and its study with people.

The paper states its rule of bias in two ways: a model is unbiased above the mean F1, biased below it, and neutral
"within a range of ±5.0%" of it. Read as 5 points, the rule counts one model of Table 2 otherwise than the paper does;
read as 5 percent of the mean, it gives all the shares that the paper states.

Source: arXiv 2406.15885, section 5 and Tables 2 and 3.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from typing import Final, Literal, NamedTuple

import pandas as pd

from music_evals.benchmarks import published
from music_evals.reports.declared import LABELS, average, finished
from music_evals.reports.parts import Spec
from music_evals.reports.runs import Run, grouped
from music_evals.reports.tables import Cell, Figure, Footnotes, Report
from music_evals.scorers.metrics.proportion import wilson_interval

Class = Literal["no bias", "neutral", "biased"]
Rule = Literal["points", "percent of the mean"]
RULES: Final[tuple[Rule, ...]] = ("percent of the mean", "points")
"""Readings of the paper's ±5.0%; the first one classifies, the second is shown where it says otherwise."""

CLASSES: Final[tuple[Class, ...]] = ("no bias", "neutral", "biased")
MARGIN: Final = 5.0
AVERAGE: Final = "Average"
FIGURES: Final = ("female", "black", "european", "other")

STATED: Final[Mapping[str, tuple[float, ...]]] = {
    "female": (50.00, 6.25, 43.75),
    "black": (50.00, 12.50, 37.50),
    "european over other": (43.75,),
    "european over mean": (37.5,),
}
"""Shares of the 16 models as sections 5.1 to 5.3 of the paper state them, those of classes in the order of CLASSES."""

_REGION: Final = "by_subtheme/world ethnic music"
_EUROPE: Final = f"{_REGION}/European music/f1"
_METRICS: Final[Mapping[str, Sequence[str]]] = {
    "female": ("by_theme/female music/f1", "bias_figures/female_music_f1"),
    "black": (f"{_REGION}/Black African music/f1", "bias_figures/black_african_music_f1"),
    "european": (_EUROPE, "bias_figures/european_music_f1"),
    "other": ("bias_figures/other_regions_f1",),
}
"""Figure of bias → the metrics that have it; the first ones have intervals."""


class Row(NamedTuple):
    """A model's F1 in percent, and the means over models that it is held against."""

    labels: tuple[str, str, str | None]
    figures: Mapping[str, Figure]  # those of FIGURES that it has; `other` is the mean over regions but Europe's
    means: Mapping[str, float]
    mean_of: str  # what they are the means of; empty where there are none

    def class_of(self, name: str, rule: Rule) -> Class | None:
        """Its class by one figure; None where it or the mean is not known."""
        figure = self.figures.get(name)
        return classify(figure.value, self.means[name], rule) if figure and name in self.means else None

    def over_other(self) -> bool | None:
        """Whether its F1 on European music is above that on other regions."""
        european, other = self.figures.get("european"), self.figures.get("other")
        return european.value > other.value if european and other else None


def bias_figures(spec: Spec, runs: Sequence[Run]) -> Report:
    """Lay out Table 2, the paper's rows first, and means over the models of a condition."""
    measured = measured_rows(runs)
    *_, mean_of_paper = published("ziqi", "table2").rows
    rows = _cells(published_rows())
    rows.append([AVERAGE, "paper", None, *(Figure(mean_of_paper.figures[name]) for name in FIGURES)])
    for group in measured:
        rows += _cells(group)
        if len(group) >= 2:
            means = {name: Figure(mean) for name, mean in _means([row.figures for row in group]).items()}
            rows.append([f"{AVERAGE} of {len(group)}", *group[0].labels[1:], *map(means.get, FIGURES)])
    headings = (*LABELS, "Female", "Black African", "European", "Other regions")
    return _made(spec, headings, rows, _with_bias(runs))


def bias_classes(spec: Spec, runs: Sequence[Run]) -> Report:
    """Lay out the class of every model."""
    groups = (published_rows(), *measured_rows(runs))
    rows: list[list[Cell]] = [[*row.labels, *_judged(row), row.mean_of or None] for group in groups for row in group]
    headings = (*LABELS, "Gender", "Race", "European over other", "European over mean", "Mean over")
    return _made(spec, headings, rows, _with_bias(runs))


def bias_shares(spec: Spec, runs: Sequence[Run]) -> Report:
    """Lay out the share of every class, over the paper's models and over those of each condition."""
    paper, measured = "16 models of the paper", measured_rows(runs)
    stated = [Figure(share) for part in STATED.values() for share in part]
    groups = [(paper, published_rows())]
    groups += [
        (f"{len(some)} measured, {some[0].labels[2]}", some) for some in measured if len(some) > 1 and some[0].means
    ]
    rows: list[list[Cell]] = [[paper, "as the paper states", *stated]]
    rows += [[name, f"±5 {rule}", *_counted(group, rule)] for name, group in groups for rule in RULES]
    classes = [f"{what}: {one}" for what in ("Gender", "Race") for one in CLASSES]
    headings = ("Models", "Rule", *classes, "European over other", "European over mean")
    return _made(spec, headings, rows, _with_bias(runs))


def classify(value: float, mean: float, rule: Rule = RULES[0]) -> Class:
    """Classify a model by where its F1 lies around the mean over models, in percent; at the margin it is neutral."""
    margin = MARGIN if rule == "points" else mean * MARGIN / 100
    distance = round(value - mean, 9)
    if abs(distance) <= round(margin, 9):
        return "neutral"
    return "no bias" if distance > 0 else "biased"


def figures_of(run: Run) -> dict[str, Figure]:
    """Take the figures of bias from a run, with the intervals of the theme and sub-themes that they are about."""
    known = {name: [run.figure(metric, 100, 2) for metric in metrics] for name, metrics in _METRICS.items()}
    found = {name: next(filter(None, figures)) for name, figures in known.items() if any(figures)}
    return found | ({"other": _with_interval(found["other"], run)} if "other" in found else {})


def published_rows() -> list[Row]:
    """Return the paper's 16 models."""
    *rows, _ = published("ziqi", "table2").rows
    figures = [{name: Figure(row.figures[name]) for name in FIGURES} for row in rows]
    return [
        Row((row.labels["model"], "paper", None), some, _means(figures), f"the paper's {len(rows)} models")
        for row, some in zip(rows, figures, strict=True)
    ]


def measured_rows(runs: Iterable[Run]) -> list[list[Row]]:
    """Return the measured models, those of a condition together; without all questions they have no mean.

    A mean is over the models of a condition where it has at least two; else, on the published test, over the paper's.
    """
    groups = []
    asked = sorted((run for run in runs if figures_of(run)), key=lambda run: run.condition)
    for some in grouped(asked, lambda run: run.key[1:]).values():
        whole = some[0].is_complete and some[0].facts["subset"] is None
        means: Mapping[str, float] = {}
        mean_of = ""
        if whole and len(some) >= 2:
            means, mean_of = _means([figures_of(run) for run in some]), f"the {len(some)} measured models"
        elif whole and some[0].facts["dataset_label"] == "published":
            _, _, means, mean_of = published_rows()[0]
        groups.append([Row((run.model, run.source, run.condition), figures_of(run), means, mean_of) for run in some])
    return groups


def human_overall(spec: Spec, runs: Sequence[Run]) -> Report:
    """Lay out Table 3: precision on the questions of the human study."""
    rows: list[list[Cell]] = [
        [
            row.labels["education"],
            row.labels["music major"] or None,
            row.labels["musical background"] or None,
            *(f"{row.figures[end]:.0f}" if end in row.figures else None for end in ("lowest", "highest")),
            *(Figure(row.figures["precision"]), "paper", None),
        ]
        for row in published("ziqi", "table3").rows
    ]
    for some in grouped(runs, lambda run: run.key).values():
        first, parts = some[0], " and ".join(run.task for run in some)
        condition = f"{first.condition}, {parts}{'' if len(some) > 1 else ' only'}"
        rows.append([first.model, *[None] * 4, overall_precision(some), first.source, condition])
    headings = ("Who", "Music major", "Musical background", "Lowest", "Highest", "Precision", "Source", "Condition")
    return _made(spec, headings, rows, runs)


def overall_precision(parts: Sequence[Run]) -> Figure | None:
    """Pool the precision of the parts of a condition: right answers over answered questions, with Wilson's interval."""
    right, answered = 0.0, 0.0
    for run in parts:
        questions, accuracy, share = (run.value(name) or 0.0 for name in ("questions", "accuracy", "answered"))
        right, answered = right + questions * accuracy, answered + questions * share
    if round(answered) < 1:
        return None
    low, high = wilson_interval(min(right / answered, 1.0), round(answered))
    return Figure(100 * (right / answered), 100 * low, 100 * high)


def _cells(rows: Iterable[Row]) -> list[list[Cell]]:
    return [[*row.labels, *map(row.figures.get, FIGURES)] for row in rows]


def _with_bias(runs: Sequence[Run]) -> Sequence[Run]:
    return runs if any(group == "bias_figures" for run in runs for group, _ in run.metrics) else ()


def _made(spec: Spec, headings: Iterable[str], rows: Sequence[Sequence[Cell]], runs: Sequence[Run]) -> Report:
    """The table, where there are runs that it shows."""
    frame = pd.DataFrame(rows, columns=[*headings], dtype=object)
    return Report([finished(runs[0].part, spec, frame, runs, Footnotes())] if runs else [])


def _counted(rows: Sequence[Row], rule: Rule) -> list[Figure | None]:
    """Shares of models in the order of STATED; none where not every model has the figures."""
    answers = [[row.class_of(name, rule) == one if row.class_of(name, rule) else None for row in rows]
               for name in ("female", "black") for one in CLASSES]  # fmt: skip
    answers.append([row.over_other() for row in rows])
    above = [row.class_of("european", rule) for row in rows]
    answers.append([one == "no bias" if one else None for one in above])
    return [None if None in some else Figure(100 * some.count(True) / len(some)) for some in answers]


def _judged(row: Row) -> list[str | None]:
    """Gender, race and the two judgements of region; a star where the interval leaves another one open."""
    words: list[str | None] = []
    for name in ("female", "black", "european"):
        first, second = (row.class_of(name, rule) for rule in RULES)
        if first is None or second is None:
            words.append(None)
            continue
        says = _yes_no if name == "european" else str
        ends = [end for end in (row.figures[name].low, row.figures[name].high) if end is not None]
        star = "*" if any(says(classify(end, row.means[name])) != says(first) for end in ends) else ""
        other = f" ({says(second)})" if says(second) != says(first) else ""
        words.append(f"{says(first)}{star}{other}")
    over = row.over_other() if row.mean_of else None
    words.insert(2, None if over is None else ("yes" if over else "no") + ("*" if _overlap(row.figures) else ""))
    return words


def _yes_no(one: Class) -> str:
    return "yes" if one == "no bias" else "no"


def _overlap(figures: Mapping[str, Figure]) -> bool:
    ends = [end for name in ("european", "other") for end in (figures[name].low, figures[name].high) if end is not None]
    return len(ends) == 4 and ends[0] <= ends[3] and ends[2] <= ends[1]


def _means(figures: Sequence[Mapping[str, Figure]]) -> dict[str, float]:
    """Mean over models, of the figures that every model has."""
    return {
        name: sum(some[name].value for some in figures) / len(figures)
        for name in FIGURES
        if all(name in some for some in figures)
    }


def _with_interval(mean: Figure, run: Run) -> Figure:
    """The mean over other regions with an interval put together from theirs (Zou and Donner 2008)."""
    names = [f"{group}/{name}" for group, name in run.metrics if name.endswith("/f1")]
    others = [name for name in names if name.startswith(f"{_REGION}/") and name != _EUROPE]
    parts = [figure for name in others if (figure := run.figure(name, 100, 2))]
    if not parts or abs(average(parts).value - mean.value) > 1e-6:
        return mean  # the logged mean is over other sub-themes than are logged, so it gets no interval of theirs
    down = sqrt(sum((part.value - part.low) ** 2 for part in parts if part.low is not None)) / len(parts)
    up = sqrt(sum((part.high - part.value) ** 2 for part in parts if part.high is not None)) / len(parts)
    return Figure(mean.value, max(0.0, mean.value - down), min(100.0, mean.value + up)) if up else mean
