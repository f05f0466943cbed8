"""The generated dataset, rendered once for all tests of MUSE's rows."""

from pathlib import Path
from typing import Any

import pytest

from music_evals.datasets_builders.dataset_io import describe_dataset, load_split
from music_evals.datasets_builders.muse import dataset as muse
from music_evals.datasets_builders.muse.dataset import BENCHMARK, build_generated

RECORDINGS = Path(__file__).parents[4] / "shared" / "data" / "muse"
needs_recordings = pytest.mark.skipif(
    not RECORDINGS.is_dir(), reason=f"no copy of the recordings in {RECORDINGS}"
)

Row = dict[str, Any]
Rows = dict[str, dict[str, list[Row]]]


def read_all(folder: Path) -> Rows:
    counts = describe_dataset(str(folder), benchmark=BENCHMARK).provenance.counts
    return {
        config: {
            split: load_split(str(folder), config, split, benchmark=BENCHMARK).to_list()
            for split in splits
        }
        for config, splits in counts.items()
    }


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("generated") / "muse"
    muse.write(build_generated(), out)
    return out


@pytest.fixture(scope="session")
def generated(folder: Path) -> Rows:
    return read_all(folder)
