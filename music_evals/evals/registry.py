"""What Inspect finds by name (`music_evals/...`, `baseline/...`) from any folder: importing registers it."""

from inspect_ai import task

from music_evals.baselines.provider import BaselineAPI
from music_evals.evals import lilybench
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
from music_evals.scorers.written_music import (
    compile_figures,
    frechet_figures,
    novelty_figures,
    similarity_figures,
    written_music,
)
from music_evals.solvers.logiclm import logiclm
from music_evals.solvers.score_tools import score_tools
from music_evals.solvers.writing import write_music

# Two benchmarks have a task `generation`. By name alone that is ZIQI-Eval's, whose module is imported later; from its
# file, as in `inspect eval evals/lilybench.py@generation`, each has its own.
lilybench_generation = task(name="lilybench_generation")(lilybench.generation)

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
    "compile_figures",
    "composer_recognition",
    "comprehension",
    "confusion",
    "emotion_recognition",
    "error_detection",
    "error_figures",
    "final_answer",
    "formulation",
    "frechet_figures",
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
    "lilybench_generation",
    "logiclm",
    "measure_count",
    "measure_order",
    "metadata_prediction",
    "metadata_qa",
    "music_captioning",
    "next_bar_prediction",
    "novelty_figures",
    "number_figures",
    "option_index",
    "order_figures",
    "score_tools",
    "similarity_figures",
    "solver_decision",
    "syncopation",
    "textual",
    "transposition",
    "visual",
    "write_music",
    "written_music",
    "wrong_measures",
]
