"""Forms on metre and note values."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from random import Random
from typing import Final

from music_evals.datasets_builders.questions.theory import terms
from music_evals.datasets_builders.questions.theory.arithmetic import near_numbers
from music_evals.datasets_builders.questions.theory.form import Draft, Form, shuffled
from music_evals.datasets_builders.questions.theory.terms import Term, plurals, tokens, words

_TYPES: Final = dict(
    zip(
        ("whole", "half", "quarter", "eighth", "16th", "32nd"),
        words(
            "全音符|二分音符|四分音符|八分音符|十六分音符|三十二分音符",
            "whole note|half note|quarter note|eighth note|sixteenth note|thirty-second note",
        ),
        strict=True,
    )
)
_DOTS: Final = (Term("", ""), Term("附点", "dotted "), Term("复附点", "double-dotted "))
_METRES: Final = tokens("2/4 3/4 4/4 5/4 6/4 2/2 3/2 3/8 5/8 6/8 7/8 9/8 12/8")
# 3/8 is left out, which some count in one and some in three; so are 5 and 7, whose beats differ.
_DIVIDED: Final = tokens("2/4 3/4 4/4 2/2 3/2 4/2 6/8 9/8 12/8 6/4 9/4 12/4 6/16 9/16 12/16")
_TUPLETS: Final = ((3, 2), (5, 4), (6, 4), (7, 4), (2, 3), (4, 3))

Value = tuple[str, int]
"""Type and number of dots."""

_VALUES: Final = tuple(product(tuple(_TYPES)[:5], (0, 1)))


def _term(value: Value) -> Term:
    kind, dots = value
    return Term(_DOTS[dots].zh + _TYPES[kind].zh, _DOTS[dots].en + _TYPES[kind].en)


@cache
def _length(value: Value) -> Fraction:
    """The length of a value in quarter notes."""
    from music21.duration import Duration

    return Fraction(Duration(value[0], dots=value[1]).quarterLength)


@cache
def _bar(metre: str) -> Fraction:
    from music21.meter import TimeSignature

    return Fraction(TimeSignature(metre).barDuration.quarterLength)


@cache
def _beats(metre: str) -> tuple[int, int]:
    """How many beats a bar has, and how many parts a beat."""
    from music21.meter import TimeSignature

    signature = TimeSignature(metre)
    return int(signature.beatCount), int(signature.beatDivisionCount)


def _value_of(length: Fraction) -> Value | None:
    """The single value of a length, with up to two dots."""
    return next((value for value in product(_TYPES, range(3)) if _length(value) == length), None)


def _near_values(value: Value) -> list[Term]:
    """Values between half and twice as long."""
    length = _length(value)
    near = [v for v in product(_TYPES, range(3)) if v != value and length / 2 <= _length(v) <= length * 2]
    return [_term(v) for v in near]


def _near_counts(number: int) -> list[Term]:
    return [terms.same(n) for n in (*near_numbers(number, lowest=1), 2 * number)]


def _bars(rng: Random) -> Iterator[Draft]:
    for metre, kind, bars in shuffled(list(product(_METRES, _TYPES, range(2, 9))), rng):
        number = bars * _bar(metre) / _length((kind, 0))
        if number.denominator == 1 and number <= 60:
            unit = int(number) // bars if int(number) % bars == 0 else 1
            wrong = [*_near_counts(int(number)), terms.same(int(number) + unit)]
            yield Draft((terms.same(metre), plurals(_TYPES[kind]), terms.same(bars)), terms.same(number), wrong)


def _contained(rng: Random) -> Iterator[Draft]:
    for value, kind in shuffled(list(product(product(_TYPES, range(3)), _TYPES)), rng):
        number = _length(value) / _length((kind, 0))
        if number.denominator == 1 and number > 1:
            asked = (article_of(value), plurals(_TYPES[kind]))
            yield Draft(asked, terms.same(number), _near_counts(int(number)))


def article_of(value: Value) -> Term:
    """Word a value with the article that it takes in English.

    Example:
        >>> article_of(("eighth", 0)).en
        'an eighth note'
    """
    return terms.article(_term(value))


def _divided(count: int, parts: int) -> Term:
    return Term(f"{count}拍，每拍分{parts}份", f"{count} beats of {parts} parts each")


def _division(rng: Random) -> Iterator[Draft]:
    for metre in shuffled(_DIVIDED, rng):
        wrong = [_divided(*case) for case in product((2, 3, 4, 6), (2, 3))]
        yield Draft((terms.same(metre),), _divided(*_beats(metre)), wrong)


def _sum(rng: Random) -> Iterator[Draft]:
    while True:
        values = [rng.choice(_VALUES) for _ in range(rng.choice((2, 3, 3, 4, 5)))]
        kind = rng.choice(tuple(_TYPES)[2:])
        total = sum(map(_length, values), Fraction(0)) / _length((kind, 0))
        if total.denominator == 1 and 2 <= total <= 64:
            asked = (terms.listed(map(_term, values)), plurals(_TYPES[kind]))
            yield Draft(asked, terms.same(total), _near_counts(int(total)))


def _rest_of_bar(rng: Random) -> Iterator[Draft]:
    while True:
        values, metre = [rng.choice(_VALUES) for _ in range(rng.choice((2, 3, 3, 4, 5)))], rng.choice(_METRES)
        missing = _value_of(_bar(metre) - sum(map(_length, values)))
        if missing:
            asked = (terms.same(metre), terms.listed(map(_term, values)))
            yield Draft(asked, _term(missing), _near_values(missing))


@cache
def _tuplet_note(kind: str, actual: int, normal: int) -> Fraction:
    """The length in quarter notes of one note of a tuplet."""
    from music21.duration import Duration, Tuplet

    duration = Duration(kind)
    duration.appendTuplet(Tuplet(actual, normal, kind))
    return Fraction(duration.quarterLength)


def _tuplet(rng: Random) -> Iterator[Draft]:
    for (actual, normal), kind in shuffled(list(product(_TUPLETS, tuple(_TYPES)[1:])), rng):
        total = _value_of(actual * _tuplet_note(kind, actual, normal))
        if total:
            asked = (terms.same(actual), plurals(_TYPES[kind]), terms.same(normal))
            yield Draft(asked, _term(total), _near_values(total))


def _tuplet_fraction(rng: Random) -> Iterator[Draft]:
    for (actual, normal), kind, unit in shuffled(list(product(_TUPLETS, tuple(_TYPES)[1:], tuple(_TYPES)[:3])), rng):
        part = _tuplet_note(kind, actual, normal) / _length((unit, 0))
        if part < 1:
            mistaken = {part * 2, part / 2, Fraction(1, actual), Fraction(1, normal), part * Fraction(3, 2)}
            wrong = [terms.same(other) for other in sorted(mistaken) if other != part]
            asked = (terms.same(actual), plurals(_TYPES[kind]), terms.same(normal), article_of((unit, 0)))
            yield Draft(asked, terms.same(part), wrong)


FORMS: Final = (
    Form(
        "metre",
        "bars",
        Term("{2}小节{0}拍共可容纳多少个{1}？", "How many {1} fill {2} bars of {0} time?"),
        _bars,
    ),
    Form(
        "metre",
        "value",
        Term("一个{0}的时值等于多少个{1}？", "How many {1} last as long as {0}?"),
        _contained,
    ),
    Form(
        "metre",
        "division",
        Term(
            "演奏{0}拍时，每小节通常按几个大拍计，每个大拍等分为几份？",
            "How many main beats has a bar of {0} time, and into how many equal parts does each of them divide?",
        ),
        _division,
    ),
    Form(
        "metre",
        "sum",
        Term("{0}相连，总时值等于多少个{1}？", "How many {1} last as long as these note values in a row: {0}?"),
        _sum,
    ),
    Form(
        "metre",
        "rest-of-bar",
        Term(
            "{0}拍的一个小节里已有{1}，还差哪一个音符就填满了？",
            "A bar of {0} time already holds these note values: {1}. Which single note value fills the rest of it?",
        ),
        _rest_of_bar,
    ),
    Form(
        "metre",
        "tuplet",
        Term(
            "{0}个{1}奏成连音，占{2}个同种音符的时间，整组连音的时值等于哪一个音符？",
            "A tuplet fits {0} {1} into the time of {2}. Which single note value lasts as long as the whole tuplet?",
        ),
        _tuplet,
    ),
    Form(
        "metre",
        "tuplet-note",
        Term(
            "{0}个{1}奏成连音，占{2}个同种音符的时间，其中一个音的时值是{3}的几分之几？",
            "A tuplet fits {0} {1} into the time of {2}. What fraction of {3} does one note of it last?",
        ),
        _tuplet_fraction,
    ),
)
