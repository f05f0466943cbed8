"""Tasks on banks of questions: four-option questions of text or ABC, with worked examples."""

from collections.abc import Sequence
from dataclasses import dataclass
from string import Template
from typing import Any, Literal

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig

from music_evals import benchmarks
from music_evals.benchmarks.prompts import load_prompts
from music_evals.datasets_builders.dataset_io import (
    GENERATED,
    DatasetSpec,
    describe_dataset,
    load_split,
)
from music_evals.datasets_builders.questions.question_rows import QuestionRow
from music_evals.evals.shared.declared_tasks import commonest, declared_task
from music_evals.evals.shared.floors import floors_of
from music_evals.evals.shared.levels import Level, at_level
from music_evals.evals.shared.question_sets import (
    QuestionSetParameters,
    ShownOptions,
    question_to_sample,
)
from music_evals.scorers.choice import final_answer
from music_evals.solvers.option_order import LINES
from music_evals.solvers.replies import AnswerForm, reply
from music_evals.solvers.stimulus import Stimulus


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionParameters:
    """Parameters of a task on a bank.

    Args:
        dataset: ``generated`` for a look-alike of the published test; ``published`` for that, which
            is fetched once; a folder; or ``hf://datasets/ORG/NAME[@REVISION]``.
        level: 1, or 2 to 5 for chains of theory with more steps, or ``all``; of generated data
            (`reasoning`).
        stimulus: ``given`` for the question's own music; ``none`` for no music; ``noise`` for
            random music of the same length; ``other`` for the music of a question with another
            answer.
        twin: ``original``; ``completion`` to show half of the options and ask for the others word
            for word.
        shots: ``zero``, or ``five`` to show five worked examples ahead of the question.
        answer: ``text``, read by rules; ``schema`` for a form that the server guarantees, and
            ``reasoned`` for the same with a field to reason in first; ``likelihood`` for the
            probabilities of the options, also by models without a chat template. See
            ``docs/answers.md``.
        prompts: ``second`` or ``third`` wording, or a TOML file with your own, as the benchmark's
            ``prompts.toml``.
    """

    dataset: str = GENERATED
    level: Level = 1
    stimulus: Stimulus = "given"
    twin: Literal["original", "completion"] = "original"
    shots: Literal["zero", "five"] = "zero"
    answer: AnswerForm = "text"
    prompts: str | None = None


def question_task(params: QuestionParameters, name: str, benchmark: DatasetSpec) -> Task:
    """Make the task of a name, which is that of the config in the benchmark's dataset.

    The benchmark's ``prompts.toml`` holds ``instruction`` and ``question``, and ``examples`` and
    ``example`` for worked examples.
    """
    wording = load_prompts(benchmark.name, params.prompts)
    benchmark = at_level(benchmark, name, params)
    origin = describe_dataset(params.dataset, benchmark=benchmark)
    dev, test = (
        load_split(params.dataset, name, split, benchmark=benchmark).to_list()
        for split in ("dev", "test")
    )
    opening = [wording["instruction"]]
    if params.shots == "five":
        opening.append(wording["examples"])
        for row in dev:
            tune = f"\n\n{row['abc'].strip()}" if row["abc"] else ""
            question = row["question"] + tune
            opening.append(
                fill_question(wording["example"], question, row["options"], row["answer"])
            )
    prompt = "\n\n".join([*(text.replace("$", "$$") for text in opening), wording["question"]])
    majority = commonest(("", row["answer"]) for row in dev)[""]
    return declared_task(
        params,
        benchmark.name,
        name,
        origin,
        [record_to_sample(benchmark.name, name, row, prompt, majority) for row in test],
        solver=reply(),
        scorer=final_answer(),
        config=GenerateConfig(temperature=0.0),
        floors={"": floors_of(origin, name, {"test": test})},
        is_like=origin.provenance.source == GENERATED,
    )


def record_to_sample(
    benchmark: str, name: str, row: QuestionRow, prompt: str, majority: str
) -> Sample:
    """Map a row to a sample; the prompt is a template of what comes ahead of all questions, and of
    the question.
    """
    question = row["question"] + ("\n\n<abc 1>" if row["abc"] else "")
    media_row: Any = {**row, "question": question, "abc": [row["abc"]], "theme": row["kind"]}
    style = {
        "prompt": prompt,
        "option": LINES[0],
        "layout": "lines",
        "form": "Final Answer: $answer",
    }
    shown = ShownOptions(row["options"], row["answer"])
    facts = benchmarks.load(benchmark).tasks[name]
    sample = question_to_sample(facts, media_row, shown, style, QuestionSetParameters(), majority)
    sample.metadata = {"options": row["options"], "kind": row["kind"]}
    return sample


def fill_question(text: str, question: str, options: Sequence[str], answer: str = "") -> str:
    """Fill a question, its four options and perhaps its answer into a text of the prompts."""
    return Template(text).substitute(
        dict(zip("abcd", options, strict=True)), question=question, answer=answer
    )
