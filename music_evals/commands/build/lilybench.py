"""`music-evals build lilybench`: ten tasks on LilyPond scores, of Mutopia and EMOPIA or made offline."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from music_evals.commands.build.output import counting_pieces, left_out_lines
from music_evals.commands.errors import failed

if TYPE_CHECKING:
    from music_evals.datasets_builders.lilybench.dataset import Plan


def lilybench(
    out: Annotated[Path, typer.Option(help="Folder to write; must be absent or empty.")],
    source: Annotated[
        Path | None,
        typer.Option(help="A checkout of the Mutopia Project. Without it, LilyPond made from scores in music21."),
    ] = None,
    emopia: Annotated[
        Path | None, typer.Option(help="Folder of EMOPIA's MIDI files, for emotion_recognition; with --source.")
    ] = None,
    free_only: Annotated[
        bool, typer.Option("--free-only", help="Leave out pieces of Mutopia that state no free licence; to publish.")
    ] = False,
    seed: Annotated[int | None, typer.Option(help="Chooses pieces, places and distractors.")] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace a dataset that is there already.")] = False,
) -> None:
    """Build LilyBench's understanding tasks, by the published procedure and without its leaks."""
    # Here, so that `music-evals --help` need not wait for them.
    from music_evals.datasets_builders.folder import DatasetError, check_target
    from music_evals.datasets_builders.lilybench import dataset as builder
    from music_evals.notation.lilypond.compiler import LilyPondError
    from music_evals.notation.lilypond.sandbox import SandboxError

    if emopia is not None and source is None:
        raise typer.BadParameter("the default dataset composes its own clips; give --source too", param_hint="--emopia")
    chosen = builder.DEFAULT_SEED if seed is None else seed
    console = Console()
    try:
        check_target(out, overwrite=overwrite)
        with counting_pieces(console, "compiling") as (advance, announce):
            if source is None:
                plan = builder.build_generated(chosen, on_piece=advance, on_pieces=announce)
            else:
                plan = builder.build_mutopia(
                    source, emopia, free_only=free_only, seed=chosen, on_piece=advance, on_pieces=announce
                )
            builder.write(plan, out, overwrite=overwrite)
    except (DatasetError, LilyPondError, SandboxError, OSError) as error:
        raise failed(error) from error
    console.print(_rows(plan))
    _tell_pieces(console, plan)
    console.print(f"Wrote {out}", markup=False, highlight=False, soft_wrap=True)


def _rows(plan: "Plan") -> Table:
    table = Table("task", "strict", "paper")
    for column in table.columns[1:]:
        column.justify = "right"
    for task, splits in plan.rows.items():
        table.add_row(task, str(len(splits["strict"])), str(len(splits["paper"])))
    return table


def _tell_pieces(console: Console, plan: "Plan") -> None:
    pieces = len(plan.corpus)
    compiled = sum(row["compiles"] for row in plan.corpus)
    lines = [
        f"{pieces} pieces, of which LilyPond compiles {compiled} ({compiled / pieces:.1%});",
        f"{sum(row['usable'] for row in plan.corpus)} are usable by strict tasks"
        + (". The others:" if plan.unusable else "."),
        *(f"  {count:4}  {reason}" for reason, count in plan.unusable.most_common()),
    ]
    for line in [*lines, *left_out_lines(plan.left_out)]:
        console.print(line, markup=False, highlight=False, soft_wrap=True)
