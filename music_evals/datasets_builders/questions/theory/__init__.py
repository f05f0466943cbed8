"""Music theory questions, in Chinese and English, whose answers music21 computes."""

from music_evals.datasets_builders.questions.theory.compose import KINDS, compose_theory, refuse_guessable_theory

__all__ = ["KINDS", "compose_theory", "refuse_guessable_theory"]
