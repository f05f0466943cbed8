r"""MagnaTagATune: tags of clips of 29 seconds, of the 50 most frequent tags.

"Evaluation of Algorithms Using Games: The Case of Music Tagging"
Edith Law, Kris West, Michael Mandel, Mert Bay, J. Stephen Downie
https://mirg.city.ac.uk/codeapps/the-magnatagatune-dataset

inspect eval evals/magnatagatune.py --model google/gemini-2.5-pro -T dataset=/data/magnatagatune
"""

from inspect_ai import Task

from music_evals.datasets_builders.tagging import MAGNATAGATUNE as BENCHMARK
from music_evals.evals.shared.question_sets import QuestionSetParameters, question_set_task
from music_evals.evals.shared.registration import task


@task
def tags(params: QuestionSetParameters) -> Task:
    """Name the tags of a clip, of 50."""
    return question_set_task(params, "tags", BENCHMARK)
