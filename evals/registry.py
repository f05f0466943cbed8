"""What Inspect finds by name (`music_evals/...`, `baseline/...`) from any folder: importing registers it."""

from music_evals.baselines.provider import BaselineAPI
from music_evals.evals.muse import chord_quality, syncopation, transposition
from music_evals.scorers.choice import answered, final_answer
from music_evals.scorers.intervals import interval95
from music_evals.scorers.logiclm import formulation, solver_decision
from music_evals.solvers.logiclm import logiclm

__all__ = [
    "BaselineAPI",
    "answered",
    "chord_quality",
    "final_answer",
    "formulation",
    "interval95",
    "logiclm",
    "solver_decision",
    "syncopation",
    "transposition",
]
