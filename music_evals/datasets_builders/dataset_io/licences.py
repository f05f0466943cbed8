"""The check that a dataset folder may be published, by the terms of its source in the benchmark's
folder.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from music_evals.benchmarks import Source
from music_evals.datasets_builders.dataset_io.provenance import (
    DatasetError,
    Provenance,
    list_names,
    source_facts,
)

_FREE = re.compile(r"Public Domain|CC BY(-SA)?( \d\.\d)?")


def is_free(licence: str | None) -> bool:
    """Whether a licence, as the Mutopia Project writes it, allows everybody to redistribute a
    piece.
    """
    return licence is not None and _FREE.fullmatch(licence) is not None


def check_publishable(folder: Path, provenance: Provenance) -> Source:
    """Return the terms under which a dataset folder may be published; DatasetError if it may not
    be.
    """
    where = f"{provenance.benchmark} from {provenance.source} may not be published"
    terms = source_facts(provenance.benchmark, provenance.source)
    if terms.licence is None:
        raise DatasetError(f"{where}: {terms.reason}")
    if provenance.licence != terms.licence:
        raise DatasetError(
            f"{where}: it says that its licence is {provenance.licence}, and may be passed on as "
            f"{terms.licence_label} only ({terms.stated}); build it again"
        )
    if lacking := [name for name in terms.files if name not in provenance.files]:
        raise DatasetError(
            f"{where} without {', '.join(lacking)}, which must travel with the data; build it again"
        )
    for name, reason in terms.withheld.items():
        config, _, split = name.partition("/")
        if config in provenance.counts and (not split or split in provenance.counts[config]):
            raise DatasetError(f"{where} with {name}: {reason}")
    for config, column in terms.per_row.items():
        paths = [folder / path for path in provenance.files if path.startswith(f"{config}/")]
        _check_licences(paths, config, column, where)
    return terms


def _check_licences(paths: Sequence[Path], config: str, column: str, where: str) -> None:
    """Raise DatasetError if the licence of a piece does not allow everybody to redistribute it."""
    tables = [pq.read_table(path, columns=["id", column]) for path in paths]
    rows = pa.concat_tables(tables).to_pylist() if tables else []
    unfree = [f"{row['id']} ({row[column] or 'none'})" for row in rows if not is_free(row[column])]
    if unfree:
        raise DatasetError(
            f"{where}: {len(unfree)} of {len(rows)} pieces in {config} have no licence, or a "
            "licence other than public domain, CC BY and CC BY-SA: "
            f"{list_names(unfree, most=10)}; build with --free-only, which leaves them out"
        )
