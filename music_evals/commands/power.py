"""`music-evals power`: how many questions tell two models apart."""

from typing import Annotated

from typer import Argument, Option

from music_evals import benchmarks
from music_evals.commands.output import errors_in_a_line, plain_name, program, show_table


def power(
    name: Annotated[str, Argument(help="A benchmark (muse) or a task (muse_syncopation).")],
    logs: Annotated[
        list[str] | None,
        Argument(help="Inspect logs, or folders of them, whose answers are used."),
    ] = None,
    points: Annotated[
        float, Option(min=0.1, max=100, help="The difference to find, in percentage points.")
    ] = 5,
    base: Annotated[
        float, Option(min=1, max=99, help="Percent that the first model gets right, without logs.")
    ] = 70,
) -> None:
    """Say which difference the questions of a task can find, and how many questions find one of 5
    points.
    """
    # Here, so that `music-evals --help` need not wait for Inspect.
    from music_evals.evals.registry import defaults_of
    from music_evals.reports.power import power_table
    from music_evals.reports.records import read_records

    with errors_in_a_line():
        tasks = benchmarks.tasks_named(plain_name(name))
        if not tasks:
            raise ValueError(f"there is no benchmark or task {name}; `{program()} list` names them")
        records = read_records(logs, defaults=defaults_of) if logs else None
        if records and not len(records.runs):
            raise ValueError(f"no log in {', '.join(logs or [])} could be used")
        show_table(power_table(tasks, points, base, records))
