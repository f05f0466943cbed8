"""What scorers share: the decorator, the metrics of all tasks, reading in a thread, the score of an
answer.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from logging import getLogger
from typing import Any, ParamSpec, TypeVar

import anyio
import anyio.to_thread
from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    Value,
    metric,
)
from inspect_ai.scorer import scorer as inspect_scorer
from inspect_ai.solver import TaskState
from inspect_ai.util import LimitExceededError

from music_evals.notation.lilypond.compiler import LilyPondError
from music_evals.notation.lilypond.sandbox import SandboxError
from music_evals.scorers.items import all_items, headline
from music_evals.scorers.metrics.collapse import collapse, permutation_p, position_bias
from music_evals.scorers.metrics.estimates import flatten
from music_evals.scorers.readers import ERROR, Reading, Status, format_error, try_read
from music_evals.scorers.readers.fields import FORM, judge_field
from music_evals.scorers.readers.verdicts import Verdict

SampleScores = list[SampleScore]
Figures = dict[str, float]
"""What a metric returns, by name."""

_P = ParamSpec("_P")
_T = TypeVar("_T")
_SHORT = 500  # characters of a reply that are read in some milliseconds at most
# Reading holds the interpreter, and music21 is not made for threads.
_READING = anyio.CapacityLimiter(1)
_log = getLogger(__name__)


class SampleError(ValueError):
    """A sample lacks metadata that its scorer needs."""


class _SetUpError(Exception):
    """Carries the error of a set-up, its cause, through a scorer."""


@contextmanager
def setting_up() -> Iterator[None]:
    """Let an error in this block end the run, because its cause is the scorer's set-up and not the
    reply.
    """
    try:
        yield
    except Exception as error:
        raise _SetUpError from error


def scorer(metrics: Sequence[Metric]) -> Callable[[Callable[_P, Scorer]], Callable[_P, Scorer]]:
    """Register a scorer that no reply can make fail; all scorers here use it instead of Inspect's
    decorator.

    An error while a reply or its music is read is logged, and the score is `not_measured`. Errors
    that no reply causes are raised: `SampleError`, a missing LilyPond or sandbox, errors within
    `setting_up`, and limits.
    """

    def register(make: Callable[_P, Scorer]) -> Callable[_P, Scorer]:
        @wraps(make)
        def make_safe(*args: _P.args, **kwargs: _P.kwargs) -> Scorer:
            return _never_failing(make(*args, **kwargs))

        return inspect_scorer(metrics=metrics)(make_safe)

    return register


def _never_failing(score: Scorer) -> Scorer:
    async def measured(state: TaskState, target: Target) -> Score | None:
        try:
            return _mark_cut(await score(state, target), state)
        except _SetUpError as error:
            raise error.__cause__ or error from None
        except (SampleError, LilyPondError, SandboxError, LimitExceededError):
            raise
        except Exception as error:
            why = format_error(error)
            _log.warning(
                "Sample %s, epoch %s, is not measured: %s", state.sample_id, state.epoch, why
            )
            return not_measured(f"{fence(why)}{why}{fence(why)}")

    return measured


CUT, TOO_LONG = "max_tokens", "model_length"
"""Stop reasons: the reply ended at the limit of tokens; the prompt is longer than the context."""
ENDINGS = {
    CUT: "The reply ended at the limit of tokens.",
    TOO_LONG: "There is no reply, because the prompt is longer than the model's context.",
}


def was_cut(state: TaskState) -> bool:
    """Whether a reply ended at the limit of tokens, or is an error about the model's context."""
    return state.output.stop_reason in ENDINGS


def _mark_cut(score: Score | None, state: TaskState) -> Score | None:
    """Record which limit ended a reply, whatever was read of it, and set the reading of answers
    that are missing for it.
    """
    if score is None or not score.metadata:
        return score
    is_one_token = state.metadata.get(FORM) == "likelihood"
    for details in (score.metadata, *score.metadata.get("questions", ())):
        reason = details.get("stop_reason", state.output.stop_reason)
        if is_one_token and reason == "max_tokens":
            continue
        if reason in ENDINGS:
            details["limit"] = reason
            if details.get("reading") in ("unreadable", "empty"):
                details["reading"] = "cut" if reason == CUT else "empty"
    if limit := score.metadata.get("limit"):
        score.explanation = f"{score.explanation} {ENDINGS[limit]}"
    return score


async def run_in_thread(read: Callable[..., _T], *args: Any) -> _T:
    """Read a reply in a thread, one at a time, so that a long reply does not stop the event
    loop.
    """
    return await anyio.to_thread.run_sync(read, *args, limiter=_READING)


async def read_reply(judge: Callable[..., Verdict], reply: str, *args: Any) -> Verdict:
    """Judge a long reply in a thread and a short one at once, as a thread costs more; not for
    reading by music21.

    A reply that makes the reader fail is unreadable, and the reading has the error.
    """
    if len(reply) <= _SHORT:
        verdict, error = try_read(judge, reply, *args)
    else:
        verdict, error = await run_in_thread(try_read, judge, reply, *args)
    if error:
        verdict = verdict._replace(reading=Reading("unreadable", error=error))
    return verdict


async def judge_sample(state: TaskState, judge: Callable[[str], Verdict], right: str) -> Verdict:
    """Judge the reply of a sample, or its field with the answer if a schema held it to a form."""
    if state.metadata.get(FORM) == "schema":
        judge = partial(judge_field, right=right, judge=judge)
    return await read_reply(judge, state.output.completion)


def required_metadata(state: TaskState, name: str) -> Any:
    """Return the metadata of a sample under a name; SampleError without it."""
    if name not in state.metadata:
        raise SampleError(
            f"sample {state.sample_id}: metadata has no {name!r}, which its scorer needs"
        )
    return state.metadata[name]


def sample_metric(compute: Callable[..., Value]) -> Callable[[], Metric]:
    """Register a function of the scores of all samples and epochs as a metric without
    parameters.
    """

    def make() -> Metric:
        return compute

    make.__name__ = compute.__name__
    make.__module__ = compute.__module__
    make.__doc__ = compute.__doc__
    return metric(scores="unreduced")(make)


def details_of(scores: SampleScores) -> list[dict[str, Any]]:
    """Return what the scorer says of each score."""
    return [score.score.metadata or {} for score in scores]


@metric(scores="unreduced")
def main_metric(name: str = "accuracy") -> Metric:
    """The score of a task, under this name, with the ends of its 95% interval, ``NAME_low`` and
    ``NAME_high``.

    ``questions`` is the number of questions that it is of. See
    `music_evals.scorers.items.headline`.
    """

    def compute(scores: SampleScores) -> Figures:
        metadata = scores[0].sample_metadata if scores else None
        score = headline(all_items(scores), metadata or {})
        questions = score.n or 0 if score else 0
        return {**flatten({name: score}), "questions": questions}

    return compute


@sample_metric
def readings(scores: SampleScores) -> Figures:
    """The shares of answers that were read (``answered``), of refusals (``refused``), and of
    replies that ended at the limit of tokens (``cut``), whatever was read of them.

    ``too_long`` is the share of prompts that are longer than the model's context, and
    ``reader_failures`` the number of replies that made a reader fail, if there are any.
    `music_evals.scorers.readers` describes all readings; the metadata of each score have its own.
    """
    details = [item.details for item in all_items(scores)]
    facts = [row.get("reading") for row in details] + [row.get("limit") for row in details]
    names = {"answered": "answered", "refused": "refused", "cut": CUT, "too_long": TOO_LONG}
    figures = {name: facts.count(fact) / max(len(details), 1) for name, fact in names.items()}
    figures["reader_failures"] = sum(ERROR in row for row in details)
    shown = ("answered", "refused", "cut")
    return {name: figure for name, figure in figures.items() if figure or name in shown}


@sample_metric
def answer_collapse(scores: SampleScores) -> Figures:
    """The shares of the ``commonest_answer`` among the answers and of the ``commonest_key`` among
    the keys; ``permutation_p``, ``position_bias``: see `music_evals.scorers.metrics.collapse`.

    ``permutation_p`` is of scores that are the share of answers equal to the key, to questions of
    one kind: an answer that fits the kind of its question need not depend on the music.
    ``position_bias`` is of options with letters or indices.
    """
    items = [item for item in all_items(scores) if item.counts and item.key is not None]
    items.sort(key=lambda item: item.id)  # samples end in any order, and draws are by place
    answers = [item.answer for item in items]
    keys = [str(item.key) for item in items]
    names = [item.id for item in items]
    found = collapse(answers, keys, names)
    if found is None:
        return {}
    figures = {"commonest_answer": found.share, "commonest_key": found.key_share}
    kinds = {(item.details.get("kind"), item.details.get("answer_kind")) for item in items}
    if len(kinds) == 1 and all(item.value == (item.answer == item.key) for item in items):
        figures["permutation_p"] = permutation_p(answers, keys, names)
    if max(map(len, keys)) == 1:
        figures["position_bias"] = position_bias(answers, keys)
    return figures


def not_measured(why: str) -> Score:
    """Return a score for an answer that the machine, not the model, failed to score; no metric
    counts it.
    """
    return Score.unscored(reason="scoring_failed", explanation=f"Not measured: {why}.")


READ_AS: Mapping[Status, str] = {
    "answered": "holds an answer",
    "refused": "refuses to answer",
    "several": "holds more than one answer",
    "unreadable": "holds no answer that can be read",
    "empty": "is empty",
    "cut": "was cut before it held an answer",
}


ANSWER_METRICS = [readings(), answer_collapse()]
"""Metrics of all scorers that read answers."""

_NO_TAGS = str.maketrans("<＜﹤>＞﹥", "‹‹‹›››")


def without_tags(**texts: str) -> dict[str, str]:
    """Return texts that cannot close the tags around them in a prompt, or open others."""
    return {name: text.translate(_NO_TAGS) for name, text in texts.items()}


def fence(text: str, least: int = 1) -> str:
    """Return backticks for Markdown's code, more than any run of them in the text."""
    return "`" * max(least, 1 + max(map(len, re.findall("`+", text)), default=0))
