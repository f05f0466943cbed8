"""Rewards of batches: a reward function for GRPOTrainer of TRL, and LilyPond on all cores."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from itertools import chain
from statistics import fmean
from typing import Any, Final

from music_evals.notation.lilypond.sandbox.slots import cores
from music_evals.rewards.scoring import Pieces, Reward, Row, judge_of, score

Completion = str | Sequence[Mapping[str, Any]]
"""A text, or messages."""
Judge = Callable[[Row, str], Reward]
LATE: Final = Reward(None, {}, "not measured: the batch's deadline came first")


def reward_function(
    task: str,
    *,
    part: str | None = None,
    reasoned: bool = False,
    pieces: Pieces | None = None,
    deadline: float = 120,
) -> Callable[..., list[float | None]]:
    """Make a reward function of a task for `trl.GRPOTrainer`, by the name that `music-evals list`
    shows.

    The training set needs the columns that `score` names. With a column ``task``, rows of other
    tasks get None, so that a trainer can have a function per task. All parts are logged, as a
    column and a mean, under ``TASK/PART``. Pieces of written music are compiled on all cores, each
    within the limits of the scorer, and cached.

    Args:
        task: its name, such as ``muse_syncopation``.
        part: the part to reward, such as ``format``, instead of the value.
        reasoned: as for `score`.
        pieces: as for `score`.
        deadline: seconds for a batch of written music; a piece that is not done by then gets None.

    Returns:
        A function of `prompts`, `completions` (texts or messages) and the columns of the dataset by
        name.

    Raises:
        ValueError: there is no such task, or it needs `pieces`; when called, a row lacks a column.

    Example:
        >>> reward = reward_function("muse_chord_quality")
        >>> reward(["?"], ["Final Answer: A"], options=[["Major", "Minor"]], target=["A"])
        [1.0]
    """
    judge_of(task, pieces=pieces)  # complains early
    judge = partial(score, task, reasoned=reasoned, pieces=pieces)
    judge_all = _one_by_one if pieces is None else _on_all_cores(deadline)

    def reward(
        prompts: Sequence[Any],
        completions: Sequence[Completion],
        completion_ids: Any = None,
        *,
        trainer_state: Any = None,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Sequence[Any],
    ) -> list[float | None]:
        rows = [
            {name: values[place] for name, values in columns.items()}
            for place in range(len(completions))
        ]
        own = [place for place, row in enumerate(rows) if row.get("task", task) == task]
        rewards = [Reward(None, {}, "of another task")] * len(rows)
        replies = [text_of(completions[place]) for place in own]
        for place, result in zip(
            own, judge_all(judge, [rows[place] for place in own], replies), strict=True
        ):
            rewards[place] = result
        for name in dict.fromkeys(chain.from_iterable(result.parts for result in rewards)):
            values = [result.parts.get(name) for result in rewards]
            numbers = [value for value in values if value is not None]
            if log_extra:
                log_extra(f"{task}/{name}", values)
            if log_metric and numbers:
                log_metric(f"{task}/{name}", fmean(numbers))
        if part:
            return [result.parts.get(part) for result in rewards]
        return [result.value for result in rewards]

    reward.__name__ = f"{task}_{part}" if part else task
    return reward


def _one_by_one(judge: Judge, rows: Sequence[Row], replies: Sequence[str]) -> list[Reward]:
    """Judge text, which holds the interpreter."""
    return list(map(judge, rows, replies))


def _on_all_cores(deadline: float) -> Callable[[Judge, Sequence[Row], Sequence[str]], list[Reward]]:
    """Judge written music, each different piece once."""
    pool = ThreadPoolExecutor(cores(), thread_name_prefix="reward")

    def judge_all(judge: Judge, rows: Sequence[Row], replies: Sequence[str]) -> list[Reward]:
        jobs = {reply: pool.submit(judge, {}, reply) for reply in replies}
        done, late = wait(jobs.values(), timeout=deadline)
        for job in late:
            job.cancel()
        return [jobs[reply].result() if jobs[reply] in done else LATE for reply in replies]

    return judge_all


def text_of(completion: Completion) -> str:
    """Return the text of a completion: of conversational ones, that of the last message of the
    assistant.

    Example:
        >>> text_of([{"role": "assistant", "content": [{"type": "text", "text": "B"}]}])
        'B'
    """
    if isinstance(completion, str):
        return completion
    for message in reversed(completion):
        if message.get("role", "assistant") == "assistant":
            content = message["content"]
            if isinstance(content, str):
                return content
            return "".join(part.get("text") or "" for part in content or ())
    return ""
