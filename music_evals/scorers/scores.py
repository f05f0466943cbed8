"""What scorers share: their decorator, metrics made of functions of scores, groups of scores, and marking an answer."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import update_wrapper, wraps
from logging import getLogger
from typing import Any, Final, ParamSpec, TypeVar

import anyio
import anyio.to_thread
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    NOANSWER,
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    metric,
    value_to_float,
)
from inspect_ai.scorer import scorer as inspect_scorer
from inspect_ai.solver import TaskState
from inspect_ai.util import LimitExceededError

from music_evals.notation.lilypond.compiler import LilyPondError
from music_evals.notation.lilypond.sandbox import SandboxError
from music_evals.scorers.metrics.proportion import wilson_interval
from music_evals.scorers.readers import STATUSES, Reading, Status

_P = ParamSpec("_P")
_T = TypeVar("_T")
_REASON: Final = 300  # characters of an error that a score shows
_SHORT: Final = 500  # characters of a reply that are read in some milliseconds at most
_READING: Final = anyio.CapacityLimiter(1)  # reading holds the interpreter, and music21 is not made for threads
_log = getLogger(__name__)


class SampleError(ValueError):
    """A sample that lacks what its scorer goes by."""


class _SetUpError(Exception):
    """Carries the error of a set-up, its cause, through a scorer."""


@contextmanager
def setting_up() -> Iterator[None]:
    """Mark what a scorer needs whatever the reply is: an error in here ends the run, as it is."""
    try:
        yield
    except Exception as error:
        raise _SetUpError from error


def scorer(metrics: Sequence[Metric]) -> Callable[[Callable[_P, Scorer]], Callable[_P, Scorer]]:
    """Register a scorer that no reply can make fail; all scorers here have this decorator instead of Inspect's.

    An error while a reply is read or its music worked on is logged, and its score `not_measured`. What is no matter of
    the reply is raised: `SampleError`, a missing LilyPond or sandbox, what fails within `setting_up`, a limit.
    """

    def register(make: Callable[_P, Scorer]) -> Callable[_P, Scorer]:
        @wraps(make)
        def made(*args: _P.args, **kwargs: _P.kwargs) -> Scorer:
            return _never_failing(make(*args, **kwargs))

        return inspect_scorer(metrics=metrics)(made)

    return register


def _never_failing(score: Scorer) -> Scorer:
    async def measured(state: TaskState, target: Target) -> Score | None:
        try:
            return _told_cut(await score(state, target), state)
        except _SetUpError as error:
            raise error.__cause__ or error from None
        except (SampleError, LilyPondError, SandboxError, LimitExceededError):
            raise
        except Exception as error:
            why = failure(error)
            _log.warning("Sample %s, epoch %s, is not measured: %s", state.sample_id, state.epoch, why)
            return not_measured(f"{fence(why)}{why}{fence(why)}")

    return measured


def _told_cut(score: Score | None, state: TaskState) -> Score | None:
    """Tell answers that are missing because the reply was cut from others."""
    if score and score.metadata and state.output.stop_reason in ("max_tokens", "model_length"):
        for one in (score.metadata, *score.metadata.get("questions", ())):
            if one.get("reading") in ("unreadable", "empty"):
                one["reading"] = "cut"
        if score.metadata.get("reading") == "cut":
            score.explanation = f"{score.explanation} It was cut at the limit of tokens."
    return score


def failure(error: Exception) -> str:
    """An error in one short line, for a log."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:_REASON]


async def apart(read: Callable[..., _T], *args: Any) -> _T:
    """Read a reply in a thread, one at a time, since a long one takes a while and the event loop has other samples."""
    return await anyio.to_thread.run_sync(read, *args, limiter=_READING)


async def read_reply(read: Callable[..., _T], reply: str, *args: Any) -> _T:
    """Read a reply by what needs no music21: a long one `apart`, a short one at once, since a thread costs more."""
    return read(reply, *args) if len(reply) <= _SHORT else await apart(read, reply, *args)


def held(state: TaskState, name: str) -> Any:
    """What a sample's metadata hold under a name; SampleError where they do not."""
    if name not in state.metadata:
        raise SampleError(f"sample {state.sample_id}: metadata has no {name!r}, which its scorer goes by")
    return state.metadata[name]


class Figures:
    """A metric with several figures, over the scores of all epochs; without scores it has none.

    A log's results hold the few that a scorer names when it makes the metric, by patterns of `fnmatch`; all of them
    come from :meth:`of`, which reports call with the scores of a log's samples.

    Example:
        >>> @figures
        ... def counts(scores):
        ...     return {"right": sum(map(is_right, scores)), "all": len(scores)}
        >>> metric = counts("right")
        >>> counts.of([SampleScore(score=Score(value=CORRECT)), SampleScore(score=Score(value=INCORRECT))])
        {'right': 1, 'all': 2}
    """

    def __init__(self, compute: Callable[[list[SampleScore]], Mapping[str, float | None]]) -> None:
        self.name = compute.__name__
        self._compute = compute
        self._made = metric(self.name, scores="unreduced")(self._make)
        update_wrapper(self, compute)

    def __call__(self, *only: str) -> Metric:
        """Make the metric, with those of its figures that match; with all of them where no pattern is given."""
        return self._made(list(only)) if only else self._made()

    def of(self, scores: Sequence[SampleScore]) -> dict[str, float | None]:
        """Return all figures of scores."""
        return dict(self._compute(list(scores))) if scores else {}

    def _make(self, only: list[str] | None = None) -> Metric:
        def figures_of(scores: list[SampleScore]) -> dict[str, float | None]:
            found = self.of(scores)
            kept = [[name for name in found if fnmatchcase(name, pattern)] for pattern in only or ["*"]]
            return {name: found[name] for names in kept for name in names}

        return figures_of


def figures(compute: Callable[[list[SampleScore]], Mapping[str, float | None]]) -> Figures:
    """Make a metric, of the function's name."""
    return Figures(compute)


@metric
def interval95() -> Metric:
    """Wilson's 95% interval of the accuracy, as ``ci95_low`` and ``ci95_high``; without any score both are 0.

    With several epochs a sample counts once, with the mean of its epochs.
    """
    to_float = value_to_float()

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        low = high = 0.0
        if scores:
            low, high = wilson_interval(sum(to_float(score.score.value) for score in scores) / len(scores), len(scores))
        return {"ci95_low": low, "ci95_high": high}

    return compute


def grouped(scores: Iterable[SampleScore], *names: str) -> dict[str, list[SampleScore]]:
    """Group scores by metadata of their samples; the groups in order of their names."""
    groups: dict[str, list[SampleScore]] = {}
    for score in scores:
        groups.setdefault("/".join(of_sample(score, name) for name in names), []).append(score)
    return dict(sorted(groups.items()))


def of_sample(score: SampleScore, name: str) -> str:
    """A score's metadata of its sample."""
    return str((score.sample_metadata or {})[name])


def is_right(score: SampleScore) -> bool:
    """Whether a score is `CORRECT`."""
    return score.score.value == CORRECT


@figures
def readings(scores: list[SampleScore]) -> dict[str, float]:
    """The shares of the replies, or of the answers in them, by how they read: see `music_evals.scorers.readers`."""
    found: list[str] = []
    for score in scores:
        metadata = score.score.metadata or {}
        found += [one["reading"] for one in metadata.get("questions", [metadata])]
    return {status: found.count(status) / len(found) for status in STATUSES}


def told_readings() -> Metric:
    """Those of `readings` that a log's results hold."""
    return readings("answered", "refused", "cut")


def marked(reading: Reading, right: str, explanation: str, value: float | None = None, **metadata: Any) -> Score:
    """Mark what was read as right, wrong or none, or by a value; the metadata say how the reply reads."""
    status, answer, _ = reading
    verdict = NOANSWER if answer is None else CORRECT if answer == right else INCORRECT
    return Score(
        value=verdict if value is None else value,
        answer=answer,
        explanation=explanation,
        metadata={"reading": status, **metadata},
        reason=None if answer is not None else "no_response" if status == "empty" else "invalid_response_format",
    )


def not_measured(why: str) -> Score:
    """A score that could not be taken, through no fault of the answer: no metric counts it, neither right nor wrong."""
    return Score.unscored(reason="scoring_failed", explanation=f"Not measured: {why}.")


READ_AS: Final[Mapping[Status, str]] = {
    "answered": "holds an answer",
    "refused": "refuses to answer",
    "several": "holds more than one answer",
    "unreadable": "holds no answer that can be read",
    "empty": "is empty",
    "cut": "was cut before it held an answer",
}


def fence(text: str, least: int = 1) -> str:
    """Backticks for Markdown's code, more than any run of them in the text."""
    return "`" * max(least, 1 + max(map(len, re.findall("`+", text)), default=0))
