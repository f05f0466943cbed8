r"""MTG-Jamendo: tags of recordings, such as their genres, of the test set of split 0.

"The MTG-Jamendo Dataset for Automatic Music Tagging"
Dmitry Bogdanov, Minz Won, Philip Tovstogan, Alastair Porter, Xavier Serra
http://hdl.handle.net/10230/42015

inspect eval evals/mtg_jamendo.py --model google/gemini-2.5-pro -T dataset=/data/mtg-jamendo
inspect eval evals/mtg_jamendo.py@genre --model openai-api/local/qwen3-omni \
  -T dataset=/data/mtg-jamendo -T allow_partial=true -T seconds=30
"""

from inspect_ai import Task

from music_evals.datasets_builders.tagging import MTG_JAMENDO as BENCHMARK
from music_evals.evals.shared.question_sets import QuestionSetParameters, question_set_task
from music_evals.evals.shared.registration import task


@task
def genre(params: QuestionSetParameters) -> Task:
    """Name the genres of a recording, of 87."""
    return question_set_task(params, "genre", BENCHMARK)


@task
def mood(params: QuestionSetParameters) -> Task:
    """Name the moods and themes of a recording, of 56."""
    return question_set_task(params, "mood", BENCHMARK)


@task
def instrument(params: QuestionSetParameters) -> Task:
    """Name the instruments of a recording, of 40."""
    return question_set_task(params, "instrument", BENCHMARK)


@task
def top50(params: QuestionSetParameters) -> Task:
    """Name the tags of a recording, of the 50 most frequent tags of all kinds."""
    return question_set_task(params, "top50", BENCHMARK)
