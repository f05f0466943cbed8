"""Scorers for questions on a written score, one a kind of answer, and their metrics.

A scorer reads the answer (see `music_evals.scorers.score_answers`) and leaves it with the right one in the score, so
that the metrics need nothing else but the samples' metadata: ``kind`` (the field that is asked for, or how the score
was corrupted) and ``task``. Repeated runs of a question (epochs) count as one question with the mean of its runs.

Source: arXiv 2606.08722, sections 3.2, 3.3 and 4.2.
"""

from collections.abc import Callable, Iterable
from typing import Final

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
    scorer,
)
from inspect_ai.solver import TaskState

from music_evals.scorers.metrics.accuracy import bootstrap_interval
from music_evals.scorers.metrics.measures import count_figures, macro_interval, macro_mean, measure_f1
from music_evals.scorers.metrics.ordering import penalised_tau
from music_evals.scorers.metrics.proportion import wilson_interval
from music_evals.scorers.score_answers import (
    Answer,
    Protocol,
    measures_of,
    read_index,
    read_measures,
    read_number,
    read_order,
)

CLEAN: Final = "clean"
"""The kind of a score that nothing was done to."""
CONFUSED: Final = "emotion_recognition"
"""The task whose options are the same classes in every question, so that they can be confused."""
CLASSES: Final = ("0", "1", "2", "3")
UNREADABLE: Final = "unreadable"


@metric(scores="unreduced")
def index_figures() -> Metric:
    """Accuracy with Wilson's 95% interval.

    Returns:
        The metric: ``accuracy`` with ``_low`` and ``_high``, ``unreadable`` (share without an answer), ``in_form``
        (share of answers in the required form) and ``questions``.

    Source: arXiv 2606.08722, section 3.3.
    """

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        return {**_share("accuracy", scores, _is_right), **_form(scores)} if scores else {}

    return compute


@metric(scores="unreduced")
def by_kind() -> Metric:
    """Accuracy for each kind of question, as ``key/accuracy``.

    Returns:
        The metric: ``accuracy`` with its interval and ``questions`` of each kind; nothing where questions have none.
    """

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        return {
            f"{kind}/{name}": value
            for kind, some in _by_kind(scores).items()
            if kind
            for name, value in {**_share("accuracy", some, _is_right), "questions": len(_questions(some))}.items()
        }

    return compute


@metric(scores="unreduced")
def confusion() -> Metric:
    """How often each class was taken for each, as ``0_as_2`` or ``0_as_unreadable``.

    Returns:
        The metric: numbers of responses, right class first; nothing for tasks other than the recognition of emotion,
        whose options alone are the same in every question.

    Source: arXiv 2606.08722, section 4.2 (models that tell two of four quadrants).
    """

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        if not scores or _of(scores[0], "task") != CONFUSED:
            return {}
        counts = {f"{right}_as_{taken}": 0.0 for right in CLASSES for taken in (*CLASSES, UNREADABLE)}
        for score in scores:
            counts[f"{_right(score)}_as_{score.score.answer or UNREADABLE}"] += 1
        return counts

    return compute


@metric(scores="unreduced")
def number_figures() -> Metric:
    """How near numbers of measures come to the right ones.

    Returns:
        The metric: ``exact``, ``within_1``, ``within_5`` and ``within_10``, each with Wilson's interval,
        ``median_absolute_error`` in measures over the readable answers (absent where there are none), ``unreadable``,
        ``in_form`` and ``questions``.

    Source: arXiv 2606.08722, sections 3.3 and 4.2.
    """

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        if not scores:
            return {}
        figures = count_figures(
            [None if score.score.answer is None else int(score.score.answer) for score in scores],
            [int(_right(score)) for score in scores],
        )
        n = len(_questions(scores))
        found: dict[str, float] = {}
        for name, value in figures.items():
            found[name] = value
            if name == "exact" or name.startswith("within_"):
                found[f"{name}_low"], found[f"{name}_high"] = wilson_interval(value, n)
        return {**found, **_form(scores)}

    return compute


@metric(scores="unreduced")
def order_figures() -> Metric:
    """The mean penalised Kendall τ with a 95% bootstrap interval over the questions.

    Returns:
        The metric: ``tau`` with ``_low`` and ``_high``; ``exact``, the share of orders that are right, with Wilson's
        interval; ``unreadable``, ``in_form`` and ``questions``.

    Source: arXiv 2606.08722, section 3.3.
    """

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        if not scores:
            return {}
        taus = _questions(scores)
        low, high = bootstrap_interval(taus)
        return {
            "tau": sum(taus) / len(taus),
            "tau_low": low,
            "tau_high": high,
            **_share("exact", scores, lambda score: score.score.answer == _right(score)),
            **_form(scores),
        }

    return compute


@metric(scores="unreduced")
def error_figures() -> Metric:
    """F1 of the measures named, averaged over the categories of error; what is said of clean scores stands apart.

    Returns:
        The metric: ``macro_f1`` with a 95% bootstrap interval; ``exact``, the share of corrupted scores whose wrong
        measures are named and no others, with Wilson's interval; ``false_alarms``, the share of clean scores in which
        a measure is called wrong, with Wilson's interval, where there are clean ones; ``unreadable``, ``in_form`` and
        ``questions``, over all.

    Source: arXiv 2606.08722, section 3.3; the clean controls are this project's.
    """

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        if not scores:
            return {}
        found: dict[str, float] = {}
        corrupted = {kind: some for kind, some in _by_kind(scores).items() if kind != CLEAN}
        if corrupted:
            values = {kind: _questions(some) for kind, some in corrupted.items()}
            low, high = macro_interval(values)
            found |= {"macro_f1": macro_mean(values), "macro_f1_low": low, "macro_f1_high": high}
            found |= _share(
                "exact",
                [score for some in corrupted.values() for score in some],
                lambda score: score.score.answer == _right(score),
            )
        if clean := _by_kind(scores).get(CLEAN):
            found |= _share("false_alarms", clean, lambda score: bool(measures_of(score.score.answer or "none")))
        return {**found, **_form(scores)}

    return compute


@metric(scores="unreduced")
def by_category() -> Metric:
    """Mean F1 of each category of error, and of the clean scores, as ``melodic_leap/f1``.

    Returns:
        The metric: ``f1`` with a 95% bootstrap interval, and ``questions``, of each.

    Source: arXiv 2606.08722, sections 3.3 and 4.2.
    """

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        found: dict[str, float] = {}
        for kind, some in _by_kind(scores).items():
            values = _questions(some)
            low, high = bootstrap_interval(values)
            found |= {
                f"{kind}/f1": sum(values) / len(values),
                f"{kind}/f1_low": low,
                f"{kind}/f1_high": high,
                f"{kind}/questions": len(values),
            }
        return found

    return compute


@scorer(metrics=[index_figures(), by_kind(), confusion()])
def option_index(protocol: Protocol = "strict", reasoned: bool = False) -> Scorer:
    """Score the index of the chosen option.

    Args:
        protocol: how replies are read; see `music_evals.scorers.score_answers`.
        reasoned: whether the reply was to reason first and end in a line ``Answer: …``.

    Returns:
        The scorer: correct, incorrect, or no answer (which counts as incorrect).

    Raises:
        ValueError: there is no such protocol.

    Source: arXiv 2606.08722, section 3.3.
    """
    check_protocol(protocol)

    async def score(state: TaskState, target: Target) -> Score:
        answer = read_index(state.output.completion, protocol, reasoned=reasoned)
        return _scored(answer, target.text, state, right=answer.text == target.text)

    return score


@scorer(metrics=[number_figures()])
def measure_count(protocol: Protocol = "strict", reasoned: bool = False) -> Scorer:
    """Score a number of measures.

    Args:
        protocol: how replies are read; see `music_evals.scorers.score_answers`.
        reasoned: whether the reply was to reason first and end in a line ``Answer: …``.

    Returns:
        The scorer: correct, incorrect, or no answer (which counts as incorrect).

    Raises:
        ValueError: there is no such protocol.

    Source: arXiv 2606.08722, section 3.3.
    """
    check_protocol(protocol)

    async def score(state: TaskState, target: Target) -> Score:
        answer = read_number(state.output.completion, protocol, reasoned=reasoned)
        return _scored(answer, target.text, state, right=answer.text == target.text)

    return score


@scorer(metrics=[order_figures()])
def measure_order(protocol: Protocol = "strict", reasoned: bool = False) -> Scorer:
    """Score an order of measures.

    Args:
        protocol: how replies are read; see `music_evals.scorers.score_answers`.
        reasoned: whether the reply was to reason first and end in a line ``Answer: …``.

    Returns:
        The scorer: the penalised Kendall τ, from 0 to 1.

    Raises:
        ValueError: there is no such protocol.

    Source: arXiv 2606.08722, section 3.3.
    """
    check_protocol(protocol)

    async def score(state: TaskState, target: Target) -> Score:
        answer = read_order(state.output.completion, protocol, reasoned=reasoned)
        return _scored(answer, target.text, state, value=penalised_tau(answer.text, target.text))

    return score


@scorer(metrics=[error_figures(), by_category()])
def wrong_measures(protocol: Protocol = "strict", reasoned: bool = False) -> Scorer:
    """Score the measures that are called wrong.

    Args:
        protocol: how replies are read; see `music_evals.scorers.score_answers`.
        reasoned: whether the reply was to reason first and end in a line ``Answer: …``.

    Returns:
        The scorer: F1 of the measures, 1 where none is wrong and none is named, 0 without an answer.

    Raises:
        ValueError: there is no such protocol.

    Source: arXiv 2606.08722, section 3.3.
    """
    check_protocol(protocol)

    async def score(state: TaskState, target: Target) -> Score:
        answer = read_measures(state.output.completion, protocol, reasoned=reasoned)
        named = None if answer.text is None else measures_of(answer.text)
        return _scored(answer, target.text, state, value=measure_f1(named, measures_of(target.text)))

    return score


def check_protocol(protocol: str) -> None:
    """Check a protocol.

    Raises:
        ValueError: naming what is valid.

    Example:
        >>> check_protocol("lax")
        Traceback (most recent call last):
        ValueError: protocol='lax' is not valid; valid values are: strict, paper
    """
    if protocol not in ("strict", "paper"):
        raise ValueError(f"protocol={protocol!r} is not valid; valid values are: strict, paper")


def _scored(
    answer: Answer, right_answer: str, state: TaskState, *, right: bool | None = None, value: float = 0.0
) -> Score:
    """A score of right or wrong where `right` is given, else of a value."""
    kept = {"right_answer": right_answer, "in_form": answer.in_form}
    if answer.text is None:
        return Score(
            value=value if right is None else NOANSWER,
            explanation=f"Expected {right_answer}; the reply holds no answer.",
            metadata=kept,
            reason="invalid_response_format" if state.output.completion.strip() else "no_response",
        )
    return Score(
        value=value if right is None else CORRECT if right else INCORRECT,
        answer=answer.text,
        explanation=f"Expected {right_answer}; the reply answers {answer.text}.",
        metadata=kept,
    )


def _form(scores: list[SampleScore]) -> dict[str, float]:
    """The shares that every kind of answer has, and how many questions there are."""
    return {
        UNREADABLE: sum(score.score.answer is None for score in scores) / len(scores),
        "in_form": sum(bool((score.score.metadata or {})["in_form"]) for score in scores) / len(scores),
        "questions": len(_questions(scores)),
    }


def _share(name: str, scores: list[SampleScore], holds: Callable[[SampleScore], bool]) -> dict[str, float]:
    share = sum(holds(score) for score in scores) / len(scores)
    low, high = wilson_interval(share, len(_questions(scores)))
    return {name: share, f"{name}_low": low, f"{name}_high": high}


def _questions(scores: Iterable[SampleScore]) -> list[float]:
    """A value for each question, the mean over its runs."""
    found: dict[str | int, list[float]] = {}
    for score in scores:
        value = float(_is_right(score)) if isinstance(score.score.value, str) else score.score.as_float()
        found.setdefault(score.sample_id or 0, []).append(value)
    return [sum(some) / len(some) for some in found.values()]


def _by_kind(scores: Iterable[SampleScore]) -> dict[str, list[SampleScore]]:
    kinds: dict[str, list[SampleScore]] = {}
    for score in scores:
        kinds.setdefault(_of(score, "kind"), []).append(score)
    return dict(sorted(kinds.items()))


def _of(score: SampleScore, name: str) -> str:
    return str((score.sample_metadata or {})[name])


def _right(score: SampleScore) -> str:
    return str((score.score.metadata or {})["right_answer"])


def _is_right(score: SampleScore) -> bool:
    return score.score.value == CORRECT
