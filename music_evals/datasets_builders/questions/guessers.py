"""Guessers that answer questions without the music, or read it without any understanding.

A guesser scores each option of a question; the highest score is its answer. Some guessers follow a
fixed rule, such as the longest option. Others learn from other questions of the same form: *words*
weighs the words of the options, and *question's words* pairs them with the words of the question.
Questions without options have guessers of their own.

*letters* and *bar lines* read the music. They are floors for models that read notation, not blind
guessers. The guessers of `VIEWS` learn which answers go with one view: a list of numbers that
describes a stimulus, but not the order of its notes, which most questions are about. *looks* has
the commands and signs of a score, but no pitches, durations, keys and metres.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from itertools import permutations, product
from operator import eq, sub
from typing import Literal, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from music_evals.datasets_builders.questions.items import Item, Views
from music_evals.notation.grouping import group_by
from music_evals.notation.midi.files import parse_midi_text

_QUESTION_WORDS = 40  # at the end of a question, to be paired with the words of the options
_TOKEN = re.compile(r"[A-Za-z]+|\d+|[^\W\d_]|[#♯♭^=°ø/,']")
_PROGRAM = re.compile(r"program=(\d+)")
_LONGEST = 2000  # characters of a text that are read
_LONGEST_WORD = 40  # characters of an option that counts as a word of its own
_ORDER = 3  # of the model of letters
_ALPHABET = 100  # number of characters in ABC or LilyPond, about
_RIDGE = 0.1
_PLACES = 32  # of a description of looks
_FINENESS = 2  # steps in which the number of a sign doubles
_MARK = re.compile(r"\\[A-Za-z]+|\\\\|\"[^\"\n]*\"|[#$%|]|\n[ \t]*\n")
_PLAYED = {
    "\\key",
    "\\time",
    "\\major",
    "\\minor",
    "\\dorian",
    "\\phrygian",
    "\\lydian",
    "\\mixolydian",
    "\\locrian",
}
QUANTILES = (0, 0.1, 0.25, 0.5, 0.75, 0.9, 1)

Guess = Callable[[Item], Sequence[float]]
"""Gives each option a score; for a question without options, 1 for the right answer and else 0."""
Learn = Callable[[Sequence[Item]], Guess]
"""Makes a guess from other questions of the same form."""
Sees = Literal["options", "question", "music", "view"]


class Guesser(NamedTuple):
    """A guesser and which questions it answers."""

    name: str
    sees: Sees  # the most that it sees
    learn: Learn
    is_open: bool = False  # whether it answers questions without options

    def answers(self, item: Item) -> bool:
        """Whether the guesser can answer a question."""
        is_there = {"music": item.opening != "", "view": self.name in item.views}
        return is_there.get(self.sees, True) and self.is_open != bool(item.options)


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text[:_LONGEST].lower())


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


def _commonest_place(items: Sequence[Item]) -> Guess:
    places = Counter(item.options.index(item.answer) for item in items)
    return lambda item: [places[at] for at in range(len(item.options))]


def _words(terms: Callable[[Item, str], Sequence[str]]) -> Learn:
    """Weigh terms by how much more often they occur in right options than in wrong options."""

    def learn(items: Sequence[Item]) -> Guess:
        right: Counter[str] = Counter()
        wrong: Counter[str] = Counter()
        for item in items:
            for option in item.options:
                counts = right if option == item.answer else wrong
                counts.update(terms(item, option))
        n_wrong = sum(len(item.options) - 1 for item in items)
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


def _commonest(items: Iterable[Item]) -> str:
    answers = Counter(item.answer for item in items)
    return max(answers, key=answers.__getitem__, default="")


def _commonest_answer(items: Sequence[Item]) -> Guess:
    answer = _commonest(items)
    return lambda item: [float(item.answer == answer)]


def _answer_of_the_most_similar_question(items: Sequence[Item]) -> Guess:
    """Take the commonest answer to the wording that has the largest share of words in common."""
    wordings = group_by(items, lambda item: frozenset(_tokens(item.question)))

    @cache
    def answer(words: frozenset[str]) -> str:
        def likeness(wording: frozenset[str]) -> float:
            return (len(words & wording) + 1) / (len(words | wording) + 1)

        return _commonest(wordings.get(max(wordings, key=likeness, default=words), ()))

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


def _kernel(view: str) -> Learn:
    """Regress the answers on a view by a Gaussian kernel, with its values scaled to one spread."""

    def learn(items: Sequence[Item]) -> Guess:
        answers = [item.answer for item in items if view in item.views]
        if not answers:
            return lambda item: [0.0] * len(item.options)
        known = np.array([item.views[view] for item in items if view in item.views])
        scale = known.std(axis=0) * known.shape[1] ** 0.5
        scale[scale == 0] = 1

        def likeness(values: Sequence[float]) -> NDArray[np.float64]:
            likenesses: NDArray[np.float64] = np.exp(-(((known - values) / scale) ** 2).sum(axis=1))
            return likenesses

        classes = sorted({*answers})
        targets = [[answer == each for each in classes] for answer in answers]
        kernel = np.array([*map(likeness, known)])
        weights = np.linalg.solve(kernel + _RIDGE * np.eye(len(known)), targets)

        def guess(item: Item) -> Sequence[float]:
            scores = likeness(item.views[view]) @ weights
            by_class = dict(zip(classes, scores.tolist(), strict=True))
            return [by_class.get(option, 0.0) for option in item.options]

        return guess

    return learn


VIEWS = (
    "looks",  # of a score
    "program",  # of notes, as the next four
    "velocities",
    "sizes",
    "first event",
    "pitch classes",
    "loudness",  # of sound and of texts, as the next three
    "spectrum",
    "beginning",
    "end",
)
GUESSERS = (
    Guesser("most like the others", "options", _rule(_likenesses)),
    Guesser("longest", "options", _rule(lambda options: map(len, options))),
    Guesser("shortest", "options", _rule(lambda options: map(len, options), -1)),
    Guesser("commonest place", "options", _commonest_place),
    Guesser("words", "options", _words(_own_terms)),
    Guesser("question's words", "question", _words(_paired_terms)),
    Guesser("commonest answer", "options", _commonest_answer, is_open=True),
    Guesser("question's words", "question", _answer_of_the_most_similar_question, is_open=True),
    Guesser("letters", "music", _likeliest_letters),
    Guesser(
        "bar lines",
        "music",
        lambda _: lambda item: [float(item.answer == str(item.opening.count("|")))],
        is_open=True,
    ),
    *(Guesser(view, "view", _kernel(view)) for view in VIEWS),
)


def looks(text: str) -> list[float]:
    """Describe a score by its length and by how often it has each command and sign, but for those
    that say what is played.

    Numbers are rough, on a scale on which a number doubles in two steps. Signs share places.
    """
    counts = Counter(match[0] for match in _MARK.finditer(text) if match[0] not in _PLAYED)
    counts["length"] = len(text)
    places = [0.0] * _PLACES
    for mark, count in counts.items():
        places[crc32(mark.encode()) % _PLACES] += 1 + round(_FINENESS * math.log2(count))
    return places


def note_views(texts: Sequence[str]) -> Views:
    """Describe one or two MIDI texts by its `VIEWS`."""
    return joined([_views_of_notes(text) for text in texts])


def joined(clips: Sequence[Views]) -> Views:
    """Return the values of all clips and, of two clips, their differences."""
    views: dict[str, list[float]] = {}
    for view, first in clips[0].items():
        views[view] = [*first]
        for clip in clips[1:]:
            views[view] += [*clip[view], *map(sub, clip[view], first)]
    return views


def _views_of_notes(text: str) -> Views:
    clip, program = parse_midi_text(text), _PROGRAM.search(text)
    notes = clip.notes
    first = [note for note in notes if note.onset == notes[0].onset]
    highest = max(first, key=lambda note: note.pitch)
    end = max(note.onset + note.duration for note in notes)
    classes = [note.pitch % 12 for note in notes]
    return {
        "program": [int(program[1]) if program else 0, notes[0].is_drum],
        "velocities": [*np.quantile([note.velocity for note in notes], QUANTILES)],
        "sizes": [len(notes), len(text), end, clip.tempo, end / clip.tempo],
        "first event": [first[0].pitch, highest.pitch, len(first), highest.velocity],
        "pitch classes": sorted(classes.count(own) / len(notes) for own in range(12)),
    }
