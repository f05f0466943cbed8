"""The whole report of logs: summary, sections, comparisons, and what the numbers rest on."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from music_evals.reports.comparisons import comparison_tables
from music_evals.reports.records import Records
from music_evals.reports.run_metadata import metadata_tables
from music_evals.reports.sanitize import reason
from music_evals.reports.summary import summary_table
from music_evals.reports.table import Table
from music_evals.reports.tables import abc_eval, lilybench, msu, muse, muse_ten, ziqi
from music_evals.reports.tables.common import (
    cost_table,
    floors_table,
    protocols_table,
    replies_table,
    score_table,
    tags_table,
    third_party_table,
)

_TABLES: Final = {
    "MUSE": muse.tables,
    "The MUSE Benchmark": muse_ten.tables,
    "ZIQI-Eval": ziqi.tables,
    "MSU-Bench": msu.tables,
    "LilyBench": lilybench.tables,
    "ABC-Eval": abc_eval.tables,
    "LilyBench: generation": lilybench.generation_tables,
}
_SHARED: Final = (protocols_table, tags_table, third_party_table, floors_table, replies_table)
"""Tables that every section has if its logs hold what they show."""
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
    titles = dict.fromkeys(records.runs["section"])
    sections += [add(title, partial(section_tables, section=title), title) for title in titles]
    compared = add(
        "Comparisons", lambda rest: [*comparison_tables(rest), cost_table(rest)], "the comparisons"
    )
    passed_over = [*records.passed_over, *left_out]
    basis = metadata_tables([*records.headers.values()], passed_over)
    sections += [compared, Section("basis", "What the numbers rest on", basis)]
    return [section for section in sections if section.tables], left_out


def section_tables(records: Records, section: str) -> list[Table]:
    """Make all tables of a section; none without a run that counts."""
    if not len(records.current(section)):
        return []
    own = _TABLES[section](records) if section in _TABLES else [score_table(records, section)]
    shared = [make(records, section) for make in _SHARED]
    return [table for table in [*own, *shared] if table is not None and table.rows]


def _without_faulty(
    make: Callable[[Records], list[Table]], records: Records
) -> tuple[list[Table], _Faults]:
    """Make tables of all runs but those with which that fails; and say why of each."""
    try:
        return make(records), []
    except Exception:  # whatever a log may hold that no task of the suite writes
        faults: dict[int, str] = {}
        for run in records.runs.index:
            try:
                make(_only(records, [run]))
            except Exception as fault:
                faults[run] = reason(fault)
        if not faults:
            raise
    rest = [run for run in records.runs.index if run not in faults]
    tables = make(_only(records, rest)) if rest else []
    return tables, [(records.runs.at[run, "location"], why) for run, why in faults.items()]


def _only(records: Records, runs: Sequence[int]) -> Records:
    """Records of some runs, and all published figures."""
    scores = records.scores[records.scores["run"].isin(runs) | records.scores["run"].isna()]
    items = records.items[records.items["run"].isin(runs)]
    return records._replace(runs=records.runs.loc[[*runs]], scores=scores, items=items)
