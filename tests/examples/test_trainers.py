"""`examples/rewards`: the functions give trainers what `music_evals.rewards.score` gives."""

import json
import runpy
from pathlib import Path

import pytest

REWARDS = Path(__file__).parents[2] / "examples" / "rewards"
ROW = {"options": ["Major", "Minor"], "target": "B"}
TASK = "muse_chord_quality"


def test_verl_gets_the_value_and_the_format():
    compute_score = runpy.run_path(str(REWARDS / "verl_reward.py"))["compute_score"]
    assert compute_score(TASK, "Final Answer: B", json.dumps(ROW)) == {"score": 1.0, "format": 1.0}
    assert compute_score(TASK, "It is minor.", json.dumps(ROW))["format"] == 0.0


def test_openrlhf_gets_the_values_of_replies_behind_their_prompts():
    pytest.importorskip("torch", reason="OpenRLHF passes tensors")
    reward_func = runpy.run_path(str(REWARDS / "openrlhf_reward.py"))["reward_func"]
    labels = [json.dumps({"task": TASK, "row": ROW})] * 2
    prompts = ["Which quality? "] * 2
    queries = [
        prompt + reply for prompt, reply in zip(prompts, ("Final Answer: B", "A"), strict=True)
    ]
    found = reward_func(queries, prompts, labels)
    assert found["rewards"].tolist() == found["scores"].tolist() == [1.0, 0.0]
