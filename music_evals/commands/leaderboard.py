"""`music-evals leaderboard`: the leaderboard of a dataset on the Hub, in the terminal and as a page."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from music_evals.commands.output import failed, say


def leaderboard(
    repo: Annotated[str, typer.Argument(help="A dataset on the Hub that is a benchmark, ORG/NAME.")],
    out: Annotated[Path | None, typer.Option(help="A page of HTML to write; must be absent.")] = None,
) -> None:
    """Show the leaderboard of a dataset on the Hub."""
    # Here, so that `music-evals --help` need not wait for them.
    import huggingface_hub

    from music_evals.datasets_builders.dataset_io import DatasetError
    from music_evals.datasets_builders.dataset_io.hub_errors import plain_errors
    from music_evals.reports.page import html
    from music_evals.reports.report import Section
    from music_evals.reports.sanitize import plain
    from music_evals.reports.table import Table, count
    from music_evals.scorers.metrics.estimates import Estimate

    console = Console()
    try:
        if out is not None and out.exists():
            raise DatasetError(f"{out} exists; give another file")
        with plain_errors(repo):
            entries = huggingface_hub.HfApi().get_dataset_leaderboard(repo, base_model_only=False)
        rows = [
            [
                count(entry.rank),
                plain(entry.model_id),
                Estimate(entry.value, decimals=4),
                "verified" if entry.verified else "pull request" if entry.pull_request else "",
                plain(str((entry.source or {}).get("url", ""))),
                plain(entry.notes or ""),
            ]
            for entry in entries
        ]
        columns = ["Rank", "Model", "Value", "Standing", "Source", "Notes"]
        table = Table("leaderboard", f"Leaderboard of {repo} on the Hub", columns, rows)
        console.print(table.to_rich())
        if out is not None:
            section = Section("leaderboard", repo, [table])
            out.write_text(html(f"Leaderboard of {repo}", [], [section], {}), encoding="utf-8")
            say(console, f"Wrote {out}")
    except (DatasetError, OSError) as error:
        raise failed(error) from error
