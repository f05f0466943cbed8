"""`music-evals publish`: push a dataset folder to a repository of the Hugging Face Hub."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.filesize import decimal

from music_evals.benchmarks import dataset_names
from music_evals.commands.output import failed, say, table

if TYPE_CHECKING:
    from music_evals.datasets_builders.dataset_io.hub import Publication

NAMES = dataset_names()


def publish(
    name: Annotated[str, typer.Argument(help=f"Which dataset: {', '.join(NAMES)}.")],
    repo: Annotated[str, typer.Option(help="The repository, ORG/REPO; created if it is not there.")],
    dir: Annotated[  # noqa: A002
        Path | None, typer.Option(help="A folder that `music-evals build` wrote; default: the generated dataset.")
    ] = None,
    private: Annotated[bool, typer.Option("--private", help="Create the repository as a private one.")] = False,
    revision: Annotated[str, typer.Option(help="The branch; created from main if it is not there.")] = "main",
    board: Annotated[
        str | None, typer.Option(help="Publish no data, but a leaderboard for runs that Inspect alone cannot do.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do it. Without it, only show what would be done.")] = False,
) -> None:
    """Publish a dataset on the Hugging Face Hub, in one commit; without --yes, show what that would change."""
    if name not in NAMES:
        raise typer.BadParameter(f"{name} is no dataset; accepted: {', '.join(NAMES)}")
    # Here, so that `music-evals --help` need not wait for them.
    from huggingface_hub import get_token

    from music_evals.datasets_builders import builder
    from music_evals.datasets_builders.dataset_io import GENERATED, DatasetError, describe_dataset, hub
    from music_evals.datasets_builders.dataset_io.check import check_folder
    from music_evals.datasets_builders.dataset_io.hub_errors import LOG_IN
    from music_evals.evals.hub_prompts import write_prompted

    console = Console()
    if board is not None:
        _publish_board(console, name, board, repo, yes)
        return
    try:
        benchmark = builder(name).BENCHMARK
        with console.status("reading"):
            folder = describe_dataset(GENERATED, benchmark=benchmark).folder if dir is None else dir.expanduser()
            hub.check_names(repo, revision)
            check_folder(folder, benchmark)
        with TemporaryDirectory() as beside:
            with console.status("wording prompts"):
                prompted = write_prompted(folder, Path(beside))
                plan = hub.plan_publication(
                    folder, repo, benchmark=benchmark, branch=revision, private=private, prompted=prompted.files
                )
            _show(console, plan, folder)
            for task, why in prompted.left_out.items():
                say(console, f"Inspect alone cannot run {task}: {why}")
            if plan.is_up_to_date:
                say(console, f"{repo} is up to date at {plan.head}; nothing was done.")
                return
            if not yes:
                say(console, "This was a dry run: nothing was changed. --yes does it.")
                if get_token() is None:
                    say(console, f"That needs a token, and there is none: {LOG_IN}. What is private was not seen.")
                return
            commit = hub.publish(plan)
    except (DatasetError, OSError) as error:
        raise failed(error) from error
    say(console, f"Published {repo} at {commit}")


def _publish_board(console: Console, name: str, board: str, repo: str, yes: bool) -> None:
    from music_evals.datasets_builders.dataset_io import DatasetError, hub_files
    from music_evals.evals.hub_prompts import board_files

    try:
        plan = hub_files.plan_files(repo, "dataset", board_files(name, board, repo), alone=True)
        for path, content in plan.files.items():
            say(console, f"{path}:", *(f"    {line}" for line in content.decode().splitlines()))
        if not plan.files:
            say(console, f"{repo} is up to date at {plan.head}; nothing was done.")
        elif yes:
            say(console, f"Published {hub_files.write_files(plan, f'Board of music-evals, {name}')}")
        else:
            say(console, "This was a dry run: nothing was changed. --yes does it.")
    except (DatasetError, OSError) as error:
        raise failed(error) from error


def _show(console: Console, plan: "Publication", folder: Path) -> None:
    from music_evals.datasets_builders.dataset_io import EVAL_FILE

    whether = "private" if plan.private else "public"
    state = f"to be created, {whether}" if plan.is_new else whether
    if plan.unseen:
        state = "its state is not known"
    branch = f"{plan.branch}, to be created from main" if plan.is_new_branch else plan.branch
    say(console, f"From    {folder}")
    say(console, f"To      {plan.endpoint}/datasets/{plan.repo} ({state}), branch {branch}")
    say(console, f"Licence {plan.licence.licence_label}, as stated in {plan.licence.stated}")
    files = table("", "file", "size", text=2)
    files.columns[1].overflow = "fold"
    for what, sizes in plan.files.items():
        for path, size in sizes.items():
            files.add_row(what, path, decimal(size))
    console.print(files)
    most = "at most " if plan.unseen else ""
    say(console, f"To upload: {most}{decimal(sum(plan.uploads.values()))} in {len(plan.uploads)} files.")
    if plan.unseen:
        say(
            console,
            f"The Hub cannot be reached ({plan.unseen}). Files that the repository holds already are not uploaded "
            "again, and files of an earlier publication that are not listed are deleted.",
        )
    if plan.files["kept"]:
        say(console, "Kept files are not ours, and stay as they are.")
    config, splits = next(iter(plan.provenance.counts.items()))
    at = "" if plan.branch == "main" else f', revision="{plan.branch}"'
    say(console, "To be loaded with")
    say(console, f'  load_dataset("{plan.repo}", "{config}", split="{next(iter(splits))}"{at})')
    say(console, f"  inspect eval … -T dataset={plan.uri}")
    if EVAL_FILE in plan.content:
        say(console, "and run without music-evals with")
        say(console, f"  inspect eval hf/{plan.repo}{at and f'@{plan.branch}'} --model …")
