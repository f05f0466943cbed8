"""Tables of MSU-Bench: accuracy by level and overall, renderings, level-wise success, agreement of
judges, and MMLU.

Source: arXiv 2511.20697, Tables 2 to 6, sections 3.3 and 5.2.
"""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from music_evals.benchmarks import published
from music_evals.reports.records import Records
from music_evals.reports.table import P_DECIMALS, PUBLISHED, Cell, Table, count, notes
from music_evals.reports.tables.common import (
    LABELS,
    Figures,
    paper_labels,
    percent,
    run_table,
    share_of,
    title_of,
)
from music_evals.scorers.judge import LATE
from music_evals.scorers.metrics.accuracy import joint_agreement, level_success, unanimity
from music_evals.scorers.metrics.calibration import corrected_mean, youden
from music_evals.scorers.metrics.estimates import Estimate, Estimates
from music_evals.scorers.metrics.paired import mcnemar

LEVELS = (1, 2, 3, 4)
_GROUPS = {"Modality": "task"}
_JOINT = "Judges and a person unanimous"
_AGREEMENTS = (
    "Judges unanimous",
    _JOINT,
    "Krippendorff's α",
    "Judges and rules",
    "Judges and people",
    "Corrected by people",
    "Youden's J",
    "McNemar p",
    "Pearson's r",
)
_TITLES = (
    "MSU-Bench Tables 2 and 5: accuracy in percent by level",
    "MSU-Bench Table 3: overall accuracy in percent, with intervals",
    "MSU-Bench Table 4: accuracy in percent from the title alone",
)
_SCORES = 150  # of the published test
_ADAPTED = r"vllm/.+:"  # how Inspect names a model with an adapter: vllm/BASE:ADAPTER
_Question = Mapping[str, Any]  # details of an item


def tables(records: Records) -> list[Table]:
    """Make the tables of MSU-Bench."""
    runs = records.current("msu")
    table = partial(run_table, groups=_GROUPS)
    by_level: Figures = {
        f"Level {level}": partial(records.percent, group=f"level={level}") for level in LEVELS
    }
    with_all = {**by_level, "Overall": records.percent}
    printed = [*_paper("table2"), *_paper("table5")]
    overall = [(row, {**cells, "Questions": count(1800)}) for row, cells in _paper("table3", 1800)]
    title_only = runs[runs["content"] == "title"] if "content" in runs else runs.iloc[:0]
    return [
        table("msu_table2", _TITLES[0], runs, with_all, published=printed, is_drawn=True),
        table("msu_table3", _TITLES[1], runs, _overall(records), published=overall),
        table("msu_table4", _TITLES[2], title_only, by_level, published=_paper("table4")),
        run_table(
            "msu_renderings",
            "MSU-Bench: one question, every rendering; accuracy in percent",
            records.current("msu", task="score"),
            _overall(records),
            groups={"Rendering": "rendering"},
        ),
        _success(records, runs),
        _judges(records, runs),
        _table6(runs),
    ]


def _paper(name: str, n: int | None = None) -> list[tuple[list[Cell], Estimates]]:
    """The rows of a published table of percentages, of `n` questions, with the ends of an interval
    if it has them.
    """
    rows = []
    for row in published("msu", name).rows:
        labels = [title_of(row.labels.get("modality", "-")), *paper_labels(row.labels["model"])]
        ends = row.figures.get("low"), row.figures.get("high")
        figures = {
            heading.capitalize(): Estimate(figure, *ends, n, decimals=2)
            for heading, figure in row.figures.items()
        }
        rows.append((labels, figures))
    return rows


def _overall(records: Records) -> Figures:
    return {
        "Accuracy": records.percent,
        "Questions": lambda run: count(records.main[run]["item"].nunique()),
        "Unscored": lambda run: count(int((~records.main[run]["counts"]).sum())),
        "Answered": lambda run: share_of(
            records.main[run]["reading"] == "answered", records.main[run]
        ),
    }


def _success(records: Records, runs: pd.DataFrame) -> Table:
    """The share of scores with all questions right up to a level."""

    def up_to(level: int, run: int) -> Cell:
        return percent(success_of(records.main[run]).get(level))

    figures = {f"Up to level {level}": partial(up_to, level) for level in LEVELS}
    title = "MSU-Bench: level-wise success rate in percent"
    rows = [
        (names, {"Up to level 1": cells["Scores after level 1"].times(100 / _SCORES, 2)})
        for names, cells in _paper("level_success")
    ]
    return run_table("msu_level_success", title, runs, figures, groups=_GROUPS, published=rows)


def success_of(items: pd.DataFrame) -> dict[int, Estimate]:
    """Return the level-wise success of a run's items: see `level_success`.

    Without judges the questions that rules can score make up the levels, which are the same for all
    models.
    """
    outcomes: defaultdict[Hashable, dict[int, list[bool | None]]] = defaultdict(dict)
    for (score, epoch, level), group in items.groupby(["cluster", "epoch", "level"]):
        # A rule can score a question, or judges were asked.
        can_be_scored = group["details"].map(lambda one: bool(one["readable"] or one["votes"]))
        is_scored = group["counts"] | can_be_scored
        values = group["value"].astype(object).where(group["counts"], None)
        missing = int(group["of_level"].iloc[0]) - len(group)
        outcomes[score, epoch][int(level)] = [*values[is_scored], *[None] * missing]
    return level_success(outcomes, repetitions=items["epoch"].nunique())


def _judges(records: Records, runs: pd.DataFrame) -> Table:
    """Agreement of judges with one another, with the rules, and with people."""
    facts = {number: agreement(records.main[number]) for number in runs.index}
    judged = runs[[bool(facts[number]) for number in runs.index]]
    figures: Figures = {
        name: lambda run, name=name: facts[run].get(name)  # type: ignore[misc]
        for name in _AGREEMENTS
    }
    rows = _paper("judges")
    title = "MSU-Bench: agreement of judges, in percent"
    return run_table("msu_judges", title, judged, figures, groups=_GROUPS, published=rows)


def agreement(items: pd.DataFrame) -> Estimates:
    """Return how far judges agree, in percent, from judged questions; nothing without votes and
    labels.

    Source: arXiv 2511.20697, section 3.3.
    """
    questions = items["details"]
    timely = items[questions.map(_is_timely)]
    votes = [list(question["votes"].values()) for question in timely["details"]]
    several = timely[timely["details"].map(_count_votes) > 1]
    ruled = items[questions.map(_is_ruled)]
    labelled = items[questions.map(lambda one: None not in (one["verdict"], one["human"]))]
    is_as_ruled = [bool(one["verdict"]) == one["rule"] for one in ruled["details"]]
    pairs = [(one["verdict"], one["human"]) for one in labelled["details"]]
    figures = {
        "Judges unanimous": share_of(map(bool, unanimity(votes)), several),
        _JOINT: percent(joint_agreement(questions.tolist(), items["cluster"].tolist())),
        "Judges and rules": share_of(is_as_ruled, ruled),
        "Judges and people": share_of([verdict == label for verdict, label in pairs], labelled),
        "Krippendorff's α": _krippendorff(votes),
    }
    if pairs:
        p = mcnemar(pairs.count((1, 0)), pairs.count((0, 1)))
        figures["McNemar p"] = Estimate(p, decimals=P_DECIMALS)
        verdicts, labels = zip(*pairs, strict=True)
        judged = items[questions.map(lambda one: one["verdict"] is not None)]
        every, people = ([one[name] for one in judged["details"]] for name in ("verdict", "human"))
        corrected = corrected_mean(every, people, judged["cluster"].tolist())
        figures["Corrected by people"] = percent(corrected)
        figures["Youden's J"] = percent(youden(verdicts, labels))
        if len({*verdicts}) == len({*labels}) == 2:
            from scipy.stats import pearsonr

            figures["Pearson's r"] = Estimate(float(pearsonr(verdicts, labels).statistic))
    return {name: figure for name, figure in figures.items() if figure}


def _is_timely(question: _Question) -> bool:
    """Whether all judges that vote do so in time: only a majority makes a vote late, and then
    nobody knows whether the judges agree.
    """
    return bool(question["votes"]) and LATE not in question["abstained"].values()


def _is_ruled(question: _Question) -> bool:
    return bool(question["votes"]) and None not in (question["verdict"], question["rule"])


def _count_votes(question: _Question) -> int:
    """How many judges do not abstain."""
    return sum(vote is not None for vote in question["votes"].values())


def _krippendorff(votes: Sequence[Sequence[int | None]]) -> Estimate | None:
    """Krippendorff's α; None with one judge or if all votes are the same."""
    matrix = np.array(votes, dtype=float).T  # a row per judge; NaN where one abstains
    if len(matrix) < 2 or len(np.unique(matrix[~np.isnan(matrix)])) < 2:
        return None
    from krippendorff import alpha

    return Estimate(float(alpha(matrix, level_of_measurement="nominal")), n=len(votes))


def _table6(runs: pd.DataFrame) -> Table:
    """MMLU before and after fine-tuning as published, beside runs of models with an adapter."""
    rows = _paper("table6") if runs["model"].str.match(_ADAPTED).any() else []
    lines = [[*labels[1:], *cells.values()] for labels, cells in rows]
    title = "MSU-Bench Table 6: MMLU in percent before and after fine-tuning"
    columns = (*LABELS, "STEM", "Humanities", "Social sciences", "Other subjects")
    return Table("msu_table6", title, columns, lines, notes("msu_table6"), [PUBLISHED] * len(lines))
