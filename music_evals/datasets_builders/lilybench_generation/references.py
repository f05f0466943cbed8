"""Loads the demonstrations, and the reference sets that written music is compared with."""

from functools import partial

from music_evals.datasets_builders.dataset_io import DatasetError, describe_dataset, load_split
from music_evals.datasets_builders.lilybench_generation.dataset import BENCHMARK
from music_evals.datasets_builders.lilybench_generation.rows import (
    DEMONSTRATIONS,
    ENCODER,
    REFERENCE_SPLIT,
    REFERENCES,
)
from music_evals.notation.reference_pieces import ReferenceSet


def load_references(dataset: str, names: str | None = None) -> tuple[ReferenceSet, ...]:
    """Load reference sets by their names, separated by commas, or all sets with the in-domain one
    first.

    DatasetError if there is no such dataset of this benchmark, or no such set in it.
    """
    provenance = describe_dataset(dataset, benchmark=BENCHMARK).provenance
    available = [name for name in REFERENCES if name in provenance.counts]
    sets = []
    for name in available if names is None else [name.strip() for name in names.split(",")]:
        if name not in available:
            missing = provenance.missing_for(name)
            lacks = "; it lacks " + "; ".join(missing) if missing else ""
            raise DatasetError(
                f"{dataset} has no reference set '{name}'; it has: "
                f"{', '.join(available) or 'none'}{lacks}"
            )
        rows = load_split(dataset, name, REFERENCE_SPLIT, benchmark=BENCHMARK).to_list()
        sets.append(ReferenceSet(name, provenance.made_with.get(ENCODER), tuple(rows)))
    return tuple(sets)


def load_demonstrations(dataset: str) -> dict[str, str]:
    """Load the demonstrations of all regimes: ``SPLIT/ID`` → LilyPond."""
    counts = describe_dataset(dataset, benchmark=BENCHMARK).provenance.counts
    load = partial(load_split, dataset, DEMONSTRATIONS, benchmark=BENCHMARK)
    texts = {}
    for split in counts.get(DEMONSTRATIONS, {}):
        for row in load(split, columns=["id", "text"]):
            texts[f"{split}/{row['id']}"] = row["text"]
    return texts
