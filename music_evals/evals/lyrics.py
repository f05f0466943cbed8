r"""Lyrics: the words of sung lines, in the mixtures of MUSDB18's test songs.

"Phoneme Level Lyrics Alignment and Text-Informed Singing Voice Separation"
Kilian Schulze-Forster, Clement S. J. Doire, Gaël Richard, Roland Badeau
https://doi.org/10.1109/TASLP.2021.3091817

inspect eval evals/lyrics.py --model google/gemini-2.5-pro -T dataset=/data/musdb18
"""

from inspect_ai import Task

from music_evals.datasets_builders.lyrics import BENCHMARK
from music_evals.evals.shared.question_sets import QuestionSetParameters, question_set_task
from music_evals.evals.shared.registration import task


@task
def musdb18(params: QuestionSetParameters) -> Task:
    """Write the words of a line that is sung in English, with accompaniment."""
    return question_set_task(params, "musdb18", BENCHMARK)
