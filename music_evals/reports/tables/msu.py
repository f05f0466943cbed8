"""Tables of MSU-Bench: accuracy by level and overall, renderings, level-wise success, agreement of judges, and MMLU.

Source: arXiv 2511.20697, Tables 2 to 6, sections 3.3 and 5.2.
"""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import pandas as pd

from music_evals.benchmarks import published
from music_evals.reports.records import Records
from music_evals.reports.table import P_DECIMALS, PUBLISHED, Cell, Table, count, notes
from music_evals.reports.tables.common import LABELS, Figure, paper_labels, percent, run_table, share_of, title_of
from music_evals.scorers.judge import LATE
from music_evals.scorers.metrics.accuracy import joint_agreement, level_success, unanimity
from music_evals.scorers.metrics.estimates import Estimate, estimate
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
        run_table("msu_renderings", title, renderings, _overall(records), groups={"Rendering": "rendering"}),
        _success(records, runs),
        _judges(records, runs),
        _table6(runs),
    ]


def _table2(records: Records, runs: pd.DataFrame) -> Table:
    """Accuracy by level, with a figure."""
    figures = _by_level(records)
    figures["Overall"] = records.percent
    rows = [
        (
            [title_of(row.labels["modality"]), *paper_labels(row.labels["model"])],
            {heading: Estimate(row.figures[heading.lower()], decimals=2) for heading in figures},
        )
        for name in ("table2", "table5")
        for row in published("msu", name).rows
    ]
    title = "MSU-Bench Tables 2 and 5: accuracy in percent by level"
    return run_table("msu_table2", title, runs, figures, groups=_GROUPS, published=rows, is_drawn=True)


def _overall(records: Records) -> dict[str, Figure]:
    return {
        "Accuracy": records.percent,
        "Questions": lambda run: count(records.main[run]["item"].nunique()),
        "Unscored": lambda run: count(int((~records.main[run]["counts"]).sum())),
        "Answered": lambda run: share_of(records.main[run]["reading"] == "answered", records.main[run]),
    }


def _table3(records: Records, runs: pd.DataFrame) -> Table:
    """Overall accuracy with intervals."""
    rows = [
        (
            [title_of(row.labels["modality"]), *paper_labels(row.labels["model"])],
            {
                "Accuracy": Estimate(
                    row.figures["accuracy"], row.figures["low"], row.figures["high"], n=1800, decimals=2
                ),
                "Questions": count(1800),
            },
        )
        for row in published("msu", "table3").rows
    ]
    title = "MSU-Bench Table 3: overall accuracy in percent, with intervals"
    return run_table("msu_table3", title, runs, _overall(records), groups=_GROUPS, published=rows)


def _table4(records: Records, runs: pd.DataFrame) -> Table:
    """Accuracy by level from the title alone."""
    figures = _by_level(records)
    rows = [
        (
            ["-", *paper_labels(row.labels["model"])],
            {f"Level {one}": Estimate(row.figures[f"level {one}"]) for one in LEVELS},
        )
        for row in published("msu", "table4").rows
    ]
    title_only = runs[runs["content"] == "title"] if "content" in runs else runs.iloc[:0]
    title = "MSU-Bench Table 4: accuracy in percent from the title alone"
    return run_table("msu_table4", title, title_only, figures, groups=_GROUPS, published=rows)


def _by_level(records: Records) -> dict[str, Figure]:
    return {f"Level {level}": partial(records.percent, group=f"level={level}") for level in LEVELS}


def _success(records: Records, runs: pd.DataFrame) -> Table:
    """The share of scores with all questions right up to a level."""

    def up_to(level: int, run: int) -> Cell:
        rate, _ = success_of(records.main[run]).get(level, (None, 0))
        return percent(rate)

    figures = {f"Up to level {level}": partial(up_to, level) for level in LEVELS}
    rows = [
        (
            [title_of(row.labels["modality"]), *paper_labels(row.labels["model"])],
            {"Up to level 1": Estimate(row.figures["scores after level 1"] / _SCORES).percent(2)},
        )
        for row in published("msu", "level_success").rows
    ]
    title = "MSU-Bench: level-wise success rate in percent"
    return run_table("msu_level_success", title, runs, figures, groups=_GROUPS, published=rows)


def success_of(items: pd.DataFrame) -> dict[int, tuple[Estimate, int]]:
    """Return the level-wise success of a run's items: see `level_success`."""
    outcomes: defaultdict[Hashable, dict[int, list[bool | None]]] = defaultdict(dict)
    for (score, epoch, level), group in items.groupby(["cluster", "epoch", "level"]):
        answers = [
            bool(value) if counts else None for value, counts in zip(group["value"], group["counts"], strict=True)
        ]
        missing = int(group["of_level"].iloc[0]) - len(answers)
        outcomes[score, epoch][int(level)] = [*answers, *[None] * missing]
    return level_success(outcomes, repetitions=items["epoch"].nunique())


def _judges(records: Records, runs: pd.DataFrame) -> Table:
    """Agreement of judges with one another, with the rules, and with people."""
    facts = {}
    for number in runs.index:
        items = records.main[number]
        facts[number] = agreement(list(items["details"]), list(items["cluster"]))
    judged = runs.loc[[number for number, fact in facts.items() if fact]]
    names = ("Judges unanimous", _JOINT, "Krippendorff's α", "Judges and rules", "Judges and people")
    figures: dict[str, Figure] = {
        name: lambda run, name=name: facts[run].get(name)  # type: ignore[misc]
        for name in (*names, "McNemar p", "Pearson's r")
    }
    rows = []
    for row in published("msu", "judges").rows:
        share = Estimate(row.figures["agreement"], row.figures["low"], row.figures["high"], decimals=2)
        cells = {_JOINT: share, "Pearson's r": Estimate(row.figures["pearson"])}
        rows.append(([None, None, "paper", row.labels["judges"], None], cells))
    title = "MSU-Bench: agreement of judges, in percent"
    return run_table("msu_judges", title, judged, figures, groups=_GROUPS, published=rows)


def agreement(questions: Sequence[Mapping[str, Any]], clusters: Sequence[Hashable]) -> dict[str, Estimate]:
    """Return how far judges agree, in percent, from the details of judged questions; nothing without votes and labels.

    `clusters` has the score of each question.

    Source: arXiv 2511.20697, section 3.3.
    """
    decided = [one for one in questions if one["verdict"] is not None]
    ruled = [one for one in decided if one["votes"] and one["rule"] is not None]
    labelled = [one for one in decided if one.get("human") is not None]
    # Only a majority makes a vote late; then nobody knows whether the judges agree.
    votes = [list(one["votes"].values()) for one in questions if one["votes"] and LATE not in one["abstained"].values()]
    found: dict[str, Estimate | None] = {
        "Judges unanimous": percent(estimate(unanimity(votes))),
        _JOINT: percent(joint_agreement(questions, clusters)),
        "Judges and rules": percent(estimate([float(bool(one["verdict"]) == one["rule"]) for one in ruled])),
        "Judges and people": percent(estimate([float(one["verdict"] == one["human"]) for one in labelled])),
    }
    matrix = np.array(votes, dtype=float).T  # a row per judge; NaN where one abstains
    if len(matrix) > 1 and len(np.unique(matrix[~np.isnan(matrix)])) > 1:
        from krippendorff import alpha

        found["Krippendorff's α"] = Estimate(float(alpha(matrix, level_of_measurement="nominal")), n=len(votes))
    pairs = [(one["verdict"], one["human"]) for one in labelled]
    if pairs:
        found["McNemar p"] = Estimate(mcnemar(pairs.count((1, 0)), pairs.count((0, 1))), decimals=P_DECIMALS)
    if all(len(set(side)) == 2 for side in zip(*pairs, strict=True)) and pairs:
        from scipy.stats import pearsonr

        found["Pearson's r"] = Estimate(float(pearsonr(*zip(*pairs, strict=True)).statistic))
    return {name: one for name, one in found.items() if one}


def _table6(runs: pd.DataFrame) -> Table:
    """MMLU before and after fine-tuning as published, beside runs of fine-tuned models."""
    table = published("msu", "table6").rows if runs["model"].str.match(_ADAPTED).any() else ()
    rows = [
        [
            row.labels["adapter"],
            *paper_labels(row.labels["model"]),
            *(Estimate(one, decimals=2) for one in row.figures.values()),
        ]
        for row in table
    ]
    subjects = ("STEM", "Humanities", "Social sciences", "Other subjects")
    title = "MSU-Bench Table 6: MMLU in percent before and after fine-tuning"
    columns = ("Adapter", *LABELS, *subjects)
    return Table("msu_table6", title, columns, rows, notes("msu_table6"), [PUBLISHED] * len(rows))
