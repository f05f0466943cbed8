"""`music-evals curve`: scores of a model's checkpoints by step, also while training goes on."""

import time
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from music_evals.commands.output import errors_in_a_line, list_logs, say, show_table
from music_evals.notation.extras import install, require

if TYPE_CHECKING:
    from music_evals.reports.table import Table


def curve(
    logs: Annotated[list[str], Argument(help="Inspect logs, or folders of them.")],
    by: Annotated[
        str,
        Option(
            help=(
                "Metadata, or argument of model or task, that has the step. A run without `step` "
                "has it in the name of its model."
            )
        ),
    ] = "step",
    pattern: Annotated[
        str | None, Option(help="Regular expression; its group is the step, as in 'v(\\d+)-base'.")
    ] = None,
    out: Annotated[
        Path | None, Option(help="Folder for curve.csv and curve.svg, which are replaced.")
    ] = None,
    tensorboard: Annotated[Path | None, Option(help="Folder for TensorBoard's events.")] = None,
    wandb: Annotated[str | None, Option(help="Project of Weights & Biases.")] = None,
    watch: Annotated[
        float | None, Option(min=1, help="Read again every so many seconds, until Ctrl-C.")
    ] = None,
) -> None:
    """Show scores by step of training, each with paired tests against the step before and the
    first step.
    """
    # Here, so that `music-evals --help` need not wait for Inspect.
    from music_evals.evals.registry import defaults_of
    from music_evals.reports.curves import PATTERN, curve_table
    from music_evals.reports.records import read_records

    shown = None
    with errors_in_a_line():
        while shown is None or watch:
            records = read_records(logs, defaults=defaults_of)
            table, left_out = curve_table(records, by, pattern or PATTERN)
            if table != shown:
                _show(table)
                list_logs("Left out:", [*records.passed_over, *left_out])
                if not table.rows and not watch:
                    raise ValueError(f"no run has a {by}; see --by and --pattern")
                if out:
                    _write(table, out)
                if tensorboard:
                    _tensorboard(table.rows, tensorboard)
                if wandb:
                    _wandb(table.rows, wandb)
            shown = table
            time.sleep(watch or 0)


def _show(table: "Table") -> None:
    """Print a table per curve."""
    for title, rows in groupby(table.rows, itemgetter(0)):
        show_table(replace(table, title=title, rows=[*rows]).without("Curve"))


def _write(table: "Table", out: Path) -> None:
    """Write CSV and figure."""
    from music_evals.datasets_builders.dataset_io.folders import replace_file
    from music_evals.reports.plots import curves_figure

    figure = curves_figure(table)
    for name, text in {"curve.csv": table.to_csv(), "curve.svg": figure}.items():
        if text:
            with replace_file(out / name) as path:
                path.write_text(text, encoding="utf-8")
    say(f"Wrote {out}")
    if not figure:
        say(f"Without curve.svg, which needs matplotlib: {install('plots')}")


def _tensorboard(rows: Any, folder: Path) -> None:
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
