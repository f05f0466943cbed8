"""`music-evals publish-results`: open pull requests with results on the repositories of models."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from music_evals.commands.output import failed, say

TITLE = "Evaluation results by music-evals"


def publish_results(
    folder: Annotated[Path, typer.Argument(help="What `music-evals report --eval-results` wrote.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do it. Without it, only show what would be done.")] = False,
) -> None:
    """Open a pull request with the results on each model's repository; without --yes, show what it would change."""
    # Here, so that `music-evals --help` need not wait for them.
    from music_evals.datasets_builders.dataset_io import DatasetError, hub_files
    from music_evals.reports.eval_results import FOLDER, merged

    console = Console()
    try:
        models: dict[str, dict[str, bytes]] = {}
        for path in sorted(folder.expanduser().glob(f"*/*/{FOLDER}/*.yaml")):
            organisation, model, *within = path.relative_to(folder.expanduser()).parts
            models.setdefault(f"{organisation}/{model}", {})["/".join(within)] = path.read_bytes()
        if not models:
            raise DatasetError(f"{folder} holds no results; `music-evals report --eval-results` writes some")
        for model, files in models.items():
            plan = hub_files.plan_files(model, "model", files, merge=merged)
            for name, content in plan.files.items():
                say(console, f"{model}: {name}", *(f"    {line}" for line in content.decode().splitlines()))
            if not plan.files:
                say(console, f"{model} has these results; nothing is to be done.")
            elif address := hub_files.open_pull_request(model, TITLE):
                say(console, f"{model} has an open pull request of that name, {address}; none was opened.")
            elif yes:
                opened = hub_files.write_files(plan, TITLE, as_pull_request=True)
                say(console, f"Opened {opened}")
        if not yes:
            say(console, "This was a dry run: nothing was changed. --yes opens a pull request a model.")
    except (DatasetError, OSError, ValueError) as error:
        raise failed(error) from error
