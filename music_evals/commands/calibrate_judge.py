"""`music-evals calibrate-judge`: a person marks answers that judges marked, or a judge marks
answers of which it is known whether they are right.
"""

from pathlib import Path
from typing import Annotated

from typer import Argument, BadParameter, Option

from music_evals.commands.listen import OpenPage, Port, ask_person
from music_evals.commands.output import errors_in_a_line, path_of, say


def calibrate_judge(
    log: Annotated[
        Path | None, Argument(help="A log of msu with -T judges=, whose answers a person marks.")
    ] = None,
    name: Annotated[str, Option(help="With a log: name of the person.")] = "",
    judge: Annotated[
        str, Option(help="Without a log: a model, tried on pairs of a right and a wrong answer.")
    ] = "",
    captions: Annotated[
        str,
        Option(
            help="With --judge: try it on captions of Song Describer, `generated`, `published` or "
            "a folder."
        ),
    ] = "",
    count: Annotated[int, Option(help="Answers to mark, or pairs.", min=2)] = 60,
    log_dir: Annotated[str, Option(help="Folder of the judge's log.")] = "logs/judges",
    port: Port = 7577,
    open_page: OpenPage = True,
) -> None:
    """Say how far a judge can be trusted: a person marks a random part of what it marked, or it
    marks answers that are right or wrong by construction.
    """
    if bool(log and name) == bool(judge):
        raise BadParameter("a log and --name, or --judge alone, is needed", param_hint="LOG")
    with errors_in_a_line():
        if log:
            _label(log, name, count, port, open_page)
        else:
            _try_on_pairs(judge, captions, count, log_dir)


def _label(path: Path, person: str, count: int, port: int, open_page: bool) -> None:
    """Have a person mark answers of a log, and enter the marks in it."""
    from inspect_ai.log import read_eval_log, write_eval_log
    from inspect_ai.model import get_model

    from music_evals.evals.shared.calibration import enter_labels, labelling_task
    from music_evals.listening.session import open_session
    from music_evals.reports.records import read_each, read_header, read_records
    from music_evals.reports.table import text
    from music_evals.reports.tables.msu import agreement

    (header,) = read_each(read_header, [path])
    if isinstance(header, str):
        raise ValueError(f"{path}: {header}")
    log = read_eval_log(str(path))
    model = get_model(f"human/{person}", memoize=False)
    session = open_session(labelling_task(log, count), model, path.parent)
    ask_person(session, port, open_page)
    enter_labels(log, count, session.replies, person)
    written = path.with_name(f"{person}-{path.name}")
    write_eval_log(log, str(written))
    written.replace(path)
    say(f"{len(session.replies)} marks of {person} are in {path_of(str(path))}")
    for items in read_records(str(path)).main.values():
        say(*(f"{name}: {text(figure)}" for name, figure in agreement(items).items()))


def _try_on_pairs(judge: str, captions: str, count: int, folder: str) -> None:
    """Have a judge mark right and wrong answers, or captions, and say how it tells them apart."""
    from inspect_ai import eval as inspect_eval

    from music_evals.evals import song_describer
    from music_evals.evals.shared.calibration import judged_pairs, pairs_task
    from music_evals.reports.records import read_records
    from music_evals.reports.table import text

    if captions:
        task = song_describer.captions(dataset=captions, judge=judge, trials=count)
    else:
        task = pairs_task(count)
    model = "baseline/majority" if captions else judge
    (log,) = inspect_eval(task, model, limit=2 * count, log_dir=folder, display="none")
    if log.status != "success":
        raise ValueError(f"the log {log.location} ended with the status {log.status}")
    say(f"Log: {path_of(log.location)}")
    if captions:
        records = read_records(log.location)
        say(f"Youden's J: {text(records.percent(0, 'typed_answer/judge_j'))}")
        return
    right, wrong, difference, silent = judged_pairs(log)
    say(
        f"Calls right, of right answers: {text(right)}",
        f"Calls right, of wrong answers: {text(wrong)}",
        f"Youden's J: {text(difference)}",
        f"Replies without a mark, which count as wrong: {silent}",
    )
