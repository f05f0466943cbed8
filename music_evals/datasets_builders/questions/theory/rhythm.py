"""Forms on metre and note values."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from math import log2
from operator import add
from random import Random

from music21.duration import Duration, Tuplet
from music21.meter import TimeSignature

from music_evals.datasets_builders.questions.theory import terms
from music_evals.datasets_builders.questions.theory.form import (
    Case,
    Cases,
    Fours,
    all_cases,
    by_block,
    endless,
    forms,
    fours,
)
from music_evals.datasets_builders.questions.theory.terms import (
    Term,
    article,
    plurals,
    tokens,
    words,
)

_TYPES = words("note_values")
_DOTS = tuple(words("dots").values())
_METRES = tokens("2/4 3/4 4/4 5/4 6/4 2/2 3/2 3/8 5/8 6/8 7/8 9/8 12/8")
# Without 3/8, which is counted in one or in three, and without metres of 5 and 7, whose beats are
# unequal.
_DIVIDED = tokens("2/4 3/4 4/4 2/2 3/2 4/2 6/8 9/8 12/8 6/4 9/4 12/4 6/16 9/16 12/16")
_TUPLETS = ((3, 2), (5, 4), (6, 4), (7, 4), (2, 3), (4, 3))

_DRAWN = 32  # rows of values that are drawn to find four of similar length

Value = tuple[str, int]  # type and number of dots
_VALUES = tuple(product(tuple(_TYPES)[:5], (0, 1)))


def _term(value: Value) -> Term:
    kind, dots = value
    return Term(*map(add, _DOTS[dots], _TYPES[kind]))


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
    """The length in quarter notes of a note of a tuplet."""
    duration = Duration(kind)
    duration.appendTuplet(Tuplet(actual, normal, kind))
    return Fraction(duration.quarterLength)


@cache
def _value_of(length: Fraction) -> Value | None:
    """The single value of a length, with up to two dots."""
    return next((value for value in product(_TYPES, range(3)) if _length(value) == length), None)


def _size(number: Fraction) -> float:
    """`Case.near` of a number or length: numbers in a ratio of 5 to 4 are near."""
    return 9 * log2(number)


@by_block(lambda: range(2, 9))
def _bars(bars: int) -> Cases:
    for metre, kind in product(_METRES, _TYPES):
        number = bars * _bar(metre) / _length((kind, 0))
        if number.denominator == 1 and number <= 60:
            blanks = terms.same(metre), plurals(_TYPES[kind]), terms.same(bars)
            yield Case(blanks, terms.same(number), near=_size(number))


@all_cases
def _contained() -> Cases:
    for value, kind in product(product(_TYPES, range(3)), _TYPES):
        number = _length(value) / _length((kind, 0))
        if number.denominator == 1 and number > 1:
            yield Case(
                (article(_term(value)), plurals(_TYPES[kind])),
                terms.same(number),
                near=_size(number),
            )


@all_cases
def _division() -> Cases:
    for metre in _DIVIDED:
        signature = TimeSignature(metre)
        beats, parts = int(signature.beatCount), int(signature.beatDivisionCount)
        answer = Term(f"{beats}拍，每拍分{parts}份", f"{beats} beats of {parts} parts each")
        yield Case((terms.same(metre),), answer)


def _total(values: Sequence[Value]) -> Fraction:
    return sum(map(_length, values), Fraction(0))


@endless
def _sum(rng: Random) -> Fours:
    kind = rng.choice(tuple(_TYPES)[2:])
    cases = []
    for _ in range(_DRAWN):
        values = [rng.choice(_VALUES) for _ in range(rng.choice((3, 4, 4, 5)))]
        total = _total(values) / _length((kind, 0))
        if total.denominator == 1 and 2 <= total <= 64:
            blanks = terms.listed(map(_term, values)), plurals(_TYPES[kind])
            cases.append(Case(blanks, terms.same(total), near=_size(total)))
    return fours(cases, rng)[:2]


@by_block(lambda: _METRES)
def _rest_of_bar(metre: str) -> Cases:
    for values, length in _short_rows():
        if (left := _bar(metre) - length) > 0 and (missing := _value_of(left)):
            yield Case(
                (terms.same(metre), terms.listed(map(_term, values))),
                _term(missing),
                near=_size(left),
            )


@cache
def _short_rows() -> list[tuple[tuple[Value, ...], Fraction]]:
    """All rows of two or three values, with their lengths."""
    return [(row, _total(row)) for count in (2, 3) for row in product(_VALUES, repeat=count)]


@all_cases
def _tuplet() -> Cases:
    for (actual, normal), kind in product(_TUPLETS, tuple(_TYPES)[1:]):
        if total := _value_of(actual * _tuplet_note(kind, actual, normal)):
            blanks = terms.same(actual), plurals(_TYPES[kind]), terms.same(normal)
            yield Case(blanks, _term(total), near=_size(_length(total)))


@by_block(lambda: tuple(_TYPES)[:3])
def _tuplet_fraction(unit: str) -> Cases:
    for (actual, normal), kind in product(_TUPLETS, tuple(_TYPES)[1:]):
        share = _tuplet_note(kind, actual, normal) / _length((unit, 0))
        if share < 1:
            blanks = (
                terms.same(actual),
                plurals(_TYPES[kind]),
                terms.same(normal),
                article(_TYPES[unit]),
            )
            yield Case(blanks, terms.same(share), near=_size(share))


FORMS = forms(
    "metre",
    bars=_bars,
    value=_contained,
    division=_division,
    sum=_sum,
    rest_of_bar=_rest_of_bar,
    tuplet=_tuplet,
    tuplet_note=_tuplet_fraction,
)
