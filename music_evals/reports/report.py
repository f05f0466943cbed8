"""The whole report of logs: summary, sections, comparisons, and what the numbers rest on."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from music_evals.reports.comparisons import comparison_tables
from music_evals.reports.records import Records
from music_evals.reports.run_metadata import distinctions, metadata_tables
from music_evals.reports.sanitize import reason
from music_evals.reports.summary import summary_table
from music_evals.reports.table import Table
from music_evals.reports.tables import section_tables
from music_evals.reports.tables.costs import cost_table


class Section(NamedTuple):
    """A part of a report.

    Args:
        name: anchor, of letters, digits and hyphens.
        title: heading.
        tables: its tables, of which the first one is open.
        distinctions: sentences on what sets its measured numbers apart from published ones.
    """

    name: str
    title: str
    tables: Sequence[Table]
    distinctions: Sequence[str] = ()


def make_report(records: Records) -> tuple[list[Section], list[tuple[str, str]]]:
    """Make the sections of a report, and name the logs that some of its tables cannot show, with the reason."""
    left_out: list[tuple[str, str]] = []

    def safe(make: Callable[[Records], list[Table]], what: str) -> list[Table]:
        tables, faults = _without_faulty(make, records)
        left_out.extend((where, f"it is left out of {what}: {why}") for where, why in faults)
        return tables

    sections = [Section("summary", "Summary", safe(lambda some: [summary_table(some)], "the summary"))]
    for title in dict.fromkeys(records.runs["section"]):
        numbers = records.current(title).index
        headers = [records.headers[number] for number in numbers]
        tables = safe(lambda some, title=title: section_tables(some, title), title)  # type: ignore[misc]
        name = title.casefold().replace(": ", "-").replace(" ", "-")
        sections.append(Section(name, title, tables, distinctions(headers)))
    compared = safe(comparison_tables, "the comparisons") + safe(lambda some: [cost_table(some)], "the costs")
    sections.append(Section("comparisons", "Comparisons", compared))
    passed_over = [*records.passed_over, *left_out]
    sections.append(
        Section("basis", "What the numbers rest on", metadata_tables([*records.headers.values()], passed_over))
    )
    return [section for section in sections if section.tables], left_out


def _without_faulty(
    make: Callable[[Records], list[Table]], records: Records
) -> tuple[list[Table], list[tuple[str, str]]]:
    """Make tables of all runs but those with which that fails; and say why of each."""
    try:
        return make(records), []
    except Exception as error:  # whatever a log may hold that no task of the suite writes
        faults: dict[int, Exception] = {}
        for run in records.runs.index:
            try:
                make(_only(records, [run]))
            except Exception as fault:
                faults[run] = fault
        if not faults:
            raise
        rest = [run for run in records.runs.index if run not in faults]
        told = [(records.runs.at[run, "location"], reason(fault)) for run, fault in faults.items()]
        if not rest:
            return [], [(where, reason(error)) for where, _ in told]
        tables, more = _without_faulty(make, _only(records, rest))
        return tables, [*told, *more]


def _only(records: Records, runs: Sequence[int]) -> Records:
    """Records of some runs, and all published figures."""
    scores = records.scores[records.scores["run"].isin(runs) | records.scores["run"].isna()]
    items = records.items[records.items["run"].isin(runs)]
    return records._replace(runs=records.runs.loc[[*runs]], scores=scores, items=items)
