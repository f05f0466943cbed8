"""What a benchmark's part of the report shows, as its ``benchmark.toml`` declares it under ``[[report]]``.

A benchmark that declares nothing has one part, with a table of its tasks' main metrics. Keys are those of the classes
below: `Part` for ``[[report]]``, `Facet` for ``[[report.condition]]``, `Spec` for ``[[report.tables]]``, `Column` for
its ``columns`` and ``cell``, `Printed` for ``published``, `Drawing` for ``figure``, `Note` for ``notes``. A table with
``repeat = {NAME = [...]}`` stands for several: in each, ``{NAME}`` is one of the values in all texts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, TypeVar

from music_evals.benchmarks import Benchmark, load, names


@dataclass(frozen=True, slots=True)
class Facet:
    """A fact that tells conditions apart, and how tables say it.

    Args:
        parameter: of the task; it is said where it is not as by default.
        metadata: key of the log's metadata, in the place of a parameter.
        words: how it is said, with ``{}`` for the value.
        values: value → words, in the place of `words`; conditions are sorted in this order.
        always: the parameter is said where it is as by default, too.
        plain: value of the metadata of which nothing is said.
        split: the value is a list, or text with commas, whose order says nothing.
        count: the value is a list whose length is said.
        column: it is said in a column of its own and not in the condition.
        cell: it tells apart what stands in one column or row, as a task does, and is no part of the condition.
        paper: the only values that it has in the paper's test.
        marks: what is not the plain value sets a run apart from the paper's test.
    """

    parameter: str = ""
    metadata: str = ""
    words: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    always: bool = False
    plain: Any = None
    split: bool = False
    count: bool = False
    column: bool = False
    cell: bool = False
    paper: Sequence[Any] | None = None
    marks: bool = False

    @property
    def name(self) -> str:
        """What tables call the fact."""
        return self.parameter or self.metadata

    def say(self, value: Any) -> str:
        """Put a value into words."""
        shown = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        return self.values.get(shown, self.words.format(shown))


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence for tables that show a run with these facts, or for all."""

    text: str
    when: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of figures; ``*`` in heading, metric and published stands for each of `each`, a column of its own.

    Args:
        heading: above it.
        fact: (rows) what it says, as in `Spec.labels`, in the place of a figure.
        metric: ``GROUP/NAME`` as logs have it, or NAME alone; the task's main metric where empty.
        task: the task that it is about, where a row stands for several.
        published: name of the column in the published tables.
        constant: what published rows have in it.
        scale, decimals: what figures are multiplied by, and how many decimals are shown; else those of the table.
        ends: name under which the ends of the interval stand, where that is not the metric's.
        share_of: metrics whose product is the number that a share is of; its interval is then Wilson's.
        count: it holds whole numbers, 0 where the log has none.
        interval_only: a figure without an interval is left out.
        undefined: why a run has no such figure, where the log gives no reason; else the cell stays empty.
        because: metric whose reason for being undefined holds for this one, too.
        needs: facts of a run that has it.
        each: what ``*`` stands for, or a pattern of ``GROUP/NAME`` whose group does.
    """

    heading: str = ""
    fact: str = ""
    metric: str = ""
    task: str = ""
    published: str = ""
    constant: float | None = None
    scale: float | None = None
    decimals: int | None = None
    ends: str = ""
    share_of: Sequence[str] = ()
    count: bool = False
    interval_only: bool = False
    undefined: str = ""
    because: str = ""
    needs: Mapping[str, Any] = field(default_factory=dict)
    each: Sequence[str] | str = ()


@dataclass(frozen=True, slots=True)
class Printed:
    """A published table, or a part of one.

    Args:
        table: stem of its file.
        source: how its rows are marked.
        labels: heading → its column of text; the model's is ``model``.
        constants: heading → text that all its rows have.
        without: column of text → values of rows that are left out.
        transposed: value of the first column of text whose row is taken: each column of figures is a model's.
        figure: (across) its column of figures, where it has a row a model.
    """

    table: str
    source: str = "paper"
    labels: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    without: Mapping[str, Sequence[str]] = field(default_factory=dict)
    transposed: Mapping[str, str] = field(default_factory=dict)
    figure: str = ""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure of a table's rows.

    Args:
        kind: ``heat`` for a coloured cell a number, ``lines`` for a line a row.
        title: what it shows.
        columns: which columns; all with figures where empty.
        more: (heat) further columns, which only measured rows have.
        panels: (lines) heading of the column whose values have a panel each.
        models: (lines) published table whose rows, by panel and model, are the only published ones to be drawn.
        x, y, top: (lines) what stands on the axes, and the highest value.
        reference: (lines) what the paper gives outside of its tables: ``panel``, ``label``, ``x`` and ``y``.
        hollow: (lines) what hollow marks are, of figures with a mark.
        notes: what must be said of it.
    """

    kind: str
    title: str
    columns: Sequence[str] = ()
    more: Column | None = None
    panels: str = ""
    models: str = ""
    x: str = ""
    y: str = ""
    top: float = 100
    reference: Sequence[Mapping[str, Any]] = ()
    hollow: str = ""
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Spec:
    """A table of published and measured figures.

    Args:
        name: stem of its file.
        title: what it shows.
        special: name of a function of the benchmark's module in `reports.special`, which makes it and is all there is.
        across: whether conditions and published models are columns, and not rows.
        labels: heading → fact: ``model``, ``source``, ``condition``, ``task``, ``each`` or a facet.
        each: (rows) label → value, or a pattern of ``GROUP/NAME`` whose group is one; a row each. ``{each}`` in a
            metric stands for the value, and the fact ``each`` for the label.
        merge: (rows) whether the tasks of a condition share a row.
        group: heading of the column by which rows are put together.
        published: the published tables.
        columns: (rows) the figures; the main metric of each task where there are none.
        cell: (across) the figure.
        averages: (across) ``row``, its ``tasks``, and ``weights`` where a metric weights them.
        floors: (rows) whether rows with the floors follow.
        where, where_not: facts of the runs that it shows.
        scale, decimals: of its figures.
        notes: what must be known of it.
        figure: drawn of it.
    """

    name: str = ""
    title: str = ""
    special: str = ""
    across: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    each: Mapping[str, str] | str = ""
    merge: bool = False
    group: str = ""
    published: Sequence[Printed] = ()
    columns: Sequence[Column] = ()
    cell: Column = field(default_factory=Column)
    averages: Sequence[Mapping[str, Any]] = ()
    floors: bool = False
    where: Mapping[str, Any] = field(default_factory=dict)
    where_not: Mapping[str, Any] = field(default_factory=dict)
    scale: float = 100
    decimals: int = 2
    notes: Sequence[Note] = ()
    figure: Drawing | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the report: a benchmark, or some of its tasks.

    Args:
        benchmark: its name.
        name: of the part, the benchmark's where it declares none.
        title: its heading.
        tasks: which tasks; all of the benchmark where none are named.
        samples: what its samples are called.
        condition: what tells conditions apart, in the order in which it is said.
        sort: names of facts by which conditions are sorted, where that is not their order in `condition`.
        told: parameters that are told otherwise, or change nothing that is measured.
        others_mark: whether any other parameter sets a run apart from the paper's test.
        left_out: keys of metadata with numbers of samples that the task left out.
        tells_unscored: facts of runs whose tables tell the unscored samples, which leaves them complete.
        apart: what † stands for.
        answered: metrics with the share of samples that have an answer; the first that a run has counts.
        unanswered: what * stands for, where not all have one.
        notes: further sentences on measured rows.
        tables: in the order of the page.
        place: on the page, before those of a higher number.
    """

    benchmark: str
    name: str
    title: str
    tasks: Sequence[str]
    samples: str = "samples"
    condition: Sequence[Facet] = ()
    sort: Sequence[str] = ()
    told: Sequence[str] = ()
    others_mark: bool = False
    left_out: Sequence[str] = ()
    tells_unscored: Mapping[str, Any] = field(default_factory=dict)
    apart: str = (
        "† Not the paper's test, and not to be compared with its figures: other data or not all of it, as the "
        "condition says."
    )
    answered: Sequence[str] = ()
    unanswered: str = ""
    notes: Sequence[Note] = ()
    tables: Sequence[Spec] = ()
    place: int = 100


OWN: Final = "is_benchmark"
"""Fact of any run: whether its questions are the benchmark's own, by its ``benchmark.toml``."""

_BY_DEFAULT: Final = (Facet(metadata="dataset_label", words="data {}"), Facet(metadata=OWN, paper=(True,)))


# The table of a benchmark that declares none: a row a condition, a column a task.
_PLAIN: Final = {"merge": True, "floors": True}


def parts() -> list[Part]:
    """Return the parts of all benchmarks, in the order of the page.

    Raises:
        ValueError: a ``benchmark.toml`` declares what is not known.

    >>> [part.title for part in parts() if part.benchmark == "lilybench"]
    ['LilyBench: understanding', 'LilyBench: generation']
    """
    return sorted((part for name in names() for part in _parts(load(name))), key=lambda part: part.place)


def _parts(benchmark: Benchmark) -> list[Part]:
    try:
        return [_part(benchmark, table) for table in benchmark.table.get("report", [{}])]
    except (TypeError, KeyError) as error:
        raise ValueError(f"[[report]] in benchmark.toml of {benchmark.name}: {error}") from error


def _part(benchmark: Benchmark, table: Mapping[str, Any]) -> Part:
    named = {"name": benchmark.name, "title": benchmark.title, "tasks": list(benchmark.tasks)}
    tables = [one for spec in table.get("tables", [_PLAIN]) for one in _repeated(benchmark, spec)]
    return _typed(Part, {"benchmark": benchmark.name, "condition": _BY_DEFAULT, **named, **table, "tables": tables})


def _repeated(benchmark: Benchmark, spec: Mapping[str, Any]) -> Iterator[Any]:
    """The tables that one stands for; of a task also its title and what guessing earns on it are known."""
    ((name, values),) = spec.get("repeat", {"": [""]}).items()
    for value in values:
        known = {name: value} if name else {}
        if name == "task":
            known |= {
                "task title": value.replace("_", " "),
                "chance": f"{100 * (benchmark.tasks[value].chance or 0):g}",
            }
        yield _filled({key: found for key, found in spec.items() if key != "repeat"}, known)


def _filled(value: Any, known: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for name, text in known.items():
            value = value.replace(f"{{{name}}}", text)
        return value
    if isinstance(value, Mapping):
        return {key: _filled(one, known) for key, one in value.items()}
    return [_filled(one, known) for one in value] if isinstance(value, list) else value


C = TypeVar("C")
_INNER: Final[Mapping[tuple[type[Any], str], type[Any]]] = {
    (Part, "condition"): Facet,
    (Part, "tables"): Spec,
    (Part, "notes"): Note,
    (Spec, "columns"): Column,
    (Spec, "cell"): Column,
    (Spec, "published"): Printed,
    (Spec, "figure"): Drawing,
    (Spec, "notes"): Note,
    (Drawing, "more"): Column,
}


def _typed(cls: type[C], table: Mapping[str, Any]) -> C:
    """Make a class of a table, and the classes of its parts of theirs."""
    known = {one.name for one in fields(cls)}  # type: ignore[arg-type]
    if unknown := sorted(set(table) - known):
        raise TypeError(f"{cls.__name__} knows no {unknown[0]!r}; it knows: {', '.join(sorted(known))}")
    return cls(**{name: _value(cls, name, value) for name, value in table.items()})


def _value(cls: type[Any], name: str, value: Any) -> Any:
    inner = _INNER.get((cls, name))
    if inner is None:
        return " ".join(value.split()) if isinstance(value, str) else value
    if isinstance(value, Mapping):
        return _typed(inner, value)
    found = ({"text": one} if isinstance(one, str) else one for one in value)
    return [one if isinstance(one, inner) else _typed(inner, one) for one in found]
