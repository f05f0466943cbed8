"""The modules that a score passes through, found by running it: a part of docs/architecture.md.

A way is a run of a task on one sample, and the tables that a report makes of its log. Each call of
a function of the package is traced; a module is listed where the first of its functions is called.
"""

import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

from inspect_ai import Task
from inspect_ai import eval as evaluate

import music_evals
from music_evals.evals import muse
from music_evals.reports import records
from music_evals.reports.report import section_tables
from music_evals.rewards import score

_PACKAGE = f"{Path(music_evals.__file__).parent}/"


@contextmanager
def _traced(modules: dict[str, str]) -> Iterator[None]:
    """Fill a dictionary: path of a module → the function of it that is called first."""

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(_PACKAGE) and "<" not in code.co_name:
            modules.setdefault(code.co_filename.removeprefix(_PACKAGE), code.co_name)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def _run(benchmark: str, make: Callable[[], Task], model: str) -> None:
    """Ask one sample, and make the tables of the benchmark."""
    with tempfile.TemporaryDirectory() as folder:
        evaluate(make(), model=model, limit=1, log_dir=folder, display="none")
        # Logs are read by other processes, in which nothing is traced.
        with patch.object(
            records, "map_in_subprocess", lambda work, items, *_, **__: map(work, items)
        ):
            section_tables(records.read_records(folder), benchmark)


def _reward() -> None:
    score("muse_chord_quality", {"options": ["Major", "Minor"], "target": "B"}, "Final Answer: B")


WAYS: Mapping[str, Callable[[], None]] = {
    "An accuracy of MUSE": partial(
        _run, "muse", partial(muse.chord_quality, modality="midi"), "baseline/reader"
    ),
    "A reward": _reward,
}


def way(name: str) -> dict[str, str]:
    """Return the modules of a way in their order, each with its function that is called first."""
    modules: dict[str, str] = {}
    WAYS[name]()  # makes the default data and fills caches, which is no part of the way
    with _traced(modules):
        WAYS[name]()
    return modules


def _rows(modules: Iterable[str]) -> Iterator[str]:
    """Lines of a table: neighbours of one room together."""
    for room, group in groupby(modules, lambda path: path.partition("/")[0]):
        names = [path.removeprefix(f"{room}/").removesuffix(".py") for path in group]
        yield f"| `{room}/` | {', '.join(f'`{name}`' for name in names)} |"


def table(name: str) -> str:
    """Return a table of rooms and modules for a way."""
    modules = way(name)
    heading = f"**{name}** passes {len(modules)} modules:"
    return "\n".join([heading, "", "| room | modules |", "|---|---|", *_rows(modules)])


def ways() -> str:
    """Return the tables of all ways."""
    return "\n\n".join(map(table, WAYS))


if __name__ == "__main__":
    print(*map(table, sys.argv[1:] or WAYS), sep="\n\n")
