"""`music-evals check`: a gate for CI, which passes if no score fell by more than is allowed."""

from typing import Annotated

from typer import Argument, Exit, Option

from music_evals.commands.output import failed, plain_name, say

_DROP, _INCOMPARABLE, _UNDECIDED = 1, 2, 3  # exit statuses


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
    """Exit with 0 if it is shown that no task's score fell by more than --max-drop points; with 1
    if one fell by more; with 3 if there are too few questions to tell; with 2 if the runs cannot be
    compared.
    """
    # Here, so that `music-evals --help` need not wait for Inspect.
    from music_evals.evals.registry import defaults_of
    from music_evals.notation.grouping import group_by
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
    by_verdict = group_by(measured, lambda change: change.verdict(max_drop))
    for change in by_verdict.get("worse", ()):
        failed(ValueError(f"{change.line()}; at most {max_drop:g} are allowed"))
    for change in by_verdict.get("too few questions", ()):
        say(
            f"Too few questions to tell whether {change.task} fell by more than {max_drop:g} "
            f"points: {change.line()}; {change.needed(max_drop)}"
        )
    if "worse" in by_verdict:
        raise Exit(_DROP)
    if "too few questions" in by_verdict:
        raise Exit(_UNDECIDED)
    lowest = min(measured, key=lambda change: change.comparison.difference)
    say(
        f"{len(measured)} compared; none fell by more than {max_drop:g} points; lowest: "
        f"{lowest.line()}"
    )
