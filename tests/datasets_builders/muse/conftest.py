"""The generated dataset, rendered once for all tests of MUSE's rows."""

from pathlib import Path
from typing import Any

import pytest

from music_evals.datasets_builders.dataset_io import GENERATED, describe_dataset, load_split
from music_evals.datasets_builders.muse.dataset import BENCHMARK

RECORDINGS = Path(__file__).parents[4] / "shared" / "data" / "muse"
needs_recordings = pytest.mark.skipif(
    not RECORDINGS.is_dir(), reason=f"no copy of the recordings in {RECORDINGS}"
)

Row = dict[str, Any]
Rows = dict[str, dict[str, list[Row]]]


def read_all(folder):
    counts = describe_dataset(str(folder), benchmark=BENCHMARK).provenance.counts
    return {
        config: {
            split: load_split(str(folder), config, split, benchmark=BENCHMARK).to_list()
            for split in splits
        }
        for config, splits in counts.items()
    }


@pytest.fixture(scope="session", autouse=True)
def without_audits(no_audits): ...


@pytest.fixture(scope="session")
def folder():
    return describe_dataset(GENERATED, benchmark=BENCHMARK).folder


@pytest.fixture(scope="session")
def generated(folder):
    return read_all(folder)
