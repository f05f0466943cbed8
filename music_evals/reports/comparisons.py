"""Comparisons of runs on the same items: between models, between conditions, with and without the
music.

Two runs are paired item by item, within a task and the same data. Values, clusters and strata are
those of the main metric, so that a difference is that of the two scores over the items that both
have. Each table is a family of its own for Holm's correction; rows with a baseline are another one,
so that a baseline changes no p of two models.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import isnan
from typing import Any, Final, NamedTuple

import pandas as pd

from music_evals.benchmarks import load
from music_evals.reports.records import Records
from music_evals.reports.run_metadata import DEFAULT
from music_evals.reports.table import P_DECIMALS, Cell, Rows, Table, count, notes
from music_evals.reports.tables.common import run_notes
from music_evals.scorers.metrics.estimates import Estimate
from music_evals.scorers.metrics.paired import Comparison, compare, holm
from music_evals.scorers.metrics.power import LEVEL, detectable_difference

ARMS: Final = {"stimulus": "given", "twin": "original"}
"""Parameters with tables of their own, and the value that the others are compared with."""

_LATER: Final = {"answer": "text"}
"""Parameters that logs of earlier versions lack, and their defaults."""
_NOT_FACTORS: Final = frozenset(("dataset", "media", "pictures", "cache", "human_labels", *ARMS))
_LABELS: Final = ("Benchmark", "Task", "Model", "Condition", "Data")
OUTCOMES: Final = (
    "First",
    "Second",
    "Difference",
    "Detectable",
    "p",
    "p (Holm)",
    "Test",
    "Left out",
    "Verdict",
)
BASELINE: Final = "baseline/"
"""How names of models begin that are programs."""
_NEAR: Final = 0.03  # the largest difference of scores that count as equal


@dataclass(frozen=True)
class PairedRun:
    """A run as comparisons take it.

    Args:
        number: of the run.
        questions: what is equal for runs that ask the same questions.
        factors: what it may differ in from others, as words.
        scores: index: pair; ``value``, the mean over epochs, ``cluster`` and ``stratum``.
    """

    number: int
    questions: tuple[str, ...]
    factors: Mapping[str, str]
    scores: pd.DataFrame

    def rest(self, factor: str) -> tuple[Any, ...]:
        """Return what must be equal where only one factor may differ."""
        others = {name: value for name, value in self.factors.items() if name != factor}
        return self.questions, tuple(sorted(others.items()))


class PairedRow(NamedTuple):
    """A row of a table of comparisons.

    Args:
        labels: its first cells, with the means of both runs.
        comparison: how the runs differ.
        left_out: how many questions only one of the two has.
        has_baseline: whether one of the two is a baseline.
    """

    labels: Sequence[Cell]
    comparison: Comparison
    left_out: int
    has_baseline: bool


def paired_runs(records: Records) -> list[PairedRun]:
    """Return all current runs as comparisons take them."""
    runs = records.runs[records.runs["is_current"]]
    return [_paired_run(records, number, run) for number, run in runs.iterrows()]


def _paired_run(records: Records, number: int, run: pd.Series) -> PairedRun:
    items = records.main[number]
    counted = items[items["counts"] & items["value"].notna()]
    columns = {
        "value": ("value", "mean"),
        "cluster": ("cluster", "first"),
        "stratum": ("stratum", "first"),
    }
    factors = {name: words for name, words in run["params"].items() if name not in _NOT_FACTORS}
    factors |= {name: run["params"].get(name, value) for name, value in {**ARMS, **_LATER}.items()}
    factors |= {"model": run["model"], **dict(word.split("=", 1) for word in run["settings"])}
    questions = [run["benchmark"], run["data"], run["task"]]
    if same := _facts(run["benchmark"]).get("same_questions"):
        factors[same] = questions.pop()
    return PairedRun(number, tuple(questions), factors, counted.groupby("pair").agg(**columns))


def _facts(benchmark: str) -> Mapping[str, Any]:
    """What ``benchmark.toml`` says of comparisons."""
    facts: Mapping[str, Any] = load(benchmark).table.get("comparisons", {})
    return facts


def comparison_tables(records: Records) -> list[Table]:
    """Make the tables of comparisons: the music and twins, then models and conditions of each
    section.
    """
    runs = paired_runs(records)
    probes = [run for run in runs if run.factors["twin"] == "completion"]
    runs = [run for run in runs if run not in probes]
    made = [_arms_table(records, runs, "stimulus"), _arms_table(records, [*runs, *probes], "twin")]
    plain = [run for run in runs if all(run.factors[name] == value for name, value in ARMS.items())]
    for section in dict.fromkeys(records.runs["section"]):
        own = [run for run in plain if records.runs.at[run.number, "section"] == section]
        made += [_models_table(records, section, own), _conditions_table(records, section, own)]
        made.append(_effects_table(records, section, own))
    return [table for table in made if table.rows]


def compared(records: Records, first: str, second: str) -> Table:
    """Pair two models, or two conditions, on the questions that both were asked, all else being
    equal.

    Args:
        records: of the logs.
        first: a model, or its name behind the provider; or a condition, ``PARAMETER=VALUE``, also
            with its default.
        second: another one of the same kind.

    Raises:
        ValueError: nothing is what one of them says, or they have no questions in common.
    """
    runs = paired_runs(records)
    found = [[run for run in runs if _is_called(run, name)] for name in (first, second)]
    for name, matching in zip((first, second), found, strict=True):
        if not matching:
            models = ", ".join(sorted({run.factors["model"] for run in runs}))
            raise ValueError(
                f"no run is of {name}; a model or PARAMETER=VALUE is needed; models: {models}"
            )
    factor = "model" if _is_model(found[0][0], first) else first.partition("=")[0]
    names = [name for name in _LABELS if name != "Model" or factor != "model"]
    rows = [
        row
        for one, other in product(*found)
        if one.number != other.number and one.rest(factor) == other.rest(factor)
        if (row := paired_row(one, other, [*map(run_labels(records, one).get, names)]))
    ]
    if not rows:
        raise ValueError(
            f"{first} and {second} were not asked the same questions under the same conditions"
        )
    title = f"{first} and {second} on the same questions, in percent"
    return Table(
        "compared",
        title,
        (*names, first, second, *OUTCOMES[2:]),
        paired_cells(rows),
        notes("tests"),
    )


def _is_called(run: PairedRun, name: str) -> bool:
    factor, is_condition, value = name.partition("=")
    return _is_model(run, name) or (bool(is_condition) and run.factors.get(factor) == value)


def _is_model(run: PairedRun, name: str) -> bool:
    """Whether a run is of a model, whose name may hold arguments: ``org/model [dtype=float16]``."""
    return run.factors["model"] == name or run.factors["model"].endswith(f"/{name}")


def _arms_table(records: Records, runs: Sequence[PairedRun], factor: str) -> Table:
    """Runs with the base value of a factor beside those with another one."""
    rows, probes = [], []
    for group in _grouped(runs, lambda run: run.rest(factor)):
        by_value = {run.factors[factor]: run for run in group}
        base = by_value.pop(ARMS[factor], None)
        for value, run in by_value.items():
            labels = [*run_labels(records, base or run).values(), value]
            if value == "completion":
                probes.append(
                    [*labels, None, records.percent(run.number), *[None] * (len(OUTCOMES) - 2)]
                )
            elif base and (row := paired_row(run, base, labels)):
                rows.append(row)
    cells = [[*row[:6], row[7], row[6], *row[8:]] for row in paired_cells(rows)]
    columns = (*_LABELS, "Compared with", ARMS[factor].capitalize(), "Other", *OUTCOMES[2:])
    name, cause = {"stimulus": ("music", "the music"), "twin": ("memory", "memory")}[factor]
    return Table(
        name, f"What {cause} contributes, in percent", columns, [*cells, *probes], notes(name)
    )


def _models_table(records: Records, section: str, runs: Sequence[PairedRun]) -> Table:
    """Models under the same condition, on the same questions."""
    rows = []
    for group in _grouped(runs, lambda run: run.rest("model")):
        for first, second in combinations(sorted(group, key=lambda run: run.factors["model"]), 2):
            labels = map(run_labels(records, first).get, ("Task", "Condition", "Data", "Model"))
            rows.append(paired_row(first, second, [*labels, second.factors["model"]]))
    columns = ("Task", "Condition", "Data", "First model", "Second model", *OUTCOMES)
    return _tests(records, section, "models", columns, rows)


def _conditions_table(records: Records, section: str, runs: Sequence[PairedRun]) -> Table:
    """Conditions of one model that differ in one factor."""
    rows = []
    for factor, first, second in _contrasts(records, runs):
        labels = map(run_labels(records, first, factor).get, ("Task", "Model", "Condition", "Data"))
        values = [factor, first.factors[factor], second.factors[factor]]
        rows.append(paired_row(first, second, [*labels, *values]))
    columns = ("Task", "Model", "Else", "Data", "Factor", "First value", "Second value", *OUTCOMES)
    return _tests(records, section, "conditions", columns, rows)


def _effects_table(records: Records, section: str, runs: Sequence[PairedRun]) -> Table:
    """Effects of crossed factors, pooled over models, tasks and the other factors; baselines are
    left out.
    """
    rows = []
    benchmark = records.runs.at[runs[0].number, "benchmark"] if runs else "muse"
    if _facts(benchmark).get("crossed"):
        models = [run for run in runs if not _is_baseline(run)] or runs
        contrasts = [
            (factor, first.factors[factor], second.factors[factor], first, second)
            for factor, first, second in _contrasts(records, models)
        ]
        for group in _grouped(contrasts, lambda contrast: contrast[:3]):
            pairs = [
                _joined(first, second).assign(task=first.questions[-1])
                for *_, first, second in group
            ]
            scores = pd.concat(pairs)
            has_baseline = any(_is_baseline(first) for *_, first, _ in group)
            trials = [*zip(scores["task"], scores.index, strict=True)]
            labels = [
                *group[0][:3],
                ", ".join(sorted({first.factors["model"] for *_, first, _ in group})),
            ]
            rows.append(_row(scores.assign(cluster=trials, stratum=""), labels, has_baseline))
    columns = ("Effect", "First value", "Second value", "Models", *OUTCOMES)
    return _tests(records, section, "effects", columns, rows)


def _contrasts(
    records: Records, runs: Sequence[PairedRun]
) -> Iterator[tuple[str, PairedRun, PairedRun]]:
    """The pairs of runs of a model on the same questions that differ in one factor, in the order of
    its values.
    """
    for group in _grouped(runs, lambda run: (run.questions, run.factors["model"])):
        for first, second in combinations(group, 2):
            shared = first.factors.keys() & second.factors.keys()
            differing = [name for name in shared if first.factors[name] != second.factors[name]]
            if len(differing) == 1:
                (factor,) = differing
                order = (
                    _facts(records.runs.at[first.number, "benchmark"])
                    .get("orders", {})
                    .get(factor, [])
                )
                ordered = sorted((first, second), key=lambda run: _rank(run.factors[factor], order))
                yield factor, *ordered


def _rank(value: str, order: Sequence[str]) -> tuple[int, float, str]:
    number = float(value) if value.replace(".", "", 1).isdigit() else 0.0
    return order.index(value) if value in order else len(order), number, value


def paired_row(first: PairedRun, second: PairedRun, labels: Sequence[Cell]) -> PairedRow | None:
    """Return labels, both means, and how two runs differ; None where they have no question in
    common.
    """
    return _row(_joined(first, second), labels, _is_baseline(first) or _is_baseline(second))


def _is_baseline(run: PairedRun) -> bool:
    return run.factors["model"].startswith(BASELINE)


def _joined(first: PairedRun, second: PairedRun) -> pd.DataFrame:
    """The questions of two runs: their values, ``value`` and ``later``, and the coarser clusters of
    the two.
    """
    coarser = min((first.scores, second.scores), key=lambda scores: scores["cluster"].nunique())
    columns = {"value": first.scores["value"], "later": second.scores["value"]}
    return pd.DataFrame({**columns, "cluster": coarser["cluster"], "stratum": coarser["stratum"]})


def _row(scores: pd.DataFrame, labels: Sequence[Cell], has_baseline: bool) -> PairedRow | None:
    from music_evals.scorers.metrics.clustered import macro_mean

    pairs = scores.dropna(subset=["value", "later"])
    if not len(pairs):
        return None
    strata = pairs["stratum"].tolist()
    means = [
        Estimate(macro_mean(pairs[name].tolist(), strata), n=len(pairs)).percent()
        for name in ("value", "later")
    ]
    values, later = (pairs[name].to_numpy() for name in ("value", "later"))
    comparison = compare(values, later, pairs["cluster"].tolist(), strata)
    return PairedRow([*labels, *means], comparison, len(scores) - len(pairs), has_baseline)


def run_labels(records: Records, run: PairedRun, without: str = "") -> dict[str, Cell]:
    """Return what `_LABELS` say of a run; its condition without a factor."""
    row = records.runs.loc[run.number]
    words = [word for word in row["words"] if word.partition("=")[0] not in {without, *ARMS}]
    labels = [row["section"], row["task"], row["model"], ", ".join(words) or DEFAULT, row["data"]]
    return dict(zip(_LABELS, labels, strict=True))


def paired_cells(rows: Sequence[PairedRow]) -> Rows:
    """Return the cells of a table of paired rows, whose p are corrected together; rows with
    baselines apart.
    """
    corrected: dict[int, float] = {}
    for family in (True, False):
        places = [place for place, row in enumerate(rows) if row.has_baseline is family]
        corrected |= dict(
            zip(places, holm([rows[place].comparison.p for place in places]), strict=True)
        )
    cells: Rows = []
    for place, row in enumerate(rows):
        found, p = row.comparison, corrected[place]
        difference = Estimate(found.difference).percent()
        if (found.low > 0 or found.high < 0) != (found.p < LEVEL):
            difference = replace(difference, mark="‡")
        elif not isnan(found.low):
            difference = Estimate(found.difference, found.low, found.high).percent()
        least = detectable_difference(found.error, found.freedom)
        detectable = None if isnan(least) else Estimate(least).percent()
        ps = [Estimate(one, decimals=P_DECIMALS) for one in (found.p, p)]
        verdict = _verdict(found, p)
        cells.append(
            [*row.labels, difference, detectable, *ps, found.test, count(row.left_out), verdict]
        )
    return cells


def _verdict(found: Comparison, p: float) -> str:
    """What a comparison says, given its corrected p."""
    is_near = max(abs(found.low), abs(found.high)) <= _NEAR
    near = f"at most {100 * _NEAR:.0f} points apart"
    if p < LEVEL:
        return f"differ, {near}" if is_near else "differ"
    return near if is_near else "too few questions to tell"


def _tests(
    records: Records,
    section: str,
    what: str,
    columns: Sequence[str],
    rows: Sequence[PairedRow | None],
) -> Table:
    runs = records.current(section)
    name = f"tests_{what}_{runs['benchmark'].iloc[0]}" if len(runs) else f"tests_{what}"
    name += f"_{section.partition(': ')[2]}" if ": " in section else ""
    title = {"effects": f"{section}: effects of crossed factors"}.get(
        what, f"{section}: tests between {what}"
    )
    found = [row for row in rows if row]
    return Table(
        name,
        title,
        columns,
        paired_cells(found),
        [*notes("effects" if what == "effects" else "tests"), *run_notes(runs)],
    )


def _grouped(values: Sequence[Any], key: Any) -> list[list[Any]]:
    groups: dict[Any, list[Any]] = {}
    for value in values:
        groups.setdefault(key(value), []).append(value)
    return list(groups.values())
