"""The registration of tasks with Inspect.

A task is a function of one argument, a frozen dataclass of its parameters::

    @task
    def syncopation(params: MuseParameters) -> Task: ...

`task` gives it the dataclass's signature, so that Inspect takes ``-T name=value`` and logs the
defaults, and ``stopping`` (see `evals.shared.stopping`). It checks the arguments against the
annotations, and registers the task: as ``muse_syncopation`` in the package, as ``syncopation`` if
Inspect loads the file ``evals/muse.py``.
"""

import inspect
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, TypeVar, get_type_hints

import inspect_ai
from inspect_ai import Task

from music_evals.evals.shared.garbage_collection import collect_rarely, collection_paused
from music_evals.evals.shared.levels import all_levels, is_of_all_levels
from music_evals.evals.shared.parameters import ParameterError, check_parameters
from music_evals.evals.shared.stopping import Rule, stopping_task
from music_evals.notation.extras import MissingLibraryError

P = TypeVar("P")


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

    @wraps(function)
    def make_task(*, stopping: Rule | None = None, **arguments: Any) -> Task:
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

    signature = inspect.signature(parameters)
    stopping = inspect.signature(make_task, follow_wrapped=False).parameters["stopping"]
    names = [*signature.parameters.values(), stopping]
    make_task.__signature__ = signature.replace(parameters=names, return_annotation=Task)  # type: ignore[attr-defined]
    return inspect_ai.task(name=name)(make_task)
