"""`music-evals build`: build the dataset of a benchmark as a folder in the layout of the Hub."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated

import typer
from typer import Argument, BadParameter, Option

from music_evals.benchmarks import dataset_facts, dataset_names, load
from music_evals.commands.build.audit import with_audit
from music_evals.commands.build.lilybench import lilybench
from music_evals.commands.build.lilybench_generation import lilybench_generation
from music_evals.commands.build.msu import msu
from music_evals.commands.build.muse import muse
from music_evals.commands.build.train import train
from music_evals.commands.build.ziqi import ziqi
from music_evals.commands.output import (
    Address,
    Engines,
    Out,
    Overwrite,
    PublishedSource,
    Seed,
    build_as_it_is,
    building,
    cluster,
    say_counts,
    say_gaps,
)
from music_evals.datasets_builders.progress import counting_pieces

app = typer.Typer(no_args_is_help=True)
COMMANDS: Mapping[str, Callable[..., None]] = {
    "lilybench": lilybench,
    "lilybench_generation": lilybench_generation,
    "msu": msu,
    "muse": muse,
    "ziqi": ziqi,
}
"""Datasets with a command of their own, which has more options than a builder's `build`."""


@app.callback()
def build(context: typer.Context, engine: Engines = "processes", address: Address = None) -> None:
    """Build the dataset of a benchmark as a folder in the layout of the Hub."""
    if engine == "ray":
        context.with_resource(cluster().spread(address))


def _command(name: str) -> Callable[..., None]:
    """Return the command of a dataset whose builder has a function `build`."""
    facts = dataset_facts(name)
    generated = facts.sources.get("generated")

    def command(
        out: Out,
        source: PublishedSource = None,
        seed: Seed = None,
        allow_partial: Annotated[
            bool,
            Option("--allow-partial", help="Take what is complete if published files are missing."),
        ] = False,
        overwrite: Overwrite = False,
    ) -> None:
        # Here, so that `music-evals --help` need not wait for them.
        from music_evals.datasets_builders.dataset_io import build_dataset
        from music_evals.evals.registry import dataset_module

        if source is None and generated is None:
            raise BadParameter(
                f"{name} has published data only; give --source published", param_hint="--source"
            )
        if source is not None and seed is not None:
            raise BadParameter(
                "a seed is for generated rows, not for published ones", param_hint="--seed"
            )
        with building(out, overwrite=overwrite) as console:
            module = dataset_module(name)
            if seed is None:
                with counting_pieces(console) as advance:
                    provenance = build_dataset(
                        module.BENCHMARK, out, source, allow_partial=allow_partial, on_piece=advance
                    )
            elif hasattr(module, "build"):
                provenance = module.build(out, seed=seed, overwrite=overwrite)
            else:
                raise BadParameter(
                    f"the generated questions of {name} have one seed", param_hint="--seed"
                )
            say_gaps(provenance)
            say_counts(provenance.counts)

    title = load(facts.benchmark).title
    choice = f"{generated.title[0].lower()}{generated.title[1:]}, or " if generated else ""
    command.__doc__ = f"Build {title}: {choice}the published data with --source."
    return command


def _level(
    benchmark: Annotated[str, Argument(help="Name of a dataset.")],
    level: Annotated[int, Argument(min=2, max=5)],
    out: Out,
    overwrite: Overwrite = False,
) -> None:
    """Build the generated dataset of a level of difficulty, from 2 to 5."""
    from music_evals.evals.registry import dataset_module

    if benchmark not in dataset_names():
        raise BadParameter(f"there is no dataset {benchmark}", param_hint="BENCHMARK")
    spec = dataset_module(benchmark).BENCHMARK
    if not spec.leveled:
        raise BadParameter(f"{benchmark} has no levels", param_hint="BENCHMARK")
    build_as_it_is(replace(spec, level=level), out, None, overwrite=overwrite)


app.command("level")(_level)
app.command("train")(train)
for dataset in dataset_names():
    app.command(dataset)(with_audit(dataset, COMMANDS.get(dataset) or _command(dataset)))
