"""Scorers for questions on a written score, one a kind of answer, and their metrics.

A scorer reads the answer (see `music_evals.scorers.readers.written`) and leaves it with the right one in the score, so
that the metrics need nothing else but the samples' metadata: ``kind`` (the field that is asked for, or how the score
was corrupted), ``task`` and, for `CONFUSED`, ``options``. Figures under ``paper`` are those of the authors' code; where
these are not sound, sound ones stand beside them under other names. Repeated runs of a question (epochs) count as one
question with the mean of its runs. Intervals, at 95%, are Wilson's for shares and Korn's and Graubard's for means.

Source: arXiv 2606.08722, sections 3.2, 3.3 (figures) and 4.2 (confusion of emotions, errors by category).
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

from inspect_ai.scorer import SampleScore, Score, Scorer, Target
from inspect_ai.solver import TaskState

from music_evals.notation.lilypond.compiler import NOT_MEASURED
from music_evals.scorers.explanations import explained
from music_evals.scorers.metrics.figures import each, mean, share
from music_evals.scorers.metrics.measures import (
    count_figures,
    measure_f1,
    penalised_tau,
    published_count_figures,
    published_tau,
)
from music_evals.scorers.readers import Reading
from music_evals.scorers.readers.written import (
    Answer,
    Protocol,
    measures_of,
    read_all_measures,
    read_index,
    read_measures,
    read_number,
    read_order,
)
from music_evals.scorers.scores import (
    figures,
    grouped,
    is_right,
    marked,
    not_measured,
    of_sample,
    read_reply,
    scorer,
    told_readings,
)

CLEAN: Final = "clean"
"""The kind of a score that nothing was done to."""
CONFUSED: Final = "emotion_recognition"
"""The task whose options are the same classes in every question, in any order, so that they can be confused."""
CLASSES: Final = ("0", "1", "2", "3")
UNREADABLE: Final = "unreadable"


@figures
def index_figures(scores: list[SampleScore]) -> dict[str, float]:
    """``accuracy``, ``in_form`` (in the required form) and ``questions``."""
    return {**_share("accuracy", scores, is_right), **_form(scores)}


@figures
def by_kind(scores: list[SampleScore]) -> dict[str, float]:
    """``accuracy`` and ``questions`` of each kind of question, as ``key/accuracy``; nothing where they have none."""
    kinds = {kind: some for kind, some in grouped(scores, "kind").items() if kind}
    return each(kinds, lambda some: {**_share("accuracy", some, is_right), "questions": len(_questions(some))})


@figures
def confusion(scores: list[SampleScore]) -> dict[str, float]:
    """How often each class was taken for each, right class first: ``0_as_2`` or ``0_as_unreadable``.

    Classes are numbered in the order of the options' texts. Nothing for tasks other than the recognition of emotion,
    whose options alone are the same in every question.
    """
    if of_sample(scores[0], "task") != CONFUSED:
        return {}
    counts = {f"{right}_as_{taken}": 0.0 for right in CLASSES for taken in (*CLASSES, UNREADABLE)}
    for score in scores:
        # Logs of old hold no options; they stood in order.
        options: list[str] = (score.sample_metadata or {}).get("options", list(CLASSES))
        classes = {str(index): CLASSES[sorted(options).index(option)] for index, option in enumerate(options)}
        taken = classes[score.score.answer] if score.score.answer else UNREADABLE
        counts[f"{classes[_right(score)]}_as_{taken}"] += 1
    return counts


@figures
def number_figures(scores: list[SampleScore]) -> dict[str, float]:
    """How near numbers of measures come to the right ones.

    See `metrics.measures.count_figures`, and `metrics.measures.published_count_figures` for ``paper``.
    """
    if _is_paper(scores):
        readable = len(_questions([score for score in scores if score.score.answer is not None]))
        texts = [score.score.answer for score in scores]
        rights = [_right(score) for score in scores]
        return {**published_count_figures(texts, rights, len(_questions(scores)), readable), **_form(scores)}
    answers = [None if score.score.answer is None else int(score.score.answer) for score in scores]
    right = [int(_right(score)) for score in scores]
    return {**count_figures(answers, right, len(_questions(scores))), **_form(scores)}


@figures
def order_figures(scores: list[SampleScore]) -> dict[str, float]:
    """``tau``, the mean penalised Kendall τ, and ``exact``, the share of orders that are right.

    Under ``paper`` ``tau`` is `metrics.measures.published_tau`, and ``tau_ranks`` what strict calls ``tau``.
    """
    return {
        **mean("tau", _questions(scores)),
        **(mean("tau_ranks", _questions(scores, _sound)) if _is_paper(scores) else {}),
        **_share("exact", scores, _is_exact),
        **_form(scores),
    }


@figures
def error_figures(scores: list[SampleScore]) -> dict[str, float]:
    """F1 of the measures named, averaged over the categories of error; what is said of clean scores stands apart.

    Its interval takes the questions on one piece together, whatever their categories.
    ``exact`` is the share of corrupted scores whose wrong measures are named and no others; ``false_alarms`` that of
    the clean scores, if any, in which a measure is called wrong. Under ``paper`` ``macro_f1_all_numbers`` is of all
    numbers in the replies, of which the published reading keeps one.
    """
    found: dict[str, float] = {}
    kinds = grouped(scores, "kind")
    clean = kinds.pop(CLEAN, [])
    if kinds:
        found |= _macro("macro_f1", kinds)
        if _is_paper(scores):
            found |= _macro("macro_f1_all_numbers", kinds, _sound)
        found |= _share("exact", [score for some in kinds.values() for score in some], _is_exact)
    if clean:
        found |= _share("false_alarms", clean, lambda score: bool(measures_of(score.score.answer or "none")))
    return {**found, **_form(scores)}


@figures
def by_category(scores: list[SampleScore]) -> dict[str, float]:
    """Mean F1 of each category of error, and of the clean scores, as ``melodic_leap/f1``."""
    kinds = {kind: _questions(some) for kind, some in grouped(scores, "kind").items()}
    return each(kinds, lambda values: {**mean("f1", values), "questions": len(values)})


@scorer(metrics=[index_figures(), told_readings()])
def option_index(protocol: Protocol = "strict", reasoned: bool = False) -> Scorer:
    """Score the index of the chosen option: correct, incorrect, or no answer, which counts as incorrect.

    Args:
        protocol: how replies are read; see `music_evals.scorers.readers.written`.
        reasoned: whether the reply was to reason first and end in a line ``Answer: …``.
    """
    return _scorer(read_index, protocol, reasoned)


@scorer(
    metrics=[
        number_figures("exact", "exact_*", "within_1", "median_absolute_error", "in_form", "questions"),
        told_readings(),
    ]
)
def measure_count(protocol: Protocol = "strict", reasoned: bool = False) -> Scorer:
    """Score a number of measures: correct, incorrect, or no answer; arguments as for `option_index`."""
    return _scorer(read_number, protocol, reasoned)


@scorer(metrics=[order_figures("tau", "tau_low", "tau_high", "exact", "in_form", "questions"), told_readings()])
def measure_order(protocol: Protocol = "strict", reasoned: bool = False) -> Scorer:
    """Score an order of measures by the penalised Kendall τ, from 0 to 1; arguments as for `option_index`."""
    if protocol == "paper":
        sound_of: Callable[[str, str | None, str], float] = lambda _, *orders: penalised_tau(*orders)  # noqa: E731
        return _scorer(read_order, protocol, reasoned, published_tau, sound_of, "Kendall's τ as published")
    return _scorer(read_order, protocol, reasoned, penalised_tau, measure="Kendall's τ, penalised")


@scorer(
    metrics=[
        error_figures("macro_f1", "macro_f1_low", "macro_f1_high", "exact", "false_alarms", "in_form", "questions"),
        told_readings(),
    ]
)
def wrong_measures(protocol: Protocol = "strict", reasoned: bool = False) -> Scorer:
    """Score the measures that are called wrong by their F1; arguments as for `option_index`.

    It is 1 where none is wrong and none is named, 0 without an answer; under ``paper`` no answer names none.
    """

    def value(answer: str | None, right: str) -> float:
        answer = "none" if answer is None and protocol == "paper" else answer
        return measure_f1(None if answer is None else measures_of(answer), measures_of(right))

    def of_all(reply: str, _: str | None, right: str) -> float:
        return measure_f1(read_all_measures(reply, reasoned=reasoned), measures_of(right))

    return _scorer(read_measures, protocol, reasoned, value, of_all, "F1 of the measures")


def _scorer(
    read: Callable[..., Answer],
    protocol: str,
    reasoned: bool,
    value_of: Callable[[str | None, str], float] | None = None,
    sound_of: Callable[[str, str | None, str], float] | None = None,
    measure: str = "",
) -> Scorer:
    """Make a scorer of right and wrong answers, or of values from 0 to 1, and where ``paper``'s is not sound of one."""
    if protocol not in ("strict", "paper"):
        raise ValueError(f"protocol={protocol!r} is not valid; valid values are: strict, paper")

    async def score(state: TaskState, target: Target) -> Score:
        if why := state.store.get(NOT_MEASURED):
            return not_measured(why)
        right, reply = target.text, state.output.completion
        answer = await read_reply(partial(read, reasoned=reasoned), reply, protocol)
        value = value_of(answer.text, right) if value_of else None
        more: dict[str, Any] = {"right_answer": right, "in_form": answer.in_form}
        if protocol == "paper":
            more |= {"protocol": protocol, **({"sound": sound_of(reply, answer.text, right)} if sound_of else {})}
        reading = Reading(answer.status, answer.text, answer.rule)
        options = [choice.value for choice in state.choices]
        worth = "" if value is None else f"{value:.2f} ({measure})."
        return marked(reading, right, explained(state, options, right, reading, worth), value, **more)

    return score


def _form(scores: list[SampleScore]) -> dict[str, float]:
    """The shares that every kind of answer has, and how many questions there are."""
    return {
        "in_form": sum(bool((score.score.metadata or {})["in_form"]) for score in scores) / len(scores),
        "questions": len(_questions(scores)),
    }


def _share(name: str, scores: list[SampleScore], holds: Callable[[SampleScore], bool]) -> dict[str, float]:
    return share(name, sum(holds(score) for score in scores) / len(scores), len(_questions(scores)))


def _value(score: SampleScore) -> float:
    return float(is_right(score)) if isinstance(score.score.value, str) else score.score.as_float()


def _sound(score: SampleScore) -> float:
    return float((score.score.metadata or {})["sound"])


def _is_paper(scores: list[SampleScore]) -> bool:
    return all((score.score.metadata or {}).get("protocol") == "paper" for score in scores)


def _questions(scores: Iterable[SampleScore], value_of: Callable[[SampleScore], float] = _value) -> list[float]:
    """A value for each question, the mean over its runs."""
    found: dict[str | int, list[float]] = {}
    for score in scores:
        found.setdefault(score.sample_id or 0, []).append(value_of(score))
    return [sum(some) / len(some) for some in found.values()]


def _macro(
    name: str, kinds: Mapping[str, list[SampleScore]], value_of: Callable[[SampleScore], float] = _value
) -> dict[str, float]:
    """The mean of the kinds' means."""
    values = [value for some in kinds.values() for value in _questions(some, value_of)]
    asked = [{score.sample_id: of_sample(score, "piece") for score in some} for some in kinds.values()]
    pieces = [piece for some in asked for piece in some.values()]
    return mean(name, values, pieces, [kind for kind, some in zip(kinds, asked, strict=True) for _ in some])


def _is_exact(score: SampleScore) -> bool:
    return score.score.answer == _right(score)


def _right(score: SampleScore) -> str:
    return str((score.score.metadata or {})["right_answer"])
