"""What the tasks of all benchmarks share: checked parameters, the records in a log, registration.

A task is a function of one argument, a frozen dataclass of its parameters::

    @task
    def syncopation(params: MuseParameters) -> Task: ...

`task` gives it the dataclass's signature, so that Inspect takes ``-T name=value`` and logs the
defaults. It checks the arguments against the annotations, and registers the task: as
``muse_syncopation`` in the package, as ``syncopation`` if Inspect loads the file ``evals/muse.py``.
"""

import dataclasses
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType, UnionType
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import click
import inspect_ai
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Scorer
from inspect_ai.solver import Solver
from inspect_ai.viewer import TaskSamplesColumn, TaskSamplesView, ViewerConfig

from music_evals import benchmarks
from music_evals.datasets_builders.dataset_io import GENERATED, Origin
from music_evals.evals.shared.answers import config_answering, samples_answering
from music_evals.evals.shared.floors import Floors
from music_evals.notation.extras import MissingLibraryError
from music_evals.scorers import readers
from music_evals.scorers.choice import chat_answers
from music_evals.scorers.completion import completed
from music_evals.solvers.abilities import check_abilities, model_at_hand
from music_evals.solvers.answer_forms import AnswerForm
from music_evals.solvers.chats import continued, one_chat
from music_evals.solvers.completion import MAX_TOKENS, to_complete
from music_evals.solvers.media import limit_media, with_media
from music_evals.solvers.replies import MAX_RETRIES, reply
from music_evals.solvers.stimulus import Stimulus, apply_stimulus, messages_of

P = TypeVar("P")
VERSION = "1.2.0"  # of all tasks; a change that alters scores changes it
_TOLERATED_SHARE: Final = 0.1
_TOLERATED_ERRORS: Final = 4  # which small tasks survive too

_NO_CONDITION: Final = ("dataset", "media", "allow_partial")


class ParameterError(click.ClickException, ValueError):
    """A task cannot be run as asked; Inspect's command line shows the message alone."""


def task(function: Callable[[P], Task]) -> Callable[..., Task]:
    """Register a task that takes its parameters as one dataclass; see the top of the module."""
    (parameters,) = (hint for name, hint in get_type_hints(function).items() if name != "return")

    @wraps(function)
    def make_task(**arguments: Any) -> Task:
        try:
            return function(check_parameters(parameters, arguments))
        except ParameterError:
            raise
        except (ValueError, MissingLibraryError) as error:
            raise ParameterError(str(error)) from error

    make_task.__signature__ = inspect.signature(parameters).replace(return_annotation=Task)  # type: ignore[attr-defined]
    # Inspect gives the module of a file that it loads the file's path as its name.
    package, _, benchmark = function.__module__.rpartition(".")
    stem = benchmark.removesuffix(f"_{function.__name__}")
    name = f"{stem}_{function.__name__}" if package == "music_evals.evals" else function.__name__
    return inspect_ai.task(name=name)(make_task)


def check_parameters(parameters: Callable[..., P], arguments: Mapping[str, Any]) -> P:
    """Make a dataclass of parameters from the arguments of a user.

    Raises:
        ValueError: naming the parameter, its value and what is accepted.

    Example:
        >>> @dataclasses.dataclass
        ... class Params:
        ...     shots: Literal["zero", "few"] = "zero"
        ...     seed: int = 0
        >>> check_parameters(Params, {"seed": 7})
        Params(shots='zero', seed=7)
        >>> check_parameters(Params, {"shots": "many"})
        Traceback (most recent call last):
        ValueError: shots='many' is not valid; valid values are: zero, few
    """
    hints = get_type_hints(parameters)
    for name, value in arguments.items():
        if name not in hints:
            raise ValueError(f"there is no parameter {name}; there are: {', '.join(hints)}")
        if not _fits(value, hints[name]):
            arms = [arm for arm in _arms(hints[name]) if arm is not type(None)]
            valid = [
                str(choice)
                for arm in arms
                if get_origin(arm) is Literal
                for choice in get_args(arm)
            ]
            types = " or ".join(arm.__name__ if isinstance(arm, type) else str(arm) for arm in arms)
            accepted = (
                f"valid values are: {', '.join(valid)}"
                if valid
                else f"a value of type {types} is needed"
            )
            if valid and any(arm is int for arm in arms):
                accepted += " and whole numbers"
            raise ValueError(f"{name}={value!r} is not valid; {accepted}")
    return parameters(**arguments)


def check_positive(**values: int | None) -> None:
    """Check that numbers, where there are any, are above 0; a ValueError names the parameter and
    its value.
    """
    for name, value in values.items():
        if value is not None and value < 1:
            raise ValueError(f"{name}={value} is not valid; a number above 0 is needed")


def check_lilypond(what_for: str) -> None:
    """Check that LilyPond is installed and can be confined; the ValueError begins with what needs
    it.
    """
    from music_evals.notation.lilypond.compiler import LilyPondError, lilypond_version
    from music_evals.notation.lilypond.sandbox import SandboxError, available_confinement

    try:
        available_confinement()
        lilypond_version()
    except (SandboxError, LilyPondError) as error:
        raise ValueError(f"{what_for}: {error}") from error


def estimated_tokens(characters: int) -> int:
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
    counts: dict[str, Counter[str]] = {}
    for kind, answer in answers:
        counts.setdefault(kind, Counter())[answer] += 1
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
    view = TaskSamplesView(name=name, columns=columns, multiline=False, compact_scores=True)
    return ViewerConfig(task_samples_view=view)


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
    tools: bool = False,
    constrained: bool = False,
    own_noise: bool = False,
    reasons: bool = False,
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
        tools: whether the model calls tools.
        constrained: whether the server constrains the model's text.
        own_noise: whether noise is as long and loud as the clip that it replaces, and not as the
            median clip.
        reasons: whether the model may reason ahead of its answer.

    Raises:
        ValueError: an id is not unique, the parameter ``stimulus`` needs music that the dataset
            lacks, the task does not take the value of ``answer``, or the model cannot take such
            questions.
    """
    import music_evals.solvers.greedy  # noqa: F401 - registers its hook, late on purpose

    about = benchmarks.load(benchmark)
    facts, origin = about.tasks[name], origin.of_task(name)
    fixed: Floors = {} if facts.chance is None else {"chance": {"value": facts.chance}}
    if origin.provenance.source == GENERATED and facts.gives_away:
        modality = getattr(params, "modality", next(iter(facts.gives_away)))
        if modality in facts.gives_away:
            fixed["surface"] = {"value": facts.gives_away[modality]}
    stimulus: Stimulus = getattr(params, "stimulus", "given")
    language, prompts = getattr(params, "language", "en"), getattr(params, "prompts", None)
    samples = apply_stimulus(stimulus, samples, language, own_noise=own_noise)
    form: AnswerForm = getattr(params, "answer", "text")
    samples = samples_answering(form, params, samples, language, reasons=reasons)
    config = config_answering(form, config)
    if form != "text" and isinstance(scorer, list):
        scorer = scorer[:1]  # the authors' own readers are made for text
    if getattr(params, "twin", "") == "completion":
        if stimulus != "given":
            raise ValueError(
                f"twin=completion shows no music that stimulus={stimulus} could be in the place of"
            )
        samples, floors, metric = to_complete(samples, language), {}, "completed/accuracy"
        solver, scorer = reply(), completed()
        config = config.model_copy(update={"max_tokens": MAX_TOKENS})
    if getattr(params, "chat", "separate") == "continued":
        samples, solver, scorer = [one_chat(samples)], continued(params.seed), chat_answers()
        metric = "chat_answers/accuracy"
    if samples and (model := model_at_hand()):
        check_abilities(
            model, messages_of(samples[0]), tools=tools, constrained=constrained, form=form
        )
    media = limit_media(samples, getattr(params, "media", 0))
    if duplicates := [
        name for name, count in Counter(sample.id for sample in samples).items() if count > 1
    ]:
        raise ValueError(f"{origin.dataset} has the id {duplicates[0]} in two of its splits")
    family = benchmark.removesuffix(f"_{name}") + ("_like" if is_like else "")
    return Task(
        name=f"{family}_{name}_{origin.label}",
        dataset=MemoryDataset(list(samples), name=origin.label, shuffled=shuffled),
        solver=with_media(solver) if media else solver,
        scorer=scorer,
        config=GenerateConfig(max_retries=MAX_RETRIES).merge(config),
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
            **(
                {"prompts_sha256": sha256(Path(prompts).expanduser().read_bytes()).hexdigest()}
                if prompts
                else {}
            ),
            "floors": {**floors, "": fixed | floors.get("", {})},
            **origin.metadata(),
        },
        viewer=viewer or samples_view(about.title),
    )


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


def condition(params: Any) -> dict[str, Any]:
    """Return the parameters that differ from their defaults, in order, without those of data and
    media.

    Example:
        >>> @dataclasses.dataclass
        ... class Params:
        ...     dataset: str = "generated"
        ...     shots: str = "zero"
        ...     seed: int = 0
        >>> condition(Params(dataset="data/muse", shots="few"))
        {'shots': 'few'}
    """
    return {
        field.name: getattr(params, field.name)
        for field in dataclasses.fields(params)
        if field.name not in _NO_CONDITION and getattr(params, field.name) != field.default
    }


def _arms(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _fits(value: object, hint: Any) -> bool:
    """Whether a value is of a type, telling true from 1."""
    for arm in _arms(hint):
        origin, args = get_origin(arm), get_args(arm)
        if origin is Literal and any(
            value == choice and type(value) is type(choice) for choice in args
        ):
            return True
        if (
            origin is list
            and isinstance(value, list)
            and all(_fits(entry, args[0]) for entry in value)
        ):
            return True
        if origin is None and type(value) is arm:
            return True
    return False
