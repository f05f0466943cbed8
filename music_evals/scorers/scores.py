"""What scorers share: metrics made of functions of scores, groups of scores, and the marking of an answer."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from inspect_ai.scorer import CORRECT, INCORRECT, NOANSWER, Metric, SampleScore, Score, metric, value_to_float

from music_evals.scorers.metrics.proportion import wilson_interval
from music_evals.scorers.readers import STATUSES, Reading, Status


def figures(compute: Callable[[list[SampleScore]], Mapping[str, float | None]]) -> Callable[[], Metric]:
    """Make a metric, of the function's name, over the scores of all epochs; without scores it has no figures."""

    def make() -> Metric:
        def figures_of(scores: list[SampleScore]) -> dict[str, float | None]:
            return dict(compute(scores)) if scores else {}

        return figures_of

    return metric(compute.__name__, scores="unreduced")(make)


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


def marked(reading: Reading, right: str, value: float | None = None, explanation: str = "", **metadata: Any) -> Score:
    """Mark what was read as right, wrong or none, or by a value; the metadata say how the reply reads."""
    status, answer = reading
    verdict = NOANSWER if answer is None else CORRECT if answer == right else INCORRECT
    found = f"{READ_AS[status]}" if answer is None else f"answers {answer}"
    return Score(
        value=verdict if value is None else value,
        answer=answer,
        explanation=explanation or f"Expected {right}; the reply {found}.",
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
}


def fence(text: str, least: int = 1) -> str:
    """Backticks for Markdown's code, more than any run of them in the text."""
    return "`" * max(least, 1 + max(map(len, re.findall("`+", text)), default=0))
