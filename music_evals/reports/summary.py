"""The summary of a report: what a model earns on each benchmark, above its floors, and over the
suite.

A task's *normalised score* is 100·(score − floor)/(100 − floor), with the score and the best of its
floors in percent: 0 is as good as without the music, 100 is all right. A section's is the mean over
its tasks, the suite's the mean over sections. A model has a suite mean if it has all tasks of the
suite, on the same data as the others. Sections that ask the same questions count as one. Baselines
and people do not decide which sections the suite has.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mode
from typing import Any, Final

import pandas as pd

from music_evals.benchmarks import load
from music_evals.reports.comparisons import ARMS, BASELINE
from music_evals.reports.records import PARTIAL, Records
from music_evals.reports.table import Rows, Table, notes
from music_evals.reports.tables.common import best_floor, gain, percent, run_notes
from music_evals.scorers.metrics.estimates import Estimate, average
from music_evals.scorers.metrics.written import ORIGINAL

SUITE: Final = "Suite"
PERSON: Final = "human/"
_MOST_SHARED: Final = 0.5  # of a section's questions that another one may ask too


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
        tasks = load(self.runs["benchmark"].iloc[0]).tasks.values()
        return f"{len(self.runs)}/{sum(task.section_title == self.section for task in tasks)}"

    @property
    def data(self) -> str:
        """Labels of the data."""
        return "; ".join(dict.fromkeys(self.runs["data"]))

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
        """The score with an interval that ends at 0 and 100; ‡ marks a share of pieces that
        compile.
        """
        if self.score is None:
            return None
        low, high = (
            None if end is None else min(max(end, 0.0), 100.0)
            for end in (self.score.low, self.score.high)
        )
        return replace(self.score, low=low, high=high, mark="" if self.is_quality else "‡")


def aggregates(records: Records) -> tuple[list[Aggregate], list[str]]:
    """Return the aggregates of each model, by section and then of the suite; and notes on the
    suite.

    Of a model's conditions the one counts under which most tasks were run to their end; of several
    such, the one nearest to the defaults, then the one with the most items, then the newest. Runs
    without their music, and on twins, do not count.
    """
    runs = with_music(records.current())
    found = [
        aggregate(records, model, section, chosen(group))
        for (model, section), group in runs.groupby(["model", "section"], sort=False)
    ]
    sections = list(dict.fromkeys(runs["section"]))
    found.sort(key=lambda one: (one.model, sections.index(one.section)))
    suites, lines = _suite(records, found)
    return sorted([*found, *suites], key=lambda one: one.model), lines


def _suite(records: Records, found: Sequence[Aggregate]) -> tuple[list[Aggregate], list[str]]:
    """The aggregates over the suite, and notes on what is not in it."""
    counted = [one for one in found if one.normalised]
    repeats, lines = _repeats(_questions(records, _ranked(counted)))
    counted = [one for one in counted if one.section not in repeats]
    ranked = _ranked(counted)
    sections = {one.section for one in ranked}
    if len(sections) < 2:
        return [], lines
    data = {
        section: mode(one.data for one in ranked if one.section == section) for section in sections
    }
    suites, without = [], []
    for model in dict.fromkeys(one.model for one in found):
        own = [one for one in counted if one.model == model and one.section in sections]
        is_same_data = all(one.data == data[one.section] for one in own)
        if is_same_data and _tasks(own) == _tasks(ranked):
            mean = _mean([one.normalised for one in own])
            suites.append(
                Aggregate(model, SUITE, pd.concat([one.runs for one in own]), normalised=mean)
            )
        else:
            without.append(model)
    if without:
        lines.append(
            f"{SUITE}: none for models that lack some of its tasks, or ran on other data: "
            f"{', '.join(without)}."
        )
    return suites, lines


def _ranked(found: Sequence[Aggregate]) -> Sequence[Aggregate]:
    """The aggregates of models; those of baselines and people without any."""
    return [one for one in found if not one.model.startswith((BASELINE, PERSON))] or found


def _tasks(found: Sequence[Aggregate]) -> set[tuple[str, str]]:
    return {(one.section, task) for one in found for task in one.runs["task"]}


def _questions(records: Records, found: Sequence[Aggregate]) -> dict[str, set[str]]:
    """The questions of each section."""
    questions: dict[str, set[str]] = {}
    for one in found:
        for run in one.runs.index:
            questions.setdefault(one.section, set()).update(records.main[run]["question_key"])
    return questions


def _repeats(questions: Mapping[str, set[str]]) -> tuple[set[str], list[str]]:
    """Sections most of whose questions a larger section asks too, and notes on sections that share
    questions.
    """
    kept: list[str] = []
    lines = []
    for section in sorted(questions, key=lambda name: (-len(questions[name]), name)):
        size = len(questions[section])
        shared = {other: len(questions[section] & questions[other]) for other in kept}
        nearest = max(kept, key=lambda name: shared[name], default="")
        number = shared.get(nearest, 0)
        is_repeat = number > _MOST_SHARED * size
        if not is_repeat:
            kept.append(section)
        if number:
            end = f"{section} is left out" if is_repeat else "both count"
            lines.append(
                f"{SUITE}: {number} of {size} questions of {section} are those of {nearest}; {end}."
            )
    return {*questions} - {*kept}, lines


def with_music(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with their own music, and not on twins."""
    for name, plain in ARMS.items():
        if name in runs:
            runs = runs[runs[name].isna() | (runs[name] == plain)]
    return runs


def summary_table(records: Records) -> Table:
    """Make the table of the aggregates, with a row per model and section."""
    found, lines = aggregates(records)
    rows: Rows = []
    for one in found:
        if one.section == SUITE:
            rows.append([one.model, SUITE, *[None] * 3, one.normalised, None, None])
            continue
        dagger = "" if one.is_published_test else " †"
        score = one.shown_score
        condition = min(one.runs["condition"], key=len)
        rows.append(
            [
                one.model,
                one.section + dagger,
                one.tasks,
                score,
                one.gain,
                one.normalised,
                condition,
                one.data,
            ]
        )
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
    replaced = [line for line in run_notes(records.current()) if " runs alike" in line]
    return Table("summary", title, columns, rows, [*notes("summary"), *lines, *replaced])


def chosen(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs of a model on a section whose condition counts."""

    def rank(group: pd.DataFrame) -> tuple[Any, ...]:
        complete = int(group["is_complete"].sum())
        return (
            complete,
            len(group),
            -group["changes"].iloc[0],
            group["n"].sum(),
            group["created"].max(),
        )

    conditions = runs["words"].map(lambda words: tuple(word for word in words if word != PARTIAL))
    return max((group for _, group in runs.groupby([conditions, "data"], sort=False)), key=rank)


def aggregate(records: Records, model: str, section: str, runs: pd.DataFrame) -> Aggregate:
    """Return what a model earns on a section, of its runs under one condition."""
    runs = runs.sort_values(["is_complete", "n", "created"]).drop_duplicates("task", keep="last")
    scores = [records.percent(run) for run in runs.index]
    floors = [percent(best_floor(records.floors(run))) for run in runs.index]
    gains = [gain(score, floor) for score, floor in zip(scores, floors, strict=True)]
    normalised = [_normalised(*pair) for pair in zip(gains, floors, strict=True)]
    return Aggregate(model, section, runs, *map(_mean, (scores, floors, gains, normalised)))


def _normalised(gained: Estimate | None, floor: Estimate | None) -> Estimate | None:
    """A gain as a share of what is above the floor, in percent; nothing is above 100, also no end
    of an interval.
    """
    if gained is None or floor is None or floor.value >= 100:
        return None
    found = gained.times(100 / (100 - floor.value), 1)
    return found if found.high is None else replace(found, high=min(found.high, 100.0))


def _mean(estimates: Sequence[Estimate | None]) -> Estimate | None:
    """The mean of estimates; None if one is not known."""
    known = [one for one in estimates if one]
    return replace(average(known), decimals=1) if known and len(known) == len(estimates) else None
