"""A small dataset of LilyBench's form, that of the golden record: scores of our own, with obvious
answers.
"""

from functools import cache
from pathlib import Path

import pyarrow.parquet as pq

from music_evals.datasets_builders.dataset_io import make_provenance, write_dataset
from music_evals.datasets_builders.lilybench.rows import (
    FEATURES,
    PROTOCOLS,
    TASKS,
)

DATA = Path(__file__).parent / "golden" / "data" / "lilybench"
NOTES = ("c'4 d' e'", "f'4 g' a'", "b'4 c'' d''", "e''4 f'' g''", "a''4 g'' f''")


def music(measures):
    """A score in C major and 3/4 of so many measures."""
    return (
        "{ \\key c \\major \\time 3/4\n"
        + "".join(f"  {NOTES[n % 5]} |\n" for n in range(measures))
        + "}\n"
    )


@cache
def rows(name, protocol):
    """Four rows on `music`, whose right options take turns; for `error_detection` one per category,
    and a clean one.
    """
    path = DATA / name / f"{protocol}-00000-of-00001.parquet"
    return pq.read_table(path, partitioning=None).to_pylist()


def row(name, protocol, number):
    return rows(name, protocol)[number]


def write_small(folder, source="mutopia"):
    """Write the rows as of a source."""
    splits = {name: {protocol: rows(name, protocol) for protocol in PROTOCOLS} for name in TASKS}
    made = make_provenance("lilybench", "1.0.0", source, seed=5)
    write_dataset(folder, splits, features=FEATURES, provenance=made)
    return str(folder)
