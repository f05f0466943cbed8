r"""WildScore: questions on pictures of scores that people asked, and the answers they liked most.

"WildScore: Benchmarking MLLMs in-the-Wild Symbolic Music Reasoning"
Gagan Mundada, Yash Vishe, Amit Namburi, Xin Xu, Zachary Novack, Julian McAuley, Junda Wu
https://arxiv.org/abs/2509.04744

inspect eval evals/wildscore.py --model openai/gpt-4o -T dataset=published
inspect eval evals/wildscore.py --model openai/gpt-4o -T dataset=published -T stimulus=none
"""

import json
from hashlib import sha256
from pathlib import PurePosixPath

from inspect_ai import Task

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
    """Read a row of ``data.csv``; a letter without a text is no option."""
    picture = PurePosixPath(record["image"]).stem
    texts = json.loads(record["final_options"])
    options = {letter: str(text) for letter, text in sorted(texts.items()) if text}
    checksum = sha256(record["question"].encode()).hexdigest()[:6]
    return MediaQuestion(
        f"{picture}-{checksum}",
        [Part("image", record["image"]), record["question"]],
        list(options.values()),
        list(options).index(record["truth_letter"].strip()),
        theme=record.get("category"),
        subtheme=record.get("subcategory"),
        piece=picture,
    )


BENCHMARK = question_set("wildscore", "1.0.0", {"scores": Records(("data.csv",), read_record)})


@task
def scores(params: QuestionSetParameters) -> Task:
    """Answer a question about a picture of a score, or without it: ``stimulus=none``
    (section 3).
    """
    return question_set_task(params, "scores", BENCHMARK)
