r"""PitchBench: pitches, intervals, chords, contours and times of rendered tones, in 28 tasks.

"PitchBench: Measuring Pitch Hearing in Audio-Language Models"
Milan Liessens Dujardin, Song-Ze Yu, Craver Corbyn Thomas-Smith, David M. Chan, Karina Nguyen
https://arxiv.org/abs/2605.26176

inspect eval evals/pitchbench.py --model google/gemini-2.5-pro
inspect eval evals/pitchbench.py --model openai-api/local/af3 -T dataset=published -T prompt=paper
"""

from inspect_ai import Task

from music_evals.datasets_builders.questions.pitchbench_records import read_record
from music_evals.datasets_builders.questions.question_set import Records, question_set
from music_evals.datasets_builders.questions.rendered_pitches import pitch_questions
from music_evals.evals.shared.question_sets import QuestionSetParameters, question_set_task
from music_evals.evals.shared.registration import task

RECORDS = Records(("*.parquet",), read_record)
BENCHMARK = question_set("pitchbench", "1.0.0", {"pitch": RECORDS}, pitch_questions)


@task
def pitch(params: QuestionSetParameters) -> Task:
    """Hear pitches: the mean of 28 tasks; of three formats of an answer the best one counts."""
    return question_set_task(params, "pitch", BENCHMARK)
