"""What Inspect finds by name (`music_evals/...`, `baseline/...`) from any folder: importing registers it."""

from music_evals.baselines.provider import BaselineAPI
from music_evals.evals.lilybench import (
    bar_count,
    bar_sequencing,
    composer_recognition,
    emotion_recognition,
    error_detection,
    genre_recognition,
    metadata_prediction,
    metadata_qa,
    music_captioning,
    next_bar_prediction,
)
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
from music_evals.scorers.score_tasks import (
    by_category,
    by_kind,
    confusion,
    error_figures,
    index_figures,
    measure_count,
    measure_order,
    number_figures,
    option_index,
    order_figures,
    wrong_measures,
)
from music_evals.solvers.logiclm import logiclm
from music_evals.solvers.score_tools import score_tools

__all__ = [
    "BaselineAPI",
    "answered",
    "bar_count",
    "bar_sequencing",
    "bias_figures",
    "by_category",
    "by_kind",
    "by_rotation",
    "by_subtheme",
    "by_theme",
    "choice_figures",
    "chord_quality",
    "composer_recognition",
    "comprehension",
    "confusion",
    "emotion_recognition",
    "error_detection",
    "error_figures",
    "final_answer",
    "formulation",
    "generation",
    "genre_recognition",
    "human_agreement",
    "index_figures",
    "interval95",
    "judge_agreement",
    "judged",
    "judged_accuracy",
    "judged_by_level",
    "judged_success",
    "letter_figures",
    "lettered_choice",
    "logiclm",
    "measure_count",
    "measure_order",
    "metadata_prediction",
    "metadata_qa",
    "music_captioning",
    "next_bar_prediction",
    "number_figures",
    "option_index",
    "order_figures",
    "score_tools",
    "solver_decision",
    "syncopation",
    "textual",
    "transposition",
    "visual",
    "wrong_measures",
]
