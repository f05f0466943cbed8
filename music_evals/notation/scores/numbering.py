"""Numbers the measures of a score as an engraver does.

A pickup is measure 0. A measure that a repeat sign or a double bar divides is one measure, although
files have its pieces one by one: the further pieces get the number of the first one and a letter
(4, 4a), and pages leave it out.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from string import ascii_lowercase
from typing import Any, NamedTuple

_IMPRECISION = Fraction(1, 96)  # quarter notes
_PLAIN = ("regular", "none")  # bar lines


class _Column(NamedTuple):
    """The measures of all parts that sound together."""

    measures: Sequence[Any]
    number: int  # in the source; 0 if it has none
    length: Fraction
    full: Fraction  # length by the time signature; 0 without one

    @property
    def is_hidden(self) -> bool:
        """Whether the source leaves the number out on pages, or gives it a letter."""
        return any(
            measure.numberSuffix or measure.showNumber.name == "NEVER" for measure in self.measures
        )

    @property
    def is_short(self) -> bool:
        return 0 < self.length < self.full - _IMPRECISION


def number_measures(score: Any) -> None:
    """Number the measures of a score of music21 whose parts have equally many measures.

    The numbers of the source are kept if they are consecutive. Otherwise the first measure is 1, or
    0 if it is a pickup. Pieces belong to one measure if they are not longer than a measure together
    and the source does not number the second piece, or if they are exactly as long and a repeat
    sign or a double bar divides them. A plain bar line between pieces is hidden.
    """
    from music21.stream.enums import ShowNumber

    groups = _group_columns(score)
    for number, group in enumerate(groups, _first_number(groups)):
        for suffix, column in zip(["", *ascii_lowercase], group, strict=False):
            shown = ShowNumber.NEVER if suffix else ShowNumber.DEFAULT
            for measure in column.measures:
                measure.number = number
                measure.numberSuffix = suffix or None
                measure.showNumber = shown if number else measure.showNumber


def _group_columns(score: Any) -> list[list[_Column]]:
    """The pieces of each measure; hides plain bar lines between them."""
    from music21.bar import Barline

    brackets = score.recurse().getElementsByClass("RepeatBracket")
    endings = {id(bracket.getFirst()) for bracket in brackets}
    groups: list[list[_Column]] = []
    for column in _columns(score):
        is_ending = not endings.isdisjoint(map(id, column.measures))
        if not groups or is_ending or not _continues(groups[-1], column):
            groups.append([column])
            continue
        last = groups[-1][-1]
        if not _is_divided(last, column):
            for measure in last.measures:
                measure.rightBarline = Barline("none")  # type: ignore[no-untyped-call]
        groups[-1].append(column)
    return groups


def _columns(score: Any) -> Iterator[_Column]:
    full = Fraction(0)
    for measures in zip(*(part.getElementsByClass("Measure") for part in score.parts), strict=True):
        metres = [measure.timeSignature for measure in measures if measure.timeSignature]
        if metres:
            full = Fraction(metres[0].barDuration.quarterLength)
        number = max(measure.number for measure in measures)
        yield _Column(
            measures, number, Fraction(max(measure.highestTime for measure in measures)), full
        )


def _continues(group: Sequence[_Column], column: _Column) -> bool:
    """Whether a column is a further piece of a measure."""
    last = group[-1]
    if not (last.is_short and column.is_short and len(group) < len(ascii_lowercase)):
        return False
    missing = last.full - sum(piece.length for piece in (*group, column))
    if missing < -_IMPRECISION:
        return False
    if column.is_hidden or column.number in (0, last.number):
        return True
    return _is_divided(last, column) and column.full == last.full and missing < _IMPRECISION


def _is_divided(before: _Column, column: _Column) -> bool:
    """Whether there is a bar line between two columns that is not a plain one."""
    lines = [measure.rightBarline for measure in before.measures]
    lines += [measure.leftBarline for measure in column.measures]
    return any("Repeat" in line.classes or line.type not in _PLAIN for line in lines if line)


def _first_number(groups: Sequence[Sequence[_Column]]) -> int:
    first = groups[0][0]
    numbers = [group[0].number for group in groups]
    is_sound = len(groups) > 1 and numbers == [*range(first.number, first.number + len(numbers))]
    if (is_sound and first.number != 1) or (first.number == 0 and first.is_hidden):
        return first.number
    is_pickup = len(groups) > 1 and sum(piece.length for piece in groups[0]) < first.full
    return 0 if is_pickup else 1
