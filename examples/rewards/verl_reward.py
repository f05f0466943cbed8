"""A reward function for veRL: docs/rewards.md."""

import json

from music_evals.rewards import score


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **_):
    """Return the reward of a reply, and whether it has the form that the prompt demands."""
    reward = score(data_source, json.loads(ground_truth), solution_str)
    return {"score": reward.value or 0.0, "format": reward.parts["format"] or 0.0}
