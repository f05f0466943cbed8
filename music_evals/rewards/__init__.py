"""Rewards for training: what a reply earns, by the functions that also score evaluations.

This package imports neither Inspect nor a model provider. `score` judges one reply,
`reward_function` makes a function for GRPOTrainer of TRL.
"""

from music_evals.rewards.batches import reward_function
from music_evals.rewards.scoring import Pieces, Reward, score

__all__ = ["Pieces", "Reward", "reward_function", "score"]
