"""Questions on a score whose answers music21 computes from it, four levels with three each."""

from music_evals.datasets_builders.msu.questions.compose import (
    KINDS,
    Candidates,
    Composer,
    UnsuitableScoreError,
    asked_of_pages,
    candidates,
    compose_score_questions,
)

__all__ = [
    "KINDS",
    "Candidates",
    "Composer",
    "UnsuitableScoreError",
    "asked_of_pages",
    "candidates",
    "compose_score_questions",
]
