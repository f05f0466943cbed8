"""`music-evals build muse`: fresh stimuli from a seed, or the authors' recordings."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.console import Console
from rich.table import Table

from music_evals.commands.build.output import progress_bar
from music_evals.commands.errors import failed


def muse(
    out: Annotated[Path, typer.Option(help="Folder to write; must be absent or empty.")],
    seed: Annotated[int | None, typer.Option(help="Seed of the generated stimuli.")] = None,
    source: Annotated[
        Path | None, typer.Option(help="Build from a copy of the MUSE repository instead of generating.")
    ] = None,
    allow_partial: Annotated[
        bool, typer.Option(help="With --source: leave out rows whose recordings are missing.")
    ] = False,
    soundfont: Annotated[
        Path | None, typer.Option(help="SoundFont 2 file to render with, instead of the default one.")
    ] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace a dataset that is there already.")] = False,
    syncopation: Annotated[int | None, typer.Option(help="Test rows to generate; default 20.")] = None,
    transposition: Annotated[int | None, typer.Option(help="Test rows to generate; default 20.")] = None,
    chord_quality: Annotated[int | None, typer.Option(help="Test rows to generate; default 44.")] = None,
) -> None:
    """Build MUSE: fresh stimuli from a seed, or the authors' recordings with --source."""
    # Here, so that `music-evals --help` need not wait for them.
    from music_evals.datasets_builders.folder import DatasetError, check_target
    from music_evals.datasets_builders.muse import dataset as builder
    from music_evals.datasets_builders.muse.recordings import build_recordings

    asked = {"syncopation": syncopation, "transposition": transposition, "chord_quality": chord_quality}
    counts = {config: count for config, count in asked.items() if count is not None}
    if source is None and allow_partial:
        raise typer.BadParameter("only recordings can be partial; give --source too", param_hint="--allow-partial")
    if source is not None and (seed is not None or soundfont is not None or counts):
        raise typer.BadParameter(
            "--seed, --soundfont and numbers of rows are for generated stimuli; recordings are what they are",
            param_hint="--source",
        )

    console = Console()
    try:
        check_target(out, overwrite=overwrite)
        with console.status("composing" if source is None else "checking the recordings"):
            if source is not None:
                plan = build_recordings(source, allow_partial=allow_partial)
            else:
                chosen = builder.DEFAULT_SEED if seed is None else seed
                plan = builder.build_generated(chosen, builder.Counts(**counts), soundfont=soundfont)
        with progress_bar(console) as progress:
            task = progress.add_task("", total=plan.n_rows)

            def advance(config: str, split: str) -> None:
                progress.update(task, advance=1, description=f"{config} {split}")

            made = builder.write(plan, out, overwrite=overwrite, on_row=advance)
        if made.missing:
            console.print(f"Built without {len(made.missing)} files that {source} lacks:", style="yellow")
            for name in made.missing:
                console.print(f"  {name}", markup=False, highlight=False)
        console.print(_table(out))
    except (DatasetError, OSError) as error:
        raise failed(error) from error
    console.print(f"Wrote {out}", markup=False, highlight=False, soft_wrap=True)


class _Summary(NamedTuple):
    """What one split holds; seconds of all its clips together, and its answers with their numbers."""

    config: str
    split: str
    rows: int
    seconds: float
    answers: Counter[str]


def _summaries(out: Path) -> Iterator[_Summary]:
    """Read a dataset of MUSE back."""
    from music_evals.datasets_builders.folder import describe_dataset, load_split
    from music_evals.datasets_builders.muse.dataset import BENCHMARK
    from music_evals.notation.audio import describe_wav

    for config, splits in describe_dataset(str(out), benchmark=BENCHMARK).provenance.counts.items():
        for split in splits:
            rows = load_split(str(out), config, split, benchmark=BENCHMARK)
            clips = [name for name in rows.column_names if name.startswith("audio")]
            seconds = sum(describe_wav(row[clip]["bytes"]).seconds for row in rows for clip in clips)
            yield _Summary(config, split, len(rows), seconds, Counter(rows["target"]))


def _table(out: Path) -> Table:
    table = Table("config", "split", "rows", "audio (s)", "answers")
    for column in table.columns[2:4]:
        column.justify = "right"
    for one in _summaries(out):
        # The sentences of a Yes/No answer are told apart by their first word.
        answers = ", ".join(f"{answer.split(',')[0]} {count}" for answer, count in sorted(one.answers.items()))
        table.add_row(one.config, one.split, str(one.rows), f"{one.seconds:.1f}", answers)
    return table
