"""`music-evals build msu`: computed questions on scores, or the published ones."""

from pathlib import Path
from typing import Annotated

import typer

from music_evals.commands.output import Out, Overwrite, building, left_out_lines, say, say_counts
from music_evals.datasets_builders.progress import counting_pieces

HUB = "hub"


def msu(
    out: Out,
    seed: Annotated[int | None, typer.Option(help="Chooses computed questions, and the splits.")] = None,
    source: Annotated[
        str | None,
        typer.Option(
            help="'hub' for the published data; or a folder of your own scores, of the authors' spreadsheets, or with "
            "a snapshot of their Hub repository. Without it, scores that come with music21."
        ),
    ] = None,
    revision: Annotated[str | None, typer.Option(help="With --source hub: a commit, branch or tag.")] = None,
    works: Annotated[int | None, typer.Option(help="Without --source: only so many works.", min=1)] = None,
    overwrite: Overwrite = False,
) -> None:
    """Build MSU-Bench: questions computed on scores, or the published ones."""
    # Here, so that `music-evals --help` need not wait for them.
    from music_evals.datasets_builders.msu import computed, published
    from music_evals.datasets_builders.msu.dataset import DEFAULT_SEED, write
    from music_evals.datasets_builders.msu.works import default_works

    if revision is not None and source != HUB:
        raise typer.BadParameter("only the Hub has revisions; give --source hub too", param_hint="--revision")
    if works is not None and source is not None:
        raise typer.BadParameter("all scores of a source are read; --works is for music21's", param_hint="--works")
    seed = DEFAULT_SEED if seed is None else seed
    with building(out, overwrite=overwrite) as console:
        with counting_pieces(console) as advance:
            if source is None:
                plan = computed.build_generated(seed, default_works()[:works], on_score=advance)
            elif source == HUB:
                snapshot, commit = published.download_published(revision)
                plan = published.build_snapshot(snapshot, revision=commit, seed=seed)
            elif published.is_snapshot(folder := Path(source).expanduser()):
                plan = published.build_snapshot(folder, seed=seed)
            elif (folder / published.QUESTIONS_FILE).is_file():
                plan = published.build_spreadsheets(folder, seed=seed)
            else:
                plan = computed.build_own(folder, seed, on_score=advance)
            provenance = write(plan, out, overwrite=overwrite, on_score=advance)
        say_counts(console, provenance.counts)
        say(console, *left_out_lines(plan.left_out or {}))
        for anomaly, count in plan.provenance.anomalies.items():
            if not anomaly.startswith("left out"):
                say(console, f"{anomaly}: {count}")
