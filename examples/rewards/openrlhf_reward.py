"""A reward function for OpenRLHF: docs/rewards.md."""

import json

import torch

from music_evals.rewards import score


def reward_func(queries, prompts, labels):
    """Return the rewards of replies, each behind its prompt."""
    rows = [json.loads(label) for label in labels]  # {"task": …, "row": {…}}
    replies = [query.removeprefix(prompt) for query, prompt in zip(queries, prompts, strict=True)]
    rewards = [
        score(one["task"], one["row"], reply) for one, reply in zip(rows, replies, strict=True)
    ]
    values = torch.tensor([reward.value or 0.0 for reward in rewards])
    return {"rewards": values, "scores": values, "extra_logs": {}}
