"""Rewards of batches: a reward function for GRPOTrainer of TRL, and LilyPond on all cores."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from itertools import chain
from statistics import fmean
from typing import Any

from music_evals.notation.lilypond.sandbox.slots import cores
from music_evals.rewards.scoring import Pieces, Reward, Row, judge_of, score

Completion = str | Sequence[Mapping[str, Any]]
"""A text, or messages."""
_LogExtra = Callable[[str, list[Any]], None] | None
_LogMetric = Callable[[str, float], None] | None
LATE = Reward(None, {}, "not measured: the batch's deadline came first")


def reward_function(
    task: str,
    *,
    part: str | None = None,
    reasoned: bool = False,
    pieces: Pieces | None = None,
    deadline: float = 120,
    end_tokens: Sequence[int] = (),
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
        end_tokens: ids of the tokens that end a completion, such as the tokenizer's `eos_token_id`
            and `pad_token_id`. A completion with another last token was cut, as for `score`.
            Without them no completion counts as cut.

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
    pool = None if pieces is None else ThreadPoolExecutor(cores(), thread_name_prefix="reward")

    def reward(
        prompts: Sequence[Any],
        completions: Sequence[Completion],
        completion_ids: Any = None,
        *,
        trainer_state: Any = None,
        log_extra: _LogExtra = None,
        log_metric: _LogMetric = None,
        **columns: Sequence[Any],
    ) -> list[float | None]:
        rewards = [Reward(None, {}, "of another task")] * len(completions)
        tasks = columns.get("task", [task] * len(completions))
        own = [place for place, name in enumerate(tasks) if name == task]
        rows = [{name: values[place] for name, values in columns.items()} for place in own]
        replies = [text_of(completions[place]) for place in own]
        ids = completion_ids if completion_ids and end_tokens else [end_tokens] * len(completions)
        cut = [bool(ids[place]) and ids[place][-1] not in end_tokens for place in own]
        judged = _judge_all(judge, rows, replies, cut, pool, deadline)
        for place, result in zip(own, judged, strict=True):
            rewards[place] = result
        _log_parts(task, rewards, log_extra, log_metric)
        if part:
            return [result.parts.get(part) for result in rewards]
        return [result.value for result in rewards]

    reward.__name__ = f"{task}_{part}" if part else task
    return reward


def _judge_all(
    judge: Callable[..., Reward],
    rows: Sequence[Row],
    replies: Sequence[str],
    cut: Sequence[bool],
    pool: ThreadPoolExecutor | None,
    deadline: float,
) -> list[Reward]:
    """Judge replies; with a pool each different one once, which then is written music."""
    if pool is None:  # reading text holds the interpreter
        answers = zip(rows, replies, cut, strict=True)
        return [judge(row, reply, is_cut=is_cut) for row, reply, is_cut in answers]
    jobs = {reply: pool.submit(judge, {}, reply) for reply in replies}
    done, late = wait(jobs.values(), timeout=deadline)
    for job in late:
        job.cancel()
    return [jobs[reply].result() if jobs[reply] in done else LATE for reply in replies]


def _log_parts(
    task: str,
    rewards: Sequence[Reward],
    log_extra: _LogExtra,
    log_metric: _LogMetric,
) -> None:
    """Log all parts, as a column and as a mean."""
    for name in dict.fromkeys(chain.from_iterable(result.parts for result in rewards)):
        values = [result.parts.get(name) for result in rewards]
        numbers = [value for value in values if value is not None]
        if log_extra:
            log_extra(f"{task}/{name}", values)
        if log_metric and numbers:
            log_metric(f"{task}/{name}", fmean(numbers))


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
