"""Questions on a score whose answers music21 computes from it, four levels with three each."""

from music_evals.datasets_builders.msu.questions.compose import KINDS, UnsuitableScoreError, compose_score_questions

__all__ = ["KINDS", "UnsuitableScoreError", "compose_score_questions"]
