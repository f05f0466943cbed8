"""What the tables of all benchmarks share: the columns that name a run, notes on runs, and three
tables.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np
import pandas as pd

from music_evals.benchmarks import load, published, published_names
from music_evals.reports.records import PARTIAL, Records, score_of
from music_evals.reports.table import FLOOR, MEASURED, PUBLISHED, Cell, Rows, Table, count, notes
from music_evals.scorers.metrics.estimates import Estimate, difference, estimate
from music_evals.scorers.readers import STATUSES

STRICT: Final = "strict_choice/accuracy"
OFFICIAL: Final = "official_choice/accuracy"
MOST_UNREAD: Final = 0.05
"""The share of unread replies above which a note says what to do."""
_BESIDE: Final = {
    "By rules": "accuracy_by_rules",
    "Read again": "read_again",
    "Reader failed": "reader_failed",
    "Right option": "probability",
    "All options": "options_mass",
}
"""Columns of the table of replies, and the metrics of a main scorer that only some runs have."""
THIRD_PARTY: Final = "third_party"
"""The published table of figures that are not the authors'."""
LABELS: Final = ("Model", "Source", "Condition", "Data")
"""Headings of the columns that name a run, or a row of a paper."""
NOT_PUBLISHED: Final = (
    "† Not the paper's test, and not to be compared with its figures: other data, another protocol "
    "or condition, or a part of the items, as the row says."
)

_FEW_CLUSTERS: Final = 20
_TITLES: Final = {
    "zero": "Zero-shot",
    "few": "Few-shot",
    "midi": "MIDI",
    "metadata_qa": "Metadata QA",
    "abc": "ABC",
}

Figure = Callable[[int], Cell]
"""Makes a cell of a run, given its number."""
Figures = dict[str, Figure]
"""Makers of cells by heading."""
Row = tuple[Sequence[Cell], Mapping[str, Cell]]
"""The cells that name a run, or a row of a paper; and figures by heading."""


def labels(run: pd.Series, without: Sequence[str] = ()) -> list[Cell]:
    """Return the cells under `LABELS` for a run; parameters that the table shows otherwise are left
    out.
    """
    words = [word for word in run["words"] if word.partition("=")[0] not in without]
    source = "measured" if run["is_published_test"] else "measured †"
    return [run["model"], source, ", ".join(words) or "default", run["data"]]


def paper_labels(model: str, source: str = "paper") -> list[Cell]:
    """Return the cells under `LABELS` for a row of a paper."""
    return [model, source, None, None]


def title_of(name: str) -> str:
    """Return a task, or a value of a parameter, as headings have it."""
    return _TITLES.get(name, name.replace("_", " ").capitalize())


def run_notes(runs: pd.DataFrame) -> list[str]:
    """Return the notes that a table of these runs needs."""
    lines = (
        ["Measured figures are followed by their 95% interval and the number of items."]
        if len(runs)
        else []
    )
    if len(runs) and not runs["is_published_test"].all():
        lines.append(NOT_PUBLISHED)
    if len(runs):
        explained, reader = notes("unread")
        lines += [explained] if (runs["unread"] > 0).any() else []
        lines += unread_advice(runs)
        lines += [reader] if runs["has_reader"].any() else []
    lines += _few_clusters(runs)
    for _, run in runs[runs["replaced"] > 0].iterrows():
        lines.append(
            f"{run['task']}, {run['model']}, {run['condition']}: of {run['replaced'] + 1} runs "
            "alike, the most complete, largest and newest counts: that of "
            f"{run['created']:%Y-%m-%d %H:%M}."
        )
    return lines


def _few_clusters(runs: pd.DataFrame) -> list[str]:
    """A note for each task whose questions are on few pieces, scores or chats."""
    lines = []
    for _, run in runs.iterrows():
        if run["clusters"] < min(run["n"], _FEW_CLUSTERS):
            where = (
                f"{run['task']}: the {run['n']} questions are on {run['clusters']} pieces, scores "
                "or in as many chats"
            )
            width = "no interval" if run["clusters"] == 1 else "a wide interval"
            lines.append(f"{where}, so that a score has {width}.")
    return list(dict.fromkeys(lines))


def unread_advice(runs: pd.DataFrame) -> list[str]:
    """Return what to do about runs of which more than `MOST_UNREAD` of the replies are unread."""
    many = runs[runs["unread"] > MOST_UNREAD]
    forms = many["answer"] if "answer" in many else pd.Series("text", many.index)
    by_probabilities = forms == "likelihood"
    advice = [*notes("unread_likelihood")] if by_probabilities.any() else []
    return [*(notes("unread_text") if not by_probabilities.all() else ()), *advice]


def make_table(
    name: str,
    title: str,
    columns: Sequence[str],
    measured: Sequence[Row],
    runs: pd.DataFrame,
    *,
    groups: Iterable[str] = (),
    published: Iterable[Row] = (),
    note: str = "",
    is_drawn: bool = False,
    most_shown: int | None = None,
) -> Table:
    """Make a table of measured rows behind the rows of the paper; without a measured row it has no
    rows.

    Args:
        name: of the table.
        title: of the table.
        columns: headings of the figures.
        measured: figures of runs.
        runs: the runs that the figures are of, for the notes.
        groups: headings of the cells before those under `LABELS`.
        published: rows of the paper.
        note: name of its notes in ``notes.toml``; by default the name of the table.
        is_drawn: whether a figure goes with it.
        most_shown: how many rows are shown.
    """
    paper = [*published] if measured else []
    rows = [[*cells, *map(figures.get, columns)] for cells, figures in [*paper, *measured]]
    kinds = [PUBLISHED] * len(paper) + [MEASURED] * len(measured)
    lines = [*notes(note or name), *run_notes(runs)]
    return Table(
        name, title, (*groups, *LABELS, *columns), rows, lines, kinds, is_drawn, most_shown
    )


def run_table(
    name: str,
    title: str,
    runs: pd.DataFrame,
    figures: Mapping[str, Figure],
    *,
    groups: Mapping[str, str] | None = None,
    without: Sequence[str] = (),
    **options: Any,
) -> Table:
    """Make a table with a row per run.

    Args:
        name: of the table.
        title: of the table.
        runs: rows of `Records.runs`.
        figures: heading → what makes the cell of a run.
        groups: heading → column of the runs; these columns come first.
        without: parameters that the condition need not name.
        options: as of `make_table`.
    """
    groups = groups or {}
    measured: list[Row] = []
    order = [*groups.values(), "model", "condition", "data"]
    for number, run in (runs.sort_values(order) if len(runs) else runs).iterrows():
        first = [title_of(str(run[column])) for column in groups.values()]
        values = {heading: figure(number) for heading, figure in figures.items()}
        measured.append(([*first, *labels(run, without)], values))
    return make_table(name, title, [*figures], measured, runs, groups=groups, **options)


def condition_rows(
    runs: pd.DataFrame, without: Sequence[str] = ()
) -> list[tuple[list[Cell], pd.DataFrame]]:
    """Group runs of one model, condition and data, whatever their tasks: label cells, and the
    runs.
    """
    rows: dict[tuple[Any, ...], list[int]] = {}
    for number, run in (
        runs.sort_values(["model", "condition", "data"]).iterrows() if len(runs) else ()
    ):
        model, _, condition, data = labels(run, (*without, PARTIAL))
        rows.setdefault((model, condition, data), []).append(number)
    found = []
    for (model, condition, data), numbers in rows.items():
        group = runs.loc[numbers]
        source = "measured" if group["is_published_test"].all() else "measured †"
        suffix = "" if group["is_complete"].all() else f", {PARTIAL}"
        found.append(([model, source, condition + suffix, data], group))
    return found


def items_with(records: Records, run: int, column: str) -> pd.DataFrame:
    """Return the items of the main scorer of a run that have a value in a column."""
    items = records.main[run]
    return items.reindex(columns=[*{*items, column}]).dropna(subset=[column])


def share_of(flags: Iterable[bool], items: pd.DataFrame) -> Estimate | None:
    """Return the share of items with a property, from a flag per response, in percent."""
    found = estimate(
        [float(flag) for flag in flags], items["item"].tolist(), items["cluster"].tolist()
    )
    return found.percent() if found else None


def percent(found: Estimate | None, decimals: int = 1) -> Estimate | None:
    """Return a share in percent; None for none."""
    return found.percent(decimals) if found else None


def best_floor(floors: Mapping[str, Estimate]) -> Estimate | None:
    """Return the best of some floors; None without any."""
    return max(floors.values(), key=lambda floor: floor.value, default=None)


def gain(score: Estimate | None, floor: Estimate | None) -> Estimate | None:
    """Return how far a score is above a floor; the chance level, without an interval, is known
    exactly.
    """
    if score is None or floor is None:
        return None
    exact = replace(floor, low=floor.value, high=floor.value) if floor.low is None else floor
    return difference(score, exact)


def score_table(records: Records, section: str) -> Table:
    """Make the table of main metrics by task, in percent."""
    runs = records.current(section)
    tasks = list(dict.fromkeys(runs["task"]))
    rows: Rows = []
    for cells, group in condition_rows(runs):
        numbers = dict(zip(group["task"], group.index, strict=True))
        rows.append(
            [
                *cells,
                *(records.percent(numbers[task]) if task in numbers else None for task in tasks),
            ]
        )
    name = f"{runs['benchmark'].iloc[0]}_scores"
    metrics = [
        f"{title_of(run['task'])}: {run['main_metric'].rpartition('/')[2]}"
        for _, run in runs.iterrows()
    ]
    lines = ["; ".join(dict.fromkeys(metrics)) + ".", *run_notes(runs)]
    return Table(
        name, f"{section}: main metrics in percent", (*LABELS, *map(title_of, tasks)), rows, lines
    )


def third_party_table(records: Records, section: str) -> Table | None:
    """Make the table of accuracy over all tasks beside figures that others published; None without
    such figures.
    """
    runs = records.current(section)
    benchmark = runs["benchmark"].iloc[0]
    if THIRD_PARTY not in published_names(benchmark):
        return None
    rows = published(benchmark, THIRD_PARTY).rows
    note = f"{THIRD_PARTY}_reports" if "source" in rows[0].labels else THIRD_PARTY
    paper: list[Row] = []
    for row in rows:
        source = row.labels.get("source", "third party, 500 sampled")
        paper.append(
            (
                paper_labels(row.labels["model"], source),
                {"Accuracy": Estimate(row.figures["accuracy"])},
            )
        )
    measured: list[Row] = []
    for cells, group in condition_rows(runs):
        items = pd.concat([records.main[number].assign(stratum="") for number in group.index])
        measured.append((cells, {"Accuracy": percent(score_of(items))}))
    title = f"{section}: accuracy over all questions in percent, beside figures of a third party"
    made = make_table(
        f"{benchmark}_{THIRD_PARTY}",
        title,
        ["Accuracy"],
        measured,
        runs,
        published=paper,
        note=note,
    )
    denominator = load(benchmark).table.get("third_party_note")
    return replace(made, notes=[*made.notes, denominator]) if denominator else made


def protocols_table(records: Records, section: str) -> Table | None:
    """Make the table of scores by this project's reading of replies and by the authors'; None
    without the latter.
    """
    runs = records.current(section)
    runs = runs[[records.score(run, OFFICIAL) is not None for run in runs.index]]
    if not len(runs):
        return None
    answers = records.items[records.items["run"].isin(runs.index)].pivot_table(
        index=["run", "sample", "epoch"], columns="scorer", values="value", aggfunc="first"
    )
    differs = (answers["strict_choice"] != answers["official_choice"]).groupby("run").mean()
    figures: Figures = {
        "Strict": partial(records.percent, metric=STRICT),
        "Official": partial(records.percent, metric=OFFICIAL),
        "Official, read": lambda run: percent(
            records.score(run, f"{OFFICIAL.partition('/')[0]}/answered")
        ),
        "Read otherwise": lambda run: Estimate(100 * float(differs[run]), decimals=1),
    }
    for heading, metric in (
        ("Strict, vote", "strict_choice/vote"),
        ("Official, vote", "official_choice/vote"),
    ):
        if any(records.score(run, metric) for run in runs.index):
            figures[heading] = partial(records.percent, metric=metric)
    name, title = (
        f"{runs['benchmark'].iloc[0]}_protocols",
        f"{section}: scores by two readings of replies, in percent",
    )
    return run_table(name, title, runs, figures, groups={"Task": "task"}, note="protocols")


def tags_table(records: Records, section: str) -> Table | None:
    """Make the table of the main metric by tags of the questions, such as their difficulty; None
    without tags.
    """
    scores = records.scores
    runs = records.current(section)
    rows = scores[scores["run"].isin(runs.index) & scores["group"].str.startswith("tag=", na=False)]
    groups = sorted(rows["group"].unique())
    if not groups:
        return None
    figures: Figures = {
        group.removeprefix("tag="): partial(records.percent, group=group) for group in groups
    }
    tagged = runs.loc[[number for number in runs.index if number in {*rows["run"]}]]
    name, title = (
        f"{runs['benchmark'].iloc[0]}_tags",
        f"{section}: scores by group of questions, in percent",
    )
    return run_table(name, title, tagged, figures, groups={"Task": "task"}, note="tags")


def floors_table(records: Records, section: str) -> Table | None:
    """Make the table of scores beside their floors, and of the gains over the best floor; None
    without floors.
    """
    runs = records.current(section)
    runs = runs[[bool(records.floors(number)) for number in runs.index]]
    if not len(runs):
        return None
    kinds = list(dict.fromkeys(kind for number in runs.index for kind in records.floors(number)))
    figures: Figures = {"Score": records.percent}
    for kind in kinds:
        figures[f"{FLOOR}: {kind}"] = lambda run, kind=kind: percent(records.floors(run).get(kind))  # type: ignore[misc]
    figures["Gain"] = lambda run: percent(gain(records.score(run), best_floor(records.floors(run))))
    name, title = (
        f"{runs['benchmark'].iloc[0]}_floors",
        f"{section}: scores, floors and gains in percent",
    )
    if ": " in section:
        name = name.replace("_floors", f"_{section.partition(': ')[2]}_floors")
    return run_table(name, title, runs, figures, groups={"Task": "task"}, note="gain")


def replies_table(records: Records, section: str) -> Table | None:
    """Make the table of how the replies of each run were read; None if no scorer says so."""
    runs = records.current(section)
    runs = runs[["reading" in records.main[number] for number in runs.index]]
    if not len(runs):
        return None

    def share(status: str, run: int) -> Cell:
        readings = records.main[run]["reading"]
        return Estimate(100 * float((readings == status).mean()), n=len(readings), decimals=1)

    figures: Figures = {title_of(status): partial(share, status) for status in STATUSES}
    beside = [name for name in _BESIDE if any(_beside(records, run, name) for run in runs.index)]
    for heading in beside:
        figures[heading] = partial(_beside, records, heading=heading)
    figures["Errors"] = lambda run: count(records.runs.at[run, "errors"])
    name = f"{runs['benchmark'].iloc[0]}_replies"
    title = f"{section}: how replies were read, in percent"
    table = run_table(name, title, runs, figures, groups={"Task": "task"}, note="replies")
    if beside:
        table = replace(table, notes=[*table.notes, *notes("replies_beside")])
    return table


def _beside(records: Records, run: int, heading: str) -> Estimate | None:
    """Another figure of the main scorer of a run, in percent."""
    scorer = records.runs.at[run, "main_metric"].partition("/")[0]
    return records.percent(run, f"{scorer}/{_BESIDE[heading]}")


def cost_table(records: Records) -> Table:
    """Make the table of medians and 90th percentiles of output tokens and seconds of a response."""
    rows: Rows = []
    runs = records.current()
    for number, run in runs.iterrows():
        responses = records.main[number].drop_duplicates(["sample", "epoch"])
        score, names = records.percent(number), labels(run)
        quantiles = [
            _quantile(responses, name, share)
            for name in ("tokens", "seconds")
            for share in (0.5, 0.9)
        ]
        rows.append(
            [
                run["section"],
                title_of(run["task"]),
                *names,
                score,
                count(len(responses)),
                *quantiles,
            ]
        )
    quantile_names = (
        "Tokens, median",
        "Tokens, 90th percentile",
        "Seconds, median",
        "Seconds, 90th percentile",
    )
    columns = ("Benchmark", "Task", *LABELS, "Score (%)", "Responses", *quantile_names)
    return Table("costs", "Output tokens and time", columns, rows, notes("costs"))


def _quantile(responses: pd.DataFrame, name: str, share: float) -> Estimate | None:
    """A quantile with a distribution-free interval; None without values."""
    from scipy import stats

    values = responses[name].dropna().to_numpy() if name in responses else np.array([])
    if not len(values):
        return None
    ends = [float(end) for end in stats.quantile_test(values, p=share).confidence_interval()]
    low, high = (None, None) if np.isnan(ends).any() else ends
    return Estimate(
        float(np.quantile(values, share)), low, high, len(values), 0 if name == "tokens" else 2
    )
