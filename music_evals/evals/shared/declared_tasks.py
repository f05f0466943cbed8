"""Tasks that declare in their logs what reports need: benchmark and task, changed parameters, main
metric, floors and data.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any

from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Scorer
from inspect_ai.solver import Solver
from inspect_ai.viewer import TaskSamplesColumn, TaskSamplesView, ViewerConfig

from music_evals import benchmarks
from music_evals.benchmarks.prompts import WORDINGS
from music_evals.datasets_builders.dataset_io import GENERATED, Origin
from music_evals.evals.shared.answer_prompts import (
    MAX_NEW_TOKENS,
    config_answering,
    samples_answering,
)
from music_evals.evals.shared.floors import Floors
from music_evals.evals.shared.parameters import condition
from music_evals.scorers import readers
from music_evals.scorers.choice import chat_answers
from music_evals.scorers.completion import completed
from music_evals.solvers.abilities import check_abilities, model_at_hand
from music_evals.solvers.chats import continued, one_chat
from music_evals.solvers.completion import MAX_TOKENS, to_complete
from music_evals.solvers.door import install, open_door
from music_evals.solvers.media import limit_media, with_media
from music_evals.solvers.replies import AnswerForm, reply
from music_evals.solvers.stimulus import Stimulus, apply_stimulus, messages_of

VERSION = "1.3.0"  # of all tasks; a change that alters scores changes it
_TOLERATED_SHARE = 0.1
_TOLERATED_ERRORS = 4  # which small tasks survive too


def notation_tokens(characters: int) -> int:
    """Estimate the tokens of ABC or LilyPond: one to two characters. No tokenizer is at hand for
    every model.
    """
    return -(-characters // 2)


def question_metadata(benchmark: str, name: str, **facts: Any) -> dict[str, Any]:
    """Return the metadata of the message that a model is to answer: facts of the question, for the
    baselines.

    `music_evals.baselines.asking` lists the facts; a fact that is None is left out.
    """
    return {
        "asks": {
            "benchmark": benchmark,
            "task": name,
            **{key: value for key, value in facts.items() if value is not None},
        }
    }


def commonest(answers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the commonest answer to each kind of question, from pairs of kind and answer; ties:
    the first.

    Example:
        >>> commonest([("key", "C"), ("key", "G"), ("key", "G"), ("metre", "3/4")])
        {'key': 'G', 'metre': '3/4'}
    """
    counts = defaultdict[str, Counter[str]](Counter)
    for kind, answer in answers:
        counts[kind][answer] += 1
    return {kind: counter.most_common(1)[0][0] for kind, counter in counts.items()}


def samples_view(
    name: str,
    shown: Sequence[str] = ("sampleStatus", "sampleId", "target", "answer"),
    hidden: Sequence[str] = ("input", "tokens", "duration"),
) -> ViewerConfig:
    """Say how the viewer lists the samples; the input is hidden, because all prompts of a task
    begin alike.
    """
    columns = [TaskSamplesColumn(id=column) for column in shown]
    columns += [TaskSamplesColumn(id=column, visible=False) for column in hidden]
    return ViewerConfig(
        task_samples_view=TaskSamplesView(
            name=name, columns=columns, multiline=False, compact_scores=True
        )
    )


def declared_task(
    params: Any,
    benchmark: str,
    name: str,
    origin: Origin,
    samples: Sequence[Sample],
    *,
    solver: Solver,
    scorer: Scorer | list[Scorer],
    config: GenerateConfig,
    viewer: ViewerConfig | None = None,
    metadata: Mapping[str, Any] = MappingProxyType({}),
    floors: Mapping[str, Floors] = MappingProxyType({}),
    is_like: bool = False,
    shuffled: bool = False,
    metric: str | None = None,
    own_noise: bool = False,
) -> Task:
    """Make a task whose log records what reports need; solver, scorer, config and viewer are those
    of Inspect's `Task`.

    Args:
        params: its parameters, a dataclass.
        benchmark: name of the benchmark.
        name: name of the task in it.
        origin: the data that it runs on.
        samples: the questions.
        metadata: further entries of the log.
        floors: the score without the music, for the main metric under ``""``, and for
            ``GROUP/NAME``.
        is_like: whether the questions only have the benchmark's form; the name of the task then
            says ``like``.
        shuffled: whether the samples are in another order than the dataset's.
        metric: the main metric, ``SCORER/METRIC``, if it is not the one that the benchmark
            declares.
        own_noise: whether noise is as long and loud as the clip that it replaces, and not as the
            median clip.

    Raises:
        ValueError: an id is not unique, the parameter ``stimulus`` needs music that the dataset
            lacks, the task does not take the value of ``answer``, or the model cannot take such
            questions.
    """
    install()
    about = benchmarks.load(benchmark)
    facts = about.tasks[name]
    origin = origin.of_task(name)
    stimulus: Stimulus = getattr(params, "stimulus", "given")
    form: AnswerForm = getattr(params, "answer", "text")
    language = getattr(params, "language", "en")
    samples = apply_stimulus(stimulus, samples, language, own_noise=own_noise)
    samples = samples_answering(form, params, samples, language)
    config = config_answering(form, GenerateConfig(max_tokens=MAX_NEW_TOKENS).merge(config))
    if form != "text" and isinstance(scorer, list):
        scorer = scorer[:1]  # the authors' own readers are made for text
    if getattr(params, "twin", "") == "completion":
        if stimulus != "given":
            raise ValueError(
                f"twin=completion shows no music that stimulus={stimulus} could be in the place of"
            )
        samples = to_complete(samples, language)
        floors = {}
        metric = "completed/accuracy"
        solver = reply()
        scorer = completed()
        config = config.model_copy(update={"max_tokens": MAX_TOKENS})
    if getattr(params, "chat", "") == "continued":
        samples = [one_chat(samples)]
        solver = continued(params.seed)
        scorer = chat_answers()
        metric = "chat_answers/accuracy"
    if samples and (model := model_at_hand()):
        open_door(model)  # ahead of the log's header
        check_abilities(model, messages_of(samples[0]), form)
    if limit_media(samples, getattr(params, "media", 0)):
        solver = with_media(solver)
    counts = Counter(sample.id for sample in samples)
    if len(counts) < len(samples):
        (duplicate, _), *_ = counts.most_common()
        raise ValueError(f"{origin.dataset} has the id {duplicate} in two of its splits")
    family = benchmark.removesuffix(f"_{name}") + "_like" * is_like
    return Task(
        name=f"{family}_{name}_{origin.label}",
        dataset=MemoryDataset(list(samples), name=origin.label, shuffled=shuffled),
        solver=solver,
        scorer=scorer,
        config=config,
        version=VERSION,
        fail_on_error=error_limit(len(samples)),
        metadata={
            "benchmark": benchmark,
            "config": name,
            **metadata,
            "condition": condition(params),
            "main_metric": metric or facts.metric,
            "readers": readers.VERSION,
            "generation": config.model_dump(mode="json", exclude_none=True),
            **_prompts_checksum(params),
            "floors": {**floors, "": _fixed_floors(facts, params, origin) | floors.get("", {})},
            **origin.metadata(),
        },
        viewer=viewer or samples_view(about.title),
    )


def _prompts_checksum(params: Any) -> dict[str, str]:
    """The checksum of a user's file with another wording, if there is one."""
    prompts = getattr(params, "prompts", None)
    if prompts is None or prompts in WORDINGS:
        return {}
    return {"prompts_sha256": sha256(Path(prompts).expanduser().read_bytes()).hexdigest()}


def _fixed_floors(facts: benchmarks.TaskFacts, params: Any, origin: Origin) -> Floors:
    """Floors that the benchmark's folder states: chance, and what a classifier finds in clips."""
    floors = {}
    if facts.chance is not None:
        floors["chance"] = {"value": facts.chance}
    if origin.provenance.source == GENERATED and facts.gives_away:
        modality = getattr(params, "modality", next(iter(facts.gives_away)))
        if modality in facts.gives_away:
            floors["surface"] = {"value": facts.gives_away[modality]}
    return floors


def error_limit(samples: int) -> float:
    """Return the share of samples with errors at which a run of a task stops, as Inspect's
    `fail_on_error`.

    A run goes on with errors in a tenth of its samples, and with four errors in any case; a run
    without any score stops.

    Example:
        >>> error_limit(20), error_limit(3)
        (0.25, 0.99)
    """
    least = (_TOLERATED_ERRORS + 1) / max(samples, 1)
    # Inspect stops at the share itself, and takes 1 for a number of samples.
    return min(max(_TOLERATED_SHARE + 1e-9, least), 0.99)
