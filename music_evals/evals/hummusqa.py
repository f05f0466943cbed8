r"""HumMusQA: 320 questions that experts wrote on excerpts of recordings, with four options.

"HumMusQA: A Human-written Music Understanding QA Benchmark Dataset"
Benno Weck, Pablo Puentes, Andrea Poltronieri, Satyajeet Prabhu, Dmitry Bogdanov
https://arxiv.org/abs/2603.27877

inspect eval evals/hummusqa.py --model google/gemini-2.5-pro -T dataset=published
"""

from inspect_ai import Task

from music_evals.datasets_builders.questions.choice_records import tags_of
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
    """Read a row of the file on the Hub, which has its sound and names the right option first."""
    return MediaQuestion.mixed(
        record["identifier"],
        [Part("audio", record["audio"]), record["question"]],
        record["answer"],
        [record[f"distractor_{number}"] for number in (1, 2, 3)],
        theme=record["main_category"],
        piece=record["jamendo_id"],
        tags=tags_of(record, "difficulty"),
    )


BENCHMARK = question_set("hummusqa", "1.0.0", {"excerpts": Records(("*.parquet",), read_record)})


@task
def excerpts(params: QuestionSetParameters) -> Task:
    """Answer questions about excerpts of recordings: four options."""
    return question_set_task(params, "excerpts", BENCHMARK)
