"""The taskset for verifiers, in an environment that has it: ``pytest --noconftest tests/environments``."""

import asyncio
import json
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("verifiers.v1", reason="verifiers is not installed: environments/music_evals_v1/README.md")

from environments.music_evals_v1 import music_evals_v1 as environment


def scored(task: Any, reply: str) -> dict[str, Any]:
    """Rewards and metrics as verifiers computes them."""
    trace = SimpleNamespace(last_reply=reply, metrics={}, rewards={})
    trace.record_metrics = trace.metrics.update
    trace.record_metric = trace.metrics.__setitem__
    trace.record_reward = lambda name, value, weight: trace.rewards.__setitem__(name, value)
    asyncio.run(task.score(trace))
    return {**trace.rewards, **trace.metrics}


@pytest.mark.parametrize("name", environment.COMPOSED)
def test_questions_are_endless_repeatable_and_their_references_earn_1(name: str) -> None:
    taskset = environment.MusicTaskset(environment.MusicConfig(questions=name))
    assert taskset.INFINITE
    tasks = list(islice(taskset, 40))
    assert [task.key for task in tasks] == [task.key for task in taskset.take(40)]
    assert len({task.data.prompt for task in tasks}) == 40
    assert all(asyncio.run(task.validate(None)) for task in tasks)


def test_rows_of_a_file_and_what_replies_earn(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"prompt": "How many measures?", "row": {"answer": "12"}}) + "\n", encoding="utf-8")
    taskset = environment.MusicTaskset(environment.MusicConfig(questions="lilybench_bar_count", rows=path))
    (task,) = taskset
    assert taskset.bounded
    assert asyncio.run(task.validate(None))
    assert {name: value for name, value in scored(task, "12").items() if value} == {
        "value": 1,
        "answer": 1,
        "format": 1,
    }
    assert not any(scored(task, "13 or 12").values())


def test_what_cannot_be_composed_is_named() -> None:
    with pytest.raises(ValueError, match="questions='msu_textual' is not composed; accepted are musictheorybench_kn"):
        environment.MusicTaskset(environment.MusicConfig(questions="msu_textual"))
