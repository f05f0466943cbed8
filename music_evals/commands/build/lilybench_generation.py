"""`music-evals build lilybench-generation`: prompts for music in LilyPond, demonstrations, and reference pieces."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from music_evals.commands.build.output import counting_pieces, left_out_lines
from music_evals.commands.errors import failed

if TYPE_CHECKING:
    from music_evals.datasets_builders.folder import Provenance
    from music_evals.datasets_builders.lilybench.generation.dataset import Plan


def lilybench_generation(
    out: Annotated[Path, typer.Option(help="Folder to write; must be absent or empty.")],
    bmdataset: Annotated[
        Path | None,
        typer.Option(help="Folder of BMdataset's labels and files. Without it, works that come with music21."),
    ] = None,
    mutopia: Annotated[
        Path | None, typer.Option(help="A checkout of the Mutopia Project, to measure against; with --bmdataset.")
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(help="Embeds the reference pieces: csc-unipd/lilybert, another name, or a folder.")
    ] = None,
    free_only: Annotated[
        bool, typer.Option("--free-only", help="Leave out pieces of Mutopia that state no free licence; to publish.")
    ] = False,
    seed: Annotated[int | None, typer.Option(help="Draws prompts and demonstrations, and splits the works.")] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace a dataset that is there already.")] = False,
) -> None:
    """Build LilyBench's generation part: 200 prompts, demonstrations, and sets of reference pieces."""
    # Here, so that `music-evals --help` need not wait for them.
    from music_evals.datasets_builders.folder import DatasetError, check_target
    from music_evals.datasets_builders.lilybench.generation import dataset as builder
    from music_evals.notation.lilypond.compiler import LilyPondError
    from music_evals.notation.lilypond.sandbox import SandboxError

    if mutopia is not None and bmdataset is None:
        raise typer.BadParameter(
            "the prompts of this set come from BMdataset; give --bmdataset too", param_hint="--mutopia"
        )
    chosen = builder.DEFAULT_SEED if seed is None else seed
    console = Console()
    try:
        check_target(out, overwrite=overwrite)
        with counting_pieces(console, "measuring") as (advance, announce):
            if bmdataset is None:
                plan = builder.build_generated(chosen, encoder=encoder, on_piece=advance, on_pieces=announce)
            else:
                plan = builder.build_bmdataset(
                    bmdataset,
                    mutopia,
                    free_only=free_only,
                    seed=chosen,
                    encoder=encoder,
                    on_piece=advance,
                    on_pieces=announce,
                )
            made = builder.write(plan, out, overwrite=overwrite)
    except (DatasetError, LilyPondError, SandboxError, OSError) as error:
        raise failed(error) from error
    console.print(_rows(made, plan))
    for line in _remarks(plan):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    console.print(f"Wrote {out}", markup=False, highlight=False, soft_wrap=True)


def _rows(made: "Provenance", plan: "Plan") -> Table:
    table = Table("config", "split", "rows", "compile")
    for column in table.columns[2:]:
        column.justify = "right"
    for config, splits in made.counts.items():
        for split, rows in splits.items():
            compiled = sum(row["compiles"] for row in plan.references.get(config, ()))
            table.add_row(config, split, str(rows), str(compiled) if config in plan.references else "")
    return table


def _remarks(plan: "Plan") -> list[str]:
    held_out = sum(work["split"] == "test" for work in plan.works)
    lines = [f"{len(plan.works)} works, {held_out} of them held out."]
    lines += [f"Missing: {what}" for what in plan.provenance.missing]
    return [*lines, *left_out_lines(plan.left_out)]
