"""Guessers that see no music: how often do they answer a dataset's questions?

A guesser scores each option of a question and takes the highest. Ties share the credit. Some
guessers follow a fixed rule, such as the longest option. Others count places or words in other
questions of the same form: *words* weighs the words of the options, and *question's words* pairs
them with the words of the question. Questions without options have two guessers: the commonest
answer of the form, and the answer of the question with the most similar words.

*letters* reads music: it takes the option that a model of the opening's letters finds likeliest. It
is a floor for models that read notation, not a blind guesser.

A guesser never learns from the questions that it is tried on. It learns from questions of another
seed, or from four fifths of a dataset's groups (pieces, works) for the last fifth.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import permutations, product
from operator import eq
from statistics import median
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from music_evals.datasets_builders.dataset_io.provenance import DatasetError
from music_evals.datasets_builders.questions.items import Item, vocabularies
from music_evals.notation.grouping import group_by

ALL = "all"
MARGIN = 0.03
"""How far above chance the upper bound of the best guesser may lie."""
GLARING = 0.999_999
"""Confidence that a single form can be guessed, at which questions are refused."""

_FOLDS = 5
_QUESTION_WORDS = 40  # at the end of a question, to be paired with the words of the options
_TOKEN = re.compile(r"[A-Za-z]+|\d+|[^\W\d_]|[#♯♭^=°ø/,']")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_LONGEST = 2000  # characters of a text that are read
_LONGEST_WORD = 40  # characters of an option that counts as a word of its own
_ORDER = 3  # of the model of letters
_ALPHABET = 100  # number of characters in ABC or LilyPond, about

Guess = Callable[[Item], Sequence[float]]
"""Gives each option a score; for a question without options, 1 for the right answer and else 0."""
Learn = Callable[[Sequence[Item]], Guess]
"""Makes a guess from other questions of the same form."""


class Share(NamedTuple):
    """The share of one form's questions that one guesser answers."""

    form: str
    guesser: str
    value: float  # from 0 to 1
    n: int
    chance: float
    units: int  # number of questions, where two languages of one question count once

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Wilson's interval of the share."""
        bounds = binomtest(round(self.value * self.units), self.units).proportion_ci(
            confidence, method="wilson"
        )
        return float(bounds.low), float(bounds.high)


def attack(
    items: Sequence[Item], learned: Sequence[Item] = (), guessers: Mapping[str, Learn] | None = None
) -> list[Share]:
    """Try guessers on questions, on each form and on all forms together.

    Args:
        items: the questions to guess.
        learned: questions to learn from; without any, four fifths of the groups for the last fifth.
        guessers: name → guesser for questions with options; default: `GUESSERS`.

    Returns:
        Shares by form, in the order of the questions, then those of `ALL` if there are several
        forms.
    """
    answers = answers_of([*items, *learned])
    chances = np.array([chance_of(item, answers) for item in items])
    earned = earnings(items, learned, guessers)
    forms = dict.fromkeys(item.form for item in items)
    shares: list[Share] = []
    for form in [*forms, ALL] if len(forms) > 1 else forms:
        of_form = np.array([form in (item.form, ALL) for item in items])
        for name, right in earned.items():
            own = np.flatnonzero(of_form & ~np.isnan(right)).tolist()
            if own:
                value, chance = float(right[own].mean()), float(chances[own].mean())
                units = len({items[at].unit for at in own})
                shares.append(Share(form, name, value, len(own), chance, units))
    return shares


def earnings(
    items: Sequence[Item], learned: Sequence[Item] = (), guessers: Mapping[str, Learn] | None = None
) -> dict[str, NDArray[np.float64]]:
    """Return what each guesser earns per question, from 0 to 1, and NaN for questions that it does
    not answer.

    The arguments are those of `attack`.
    """
    material = group_by(learned or items, _shape)
    groups = group_by(
        range(len(items)), lambda at: (_shape(items[at]), 0 if learned else fold(items[at]))
    )
    earned: defaultdict[str, NDArray[np.float64]] = defaultdict(
        lambda: np.full(len(items), math.nan)
    )
    for (shape, number), places in groups.items():
        alike = material.get(shape, [])
        if not learned:
            alike = [item for item in alike if fold(item) != number]
        applicable = (guessers or GUESSERS) if items[places[0]].options else OPEN_GUESSERS
        for name, learn in applicable.items():
            guess = learn(alike)
            for at in places:
                item = items[at]
                if item.opening or name not in READERS:
                    are_right = [option == item.answer for option in item.options]
                    scores = guess(item)
                    earned[name][at] = credit(scores, are_right) if are_right else scores[0]
    return earned


def _shape(item: Item) -> tuple[str, int]:
    return item.form, len(item.options)


def credit(scores: Sequence[float], are_right: Sequence[bool]) -> float:
    """Return what the choice with the highest score earns; choices with equal scores share it."""
    highest = max(scores) - 1e-9
    picks = [score >= highest for score in scores]
    return sum(map(all, zip(picks, are_right, strict=True))) / sum(picks)


def answers_of(items: Iterable[Item]) -> dict[str, list[str]]:
    """Return the answers to the open questions of each kind, over all levels and splits: see
    `vocabularies`.
    """
    open_items = [item for item in items if not item.options]
    return vocabularies((_kind_of(item), item.answer_type, item.answer) for item in open_items)


def _kind_of(item: Item) -> str:
    return item.kind or item.answer_type or item.form


def chance_of(item: Item, answers: Mapping[str, Sequence[str]]) -> float:
    """Return what a random guess earns, from 0 to 1: among the options, or among the answers to the
    kind.
    """
    if item.options:
        return item.options.count(item.answer) / len(item.options)
    return 1 / len(answers[_kind_of(item)])


def fold(item: Item) -> int:
    """Return the fifth of its dataset, 0 to 4, that a question is tried in."""
    return crc32(item.group.encode()) % _FOLDS


def best(shares: Iterable[Share]) -> dict[str, Share]:
    """Return the best guesser of each form. It is chosen in hindsight, so luck lifts it a little
    above chance.
    """
    favourites: dict[str, Share] = {}
    for share in shares:
        favourite = favourites.setdefault(share.form, share)
        if share.value > favourite.value:
            favourites[share.form] = share
    return favourites


def refuse_guessable(name: str, learned: Sequence[Item], fresh: Sequence[Item]) -> None:
    """Raise DatasetError, which calls the questions `name`, if composed questions can be guessed
    from their options.

    The guesser of each form is chosen and taught on `learned`, questions of one seed, so that luck
    does not count against `fresh`, questions of another seed. On all of `fresh` its upper bound
    (Wilson's, 95%) must lie at most `MARGIN` above chance. Sound questions are refused in one of
    70,000 sets of 8,000, and in one of seven sets of 2,000. A single form has too few questions for
    that bound: it is refused if its lower bound, at the confidence `GLARING`, lies above the
    margin.
    """
    chosen = best(attack(learned, guessers=OPTIONS_ALONE))
    for share in attack(fresh, learned, OPTIONS_ALONE):
        if share.form not in chosen or share.guesser != chosen[share.form].guesser:
            continue
        covers_all = share.form == ALL or len(chosen) == 1
        bound = share.interval()[1] if covers_all else share.interval(GLARING)[0]
        if bound > share.chance + MARGIN:
            raise DatasetError(
                f"{name} can be guessed: of the form '{share.form}' the guesser '{share.guesser}' "
                f"gets {share.value:.1%} of {share.n} right, where chance is {share.chance:.0%}; "
                f"accepted are {MARGIN:.0%} above it"
            )


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text[:_LONGEST].lower())


# --- fixed rules ---


def _rule(measure: Callable[[tuple[str, ...]], Iterable[float]], sign: int = 1) -> Learn:
    return lambda _: lambda item: [sign * value for value in measure(item.options)]


@lru_cache(2**14)
def _likenesses(options: tuple[str, ...]) -> list[float]:
    """Compare each option with the others: tokens in the same place, and tokens in common."""
    totals = [0.0] * len(options)
    for (place, first), (_, second) in permutations(enumerate(map(_tokens, options)), 2):
        common = (Counter(first) & Counter(second)).total()
        totals[place] += sum(map(eq, first, second)) / max(len(first), len(second), 1)
        totals[place] += common / max(len(first) + len(second) - common, 1)
    return totals


def _distances_from_median(options: tuple[str, ...]) -> list[float]:
    """Measure how far the first number of each option is from the median; 0 if an option has no
    number.
    """
    numbers = [float(match[0]) for option in options if (match := _NUMBER.search(option))]
    if len(numbers) < len(options):
        return [0.0] * len(options)
    return [abs(number - median(numbers)) for number in numbers]


# --- guessers that count ---


def _commonest_place(items: Sequence[Item]) -> Guess:
    places = Counter(item.options.index(item.answer) for item in items)
    return lambda item: [places[at] for at in range(len(item.options))]


def _words(terms: Callable[[Item, str], Sequence[str]]) -> Learn:
    """Weigh terms by how much more often they occur in right options than in wrong options."""

    def learn(items: Sequence[Item]) -> Guess:
        right: Counter[str] = Counter()
        wrong: Counter[str] = Counter()
        n_wrong = 0
        for item in items:
            n_wrong += len(item.options) - 1
            for option in item.options:
                counts = right if option == item.answer else wrong
                counts.update(terms(item, option))
        ratio = n_wrong / max(len(items), 1) or 1.0

        def score(item: Item, option: str) -> float:
            own = terms(item, option)
            weights = (math.log((right[term] + 1) * ratio / (wrong[term] + ratio)) for term in own)
            return sum(weights) / math.sqrt(len(own) or 1)

        return lambda item: [score(item, option) for option in item.options]

    return learn


def _own_terms(_: Item, option: str) -> Sequence[str]:
    terms = {*_tokens(option)}
    # A long option, such as a tune's bars, is right in one question and wrong in others: it would
    # mislead as a word.
    if len(option) <= _LONGEST_WORD:
        terms.add(option)
    return sorted(terms)


def _paired_terms(item: Item, option: str) -> Sequence[str]:
    question = {*_tokens(item.question[-_LONGEST:])[-_QUESTION_WORDS:]}
    own = {*_tokens(option)[:_QUESTION_WORDS]}
    pairs = [f"{word} {term}" for word, term in product(question, own)]
    return [*own, *["shared"] * len(own & question), *pairs]


def _commonest_answer(items: Sequence[Item]) -> Guess:
    counts = Counter(item.answer for item in items).most_common(1)
    return lambda item: [float(bool(counts) and item.answer == counts[0][0])]


def _answer_of_the_most_similar_question(items: Sequence[Item]) -> Guess:
    """Take the commonest answer to the wording that has the largest share of words in common."""
    answers: defaultdict[frozenset[str], Counter[str]] = defaultdict(Counter)
    for item in items:
        answers[frozenset(_tokens(item.question))][item.answer] += 1

    @cache
    def answer(words: frozenset[str]) -> str:
        def likeness(wording: frozenset[str]) -> float:
            return (len(words & wording) + 1) / (len(words | wording) + 1)

        nearest = answers[max(answers, key=likeness, default=words)]
        return max(nearest, key=lambda text: nearest[text], default="")

    return lambda item: [float(item.answer == answer(frozenset(_tokens(item.question))))]


def _likeliest_letters(_: Sequence[Item]) -> Guess:
    """Score options by a trigram model of the opening's letters, as the mean log likelihood of a
    letter.

    Each order is smoothed by the next lower one, with a weight of one observation (MacKay and Peto
    1995).
    """

    def likelihood(opening: str, option: str) -> float:
        orders = range(1, _ORDER + 1)
        counts = Counter({"": len(opening) + 1})
        for n in orders:
            counts.update(opening[at : at + n] for at in range(len(opening) - n + 1))
        text = opening[1 - _ORDER :] + option
        total = 0.0
        for end in range(len(text) - len(option) + 1, len(text) + 1):
            chance = 1 / _ALPHABET
            for n in orders:
                run = text[end - n : end]
                chance = (counts[run] + chance) / (counts[run[:-1]] + 1)
            total += math.log(chance)
        return total / max(len(option), 1)

    return lambda item: [
        likelihood(item.opening[-_LONGEST:], option[:_LONGEST]) for option in item.options
    ]


OPTIONS_ALONE: Mapping[str, Learn] = {
    "most like the others": _rule(_likenesses),
    "odd one out": _rule(_likenesses, -1),
    "longest": _rule(lambda options: map(len, options)),
    "shortest": _rule(lambda options: map(len, options), -1),
    "median number": _rule(_distances_from_median, -1),
    "commonest place": _commonest_place,
    "words": _words(_own_terms),
}
"""Guessers that see nothing but the options."""
LETTERS = "letters"
BAR_LINES = "bar lines"
READERS = (LETTERS, BAR_LINES)
"""Guessers that read the music, without any understanding of it."""
GUESSERS: Mapping[str, Learn] = {
    **OPTIONS_ALONE,
    "question's words": _words(_paired_terms),
    LETTERS: _likeliest_letters,
}
OPEN_GUESSERS: Mapping[str, Learn] = {
    "commonest answer": _commonest_answer,
    "question's words": _answer_of_the_most_similar_question,
    BAR_LINES: lambda _: lambda item: [float(item.answer == str(item.opening.count("|")))],
}
"""Guessers for questions without options."""
