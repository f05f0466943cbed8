"""Scorer for four-option questions, and its metrics.

The metrics are over all responses, not over means of epochs, because precision needs each response's own answer. They
go by the samples' metadata `theme`, `subtheme`, `question` and `rotation`.

Source: arXiv 2406.15885, sections 4.1, 5 and 6.1.
"""

from typing import Final, Literal

from inspect_ai.scorer import SampleScore, Score, Scorer, Target
from inspect_ai.solver import TaskState

from music_evals.scorers.explanations import explained
from music_evals.scorers.metrics import choices
from music_evals.scorers.metrics.choices import LETTERS, divergence, letter_shares
from music_evals.scorers.metrics.figures import each, share
from music_evals.scorers.readers.choices import first_letter, read_choice
from music_evals.scorers.scores import figures, grouped, is_right, marked, of_sample, read_reply, scorer, told_readings

Protocol = Literal["paper", "strict"]

_EUROPEAN: Final = "European music"


@figures
def choice_figures(scores: list[SampleScore]) -> dict[str, float]:
    """Accuracy (= recall), precision and F1 with 95% intervals; the share answered is one of `readings`."""
    return {name: value for name, value in _figures(scores).items() if name != "answered"}


@figures
def letter_figures(scores: list[SampleScore]) -> dict[str, float]:
    """Shares of the chosen letters, ``chosen_A``, and of the key's, ``key_A``, and how far they diverge, in bits."""
    chosen = letter_shares([score.score.answer for score in scores if score.score.answer])
    key = letter_shares([str((score.score.metadata or {})["key"]) for score in scores])
    if chosen is None or key is None:
        return {}
    return {
        **{f"chosen_{letter}": part for letter, part in zip(LETTERS, chosen, strict=True)},
        **{f"key_{letter}": part for letter, part in zip(LETTERS, key, strict=True)},
        "divergence_from_uniform": divergence(chosen, [0.25] * 4),
        "divergence_from_key": divergence(chosen, key),
    }


@figures
def bias_figures(scores: list[SampleScore]) -> dict[str, float]:
    """F1 where the paper looks for bias, as far as such questions were asked.

    ``other_regions_f1`` is the mean over the sub-themes of world ethnic music other than European.

    Source: arXiv 2406.15885, section 5 and Table 2.
    """
    themes = grouped(scores, "theme")
    regions = grouped(themes.get("world ethnic music", []), "subtheme")
    found = {
        "female_music_f1": themes.get("female music"),
        "black_african_music_f1": regions.get("Black African music"),
        "european_music_f1": regions.get(_EUROPEAN),
    }
    values = {name: _figures(some)["f1"] for name, some in found.items() if some}
    others = [_figures(some)["f1"] for region, some in regions.items() if region != _EUROPEAN]
    return {**values, "other_regions_f1": sum(others) / len(others)} if others else values


@figures
def by_theme(scores: list[SampleScore]) -> dict[str, float]:
    """The figures of each theme, as ``popular music/f1``."""
    return _figures_by(scores, "theme")


@figures
def by_subtheme(scores: list[SampleScore]) -> dict[str, float]:
    """The figures of each sub-theme, as ``popular music/blues/f1``."""
    return _figures_by(scores, "theme", "subtheme")


@figures
def by_rotation(scores: list[SampleScore]) -> dict[str, float]:
    """The figures of each rotation of the options, as ``rotation_0/accuracy``.

    ``consistent`` is the share of questions that were answered right whenever they were asked, with its interval. There
    is nothing where each question was asked in one order only.
    """
    if len(grouped(scores, "rotation")) < 2:
        return {}
    questions = grouped(scores, "question")
    right = sum(all(is_right(score) for score in some) for some in questions.values())
    return {
        **_figures_by(scores, "rotation", prefix="rotation_"),
        **share("consistent", right / len(questions), len(questions)),
    }


@scorer(metrics=[choice_figures("accuracy", "accuracy_*", "precision", "f1", "questions"), told_readings()])
def lettered_choice(protocol: Protocol = "strict") -> Scorer:
    """Score the letter that a reply chooses: correct, incorrect, or no answer, which counts as incorrect.

    Args:
        protocol: ``paper`` takes the first capital A to D, ``strict`` a letter that stands as an answer; see
            `music_evals.scorers.readers.choices`. Where the right text stands under several letters, ``strict`` has
            each of them right, and the text alone.

    Raises:
        ValueError: there is no such protocol.

    Source: arXiv 2406.15885, section 4.1.
    """
    if protocol not in ("paper", "strict"):
        raise ValueError(f"protocol={protocol!r} is not valid; valid values are: paper, strict")
    strict = protocol == "strict"

    async def score(state: TaskState, target: Target) -> Score:
        reply = state.output.completion
        options = [choice.value for choice in state.choices]
        if not strict:
            reading = await read_reply(first_letter, reply)
            told = explained(state, options, target.text, reading)
            return marked(reading, target.text, told, key=target.text)
        reading = await read_reply(read_choice, reply, options)
        right = options[LETTERS.index(target.text)]
        if reading.answer is None and options.count(right) > 1:
            # A text that stands twice names no letter; without its copies it is that of the key.
            alone = [
                right if letter == target.text else "" if option == right else option
                for letter, option in zip(LETTERS, options, strict=True)
            ]
            reading = await read_reply(read_choice, reply, alone)
        taken = reading.answer or target.text
        keyed = taken if options[LETTERS.index(taken)] == right else target.text
        return marked(reading, keyed, explained(state, options, keyed, reading), key=target.text)

    return score


def _figures(scores: list[SampleScore]) -> dict[str, float]:
    return choices.choice_figures(
        right=sum(is_right(score) for score in scores),
        answered=sum(score.score.answer is not None for score in scores),
        responses=len(scores),
        questions=len({of_sample(score, "question") for score in scores}),
    )


def _figures_by(scores: list[SampleScore], *names: str, prefix: str = "") -> dict[str, float]:
    return each({f"{prefix}{group}": some for group, some in grouped(scores, *names).items()}, _figures)
