"""The summary of a report: what a model earns on each benchmark, above its floors, and over the
suite.

A task's *normalised score* is 100·(score − floor)/(100 − floor), with the score and the best of its
floors in percent: 0 is as good as without the music, 100 is all right. A section's is the mean over
its tasks, the suite's the mean over sections. A model has a suite mean if it has all tasks of the
suite, on the same data as the others. Sections that ask the same questions count as one. Baselines
and people do not decide which sections the suite has.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import fmean, mode
from typing import Any

import pandas as pd

from music_evals.benchmarks import load
from music_evals.reports.comparisons import ARMS, BASELINE
from music_evals.reports.records import PARTIAL, Records
from music_evals.reports.table import FLOOR, MEASURED, Table, notes
from music_evals.reports.tables.common import best_floor, gain, percent, run_notes
from music_evals.scorers.metrics.estimates import Estimate, average
from music_evals.scorers.metrics.written import ORIGINAL

SUITE = "Suite"
PERSON = "human/"
_MOST_SHARED = 0.5  # of a section's questions that another one may ask too
_ENOUGH = 0.9  # of the most questions of a task that a model was asked; some may have failed


@dataclass(frozen=True)
class Aggregate:
    """What a model earns on a section, or on the suite.

    Args:
        model: with its arguments, where runs differ in them.
        section: title of a section, or `SUITE`.
        runs: the runs that count, one per task.
        score: mean of the tasks' main metrics, in percent.
        floor: mean of their best floors, in percent.
        gain: mean of the gains over the floors, in percentage points.
        normalised: mean of the normalised scores.
    """

    model: str
    section: str
    runs: pd.DataFrame
    score: Estimate | None = None
    floor: Estimate | None = None
    gain: Estimate | None = None
    normalised: Estimate | None = None

    @property
    def tasks(self) -> str:
        """How many tasks count, of how many there are."""
        return f"{len(self.runs)}/{self._all_tasks}"

    @property
    def _all_tasks(self) -> int:
        tasks = load(self.runs["benchmark"].iloc[0]).tasks.values()
        return sum(task.section_title == self.section for task in tasks)

    @property
    def data(self) -> str:
        """Labels of the data."""
        return "; ".join(dict.fromkeys(self.runs["data"]))

    @property
    def condition(self) -> str:
        """The shortest of its runs' conditions, which may say that some are in part."""
        return str(min(self.runs["condition"], key=len))

    @property
    def shown_section(self) -> str:
        """The section with a mark if its runs are not of the published test."""
        return self.section if self.is_published_test else f"{self.section} †"

    @property
    def is_published_test(self) -> bool:
        """Whether all runs are of the published test."""
        return bool(self.runs["is_published_test"].all())

    @property
    def is_quality(self) -> bool:
        """Whether the score says how good answers are, and not only that pieces compile and are no
        copies.
        """
        return not self.runs["main_metric"].str.endswith(("/compile_rate", f"/{ORIGINAL}")).all()

    @property
    def shown_score(self) -> Estimate | None:
        """The score, with a name if it is of a part; ‡ marks a share of pieces that compile."""
        if self.score is None:
            return None
        part = "" if self.runs["is_complete"].all() else PARTIAL
        if len(self.runs) < self._all_tasks:
            part = f"{self.tasks} tasks"
        return replace(self.score, mark="" if self.is_quality else "‡", name=part)


@lru_cache(maxsize=1)
def aggregates(records: Records) -> tuple[list[Aggregate], list[str]]:
    """Return the aggregates of each model, by section and then of the suite; and notes on the
    suite.

    Of a model's conditions the one counts under which most tasks were run to their end; of several
    such, the one nearest to the defaults, then the one with the most items, then the newest. Runs
    without their music, and on twins, do not count.
    """
    runs = with_music(records.current())
    means = [
        aggregate(records, model, section, chosen(group))
        for (model, section), group in runs.groupby(["model", "section"], sort=False)
    ]
    sections = list(dict.fromkeys(runs["section"]))
    means.sort(key=lambda mean: sections.index(mean.section))
    suites, lines = _suite(records, means)
    means += suites
    places = {model: place for place, model in enumerate(ranked_models(means))}
    return sorted(means, key=lambda mean: places[mean.model]), lines


def ranked_models(means: Sequence[Aggregate]) -> list[str]:
    """Return the models, the best first: by the suite, then those that ran all tasks, and then
    others, by the mean of their normalised scores; then baselines, by that mean.
    """
    whole = {*whole_models([mean for mean in means if mean.section != SUITE])}
    values: dict[str, list[float]] = {mean.model: [] for mean in means}
    suites = {}
    for mean in means:
        if mean.normalised and mean.section == SUITE:
            suites[mean.model] = mean.normalised.value
        elif mean.normalised:
            values[mean.model].append(mean.normalised.value)

    def place(model: str) -> tuple[bool, bool, bool, float, str]:
        mean = fmean(values[model] or [0.0])
        if model.startswith(BASELINE):
            return True, False, False, -mean, model
        return False, model not in suites, model not in whole, -suites.get(model, mean), model

    return sorted(values, key=place)


def whole_models(means: Sequence[Aggregate]) -> list[str]:
    """Return the models whose scores can be ranked: asked all tasks that any model was asked, on
    the same data, and as many questions of each.
    """
    ranked = _ranked(means)
    most: dict[tuple[str, str], int] = {}
    data: dict[str, list[str]] = {}
    for mean in ranked:
        data.setdefault(mean.section, []).append(mean.data)
        for task, n in _counts(mean):
            most[task] = max(n, most.get(task, 0))
    tasks: dict[str, set[tuple[str, str]]] = {mean.model: set() for mean in means}
    for mean in means:
        if mean.data == mode(data.get(mean.section, [""])):
            tasks[mean.model].update(
                task for task, n in _counts(mean) if n >= _ENOUGH * most.get(task, 0)
            )
    return [model for model, own in tasks.items() if own >= most.keys()]


def _counts(mean: Aggregate) -> Iterable[tuple[tuple[str, str], int]]:
    """Each task with its number of questions."""
    runs = mean.runs
    return [((mean.section, task), n) for task, n in zip(runs["task"], runs["n"], strict=True)]


def _suite(records: Records, means: Sequence[Aggregate]) -> tuple[list[Aggregate], list[str]]:
    """The aggregates over the suite, and notes on what is not in it."""
    counted = [mean for mean in means if mean.normalised]
    repeats, lines = _repeats(_questions(records, _ranked(counted)))
    counted = [mean for mean in counted if mean.section not in repeats]
    sections = {mean.section for mean in _ranked(counted)}
    if len(sections) < 2:
        return [], lines
    whole = whole_models(counted)
    suites = []
    for model in whole:
        own = [mean for mean in counted if mean.model == model and mean.section in sections]
        runs = pd.concat([mean.runs for mean in own])
        normalised = _mean([mean.normalised for mean in own])
        suites.append(Aggregate(model, SUITE, runs, normalised=normalised))
    if without := [
        model for model in dict.fromkeys(mean.model for mean in means) if model not in whole
    ]:
        lines.append(
            f"{SUITE}: none for models that lack some of its tasks, ran on other data, or were "
            f"asked fewer questions: {', '.join(without)}."
        )
    return suites, lines


def _ranked(means: Sequence[Aggregate]) -> Sequence[Aggregate]:
    """The aggregates of models; those of baselines and people without any."""
    return [mean for mean in means if not mean.model.startswith((BASELINE, PERSON))] or means


def _questions(records: Records, means: Sequence[Aggregate]) -> dict[str, set[str]]:
    """The questions of each section."""
    questions: dict[str, set[str]] = {}
    for mean in means:
        own = questions.setdefault(mean.section, set())
        own.update(*(records.main[run]["question_key"] for run in mean.runs.index))
    return questions


def _repeats(questions: Mapping[str, set[str]]) -> tuple[set[str], list[str]]:
    """Sections most of whose questions a larger section asks too, and notes on sections that share
    questions.
    """
    counted: list[str] = []
    lines = []
    for section in sorted(questions, key=lambda name: (-len(questions[name]), name)):
        own = questions[section]
        shared = {name: len(own & questions[name]) for name in counted}
        nearest = max(shared, key=lambda name: shared[name], default="")
        number = shared.get(nearest, 0)
        is_repeat = number > _MOST_SHARED * len(own)
        if not is_repeat:
            counted.append(section)
        if number:
            end = f"{section} is left out" if is_repeat else "both count"
            lines.append(
                f"{SUITE}: {number} of {len(own)} questions of {section} are those of {nearest}; "
                f"{end}."
            )
    return {*questions} - {*counted}, lines


def with_music(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with their own music, and not on twins."""
    for name, plain in ARMS.items():
        if name in runs:
            runs = runs[runs[name].isna() | (runs[name] == plain)]
    return runs


def summary_table(records: Records) -> Table:
    """Make the table of the aggregates, with a row per model and section."""
    means, lines = aggregates(records)
    rows = []
    for mean in means:
        row = [mean.model, SUITE, None, None, None, mean.normalised, None, None]
        if mean.section != SUITE:
            row[1:5] = [mean.shown_section, mean.tasks, mean.shown_score, mean.gain]
            row[6:] = [mean.condition, mean.data]
        rows.append(row)
    columns = (
        "Model",
        "Benchmark",
        "Tasks",
        "Score",
        "Gain",
        "Normalised",
        "Asked with",
        "On data",
    )
    title = "Summary: mean of the tasks' main metrics, in percent"
    run_lines = run_notes(records.current())
    replaced = [line for line in run_lines if re.search(" runs alike|^Answer collapse", line)]
    kinds = [FLOOR if str(row[0]).startswith(BASELINE) else MEASURED for row in rows]
    lines = [*notes("summary"), *part_notes(means), *lines, *replaced]
    return Table(
        "summary",
        title,
        columns,
        rows,
        lines,
        kinds,
        optional=("On data", "Asked with", "Tasks", "Gain", "Normalised"),
    )


def part_notes(means: Sequence[Aggregate]) -> Sequence[str]:
    """Return the note on scores of a part, if there are any."""
    scores = [mean.shown_score for mean in means if mean.section != SUITE]
    return notes("part") if any(score and score.name for score in scores) else ()


def chosen(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs of a model on a section whose condition counts."""
    if len(runs) == 1:
        return runs

    def rank(group: pd.DataFrame) -> tuple[Any, ...]:
        nearness = -group["changes"].iloc[0]
        size = group["n"].sum()
        return int(group["is_complete"].sum()), len(group), nearness, size, group["created"].max()

    conditions = runs["words"].map(lambda words: tuple(word for word in words if word != PARTIAL))
    groups = [group for _, group in runs.groupby([conditions, "data"], sort=False)]
    return max(groups, key=rank)


def aggregate(records: Records, model: str, section: str, runs: pd.DataFrame) -> Aggregate:
    """Return what a model earns on a section, of its runs under one condition."""
    runs = runs.sort_values(["is_complete", "n", "created"]).drop_duplicates("task", keep="last")
    scores = [records.percent(run) for run in runs.index]
    floors = [percent(best_floor(records.floors(run))) for run in runs.index]
    names = dict.fromkeys(floor.name for floor in floors if floor)
    gains = [gain(score, floor) for score, floor in zip(scores, floors, strict=True)]
    normalised = [_normalised(*pair) for pair in zip(gains, floors, strict=True)]
    means = [*map(_mean, (scores, floors, gains, normalised))]
    floor = means[1] and replace(means[1], name=", ".join(names))
    return Aggregate(model, section, runs, _within_bounds(means[0]), floor, *means[2:])


def _within_bounds(score: Estimate | None) -> Estimate | None:
    """A score in percent with an interval that ends at 0 and 100."""
    if score is None or score.low is None or score.high is None:
        return score
    return replace(score, low=max(score.low, 0.0), high=min(score.high, 100.0))


def _normalised(gained: Estimate | None, floor: Estimate | None) -> Estimate | None:
    """A gain as a share of what is above the floor, in percent; nothing is above 100, also no end
    of an interval.
    """
    if gained is None or floor is None or floor.value >= 100:
        return None
    share = gained.times(100 / (100 - floor.value), 1)
    return share if share.high is None else replace(share, high=min(share.high, 100.0))


def _mean(estimates: Sequence[Estimate | None]) -> Estimate | None:
    """The mean of estimates; None if one is not known."""
    stated = [estimate for estimate in estimates if estimate]
    if not stated or len(stated) < len(estimates):
        return None
    return replace(average(stated), decimals=1)
