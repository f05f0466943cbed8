"""Tables of MSU-Bench: accuracy by level and overall, renderings, level-wise success, agreement of
judges, and MMLU.

Source: arXiv 2511.20697, Tables 2 to 6, sections 3.3 and 5.2.
"""

from collections import defaultdict
from collections.abc import Hashable, Mapping
from functools import partial
from itertools import compress
from typing import Any, Final

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
from music_evals.scorers.metrics.estimates import Estimate, Estimates
from music_evals.scorers.metrics.paired import mcnemar

SECTION: Final = "MSU-Bench"
LEVELS: Final = (1, 2, 3, 4)
_GROUPS: Final = {"Modality": "task"}
_JOINT: Final = "Judges and a person unanimous"
_SCORES: Final = 150  # of the published test
_ADAPTED: Final = r"vllm/.+:"  # how Inspect names a model with an adapter: vllm/BASE:ADAPTER


def tables(records: Records) -> list[Table]:
    """Make the tables of MSU-Bench."""
    runs = records.current(SECTION)
    renderings = records.current(SECTION, task="score")
    title = "MSU-Bench: one question, every rendering; accuracy in percent"
    return [
        _table2(records, runs),
        _table3(records, runs),
        _table4(records, runs),
        run_table(
            "msu_renderings",
            title,
            renderings,
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
    return [
        (
            [title_of(row.labels.get("modality", "-")), *paper_labels(row.labels["model"])],
            {
                heading.capitalize(): Estimate(
                    figure, row.figures.get("low"), row.figures.get("high"), n, decimals=2
                )
                for heading, figure in row.figures.items()
            },
        )
        for row in published("msu", name).rows
    ]


def _table2(records: Records, runs: pd.DataFrame) -> Table:
    """Accuracy by level, with a figure."""
    figures = _by_level(records)
    figures["Overall"] = records.percent
    rows = [*_paper("table2"), *_paper("table5")]
    title = "MSU-Bench Tables 2 and 5: accuracy in percent by level"
    return run_table(
        "msu_table2", title, runs, figures, groups=_GROUPS, published=rows, is_drawn=True
    )


def _overall(records: Records) -> Figures:
    return {
        "Accuracy": records.percent,
        "Questions": lambda run: count(records.main[run]["item"].nunique()),
        "Unscored": lambda run: count(int((~records.main[run]["counts"]).sum())),
        "Answered": lambda run: share_of(
            records.main[run]["reading"] == "answered", records.main[run]
        ),
    }


def _table3(records: Records, runs: pd.DataFrame) -> Table:
    """Overall accuracy with intervals."""
    paper = _paper("table3", n=1800)
    rows = [(names, {**cells, "Questions": count(1800)}) for names, cells in paper]
    title = "MSU-Bench Table 3: overall accuracy in percent, with intervals"
    return run_table("msu_table3", title, runs, _overall(records), groups=_GROUPS, published=rows)


def _table4(records: Records, runs: pd.DataFrame) -> Table:
    """Accuracy by level from the title alone."""
    title_only = runs[runs["content"] == "title"] if "content" in runs else runs.iloc[:0]
    title = "MSU-Bench Table 4: accuracy in percent from the title alone"
    rows = _paper("table4")
    return run_table(
        "msu_table4", title, title_only, _by_level(records), groups=_GROUPS, published=rows
    )


def _by_level(records: Records) -> Figures:
    return {f"Level {level}": partial(records.percent, group=f"level={level}") for level in LEVELS}


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
        is_scored = group["counts"] | group["details"].map(
            lambda one: bool(one.get("readable", True) or one["votes"])
        )
        answers = group["value"].astype(object).where(group["counts"], None)[is_scored].tolist()
        missing = int(group["of_level"].iloc[0]) - len(group)
        outcomes[score, epoch][int(level)] = [*answers, *[None] * missing]
    return level_success(outcomes, repetitions=items["epoch"].nunique())


def _judges(records: Records, runs: pd.DataFrame) -> Table:
    """Agreement of judges with one another, with the rules, and with people."""
    facts = {number: agreement(records.main[number]) for number in runs.index}
    judged = runs.loc[[number for number, fact in facts.items() if fact]]
    names = (
        "Judges unanimous",
        _JOINT,
        "Krippendorff's α",
        "Judges and rules",
        "Judges and people",
    )
    figures: Figures = {
        name: lambda run, name=name: facts[run].get(name)  # type: ignore[misc]
        for name in (*names, "McNemar p", "Pearson's r")
    }

    rows = _paper("judges")
    title = "MSU-Bench: agreement of judges, in percent"
    return run_table("msu_judges", title, judged, figures, groups=_GROUPS, published=rows)


def agreement(items: pd.DataFrame) -> Estimates:
    """Return how far judges agree, in percent, from judged questions; nothing without votes and
    labels.

    Source: arXiv 2511.20697, section 3.3.
    """
    questions = items["details"].tolist()
    # Only a majority makes a vote late; then nobody knows whether the judges agree.
    is_timely = [bool(one["votes"]) and LATE not in one["abstained"].values() for one in questions]
    is_ruled = [
        bool(one["votes"]) and None not in (one["verdict"], one["rule"]) for one in questions
    ]
    is_labelled = [None not in (one["verdict"], one.get("human")) for one in questions]
    votes = [list(one["votes"].values()) for one in compress(questions, is_timely)]
    has_votes = [
        timely and _votes(one) > 1 for timely, one in zip(is_timely, questions, strict=True)
    ]
    ruled = [bool(one["verdict"]) == one["rule"] for one in compress(questions, is_ruled)]
    pairs = [(one["verdict"], one["human"]) for one in compress(questions, is_labelled)]
    found: dict[str, Estimate | None] = {
        "Judges unanimous": share_of(map(bool, unanimity(votes)), items[has_votes]),
        _JOINT: percent(joint_agreement(questions, items["cluster"].tolist())),
        "Judges and rules": share_of(ruled, items[is_ruled]),
        "Judges and people": share_of(
            [verdict == label for verdict, label in pairs], items[is_labelled]
        ),
    }
    matrix = np.array(votes, dtype=float).T  # a row per judge; NaN where one abstains
    if len(matrix) > 1 and len(np.unique(matrix[~np.isnan(matrix)])) > 1:
        from krippendorff import alpha

        found["Krippendorff's α"] = Estimate(
            float(alpha(matrix, level_of_measurement="nominal")), n=len(votes)
        )
    if pairs:
        found["McNemar p"] = Estimate(
            mcnemar(pairs.count((1, 0)), pairs.count((0, 1))), decimals=P_DECIMALS
        )
    if pairs and all(len(set(side)) == 2 for side in zip(*pairs, strict=True)):
        from scipy.stats import pearsonr

        found["Pearson's r"] = Estimate(float(pearsonr(*zip(*pairs, strict=True)).statistic))
    return {name: one for name, one in found.items() if one}


def _votes(question: Mapping[str, Any]) -> int:
    """How many judges do not abstain."""
    return sum(vote is not None for vote in question["votes"].values())


def _table6(runs: pd.DataFrame) -> Table:
    """MMLU before and after fine-tuning as published, beside runs of models with an adapter."""
    rows = _paper("table6") if runs["model"].str.match(_ADAPTED).any() else []
    lines = [[*labels[1:], *cells.values()] for labels, cells in rows]
    title = "MSU-Bench Table 6: MMLU in percent before and after fine-tuning"
    columns = (*LABELS, "STEM", "Humanities", "Social sciences", "Other subjects")
    return Table("msu_table6", title, columns, lines, notes("msu_table6"), [PUBLISHED] * len(lines))
