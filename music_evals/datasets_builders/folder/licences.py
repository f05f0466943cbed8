"""What may be published of which source, and under which licence: the table ``names/licences.toml``, and its checks."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from music_evals.datasets_builders.lilybench.facts import is_free
from music_evals.datasets_builders.folder import DatasetError, Provenance, some


@dataclass(frozen=True, slots=True)
class Licence:
    """What a source is published as.

    Args:
        id: as the Hub spells it.
        statement: what the card must say.
        stated: where that is stated.
        name: of a licence that the Hub calls ``other``.
        link: where to read it.
        files: what must travel with the data.
        per_row: config → column with each row's own licence.
        withheld: config, or ``config/split`` → why a dataset that has it is not published.
    """

    id: str
    statement: str
    stated: str
    name: str | None = None
    link: str | None = None
    files: tuple[str, ...] = ()
    per_row: Mapping[str, str] = field(default_factory=dict)
    withheld: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What to call it in a line.

        >>> Licence("other", "", "", name="music21-corpus").label
        'other (music21-corpus)'
        """
        return self.id if self.name is None else f"{self.id} ({self.name})"


def licence_of_source(benchmark: str, source: str) -> Licence:
    """Return what a source is published as.

    Args:
        benchmark: its name.
        source: as `Provenance.source` has it.

    Raises:
        DatasetError: it may not be published, or nothing is known of it.

    >>> licence_of_source("ziqi", "published").id
    'cc-by-nc-sa-4.0'
    """
    entry = _table().get(benchmark, {}).get(source)
    if entry is None:
        raise DatasetError(
            f"{benchmark} from {source} may not be published: nothing is known of its licence; sources known are "
            f"{', '.join(_table().get(benchmark, {})) or 'none'}"
        )
    if "licence" not in entry:
        raise DatasetError(f"{benchmark} from {source} may not be published: {_text(entry['reason'])}")
    return Licence(
        entry["licence"],
        entry["statement"].strip(),
        entry["stated"],
        entry.get("name"),
        entry.get("link"),
        tuple(entry.get("files", ())),
        entry.get("per_row", {}),
        {what: _text(why) for what, why in entry.get("withheld", {}).items()},
    )


def check_publishable(folder: Path, provenance: Provenance, licence: Licence) -> None:
    """Check that all that a dataset folder holds may be published.

    Args:
        folder: the dataset folder, whose files are those that its provenance names.
        provenance: what it says about itself.
        licence: what its source is published as.

    Raises:
        DatasetError: it was built under another licence, lacks a file that must travel with the data, or holds what may
            not be published; pieces are named.
    """
    where = f"{provenance.benchmark} from {provenance.source} in {folder} may not be published"
    if provenance.licence != licence.id:
        raise DatasetError(
            f"{where}: it says that its licence is {provenance.licence}, and may be passed on as {licence.label} only "
            f"({licence.stated}); build it again"
        )
    if lacking := [name for name in licence.files if name not in provenance.files]:
        raise DatasetError(f"{where} without {', '.join(lacking)}, which must travel with the data; build it again")
    for what, reason in licence.withheld.items():
        config, _, split = what.partition("/")
        if config in provenance.counts and (not split or split in provenance.counts[config]):
            raise DatasetError(f"{where} with {what}: {reason}")
    for config, column in licence.per_row.items():
        paths = [path for path in provenance.files if path.startswith(f"{config}/")]
        rows = [row for path in paths for row in pq.read_table(folder / path, columns=["id", column]).to_pylist()]
        unfree = [f"{row['id']} ({row[column] or 'none'})" for row in rows if not is_free(row[column])]
        if unfree:
            raise DatasetError(
                f"{where}: {len(unfree)} of {len(rows)} pieces in {config} have no licence, or one that is neither "
                f"public domain, CC BY nor CC BY-SA: {some(unfree, most=10)}; build with --free-only, which leaves "
                f"them out"
            )


def _text(lines: str) -> str:
    return " ".join(lines.split())


@cache
def _table() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    path = files("music_evals.datasets_builders.names") / "licences.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))
