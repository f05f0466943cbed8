"""MUSE: three core music perception tasks, by ear or from MIDI.

"Evaluating Multimodal Large Language Models on Core Music Perception Tasks"
Brandon James Carone, Iran R. Roman, Pablo Ripollés
https://arxiv.org/abs/2510.22455

inspect eval evals/muse.py --model baseline/reader
inspect eval evals/muse.py@syncopation --model openai/gpt-4o-audio-preview -T modality=audio -T strategy=cot
inspect eval evals/muse.py --model vllm/Qwen/Qwen2.5-7B-Instruct -T strategy=logiclm -T structured_output=true
inspect eval evals/muse.py@chord_quality --model google/gemini-2.5-pro -T modality=audio -T shots=few

Parameters of all three tasks:

- dataset: ``generated``, a dataset folder, or ``hf://datasets/ORG/NAME[@REVISION]``;
- modality: ``midi`` (as text) or ``audio``;
- strategy: ``standalone`` (answer only), ``cot`` (chain of thought) or ``logiclm`` (symbolic lines, solver, answer);
- shots: ``zero``, or ``few`` for the worked examples of the ``fewshot`` split as earlier turns;
- seed: of the order of the trials;
- prompts: a TOML file with other wording, see ``music_evals/benchmarks/muse/prompts.toml``;
- structured_output: (logiclm) have the server constrain the symbolic lines to their schema;
- tools: (logiclm) ``text`` as in the paper, or ``native`` to let the model call the solver itself.
"""

import base64
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from string import Template
from typing import Any, Literal

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentAudio,
    ContentText,
    GenerateConfig,
)
from inspect_ai.solver import generate
from inspect_ai.viewer import TaskSamplesColumn, TaskSamplesView, ViewerConfig

from music_evals.datasets_builders.muse import BENCHMARK
from music_evals.datasets_builders.folder import describe_dataset, load_split
from music_evals.evals.parameters import check_choice, check_type, user_errors
from music_evals.benchmarks.prompts import Prompts, load_prompts
from music_evals.scorers.choice import answered, final_answer
from music_evals.scorers.logiclm import formulation, solver_decision
from music_evals.solvers.logiclm import logiclm
from music_evals.solvers.symbolic.music import CHORD_QUALITY, SYNCOPATION, TRANSPOSITION, SymbolicSolver

VERSION = "1.0.0"

Modality = Literal["midi", "audio"]
Strategy = Literal["standalone", "cot", "logiclm"]
Shots = Literal["zero", "few"]
Tools = Literal["text", "native"]
Row = dict[str, Any]

SAMPLES_VIEW = TaskSamplesView(
    name="MUSE",
    columns=[
        *[TaskSamplesColumn(id=name) for name in ("sampleStatus", "sampleId", "target", "answer")],
        # All trials begin with the same system message, so this column would say the same in every row.
        *[TaskSamplesColumn(id=name, visible=False) for name in ("input", "tokens", "duration")],
    ],
    multiline=False,
    compact_scores=True,
    score_labels={"formulation": "refinements"},
)
"""How the viewer lists the samples: the scores follow, in narrow columns."""


@dataclass(frozen=True, slots=True)
class _MuseTask:
    """What tells the three tasks apart: config, clips a trial, solver, and a row's true transcription."""

    config: str
    clips: Sequence[str]
    solver: SymbolicSolver
    transcription: Callable[[Row], list[list[int] | None]]

    @property
    def identifiers(self) -> list[str]:
        return [f"Excerpt{number}" for number in range(1, len(self.clips) + 1)]


_SYNCOPATION = _MuseTask(
    "syncopation", [""], SYNCOPATION, lambda row: [sorted(row["kick"] + row["snare"]) if row["kick"] else None]
)
_TRANSPOSITION = _MuseTask(
    "transposition", ["_1", "_2"], TRANSPOSITION, lambda row: [row["pitches_1"], row["pitches_2"]]
)
_CHORD_QUALITY = _MuseTask("chord_quality", [""], CHORD_QUALITY, lambda row: [row["pitches"]])


@task
def syncopation(
    dataset: str = "generated",
    modality: Modality = "midi",
    strategy: Strategy = "standalone",
    shots: Shots = "zero",
    seed: int = 0,
    prompts: str | None = None,
    structured_output: bool = False,
    tools: Tools = "text",
) -> Task:
    """Count the off-beat kick and snare hits of a drum loop: five options.

    Parameters as listed at the top of the module. Source: arXiv 2510.22455, sections 2.1 and 2.3.
    """
    return _task(_SYNCOPATION, dataset, modality, strategy, shots, seed, prompts, structured_output, tools)


@task
def transposition(
    dataset: str = "generated",
    modality: Modality = "midi",
    strategy: Strategy = "standalone",
    shots: Shots = "zero",
    seed: int = 0,
    prompts: str | None = None,
    structured_output: bool = False,
    tools: Tools = "text",
) -> Task:
    """Tell whether two melodies are the same but for their key: yes or no.

    Parameters as listed at the top of the module. Source: arXiv 2510.22455, sections 2.1 and 2.3.
    """
    return _task(_TRANSPOSITION, dataset, modality, strategy, shots, seed, prompts, structured_output, tools)


@task
def chord_quality(
    dataset: str = "generated",
    modality: Modality = "midi",
    strategy: Strategy = "standalone",
    shots: Shots = "zero",
    seed: int = 0,
    prompts: str | None = None,
    structured_output: bool = False,
    tools: Tools = "text",
) -> Task:
    """Name the quality of a chord, heard as a block and as an arpeggio: four options.

    Parameters as listed at the top of the module. Source: arXiv 2510.22455, sections 2.1 and 2.3.
    """
    return _task(_CHORD_QUALITY, dataset, modality, strategy, shots, seed, prompts, structured_output, tools)


def _task(
    muse: _MuseTask,
    dataset: str,
    modality: Modality,
    strategy: Strategy,
    shots: Shots,
    seed: int,
    prompts: str | None,
    structured_output: bool,
    tools: Tools,
) -> Task:
    with user_errors():
        check_choice("modality", modality, Modality)
        check_choice("strategy", strategy, Strategy)
        check_choice("shots", shots, Shots)
        check_choice("tools", tools, Tools)
        check_type("seed", seed, int)
        check_type("structured_output", structured_output, bool)
        if strategy != "logiclm" and (structured_output or tools != "text"):
            raise ValueError(f"structured_output and tools belong to strategy=logiclm; strategy is {strategy}")
        if structured_output and tools == "native":
            raise ValueError("structured_output constrains the text that a model writes; with tools=native it calls")
        wording = load_prompts("muse", prompts)
        origin = describe_dataset(dataset, benchmark=BENCHMARK)
        rows = _rows(muse, dataset, "test", modality)
        examples = _rows(muse, dataset, "fewshot", modality) if shots == "few" else []
        opening = _opening(muse, wording, modality, strategy, examples)
    random.Random(seed).shuffle(rows)
    logic = strategy == "logiclm"
    followup = {**wording["logiclm"], "final": wording[muse.config]["final"]}
    return Task(
        name=f"muse_{muse.config}_{origin.label}",
        dataset=MemoryDataset(
            [record_to_sample(muse, row, opening, modality) for row in rows], name=origin.label, shuffled=True
        ),
        solver=logiclm(muse.solver, followup, tools, structured_output) if logic else generate(),
        scorer=[solver_decision(), final_answer(), formulation()] if logic else [final_answer(), answered()],
        config=GenerateConfig(temperature=0.0),
        version=VERSION,
        metadata={
            "benchmark": "muse",
            "config": muse.config,
            **origin.metadata(),
        },
        viewer=ViewerConfig(task_samples_view=SAMPLES_VIEW),
    )


def record_to_sample(muse: _MuseTask, row: Row, opening: Sequence[ChatMessage], modality: Modality) -> Sample:
    """Map a row to a sample: the opening that all trials share, then the trial.

    Args:
        muse: the task.
        row: a row of the dataset.
        opening: system message and worked examples.
        modality: which form of the stimulus is given.

    Returns:
        The sample, with everything known of the row but its stimulus as metadata.
    """
    shown = ("id", "target", "options")
    metadata = {
        key: value
        for key, value in row.items()
        if value is not None and key not in shown and not key.startswith(("audio", "midi"))
    }
    return Sample(
        id=row["id"],
        input=[*opening, _trial(muse, row, modality)],
        target=row["target"],
        metadata={**metadata, "options": row["options"], "identifiers": muse.identifiers},
    )


def _rows(muse: _MuseTask, dataset: str, split: str, modality: Modality) -> list[Row]:
    # The files' bytes are by far the largest part of a row; only those that the trial shows are read.
    unused = {"midi"} if modality == "audio" else {"midi", "audio"}
    columns = [
        name for name in BENCHMARK.features[muse.config] if name.removesuffix("_1").removesuffix("_2") not in unused
    ]
    rows: list[Row] = load_split(dataset, muse.config, split, benchmark=BENCHMARK, columns=columns).to_list()
    for row in rows:
        if modality == "midi" and row["midi_text" + muse.clips[0]] is None:
            raise ValueError(f"{dataset} has no MIDI (row {row['id']}); valid for it is modality=audio")
    return rows


def _opening(
    muse: _MuseTask, wording: Prompts, modality: Modality, strategy: Strategy, examples: list[Row]
) -> list[ChatMessage]:
    """The system message and, for few-shot, the worked examples as earlier turns."""
    texts = wording[muse.config]
    system = Template(texts[strategy]).substitute(given=texts["given"][modality])
    messages: list[ChatMessage] = [ChatMessageSystem(content=system)]
    for row in examples:
        messages += [_trial(muse, row, modality), *_worked(muse, wording, strategy, row)]
    return messages


def _worked(muse: _MuseTask, wording: Prompts, strategy: Strategy, row: Row) -> list[ChatMessage]:
    texts = wording[muse.config]
    sentences_only = strategy == "standalone" and len(row["target"]) > 1
    answer = row["target"] if sentences_only else f"Final Answer: {row['target']}"
    if strategy == "standalone":
        return [ChatMessageAssistant(content=answer)]
    if strategy == "cot":
        return [ChatMessageAssistant(content=f"{texts['worked'][row['target']]}\n{answer}")]
    lists = [numbers for numbers in muse.transcription(row) if numbers is not None]
    if len(lists) != len(muse.clips):
        raise ValueError(
            f"the few-shot example {row['id']} has no transcription, which strategy=logiclm shows as its solution; "
            "valid here are shots=zero, the other strategies, and datasets with transcriptions (generated)"
        )
    finding = Template(wording["logiclm"]["decided"]).substitute(result=muse.solver.decide(lists).result)
    return [
        ChatMessageAssistant(content=muse.solver.schema.write(muse.identifiers, lists)),
        ChatMessageUser(content=Template(texts["final"]).substitute(finding=finding)),
        ChatMessageAssistant(content=answer),
    ]


def _trial(muse: _MuseTask, row: Row, modality: Modality) -> ChatMessageUser:
    content: list[Content] = []
    for identifier, clip in zip(muse.identifiers, muse.clips, strict=True):
        if modality == "midi":
            content.append(ContentText(text=f"{identifier}:\n{row['midi_text' + clip]}"))
        else:
            encoded = base64.b64encode(row["audio" + clip]["bytes"]).decode("ascii")
            content.append(ContentText(text=f"{identifier}:\n"))
            content.append(ContentAudio(audio=f"data:audio/wav;base64,{encoded}", format="wav"))
    if modality == "midi":
        return ChatMessageUser(content="\n\n".join(part.text for part in content if isinstance(part, ContentText)))
    return ChatMessageUser(content=content)
