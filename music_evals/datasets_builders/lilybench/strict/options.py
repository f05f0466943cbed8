"""Options of the strict tasks with choices: each of four options is right as often as the others.

Four pieces with four values (keys, metres, composers, styles, titles) share their options, and
there is a question on each of the pieces. The four values are near each other. Values take turns,
or most keys would be C major. Values for which no four pieces are left are asked with the options
of others.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from random import Random
from typing import Any

from music_evals.datasets_builders.lilybench.rows import stable_hash
from music_evals.datasets_builders.lilybench.strict.survey import Usable

OPTIONS = 4
Groups = Iterator[tuple[Sequence[str], Sequence[str]]]
Grouping = Callable[[Sequence[str], Iterable[str], str], Groups]
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
    remaining = defaultdict(list)
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
            in_order = _by_hash(group, turn_salt)
            for value, place in zip(in_order, _places(turn_salt, *in_order), strict=False):
                # The hash includes the turn, so that one piece less does not move all later pieces
                # a turn ahead.
                piece = min(
                    remaining[value],
                    key=lambda piece: (ranks[piece.id], stable_hash(turn_salt, piece.id)),
                )
                remaining[value].remove(piece)
                yield piece, options, place
    rest = chain.from_iterable(remaining.values())
    for piece in sorted(rest, key=lambda piece: stable_hash(salt, piece.id)):
        for _, options in grouping([values[piece.id]], remaining, salt):
            yield piece, options, _places(salt, piece.id)[0]


def _by_hash(values: Iterable[str], *salt: str) -> list[str]:
    return sorted(values, key=lambda value: stable_hash(*salt, value))


def _places(*seed: str) -> list[int]:
    return Random(stable_hash(*seed)).sample(range(OPTIONS), OPTIONS)


def near_fours(
    distance: Callable[[str, str], Any], are_alike: Callable[[str, str], bool] = lambda *_: False
) -> Grouping:
    """Group values in fours that are near each other, no two of them alike; one value after the
    other chooses.
    """

    def group_values(values: Sequence[str], all_values: Iterable[str], salt: str) -> Groups:
        # If fewer than two fours are left, the values with the fewest pieces wait, which leaves
        # more fours for later.
        order = _by_hash(values[:OPTIONS] if len(values) < 2 * OPTIONS else values, salt)
        free = order
        fours = []
        for value in order:
            four = nearest(value, free, salt) if value in free else []
            if len(four) == OPTIONS:
                fours.append(four)
                free = [other for other in free if other not in four]
        if fours:
            yield from zip(fours, fours, strict=True)
            return
        for value in values:
            four = nearest(value, all_values, salt)
            if len(four) == OPTIONS:
                yield [value], four

    def nearest(value: str, candidates: Iterable[str], salt: str) -> list[str]:
        """A value, and the three that are nearest to it, or fewer."""
        in_order = sorted(_by_hash(candidates, salt, value), key=partial(distance, value))
        four = [value]
        for other in in_order:
            is_new = other != value and not any(are_alike(other, member) for member in four)
            if is_new and len(four) < OPTIONS:
                four.append(other)
        return four

    return group_values


def fixed_options(options: Sequence[str]) -> Grouping:
    """Ask for each value by itself, always with the same options."""
    return lambda values, _, salt: (([value], options) for value in _by_hash(values, salt))
