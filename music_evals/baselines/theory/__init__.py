"""A reader that answers theory questions by its own arithmetic."""

from music_evals.baselines.theory.solve import solve

__all__ = ["solve"]
