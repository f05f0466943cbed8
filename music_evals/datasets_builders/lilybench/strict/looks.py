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


def attack(rows: Sequence[TaskRow]) -> list[float]:
    """Return, for each row, the chance that a classifier finds its answer by looks; ties count as guesses.

    Rows whose answer is the right one in no other folder are left out, because nothing can be learnt of it.
    """
    folders = [row["piece"].rpartition("/")[0] or row["piece"] for row in rows]
    features = [looks(row["score"]) for row in rows]
    rights = [row["options"][int(row["answer"])] for row in rows]
    chances = []
    for row, folder, own, right in zip(rows, folders, features, rights, strict=True):
        examples: dict[str, list[frozenset[str]]] = {option: [] for option in row["options"]}
        for other_folder, other, answer in zip(folders, features, rights, strict=True):
            if other_folder != folder and answer in examples:
                examples[answer].append(other)
        if examples[right]:
            scores = {option: _likelihood(own, group) for option, group in examples.items() if group}
            ties = [option for option, score in scores.items() if math.isclose(score, max(scores.values()))]
            unknown = len(examples) - len(scores)  # a guesser may choose these as well if looks tell nothing
            chances.append((right in ties) / (len(ties) + unknown * (len(ties) == len(scores))))
    return chances


def _likelihood(own: frozenset[str], examples: Sequence[frozenset[str]]) -> float:
    """The logarithm of how likely the looks of a row are, by those of the examples of an option."""
    counts = Counter(look for example in examples for look in example)
    shares = {look: (counts[look] + 1) / (len(examples) + 2) for look in own | counts.keys()}
    return sum(math.log(share if look in own else 1 - share) for look, share in shares.items())


def check_looks(task: str, rows: Sequence[TaskRow]) -> None:
    """Raise ValueError if looks give answers away: the 95% interval lies above chance and `MARGIN`."""
    chances = attack(rows)
    if not chances:
        return
    share, count = sum(chances) / len(chances), len(chances)
    chance = sum(1 / len(row["options"]) for row in rows) / len(rows)
    center = (share + _Z**2 / (2 * count)) / (1 + _Z**2 / count)
    spread = _Z / (1 + _Z**2 / count) * math.sqrt(share * (1 - share) / count + (_Z / (2 * count)) ** 2)
    if center - spread > chance + MARGIN:
        raise ValueError(
            f"{task}: how the scores are written, without their notes, gives {share:.0%} of the answers away; "
            f"chance is {chance:.0%}"
        )
