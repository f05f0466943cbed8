"""An attack that sees how a score is written and not its notes: no strict option may follow from that.

A naive Bayes classifier learns which commands and how much layout go with which right option. For each row it learns
from the rows of other folders, since pieces of one folder are often by one editor.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from music_evals.datasets_builders.lilybench.rows import TaskRow

MARGIN: Final = 0.05  # above chance, from which on a dataset is refused
_Z: Final = 1.96  # of a 95% interval
_MARK: Final = re.compile(r"\\[A-Za-z]+|[#$%]|\n[ \t]*\n")
_MUSIC: Final = frozenset(
    {
        *("\\new", "\\key", "\\clef", "\\time", "\\partial", "\\tuplet", "\\grace", "\\major", "\\minor", "\\dorian"),
        *("\\phrygian", "\\lydian", "\\mixolydian", "\\locrian"),
    }
)


def looks(text: str) -> frozenset[str]:
    r"""Return the commands, comment signs, Scheme and blank lines of a text, except commands that say what is played.

    Example:
        >>> sorted(looks(r"\new Staff { \key c \major \stemUp c'4 \voiceOne d' % dolce"))
        ['%', '\\stemUp', '\\voiceOne']
    """
    return frozenset(match[0] for match in _MARK.finditer(text) if match[0] not in _MUSIC)


def attack(rows: Sequence[TaskRow]) -> float:
    """Return the share of rows whose answer a classifier finds by looks; ties count as guesses."""
    folders = [row["piece"].rpartition("/")[0] or row["piece"] for row in rows]
    features = [looks(row["score"]) for row in rows]
    rights = [row["options"][int(row["answer"])] for row in rows]
    total = 0.0
    for number, row in enumerate(rows):
        known = [n for n, folder in enumerate(folders) if folder != folders[number]]
        vocabulary = frozenset().union(*(features[n] for n in known))
        scores = {}
        for option in row["options"]:
            examples = [features[n] for n in known if rights[n] == option]
            counts = Counter(look for example in examples for look in example)
            share = {look: (counts[look] + 1) / (len(examples) + 2) for look in vocabulary}
            scores[option] = sum(math.log(p if look in features[number] else 1 - p) for look, p in share.items())
        best = max(scores.values())
        ties = [option for option, score in scores.items() if math.isclose(score, best, abs_tol=1e-9)]
        total += (rights[number] in ties) / len(ties)
    return total / len(rows)


def check_looks(task: str, rows: Sequence[TaskRow]) -> None:
    """Raise ValueError if looks give answers away: the 95% interval lies above chance and `MARGIN`."""
    share, count = attack(rows), len(rows)
    chance = sum(1 / len(row["options"]) for row in rows) / count
    center = (share + _Z**2 / (2 * count)) / (1 + _Z**2 / count)
    spread = _Z / (1 + _Z**2 / count) * math.sqrt(share * (1 - share) / count + (_Z / (2 * count)) ** 2)
    if center - spread > chance + MARGIN:
        raise ValueError(
            f"{task}: how the scores are written, without their notes, gives {share:.0%} of the answers away; "
            f"chance is {chance:.0%}"
        )
