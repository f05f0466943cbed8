r"""NSynth: family, source and pitch of single notes, 4,096 of the test split.

"Neural Audio Synthesis of Musical Notes with WaveNet Autoencoders"
Jesse Engel, Cinjon Resnick, Adam Roberts, Sander Dieleman, Douglas Eck, Karen Simonyan, Mohammad
Norouzi
https://arxiv.org/abs/1704.01279

inspect eval evals/nsynth.py --model google/gemini-2.5-pro
inspect eval evals/nsynth.py@pitch --model openai-api/local/af3 -T dataset=published
"""

from functools import partial

from inspect_ai import Task

from music_evals.datasets_builders.questions.nsynth_records import (
    compose_labels,
    compose_pitches,
    read_label,
    read_pitch,
)
from music_evals.datasets_builders.questions.question_set import Records, question_set
from music_evals.evals.shared.question_sets import QuestionSetParameters, question_set_task
from music_evals.evals.shared.registration import task

_FILES = ("examples.json",)
BENCHMARK = question_set(
    "nsynth",
    "1.0.0",
    {
        "instrument": Records(_FILES, partial(read_label, name="family")),
        "source": Records(_FILES, partial(read_label, name="source")),
        "pitch": Records(_FILES, read_pitch),
    },
    {
        "instrument": partial(compose_labels, name="family"),
        "source": partial(compose_labels, name="source"),
        "pitch": compose_pitches,
    },
)


@task
def instrument(params: QuestionSetParameters) -> Task:
    """Name the family of the instrument that plays a note, one of eleven."""
    return question_set_task(params, "instrument", BENCHMARK)


@task
def source(params: QuestionSetParameters) -> Task:
    """Say whether a note is acoustic, electronic or synthetic."""
    return question_set_task(params, "source", BENCHMARK)


@task
def pitch(params: QuestionSetParameters) -> Task:
    """Name the pitch of a note as a MIDI number."""
    return question_set_task(params, "pitch", BENCHMARK)
