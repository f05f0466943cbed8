"""MuChoMusic: facts about recordings, with four options. Many can be answered from the text alone: see RUL-MuChoMusic.

"MuChoMusic: Evaluating Music Understanding in Multimodal Audio-Language Models"
Benno Weck, Ilaria Manco, Emmanouil Benetos, Elio Quinton, George Fazekas, Dmitry Bogdanov
https://arxiv.org/abs/2408.01337

inspect eval evals/muchomusic.py --model google/gemini-2.5-pro
inspect eval evals/muchomusic.py --model google/gemini-2.5-pro -T dataset=data/muchomusic -T stimulus=none
"""

from hashlib import sha256

from inspect_ai import Task

from music_evals.datasets_builders.questions.listening import listening_questions
from music_evals.datasets_builders.questions.question_set import MediaQuestion, Part, Record, Records, question_set
from music_evals.evals.questions import QuestionSetParameters, question_set_task
from music_evals.evals.shared.tasks import task


def read_record(record: Record) -> MediaQuestion:
    """Read a line of ``muchomusic.csv``; recordings are ``TRACK.2min.mp3`` and ``[VIDEO]-[START-END].wav``."""
    name, source = record["dataset_identifier"].removesuffix(".json"), record["dataset"]
    clip = f"{name}.2min" if source == "sdd" else name.rpartition("_")[0]
    question_id = f"{name}-{sha256(record['question'].encode()).hexdigest()[:8]}"
    wrong = [record[f"distractor_{number}_answer"] for number in (1, 2, 3)]
    parts, groups = [Part("audio", clip), record["question"]], {"theme": source, "subtheme": record["genre"] or None}
    return MediaQuestion.mixed(question_id, parts, record["correct_answer"], wrong, piece=clip, **groups)


BENCHMARK = question_set(
    "muchomusic", "1.1.0", {"listening": Records("muchomusic.csv", read_record)}, listening_questions
)


@task
def listening(params: QuestionSetParameters) -> Task:
    """Answer questions about recordings: four options (sections 3 and 4)."""
    return question_set_task(params, "listening", BENCHMARK)
