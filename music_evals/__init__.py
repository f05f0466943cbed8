"""Evaluation of language models on music: datasets, tasks, scorers and reports for published
benchmarks.

The functions of this module are what a program or a notebook needs first; the rest is found from
them. They load what they need when they are called.

Example:
    >>> import music_evals as me
    >>> me.score("muse_chord_quality", "c-major-v0", "Minor, I think.").value
    'I'
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.model import Model
    from inspect_ai.scorer import Score

    from music_evals.reports.records import Records

__all__ = ["read_records", "run", "score", "task"]


def task(name: str, **params: Any) -> "Task":
    """Make a task by its name.

    Args:
        name: as `music-evals list` shows it, such as ``muse_syncopation``.
        params: its parameters, as ``-T`` takes them.

    Raises:
        ValueError: there is no such task, or a parameter is not valid.

    Example:
        >>> task("muse_chord_quality", dataset="generated").name
        'muse_chord_quality_generated-seed1'
    """
    from music_evals import benchmarks
    from music_evals.evals.registry import MODULES

    tasks = benchmarks.tasks_named(name)
    if len(tasks) != 1:
        raise ValueError(f"{name} is not one task; see `music-evals list`")
    made: Task = getattr(MODULES[tasks[0].benchmark], tasks[0].name)(**params)
    return made


def run(
    names: str | Sequence[str], model: "str | Model", *, logs: str = "logs", **options: Any
) -> "Records":
    """Run benchmarks or tasks on a model and return their records; what the folder has is not run
    again.

    Args:
        names: benchmarks or tasks by name.
        model: as Inspect names it, or Inspect's object.
        logs: folder or address of the logs; of these tasks alone.
        options: parameters of the tasks as ``params={"shots": "few"}``, and what
            `inspect_ai.eval_set` takes: `limit`, `epochs`, `temperature`, `max_connections` and so
            on.

    Raises:
        ValueError: there is no such benchmark or task, or a parameter is not valid.
    """
    from inspect_ai import eval_set

    from music_evals import benchmarks

    params = options.pop("params", {})
    facts = [
        one
        for name in ([names] if isinstance(names, str) else names)
        for one in benchmarks.tasks_named(name)
    ]
    tasks = [task(one.registry_name, **params) for one in facts]
    if not tasks:
        raise ValueError(f"{names} names no benchmark or task; see `music-evals list`")
    eval_set(
        tasks,
        logs,
        model=model,
        **{"retry_attempts": 0, "retry_immediate": False, "score_display": False, **options},
    )
    return read_records(logs)


def read_records(logs: str | Path | Sequence[str | Path]) -> "Records":
    """Read logs into data frames: `runs`, `scores` and `items`, a row per run, figure and reply.

    Args:
        logs: logs, or folders of them; also addresses such as ``s3://BUCKET/logs``.

    Raises:
        FileNotFoundError: there is nothing at one of the places.
    """
    from music_evals.evals.registry import defaults_of
    from music_evals.reports.records import read_records

    return read_records(logs, defaults=defaults_of)


def score(name: str, row: int | str, reply: str, **params: Any) -> "Score":
    """Score a reply to a question of a task, without a model.

    Args:
        name: of the task.
        row: number or id of the question among the task's samples.
        reply: what a model wrote.
        params: parameters of the task.

    Returns:
        The main scorer's score; its explanation says what was read and why.

    Raises:
        ValueError: there is no such task or question, or a parameter is not valid.

    Example:
        >>> score("muse_chord_quality", "c-major-v0", "It is major, so **A**.").value
        'C'
    """
    import asyncio

    from inspect_ai.model import ChatMessageAssistant, ModelName, ModelOutput
    from inspect_ai.scorer import Target
    from inspect_ai.solver import TaskState

    made = task(name, **params)
    found = [one for number, one in enumerate(made.dataset) if row in (number, one.id)]
    if not found:
        raise ValueError(f"{name} has no question {row}; it has {len(made.dataset)}")
    sample = found[0]
    messages = [message for message in sample.input if not isinstance(message, str)]
    state = TaskState(
        ModelName("none/none"),
        sample.id or 0,
        1,
        sample.input,
        [*messages, ChatMessageAssistant(content=reply)],
        target=Target(sample.target),
        choices=sample.choices,
        output=ModelOutput.from_content("none/none", reply),
        metadata=sample.metadata or {},
    )
    scorers: Any = made.scorer
    scored: Score = asyncio.run(scorers[0](state, state.target))
    return scored
