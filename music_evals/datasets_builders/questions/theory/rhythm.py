"""Forms on metre and note values."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from random import Random
from typing import Final

from music21.duration import Duration, Tuplet
from music21.meter import TimeSignature

from music_evals.datasets_builders.questions.theory import terms
from music_evals.datasets_builders.questions.theory.arithmetic import near_numbers
from music_evals.datasets_builders.questions.theory.form import Draft, draft, forms, shuffled
from music_evals.datasets_builders.questions.theory.terms import Term, article, plurals, tokens, words

_TYPES: Final = words("note_values")
_DOTS: Final = tuple(words("dots").values())
_METRES: Final = tokens("2/4 3/4 4/4 5/4 6/4 2/2 3/2 3/8 5/8 6/8 7/8 9/8 12/8")
# 3/8 is left out, which some count in one and some in three; so are 5 and 7, whose beats differ.
_DIVIDED: Final = tokens("2/4 3/4 4/4 2/2 3/2 4/2 6/8 9/8 12/8 6/4 9/4 12/4 6/16 9/16 12/16")
_TUPLETS: Final = ((3, 2), (5, 4), (6, 4), (7, 4), (2, 3), (4, 3))

Value = tuple[str, int]  # type and number of dots
_VALUES: Final = tuple(product(tuple(_TYPES)[:5], (0, 1)))


def _term(value: Value) -> Term:
    kind, dots = value
    return Term(_DOTS[dots].zh + _TYPES[kind].zh, _DOTS[dots].en + _TYPES[kind].en)


@cache
def _length(value: Value) -> Fraction:
    """The length of a value in quarter notes."""
    return Fraction(Duration(value[0], dots=value[1]).quarterLength)


@cache
def _bar(metre: str) -> Fraction:
    """The length of a bar in quarter notes."""
    return Fraction(TimeSignature(metre).barDuration.quarterLength)


@cache
def _tuplet_note(kind: str, actual: int, normal: int) -> Fraction:
    """The length in quarter notes of one note of a tuplet."""
    duration = Duration(kind)
    duration.appendTuplet(Tuplet(actual, normal, kind))
    return Fraction(duration.quarterLength)


def _value_of(length: Fraction) -> Value | None:
    """The single value of a length, with up to two dots."""
    return next((value for value in product(_TYPES, range(3)) if _length(value) == length), None)


def _near_values(value: Value) -> list[Value]:
    """Values between half and twice as long."""
    length = _length(value)
    return [v for v in product(_TYPES, range(3)) if v != value and length / 2 <= _length(v) <= length * 2]


def _near_counts(number: int) -> list[int]:
    return [*near_numbers(number, lowest=1), 2 * number]


def _bars(rng: Random) -> Iterator[Draft]:
    for metre, kind, bars in shuffled(product(_METRES, _TYPES, range(2, 9)), rng):
        number = bars * _bar(metre) / _length((kind, 0))
        if number.denominator == 1 and number <= 60:
            unit = int(number) // bars if int(number) % bars == 0 else 1
            wrong = [*_near_counts(int(number)), int(number) + unit]
            yield draft(terms.same, int(number), wrong, terms.same(metre), plurals(_TYPES[kind]), terms.same(bars))


def _contained(rng: Random) -> Iterator[Draft]:
    for value, kind in shuffled(product(product(_TYPES, range(3)), _TYPES), rng):
        number = _length(value) / _length((kind, 0))
        if number.denominator == 1 and number > 1:
            wrong = _near_counts(int(number))
            yield draft(terms.same, int(number), wrong, article(_term(value)), plurals(_TYPES[kind]))


def _divided(division: tuple[int, int]) -> Term:
    count, parts = division
    return Term(f"{count}拍，每拍分{parts}份", f"{count} beats of {parts} parts each")


def _division(rng: Random) -> Iterator[Draft]:
    for metre in shuffled(_DIVIDED, rng):
        signature = TimeSignature(metre)
        right = int(signature.beatCount), int(signature.beatDivisionCount)
        yield draft(_divided, right, product((2, 3, 4, 6), (2, 3)), terms.same(metre))


def _row(rng: Random) -> list[Value]:
    return [rng.choice(_VALUES) for _ in range(rng.choice((2, 3, 3, 4, 5)))]


def _total(values: Sequence[Value]) -> Fraction:
    return sum(map(_length, values), Fraction(0))


def _sum(rng: Random) -> Iterator[Draft]:
    while True:
        values = _row(rng)
        kind = rng.choice(tuple(_TYPES)[2:])
        total = _total(values) / _length((kind, 0))
        if total.denominator == 1 and 2 <= total <= 64:
            asked = (terms.listed(map(_term, values)), plurals(_TYPES[kind]))
            yield draft(terms.same, int(total), _near_counts(int(total)), *asked)


def _rest_of_bar(rng: Random) -> Iterator[Draft]:
    while True:
        values, metre = _row(rng), rng.choice(_METRES)
        if missing := _value_of(_bar(metre) - _total(values)):
            yield draft(_term, missing, _near_values(missing), terms.same(metre), terms.listed(map(_term, values)))


def _tuplet(rng: Random) -> Iterator[Draft]:
    for (actual, normal), kind in shuffled(product(_TUPLETS, tuple(_TYPES)[1:]), rng):
        if total := _value_of(actual * _tuplet_note(kind, actual, normal)):
            asked = (terms.same(actual), plurals(_TYPES[kind]), terms.same(normal))
            yield draft(_term, total, _near_values(total), *asked)


def _tuplet_fraction(rng: Random) -> Iterator[Draft]:
    for (actual, normal), kind, unit in shuffled(product(_TUPLETS, tuple(_TYPES)[1:], tuple(_TYPES)[:3]), rng):
        part = _tuplet_note(kind, actual, normal) / _length((unit, 0))
        if part < 1:
            mistaken = {part * 2, part / 2, Fraction(1, actual), Fraction(1, normal), part * Fraction(3, 2)}
            asked = (terms.same(actual), plurals(_TYPES[kind]), terms.same(normal), article(_TYPES[unit]))
            yield draft(terms.same, part, sorted(mistaken - {part}), *asked)


FORMS: Final = forms(
    "metre",
    bars=_bars,
    value=_contained,
    division=_division,
    sum=_sum,
    rest_of_bar=_rest_of_bar,
    tuplet=_tuplet,
    tuplet_note=_tuplet_fraction,
)
