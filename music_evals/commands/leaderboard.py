"""`music-evals leaderboard`: the leaderboard that the Hub shows of a dataset, in the terminal and as a page."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from music_evals.commands.output import failed, say

if TYPE_CHECKING:
    from huggingface_hub import DatasetLeaderboardEntry

    from music_evals.reports.tables import Table


def leaderboard(
    repo: Annotated[str, typer.Argument(help="A dataset on the Hub that is a benchmark, ORG/NAME.")],
    out: Annotated[Path | None, typer.Option(help="A page of HTML to write; must be absent.")] = None,
) -> None:
    """Show the leaderboard of a dataset on the Hub."""
    # Here, so that `music-evals --help` need not wait for them.
    from music_evals.datasets_builders.dataset_io import DatasetError, hub_files
    from music_evals.reports.page import Section, html
    from music_evals.reports.tables import Report

    console = Console()
    try:
        if out is not None and out.exists():
            raise DatasetError(f"{out} exists; give another file")
        table = _table(repo, hub_files.leaderboard(repo))
        console.print(table.to_rich())
        if out is not None:
            section = Section("leaderboard", repo, Report([table]))
            out.write_text(html(f"Leaderboard of {repo}", [], [section]), encoding="utf-8")
            say(console, f"Wrote {out}")
    except (DatasetError, OSError) as error:
        raise failed(error) from error


def _table(repo: str, entries: Sequence["DatasetLeaderboardEntry"]) -> "Table":
    from music_evals.reports.tables import Figure, Table, whole
    from music_evals.reports.texts import plain

    rows = [
        [
            whole(one.rank),
            plain(one.model_id),
            Figure(one.value, decimals=4),
            "verified" if one.verified else "pull request" if one.pull_request else "",
            plain(str((one.source or {}).get("url", ""))),
            plain(one.notes or ""),
        ]
        for one in entries
    ]
    columns = ["Rank", "Model", "Value", "Standing", "Source", "Notes"]
    return Table("leaderboard", f"Leaderboard of {repo} on the Hub", columns, rows)
