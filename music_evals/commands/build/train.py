"""`music-evals build train`: rows for training, apart from test rows by work and by content."""

from functools import partial
from typing import Annotated

from typer import Argument, Option

from music_evals.commands.output import Out, Overwrite, building, say, say_counts


def train(
    name: Annotated[
        str,
        Argument(help="A dataset whose default data is composed, such as musictheorybench."),
    ],
    out: Out,
    rows: Annotated[int, Option(help="Rows of all tasks together, spread evenly.", min=1)],
    seed: Annotated[
        int, Option(help="Any number; a test set of the same seed has other rows.")
    ] = 1,
    task: Annotated[
        list[str] | None, Option(help="Only this task (config); may be repeated.")
    ] = None,
    against: Annotated[
        list[str] | None,
        Option(
            help="A further test set: a dataset folder or hf://datasets/ORG/NAME; may be repeated."
        ),
    ] = None,
    audio: Annotated[
        bool, Option("--audio", help="Render clips; without it rows have MIDI alone.")
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Build a training set: by the composers of the test sets, and with no row that a test set
    has.
    """
    # Here, so that `music-evals --help` need not wait for them.
    from music_evals.datasets_builders.dataset_io import benchmark_of
    from music_evals.datasets_builders.training.sets import build_training_set
    from music_evals.evals.registry import dataset_module
    from music_evals.evals.shared.training_prompts import training_prompts

    with building(out, overwrite=overwrite) as console:
        tests = {
            dataset: dataset_module(benchmark_of(dataset)).BENCHMARK for dataset in against or ()
        }
        with console.status("composing"):
            provenance = build_training_set(
                name,
                out,
                rows=rows,
                seed=seed,
                tasks=task or (),
                against=tests,
                audio=audio,
                overwrite=overwrite,
                prompts=partial(training_prompts, name),
            )
        say_counts(provenance.counts)
        for test, numbers in (
            provenance.decontamination.tests.items() if provenance.decontamination else ()
        ):
            say(f"{numbers['dropped']} rows dropped for {test}")
