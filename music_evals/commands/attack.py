"""`music-evals attack`: how often guessers that see no music answer the questions of a dataset."""

from typing import TYPE_CHECKING, Annotated

from rich.console import Console
from typer import Argument

from music_evals.benchmarks import dataset_names
from music_evals.commands.output import errors_in_a_line, say, table

if TYPE_CHECKING:
    from music_evals.datasets_builders.dataset_io import DatasetSpec
    from music_evals.datasets_builders.questions.items import Item

_LEARNED_FROM = ("train", "validation")  # splits; a dataset without them is cross-validated


def attack(
    dataset: Annotated[
        str,
        Argument(
            help=(
                "A dataset folder, hf://datasets/ORG/NAME[@REVISION], or "
                f"{', '.join(dataset_names())}: as generated."
            )
        ),
    ],
) -> None:
    """Guess the answers of a dataset from options and questions alone, without the music."""
    # Here, so that `music-evals --help` need not wait for them.
    from music_evals.datasets_builders.dataset_io import GENERATED, DatasetError, benchmark_of
    from music_evals.datasets_builders.questions.attack import ALL, best
    from music_evals.datasets_builders.questions.attack import attack as guess
    from music_evals.evals.registry import dataset_module

    console = Console()
    with errors_in_a_line():
        is_name = dataset in dataset_names()
        spec = dataset_module(dataset if is_name else benchmark_of(dataset)).BENCHMARK
        with console.status("guessing"):
            items, training_items = _items(GENERATED if is_name else dataset, spec)
            if not items:
                raise DatasetError(
                    f"{dataset} has no questions with options, or with answers in words"
                )
            shares = guess(items, training_items)
    totals = table("guesser, all questions", "right", "95% interval", "chance", "questions")
    forms = table(
        "form", "best guesser, in hindsight", "right", "95% interval", "chance", "questions", text=2
    )
    best_shares = best(shares)
    for share in shares:
        low, high = share.interval()
        interval = f"{low:.1%} to {high:.1%}"
        cells = (f"{share.value:.1%}", interval, f"{share.chance:.1%}", str(share.n))
        if share.form == ALL or len(best_shares) == 1:
            totals.add_row(share.guesser, *cells)
        if share.form != ALL and share is best_shares[share.form]:
            forms.add_row(share.form, share.guesser, *cells)
    console.print(forms)
    console.print(totals)
    source = "the other splits" if training_items else "four fifths of the groups for the fifth"
    say(f"Guessers that learn were trained on {source}.")


def _items(dataset: str, spec: "DatasetSpec") -> "tuple[list[Item], list[Item]]":
    """Return the questions to guess, and the questions of splits to learn from."""
    from music_evals.datasets_builders.dataset_io import describe_dataset, load_split
    from music_evals.datasets_builders.questions.floors import items_of, pools
    from music_evals.datasets_builders.questions.items import COLUMNS

    items: list[Item] = []
    training_items: list[Item] = []
    for config, splits in describe_dataset(dataset, benchmark=spec).provenance.counts.items():
        columns = [name for name in spec.features[config] if name in COLUMNS]
        if not {"answer", "target"} & {*columns}:
            continue
        for pool in pools(splits):
            for split in pool:
                form = f"{config} {split}" if pool == [split] != ["test"] else config
                rows = load_split(dataset, config, split, benchmark=spec, columns=columns).to_list()
                target = training_items if split in _LEARNED_FROM else items
                target.extend(items_of(spec.name, config, rows, form))
    return items, training_items
