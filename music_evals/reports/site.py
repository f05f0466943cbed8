"""A leaderboard as a folder: models and benchmarks, two models beside each other, the report, the
logs in a viewer.

The page works from a file and on any server of files, as a static Space of the Hugging Face Hub
does. Its script filters and sorts the table and shows two models beside each other; without it the
whole table is there. The viewer of ``inspect view bundle`` fetches logs and so needs a server. The
page's policy lets it load nothing, and run no script but its own.
"""

import io
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from hashlib import sha256
from pathlib import Path
from shutil import copy2
from tempfile import TemporaryDirectory
from urllib.parse import quote
from zipfile import ZIP_DEFLATED, ZipFile

import pandas as pd
from inspect_ai.log import bundle_log_dir

from music_evals.notation.secrets import SecretError, kind_of_secret
from music_evals.reports.comparisons import MOST_PAIRED, comparison_tables
from music_evals.reports.overview import ranking_table
from music_evals.reports.page import environment
from music_evals.reports.records import Records
from music_evals.reports.results import as_json
from music_evals.reports.run_metadata import DEFAULT
from music_evals.reports.summary import SUITE, Aggregate, aggregates, part_notes
from music_evals.reports.table import Table, notes

PAGE, REPORT, CARD, RESULTS, LOGS = "index.html", "report.html", "README.md", "results.json", "logs"
MEDIA_BYTES = 24_000_000
"""Sound and pictures that the copies of all logs hold together; the viewer takes 11 MB more."""
_MEDIA = re.compile(rb'"data:(?:audio|image|video)/[^"]{200,}"')
_PAIR = (
    "First model",
    "Second model",
    "First",
    "Second",
    "Difference",
    "Detectable",
    "p (Holm)",
    "Verdict",
)
TITLE = "Music evaluation leaderboard"


def write_site(folder: Path, records: Records, about: list[str], made_by: str, report: str) -> None:
    """Write the leaderboard into an empty folder.

    Args:
        folder: to write into.
        records: of the logs; their current runs are shown.
        about: lines above the tables.
        made_by: name and version of the program, for ``results.json``.
        report: the page of the report, for a link to it.
    """
    links = _bundle(folder / LOGS, records.current())
    templates = environment()
    templates.filters["checksum"] = lambda words: (
        f"'sha256-{b64encode(sha256(words.encode()).digest()).decode()}'"
    )
    means = aggregates(records)[0]
    sections = dict.fromkeys(mean.section for mean in means if mean.section != SUITE)
    page = templates.get_template("site.html").render(
        title=TITLE,
        about=about,
        ranking=ranking_table(means, [*sections]),
        board=board_table(means, links),
        pairs=_pairs_table(records, means),
        report=REPORT,
    )
    card = templates.get_template("site.md").render(title=TITLE, about=about, page=PAGE)
    contents = {PAGE: page, REPORT: report, CARD: card, RESULTS: as_json(records, made_by)}
    for name, content in contents.items():
        _check(content.encode(), name)
        (folder / name).write_text(content, encoding="utf-8")


def board_table(means: Sequence[Aggregate], links: Mapping[int, str]) -> Table:
    """Make the table of all models, the best first, with a row per benchmark and links to the
    logs.
    """
    rows = []
    for mean in means:
        if mean.section == SUITE:
            continue
        logs = [
            f"{links[number]}|{task}"
            for number, task in mean.runs["task"].items()
            if number in links
        ]
        words = [mean.model, mean.shown_section, mean.condition, mean.data, " ".join(logs) or None]
        figures = [mean.shown_score, mean.floor, mean.gain, mean.normalised]
        rows.append([*words, *figures, mean.tasks])
    columns = (
        "Model",
        "Benchmark",
        "Condition",
        "Data",
        "Logs",
        "Score",
        "Floor",
        "Gain",
        "Normalised",
        "Tasks",
    )
    title = "Floors, gains, data and logs, in percent"
    return Table("board", title, columns, rows, [*notes("site"), *part_notes(means)])


def _pairs_table(records: Records, means: Sequence[Aggregate]) -> Table:
    """The paired tests between models of all benchmarks, those of the best models first."""
    models = [*dict.fromkeys(mean.model for mean in means)]
    rows = []
    for table in comparison_tables(records):
        if not table.name.startswith("tests_models"):
            continue
        benchmark = table.title.rpartition(":")[0]
        for row in table.rows:
            cells = dict(zip(table.columns, row, strict=True))
            task = f"{cells['Task']}, {cells['Condition']}".removesuffix(f", {DEFAULT}")
            rows.append([benchmark, task, *map(cells.get, _PAIR)])
    rows.sort(key=lambda row: sorted(models.index(str(model)) for model in row[2:4]))
    title = "Two models on the same questions, in percent"
    lines = notes("tests") + notes("tested_pairs") * (len(models) > MOST_PAIRED)
    return Table("pairs", title, ("Benchmark", "Task", *_PAIR), rows, lines)


def _bundle(folder: Path, runs: pd.DataFrame) -> dict[int, str]:
    """Make the viewer of the logs of runs; number of a run → link to its log."""
    names: dict[int, str] = {}
    with TemporaryDirectory() as copies:
        for number, run in runs.iterrows():
            path = Path(run["location"].removeprefix("file://"))
            stem = path.stem
            if path.suffix == ".json":
                # The viewer takes JSON files only if their names begin with a time.
                stem = f"{run['created']:%Y-%m-%dT%H-%M-%S}_{stem}"
            name, copy = f"{stem}{path.suffix}", 1
            while name in names.values():
                copy += 1
                name = f"{stem}-{copy}{path.suffix}"
            names[number] = name
            _copy_log(path, Path(copies) / name, MEDIA_BYTES // len(runs))
        with redirect_stdout(io.StringIO()):
            bundle_log_dir(copies, str(folder))
        start = folder / PAGE
        start.write_text(start.read_text(encoding="utf-8").replace(copies, LOGS), encoding="utf-8")
    return {number: f"{LOGS}/{PAGE}#/logs/{quote(name, safe='')}" for number, name in names.items()}


def _copy_log(path: Path, copy: Path, most: int) -> None:
    """Copy a log; with more media than so many bytes, only the first ones are in the copy."""
    if path.suffix == ".json":
        content = path.read_bytes()
        _check(content, str(path))
        copy.write_bytes(_bounded(content, most)[0])
        return
    with ZipFile(path) as log:
        entries = {entry: log.read(entry) for entry in log.infolist()}
    for entry, content in entries.items():
        _check(content, f"{path} ({entry.filename})")
    if sum(len(media) for content in entries.values() for media in _MEDIA.findall(content)) <= most:
        copy2(path, copy)  # links would be passed over
        return
    with ZipFile(copy, "w", ZIP_DEFLATED) as smaller:
        for entry, content in entries.items():
            text, most = _bounded(content, most)
            smaller.writestr(entry.filename, text)


def _check(content: bytes, place: str) -> None:
    """Raise SecretError if what is to be copied holds a secret; media are not searched."""
    if kind := kind_of_secret(_MEDIA.sub(b"", content).decode(errors="replace")):
        raise SecretError(
            f"{place} holds {kind}; make it invalid, and leave this log out or run its task again"
        )


def _bounded(content: bytes, most: int) -> tuple[bytes, int]:
    """A text with its media up to so many bytes, and how many are left."""

    def shorten(media: re.Match[bytes]) -> bytes:
        nonlocal most
        most -= len(media[0])
        return media[0] if most >= 0 else b'"data:,"'

    return _MEDIA.sub(shorten, content), most
