"""Tasks on captions of music. A judge may rate them, and is tried on true and false captions."""

import re
from dataclasses import dataclass
from random import Random

from inspect_ai import Task

from music_evals.datasets_builders.dataset_io import DatasetSpec
from music_evals.evals.shared.question_sets import QuestionSetParameters, question_set_task
from music_evals.notation.toml_files import read_toml

_WRONG = read_toml(__package__, "captions.toml")
_NAMED = re.compile(rf"\b(?:{'|'.join(_WRONG)})\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptionParameters(QuestionSetParameters):
    """Parameters of tasks on captions: those of question sets, and two more.

    Args:
        judge: a model that rates each caption from 0 to 5 against those of people; the score is the
            rating divided by 5. Without it, the score is ROUGE-L.
        trials: of so many clips, the first ones, the judge also rates a true and a false caption,
            so that the log says whether it tells them apart.
    """

    judge: str = ""
    trials: int = 40


def caption_task(params: CaptionParameters, dataset: DatasetSpec) -> Task:
    """Make the task of a dataset of captions."""
    task = question_set_task(params, "captions", dataset)
    for sample in list(task.dataset)[: params.trials]:
        (sample.metadata or {})["trials"] = trials_of(str(sample.target))
    return task


def trials_of(people: str) -> list[tuple[str, str]]:
    r"""Return a true and a false caption of a clip, each behind captions that a judge sees.

    The true one is by a person. The false one is the same but for one word, an instrument, a tempo,
    a mood or a voice, in the place of which is a wrong one. The judge sees the other captions if
    they have the word, or else all. Nothing if no caption has such a word.

    Args:
        people: captions of people, a line each; they are taken in lower case.

    Example:
        >>> trials_of("A slow tune.\nSlow and long.")
        [('\nslow and long.', 'a slow tune.'), ('\nslow and long.', 'a fast tune.')]
    """
    people = people.lower()
    words = [word for word in _NAMED.findall(people) if _WRONG[word] not in people]
    if not words:
        return []
    word = Random(people).choice(words)
    named = re.compile(rf"\b{word}\b")
    caption = next(filter(named.search, people.splitlines()))
    others = people.replace(caption, "")
    shown = others if named.search(others) else people
    return [(shown, caption), (shown, named.sub(_WRONG[word], caption))]
