r"""MagnaTagATune: tags of clips of 29 seconds, of the 50 most frequent tags.

"Evaluation of Algorithms Using Games: The Case of Music Tagging"
Edith Law, Kris West, Michael Mandel, Mert Bay, J. Stephen Downie
https://mirg.city.ac.uk/codeapps/the-magnatagatune-dataset

inspect eval evals/magnatagatune.py --model google/gemini-2.5-pro -T dataset=/data/magnatagatune
"""

import re

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

_TEST_FOLDERS = ("d", "e", "f")
_TIMES = re.compile(r"-\d+-\d+\.mp3$")  # of a clip in its track


def read_record(record: Record) -> MediaQuestion | None:
    """Read a line of ``annotations_final.csv``; clips of training and validation, and clips
    without any of the 50 tags, are left out.
    """
    path = record["mp3_path"]
    if not path.startswith(_TEST_FOLDERS):
        return None
    facts = load("magnatagatune").table["labels"]["tags"]
    tags = [tag for tag in facts["tags"] if record[tag] == "1"]
    if not tags:
        return None
    return MediaQuestion(
        record["clip_id"],
        [Part("audio", path), facts["question"]],
        facts["tags"],
        "; ".join(tags),
        piece=_TIMES.sub("", path),
        answer_kind="labels",
    )


RECORDS = Records(("annotations_final.csv",), read_record)
BENCHMARK = question_set("magnatagatune", "1.0.0", {"tags": RECORDS})


@task
def tags(params: QuestionSetParameters) -> Task:
    """Name the tags of a clip, of 50."""
    return question_set_task(params, "tags", BENCHMARK)
