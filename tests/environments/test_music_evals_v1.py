"""The taskset for verifiers, in an environment that has it: ``pytest --noconftest
tests/environments``.
"""

import asyncio
import json
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip(
    "verifiers.v1", reason="verifiers is not installed: environments/music_evals_v1/README.md"
)

from environments.music_evals_v1 import music_evals_v1 as environment
from music_evals.datasets_builders.questions.question_rows import composed_rows
from music_evals.datasets_builders.questions.theory.compose import MUSICTHEORYBENCH, compose_theory
from music_evals.datasets_builders.training.decontamination import is_reserved
from tests.environments.chat_server import serve


def scored(task, reply):
    """Rewards and metrics as verifiers computes them."""
    trace = SimpleNamespace(last_reply=reply, metrics={}, rewards={})
    trace.record_metrics = trace.metrics.update
    trace.record_metric = trace.metrics.__setitem__
    trace.record_reward = lambda name, value, weight: trace.rewards.__setitem__(name, value)
    asyncio.run(task.score(trace))
    return {**trace.rewards, **trace.metrics}


@pytest.mark.parametrize("name", environment.COMPOSED)
def test_questions_are_endless_repeatable_and_their_references_earn_1(name):
    taskset = environment.MusicTaskset(environment.MusicConfig(questions=name))
    assert taskset.INFINITE
    tasks = list(islice(taskset, 40))
    assert [task.key for task in tasks] == [task.key for task in taskset.take(40)]
    assert len({task.data.prompt for task in tasks}) == 40
    assert all(asyncio.run(task.validate(None)) for task in tasks)


def test_rows_of_a_file_and_what_replies_earn(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(
        json.dumps({"prompt": "How many measures?", "row": {"answer": "12"}}) + "\n",
        encoding="utf-8",
    )
    taskset = environment.MusicTaskset(
        environment.MusicConfig(questions="lilybench_bar_count", rows=path)
    )
    (task,) = taskset
    assert taskset.bounded
    assert asyncio.run(task.validate(None))
    assert {name: value for name, value in scored(task, "12").items() if value} == {
        "value": 1,
        "answer": 1,
        "format": 1,
    }
    assert not any(scored(task, "13 or 12").values())


def test_what_cannot_be_composed_is_named():
    with pytest.raises(
        ValueError,
        match="questions='msu_textual' is not composed; accepted are musictheorybench_kn",
    ):
        environment.MusicTaskset(environment.MusicConfig(questions="msu_textual"))


def test_a_rollout_is_a_question_and_an_answer_without_tools(tmp_path):
    with serve("Final Answer: A") as (address, asked):
        command = [Path(sys.executable).with_name("vf-eval"), "music_evals_v1"]
        options = {
            "--env.taskset.questions": "musictheorybench_knowledge",
            "--env.agent.harness.id": "null",
            "--env.agent.runtime.type": "subprocess",
            "--client.base-url": address,
            "--client.api-key-var": "KEY",
            "--model": "scripted",
            "--select.limit": "8",
            "--output-dir": str(tmp_path),
        }
        words = [word for option in options.items() for word in option]
        subprocess.run(
            [*command, *words, "--no-push"],
            env={**os.environ, "KEY": "none"},
            check=True,
            timeout=600,
        )
    assert len(asked) == 8
    for body in asked:
        assert not body.get("tools")
        assert [message["role"] for message in body["messages"]] == ["system", "user"]
    (traces,) = tmp_path.rglob("traces.jsonl")
    episodes = [json.loads(line) for line in traces.read_text(encoding="utf-8").splitlines()]
    rewards = [episode["traces"][0]["rewards"]["value"]["score"] for episode in episodes]
    assert len(rewards) == 8
    assert {*rewards} <= {0, 1}


def test_no_question_is_of_the_half_reserved_for_tests():
    entries = list(islice(environment.compose_theory("musictheorybench_knowledge", 1_000), 200))
    prompts = {entry["prompt"] for entry in entries}
    rows = composed_rows(compose_theory(2_000, 1_000, MUSICTHEORYBENCH), "1000")
    reserved = {row["question"] for row in rows if is_reserved(row["id"])}
    assert len(reserved) > 500
    asked = {line for prompt in prompts for line in prompt.splitlines()}
    assert len(asked) > 200
    assert asked.isdisjoint(reserved)
