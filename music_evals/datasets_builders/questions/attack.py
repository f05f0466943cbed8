"""An attack on questions: how often are they answered by guessers that know no music and see none?

A guesser gives each option a score, and the highest is its guess; ties share the credit. Rules look at
the options alone: likeness to the others, length, number. Three guessers learn, form by form, from other questions:
*features* is a conditional logit over such properties of the options, *words* weighs the options' own words, and
*question's words* pairs them with those of the question, without its music. Of questions without options there is one
are two guessers: the commonest answer of the form, and that of the questions that are worded most alike.

One more reads music: of options that go on with a tune, *letters* takes the one whose letters a model of the opening's
finds likeliest. It is a floor for models that read, and no blind guesser.

What is learned is learned on other questions than it is tried on: on those of another seed, or on four fifths of a
dataset's groups (pieces, works) for the fifth.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from heapq import nlargest
from itertools import combinations, product
from operator import eq
from typing import Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import binomtest

from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.questions.items import Item

ALL: Final = "all"
MARGIN: Final = 0.03
"""How far above chance the upper bound of the best guesser may lie."""
GLARING: Final = 0.999_999  # confidence with which a single form must be guessable, where too few are of it for bounds

_FOLDS: Final = 5
_QUESTION_WORDS: Final = 40  # of a question, from its end, that are paired with the options'
_TOKEN: Final = re.compile(r"[A-Za-z]+|\d+|[^\W\d_]|[#♯♭^=°ø/,']")
_NUMBERS: Final = re.compile(r"\d+(?:[./]\d+)?")
_MOST: Final = 2000  # characters of a text that are looked at
_ALIKE: Final = 5  # wordings of questions whose answers count
_WORD: Final = 40  # characters of an option that counts as a word of its own
_ORDER: Final = 3  # of the model of letters
_ALPHABET: Final = 100  # different ones that music in letters has, about
_SIGN: Final = re.compile(r"sharp|flat|[升降#♯♭^]")

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Share:
    """What one guesser gets of one form's questions."""

    form: str
    guesser: str
    right: float  # fractional where ties were split
    n: int
    chance: float
    units: int  # questions that are not versions of each other, as one in two languages is

    @property
    def value(self) -> float:
        """The proportion that is right."""
        return self.right / self.n

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Wilson's interval of the proportion."""
        found = binomtest(round(self.value * self.units), self.units).proportion_ci(confidence, method="wilson")
        return float(found.low), float(found.high)


Scores = Callable[[Sequence[Item]], Array]  # items → a score for each option of each
Learn = Callable[[Sequence[Item]], Scores]


def attack(items: Sequence[Item], learned: Sequence[Item] = (), guessers: Collection[str] | None = None) -> list[Share]:
    """Try guessers on questions, form by form and on all together.

    Args:
        items: the questions to guess.
        learned: questions to learn from; without any, each fifth of the groups is tried on what the others taught.
        guessers: names of those to try; all, where None.

    Returns:
        Shares by form, in the order of the questions, those of `ALL` last; a form of its own has no line for all.
    """
    earned = earnings(items, learned, guessers)
    answers = answers_of([*items, *learned])
    forms = list(dict.fromkeys(item.form for item in items))
    forms += [ALL] if len(forms) > 1 else []
    found = []
    for form, (name, right) in product(forms, earned.items()):
        credited = [(item, credit) for item, credit in zip(items, right, strict=True) if form in (item.form, ALL)]
        found.append(_share(form, name, [pair for pair in credited if not math.isnan(pair[1])], answers))
    return [share for share in found if share.n]


def earnings(
    items: Sequence[Item], learned: Sequence[Item] = (), guessers: Collection[str] | None = None
) -> dict[str, Array]:
    """Return what each guesser earns on each question, from 0 to 1; NaN where it is none for such a question.

    Arguments are as of `attack`.
    """
    earned: dict[str, Array] = {}
    folds = np.array([fold(item) for item in items])
    for number in [-1] if learned else range(_FOLDS):
        known = learned or [item for item, own in zip(items, folds, strict=True) if own != number]
        taught = _alike(known)
        tried = [at for at, own in enumerate(folds) if number in (-1, own)]
        for kind, mine in _alike([items[at] for at in tried]).items():
            places = [at for at in tried if _kind(items[at]) == kind]
            for name, learn in _guessers(mine[0]).items():
                if guessers is None or name in guessers:
                    scores = learn(taught.get(kind, []))(mine)
                    earned.setdefault(name, np.full(len(items), math.nan))[places] = [*map(_credit, mine, scores)]
    return earned


def answers_of(items: Iterable[Item]) -> Counter[str]:
    """Return how many different answers the questions of each form have, forms in order."""
    return Counter(form for form, _ in dict.fromkeys((item.form, item.answer) for item in items))


def chance_of(item: Item, answers: Mapping[str, int]) -> float:
    """Return what a guess earns, from 0 to 1: among the options, or the answers that questions of the form have."""
    return item.options.count(item.answer) / len(item.options) if item.options else 1 / answers[item.form]


def fold(item: Item) -> int:
    """Return which fifth of its dataset a question is tried in."""
    return crc32(item.group.encode()) % _FOLDS


def best(shares: Iterable[Share]) -> dict[str, Share]:
    """Return the best guesser of each form: the best of several by hindsight, so somewhat above chance by accident."""
    found: dict[str, Share] = {}
    for share in shares:
        if share.form not in found or share.value > found[share.form].value:
            found[share.form] = share
    return found


def refuse_guessable(what: str, learned: Sequence[Item], fresh: Sequence[Item], *, guessers: Sequence[str]) -> None:
    """Raise DatasetError where composed questions can be guessed.

    Each form's guesser is chosen and taught on `learned` alone, so that no luck of the draw counts against `fresh`. On
    all of `fresh` its upper bound (Wilson's, 95%) must not lie more than `MARGIN` above chance: of sets of 8,000 that
    nobody can guess, one in 70,000 is refused, of 2,000 one in seven. A single form of such a set is too small for
    that; it is refused where its lower bound, at the confidence `GLARING`, lies above that margin.

    Args:
        what: names the questions, in the error.
        learned: questions of one seed.
        fresh: those of another.
        guessers: the names of those that count.
    """
    # Not every other one: composers ask their kinds in turn.
    tried, taught = ([item for item in learned if crc32(item.unit.encode()) % 2 == half] for half in (0, 1))
    chosen = best(attack(tried, taught, guessers))
    found = {(share.form, share.guesser): share for share in attack(fresh, learned, guessers)}
    for form, favourite in chosen.items():
        share = found.get((form, favourite.guesser))
        if share is None:
            continue
        bound = share.interval()[1] if form == ALL or len(chosen) == 1 else share.interval(GLARING)[0]
        if bound > share.chance + MARGIN:
            raise DatasetError(
                f"{what} can be guessed: of the form '{form}' the guesser '{share.guesser}' gets {share.value:.1%} of "
                f"{share.n} right, where chance is {share.chance:.0%}; accepted are {MARGIN:.0%} above it"
            )


def _kind(item: Item) -> tuple[str, int]:
    return item.form, len(item.options)


def _alike(items: Iterable[Item]) -> dict[tuple[str, int], list[Item]]:
    found: dict[tuple[str, int], list[Item]] = {}
    for item in items:
        found.setdefault(_kind(item), []).append(item)
    return found


def _guessers(item: Item) -> Mapping[str, Learn]:
    """Those for questions like this one."""
    if not item.options:
        return OPEN_GUESSERS
    return {**GUESSERS, **READERS} if item.opening else GUESSERS


def _credit(item: Item, scores: Array) -> float:
    if not item.options:
        return float(scores[0])
    highest = np.flatnonzero(scores >= scores.max() - 1e-9)
    # Two options of one text are right together.
    return sum(item.options[at] == item.answer for at in highest) / len(highest)


def _share(form: str, guesser: str, credited: Sequence[tuple[Item, float]], answers: Mapping[str, int]) -> Share:
    n, chance = len(credited), sum(chance_of(item, answers) for item, _ in credited)
    right = sum(credit for _, credit in credited)
    return Share(form, guesser, right, n, chance / max(n, 1), len({item.unit for item, _ in credited}))


# --- what a guesser sees of the options ---

_LIKENESS, _NEAREST, _LENGTH, _WORDS, _SIGNS, _NUMBER = range(6)  # columns of what is measured of each option


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text[:_MOST].lower())


@lru_cache(2**17)
def _measured(options: tuple[str, ...]) -> Array:
    """Measure each option: likeness to the others and to the nearest, length, words, accidentals, first number."""
    split = [_tokens(option) for option in options]
    bags = [Counter(tokens) for tokens in split]
    like = np.zeros((len(options), len(options)))
    for i, j in combinations(range(len(options)), 2):
        longest, shared = max(len(split[i]), len(split[j]), 1), (bags[i] & bags[j]).total()
        in_place = sum(map(eq, split[i], split[j])) / longest
        like[i, j] = like[j, i] = in_place + shared / max(len(split[i]) + len(split[j]) - shared, 1)
    numbers = [_NUMBERS.search(option) for option in options]
    values = [_value(match[0]) for match in numbers if match]
    return np.stack(
        [
            like.sum(axis=0),
            like.max(axis=0, initial=0),
            [len(option) for option in options],
            [len(tokens) for tokens in split],
            [len(_SIGN.findall(option)) for option in options],
            values if len(values) == len(options) else np.zeros(len(options)),
        ],
        axis=1,
    )


def _value(number: str) -> float:
    top, _, below = number.partition("/")
    return float(top) / max(float(below or 1), 1)


def _all_measured(items: Sequence[Item]) -> Array:
    return np.stack([_measured(item.options) for item in items])


def _features(items: Sequence[Item]) -> Array:
    """Properties of each option, against the mean of its question: items × options × properties."""
    values = _all_measured(items)
    spread = values.std(axis=1, keepdims=True)
    values = (values - values.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1)
    low, high = values.min(axis=1, keepdims=True), values.max(axis=1, keepdims=True)
    middle = np.abs(values - np.median(values, axis=1, keepdims=True))
    places = np.broadcast_to(np.eye(values.shape[1]), (len(items), values.shape[1], values.shape[1]))
    found = np.concatenate([values, middle, values**2, values == low, values == high, places], axis=2)
    centred: Array = found - found.mean(axis=1, keepdims=True)
    return centred


# --- guessers that learn ---


def _learn_features(items: Sequence[Item]) -> Scores:
    """Fit a conditional logit (McFadden 1974) with a small penalty."""
    if not items:
        return _indifferent
    x = _features(items)
    scale = x.std(axis=(0, 1)) + 1e-6
    x = x / scale
    rows, at = np.arange(len(items)), np.array([item.options.index(item.answer) for item in items])

    def loss(weights: Array) -> tuple[float, Array]:
        logits = x @ weights
        chances = np.exp(logits - logits.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        gradient = np.einsum("io,iof->f", chances, x) - x[rows, at].sum(axis=0)
        return float(-np.log(chances[rows, at] + 1e-300).sum() + 2 * weights @ weights), gradient + 4 * weights

    weights = minimize(loss, np.zeros(x.shape[2]), jac=True, method="L-BFGS-B", options={"maxiter": 60}).x / scale
    return lambda tried: _features(tried) @ weights


@dataclass(slots=True)
class _Words:
    """Weighs words by how much oftener they stand in right options than in wrong ones."""

    terms: Callable[[Item, str], Iterable[str]]
    right: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    ratio: float = 3.0  # wrong options to a right one

    def learn(self, items: Sequence[Item]) -> Scores:
        for item in items:
            for option in item.options:
                (self.right if option == item.answer else self.wrong).update(self.terms(item, option))
        options = sum(len(item.options) for item in items)
        self.ratio = options / len(items) - 1 if items else 3.0
        return self.scores

    def scores(self, items: Sequence[Item]) -> Array:
        return np.array([[self.score([*self.terms(item, option)]) for option in item.options] for item in items])

    def score(self, terms: Sequence[str]) -> float:
        return sum(map(self.weight, terms)) / math.sqrt(len(terms) or 1)

    def weight(self, term: str) -> float:
        return math.log((self.right[term] + 1) * self.ratio / (self.wrong[term] + self.ratio))


def _own_words(_: Item, option: str) -> Iterable[str]:
    # A long option is no word: where it is right once and wrong elsewhere, as a tune's bars, it would only mislead.
    return {*_tokens(option), *([option] if len(option) <= _WORD else [])}


def _paired_words(item: Item, option: str) -> Iterable[str]:
    asked = {*_tokens(item.question[-_MOST:])[-_QUESTION_WORDS:]}
    own = {*_tokens(option)[:_QUESTION_WORDS]}
    return [*own, *("shared" for _ in own & asked), *(f"{one} {other}" for one in asked for other in own)]


def _commonest_answer(items: Sequence[Item]) -> Scores:
    counts = Counter(item.answer for item in items).most_common(1)
    return lambda tried: np.array([[float(bool(counts) and item.answer == counts[0][0])] for item in tried])


def _answer_of_the_most_alike(items: Sequence[Item]) -> Scores:
    """Take the commonest answer of the questions that are worded most alike, weighted by the share of common words."""
    answers: defaultdict[frozenset[str], Counter[str]] = defaultdict(Counter)
    for item in items:
        answers[_worded(item)][item.answer] += 1

    @cache
    def guessed(words: frozenset[str]) -> str:
        likeness = {other: (len(words & other) + 1) / (len(words | other) + 1) for other in answers}
        votes: defaultdict[str, float] = defaultdict(float)
        for other in nlargest(_ALIKE, likeness, key=lambda one: likeness[one]):
            for answer, count in answers[other].items():
                votes[answer] += likeness[other] * count
        return max(votes, key=lambda answer: votes[answer], default="")

    return lambda tried: np.array([[float(item.answer == guessed(_worded(item)))] for item in tried])


def _worded(item: Item) -> frozenset[str]:
    return frozenset(_tokens(item.question))


def _commonest_place(items: Sequence[Item]) -> Scores:
    places = Counter(item.options.index(item.answer) for item in items)
    return lambda tried: np.array([[float(places[at]) for at in range(len(item.options))] for item in tried])


def _indifferent(items: Sequence[Item]) -> Array:
    return np.zeros((len(items), len(items[0].options)))


def _most(column: int, sign: int = 1) -> Learn:
    return lambda _: lambda tried: sign * _all_measured(tried)[:, :, column]


def _median_number(_: Sequence[Item]) -> Scores:
    def scores(tried: Sequence[Item]) -> Array:
        numbers = _all_measured(tried)[:, :, _NUMBER]
        return -np.abs(numbers - np.median(numbers, axis=1, keepdims=True))

    return scores


def _likeliest_letters(_: Sequence[Item]) -> Scores:
    """Score each option by what a trigram model of the opening's letters gives it, as a mean of log likelihoods.

    Each order is smoothed by the next lower one, with a weight of one observation (MacKay and Peto 1995).
    """

    def likelihood(opening: str, option: str) -> float:
        counts = Counter(opening[at : at + n] for n in range(_ORDER + 1) for at in range(len(opening) - n + 1))
        text = opening[1 - _ORDER :] + option
        total = 0.0
        for at in range(len(text) - len(option), len(text)):
            chance = 1 / _ALPHABET
            for n in range(1, _ORDER + 1):
                chance = (counts[text[at - n + 1 : at + 1]] + chance) / (counts[text[at - n + 1 : at]] + 1)
            total += math.log(chance)
        return total / max(len(option), 1)

    return lambda tried: np.array(
        [[likelihood(item.opening[-_MOST:], option[:_MOST]) for option in item.options] for item in tried]
    )


OPTIONS_ALONE: Final[Mapping[str, Learn]] = {
    "most like the others": _most(_LIKENESS),
    "odd one out": _most(_LIKENESS, -1),
    "longest": _most(_LENGTH),
    "shortest": _most(_LENGTH, -1),
    "median number": _median_number,
    "largest number": _most(_NUMBER),
    "smallest number": _most(_NUMBER, -1),
    "commonest place": _commonest_place,
    "features": _learn_features,
    "words": lambda items: _Words(_own_words).learn(items),
}
"""Guessers that see nothing but the options."""
GUESSERS: Final[Mapping[str, Learn]] = {
    **OPTIONS_ALONE,
    "question's words": lambda items: _Words(_paired_words).learn(items),
}
OPEN_GUESSERS: Final[Mapping[str, Learn]] = {
    "commonest answer": _commonest_answer,
    "question's words": _answer_of_the_most_alike,
}
READERS: Final[Mapping[str, Learn]] = {"letters": _likeliest_letters}
"""Of options that go on with music: what needs no understanding of it."""
