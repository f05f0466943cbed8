r"""MUSE: three core music perception tasks, by ear or from MIDI.

"Evaluating Multimodal Large Language Models on Core Music Perception Tasks"
Brandon James Carone, Iran R. Roman, Pablo Ripollés
https://arxiv.org/abs/2510.22455

inspect eval evals/muse.py --model baseline/reader
inspect eval evals/muse.py@syncopation --model openai/gpt-4o-audio-preview \
  -T modality=audio -T strategy=cot
inspect eval evals/muse.py --model vllm/Qwen/Qwen2.5-7B-Instruct -T strategy=logiclm
inspect eval evals/muse.py@chord_quality --model google/gemini-2.5-pro \
  -T dataset=published -T modality=audio
"""

import base64
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import getitem
from string import Template
from typing import Any, Literal

from inspect_ai import Task
from inspect_ai.dataset import Sample
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

from music_evals.benchmarks.prompts import Prompts, load_prompts
from music_evals.datasets_builders.dataset_io import (
    GENERATED,
    DatasetSpec,
    describe_dataset,
    load_split,
)
from music_evals.datasets_builders.muse.dataset import BENCHMARK
from music_evals.datasets_builders.muse.rows import ConfigName, reason
from music_evals.evals.shared.declared_tasks import commonest, declared_task, question_metadata
from music_evals.evals.shared.floors import floors_of
from music_evals.evals.shared.levels import Level, at_level
from music_evals.evals.shared.parameters import check_positive
from music_evals.evals.shared.registration import task
from music_evals.notation.midi.files import parse_midi_text
from music_evals.scorers.choice import final_answer
from music_evals.scorers.explanations import WHY
from music_evals.scorers.logiclm import solver_decision
from music_evals.solvers.logiclm import REFINEMENT_TOKENS, logiclm
from music_evals.solvers.media import MEDIA, SHOWN, data_uri
from music_evals.solvers.replies import AnswerForm, reply
from music_evals.solvers.stimulus import Stimulus
from music_evals.solvers.symbolic.music import SOLVERS, SymbolicSolver

Row = dict[str, Any]

MAX_TOKENS = 2048
"""New tokens of a reply, enough for a chain of thought; a model that reasons first may need a
larger ``--max-tokens``.

The paper limits refinements only. Without a limit, some models write until their context is full.
"""


_SOLVED_LEVELS = {"syncopation": 2, "syncopation_pairs": 2, "rhythm_matching": 4, "meter": 1}
"""Task → highest level that its solver reads, if that is not 5: grids of slots end, and sparse
accents have no commonest distance.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MuseParameters:
    """Parameters of all tasks of MUSE and of The MUSE Benchmark.

    Args:
        dataset: ``generated``; ``published`` for the recordings, which are fetched once and need
            ``modality=audio``; a folder; or ``hf://datasets/ORG/NAME[@REVISION]``.
        level: 1, or 2 to 5 for harder generated stimuli: longer, with smaller differences and more
            that does not matter; ``all`` for the five levels in one task.
        stimulus: ``given``; ``none``, ``noise`` or ``other`` to ask with no music, with random
            music as long, or with another item's, of another answer.
        modality: ``midi`` (as text) or ``audio``.
        strategy: ``standalone`` (answer only), ``cot`` (chain of thought) or ``logiclm`` (symbolic
            lines, solver, answer).
        shots: ``zero``, or ``few`` for the worked examples of the ``fewshot`` split as earlier
            turns.
        answer: ``text``, read by rules; ``schema`` for a form that the server guarantees, and
            ``reasoned`` for the same with a field to reason in first; ``likelihood`` for the
            probabilities of the options, also by models without a chat template. See
            ``docs/answers.md``.
        chat: ``separate``, or ``continued`` for all trials in one chat, with the earlier ones and
            the replies to them.
        seed: of the order of the trials.
        media: number of samples, from the first on, for which the log shows piano roll and sound;
            or ``all``.
        prompts: ``second`` or ``third`` wording, or a TOML file with your own, see
            ``prompts.toml`` in the benchmark's folder.
        refinement_tokens: (logiclm) most tokens of a refinement, by default as in the paper;
            reasoning needs more.
    """

    dataset: str = GENERATED
    level: Level = 1
    stimulus: Stimulus = "given"
    modality: Literal["midi", "audio"] = "midi"
    strategy: Literal["standalone", "cot", "logiclm"] = "standalone"
    shots: Literal["zero", "few"] = "zero"
    answer: AnswerForm = "text"
    chat: Literal["separate", "continued"] = "separate"
    seed: int = 0
    media: int | Literal["all"] = SHOWN
    prompts: str | None = None
    refinement_tokens: int = REFINEMENT_TOKENS

    def __post_init__(self) -> None:
        """Check that the parameters fit together."""
        check_positive(refinement_tokens=self.refinement_tokens)
        is_logiclm = self.strategy == "logiclm"
        if self.refinement_tokens != REFINEMENT_TOKENS and not is_logiclm:
            raise ValueError(
                f"refinement_tokens belongs to strategy=logiclm; strategy is {self.strategy}"
            )
        if is_logiclm and self.chat == "continued":
            raise ValueError(
                "chat=continued is valid with strategy=standalone and cot, not with logiclm"
            )


@dataclass(frozen=True, slots=True)
class Trials:
    """What differs between tasks of trials."""

    name: str  # of the config, and of the table of prompts
    question: str
    clips: Sequence[str]  # what the names of the columns of each clip end with
    dataset: DatasetSpec
    reason: Callable[[Row], str]  # why the answer of a row is right
    solver: SymbolicSolver | None

    @property
    def identifiers(self) -> list[str]:
        """How a trial names its clips."""
        return [f"Excerpt{number}" for number in range(1, len(self.clips) + 1)]


@task
def syncopation(params: MuseParameters) -> Task:
    """Count the off-beat kick and snare hits of a drum loop: five options (sections 2.1 and
    2.3).
    """
    return _task(
        "syncopation",
        "How many kick and snare hits, taken together, land on an off-beat?",
        [""],
        params,
    )


@task
def transposition(params: MuseParameters) -> Task:
    """Tell whether two melodies are the same but for their key: yes or no (sections 2.1 and
    2.3).
    """
    return _task(
        "transposition",
        "Are the two one and the same melody, but for the key?",
        ["_1", "_2"],
        params,
    )


@task
def chord_quality(params: MuseParameters) -> Task:
    """Name the quality of a chord, heard as a block and as an arpeggio: four options (sections 2.1
    and 2.3).
    """
    return _task("chord_quality", "Which quality has the chord?", [""], params)


def _task(name: ConfigName, question: str, clips: Sequence[str], params: MuseParameters) -> Task:
    dataset = at_level(BENCHMARK, name, params)
    trials = Trials(name, question, clips, dataset, partial(reason, name), SOLVERS[name])
    wording = load_wording("muse", name, params)
    texts = wording[name]
    logic = wording["logiclm"]
    system = Template(texts[params.strategy]).substitute(given=texts["given"][params.modality])
    return trials_task(trials, params, system, {**logic, "final": texts["final"]}, texts["worked"])


def load_wording(benchmark: str, name: str, params: MuseParameters) -> Prompts:
    """Load the prompts of a benchmark, those of a task as they are at its level.

    Args:
        benchmark: whose prompts they are.
        name: of the task.
        params: the parameters of the task.

    Raises:
        ValueError: the user's file rewords a text, and not the text that is asked in its place at a
            level above 1.
    """
    standard = load_prompts(benchmark)
    wording = load_prompts(benchmark, params.prompts)
    ladder = {} if params.level == 1 else wording[name].get("ladder", {})

    def is_reworded(path: str) -> bool:
        own, default = (reduce(getitem, path.split("."), table) for table in (wording, standard))
        return bool(own != default)

    replaced = {
        f"{name if key in wording[name] else 'transcription'}.{key}": f"{name}.ladder.{key}"
        for key in ladder
    }
    lacking = [new for old, new in replaced.items() if is_reworded(old) > is_reworded(new)]
    if lacking:
        raise ValueError(
            f"prompts={params.prompts} rewords texts that are not asked; at level={params.level} it"
            f" also needs {', '.join(lacking)}"
        )
    return {**wording, name: {**wording[name], **ladder}}


def trials_task(
    trials: Trials,
    params: MuseParameters,
    system: str,
    followup: Mapping[str, Any],
    worked: Mapping[str, str],
) -> Task:
    """Make a task of trials.

    Args:
        trials: what differs between the tasks.
        params: its parameters; ValueError if they ask for a solver, and there is none.
        system: the system message.
        followup: (logiclm) the texts of `solvers.logiclm`, and their placeholders but for those
            that the solver fills.
        worked: the chain of thought of a worked example, by answer.
    """
    symbolic = trials.solver if params.strategy == "logiclm" else None
    if params.strategy == "logiclm" and symbolic is None:
        raise ValueError(
            f"strategy='logiclm' is not valid for {trials.name}; valid values are: standalone, cot "
            "(a transcription from which a solver could decide would be the answer itself)"
        )
    level = trials.dataset.level
    highest = _SOLVED_LEVELS.get(trials.name, 5)
    if symbolic and level > highest:
        raise ValueError(
            f"strategy='logiclm' is valid for {trials.name} up to level={highest}, as its solver "
            f"reads no stimuli of higher levels; level is {level}"
        )
    origin = describe_dataset(params.dataset, benchmark=trials.dataset)
    rows = load_trials(trials, params, "test")
    opening: list[ChatMessage] = [ChatMessageSystem(content=system)]
    examples = load_trials(trials, params, "fewshot") if params.shots == "few" else []
    for row in examples:
        opening += _worked_example(trials, params, row, followup, worked)
    majority = commonest(("", row["target"]) for row in rows)[""]
    random.Random(params.seed).shuffle(rows)
    solver = reply()
    scorers = [final_answer()]
    metric = None
    if symbolic:
        solver = logiclm(symbolic, followup, params.refinement_tokens)
        scorers = [solver_decision(), final_answer()]
        metric = "solver_decision/accuracy"
    return declared_task(
        params,
        trials.dataset.name,
        trials.name,
        origin,
        [record_to_sample(trials, row, opening, params, majority) for row in rows],
        solver=solver,
        scorer=scorers,
        config=GenerateConfig(temperature=0.0, max_tokens=MAX_TOKENS),
        floors={"": floors_of(origin, trials.name, {"test": rows})},
        shuffled=True,
        metric=metric,
    )


def _worked_example(
    trials: Trials,
    params: MuseParameters,
    row: Row,
    followup: Mapping[str, Any],
    worked: Mapping[str, str],
) -> list[ChatMessage]:
    """A trial with its solution as turns of a chat."""
    solution = []
    if params.strategy == "logiclm":
        solution = _formulated(trials, row, followup)
    answer = _answer_form(params, row).replace("$answer", row["target"])
    if params.strategy == "cot":
        answer = f"{worked[row['target']]}\n{answer}"
    return [trial(trials, row, params), *solution, ChatMessageAssistant(content=answer)]


def _answer_form(params: MuseParameters, row: Row) -> str:
    """The form of an answer: options that are sentences stand alone if nothing comes before."""
    is_bare = params.strategy == "standalone" and len(row["target"]) > 1
    return "$answer" if is_bare else "Final Answer: $answer"


def record_to_sample(
    trials: Trials,
    row: Row,
    opening: Sequence[ChatMessage],
    params: MuseParameters,
    majority: str,
) -> Sample:
    """Map a row to a sample: the opening that all trials share, then the trial; metadata is all but
    the stimulus.
    """
    # no other column begins with one of these words
    hidden = ("id", "target", "options", "audio", "midi")
    metadata = {
        key: value for key, value in row.items() if value is not None and not key.startswith(hidden)
    }
    facts: dict[str, Any] = {"answer_type": "choice"}
    if params.strategy == "logiclm" and trials.solver:
        facts = {"answer_type": "symbols", "identifiers": trials.identifiers}
        if lists := _true_lists(trials.solver, trials.clips, row):
            metadata["true_transcription"] = " ".join(map(str, lists))
            metadata["in_order"] = trials.solver.schema.in_order
    is_lettered = len(row["target"]) == 1
    message = trial(
        trials,
        row,
        params,
        answers=list("ABCDE"[: len(row["options"])]) if is_lettered else row["options"],
        form=_answer_form(params, row),
        majority=majority,
        notation=params.modality,
        question=trials.question,
        **facts,
    )
    metadata |= {
        "row": row["id"],
        "options": row["options"],
        "identifiers": trials.identifiers,
        WHY: trials.reason(row),
    }
    if params.modality == "midi":
        texts = {}
        for name, clip in zip(trials.identifiers, trials.clips, strict=True):
            if file := row["midi" + clip]:
                texts[name] = base64.b64encode(file).decode("ascii")
        metadata[MEDIA] = {"midi": texts}
    return Sample(
        # All ids of a task's rows begin with its name, or the first word of that.
        id=row["id"].removeprefix(f"{trials.name.partition('_')[0]}-"),
        input=[*opening, message],
        target=row["target"],
        metadata=metadata,
    )


def load_trials(trials: Trials, params: MuseParameters, split: str) -> list[Row]:
    """Load the rows of a split; ValueError if they lack the modality."""
    # Files are by far the largest part of a row; only those of the modality are read.
    unused = "midi" if params.modality == "audio" else "audio"
    unused_columns = {unused + clip for clip in trials.clips}
    columns = [name for name in trials.dataset.features[trials.name] if name not in unused_columns]
    rows: list[Row] = load_split(
        params.dataset, trials.name, split, benchmark=trials.dataset, columns=columns
    ).to_list()
    if params.modality == "audio":
        return rows
    for row in rows:
        if any(row["midi_text" + clip] is None for clip in trials.clips):
            raise ValueError(
                f"{params.dataset} has no MIDI (row {row['id']}); valid for it is modality=audio"
            )
    return rows


def _formulated(trials: Trials, row: Row, followup: Mapping[str, Any]) -> list[ChatMessage]:
    """The true formulation of a worked example, and the message that asks for its answer."""
    assert trials.solver is not None
    lists = _true_lists(trials.solver, trials.clips, row)
    if lists is None:
        raise ValueError(
            f"the few-shot example {row['id']} has no transcription, which strategy=logiclm shows "
            "as its solution; valid here are shots=zero, the other strategies, and datasets with "
            "transcriptions (generated)"
        )
    schema = trials.solver.schema
    finding = Template(followup["decided"]).substitute(result=trials.solver.decide(lists).result)
    closing = Template(followup["final"]).substitute({**followup, "finding": finding})
    return [
        ChatMessageAssistant(content=schema.write(trials.identifiers, lists)),
        ChatMessageUser(content=closing),
    ]


def _true_lists(solver: SymbolicSolver, clips: Sequence[str], row: Row) -> list[list[int]] | None:
    """The true integers of each clip; None for recordings, whose notes are not known."""
    texts = [row["midi_text" + clip] for clip in clips]
    return None if None in texts else [solver.transcribe(parse_midi_text(text)) for text in texts]


def trial(trials: Trials, row: Row, params: MuseParameters, **facts: Any) -> ChatMessageUser:
    """Make the message with the stimuli of a trial, and with the facts as metadata unless it is a
    worked example.
    """
    content: list[Content] = []
    text = ""
    music = []
    for identifier, clip in zip(trials.identifiers, trials.clips, strict=True):
        if params.modality == "audio":
            sound = data_uri(row["audio" + clip]["bytes"], "audio/wav")
            content.append(ContentText(text=f"{identifier}:\n"))
            content.append(ContentAudio(audio=sound, format="wav"))
            continue
        text += f"\n\n{identifier}:\n" if text else f"{identifier}:\n"
        music.append([len(text), len(text) + len(row["midi_text" + clip])])
        text += row["midi_text" + clip]
    metadata = None
    if facts:
        metadata = question_metadata(trials.dataset.name, trials.name, music=music or None, **facts)
    return ChatMessageUser(content=content or text, metadata=metadata)
