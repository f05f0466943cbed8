"""`music-evals build muse`: fresh stimuli from a seed, or the authors' recordings."""

from pathlib import Path
from typing import Annotated

from typer import BadParameter, Option

from music_evals.commands.output import (
    Out,
    Overwrite,
    PublishedSource,
    Seed,
    building,
    say_counts,
    say_gaps,
)
from music_evals.datasets_builders.progress import counting_pieces

_TwentyRows = Annotated[int | None, Option(min=0, help="Test rows to generate; default 20.")]


def muse(
    out: Out,
    seed: Seed = None,
    source: PublishedSource = None,
    allow_partial: Annotated[
        bool, Option(help="With --source: leave out rows whose recordings are missing.")
    ] = False,
    soundfont: Annotated[
        Path | None,
        Option(help="SoundFont 2 file to render with, instead of the default one."),
    ] = None,
    overwrite: Overwrite = False,
    syncopation: _TwentyRows = None,
    transposition: _TwentyRows = None,
    chord_quality: Annotated[
        int | None, Option(min=0, help="Test rows to generate; default 44.")
    ] = None,
) -> None:
    """Build MUSE: fresh stimuli from a seed, or the authors' recordings with --source."""
    # Here, so that `music-evals --help` need not wait for them.
    from music_evals.datasets_builders.dataset_io import build_dataset
    from music_evals.datasets_builders.muse import dataset as builder
    from music_evals.datasets_builders.muse.rows import DEFAULT_SEED

    options = {
        "syncopation": syncopation,
        "transposition": transposition,
        "chord_quality": chord_quality,
    }
    counts = {config: count for config, count in options.items() if count is not None}
    if source is None and allow_partial:
        raise BadParameter(
            "only recordings can be partial; give --source too", param_hint="--allow-partial"
        )
    if source is not None and (seed is not None or soundfont is not None or counts):
        raise BadParameter(
            "--seed, --soundfont and numbers of rows are for generated stimuli, not for recordings",
            param_hint="--source",
        )

    with building(out, overwrite=overwrite) as console:
        with counting_pieces(console) as advance:
            if source is not None:
                provenance = build_dataset(
                    builder.BENCHMARK, out, source, allow_partial=allow_partial, on_piece=advance
                )
            else:
                seed = DEFAULT_SEED if seed is None else seed
                plan = builder.build_generated(seed, builder.Counts(**counts), soundfont=soundfont)
                provenance = builder.write(plan, out, overwrite=overwrite, on_piece=advance)
        say_gaps(provenance)
        say_counts(provenance.counts)
