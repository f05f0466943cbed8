"""Comparisons of runs on the same items: between models, between conditions, with and without the
music.

Two runs are paired item by item, within a task and the same data. Values, clusters and strata are
those of the main metric, so that a difference is that of the two scores over the items that both
have. Each table is a family of its own for Holm's correction; rows with a baseline are another one,
so that a baseline changes no p of two models.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import comb, isnan
from typing import Any, NamedTuple

import pandas as pd

from music_evals.benchmarks import load
from music_evals.notation.grouping import group_by
from music_evals.reports.records import Records
from music_evals.reports.table import (
    P_DECIMALS,
    Cell,
    Rows,
    Table,
    count,
    notes,
    shown_decimals,
)
from music_evals.reports.tables.common import labels, part_of_title, run_notes
from music_evals.scorers.metrics.clustered import macro_mean
from music_evals.scorers.metrics.components import variance_components, wordings_interval
from music_evals.scorers.metrics.estimates import Estimate
from music_evals.scorers.metrics.paired import Comparison, compare, holm
from music_evals.scorers.metrics.power import LEVEL, detectable_difference

ARMS = {"stimulus": "given", "twin": "original"}
"""Parameters with tables of their own, and the value that the others are compared with."""

_NOT_FACTORS = frozenset(("dataset", "media", "pictures", "cache", "human_labels", *ARMS))
_LABELS = ("Benchmark", "Task", "Model", "Condition", "Data")
OUTCOMES = (
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
_WORDINGS = (
    "Wordings",
    "Lowest",
    "Highest",
    "All wordings",
    "Questions %",
    "Wording %",
    "Both %",
    "Asking %",
)
_OPTIONAL = ("Test", "Left out", "Detectable", "p", "Data", "Condition", "Else")
BASELINE = "baseline/"
"""How names of models begin that are programs."""
MOST_PAIRED = 12
"""Models under one condition of which all pairs are tested; of more, see `_tested_pairs`."""
_NEAR = 0.03  # the largest difference of scores that count as equal


class Answer(NamedTuple):
    """What a run earns on a question: the mean over epochs, and what the question belongs to."""

    value: float
    cluster: str
    stratum: str


class _Question(NamedTuple):
    """A question of two runs, with the coarser clusters of the two."""

    pair: str
    value: float
    later: float
    cluster: Hashable
    stratum: str


@dataclass(frozen=True)
class PairedRun:
    """A run as comparisons take it.

    Args:
        number: of the run.
        run: its row of `Records.runs`.
        questions: what is equal for runs that ask the same questions.
        factors: what it may differ in from others, as words.
        answers: by what is equal for the same question in two runs.
        score: in percent.
    """

    number: int
    run: pd.Series
    questions: tuple[str, ...]
    factors: Mapping[str, str]
    answers: Mapping[str, Answer]
    score: Estimate | None

    def rest(self, factor: str) -> tuple[Any, ...]:
        """Return what must be equal where only one factor may differ."""
        factors = dict(self.factors)
        factors.pop(factor, None)
        return self.questions, tuple(sorted(factors.items()))

    @property
    def is_baseline(self) -> bool:
        """Whether the model is a program."""
        return self.factors["model"].startswith(BASELINE)


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
    if not len(records.runs):
        return []
    runs = records.runs[records.runs["is_current"]]
    return [paired_run(records, number, run) for number, run in runs.iterrows()]


def own_music(runs: Iterable[PairedRun]) -> list[PairedRun]:
    """Return the runs with the questions' own music, and not on twins."""
    return [run for run in runs if all(run.factors[name] == ARMS[name] for name in ARMS)]


def paired_run(records: Records, number: int, run: pd.Series) -> PairedRun:
    """Return a run as comparisons take it; items with an equal value in a column are a pair."""
    items, params, facts = records.main[number], run["params"], _facts(run["benchmark"])
    by = facts.get("paired_by", "pair")
    counted = items[items["counts"] & items["value"].notna()].groupby(by)
    means = counted.agg({"value": "mean", "cluster": "first", "stratum": "first"})
    answers = {pair: Answer(*facts) for pair, *facts in means.itertuples()}
    factors = {name: params[name] for name in params if name not in _NOT_FACTORS}
    factors |= {name: params.get(name, value) for name, value in ARMS.items()}
    factors |= {"model": run["model"], **dict(word.split("=", 1) for word in run["settings"])}
    questions = [run["benchmark"], run["data"], run["task"]]
    if same := facts.get("same_questions"):
        factors[same] = questions.pop()
    return PairedRun(number, run, tuple(questions), factors, answers, records.percent(number))


def _facts(benchmark: str) -> Mapping[str, Any]:
    """What ``benchmark.toml`` says of comparisons."""
    facts: Mapping[str, Any] = load(benchmark).table.get("comparisons", {})
    return facts


def comparison_tables(records: Records) -> list[Table]:
    """Make the tables of comparisons: the music, twins and wordings, then models and conditions of
    each benchmark.
    """
    runs = paired_runs(records)
    asked = [run for run in runs if run.factors["twin"] != "completion"]
    tables = [_arms_table(records, asked, "stimulus"), _arms_table(records, runs, "twin")]
    runs = own_music(runs)
    tables.append(_wordings_table(records, runs))
    for benchmark in dict.fromkeys(records.runs["benchmark"]):
        own = [run for run in runs if run.questions[0] == benchmark]
        tables += [make(records, benchmark, own) for make in _TABLES]
    return [table for table in tables if table.rows]


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
    if first == second:
        raise ValueError(f"{first} is named twice; name two models, or two values of a parameter")
    runs = paired_runs(records)
    sides = [_runs_called(runs, name) for name in (first, second)]
    factor = "model" if _is_model(sides[0][0], first) else first.partition("=")[0]
    names = [name for name in _LABELS if name != "Model" or factor != "model"]
    rows = []
    for one, other in product(*sides):
        if one.number != other.number and one.rest(factor) == other.rest(factor):
            cells = run_labels(one)
            rows.append(paired_row(one, other, [cells[name] for name in names]))
    outcomes = paired_cells(rows)
    if not outcomes:
        raise ValueError(
            f"{first} and {second} were not asked the same questions under the same conditions"
        )
    title = f"{first} and {second} on the same questions, in percent"
    columns = (*names, first, second, *OUTCOMES[2:])
    optional = ("Benchmark", "Test", "Left out", "p", "Data", "Condition")
    return Table("compared", title, columns, outcomes, notes("tests"), optional=optional)


def _runs_called(runs: Sequence[PairedRun], name: str) -> list[PairedRun]:
    """The runs of a model, or under a condition."""
    called = [run for run in runs if _is_called(run, name)]
    if not called:
        models = ", ".join(sorted({run.factors["model"] for run in runs}))
        raise ValueError(
            f"no run is of {name}; a model or PARAMETER=VALUE is needed; models: {models}"
        )
    return called


def _is_called(run: PairedRun, name: str) -> bool:
    factor, is_condition, value = name.partition("=")
    return _is_model(run, name) or (bool(is_condition) and run.factors.get(factor) == value)


def _is_model(run: PairedRun, name: str) -> bool:
    """Whether a run is of a model, whose name may hold arguments: ``org/model [dtype=float16]``."""
    return run.factors["model"] == name or run.factors["model"].endswith(f"/{name}")


_ARM_TITLES = {"stimulus": ("music", "the music"), "twin": ("memory", "memory")}
"""Parameter → name of its table, and what the table shows the effect of."""


def _arms_table(records: Records, runs: Sequence[PairedRun], factor: str) -> Table:
    """Runs with the base value of a factor beside those with another one."""
    pairs: list[PairedRow | None] = []
    probes: Rows = []
    for group in group_by(runs, lambda run: run.rest(factor)).values():
        by_value = {run.factors[factor]: run for run in group}
        base = by_value.pop(ARMS[factor], None)
        for value, run in by_value.items():
            first = [*run_labels(base or run).values(), value]
            if value == "completion":
                missing = [None] * (len(OUTCOMES) - 2)
                probes.append([*first, None, records.percent(run.number), *missing])
            elif base:
                pairs.append(paired_row(run, base, first))
    # The base value comes first.
    rows = [[*row[:6], row[7], row[6], *row[8:]] for row in paired_cells(pairs)]
    columns = (*_LABELS, "Compared with", ARMS[factor].capitalize(), "Other", *OUTCOMES[2:])
    name, cause = _ARM_TITLES[factor]
    title = f"What {cause} contributes, in percent"
    return Table(name, title, columns, [*rows, *probes], notes(name), optional=_OPTIONAL)


def _wordings_table(records: Records, runs: Sequence[PairedRun]) -> Table:
    """Runs that differ in the wording of the prompts alone, on the questions that all of them
    scored.
    """
    groups = group_by(runs, lambda run: run.rest("prompts")).values()
    rows = [_wordings_row(records, group) for group in groups if len(group) > 1]
    title = "What the wording of the prompts changes, in percent"
    columns = (*_LABELS, *_WORDINGS)
    shown = [row for row in rows if row]
    optional = (*_OPTIONAL, "Benchmark", "Wordings")
    return Table("wordings", title, columns, shown, notes("wordings"), optional=optional)


def _wordings_row(records: Records, runs: Sequence[PairedRun]) -> list[Cell] | None:
    """The means in each wording and in all, and the parts of the variance."""
    asked = _asked_alike(records, runs)
    if len(asked) < 2:
        return None
    coarser = min((run.answers for run in runs), key=_number_of_clusters)
    _, clusters, strata = zip(*(coarser[pair] for pair in asked.index), strict=True)
    values = asked.to_numpy(dtype=float).reshape(len(asked), len(runs), -1)
    by_wording = values.mean(axis=2)
    mean, ends = wordings_interval(by_wording, clusters, strata)
    low, high = (None, None) if isnan(ends[0]) else ends
    overall = Estimate(mean, low, high, len(asked)).percent()
    means = [100 * macro_mean(column, strata) for column in by_wording.T]
    extremes = [Estimate(bound(means), decimals=1) for bound in (min, max)]
    words = [word for run in runs for word in run.run["words"] if word.startswith("prompts=")]
    others = [word.removeprefix("prompts=") for word in sorted(words)]
    wordings = ["first"] * (len(runs) - len(others)) + others
    cells = run_labels(runs[0], "prompts").values()
    return [*cells, ", ".join(wordings), *extremes, overall, *_shares(variance_components(values))]


def _shares(parts: Sequence[float | None]) -> list[Cell]:
    """Parts in percent of their sum; none where nothing varies."""
    whole = sum(part or 0 for part in parts)
    return [
        None if part is None or not whole else Estimate(100 * part / whole, decimals=1)
        for part in parts
    ]


def _asked_alike(records: Records, runs: Sequence[PairedRun]) -> pd.DataFrame:
    """What each run earns on the questions that all of them scored equally often: a column for each
    run and time of asking, and those of a run together.
    """
    frame = pd.concat(
        records.main[run.number].assign(wording=place) for place, run in enumerate(runs)
    )
    table = frame[frame["counts"]].pivot_table(
        index="pair", columns=["wording", "epoch"], values="value"
    )
    times = min(table.columns.get_level_values("wording").value_counts())
    asked = table.loc[:, table.columns.get_level_values("epoch") <= times].dropna()
    return asked if asked.shape[1] == times * len(runs) else asked.iloc[:0]


def _models_table(records: Records, benchmark: str, runs: Sequence[PairedRun]) -> Table:
    """Models under the same condition, on the same questions."""
    rows = []
    untested: Counter[bool] = Counter()
    for group in group_by(runs, lambda run: run.rest("model")).values():
        without_baseline = comb(sum(not run.is_baseline for run in group), 2)
        untested[False] += without_baseline
        untested[True] += comb(len(group), 2) - without_baseline
        for pair in _tested_pairs(group):
            first, second = sorted(pair, key=lambda run: run.factors["model"])
            untested[first.is_baseline or second.is_baseline] -= 1
            cells = map(run_labels(first).get, ("Task", "Condition", "Data", "Model"))
            rows.append(paired_row(first, second, [*cells, second.factors["model"]]))
    columns = ("Task", "Condition", "Data", "First model", "Second model", *OUTCOMES)
    table = _tests(records, benchmark, "models", columns, rows, untested)
    if not untested.total():
        return table
    left_out = f"{untested.total():,} pairs of models are left out."
    return replace(table, notes=[*table.notes, *notes("tested_pairs"), left_out])


def _tested_pairs(runs: Sequence[PairedRun]) -> list[tuple[PairedRun, PairedRun]]:
    """All pairs of a few models; of more, those of the best, each with the best, and each with the
    next.
    """
    if len(runs) <= MOST_PAIRED:
        return [*combinations(runs, 2)]
    ranked = sorted(runs, key=_rank_of_model)
    best, rest = ranked[:MOST_PAIRED], ranked[MOST_PAIRED:]
    neighbours = zip(ranked[MOST_PAIRED - 1 :], rest, strict=False)
    return [*combinations(best, 2), *((best[0], run) for run in rest), *neighbours]


def _rank_of_model(run: PairedRun) -> tuple[bool, float]:
    """Sorts the best score first, and baselines last."""
    return run.is_baseline, 0.0 if run.score is None else -run.score.value


def _conditions_table(records: Records, benchmark: str, runs: Sequence[PairedRun]) -> Table:
    """Conditions of one model that differ in one factor."""
    rows = []
    for factor, first, second in _contrasts(benchmark, runs):
        cells = map(run_labels(first, factor).get, ("Task", "Model", "Condition", "Data"))
        values = [factor, first.factors[factor], second.factors[factor]]
        rows.append(paired_row(first, second, [*cells, *values]))
    columns = ("Task", "Model", "Else", "Data", "Factor", "First value", "Second value", *OUTCOMES)
    return _tests(records, benchmark, "conditions", columns, rows)


def _effects_table(records: Records, benchmark: str, runs: Sequence[PairedRun]) -> Table:
    """Effects of crossed factors, pooled over models, tasks and the other factors; baselines are
    left out.
    """
    effects: dict[tuple[str, str, str], list[tuple[PairedRun, PairedRun]]] = {}
    if _facts(benchmark).get("crossed"):
        models = [run for run in runs if not run.is_baseline] or runs
        for factor, first, second in _contrasts(benchmark, models):
            effect = factor, first.factors[factor], second.factors[factor]
            effects.setdefault(effect, []).append((first, second))
    rows = []
    for effect, pairs in effects.items():
        questions = []
        for pair in pairs:
            task = pair[0].questions[-1]
            for question in _joined(*pair):
                trial = task, question.pair
                questions.append(question._replace(cluster=trial, stratum=""))
        left_out = sum(_left_out(*pair) for pair in pairs)
        names = sorted({first.factors["model"] for first, _ in pairs})
        has_baseline = any(first.is_baseline for first, _ in pairs)
        rows.append(_row(questions, [*effect, ", ".join(names)], left_out, has_baseline))
    columns = ("Effect", "First value", "Second value", "Models", *OUTCOMES)
    return _tests(records, benchmark, "effects", columns, rows)


_TABLES = (_models_table, _conditions_table, _effects_table)


def _contrasts(
    benchmark: str, runs: Sequence[PairedRun]
) -> Iterator[tuple[str, PairedRun, PairedRun]]:
    """The pairs of runs of a model on the same questions that differ in one factor, in the order of
    its values.
    """
    orders = _facts(benchmark).get("orders", {})
    for group in group_by(runs, lambda run: (run.questions, run.factors["model"])).values():
        for pair in combinations(group, 2):
            first, second = (run.factors for run in pair)
            shared = first.keys() & second.keys()
            differing = [name for name in shared if first[name] != second[name]]
            if len(differing) == 1:
                (factor,) = differing
                order = orders.get(factor, [])
                ranks = [_rank(factors[factor], order) for factors in (first, second)]
                yield factor, *(pair if ranks[0] <= ranks[1] else pair[::-1])


def _rank(value: str, order: Sequence[str]) -> tuple[int, float, str]:
    number = float(value) if value.replace(".", "", 1).isdigit() else 0.0
    return order.index(value) if value in order else len(order), number, value


def paired_row(first: PairedRun, second: PairedRun, labels: Sequence[Cell]) -> PairedRow | None:
    """Return labels, both means, and how two runs differ; None where they have no question in
    common.
    """
    has_baseline = first.is_baseline or second.is_baseline
    digits = [1 if run.score is None else shown_decimals(run.score) for run in (first, second)]
    return _row(_joined(first, second), labels, _left_out(first, second), has_baseline, digits)


def _joined(first: PairedRun, second: PairedRun) -> list[_Question]:
    """The questions that both runs have."""
    coarser = min((first.answers, second.answers), key=_number_of_clusters)
    questions = []
    for pair, answer in first.answers.items():
        if later := second.answers.get(pair):
            _, *groups = coarser[pair]
            questions.append(_Question(pair, answer.value, later.value, *groups))
    return questions


def _number_of_clusters(answers: Mapping[str, Answer]) -> int:
    return len({answer.cluster for answer in answers.values()})


def _left_out(first: PairedRun, second: PairedRun) -> int:
    return len(first.answers.keys() ^ second.answers.keys())


def _row(
    questions: Sequence[_Question],
    labels: Sequence[Cell],
    left_out: int,
    has_baseline: bool,
    digits: Sequence[int] = (1, 1),
) -> PairedRow | None:
    if not questions:
        return None
    _, values, later, clusters, strata = zip(*questions, strict=True)
    means = [
        Estimate(100 * macro_mean(side, strata), n=len(questions), decimals=decimals)
        for side, decimals in zip((values, later), digits, strict=True)
    ]
    comparison = compare(values, later, clusters, strata)
    return PairedRow([*labels, *means], comparison, left_out, has_baseline)


def run_labels(run: PairedRun, without: str = "") -> dict[str, Cell]:
    """Return what `_LABELS` say of a run; its condition without a factor."""
    model, _, condition, data = labels(run.run, (without, *ARMS))
    cells = (run.run["section"], run.run["task"], model, condition, data)
    return dict(zip(_LABELS, cells, strict=True))


def paired_cells(
    pairs: Sequence[PairedRow | None], untested: Mapping[bool, int] | None = None
) -> Rows:
    """Return the cells of a table of paired rows, whose p are corrected together; rows with
    baselines apart.

    Args:
        pairs: the rows.
        untested: how many pairs without and with a baseline the table leaves out.
    """
    rows = [row for row in pairs if row]
    corrected: dict[int, float] = {}
    for family in (True, False):
        places = [place for place, row in enumerate(rows) if row.has_baseline is family]
        ps = holm([rows[place].comparison.p for place in places], (untested or {}).get(family, 0))
        corrected |= dict(zip(places, ps, strict=True))
    return [_outcome(row, corrected[place]) for place, row in enumerate(rows)]


def _outcome(row: PairedRow, p: float) -> list[Cell]:
    """The cells of a paired row with this corrected p."""
    pair = row.comparison
    ends = (None, None) if isnan(pair.low) else (pair.low, pair.high)
    difference = Estimate(pair.difference, *ends).percent()
    # An interval that contradicts the exact test is left out.
    if (pair.low > 0 or pair.high < 0) != (pair.p < LEVEL):
        difference = replace(difference, low=None, high=None, mark="‡")
    least = detectable_difference(pair)
    detectable = None if isnan(least) else Estimate(least).percent()
    ps = [Estimate(p, decimals=P_DECIMALS) for p in (pair.p, p)]
    verdict = "no difference can be found" if isnan(least) else _verdict(pair, p)
    return [*row.labels, difference, detectable, *ps, pair.test, count(row.left_out), verdict]


def _verdict(pair: Comparison, p: float) -> str:
    """What a comparison says, given its corrected p."""
    is_near = max(abs(pair.low), abs(pair.high)) <= _NEAR
    near = f"at most {100 * _NEAR:.0f} points apart"
    if p < LEVEL:
        return f"differ, {near}" if is_near else "differ"
    return near if is_near else "too few questions to tell"


def _tests(
    records: Records,
    benchmark: str,
    what: str,
    columns: Sequence[str],
    rows: Sequence[PairedRow | None],
    untested: Mapping[bool, int] | None = None,
) -> Table:
    is_effects = what == "effects"
    title = "effects of crossed factors" if is_effects else f"tests between {what}"
    return Table(
        f"tests_{what}_{benchmark}_{part_of_title(benchmark)}".rstrip("_"),
        f"{load(benchmark).title}: {title}",
        columns,
        paired_cells(rows, untested),
        [*notes("effects" if is_effects else "tests"), *run_notes(records.current(benchmark))],
        optional=_OPTIONAL,
    )
