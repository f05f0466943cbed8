"""What the tables of all benchmarks share: the columns that name a run, notes on runs, and three
tables.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from music_evals.benchmarks import load, published, published_names
from music_evals.reports.answers import answer_lines
from music_evals.reports.records import PARTIAL, Records, score_of
from music_evals.reports.table import (
    FLOOR,
    MEASURED,
    PUBLISHED,
    Cell,
    Table,
    count,
    floor_notes,
    notes,
)
from music_evals.scorers.metrics.estimates import Estimate, difference, estimate
from music_evals.scorers.readers import STATUSES

STRICT = "strict_choice/accuracy"
OFFICIAL = "official_choice/accuracy"
MOST_UNREAD = 0.05
"""The share of unread replies above which a note says what to do."""
_BESIDE = {
    "Acc2": "acc2",
    "CER": "cer",
    "WER": "wer",
    "WER with case": "wer_case",
    "F1, punctuation": "f1_punc",
    "F1, brackets": "f1_pare",
    "F1, lines": "f1_line",
    "F1, sections": "f1_sect",
    "At the limit": "cut",
    "Too long": "too_long",
    "Commonest answer": "commonest_answer",
    "Commonest key": "commonest_key",
    "Position bias": "position_bias",
    "By rules": "accuracy_by_rules",
    "Read again": "read_again",
    "Reader failed": "reader_failed",
    "Reader invents": "reader_invents",
    "BLEU": "bleu",
    "Right option": "probability",
    "All options": "options_mass",
}
"""Columns of the table of replies, and the metrics of a main scorer that only some runs have."""
_BY_MODELS = ("By rules", "Right option")
THIRD_PARTY = "third_party"
"""The published table of figures that are not the authors'."""
LABELS = ("Model", "Source", "Condition", "Data")
"""Headings of the columns that name a run, or a row of a paper."""
_OPTIONAL = ("Data", "Condition")
NOT_PUBLISHED = (
    "† Not the paper's test, and not to be compared with its figures: other data, another protocol "
    "or condition, or a part of the items, as the row says."
)

_FEW_CLUSTERS = 20
_TAIL = (1 - 0.95) / 2
_TITLES = {
    "zero": "Zero-shot",
    "few": "Few-shot",
    "midi": "MIDI",
    "metadata_qa": "Metadata QA",
    "wer": "WER",
    "judge_j": "Judge's J",
    "cer": "CER",
    "source": "Sound source",
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
    if not len(runs):
        return []
    lines = ["Measured figures are followed by their 95% interval; n is the number of items."]
    if not runs["is_published_test"].all():
        lines.append(NOT_PUBLISHED)
    explained, reader = notes("unread")
    if (runs["unread"] > 0).any():
        lines.append(explained)
    lines += unread_advice(runs)
    is_collapsed = runs["collapse"].map(lambda found: bool(found and found.is_collapsed))
    names = (runs["task"] + ", " + runs["model"])[is_collapsed]
    if len(names):
        lines.append(f"Answer collapse (see how replies were read): {'; '.join(names)}.")
    if runs["has_reader"].any():
        lines.append(reader)
    few = runs[runs["clusters"] < runs["n"].clip(upper=_FEW_CLUSTERS)]
    lines += dict.fromkeys(_few_clusters_note(run) for _, run in few.iterrows())
    for _, run in runs[runs["replaced"] > 0].iterrows():
        lines.append(
            f"{run['task']}, {run['model']}, {run['condition']}: of {run['replaced'] + 1} runs "
            "alike, the most complete, largest and newest counts: that of "
            f"{run['created']:%Y-%m-%d %H:%M}."
        )
    return lines


def _few_clusters_note(run: pd.Series) -> str:
    width = "no interval" if run["clusters"] == 1 else "a wide interval"
    return (
        f"{run['task']}: the {run['n']} questions are on {run['clusters']} pieces, scores or in as "
        f"many chats, so that a score has {width}."
    )


def unread_advice(runs: pd.DataFrame) -> list[str]:
    """Return what to do about runs of which more than `MOST_UNREAD` of the replies are unread, or
    in which a reader failed.
    """
    many = runs[runs["unread"] - runs["too_long"].fillna(0) > MOST_UNREAD]
    is_likelihood = many.get("answer", pd.Series("text", many.index)) == "likelihood"
    advice: list[str] = []
    if not is_likelihood.all():
        advice += notes("unread_text")
    if is_likelihood.any():
        advice += notes("unread_likelihood")
    if (runs["too_long"] > 0).any():
        advice += notes("too_long")
    if runs["reader_errors"].any():
        advice += notes("reader_errors")
    return advice


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
    headings = (*groups, *LABELS, *columns)
    return Table(
        name, title, headings, rows, lines, kinds, is_drawn, most_shown, optional=_OPTIONAL
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
    measured = []
    if len(runs):
        for number, run in in_order(runs, *groups.values()).iterrows():
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
    if not len(runs):
        return []
    by_labels: dict[tuple[Cell, ...], list[int]] = {}
    for number, run in in_order(runs).iterrows():
        model, _, condition, data = labels(run, (*without, PARTIAL))
        by_labels.setdefault((model, condition, data), []).append(number)
    rows = []
    for (model, condition, data), numbers in by_labels.items():
        group = runs.loc[numbers]
        source = "measured" if group["is_published_test"].all() else "measured †"
        suffix = "" if group["is_complete"].all() else f", {PARTIAL}"
        rows.append(([model, source, f"{condition}{suffix}", data], group))
    return rows


def in_order(runs: pd.DataFrame, *groups: str) -> pd.DataFrame:
    """Return runs in the order of tables: by groups, then by model, the best first in a report."""
    columns = [*groups, "rank", "model", "condition", "data"]
    return runs.sort_values([name for name in columns if name in runs])


def items_with(records: Records, run: int, column: str) -> pd.DataFrame:
    """Return the items of the main scorer of a run that have a value in a column."""
    items = records.main[run]
    return items.reindex(columns=[*{*items, column}]).dropna(subset=[column])


def share_of(flags: Iterable[bool], items: pd.DataFrame) -> Estimate | None:
    """Return the share of items with a property, from a flag per response, in percent."""
    items, clusters = items["item"].tolist(), items["cluster"].tolist()
    return percent(estimate([*map(float, flags)], items, clusters))


def percent(share: Estimate | None) -> Estimate | None:
    """Return a share in percent; None for none."""
    return share and share.percent()


def best_floor(floors: Mapping[str, Estimate]) -> Estimate | None:
    """Return the best of some floors, with its name; None without any."""
    if not floors:
        return None
    name = max(floors, key=lambda kind: floors[kind].value)
    return replace(floors[name], name=name)


def gain(score: Estimate | None, floor: Estimate | None) -> Estimate | None:
    """Return how far a score is above a floor; the chance level, without an interval, is known
    exactly.
    """
    if score is None or floor is None:
        return None
    if floor.low is None:
        floor = replace(floor, low=floor.value, high=floor.value)
    return difference(score, floor)


def score_table(records: Records, benchmark: str) -> Table:
    """Make the table of main metrics by task, in percent, of a benchmark without its own tables."""
    runs = records.current(benchmark)
    tasks = list(dict.fromkeys(runs["task"]))
    if any(records.score(run, "typed_answer/judge_j") for run in runs.index):
        tasks.append("judge_j")
    rows = []
    for cells, group in condition_rows(runs):
        scores = {run["task"]: records.percent(number) for number, run in group.iterrows()}
        scores["judge_j"] = records.percent(group.index[0], "typed_answer/judge_j")
        rows.append([*cells, *map(scores.get, tasks)])
    metrics = [
        f"{title_of(run['task'])}: {run['main_metric'].rpartition('/')[2]}"
        for _, run in runs.iterrows()
    ]
    lines = ["; ".join(dict.fromkeys(metrics)) + ".", *notes(f"{tasks[-1]}_note"), *run_notes(runs)]
    title = f"{load(benchmark).title}: main metrics in percent"
    columns = (*LABELS, *map(title_of, tasks))
    return Table(f"{benchmark}_scores", title, columns, rows, lines, optional=_OPTIONAL)


def third_party_table(records: Records, benchmark: str) -> Table | None:
    """Make the table of accuracy over all tasks beside figures that others published; None without
    such figures.

    If they published no accuracy, each of their columns is named after a task or a metric.
    """
    if THIRD_PARTY not in published_names(benchmark):
        return None
    rows = published(benchmark, THIRD_PARTY).rows
    note = THIRD_PARTY if len(rows[0].labels) == 1 else f"{THIRD_PARTY}_reports"
    names = [*rows[0].figures]
    if "accuracy" in names:
        names = ["accuracy"]
    paper = []
    for row in rows:
        # A task may be called "source", as NSynth's.
        origin = row.labels.get("origin", "third party, 500 sampled")
        source = row.labels.get("source", origin)
        figures = {title_of(name): Estimate(value) for name, value in row.figures.items()}
        paper.append((paper_labels(row.labels["model"], source), figures))
    runs = records.current(benchmark)
    measured = []
    for cells, group in condition_rows(runs):
        measured.append(
            (cells, {title_of(name): _measured(records, group, name) for name in names})
        )
    table = make_table(
        f"{benchmark}_{THIRD_PARTY}",
        f"{load(benchmark).title}: {', '.join(names)} over all questions in percent, beside "
        "figures of a third party",
        [*map(title_of, names)],
        measured,
        runs,
        published=paper,
        note=note,
    )
    denominator = load(benchmark).table.get("third_party_note")
    return replace(table, notes=[*table.notes, denominator]) if denominator else table


def _measured(records: Records, group: pd.DataFrame, name: str) -> Estimate | None:
    """What stands beside a published figure: accuracy, the score of a task, or a metric."""
    if name == "accuracy":
        items = pd.concat([records.main[number].assign(stratum="") for number in group.index])
        return percent(score_of(items))
    for number, run in group.iterrows():
        scorer = run["main_metric"].partition("/")[0]
        metric = "" if run["task"] == name else f"{scorer}/{name}"
        if figure := records.percent(number, metric):
            return figure
    return None


def protocols_table(records: Records, benchmark: str) -> Table | None:
    """Make the table of scores by this project's reading of replies and by the authors'; None
    without the latter.
    """
    runs = records.current(benchmark)
    runs = runs[[records.score(run, OFFICIAL) is not None for run in runs.index]]
    if not len(runs):
        return None
    answers = pd.concat([records.by_run[run] for run in runs.index]).pivot_table(
        index=["run", "sample", "epoch"], columns="scorer", values="value", aggfunc="first"
    )
    differs = (answers["strict_choice"] != answers["official_choice"]).groupby("run").mean()
    figures: Figures = {
        "Strict": partial(records.percent, metric=STRICT),
        "Official": partial(records.percent, metric=OFFICIAL),
        "Official, read": partial(records.percent, metric="official_choice/answered"),
        "Read otherwise": lambda run: Estimate(100 * float(differs[run]), decimals=1),
    }
    for reading in ("strict", "official"):
        metric = f"{reading}_choice/vote"
        if any(records.score(run, metric) for run in runs.index):
            figures[f"{reading.capitalize()}, vote"] = partial(records.percent, metric=metric)
    title = "scores by two readings of replies, in percent"
    return _task_table(benchmark, "protocols", title, runs, figures)


def _task_table(
    benchmark: str, name: str, title: str, runs: pd.DataFrame, figures: Figures, note: str = ""
) -> Table:
    """A table that every benchmark may have, with a row per run."""
    return run_table(
        f"{benchmark}_{name}",
        f"{load(benchmark).title}: {title}",
        runs,
        figures,
        groups={"Task": "task"},
        note=note or name,
    )


def tags_table(records: Records, benchmark: str) -> Table:
    """Make the table of the main metric by tags of the questions, such as their difficulty."""
    runs, scores = records.current(benchmark), records.scores
    rows = scores[scores["run"].isin(runs.index) & scores["group"].str.startswith("tag=", na=False)]
    figures: Figures = {
        group.removeprefix("tag="): partial(records.percent, group=group)
        for group in sorted(rows["group"].unique())
    }
    title = "scores by group of questions, in percent"
    return _task_table(benchmark, "tags", title, runs[runs.index.isin(rows["run"])], figures)


def floors_table(records: Records, benchmark: str) -> Table:
    """Make the table of scores beside their floors, and of the gains over the best floor."""
    runs = records.current(benchmark)
    floors = {number: records.floors(number) for number in runs.index}
    figures: Figures = {"Score": records.percent}
    for kind in dict.fromkeys(chain.from_iterable(floors.values())):
        figures[f"{FLOOR}: {kind}"] = lambda run, kind=kind: percent(floors[run].get(kind))  # type: ignore[misc]
    figures["Gain"] = lambda run: percent(gain(records.score(run), best_floor(floors[run])))
    name, title = f"{part_of_title(benchmark)}floors", "scores, floors and gains in percent"
    runs = runs[[bool(floors[number]) for number in runs.index]]
    table = _task_table(benchmark, name, title, runs, figures, "gain")
    kinds = chain.from_iterable(floors.values())
    return replace(table, notes=[*floor_notes(kinds), *table.notes])


def part_of_title(benchmark: str) -> str:
    """Return which part of a larger benchmark one is, if its title says so: ``generation_``."""
    part = load(benchmark).title.partition(": ")[2]
    return f"{part}_" if part else ""


def replies_table(records: Records, benchmark: str) -> Table:
    """Make the table of how the replies of each run were read, if its scorer says so, and of what
    the answers show.
    """
    runs = records.current(benchmark)
    runs = runs[["reading" in records.main[number] for number in runs.index]]

    def share(status: str, run: int) -> Cell:
        readings = records.main[run]["reading"]
        return Estimate(100 * float((readings == status).mean()), n=len(readings), decimals=1)

    def beside(metric: str, run: int) -> Estimate | None:
        scorer = records.runs.at[run, "main_metric"].partition("/")[0]
        return records.percent(run, f"{scorer}/{metric}")

    figures: Figures = {title_of(status): partial(share, status) for status in STATUSES}
    for heading, metric in _BESIDE.items():
        if any(beside(metric, run) for run in runs.index):
            figures[heading] = partial(beside, metric)
    figures["Errors"] = lambda run: count(records.runs.at[run, "errors"])
    figures["No score"] = lambda run: count(records.runs.at[run, "unscored"])
    lines = answer_lines(runs)
    if any(name in figures for name in _BY_MODELS):
        lines += notes("replies_beside")
    table = _task_table(
        benchmark,
        "replies",
        "how replies were read, and further figures, in percent",
        runs,
        figures,
    )
    return replace(table, notes=[*table.notes, *lines])


_AMOUNTS = (
    ("Tokens, median", "tokens", 0.5),
    ("Tokens, 90th percentile", "tokens", 0.9),
    ("Seconds, median", "seconds", 0.5),
    ("Seconds, 90th percentile", "seconds", 0.9),
)
"""Heading, column of the items, and quantile."""


def cost_table(records: Records) -> Table:
    """Make the table of medians and 90th percentiles of output tokens and seconds of a response."""
    rows = []
    for number, run in records.current().iterrows():
        items = records.main[number]
        responses = items.loc[~items.duplicated(["sample", "epoch"]), :]
        quantiles = [_quantile(responses, column, share) for _, column, share in _AMOUNTS]
        first = [run["section"], title_of(run["task"]), *labels(run), records.percent(number)]
        rows.append([*first, count(len(responses)), *quantiles])
    headings = [heading for heading, *_ in _AMOUNTS]
    columns = ("Benchmark", "Task", *LABELS, "Score (%)", "Responses", *headings)
    return Table(
        "costs", "Output tokens and time", columns, rows, notes("costs"), optional=_OPTIONAL
    )


def _quantile(responses: pd.DataFrame, column: str, share: float) -> Estimate | None:
    """A quantile with a distribution-free interval; None without values."""
    values = np.sort(responses.get(column, pd.Series(dtype=float)).dropna().to_numpy())
    if not len(values):
        return None
    first, last = _quantile_places(len(values), share)
    low = high = None
    if first >= 0 and last < len(values):
        low, high = float(values[first]), float(values[last])
    quantile = float(np.quantile(values, share))
    return Estimate(quantile, low, high, len(values), 0 if column == "tokens" else 2)


@cache
def _quantile_places(n: int, share: float) -> tuple[int, int]:
    """The places of the ends of the interval among so many sorted values.

    Source: W. J. Conover, "Practical Nonparametric Statistics" (1999), section 3.2.
    """
    from scipy import stats

    below = stats.binom(n, share)
    return int(below.ppf(_TAIL)) - 1, int(below.isf(_TAIL))
