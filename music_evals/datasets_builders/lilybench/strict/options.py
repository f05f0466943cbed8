"""Options of the strict tasks with choices: each of four options is right as often as the others.

Four pieces with four values (keys, metres, composers, styles, titles) share their options, and
there is a question on each of the pieces. The four values are near each other. Values take turns,
or most keys would be C major. Values for which no four pieces are left are asked with the options
of others.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from music_evals.datasets_builders.lilybench.rows import stable_hash
from music_evals.datasets_builders.lilybench.strict.survey import Usable

OPTIONS: Final = 4
Grouping = Callable[
    [Sequence[str], Iterable[str], str], Iterator[tuple[Sequence[str], Sequence[str]]]
]
"""Values to ask for, most pieces first, all values, and a salt → groups of these values, with the
options of each.
"""


def collection_ranks(pieces: Iterable[Usable], salt: str) -> dict[str, int]:
    """Rank pieces within their collections: id → number of pieces of the same collection ahead of
    it.

    Pieces of one series have more in common than their music.
    """
    counts: Counter[str] = Counter()
    ranks = {}
    for piece in sorted(pieces, key=lambda piece: stable_hash(salt, piece.id)):
        collection = piece.id.rpartition("/")[0]
        ranks[piece.id] = counts[collection]
        counts[collection] += 1
    return ranks


def draw_questions(
    pieces: Sequence[Usable], values: Mapping[str, str], salt: str, grouping: Grouping
) -> Iterator[tuple[Usable, Sequence[str], int]]:
    """Draw pieces with their options and the place of the right one, in turns that ask for each
    value at most once.

    Questions that share their options in a turn have the right one at different places.

    Args:
        pieces: pieces to ask about.
        values: id of the piece → its value, the right option.
        salt: decides all draws.
        grouping: groups the values of a turn.
    """
    ranks = collection_ranks(pieces, salt)
    remaining: dict[str, list[Usable]] = defaultdict(list)
    for piece in pieces:
        remaining[values[piece.id]].append(piece)
    counts = {value: len(group) for value, group in remaining.items()}
    for turn in range(max(counts.values(), default=0)):
        turn_salt = f"{salt} {turn}"
        # A piece whose value had to wait stays to the end; in the next turn it would move all later
        # pieces.
        available = sorted(
            (value for value in remaining if counts[value] > turn),
            key=lambda value: (-counts[value], stable_hash(turn_salt, value)),
        )
        for group, options in grouping(available, remaining, turn_salt):
            in_order = sorted(group, key=lambda value: stable_hash(turn_salt, value))
            for value, place in zip(in_order, _places(turn_salt, *in_order), strict=False):
                # The hash includes the turn, so that one piece less does not move all later pieces
                # a turn ahead.
                piece = min(
                    remaining[value],
                    key=lambda piece: (ranks[piece.id], stable_hash(turn_salt, piece.id)),
                )
                remaining[value].remove(piece)
                yield piece, options, place
    rest = (piece for group in remaining.values() for piece in group)
    for piece in sorted(rest, key=lambda piece: stable_hash(salt, piece.id)):
        for _, options in grouping([values[piece.id]], remaining, salt):
            yield piece, options, _places(salt, piece.id)[0]


def _places(*seed: str) -> list[int]:
    return random.Random(stable_hash(*seed)).sample(range(OPTIONS), OPTIONS)


def near_fours(
    distance: Callable[[str, str], Any], are_alike: Callable[[str, str], bool] = lambda *_: False
) -> Grouping:
    """Group values in fours that are near each other, no two of them alike; one value after the
    other chooses.
    """

    def group_values(
        values: Sequence[str], all_values: Iterable[str], salt: str
    ) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
        # If fewer than two fours are left, the values with the fewest pieces wait, which leaves
        # more fours for later.
        candidates = values[:OPTIONS] if len(values) < 2 * OPTIONS else values
        order = sorted(candidates, key=lambda value: stable_hash(salt, value))
        free = dict.fromkeys(order)
        fours = []
        for value in order:
            if value in free and len(four := [value, *nearest(value, free, salt)]) == OPTIONS:
                fours.append(four)
                for member in four:
                    del free[member]
        if fours:
            yield from ((four, four) for four in fours)
        else:
            fours = [[value, *nearest(value, all_values, salt)] for value in values]
            yield from ((four[:1], four) for four in fours if len(four) == OPTIONS)

    def nearest(value: str, candidates: Iterable[str], salt: str) -> list[str]:
        chosen: list[str] = []
        for other in sorted(
            candidates, key=lambda other: (distance(value, other), stable_hash(salt, value, other))
        ):
            if len(chosen) == OPTIONS - 1:
                break
            if other != value and not any(are_alike(other, member) for member in (value, *chosen)):
                chosen.append(other)
        return chosen

    return group_values


def fixed_options(options: Sequence[str]) -> Grouping:
    """Ask for each value by itself, always with the same options."""
    return lambda values, _, salt: (
        ([value], options) for value in sorted(values, key=lambda value: stable_hash(salt, value))
    )
