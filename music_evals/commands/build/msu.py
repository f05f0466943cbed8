"""`music-evals build msu`: computed questions on scores, or the published ones."""

from pathlib import Path
from typing import Annotated

from typer import BadParameter, Option

from music_evals.commands.output import Out, Overwrite, building, say_counts, say_gaps
from music_evals.datasets_builders.progress import counting_pieces


def msu(
    out: Out,
    seed: Annotated[int | None, Option(help="Chooses computed questions, and the splits.")] = None,
    source: Annotated[
        str | None,
        Option(
            help=(
                "'published' to fetch the published data; a folder of your own scores, or with a "
                "snapshot of the authors' repository; or hf://datasets/ORG/NAME. Without it, "
                "scores of music21."
            )
        ),
    ] = None,
    works: Annotated[
        int | None, Option(help="Without --source: only so many works.", min=1)
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Build MSU-Bench: questions computed on scores, or the published ones."""
    # Here, so that `music-evals --help` need not wait for them.
    from music_evals.datasets_builders.dataset_io import build_dataset
    from music_evals.datasets_builders.msu import computed
    from music_evals.datasets_builders.msu.dataset import BENCHMARK, write
    from music_evals.datasets_builders.msu.rows import DEFAULT_SEED
    from music_evals.datasets_builders.msu.works import default_works

    if works is not None and source is not None:
        raise BadParameter(
            "all scores of a source are read; --works is for music21's", param_hint="--works"
        )
    with building(out, overwrite=overwrite) as console:
        with counting_pieces(console) as advance:
            if source is None:
                chosen = default_works()[:works]
                plan = computed.build_generated(
                    DEFAULT_SEED if seed is None else seed, chosen, on_score=advance
                )
                provenance = write(plan, out, overwrite=overwrite, on_score=advance)
            elif seed is None:
                provenance = build_dataset(BENCHMARK, out, source, on_piece=advance)
            else:
                plan = computed.build_own(Path(source), seed, on_score=advance)
                provenance = write(plan, out, overwrite=overwrite, on_score=advance)
        say_counts(provenance.counts)
        say_gaps(provenance)
