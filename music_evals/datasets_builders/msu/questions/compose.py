"""Composes twelve questions on a score, three per level, whose answers the score itself gives."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from random import Random
from typing import Any, Final

from music_evals.datasets_builders.msu.questions import harmony, notation, texture
from music_evals.datasets_builders.msu.questions.answerability import contains
from music_evals.datasets_builders.msu.questions.kind import Kind, Level, ScoreQuestion
from music_evals.datasets_builders.msu.questions.reading import read

KINDS: Final[tuple[Kind, ...]] = (*notation.KINDS, *harmony.KINDS, *texture.KINDS)
PER_LEVEL: Final = 3
# Guessing gains from yes/no questions; about one in four published questions is one.
_MOST_YES_NO: Final = 1
# Most questions of a kind on a score.
_MOST_CANDIDATES: Final = 16
_LEVELS: Final[tuple[Level, ...]] = (1, 2, 3, 4)


class UnsuitableScoreError(ValueError):
    """The score does not give enough questions with one certain answer."""


Candidates = Mapping[str, Sequence[ScoreQuestion]]
"""Kind → the possible questions on a score, with different answers."""


def candidates(score: Any, *, seed: int, name: str) -> Candidates:
    """Draw the questions of all kinds on a score.

    The levels are those of MSU-Bench (section 3 of the paper). The kinds are of its types (appendix
    E), in our own words. Questions with ties, missing data or more than one interpretation are left
    out.

    Args:
        score: a music21 score.
        seed: any integer.
        name: of the score; seed and name decide the questions.

    Raises:
        UnsuitableScoreError: the score has no measures, or parts with different measures.
    """
    try:
        reading = read(score)
    except ValueError as error:
        raise UnsuitableScoreError(str(error)) from error
    return {
        kind.name: list(
            islice(kind.questions(reading, Random(f"{seed}/{name}/{kind.name}")), _MOST_CANDIDATES)
        )
        for kind in KINDS
    }


class Composer:
    """Composes the questions on the scores of a split, so that all answers of a kind are about
    equally frequent.

    No guess then fits many questions of a kind. Among the answers that a score allows, the composer
    takes the one that is least frequent so far. If that one is already frequent, it prefers other
    kinds. Every split has its own composer, so that its questions do not depend on other splits.
    """

    def __init__(self, pools: Iterable[Candidates], seed: int) -> None:
        """Take the candidates of all scores of the split, and the seed."""
        self._seed = seed
        self._counts: dict[str, Counter[str]] = {
            kind.name: Counter() for kind in KINDS
        }  # kind → answer → questions
        for pool in pools:
            for kind, questions in pool.items():
                self._counts[kind].update({question.answer: 0 for question in questions})

    def compose(self, name: str, pool: Candidates) -> list[ScoreQuestion]:
        """Compose twelve questions on a score, three per level, all of different kinds.

        No question contains its own answer, or a key that another question asks for. The seed, the
        name of the score and the earlier questions decide the choice.

        Raises:
            UnsuitableScoreError: the score gives fewer questions.
        """
        rng = Random(f"{self._seed}/{name}/questions")
        # The first level can ask for the key; the later ones must not mention it. The second order
        # helps level 3.
        orders: list[list[Level]] = [rng.sample(_LEVELS, len(_LEVELS)), [3, 1, 2, 4]]
        chosen: list[ScoreQuestion] = []
        for order in orders:
            chosen = []
            for level in order:
                chosen += self._choose(pool, level, rng, chosen)
            if len(chosen) == PER_LEVEL * len(_LEVELS):
                for question in chosen:
                    self._counts[question.kind][question.answer] += 1
                return sorted(chosen, key=lambda question: question.level)
        counts = Counter(question.level for question in chosen)
        short = [
            f"level {level} has {counts[level]}" for level in _LEVELS if counts[level] < PER_LEVEL
        ]
        raise UnsuitableScoreError(
            f"the score gives too few sure questions: {', '.join(short)} of {PER_LEVEL}"
        )

    def _choose(
        self, pool: Candidates, level: Level, rng: Random, earlier: list[ScoreQuestion]
    ) -> list[ScoreQuestion]:
        # Kinds with more weight tend to come first.
        keys = {
            kind: (rng.random() ** (1 / kind.weight), kind.name)
            for kind in KINDS
            if kind.level == level
        }
        preferred: list[tuple[Kind, ScoreQuestion]] = []
        frequent: list[tuple[Kind, ScoreQuestion]] = []
        rest: list[tuple[Kind, ScoreQuestion]] = []
        for kind in sorted(keys, reverse=True, key=keys.__getitem__):
            counts, shuffled = (
                self._counts[kind.name],
                rng.sample(pool[kind.name], len(pool[kind.name])),
            )
            if shuffled:
                first, *alternatives = sorted(
                    shuffled, key=lambda question: counts[question.answer]
                )
                # An answer with at most its even share so far; a kind with a single answer is never
                # even.
                is_even = len(counts) > 1 and counts[first.answer] * len(counts) <= counts.total()
                (preferred if is_even else frequent).append((kind, first))
                rest += [(kind, question) for question in alternatives]
        chosen: list[ScoreQuestion] = []
        for most_yes_no in (_MOST_YES_NO, PER_LEVEL):
            for kind, question in (*preferred, *frequent, *rest):
                if len(chosen) == PER_LEVEL:
                    return chosen
                n_yes_no = sum(other.answer_type == "yes_no" for other in chosen)
                is_new = all(kind.name != other.kind for other in chosen)
                may_be_asked = is_new and (kind.answer_type != "yes_no" or n_yes_no < most_yes_no)
                if may_be_asked and _is_fair(question, kind, [*earlier, *chosen]):
                    chosen.append(question)
        return chosen


def _is_fair(question: ScoreQuestion, kind: Kind, others: list[ScoreQuestion]) -> bool:
    """Whether no question contains the answer."""
    if (
        question.answer_type != "yes_no"
        and not kind.lists_answers
        and contains(question.text, question.answer)
    ):
        return False
    keys = [other.answer for other in others if other.answer_type == "key"]
    if any(contains(question.text, key) for key in keys):
        return False
    return question.answer_type != "key" or not any(
        contains(other.text, question.answer) for other in others
    )
