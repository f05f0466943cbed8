"""`music-evals build lilybench_generation`: prompts for music in LilyPond, demonstrations, and
reference pieces.
"""

from pathlib import Path
from typing import Annotated

from typer import BadParameter, Option

from music_evals.commands.output import (
    FreeOnly,
    Out,
    Overwrite,
    PublishedSource,
    build_as_it_is,
    building,
    left_out_lines,
    refuse_with_published,
    say,
    say_counts,
)
from music_evals.datasets_builders.progress import counting_pieces


def lilybench_generation(
    out: Out,
    source: PublishedSource = None,
    bmdataset: Annotated[
        Path | None,
        Option(
            help="Folder of BMdataset's labels and files. Without it, works that come with music21."
        ),
    ] = None,
    mutopia: Annotated[
        Path | None,
        Option(help="A checkout of the Mutopia Project, to measure against; with --bmdataset."),
    ] = None,
    encoder: Annotated[
        str | None,
        Option(help="Embeds the reference pieces: csc-unipd/lilybert, another name, or a folder."),
    ] = None,
    free_only: FreeOnly = False,
    seed: Annotated[
        int | None, Option(help="Draws prompts and demonstrations, and splits the works.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Build LilyBench's generation part: 200 prompts, demonstrations, and sets of reference
    pieces.
    """
    # Here, so that `music-evals --help` need not wait for it.
    from music_evals.datasets_builders.lilybench_generation import dataset as builder
    from music_evals.datasets_builders.lilybench_generation.dataset import BENCHMARK
    from music_evals.datasets_builders.lilybench_generation.rows import DEFAULT_SEED

    if source is not None:
        refuse_with_published(
            bmdataset=bmdataset, mutopia=mutopia, encoder=encoder, free_only=free_only, seed=seed
        )
        build_as_it_is(BENCHMARK, out, source, overwrite=overwrite)
        return

    if mutopia is not None and bmdataset is None:
        raise BadParameter(
            "the prompts of this set come from BMdataset; give --bmdataset too",
            param_hint="--mutopia",
        )
    seed = DEFAULT_SEED if seed is None else seed
    with building(out, overwrite=overwrite) as console:
        with counting_pieces(console) as advance:
            if bmdataset is None:
                plan = builder.build_generated(seed, encoder=encoder, on_piece=advance)
            else:
                plan = builder.build_bmdataset(
                    bmdataset,
                    mutopia,
                    free_only=free_only,
                    seed=seed,
                    encoder=encoder,
                    on_piece=advance,
                )
            provenance = builder.write(plan, out, overwrite=overwrite)
        say_counts(provenance.counts)
        held_out = sum(work["split"] == "test" for work in plan.works)
        say(f"{len(plan.works)} works, {held_out} of them held out.")
        say(
            *(f"Missing: {name}" for name in plan.provenance.missing_for("")),
            *left_out_lines(plan.left_out),
        )
