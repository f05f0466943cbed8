"""Tasks on banks of four-option questions, the common kind of benchmark: a letter is asked for, and read strictly."""

from collections.abc import Sequence
from dataclasses import dataclass
from string import Template
from typing import Any, Literal

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageUser, GenerateConfig

from music_evals import benchmarks
from music_evals.benchmarks.prompts import Prompts, load_prompts
from music_evals.datasets_builders.dataset_io import GENERATED, DatasetSpec, describe_dataset, load_split
from music_evals.datasets_builders.questions.question_rows import LETTERS, QuestionRow
from music_evals.evals.floors import floors_of
from music_evals.evals.tasks import commonest, declared_task, question_metadata, samples_view
from music_evals.scorers.choice import final_answer
from music_evals.solvers.replies import reply
from music_evals.solvers.stimulus import Stimulus


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionParameters:
    """Parameters of a task on a bank.

    Args:
        dataset: ``generated`` for a look-alike of the published test, a dataset folder, or
            ``hf://datasets/ORG/NAME[@REVISION]``.
        stimulus: ``given`` for the question's own music; ``none`` for no music; ``noise`` for random music of the same
            length; ``other`` for the music of a question with another answer.
        twin: ``original``; ``completion`` to show half of the options and ask for the others word for word.
        shots: ``zero``, or ``five`` to show five worked examples ahead of the question.
        prompts: a TOML file with other wording than the benchmark's ``prompts.toml``.
    """

    dataset: str = GENERATED
    stimulus: Stimulus = "given"
    twin: Literal["original", "completion"] = "original"
    shots: Literal["zero", "five"] = "zero"
    prompts: str | None = None


def question_task(params: QuestionParameters, name: str, benchmark: DatasetSpec) -> Task:
    """Make the task of a name, which is that of the config in the benchmark's dataset.

    The benchmark's ``prompts.toml`` holds ``instruction`` and ``question``, and ``examples`` and ``example`` for worked
    examples.
    """
    wording = load_prompts(benchmark.name, params.prompts)
    origin = describe_dataset(params.dataset, benchmark=benchmark)
    dev, test = (load_split(params.dataset, name, split, benchmark=benchmark).to_list() for split in ("dev", "test"))
    opening = [wording["instruction"]]
    if params.shots == "five":
        opening += [wording["examples"], *(_worded(wording["example"], row) for row in dev)]
    majority = commonest(("", row["answer"]) for row in dev)[""]
    return declared_task(
        params,
        benchmark.name,
        name,
        origin,
        [record_to_sample(benchmark.name, name, row, opening, wording, majority) for row in test],
        solver=reply(),
        scorer=final_answer(),
        config=GenerateConfig(temperature=0.0),
        viewer=samples_view(benchmarks.load(benchmark.name).title),
        metadata={},
        floors={"": floors_of(origin, name, {"test": test})},
        is_like=origin.provenance.source == GENERATED,
    )


def record_to_sample(
    benchmark: str, name: str, row: QuestionRow, opening: Sequence[str], wording: Prompts, majority: str
) -> Sample:
    """Map a row to a sample: what comes ahead of all questions, then the question with its score and options."""
    prompt = "\n\n".join([*opening, _worded(wording["question"], row)])
    tune = (row["abc"] or "").strip()
    start = prompt.rindex(tune)
    metadata = question_metadata(
        benchmark,
        name,
        answer_type="choice",
        answers=list(LETTERS),
        form="Final Answer: $answer",
        question=row["question"],
        options=row["options"],
        kind=row["kind"],
        majority=majority,
        notation="abc" if tune else None,
        music=[[start, start + len(tune)]] if tune else None,
    )
    return Sample(
        id=row["id"],
        input=[ChatMessageUser(content=prompt, metadata=metadata)],
        choices=row["options"],
        target=row["answer"],
        metadata={"options": row["options"], "kind": row["kind"]},
    )


def _worded(text: str, row: QuestionRow) -> str:
    question = row["question"] + (f"\n\n{row['abc'].strip()}" if row["abc"] else "")
    options: dict[str, Any] = dict(zip("abcd", row["options"], strict=True))
    return Template(text).substitute(question=question, answer=row["answer"], **options)
