"""MuChoMusic: facts about recordings, with four options. Many can be answered from the text alone:
see RUL-MuChoMusic.

"MuChoMusic: Evaluating Music Understanding in Multimodal Audio-Language Models"
Benno Weck, Ilaria Manco, Emmanouil Benetos, Elio Quinton, George Fazekas, Dmitry Bogdanov
https://arxiv.org/abs/2408.01337

inspect eval evals/muchomusic.py --model google/gemini-2.5-pro
inspect eval evals/muchomusic.py --model google/gemini-2.5-pro -T dataset=published -T stimulus=none
"""

from collections.abc import Iterator
from hashlib import sha256

from inspect_ai import Task

from music_evals.datasets_builders.questions.choice_records import (
    HUB_SOUND,
    choice_list,
    choice_record,
    sound_key,
)
from music_evals.datasets_builders.questions.listening import listening_questions
from music_evals.datasets_builders.questions.question_set import (
    MediaQuestion,
    Part,
    Record,
    Records,
    question_set,
)
from music_evals.evals.shared.question_sets import QuestionSetParameters, question_set_task
from music_evals.evals.shared.registration import task


def read_record(record: Record) -> MediaQuestion:
    """Read a line of ``muchomusic.csv``, or a row of ``lmms-lab/muchomusic``, which has fewer
    facts.

    Recordings of the former are ``TRACK.2min.mp3`` and ``[VIDEO]-[START-END].wav``.
    """
    if "instruction" in record:
        entry = choice_record(record)
        key = sound_key(entry["question"], entry["choices"][entry["right"]])
        question_id = sha256(key.encode()).hexdigest()[:12]
        return MediaQuestion(
            question_id, [entry["sound"], entry["question"]], entry["choices"], entry["right"]
        )
    name = record["dataset_identifier"].removesuffix(".json")
    source = record["dataset"]
    clip = f"{name}.2min" if source == "sdd" else name.rpartition("_")[0]
    question_id = f"{name}-{sha256(record['question'].encode()).hexdigest()[:8]}"
    wrong = [record[f"distractor_{number}_answer"] for number in (1, 2, 3)]
    sound = Part("audio", (clip, sound_key(record["question"], record["correct_answer"])))
    groups = {"theme": source, "subtheme": record["genre"] or None, "tags": list(_tags(record))}
    parts = [sound, record["question"]]
    return MediaQuestion.mixed(
        question_id, parts, record["correct_answer"], wrong, piece=clip, **groups
    )


def _tags(record: Record) -> Iterator[str]:
    for kind in ("knowledge", "reasoning"):
        for name in choice_list(record.get(f"music_{kind}") or "[]"):
            yield f"{kind}: {name}"


RECORDS = Records(("muchomusic.csv", "*.parquet"), read_record, HUB_SOUND)
BENCHMARK = question_set("muchomusic", "1.4.0", {"listening": RECORDS}, listening_questions)


@task
def listening(params: QuestionSetParameters) -> Task:
    """Answer questions about recordings: four options (sections 3 and 4)."""
    return question_set_task(params, "listening", BENCHMARK)
