"""The MUSE Benchmark: ten listening tasks, by ear or from MIDI; none of them is one of the three of `muse`.

"The MUSE Benchmark: Probing Music Perception and Auditory Relational Reasoning in Audio LLMs"
Brandon James Carone, Iran R. Roman, Pablo Ripollés
https://arxiv.org/abs/2510.19055

inspect eval evals/muse_ten.py --model google/gemini-2.5-pro -T modality=audio
inspect eval evals/muse_ten.py@oddball --model baseline/reader -T strategy=cot -T shots=few
"""

import random
from dataclasses import dataclass
from string import Template
from typing import Literal

from inspect_ai import Task
from inspect_ai.model import ChatMessage, ChatMessageSystem, GenerateConfig

from music_evals.benchmarks.prompts import Prompts, load_prompts
from music_evals.datasets_builders.dataset_io import describe_dataset
from music_evals.datasets_builders.muse_ten.dataset import BENCHMARK
from music_evals.datasets_builders.muse_ten.stimuli import FORMS
from music_evals.evals.floors import floors_of
from music_evals.evals.muse import (
    MAX_TOKENS,
    TrialParameters,
    Trials,
    load_trials,
    record_to_sample,
    trial,
    worked_reply,
)
from music_evals.evals.tasks import commonest, declared_task, task
from music_evals.scorers.choice import final_answer
from music_evals.solvers.replies import reply


@dataclass(frozen=True, slots=True, kw_only=True)
class MuseTenParameters(TrialParameters):
    """Parameters of all ten tasks.

    Args:
        dataset: ``generated``, a dataset folder, or ``hf://datasets/ORG/NAME[@REVISION]``.
        stimulus: ``given``; ``none``, ``noise`` or ``other`` to ask with no music, with random music as long, or with
            another item's, of another answer.
        modality: ``midi`` (as text) or ``audio``.
        strategy: ``standalone`` (answer only) or ``cot`` (chain of thought).
        shots: ``zero``, or ``few`` for the worked examples of the ``fewshot`` split as earlier turns.
        chat: ``separate``, or ``continued`` for all trials in one chat, with the earlier ones and the replies to them.
        seed: of the order of the trials.
        media: number of samples, from the first on, for which the log shows piano roll and sound; or ``all``.
        prompts: a TOML file with other wording, see ``music_evals/benchmarks/muse_ten/prompts.toml``.
    """

    strategy: Literal["standalone", "cot"] = "standalone"


@task
def oddball(params: MuseTenParameters) -> Task:
    """Tell whether two melodies are the same, or one note was changed: yes or no."""
    return _task("oddball", "Are the two exactly the same melody?", params)


@task
def contour(params: MuseTenParameters) -> Task:
    """Name the contour of a melody: four options."""
    return _task("contour", "Which contour has the melody?", params)


@task
def instrument(params: MuseTenParameters) -> Task:
    """Name the instrument that plays: four options."""
    return _task("instrument", "Which instrument plays?", params)


@task
def rhythm_matching(params: MuseTenParameters) -> Task:
    """Tell whether two drum patterns are the same: yes or no."""
    return _task("rhythm_matching", "Are the two exactly the same drum pattern?", params)


@task
def meter(params: MuseTenParameters) -> Task:
    """Find out by how many beats are grouped: three options."""
    return _task("meter", "By how many are the beats grouped?", params)


@task
def key_modulation(params: MuseTenParameters) -> Task:
    """Tell whether the key changes: two options."""
    return _task("key_modulation", "Does a key modulation occur?", params)


@task
def progression(params: MuseTenParameters) -> Task:
    """Tell whether two excerpts have the same chord progression: two options."""
    return _task("progression", "Do the two have the same chord progression?", params)


@task
def transposition_pairs(params: MuseTenParameters) -> Task:
    """Tell whether two melodies are the same but for their key: yes or no."""
    return _task("transposition_pairs", "Are the two the same melody, but for the key?", params)


@task
def major_or_minor(params: MuseTenParameters) -> Task:
    """Tell whether a chord is major or minor: two options."""
    return _task("major_or_minor", "Is the chord major or minor?", params)


@task
def syncopation_pairs(params: MuseTenParameters) -> Task:
    """Tell which of two drum loops is more syncopated: two options."""
    return _task("syncopation_pairs", "Which of the two is more syncopated?", params)


def _task(name: str, question: str, params: MuseTenParameters) -> Task:
    trials = Trials(name, question, FORMS[name].clips, BENCHMARK, lambda row: str(row["why"]))
    wording = load_prompts(BENCHMARK.name, params.prompts)
    origin = describe_dataset(params.dataset, benchmark=BENCHMARK)
    rows = load_trials(trials, params, "test")
    opening: list[ChatMessage] = [ChatMessageSystem(content=_system(name, wording, params))]
    for row in load_trials(trials, params, "fewshot") if params.shots == "few" else []:
        opening += [trial(trials, row, params), worked_reply(wording[name], params.strategy, row["target"])]
    majority = commonest(("", row["target"]) for row in rows)[""]
    random.Random(params.seed).shuffle(rows)
    answer_type = {"answer_type": "choice"}
    return declared_task(
        params,
        BENCHMARK.name,
        name,
        origin,
        [record_to_sample(trials, row, opening, params, majority, answer_type) for row in rows],
        solver=reply(),
        scorer=[final_answer()],
        config=GenerateConfig(temperature=0.0, max_tokens=MAX_TOKENS),
        floors={"": floors_of(origin, name, {"test": rows})},
        shuffled=True,
    )


def _system(name: str, wording: Prompts, params: MuseTenParameters) -> str:
    form, texts = FORMS[name], wording[name]
    options = form.options
    if form.is_lettered:
        options = [f"{letter}. {option}" for letter, option in zip(form.targets, options, strict=True)]
    given = Template(wording["one" if len(form.clips) == 1 else "two"][params.modality]).substitute(
        music=texts["music"]
    )
    if params.modality == "midi":
        given += texts.get("midi", "")
    return Template(wording["letters" if form.is_lettered else "sentences"][params.strategy]).substitute(
        given=given,
        question=texts["question"],
        hints=texts["hints"],
        options="\n".join(options),
        first=options[0],
        second=options[1],
    )
