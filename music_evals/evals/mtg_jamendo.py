r"""MTG-Jamendo: tags of recordings, such as their genres, of the test set of split 0.

"The MTG-Jamendo Dataset for Automatic Music Tagging"
Dmitry Bogdanov, Minz Won, Philip Tovstogan, Alastair Porter, Xavier Serra
http://hdl.handle.net/10230/42015

inspect eval evals/mtg_jamendo.py --model google/gemini-2.5-pro -T dataset=/data/mtg-jamendo
inspect eval evals/mtg_jamendo.py@genre --model openai-api/local/qwen3-omni \
  -T dataset=/data/mtg-jamendo -T allow_partial=true
"""

from dataclasses import dataclass
from functools import partial

from inspect_ai import Task

from music_evals.benchmarks import load
from music_evals.datasets_builders.questions.question_set import (
    MediaQuestion,
    Part,
    Record,
    Records,
    question_set,
)
from music_evals.evals.shared.parameters import task
from music_evals.evals.shared.question_sets import QuestionSetParameters, question_set_task


@dataclass(frozen=True, slots=True, kw_only=True)
class TagParameters(QuestionSetParameters):
    """Parameters of MTG-Jamendo: the first 30 seconds of each recording are sent."""

    seconds: int = 30


def read_record(record: Record, name: str) -> MediaQuestion:
    """Read a line of a split; a tag such as ``genre---rock`` is shown without its kind.

    The columns behind the first tag have no heading. A recording may be of full or low quality.
    """
    facts = load("mtg_jamendo").table["labels"][name]
    tags = [record["TAGS"], *(record.get(None) or ())]  # type: ignore[call-overload]
    path = record["PATH"]
    return MediaQuestion(
        record["TRACK_ID"],
        [Part("audio", (path, path.replace(".mp3", ".low.mp3"))), facts["question"]],
        facts["tags"].split(),
        "; ".join(tag.partition("---")[2] for tag in tags),
        piece=record["ALBUM_ID"],
        answer_kind="labels",
    )


FILES = {"genre": "genre", "mood": "moodtheme", "instrument": "instrument", "top50": "top50tags"}
RECORDS = {
    name: Records((f"autotagging_{file}-test.tsv",), partial(read_record, name=name))
    for name, file in FILES.items()
}
BENCHMARK = question_set("mtg_jamendo", "1.0.0", RECORDS)


@task
def genre(params: TagParameters) -> Task:
    """Name the genres of a recording, of 87."""
    return question_set_task(params, "genre", BENCHMARK)


@task
def mood(params: TagParameters) -> Task:
    """Name the moods and themes of a recording, of 56."""
    return question_set_task(params, "mood", BENCHMARK)


@task
def instrument(params: TagParameters) -> Task:
    """Name the instruments of a recording, of 40."""
    return question_set_task(params, "instrument", BENCHMARK)


@task
def top50(params: TagParameters) -> Task:
    """Name the tags of a recording, of the 50 most frequent tags of all kinds."""
    return question_set_task(params, "top50", BENCHMARK)
