"""What Inspect finds by name (`music_evals/...`, `baseline/...`) from any folder: importing registers it."""

from music_evals.baselines.provider import BaselineAPI
from music_evals.evals.msu import textual, visual
from music_evals.evals.muse import chord_quality, syncopation, transposition
from music_evals.evals.ziqi import comprehension, generation
from music_evals.scorers.choice import answered, final_answer
from music_evals.scorers.intervals import interval95
from music_evals.scorers.judge import (
    human_agreement,
    judge_agreement,
    judged,
    judged_accuracy,
    judged_by_level,
    judged_success,
)
from music_evals.scorers.lettered_choice import (
    bias_figures,
    by_rotation,
    by_subtheme,
    by_theme,
    choice_figures,
    letter_figures,
    lettered_choice,
)
from music_evals.scorers.logiclm import formulation, solver_decision
from music_evals.solvers.logiclm import logiclm

__all__ = [
    "BaselineAPI",
    "answered",
    "bias_figures",
    "by_rotation",
    "by_subtheme",
    "by_theme",
    "choice_figures",
    "chord_quality",
    "comprehension",
    "final_answer",
    "formulation",
    "generation",
    "human_agreement",
    "interval95",
    "judge_agreement",
    "judged",
    "judged_accuracy",
    "judged_by_level",
    "judged_success",
    "letter_figures",
    "lettered_choice",
    "logiclm",
    "solver_decision",
    "syncopation",
    "textual",
    "transposition",
    "visual",
]
