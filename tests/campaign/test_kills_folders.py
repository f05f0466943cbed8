"""Builds and publications that are killed, at every step: a dataset is there whole, as it was or as it becomes.

A process kills itself at a numbered step, which is an audit event of Python: before it makes, opens, renames or removes
a file, calls the C library, or has written a row.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from datasets import Features, Value

from music_evals.datasets_builders.dataset_io import (
    Benchmark,
    Provenance,
    check_target,
    load_split,
    write_dataset,
    writing,
)
from tests import msu_dataset
from tests.campaign.conftest import Counting
from tests.hub_client import HubClient, hub_environment
from tests.hub_server import WRITE, Handler, Hub, Lost

FEATURES = {name: Features({"id": Value("string")}) for name in ("one", "two")}
BENCHMARK = Benchmark("letters", "1.0", 7, FEATURES, lambda *_: None)
EVENTS = ("row", "open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.scandir", "os.listdir", "ctypes.dlsym")


def write(out: Path, letter: str, *, fails: bool = False) -> None:
    """Write a dataset of two files, whose rows have a letter for an id; or fail after the first of them."""

    def rows(broken: bool) -> Iterator[dict[str, str]]:
        yield {"id": letter}
        sys.audit("row")
        if broken:
            raise RuntimeError("the disk is gone")

    made = Provenance("letters", "1.0", source="generated", licence="mit", seed=7)
    some = {"one": {"test": rows(False)}, "two": {"test": rows(fails)}}
    write_dataset(out, some, features=FEATURES, card=str, provenance=made, overwrite=True)


def letter_of(out: Path) -> str | None:
    """The letter of a whole dataset, None if there is none."""
    if not os.path.lexists(out):
        return None
    found = {load_split(str(out), name, "test", benchmark=BENCHMARK)["id"][0] for name in FEATURES}
    assert len(found) == 1, found
    assert sorted(os.listdir(out)) == ["README.md", "one", "provenance.json", "two"]
    return str(found.pop())


def killed(work: Callable[[], object], at: int) -> int | None:
    """Do work in a process of its own, killed at a step from 1; how many steps it had, if it ended before that."""
    process = os.fork()
    if process == 0:
        number = 0

        def count(event: str, _: Any) -> None:
            nonlocal number
            if event not in EVENTS:
                return
            number += 1
            if number == at:
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            sys.addaudithook(count)
            work()
            os._exit(number)
        finally:
            os._exit(255)
    status = os.waitpid(process, 0)[1]
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return None
    steps = os.waitstatus_to_exitcode(status)
    assert steps != 255, "it failed"
    return steps


def after_a_kill(out: Path, before: str | None, renamed: bool) -> None:
    """Check what a killed build of ``new`` left; a build that fails must change nothing, and the next be whole."""
    if renamed:  # in three steps, so that the next build has to put back what is aside
        check_target(out, overwrite=True)
    found = letter_of(out)
    assert found in (before, "new")
    with pytest.raises(RuntimeError, match="disk"):
        write(out, "never", fails=True)
    assert letter_of(out) == found
    assert os.listdir(out.parent) == ([] if found is None else [out.name])
    write(out, "next")
    assert letter_of(out) == "next"
    assert os.listdir(out.parent) == [out.name]


@pytest.mark.parametrize("way", ["new", "exchanged", "renamed"])
def test_a_killed_build_leaves_whole_datasets(
    way: str, counting: Counting, full: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "renamed":
        monkeypatch.setattr(writing, "_exchange", lambda *_: False)
    before = None if way == "new" else "old"
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    renamed = not writing._exchange(tmp_path / "a", tmp_path / "b")
    with counting(f"kills: a build whose target is {way}") as tally:
        write(tmp_path / "counted" / "out", "old")
        last = killed(lambda: write(tmp_path / "counted" / ("out" if before else "new"), "new"), -1)
        assert last is not None
        steps = range(1, last + 1)
        for step in steps if full else Random(way).sample(steps, 4):
            with tally.case(step):
                out = tmp_path / str(step) / "out"
                out.parent.mkdir()
                if before:
                    write(out, before)
                assert killed(lambda out=out: write(out, "new"), step) is None  # type: ignore[misc]
                after_a_kill(out, before, renamed)


def test_builds_killed_one_after_the_other(
    counting: Counting, full: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What several killed builds left, some by exchange and some by renaming."""
    random, exchange = Random(16), writing._exchange
    with counting("kills: builds killed one after the other") as tally:
        for number in range(60 if full else 1):
            with tally.case(number):
                out = tmp_path / str(number) / "out"
                out.parent.mkdir()
                write(out, "old")
                for _ in range(4):
                    monkeypatch.setattr(writing, "_exchange", random.choice((exchange, lambda *_: False)))
                    killed(lambda out=out: write(out, "new"), random.randrange(1, 60))  # type: ignore[misc]
                after_a_kill(out, "old", renamed=True)


def test_a_killed_publication_makes_no_commit(counting: Counting, full: bool, tmp_path: Path) -> None:
    if not full:
        pytest.skip("test_hub.py kills one; CAMPAIGN=full kills at every step")
    folder, home = tmp_path / "msu", tmp_path / "home"
    msu_dataset.write_small(folder)
    rows = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.parquet")}
    publish = ("publish", "msu", "--repo", "ORG/msu", "--dir", str(folder), "--yes")
    with counting("kills: a publication") as tally, Hub() as hub, HubClient(hub.endpoint, home) as client:

        def kill_at(number: int) -> Callable[[Handler], None]:
            seen = iter(range(1, 100))

            def kill(_: Handler) -> None:
                if next(seen) == number:
                    process.kill()
                    process.wait()
                    raise Lost

            return kill

        for fault, number in [("preupload", 1), *(("put", place + 1) for place in range(len(rows))), ("commit", 1)]:
            with tally.case((fault, number)):
                hub.reset()
                hub.faults[fault] = kill_at(number)
                process = subprocess.Popen(
                    [sys.executable, "-c", "from music_evals.commands.main import app; app()", *publish],
                    env={**hub_environment(hub.endpoint, home), "HF_HUB_DISABLE_XET": "1", "HF_TOKEN": WRITE},
                    cwd=Path(__file__).parents[2],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
                assert process.wait() == -signal.SIGKILL
                assert len(hub.repos["ORG/msu"].commits) == 1  # the Hub's own
                hub.faults.clear()
                assert client.run(*publish, token=WRITE)[0] == 0
                assert {path: hub.repos["ORG/msu"].head[path].data for path in rows} == rows
