"""Composes twelve questions on a score, three per level, whose answers the score itself gives."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, product
from random import Random
from typing import Any

from music_evals.datasets_builders import read_table
from music_evals.datasets_builders.msu.questions import harmony, notation, texture
from music_evals.datasets_builders.msu.questions.answerability import contains
from music_evals.datasets_builders.msu.questions.chained import draw_leads
from music_evals.datasets_builders.msu.questions.kind import Kind, Level, ScoreQuestion
from music_evals.datasets_builders.msu.questions.reading import read

_LEVELS: tuple[Level, ...] = (1, 2, 3, 4)
_DRAWS = {**notation.DRAWS, **harmony.DRAWS, **texture.DRAWS}
KINDS = [
    Kind(draw=_DRAWS[facts["name"]], **facts)
    for facts in read_table("msu/questions/kinds.toml")["kinds"]
]
PER_LEVEL = 3
# Guessing gains from yes/no questions; about one in four published questions is one.
_MOST_YES_NO = 1
# Most questions of a kind on a score.
_MOST_CANDIDATES = 16
# Most questions on a score above level 1 of difficulty.
_MOST_LED = 12
# Kinds whose questions list all answers to choose from.
_LISTING = frozenset(kind.name for kind in KINDS if kind.lists_answers)


class UnsuitableScoreError(ValueError):
    """The score does not give enough questions with one certain answer."""


Candidates = Mapping[str, Sequence[ScoreQuestion]]
"""Kind → the possible questions on a score, with different answers."""


def candidates(score: Any, *, seed: int, name: str, difficulty: int = 1) -> Candidates:
    """Draw the questions of all kinds on a score.

    The levels are those of MSU-Bench (section 3 of the paper). The kinds are of its types (appendix
    E), in our own words. Questions with ties, missing data or more than one interpretation are left
    out.

    Args:
        score: a music21 score.
        seed: any integer.
        name: of the score; seed and name decide the questions.
        difficulty: above 1, sentences lead to the measures of questions, see `chained`.

    Raises:
        UnsuitableScoreError: the score has no measures, or parts with different measures.
    """
    try:
        reading = read(score)
    except ValueError as error:
        raise UnsuitableScoreError(str(error)) from error
    rng = Random(f"{seed}/{name}")
    leads = draw_leads(reading, difficulty, rng) if difficulty > 1 else {}
    drawn = {
        kind.name: kind.questions(reading, Random(f"{seed}/{name}/{kind.name}"), leads)
        for kind in KINDS
        if kind.has_levels or difficulty == 1
    }
    return {kind: list(islice(questions, _MOST_CANDIDATES)) for kind, questions in drawn.items()}


def compose_evenly(pools: Mapping[str, Candidates]) -> Mapping[str, list[ScoreQuestion]]:
    """Compose up to twelve questions per score above level 1 of difficulty, on different measures.

    Every kind comes once, then the first kinds again. All answers are about equally frequent; of
    answers that are, the one that was drawn first is taken.
    """
    counts = Counter[str]()
    chosen = defaultdict[str, list[ScoreQuestion]](list)
    for kind, name in [*product(KINDS, pools)] * 2:
        leads = [question.lead for question in chosen[name]]
        pool = pools[name].get(kind.name, ())
        questions = [question for question in pool if question.lead not in leads]
        if questions and len(leads) < _MOST_LED:
            question = min(questions, key=lambda question: counts[question.answer])
            counts[question.answer] += 1
            chosen[name].append(question)
    return chosen


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
        # Kind → answer → questions.
        self._counts: dict[str, Counter[str]] = {kind.name: Counter() for kind in KINDS}
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
        for order in orders:
            chosen: list[ScoreQuestion] = []
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
        self, pool: Candidates, level: Level, rng: Random, earlier: Sequence[ScoreQuestion]
    ) -> list[ScoreQuestion]:
        questions = self._in_order(pool, level, rng)
        chosen: list[ScoreQuestion] = []
        for most_yes_no in (_MOST_YES_NO, PER_LEVEL):
            for question in questions:
                types = [other.answer_type for other in chosen]
                is_too_often = (
                    question.answer_type == "yes_no" and types.count("yes_no") >= most_yes_no
                )
                is_new = question.kind not in [other.kind for other in chosen]
                is_askable = len(chosen) < PER_LEVEL and is_new and not is_too_often
                if is_askable and _is_fair(question, [*earlier, *chosen]):
                    chosen.append(question)
        return chosen

    def _in_order(self, pool: Candidates, level: Level, rng: Random) -> list[ScoreQuestion]:
        """The questions of a level, those to be preferred first."""
        # Kinds with more weight tend to come first.
        kinds = [kind for kind in KINDS if kind.level == level]
        ranks = [(rng.random() ** (1 / kind.weight), kind.name) for kind in kinds]
        preferred: list[ScoreQuestion] = []
        frequent: list[ScoreQuestion] = []
        rest = []
        for _, name in sorted(ranks, reverse=True):
            counts = self._counts[name]
            questions = rng.sample(pool[name], len(pool[name]))
            questions.sort(key=lambda question: counts[question.answer])
            # An answer with at most its even share so far; a kind with a single answer is never
            # even.
            least = counts[questions[0].answer] if questions else 0
            is_even = len(counts) > 1 and least * len(counts) <= counts.total()
            (preferred if is_even else frequent).extend(questions[:1])
            rest += questions[1:]
        return [*preferred, *frequent, *rest]


def _is_fair(question: ScoreQuestion, questions: Iterable[ScoreQuestion]) -> bool:
    """Whether no question contains the answer."""
    may_contain_it = question.answer_type == "yes_no" or question.kind in _LISTING
    if not may_contain_it and contains(question.text, question.answer):
        return False
    return not any(
        _names_key(question, other) or _names_key(other, question) for other in questions
    )


def _names_key(question: ScoreQuestion, other: ScoreQuestion) -> bool:
    """Whether a question contains the key that another asks for."""
    return other.answer_type == "key" and contains(question.text, other.answer)
