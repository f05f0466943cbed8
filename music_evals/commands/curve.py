"""`music-evals curve`: scores of a model's checkpoints by step, also while training goes on."""

import re
import time
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, BadParameter, Option

from music_evals.commands.output import errors_in_a_line, list_logs, say, show_table
from music_evals.notation.extras import install, require


def curve(
    logs: Annotated[list[str], Argument(help="Inspect logs, or folders of them.")],
    by: Annotated[
        str,
        Option(
            help=(
                "Metadata, or argument of the model, that has the step. A run without `step` has "
                "it in the name of its model."
            )
        ),
    ] = "step",
    pattern: Annotated[
        str, Option(help="Regular expression whose group is the step, such as 'v(\\d+)-base'.")
    ] = "",
    out: Annotated[
        str, Option(help="Folder for curve.csv and curve.svg, which are replaced.")
    ] = "",
    tensorboard: Annotated[str, Option(help="Folder for TensorBoard's events.")] = "",
    wandb: Annotated[str, Option(help="Project of Weights & Biases.")] = "",
    watch: Annotated[
        float, Option(min=0, help="Read again every so many seconds, until Ctrl-C; 0 for once.")
    ] = 0,
) -> None:
    """Show scores by step of training, with tests of each change and of a trend, and say what the
    best step is worth.
    """
    # Here, so that `music-evals --help` need not wait for Inspect.
    from music_evals.reports.curves import curve_table
    from music_evals.reports.records import read_records

    _check(pattern)
    shown = None
    with errors_in_a_line():
        while True:
            table, sentences, left_out = curve_table(read_records(logs), by, pattern)
            if table != shown and (table.rows or not watch):
                for title, rows in groupby(table.rows, itemgetter(0)):
                    show_table(replace(table, title=title, rows=tuple(rows)).without("Curve"))
                    say(*sentences[title])
                list_logs("Left out:", left_out)
                if not table.rows:
                    raise ValueError("no run has a step; see --by and --pattern")
                if out:
                    _write(out, table.to_csv())
                if tensorboard:
                    _tensorboard(table.rows, tensorboard)
                if wandb:
                    _wandb(table.rows, wandb)
            shown = table
            if not watch:
                return
            time.sleep(watch)


def _check(pattern: str) -> None:
    """Check that a pattern is a regular expression whose group can be the step."""
    try:
        groups = re.compile(pattern).groups
    except re.error as error:
        raise BadParameter(f"{pattern!r} is no regular expression: {error}") from error
    if pattern and groups != 1:
        raise BadParameter(f"{pattern!r} has {groups} groups; one is needed, for the step")


def _write(out: str, scores: str) -> None:
    """Write the scores and their figure."""
    from music_evals.datasets_builders.dataset_io.folders import replace_file
    from music_evals.reports.plots import curves_figure

    figure = curves_figure(scores)
    for name, text in {"curve.csv": scores, "curve.svg": figure}.items():
        if text:
            with replace_file(Path(out, name)) as path:
                path.write_text(text, encoding="utf-8")
    say(f"Wrote {out}")
    if not figure:
        say(f"Without curve.svg, which needs matplotlib: {install('plots')}")


def _tensorboard(rows: Any, folder: str) -> None:
    """Write scores as TensorBoard's events."""
    with require("torch.utils.tensorboard", "trackers").SummaryWriter(folder) as writer:
        for curve, step, score, *_ in rows:
            writer.add_scalar(curve, score.value, step.value)


def _wandb(rows: Any, project: str) -> None:
    """Log scores to this process's run in W&B, by a step of their own."""
    run = require("wandb", "trackers").init(project=project)
    run.define_metric("*", step_metric="step")
    for curve, step, score, *_ in rows:
        run.log({"step": step.value, curve: score.value})
