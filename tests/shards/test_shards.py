"""Runs in shards: their log is that of the whole run, whatever is killed on the way; and what is not put together."""

import json
import multiprocessing
import os
import re
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

from music_evals.shards.processes import run_processes
from music_evals.shards.running import Asked, Report, Shard, run_shard
from music_evals.shards.whole import Settings, run_in_shards
from tests.golden.record import HERE as GOLDEN
from tests.golden.record import replies  # noqa: F401 - registers the model that is asked

ASKED = [
    Asked("muse", "syncopation", {"strategy": "logiclm"}),
    Asked("muse", "chord_quality", {"shots": "few"}),
    Asked("ziqi", "comprehension", {"rotations": 4}),
    Asked("ziqi", "generation", {}),
    Asked("musictheorybench", "knowledge", {}),
    Asked("msu", "textual", {"dataset": str(GOLDEN / "data" / "msu")}),
    Asked("msu", "visual", {"dataset": str(GOLDEN / "data" / "msu"), "asking": "single"}),
    *(
        Asked("lilybench", task, {"dataset": str(GOLDEN / "data" / "lilybench")})
        for task in ("bar_count", "bar_sequencing", "error_detection", "metadata_qa")
    ),
    Asked("lilybench", "generation", {"dataset": str(GOLDEN / "data" / "generation")}),
]
# Times and ids, and what says how many requests are under way and where a log lies.
VARYING = re.compile(
    r"(.*_)?(id|uuid|at|time|timestamp|started|completed|created|pending|working_start|span_id|call)|location|events_data"
    r"|max_tasks|log_realtime|log_buffer|score_display|log_format|eval_set_id|connection_limit_history|revision|etag|stats"
)


def in_this_process(shards: Sequence[Shard], report: Report) -> list[str]:
    for shard in shards:
        run_shard(shard, report)
    return []


def sharded(
    tasks: Sequence[Asked],
    folder: Path,
    *,
    shards: int = 3,
    model: str = "baseline/chance",
    engine: Callable[[Sequence[Shard], Report], list[str]] = in_this_process,
    **settings: Any,
) -> list[EvalLog]:
    told: list[int] = []
    errors = run_in_shards(
        [(asked, asked.make()) for asked in tasks],
        Settings(model, {}, settings.pop("limit", None), settings),
        str(folder),
        shards,
        engine,
        lambda samples: told.append,
    )
    assert errors == []
    return [read_eval_log(info) for info in list_eval_logs(str(folder))]


def plain(value: Any) -> Any:
    """What must be the same: all but times and ids."""
    if isinstance(value, dict):
        if VARYING.fullmatch(str(value.get("path", "")).rpartition("/")[2]):  # a change that an event tells of
            return {"path": value["path"]}
        return {key: plain(one) for key, one in value.items() if not VARYING.fullmatch(key)}
    return [plain(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: f"{asked.benchmark}-{asked.task}")
def test_a_log_of_shards_is_the_log_of_the_whole_run(asked: Asked, tmp_path: Path) -> None:
    (whole,) = inspect_eval(
        asked.make(), model="baseline/chance", limit=7, log_dir=str(tmp_path / "whole"), display="none"
    )
    whole = read_eval_log(whole.location)
    (log,) = sharded([asked], tmp_path / "shards", limit=7)
    assert whole.samples
    assert log.samples
    for name in ("status", "results", "reductions", "eval", "plan", "samples"):
        one, other = (json.loads(each.model_dump_json(include={name}))[name] for each in (whole, log))
        assert plain(one) == plain(other), name
    assert [sample.id for sample in whole.samples] == [sample.id for sample in log.samples]
    assert whole.stats.model_usage == log.stats.model_usage


def test_killed_processes_lose_and_double_nothing(tmp_path: Path) -> None:
    asked = [Asked("ziqi", "comprehension", {}), Asked("ziqi", "generation", {})]
    killed: list[int] = []

    def engine(shards: Sequence[Shard], report: Report) -> list[str]:
        finished = 0

        def count(samples: int) -> None:
            nonlocal finished
            finished += samples
            report(samples)
            if finished > 40 * (len(killed) + 1) and len(killed) < 3:
                killed.append(shard_processes()[len(killed) % len(shard_processes())])
                os.kill(killed[-1], signal.SIGKILL)

        return run_processes(shards, count)

    logs = sharded(asked, tmp_path, shards=2, engine=engine)
    assert len(killed) == 3
    for log, samples in zip(sorted(logs, key=lambda log: log.eval.task), (240, 60), strict=True):
        assert log.samples
        assert (log.status, len(log.samples)) == ("success", samples)
        assert len({sample.id for sample in log.samples}) == samples
        assert sorted(sample.id for sample in log.samples) == sorted(log.eval.dataset.sample_ids or [])
    assert not (tmp_path / "shards").exists()
    # What is whole is not asked again.
    assert [log.eval.run_id for log in sharded(asked, tmp_path, shards=2, engine=nothing_left)] == [
        log.eval.run_id for log in logs
    ]


def shard_processes() -> list[int]:
    return [process.pid for process in multiprocessing.active_children() if process.pid and process.is_alive()]


def nothing_left(shards: Sequence[Shard], report: Report) -> list[str]:
    assert not shards
    return []
