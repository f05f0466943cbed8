"""Published results by the names that this room's modules use: ``muse_table1`` is ``table1`` of ``muse``."""

from music_evals import benchmarks
from music_evals.benchmarks import Published
from music_evals.benchmarks import PublishedRow as Row

Name = str

__all__ = ["Name", "Published", "Row", "load"]


def load(name: Name) -> Published:
    """Read a published table."""
    benchmark, _, table = name.partition("_")
    return benchmarks.published(benchmark, table)
