"""The whole report of logs: summary, sections, comparisons, and what the numbers rest on."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from music_evals.benchmarks import load
from music_evals.reports.comparisons import comparison_tables
from music_evals.reports.records import Records
from music_evals.reports.run_metadata import metadata_tables
from music_evals.reports.sanitize import reason
from music_evals.reports.subsets import estimates_table
from music_evals.reports.summary import summary_table
from music_evals.reports.table import Table
from music_evals.reports.tables import (
    abc_eval,
    lilybench,
    msu,
    muse,
    muse_ten,
    pitchbench,
    ziqi,
)
from music_evals.reports.tables.common import (
    cost_table,
    floors_table,
    protocols_table,
    replies_table,
    score_table,
    tags_table,
    third_party_table,
)
from music_evals.reports.tables.groups import group_tables
from music_evals.reports.tables.levels import levels_table

_TABLES = {
    "muse": muse.tables,
    "muse_ten": muse_ten.tables,
    "ziqi": ziqi.tables,
    "msu": msu.tables,
    "lilybench": lilybench.tables,
    "abc_eval": abc_eval.tables,
    "lilybench_generation": lilybench.generation_tables,
    "pitchbench": pitchbench.tables,
}
"""Benchmark → its own tables; the others have the table of scores."""
_SHARED = (
    levels_table,
    estimates_table,
    protocols_table,
    tags_table,
    third_party_table,
    floors_table,
    replies_table,
)
"""Tables that every benchmark has if its logs hold what they show."""
_Faults = list[tuple[str, str]]  # location of a log, and why a table cannot show it


class Section(NamedTuple):
    """A part of a report.

    Args:
        name: anchor, of letters, digits and hyphens.
        title: heading.
        tables: its tables, of which the first one is open.
    """

    name: str
    title: str
    tables: Sequence[Table]


def make_report(records: Records) -> tuple[list[Section], _Faults]:
    """Make the sections of a report, and name the logs that some of its tables cannot show, with
    the reason.
    """
    left_out: _Faults = []

    def add(title: str, make: Callable[[Records], list[Table]], what: str) -> Section:
        tables, faults = _without_faulty(make, records)
        left_out.extend((where, f"it is left out of {what}: {why}") for where, why in faults)
        return Section(title.casefold().replace(": ", "-").replace(" ", "-"), title, tables)

    sections = [add("Summary", lambda rest: [summary_table(rest)], "the summary")]
    benchmarks = dict.fromkeys(records.runs["benchmark"])
    records = _ranked(records, sections[0].tables)
    sections.append(add("Groups", group_tables, "the groups"))
    for benchmark in benchmarks:
        title = load(benchmark).title
        sections.append(add(title, partial(section_tables, benchmark=benchmark), title))
    compared = add(
        "Comparisons", lambda rest: [*comparison_tables(rest), cost_table(rest)], "the comparisons"
    )
    passed_over = [*records.passed_over, *left_out]
    basis = metadata_tables([*records.headers.values()], passed_over)
    sections += [compared, Section("basis", "What the numbers rest on", basis)]
    return [section for section in sections if section.tables], left_out


def _ranked(records: Records, summary: Sequence[Table]) -> Records:
    """Records whose runs are in the order of the models in the summary."""
    models = dict.fromkeys(row[0] for table in summary for row in table.rows)
    places = {model: place for place, model in enumerate(models)}
    runs = records.runs.assign(rank=records.runs["model"].map(places))
    return replace(records, runs=runs.sort_values("rank", kind="stable"))


def section_tables(records: Records, benchmark: str) -> list[Table]:
    """Make all tables of a benchmark; none without a run that counts."""
    if not len(records.current(benchmark)):
        return []
    if benchmark in _TABLES:
        tables = _TABLES[benchmark](records)
    else:
        tables = [score_table(records, benchmark)]
    tables += filter(None, [make(records, benchmark) for make in _SHARED])
    return [table for table in tables if table.rows]


def _without_faulty(
    make: Callable[[Records], list[Table]], records: Records
) -> tuple[list[Table], _Faults]:
    """Make tables of all runs but those with which that fails; and say why of each."""
    try:
        return make(records), []
    except Exception:  # whatever a log may hold that no task of the suite writes
        faults, good = [], []
        for run, location in records.runs["location"].items():
            try:
                make(replace(records, runs=records.runs.loc[[run]]))
                good.append(run)
            except Exception as fault:
                faults.append((location, reason(fault)))
        if not faults:
            raise
    rest = replace(records, runs=records.runs.loc[good])
    return make(rest) if good else [], faults
