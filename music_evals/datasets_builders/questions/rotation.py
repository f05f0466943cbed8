"""The orders in which the options of a question can be asked."""

import re
from collections.abc import Sequence

_ABOVE = re.compile(r"(?:所有|全部)?(?:以上|上述)|.*\bthe above\b", re.IGNORECASE)
_JOINED = (
    r"(?:[Bb]oth |[Ee]ither |[Nn]either )?[{0}](?: ?(?:和|与|或|及|and|or|nor|&) "
    r"?[{0}])+(?:都是|均是|皆是)?"
)
_LETTERS = re.compile(_JOINED.format("A-D"))
_NOTES = re.compile(_JOINED.format("A-G"))


def rotations(options: Sequence[str]) -> list[list[int]]:
    """Return orders of options as places: the original order, then rotations by one, two and three.

    An option such as "All of the above" is last in all rotations, and the other options rotate.

    Example:
        >>> rotations(["C", "D", "E", "F"])
        [[0, 1, 2, 3], [3, 0, 1, 2], [2, 3, 0, 1], [1, 2, 3, 0]]
        >>> rotations(["C", "D", "E", "All of the above"])
        [[0, 1, 2, 3], [2, 0, 1, 3], [1, 2, 0, 3]]
    """
    last = [place for place, option in enumerate(options) if _ABOVE.match(option)]
    rest = [place for place in range(len(options)) if place not in last]
    return [
        [*range(len(options))],
        *([*rest[-by:], *rest[:-by], *last] for by in range(1, len(rest))),
    ]


def names_letters(options: Sequence[str]) -> bool:
    """Whether an option refers to other options by their letters, so that the order must not
    change.

    If all options are letters, the letters are names of notes.

    Example:
        >>> names_letters(["Mos Def", "Talib Kweli", "Both A and B", "None of the above"])
        True
        >>> names_letters(["A和B", "B和C", "C和D", "D和E"])
        False
    """
    named = any(_LETTERS.fullmatch(option) for option in options)
    return named and not all(_NOTES.fullmatch(option) for option in options)
