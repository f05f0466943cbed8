"""`music-evals build ziqi`: the published questions, or composed questions of the same form."""

from pathlib import Path
from typing import Annotated

import typer

from music_evals.commands.output import Out, Overwrite, building, say, say_counts

HUB = "hub"


def ziqi(
    out: Out,
    seed: Annotated[int | None, typer.Option(help="Seed of the composed questions.")] = None,
    source: Annotated[
        str | None,
        typer.Option(help="Take the published questions: a folder with dev/ and test/, or 'hub' to download them."),
    ] = None,
    revision: Annotated[
        str | None, typer.Option(help="With --source hub: another commit, branch or tag than the pinned one.")
    ] = None,
    skip_bad: Annotated[bool, typer.Option(help="With --source: leave malformed rows out, counted.")] = False,
    theory: Annotated[int | None, typer.Option(help="Theory questions to compose for test; default 240.")] = None,
    continuation: Annotated[
        int | None, typer.Option(help="Continuation questions to compose for test; default 60.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Build ZIQI-Eval: questions composed from a seed, or the published ones with --source."""
    # Here, so that `music-evals --help` need not wait for them.
    from music_evals.datasets_builders.ziqi import dataset as builder
    from music_evals.datasets_builders.ziqi.published import HUB_COMMIT, build_published, download_published

    options = {"theory": theory, "continuation": continuation}
    counts = {name: count for name, count in options.items() if count is not None}
    if source is None and (skip_bad or revision is not None):
        raise typer.BadParameter(
            "--skip-bad and --revision are for the published questions; give --source too", param_hint="--source"
        )
    if source is not None and (seed is not None or counts):
        raise typer.BadParameter(
            "--seed, --theory and --continuation are for composed questions, not for published ones",
            param_hint="--source",
        )
    if revision is not None and source != HUB:
        raise typer.BadParameter(f"a folder is at one revision only; --source is {source}", param_hint="--revision")

    with building(out, overwrite=overwrite) as console:
        if source is None:
            with console.status("composing"):
                plan = builder.build_generated(builder.DEFAULT_SEED if seed is None else seed, **counts)
        elif source == HUB:
            with console.status("downloading"):
                folder, commit = download_published(revision or HUB_COMMIT)
            plan = build_published(folder, skip_bad=skip_bad, revision=commit)
        else:
            plan = build_published(Path(source), skip_bad=skip_bad)
        provenance = builder.write(plan, out, overwrite=overwrite)
        say_counts(console, provenance.counts)
        say(console, *(f"Odd in the source: {name}: {count}" for name, count in provenance.anomalies.items()))
