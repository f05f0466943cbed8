"""The whole report of logs: a summary, a section a part of a benchmark, comparisons, and what the numbers rest on."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from inspect_ai.log import EvalLog

from music_evals.reports.basis import distinctions
from music_evals.reports.comparisons import comparison_report
from music_evals.reports.declared import table_of
from music_evals.reports.drawn import drawn
from music_evals.reports.page import Section
from music_evals.reports.parts import Part, parts
from music_evals.reports.runs import Defaults, Run, grouped, read_runs, special, why_not
from music_evals.reports.summary import summary_table
from music_evals.reports.tables import Report, Table, common_notes

Why = list[tuple[str, str]]
"""Location of a log, and what is to be said of it."""


class Made(NamedTuple):
    """A report: its sections, the logs that no table shows, and those that are not compared with others."""

    sections: Sequence[Section]
    passed_over: Why
    not_compared: Why


class Found(NamedTuple):
    """A part of the report with its runs, and the headers of the logs that they are from."""

    part: Part
    runs: Sequence[Run]
    logs: Sequence[EvalLog]


def make_report(
    headers: Sequence[EvalLog],
    defaults: Defaults | None = None,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Made:
    """Make the tables and figures of logs of any benchmarks, given by their headers, the summary first.

    The defaults are those of the tasks' parameters, for logs that do not tell their condition. `progress` is called
    with the number of responses read so far, and that of all. Without a log that can be used there are no sections.
    """
    found, passed_over = read_parts(headers, defaults or {})
    if not found:
        return Made([], passed_over, [])
    summary = summary_table([run for _, runs, _ in found for run in runs])
    sections = [Section("summary", "Summary", Report([summary]))]
    sections += [
        Section(part.name, part.title, part_report(part, runs), distinctions(logs)) for part, runs, logs in found
    ]
    unused = {where for where, _ in passed_over}
    compared = comparison_report([log for log in headers if log.location not in unused], progress)
    sections += [Section("comparisons", "Comparisons", compared)] if compared.tables else []
    return Made(sections, passed_over, list(compared.passed_over))


def read_parts(headers: Sequence[EvalLog], defaults: Defaults) -> tuple[list[Found], Why]:
    """Take the runs of each part from headers, those parts that have any; and say which logs are in none."""
    every = parts()
    names = {(part.benchmark, task): part.name for part in every for task in part.tasks}
    of_each = grouped(headers, lambda log: names.get(_task(log), ""))
    unknown = of_each.get("", [])
    passed_over = [(log.location, f"no table is known for {_task(log)[0] or log.eval.task}") for log in unknown]
    found = []
    for part in every:
        reasons = [(log, why_not(part, log)) for log in of_each.get(part.name, [])]
        passed_over += [(log.location, why) for log, why in reasons if why]
        if used := [log for log, why in reasons if not why]:
            found.append(Found(part, read_runs(part, used, defaults), used))
    return found, passed_over


def _task(log: EvalLog) -> tuple[str, str]:
    about = log.eval.metadata or {}
    return about.get("benchmark", ""), about.get("config", "")


def part_report(part: Part, runs: Sequence[Run]) -> Report:
    """Make the tables and figures of a part of the report."""
    tables: list[Table] = []
    figures: dict[str, str] = {}
    for spec in part.tables:
        shown = [run for run in runs if run.has(spec.where) and not (spec.where_not and run.has(spec.where_not))]
        if not shown and not spec.always:
            continue
        if spec.special:
            made = getattr(special(part.benchmark), spec.special)(spec, shown)
            tables += made.tables
            figures |= made.figures
        else:
            table = table_of(part, spec, shown)
            tables.append(table)
            if spec.figure and (svg := drawn(spec, spec.figure, table, shown)):
                figures[table.name] = svg
    if read := [run for run in runs if run.value("readings/answered") is not None]:
        tables.append(_replies(part, read))
    return Report(tables, figures=figures)


def _replies(part: Part, runs: Sequence[Run]) -> Table:
    """Tell how the replies of each run read, with the same words in all benchmarks."""
    statuses = [name for group, name in runs[0].metrics if group == "readings"]
    rows = [
        (
            *(run.label("task title"), run.model, run.source, run.whole_condition),
            *(run.share(f"readings/{status}", ["samples"]) for status in statuses),
        )
        for run in runs
    ]
    columns = ("Task", "Model", "Source", "Condition", *map(str.capitalize, statuses))
    return Table(f"{part.name}_replies", f"{part.title}: how replies read", columns, rows, common_notes("replies"))
