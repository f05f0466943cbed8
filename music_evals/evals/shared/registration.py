"""The registration of tasks with Inspect.

A task is a function of one argument, a frozen dataclass of its parameters::

    @task
    def syncopation(params: MuseParameters) -> Task: ...

`task` gives it the dataclass's signature, so that Inspect takes ``-T name=value`` and logs the
defaults, and ``stopping`` (see `evals.shared.stopping`). It checks the arguments against the
annotations, and registers the task: as ``muse_syncopation`` in the package, as ``syncopation`` if
Inspect loads the file ``evals/muse.py``.

Inspect drops an argument that a task does not take, with a warning. So the signature takes any
name: one that another task of the module takes is dropped, as a command line may name all tasks of
a file; so is one of any other task, where a command line names several. Any other name is an error.
"""

import inspect
from collections import defaultdict
from collections.abc import Callable
from dataclasses import fields
from functools import partial, wraps
from typing import Any, TypeVar, get_type_hints

import click
import inspect_ai
from inspect_ai import Task

from music_evals.evals.shared.garbage_collection import collect_rarely, collection_paused
from music_evals.evals.shared.levels import all_levels, is_of_all_levels
from music_evals.evals.shared.parameters import ParameterError, check_parameters
from music_evals.evals.shared.stopping import Rule, stopping_task
from music_evals.notation.extras import MissingLibraryError

P = TypeVar("P")
_NAMES: defaultdict[str, set[str]] = defaultdict(set)
"""Module → the parameters that its tasks take."""


def task(function: Callable[[P], Task]) -> Callable[..., Task]:
    """Register a task that takes its parameters as one dataclass; see the top of the module."""
    # Inspect gives the module of a file that it loads the file's path as its name.
    package, _, benchmark = function.__module__.rpartition(".")
    stem = benchmark.removesuffix(f"_{function.__name__}")
    name = f"{stem}_{function.__name__}" if package == "music_evals.evals" else function.__name__
    return registered(function, name)


def registered(function: Callable[[P], Task], name: str) -> Callable[..., Task]:
    """Register a task under a name; see `task`."""
    (parameters,) = (hint for name, hint in get_type_hints(function).items() if name != "return")
    names = {field.name for field in fields(parameters)}
    siblings = _NAMES[function.__module__]
    siblings |= names

    @wraps(function)
    def make_task(*, stopping: Rule | None = None, **arguments: Any) -> Task:
        of_others = _names_at_hand(siblings) - names
        arguments = {key: value for key, value in arguments.items() if key not in of_others}
        try:
            with collection_paused():
                values = check_parameters(parameters, arguments)
                make = partial(all_levels, function) if is_of_all_levels(values) else function
                made = make(values)
                if stopping is not None:
                    made = stopping_task(made, stopping)
        except ParameterError:
            raise
        except (ValueError, MissingLibraryError) as error:
            raise ParameterError(str(error)) from error
        collect_rarely(made)
        return made

    taken = list(inspect.signature(parameters).parameters.values())
    stopping = inspect.signature(make_task, follow_wrapped=False).parameters["stopping"]
    others = inspect.Parameter("others", inspect.Parameter.VAR_KEYWORD)
    signature = inspect.Signature([*taken, stopping, others], return_annotation=Task)
    make_task.__signature__ = signature  # type: ignore[attr-defined]
    return inspect_ai.task(name=name)(make_task)


def _names_at_hand(siblings: set[str]) -> set[str]:
    """The parameters of the tasks that a command line names."""
    context = click.get_current_context(silent=True)
    named = context.params.get("tasks") if context else None
    return set().union(*_NAMES.values()) if len(named or ()) > 1 else siblings


def parameters_of(make_task: Callable[..., Task]) -> dict[str, Any]:
    """Return the parameters of a registered task, with their defaults."""
    *taken, _ = inspect.signature(make_task).parameters.values()
    return {parameter.name: parameter.default for parameter in taken}
