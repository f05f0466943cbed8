"""`music-evals publish`: push a dataset folder to a repository of the Hugging Face Hub."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

from rich.console import Console
from rich.filesize import decimal
from typer import Argument, BadParameter, Option

from music_evals.benchmarks import dataset_names
from music_evals.commands.output import errors_in_a_line, say, table

if TYPE_CHECKING:
    from music_evals.datasets_builders.dataset_io.hub import Plan


def publish(
    name: Annotated[str, Argument(help=f"Which dataset: {', '.join(dataset_names())}.")],
    repo: Annotated[str, Option(help="The repository, ORG/REPO; created if it does not exist.")],
    dir: Annotated[  # noqa: A002
        Path | None,
        Option(help="A folder that `music-evals build` wrote; default: the generated dataset."),
    ] = None,
    private: Annotated[
        bool, Option("--private", help="Create the repository as a private one.")
    ] = False,
    revision: Annotated[
        str, Option(help="The branch; created from main if it does not exist.")
    ] = "main",
    yes: Annotated[
        bool, Option("--yes", help="Publish. Without it, only show what would change.")
    ] = False,
) -> None:
    """Publish a dataset on the Hugging Face Hub, in one commit; without --yes, show what that would
    change.
    """
    if name not in dataset_names():
        raise BadParameter(f"{name} is no dataset; accepted: {', '.join(dataset_names())}")
    # Here, so that `music-evals --help` need not wait for them.
    from music_evals.datasets_builders.dataset_io import DatasetError
    from music_evals.datasets_builders.dataset_io.hub import commit

    console = Console()
    # The folder holds prompts until they are uploaded.
    with errors_in_a_line(), TemporaryDirectory() as temporary:
        plan, message = _plan_data(console, name, dir, repo, revision, Path(temporary))
        repository = plan.repository
        if private and repository.head and not repository.is_private:
            raise DatasetError(
                f"{repo} is public; --private is for a new repository or a private one"
            )
        if repository.head and not plan.operations and not repository.is_new_branch:
            say(f"{repo} is up to date at {repository.head}; nothing was done.")
        elif not yes:
            say("This was a dry run: nothing was changed. --yes publishes.")
        else:
            say(f"Published {repo} at {commit(plan, message, private=private).oid}")


def _plan_data(
    console: Console, name: str, folder: Path | None, repo: str, branch: str, temporary: Path
) -> "tuple[Plan, str]":
    """Show what publishing a dataset changes, and return the plan with the message of its
    commit.
    """
    from music_evals.datasets_builders.dataset_io import GENERATED, describe_dataset
    from music_evals.datasets_builders.dataset_io.hub import plan_dataset
    from music_evals.datasets_builders.dataset_io.provenance import source_facts
    from music_evals.evals.registry import dataset_module
    from music_evals.evals.shared.hub_prompts import write_prompts

    with console.status("reading the dataset and rendering prompts"):
        origin = describe_dataset(
            str(folder or GENERATED), benchmark=dataset_module(name).BENCHMARK
        )
        prompts = write_prompts(origin.folder, temporary)
        plan = plan_dataset(origin, prompts.files, repo, branch)
    terms, repository = source_facts(name, origin.provenance.source), plan.repository
    state = "private" if repository.is_private else "public"
    if repository.head is None:
        state = "to be created"
    new = ", to be created from main" if repository.is_new_branch else ""
    say(f"From    {origin.folder}", f"To      {repo} ({state}), branch {branch}{new}")
    say(f"Licence {terms.licence_label}, as stated in {terms.stated}")
    files = table("", "file", "size", text=2)
    files.columns[1].overflow = "fold"
    for change in plan.changes:
        files.add_row(change.kind, change.path, decimal(change.size))
    console.print(files)
    upload = sum(change.size for change in plan.changes if change.kind in ("added", "changed"))
    say(f"To upload: {decimal(upload)}. Files of others are kept.")
    say(
        *(f"Inspect alone cannot run {task}: {reason}" for task, reason in prompts.left_out.items())
    )
    place = repo if branch == "main" else f"{repo}@{branch}"
    say(f"To load it: inspect eval … -T dataset=hf://datasets/{place}")
    if prompts.files:
        say(f"To run it without music-evals: inspect eval hf/{place} --model …")
    return plan, f"{name} {origin.provenance.builder_version}, {origin.label}"
