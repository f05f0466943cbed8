"""A leaderboard as a folder: the summary of a report, all its runs, and their logs in a viewer.

The page works from a file and on any server of files, as a static Space of the Hugging Face Hub does. Its script
filters and sorts the table of runs; without it the whole table is there. The viewer of ``inspect view bundle`` fetches
logs and so needs a server. The page's policy lets it load nothing, and run no script but its own.
"""

import io
from base64 import b64encode
from collections.abc import Mapping
from contextlib import redirect_stdout
from hashlib import sha256
from pathlib import Path
from shutil import copy2
from tempfile import TemporaryDirectory
from typing import Final
from urllib.parse import quote

import pandas as pd
from inspect_ai.log import bundle_log_dir

from music_evals.reports.page import environment
from music_evals.reports.records import Records
from music_evals.reports.results import as_json
from music_evals.reports.summary import summary_table
from music_evals.reports.table import Cell, Table, notes
from music_evals.reports.tables.common import best_floor, gain, percent, title_of

PAGE, CARD, RESULTS, LOGS = "index.html", "README.md", "results.json", "logs"
TITLE: Final = "Music evaluation leaderboard"


def write_site(folder: Path, records: Records, about: list[str], made_by: str) -> None:
    """Write the leaderboard into an empty folder.

    Args:
        folder: to write into.
        records: of the logs; their current runs are shown.
        about: lines above the tables.
        made_by: name and version of the program, for ``results.json``.
    """
    links = _bundle(folder / LOGS, records.current())
    templates = environment()
    templates.filters["checksum"] = lambda words: f"'sha256-{b64encode(sha256(words.encode()).digest()).decode()}'"
    page = templates.get_template("site.html").render(
        title=TITLE, about=about, summary=summary_table(records), runs=runs_table(records, links)
    )
    card = templates.get_template("site.md").render(title=TITLE, about=about, page=PAGE)
    for name, content in ((PAGE, page), (CARD, card), (RESULTS, as_json(records, made_by))):
        (folder / name).write_text(content, encoding="utf-8")


def runs_table(records: Records, links: Mapping[int, str]) -> Table:
    """Make the table of all current runs, with links to their logs."""
    rows: list[list[Cell]] = []
    for number, run in records.current().sort_values(["section", "task", "model", "condition"]).iterrows():
        score, floor = records.percent(number), percent(best_floor(records.floors(number)))
        dagger = "" if run["is_published_test"] else " †"
        label = [run["section"], title_of(run["task"]), run["model"], run["condition"], run["data"] + dagger]
        rows.append([*label, score, floor, gain(score, floor), links.get(number)])
    columns = ("Benchmark", "Task", "Model", "Condition", "Data", "Score", "Best floor", "Gain", "Log")
    return Table("runs", "All runs: main metrics in percent", columns, rows, notes("site"))


def _bundle(folder: Path, runs: pd.DataFrame) -> dict[int, str]:
    """Make the viewer of the logs of runs; number of a run → link to its log."""
    names: dict[int, str] = {}
    with TemporaryDirectory() as copies:
        for number, run in runs.iterrows():
            path = Path(run["location"].removeprefix("file://"))
            # The viewer takes JSON files only if their names begin with a time.
            stem = f"{run['created']:%Y-%m-%dT%H-%M-%S}_{path.stem}" if path.suffix == ".json" else path.stem
            name, copy = f"{stem}{path.suffix}", 1
            while name in names.values():
                copy += 1
                name = f"{stem}-{copy}{path.suffix}"
            names[number] = name
            copy2(path, Path(copies) / name)  # links would be passed over
        with redirect_stdout(io.StringIO()):
            bundle_log_dir(copies, str(folder))
        start = folder / PAGE
        start.write_text(start.read_text(encoding="utf-8").replace(copies, LOGS), encoding="utf-8")
    return {number: f"{LOGS}/{PAGE}#/logs/{quote(name, safe='')}" for number, name in names.items()}
