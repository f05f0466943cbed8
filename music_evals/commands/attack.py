"""`music-evals attack`: how often guessers that see no music answer the questions of a dataset."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from music_evals.benchmarks import dataset_names
from music_evals.commands.output import failed, say, table

if TYPE_CHECKING:
    from music_evals.datasets_builders.dataset_io import Benchmark
    from music_evals.datasets_builders.questions.attack import Share
    from music_evals.datasets_builders.questions.items import Item

_LEARNED_FROM = ("train", "validation")  # splits; a dataset without them is cross-validated


def attack(
    dataset: Annotated[
        str,
        typer.Argument(
            help=f"A dataset folder, hf://datasets/ORG/NAME[@REVISION], or {', '.join(dataset_names())}: as generated."
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="Write every guesser's share of every form to a CSV file.")] = None,
) -> None:
    """Guess the answers of a dataset from options and questions alone, without the music."""
    # Imported here, so that `music-evals --help` does not load them.
    from music_evals.datasets_builders import builder
    from music_evals.datasets_builders.dataset_io import GENERATED, DatasetError, benchmark_of
    from music_evals.datasets_builders.questions.attack import ALL, best
    from music_evals.datasets_builders.questions.attack import attack as guess

    console = Console()
    try:
        generated = dataset in dataset_names()
        benchmark = builder(dataset if generated else benchmark_of(dataset)).BENCHMARK
        with console.status("guessing"):
            items, learned = _items(GENERATED if generated else dataset, benchmark)
            if not items:
                raise DatasetError(f"{dataset} has no questions with options, or with answers in words")
            shares = guess(items, learned)
        favourites = best(shares)
        if out is not None:
            _write(out, shares)
    except (DatasetError, OSError) as error:
        raise failed(error) from error
    totals = table("guesser, all questions", "right", "95% interval", "chance", "questions")
    for share in shares:
        if share.form == ALL or len(favourites) == 1:
            totals.add_row(share.guesser, *_figures(share))
    forms = table("form", "best guesser, in hindsight", "right", "95% interval", "chance", "questions", text=2)
    for form, share in favourites.items():
        if form != ALL:
            forms.add_row(form, share.guesser, *_figures(share))
    console.print(forms)
    console.print(totals)
    source = "the other splits" if learned else "four fifths of the groups for the last fifth"
    say(console, f"Guessers that learn have learned from {source}.")


def _items(dataset: str, benchmark: "Benchmark") -> "tuple[list[Item], list[Item]]":
    """Return the questions to guess, and those of splits to learn from."""
    from music_evals.datasets_builders.dataset_io import describe_dataset, load_split
    from music_evals.datasets_builders.questions.floors import items_of, pools
    from music_evals.datasets_builders.questions.items import COLUMNS

    items: list[Item] = []
    learned: list[Item] = []
    for config, splits in describe_dataset(dataset, benchmark=benchmark).provenance.counts.items():
        columns = [name for name in benchmark.features[config] if name in COLUMNS]
        if not {"answer", "target"} & {*columns}:
            continue
        for pool in pools(splits):
            for split in pool:
                form = f"{config} {split}" if pool == [split] != ["test"] else config
                rows = load_split(dataset, config, split, benchmark=benchmark, columns=columns).to_list()
                (learned if split in _LEARNED_FROM else items).extend(items_of(benchmark.name, config, rows, form))
    return items, learned


def _figures(share: "Share") -> tuple[str, ...]:
    low, high = share.interval()
    return f"{share.value:.1%}", f"{low:.1%} to {high:.1%}", f"{share.chance:.1%}", str(share.n)


def _write(out: Path, shares: "list[Share]") -> None:
    with out.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["form", "guesser", "right", "low", "high", "chance", "questions"])
        for share in shares:
            figures = (share.value, *share.interval(), share.chance)
            lines.writerow([share.form, share.guesser, *(f"{figure:.4f}" for figure in figures), share.n])
