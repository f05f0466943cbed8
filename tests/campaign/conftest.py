"""A campaign against the suite: nothing that a model, a judge, a disk or a log does may end a run.

Each module tries many cases, drawn by a seed, and counts them; a table at the end says what was
tried. A part of the campaign runs with the other tests. All of it runs by ``CAMPAIGN=full pytest
tests/campaign``; see CONTRIBUTING.md.
"""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

import pytest

from music_evals.evals.muse import chord_quality
from tests.harness import run

_SHOWN = 5


@dataclass
class Tally:
    """How many cases of a kind were tried, and which of them failed."""

    tried: int = 0
    failures: list[str] = field(default_factory=list)

    @contextmanager
    def case(self, name):
        """Count a case; an exception or a false assertion in it is noted, and the next case is
        tried.
        """
        self.tried += 1
        try:
            yield
        except Exception as error:
            self.failures.append(f"{name!r:.300}: {type(error).__name__}: {error!s:.500}")


Counting = Callable[[str], AbstractContextManager[Tally]]


@pytest.fixture
def counting(record_property):
    """Count the cases of a kind, which the table names; the test fails if any of them did."""

    @contextmanager
    def count(what):
        tally = Tally()
        yield tally
        record_property("campaign", (what, tally.tried, len(tally.failures)))
        shown = "\n".join(tally.failures[:_SHOWN])
        assert tally.tried, f"{what}: nothing was tried"
        assert not tally.failures, (
            f"{what}: {len(tally.failures)} of {tally.tried} failed, such as\n{shown}"
        )

    return count


@pytest.fixture(scope="session")
def full():
    """Whether all of the campaign runs, and not the part that runs with the other tests."""
    return os.environ.get("CAMPAIGN") == "full"


@pytest.fixture(scope="session")
def logs(tmp_path_factory):
    """A folder with a small log."""
    folder = tmp_path_factory.mktemp("campaign") / "logs"
    run(chord_quality(modality="midi"), folder, limit=4)
    return folder
