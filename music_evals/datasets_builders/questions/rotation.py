"""In which orders the options of a question may be asked."""

import re
from collections.abc import Sequence
from typing import Final

_ABOVE: Final = re.compile(r"(?:所有|全部)?(?:以上|上述)|.*\bthe above\b", re.IGNORECASE)
_JOINED: Final = (
    r"(?:[Bb]oth |[Ee]ither |[Nn]either )?[{0}](?: ?(?:和|与|或|及|and|or|nor|&) ?[{0}])+(?:都是|均是|皆是)?"
)
_LETTERS: Final = re.compile(_JOINED.format("A-D"))
_NOTES: Final = re.compile(_JOINED.format("A-G"))


def rotations(options: Sequence[str]) -> list[list[int]]:
    """The orders in which options are asked in turn, as their places: as given, then each moved on by one more.

    What speaks of the options above comes last in all but the first, and the others move on.

    Example:
        >>> rotations(["C", "D", "E", "F"])
        [[0, 1, 2, 3], [3, 0, 1, 2], [2, 3, 0, 1], [1, 2, 3, 0]]
        >>> rotations(["C", "D", "E", "All of the above"])
        [[0, 1, 2, 3], [2, 0, 1, 3], [1, 2, 0, 3]]
    """
    last = [place for place, option in enumerate(options) if _ABOVE.match(option)]
    others = [place for place in range(len(options)) if place not in last]
    return [[*range(len(options))], *([*others[-by:], *others[:-by], *last] for by in range(1, len(others)))]


def names_letters(options: Sequence[str]) -> bool:
    """Whether an option names others by their letters, so that they must stay where they are.

    Options that all look so are names of notes.

    Example:
        >>> names_letters(["Mos Def", "Talib Kweli", "Both A and B", "None of the above"])
        True
        >>> names_letters(["A和B", "B和C", "C和D", "D和E"])
        False
    """
    named = any(_LETTERS.fullmatch(option) for option in options)
    return named and not all(_NOTES.fullmatch(option) for option in options)
