"""What may be published of which source: what its benchmark's folder says, and the checks of a dataset folder."""

import re
from pathlib import Path
from typing import Final

import pyarrow.parquet as pq

from music_evals.benchmarks import Source, dataset_facts, dataset_names
from music_evals.datasets_builders.dataset_io import DatasetError, Provenance, some

_FREE: Final = re.compile(r"Public Domain|CC BY(-SA)?( \d\.\d)?")


def is_free(licence: str | None) -> bool:
    """Whether a licence, in the words of the Mutopia Project, lets a piece be passed on to anybody."""
    return licence is not None and _FREE.fullmatch(licence) is not None


def licence_of_source(dataset: str, source: str) -> Source:
    """Return what a source of a dataset is published as; DatasetError where it may not be, or nothing is known."""
    known = dataset_facts(dataset).sources if dataset in dataset_names() else {}
    if source not in known:
        raise DatasetError(
            f"{dataset} from {source} may not be published: nothing is known of its licence; sources known are "
            f"{', '.join(known) or 'none'}"
        )
    if known[source].licence is None:
        raise DatasetError(f"{dataset} from {source} may not be published: {known[source].reason}")
    return known[source]


def check_publishable(folder: Path, provenance: Provenance, licence: Source) -> None:
    """Raise DatasetError if a dataset folder, whose files are those of its provenance, may not be published."""
    where = f"{provenance.benchmark} from {provenance.source} in {folder} may not be published"
    if provenance.licence != licence.licence:
        raise DatasetError(
            f"{where}: it says that its licence is {provenance.licence}, and may be passed on as "
            f"{licence.licence_label} only ({licence.stated}); build it again"
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
