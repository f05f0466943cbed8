"""Records of the golden logs, read once."""

from pathlib import Path

import pytest

from music_evals.reports.records import read_records

GOLDEN = Path(__file__).parents[1] / "golden" / "logs"


@pytest.fixture(scope="session")
def golden():
    return read_records(GOLDEN)
