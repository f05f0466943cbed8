"""Reports of headers, as the command makes them, for tests that look into their tables."""

from inspect_ai.log import EvalLog

from music_evals.commands.report import _defaults
from music_evals.reports.runs import Run
from music_evals.reports.sections import part_report, read_parts
from music_evals.reports.tables import Report, Table


def reports(*logs: EvalLog) -> Report:
    """Tables and figures of all parts that logs are of, without comparisons."""
    found, passed_over = read_parts(logs, _defaults(logs))
    made = [part_report(part, some) for part, some, _ in found]
    figures = {name: svg for report in made for name, svg in report.figures.items()}
    return Report([table for report in made for table in report.tables], passed_over, figures)


def tables(*logs: EvalLog) -> dict[str, Table]:
    return {table.name: table for table in reports(*logs).tables}


def runs(*logs: EvalLog) -> list[Run]:
    return [run for _, some, _ in read_parts(logs, _defaults(logs))[0] for run in some]


def reasons(*logs: EvalLog) -> list[str]:
    return [why for _, why in read_parts(logs, _defaults(logs))[1]]
