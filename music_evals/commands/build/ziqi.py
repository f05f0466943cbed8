"""`music-evals build ziqi`: the published questions, or composed questions of the same form."""

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


def ziqi(
    out: Out,
    seed: Seed = None,
    source: PublishedSource = None,
    skip_bad: Annotated[
        bool, Option(help="With --source FOLDER: leave malformed rows out, counted.")
    ] = False,
    theory: Annotated[
        int | None, Option(help="Theory questions to compose for test; default 240.")
    ] = None,
    continuation: Annotated[
        int | None, Option(help="Continuation questions to compose for test; default 60.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Build ZIQI-Eval: questions composed from a seed, or the published ones with --source."""
    # Here, so that `music-evals --help` need not wait for them.
    from music_evals.datasets_builders.dataset_io import build_dataset
    from music_evals.datasets_builders.ziqi import dataset as builder
    from music_evals.datasets_builders.ziqi.published import build_published

    options = {"theory": theory, "continuation": continuation}
    counts = {name: count for name, count in options.items() if count is not None}
    if source is None and skip_bad:
        raise BadParameter(
            "it is for the published questions; give --source too", param_hint="--skip-bad"
        )
    if source is not None and (seed is not None or counts):
        raise BadParameter(
            "--seed, --theory and --continuation are for composed questions, not for published "
            "ones",
            param_hint="--source",
        )
    with building(out, overwrite=overwrite) as console:
        if source is None:
            with console.status("composing"):
                plan = builder.build_generated(
                    builder.DEFAULT_SEED if seed is None else seed, **counts
                )
            provenance = builder.write(plan, out, overwrite=overwrite)
        elif skip_bad:
            provenance = builder.write(
                build_published(Path(source), skip_bad=True), out, overwrite=overwrite
            )
        else:
            provenance = build_dataset(builder.BENCHMARK, out, source)
        say_counts(provenance.counts)
        say_gaps(provenance)
