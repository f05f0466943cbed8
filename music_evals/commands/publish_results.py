"""`music-evals publish-results`: open pull requests with results on the repositories of models."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from music_evals.commands.output import failed, say

TITLE = "Evaluation results by music-evals"


def publish_results(
    folder: Annotated[Path, typer.Argument(help="What `music-evals report --eval-results` wrote.")],
    yes: Annotated[bool, typer.Option("--yes", help="Open them. Without it, only show the changes.")] = False,
) -> None:
    """Open a pull request with the results on each model's repository; without --yes, show what it would change."""
    # Here, so that `music-evals --help` need not wait for them.
    from music_evals.datasets_builders.dataset_io import DatasetError
    from music_evals.reports.hub_results import FOLDER

    console = Console()
    try:
        models: dict[str, dict[str, bytes]] = {}
        for path in sorted(folder.expanduser().glob(f"*/*/{FOLDER}/*.yaml")):
            organisation, model, *parts = path.relative_to(folder.expanduser()).parts
            models.setdefault(f"{organisation}/{model}", {})["/".join(parts)] = path.read_bytes()
        if not models:
            raise DatasetError(f"{folder} holds no results; `music-evals report --eval-results` writes some")
        for model, files in models.items():
            _publish(console, model, files, yes)
        if not yes:
            say(console, "This was a dry run: nothing was changed. --yes opens one pull request per model.")
    except (DatasetError, OSError, ValueError) as error:
        raise failed(error) from error


def _publish(console: Console, model: str, files: dict[str, bytes], yes: bool) -> None:
    import huggingface_hub

    from music_evals.datasets_builders.dataset_io import DatasetError
    from music_evals.datasets_builders.dataset_io.hub import commit, look_up, plan_files
    from music_evals.datasets_builders.dataset_io.hub_errors import plain_errors
    from music_evals.reports.hub_results import merged

    repository = look_up(model, "model")
    if repository.head is None:
        raise DatasetError(f"the Hub has no model {model}, or you have no access to it")
    contents = {path: merged(repository.read(path), new) for path, new in files.items()}
    plan = plan_files(repository, contents)
    if not plan.operations:
        say(console, f"{model} has these results; there is nothing to do.")
        return
    for path in [operation.path_in_repo for operation in plan.operations]:
        say(console, f"{model}: {path}", *(f"    {line}" for line in contents[path].decode().splitlines()))
    with plain_errors(model):
        requests = huggingface_hub.HfApi().get_repo_discussions(
            model, discussion_type="pull_request", discussion_status="open"
        )
        address = next((request.url for request in requests if request.title == TITLE), None)
    if address:
        say(console, f"{model} already has an open pull request with results: {address}")
    elif yes:
        say(console, f"Opened {commit(plan, TITLE, create_pr=True).pr_url}")
