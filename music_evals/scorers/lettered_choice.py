"""Scorer for four-option questions, and its metrics.

One scorer reads the letter; the metrics take all else from the scores and from the samples' metadata (`theme`,
`subtheme`, `question`, `rotation`), so that a run of thousands of questions spends no noticeable time in them. They
are computed over all responses, not over means of epochs, because precision needs each response's own answer.

Source: arXiv 2406.15885, sections 4.1, 5 and 6.1.
"""

from collections.abc import Iterable
from typing import Final, Literal

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

from music_evals.scorers.letters import first_letter, standing_letter
from music_evals.scorers.metrics import choices
from music_evals.scorers.metrics.choices import LETTERS, divergence, letter_shares
from music_evals.scorers.metrics.proportion import wilson_interval

Protocol = Literal["paper", "strict"]

FEMALE: Final = "female music"
WORLD: Final = "world ethnic music"
AFRICAN: Final = "Black African music"
EUROPEAN: Final = "European music"
"""Themes and sub-themes whose F1 the paper compares, by their English names in the dataset."""

_UNIFORM: Final = (0.25, 0.25, 0.25, 0.25)


@metric(scores="unreduced")
def choice_figures() -> Metric:
    """Accuracy (= recall), precision and F1 with 95% intervals, and the share answered.

    Returns:
        The metric: the figures of `metrics.choices.choice_figures`; nothing where nothing was scored.

    Source: arXiv 2406.15885, section 4.1.
    """

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        return _figures(scores)

    return compute


@metric(scores="unreduced")
def letter_figures() -> Metric:
    """The shares of the chosen letters and of the key's, and how far the chosen ones diverge.

    Returns:
        The metric: ``chosen_A`` … ``chosen_D`` among the answers given, ``key_A`` … ``key_D``, and the Jensen-Shannon
        divergences ``divergence_from_uniform`` and ``divergence_from_key``, in bits.

    Source: arXiv 2406.15885, section 6.1 (a model that "guesses" by one letter).
    """

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        chosen = letter_shares([score.score.answer for score in scores if score.score.answer])
        key = letter_shares([_key(score) for score in scores])
        if chosen is None or key is None:
            return {}
        return {
            **{f"chosen_{letter}": share for letter, share in zip(LETTERS, chosen, strict=True)},
            **{f"key_{letter}": share for letter, share in zip(LETTERS, key, strict=True)},
            "divergence_from_uniform": divergence(chosen, _UNIFORM),
            "divergence_from_key": divergence(chosen, key),
        }

    return compute


@metric(scores="unreduced")
def bias_figures() -> Metric:
    """F1 where the paper looks for bias: female music, and regions of world ethnic music.

    Returns:
        The metric: ``female_music_f1``, ``black_african_music_f1``, ``european_music_f1``, and ``other_regions_f1``,
        the mean of F1 over the sub-themes of world ethnic music other than European; each only where such questions
        were asked.

    Source: arXiv 2406.15885, section 5 and Table 2.
    """

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        themes = _grouped(scores, ["theme"])
        regions = _grouped((score for score in scores if _of(score, "theme") == WORLD), ["subtheme"])
        found = {
            "female_music_f1": themes.get(FEMALE),
            "black_african_music_f1": regions.get(AFRICAN),
            "european_music_f1": regions.get(EUROPEAN),
        }
        figures = {name: _figures(some)["f1"] for name, some in found.items() if some}
        others = [_figures(some)["f1"] for region, some in regions.items() if region != EUROPEAN]
        if others:
            figures["other_regions_f1"] = sum(others) / len(others)
        return figures

    return compute


@metric(scores="unreduced")
def by_theme() -> Metric:
    """The figures of each theme, as ``popular music/f1``.

    Returns:
        The metric.
    """

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        return _figures_by(scores, ["theme"])

    return compute


@metric(scores="unreduced")
def by_subtheme() -> Metric:
    """The figures of each sub-theme, as ``popular music/blues/f1``.

    Returns:
        The metric.
    """

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        return _figures_by(scores, ["theme", "subtheme"])

    return compute


@metric(scores="unreduced")
def by_rotation() -> Metric:
    """The figures of each rotation of the options, and how many questions are right under all of them.

    Returns:
        The metric: ``rotation_0/accuracy`` and so on, and ``consistent`` with its interval: the share of questions
        that were answered right whenever they were asked. Nothing where each question was asked in one order only.
    """

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        rotations = _grouped(scores, ["rotation"])
        if len(rotations) < 2:
            return {}
        questions = _grouped(scores, ["question"])
        right = sum(all(_is_right(score) for score in some) for some in questions.values())
        low, high = wilson_interval(right / len(questions), len(questions))
        return {
            **_figures_by(scores, ["rotation"], prefix="rotation_"),
            "consistent": right / len(questions),
            "consistent_low": low,
            "consistent_high": high,
        }

    return compute


@scorer(metrics=[choice_figures(), letter_figures(), bias_figures(), by_theme(), by_subtheme(), by_rotation()])
def lettered_choice(protocol: Protocol = "strict") -> Scorer:
    """Score the letter that a reply chooses.

    Args:
        protocol: ``paper`` takes the first capital A to D, ``strict`` a letter that stands as an answer; see
            `music_evals.scorers.letters`.

    Returns:
        The scorer: correct, incorrect, or no answer (which counts as incorrect, and lowers recall alone).

    Raises:
        ValueError: there is no such protocol.

    Source: arXiv 2406.15885, section 4.1.
    """
    if protocol not in ("paper", "strict"):
        raise ValueError(f"protocol={protocol!r} is not valid; valid values are: paper, strict")
    strict = protocol == "strict"

    async def score(state: TaskState, target: Target) -> Score:
        reply = state.output.completion
        letter = standing_letter(reply, [choice.value for choice in state.choices]) if strict else first_letter(reply)
        if letter is None:
            return Score(
                value=NOANSWER,
                explanation=f"Expected {target.text}; the reply holds no answer.",
                metadata={"key": target.text},
                reason="invalid_response_format" if reply.strip() else "no_response",
            )
        return Score(
            value=CORRECT if letter == target.text else INCORRECT,
            answer=letter,
            explanation=f"Expected {target.text}; the reply answers {letter}.",
            metadata={"key": target.text},
        )

    return score


def _figures(scores: list[SampleScore]) -> dict[str, float]:
    if not scores:
        return {}
    return choices.choice_figures(
        right=sum(_is_right(score) for score in scores),
        answered=sum(score.score.answer is not None for score in scores),
        responses=len(scores),
        questions=len({_of(score, "question") for score in scores}),
    )


def _figures_by(scores: list[SampleScore], names: list[str], prefix: str = "") -> dict[str, float]:
    return {
        f"{prefix}{group}/{figure}": value
        for group, some in _grouped(scores, names).items()
        for figure, value in _figures(some).items()
    }


def _grouped(scores: Iterable[SampleScore], names: list[str]) -> dict[str, list[SampleScore]]:
    """Group scores by metadata of their samples; the groups in order of their names."""
    groups: dict[str, list[SampleScore]] = {}
    for score in scores:
        groups.setdefault("/".join(_of(score, name) for name in names), []).append(score)
    return dict(sorted(groups.items()))


def _of(score: SampleScore, name: str) -> str:
    return str((score.sample_metadata or {})[name])


def _is_right(score: SampleScore) -> bool:
    return score.score.value == CORRECT


def _key(score: SampleScore) -> str:
    return str((score.score.metadata or {})["key"])
