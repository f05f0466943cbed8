"""A floor that looks at the size of a stimulus alone."""

from collections import Counter
from collections.abc import Sequence

from music_evals.datasets_builders.questions.audit import credit

_NEAREST = 9  # stimuli that vote; stimuli at the same distance as the last of them vote too


def share_guessed(stimuli: Sequence[tuple[str, str, int]]) -> float:
    """Return the share of stimuli (group, answer, size) whose answer others of about the same size
    give away, 0 to 1.

    There are at least two groups. A share within three standard errors of chance counts as chance.
    """
    chance = 1 / len({answer for _, answer, _ in stimuli})
    right = 0.0
    for group, answer, size in stimuli:
        neighbours = sorted(
            (abs(other - size), label) for name, label, other in stimuli if name != group
        )
        farthest = neighbours[:_NEAREST][-1][0]
        votes = Counter(label for distance, label in neighbours if distance <= farthest)
        right += credit([*votes.values()], [label == answer for label in votes])
    share = right / len(stimuli)
    error = (chance * (1 - chance) / len(stimuli)) ** 0.5
    return round(share if share > chance + 3 * error else chance, 4)
