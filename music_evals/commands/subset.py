"""`music-evals subset`: fewer questions, and what they say of the score on all."""

import json
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from music_evals.commands.output import errors_in_a_line, say


def subset(
    logs: Annotated[list[str], Argument(help="Inspect logs, or folders of them.")],
    out: Annotated[Path, Option(help="File to write, for --config or --run-config.")],
    items: Annotated[int, Option(min=4, help="Questions of each task.")] = 100,
) -> None:
    """Draw questions of each task at random; reports estimate the score on all questions."""
    # Here, so that `music-evals --help` need not wait for Inspect.
    from music_evals.datasets_builders.dataset_io.folders import replace_file
    from music_evals.reports.records import read_records
    from music_evals.reports.subsets import make_subsets

    with errors_in_a_line():
        if out.exists():
            raise ValueError(f"{out} is there already; remove it, or give --out another name")
        config = make_subsets(read_records(logs), items)
        subsets = config["metadata"]["subsets"]
        if not subsets:
            raise ValueError(
                "no task has a complete run of a model, which is no baseline, and over --items "
                "questions"
            )
        with replace_file(out) as file:
            file.write_text(json.dumps(config, indent=1))
        for key, facts in subsets.items():
            say(
                f"{key}: {len(facts['items'])} of {sum(facts['sizes'])} questions, drawn at random "
                f"from {len(facts['sizes'])} strata of difficulty"
            )
