"""Guesses how measures follow one another: by the melody across the bar line, by ties, slurs, and lengths left unsaid.

Measures come alone, so that a pitch in relative notation says its letter and no more than that. Whether a text is
relative is told by how few octave marks it has.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, permutations
from typing import Final

from music_evals.baselines.lilybench.parser import parse_measure
from music_evals.baselines.lilybench.timeline import Item, play
from music_evals.baselines.lilybench.tokens import Token, tokens
from music_evals.notation.lilypond.languages import LANGUAGES, pitch_of

_QUARTER: Final = Fraction(1, 4)
_RELATIVE_SHARE: Final = 0.3  # of notes with octave marks, above which a text is absolute
_WRONG_LENGTH: Final = 30.0
_BROKEN_TIE: Final = 12.0
_BROKEN_SLUR: Final = 8.0
_NEEDLESS_LENGTH: Final = 1.0
_LONG_END: Final = 4.0
_SPANS: Final = (("(", ")"), ("\\(", "\\)"), ("[", "]"))


@dataclass(frozen=True, slots=True)
class _Measure:
    """A measure by itself.

    Args:
        text: as it is written.
        language: of its note names.
        says_length: whether its first note has a length of its own.
        notes: what sounds and rests in it, by time.
        last_length: the length that holds at its end, in whole notes.
        signs: of slurs and beams: for each kind, whether one is open at its beginning, and at its end.
    """

    text: str
    language: str
    says_length: bool
    notes: tuple[Item, ...]
    last_length: Fraction
    signs: tuple[tuple[bool, bool], ...]

    @property
    def pitched(self) -> list[Item]:
        return [note for note in self.notes if note.pitches]


def order_measures(segments: list[str]) -> list[int]:
    r"""Guess in which order measures are played.

    Args:
        segments: the texts of consecutive measures, shuffled; at most six.

    Returns:
        Their indices in playing order.

    Raises:
        UnreadableScoreError: a text is too long or nested too deep.
        ValueError: there are more than six measures.

    Example:
        >>> order_measures(["g' f' e' d'", "c'1", "c'4 d' e' f'"])
        [2, 0, 1]
    """
    if len(segments) > 6:
        raise ValueError(f"{len(segments)} measures cannot be put in order; accepted are at most 6")
    language = _language(segments)
    measures = [_read(segment, language) for segment in segments]
    full = _usual_length(measures)
    relative = _is_relative(segments)
    costs = {
        (first, second): _cost(measures[first], measures[second], full, relative)
        for first, second in permutations(range(len(segments)), 2)
    }

    def total(order: tuple[int, ...]) -> float:
        # A phrase ends on a longer note than it begins with.
        ending = _LONG_END * float(_longest(measures[order[-1]])) if order else 0.0
        return sum(costs[pair] for pair in pairwise(order)) - ending

    orders: list[tuple[int, ...]] = list(permutations(range(len(segments))))
    best = min(orders, key=total)
    return list(best)


def next_measure(context: str, options: list[str]) -> int:
    r"""Guess which measure comes after others.

    Args:
        context: the measures before, with bar checks between them.
        options: the texts of the measures to choose from; at least one.

    Returns:
        The index of an option.

    Raises:
        UnreadableScoreError: a text is too long or nested too deep.

    Example:
        >>> next_measure("c'4 d' e' f' | g'4 a' b' c'' |", ["c'4 c' c' c'", "d''4 b' c''2", "c,1"])
        1
    """
    language = _language([context, *options])
    before = [_read(part, language) for part in _measures_of(context)] or [_read("", language)]
    choices = [_read(option, language) for option in options]
    full = _usual_length([*before, *choices])
    relative = _is_relative([context, *options])
    return min(range(len(options)), key=lambda index: _cost(before[-1], choices[index], full, relative))


def _measures_of(text: str) -> list[str]:
    """What stands between bar checks."""
    parts = []
    start = 0
    for token in tokens(text):
        if token.kind == "sign" and token.text == "|":
            parts.append(text[start : token.start])
            start = token.end
    return [part for part in [*parts, text[start:]] if part.strip()]


def _read(text: str, language: str, length: Fraction = _QUARTER) -> _Measure:
    notes, last = _notes(text, language, length)
    # The first note has a length of its own if it lasts the same, whatever the length before.
    others, _ = _notes(text, language, length / 2)
    return _Measure(
        text=text,
        language=language,
        says_length=not notes or notes[0].length == others[0].length,
        notes=tuple(notes),
        last_length=last,
        signs=_signs(tokens(text)),
    )


def _notes(text: str, language: str, length: Fraction) -> tuple[list[Item], Fraction]:
    """What sounds and rests in a measure, by time, and the length that holds at its end."""
    music, last = parse_measure(text, length, language)
    items = [item for voice in play(music).voices.values() for item in voice if item.length]
    return sorted(items, key=lambda item: item.time), last


def _language(texts: Sequence[str]) -> str:
    """The language of note names in which most words are notes: measures that come alone do not say it."""
    words = [token.text for text in texts for token in tokens(text) if token.kind == "word"]
    return max(LANGUAGES, key=lambda language: sum(pitch_of(word, language) is not None for word in words))


def _signs(found: list[Token]) -> tuple[tuple[bool, bool], ...]:
    """Of each kind of slur or beam, whether one is open at the beginning, and at the end."""
    states = []
    for opening, closing in _SPANS:
        signs = [token.text for token in found if token.kind != "string" and token.text in (opening, closing)]
        states.append((bool(signs) and signs[0] == closing, bool(signs) and signs[-1] == opening))
    return tuple(states)


def _is_relative(texts: Sequence[str]) -> bool:
    words = marks = 0
    for text in texts:
        found = tokens(text)
        words += sum(token.kind == "word" and token.text not in ("r", "s", "R") for token in found)
        marks += sum(
            token.kind == "word" and after.kind == "sign" and after.text in "'," for token, after in pairwise(found)
        )
    return marks < _RELATIVE_SHARE * words


def _end(notes: Sequence[Item]) -> Fraction:
    return max((note.end for note in notes), default=Fraction(0))


def _usual_length(measures: Sequence[_Measure]) -> Fraction | None:
    """The length of most measures whose own text tells it."""
    lengths = Counter(_end(measure.notes) for measure in measures if measure.says_length)
    return lengths.most_common(1)[0][0] if lengths else None


def _longest(measure: _Measure) -> Fraction:
    return max((note.length for note in measure.notes[-2:]), default=Fraction(0))


def _cost(first: _Measure, second: _Measure, full: Fraction | None, relative: bool) -> float:
    """How ill a measure follows another."""
    cost = 0.0
    if second.says_length:
        here = second.notes[0].length if second.notes else None
        cost += _NEEDLESS_LENGTH * (here == first.last_length)
    elif full is not None and _end(_notes(second.text, second.language, first.last_length)[0]) != full:
        cost += _WRONG_LENGTH
    for (_, open_at_end), (open_at_start, _) in zip(first.signs, second.signs, strict=True):
        cost += _BROKEN_SLUR * (open_at_end != open_at_start)
    if first.pitched and second.pitched:
        steps = _steps(first.pitched[-1], second.pitched[0], relative)
        tied = first.pitched[-1] is first.notes[-1] and getattr(first.pitched[-1].what, "tied", False)
        cost += steps + _BROKEN_TIE * (tied and steps != 0)
    return cost


def _steps(before: Item, after: Item, relative: bool) -> int:
    """How many steps of the staff lie between two notes, or could lie between them by what relative notation says."""
    if not relative:
        return min(abs(low.degree - high.degree) for low in before.pitches for high in after.pitches)
    start, end = before.pitches[0], after.pitches[0]
    nearest = (end.step - start.step + 3) % 7 - 3
    return abs(nearest + 7 * (end.octave + 1))
