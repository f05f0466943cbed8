"""`music-evals check`: a gate for CI, which fails if a score fell."""

from typing import Annotated

from typer import Argument, Exit, Option

from music_evals.commands.output import failed, plain_name, say

_DROP, _INCOMPARABLE = 1, 2  # exit statuses


def check(
    logs: Annotated[list[str], Argument(help="Inspect logs of the new run, or folders of them.")],
    against: Annotated[
        list[str], Option(help="Logs of the earlier run, or a folder of them; may be repeated.")
    ],
    max_drop: Annotated[
        float, Option(min=0, max=100, help="Percentage points that a score may fall.")
    ] = 3,
    tasks: Annotated[
        list[str] | None,
        Option(help="Only these tasks or benchmarks, with commas between or repeated."),
    ] = None,
) -> None:
    """Exit with 1 if a task's score fell by more than --max-drop points and the paired 95% interval
    excludes no change; with 2 if the runs cannot be compared.
    """
    # Here, so that `music-evals --help` need not wait for Inspect.
    from music_evals.evals.registry import defaults_of
    from music_evals.reports.answers import answer_lines
    from music_evals.reports.records import local_logs, read_records
    from music_evals.reports.regressions import changes

    names = []
    if tasks:
        names = [plain_name(name) for name in ",".join(tasks).split(",")]
    try:
        with local_logs(*logs) as new, local_logs(*against) as old:
            base = read_records(old, defaults=defaults_of)
            records = read_records(new, defaults=defaults_of)
            measured = changes(base, records, names)
    except (ValueError, OSError) as error:
        failed(error)
        raise Exit(_INCOMPARABLE) from error
    runs = records.runs.loc[[change.run for change in measured]]
    say(*answer_lines(runs))
    drops = [change for change in measured if change.is_drop(max_drop)]
    for change in drops:
        failed(ValueError(f"{change.line()}; at most {max_drop:g} are allowed"))
    if drops:
        raise Exit(_DROP)
    lowest = min(measured, key=lambda change: change.comparison.difference)
    say(
        f"{len(measured)} compared; no drop of more than {max_drop:g} points has an interval below "
        f"0; lowest: {lowest.line()}"
    )
