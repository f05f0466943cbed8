"""`music-evals build lilybench`: ten tasks on LilyPond scores, from Mutopia and EMOPIA or made
offline.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import BadParameter, Option

from music_evals.commands.output import (
    FreeOnly,
    Out,
    Overwrite,
    build_as_it_is,
    building,
    left_out_lines,
    refuse_with_published,
    say,
    say_counts,
)
from music_evals.datasets_builders.progress import counting_pieces

if TYPE_CHECKING:
    from music_evals.datasets_builders.lilybench.dataset import Plan


def lilybench(
    out: Out,
    source: Annotated[
        str | None,
        Option(
            help=(
                "'published' to fetch the Mutopia Project and EMOPIA, or a checkout of the former. "
                "Without it, "
                "LilyPond made from scores in music21."
            )
        ),
    ] = None,
    emopia: Annotated[
        Path | None,
        Option(help="Folder of EMOPIA's MIDI files, for emotion_recognition; with --source."),
    ] = None,
    free_only: FreeOnly = False,
    seed: Annotated[int | None, Option(help="Chooses pieces, places and distractors.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Build LilyBench's understanding tasks, by the published procedure and without its leaks."""
    # Here, so that `music-evals --help` need not wait for it.
    from music_evals.datasets_builders.dataset_io import PUBLISHED
    from music_evals.datasets_builders.lilybench import dataset as builder
    from music_evals.datasets_builders.lilybench.dataset import BENCHMARK
    from music_evals.datasets_builders.lilybench.rows import DEFAULT_SEED

    if emopia is not None and source is None:
        raise BadParameter(
            "the default dataset composes its own clips; give --source too", param_hint="--emopia"
        )
    if source == PUBLISHED:
        refuse_with_published(emopia=emopia, free_only=free_only, seed=seed)
        build_as_it_is(BENCHMARK, out, source, overwrite=overwrite)
        return
    seed = DEFAULT_SEED if seed is None else seed
    with building(out, overwrite=overwrite) as console:
        with counting_pieces(console) as advance:
            if source is None:
                plan = builder.build_generated(seed, on_piece=advance)
            else:
                plan = builder.build_mutopia(
                    Path(source), emopia, free_only=free_only, seed=seed, on_piece=advance
                )
            provenance = builder.write(plan, out, overwrite=overwrite)
        say_counts(provenance.counts)
        say(*_pieces(plan), *left_out_lines(plan.left_out))


def _pieces(plan: "Plan") -> Iterator[str]:
    pieces = len(plan.corpus)
    compiled = sum(row["compiles"] for row in plan.corpus)
    usable = sum(row["usable"] for row in plan.corpus)
    yield (
        f"LilyPond compiles {compiled} of {pieces} pieces ({compiled / pieces:.1%}). Strict tasks "
        f"use {usable}."
    )
    for reason, count in plan.unusable.most_common():
        yield f"  {count:4}  {reason}"
