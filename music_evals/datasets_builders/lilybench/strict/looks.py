r"""An attack that sees how a score is written and not its notes: no strict option may follow from
that.

It sees all of a text that is no pitch and no duration: every command and sign with its number, and
so the staves, voices and clefs, tuplets, grace notes, a pickup; the measures, and the length. It
does not see pitches, durations with their ties and rests, keys and metres: by these a person may
rightly know a composer or a style. Tuplets, grace notes, staves and the number of measures are
music as well. But who counts them has not read a note.

A naive Bayes classifier learns which of these numbers go with which right option. For each row it
learns from rows of other composers, which are other folders too, since pieces of one folder are
often by one editor. Where a composer is asked for, other rows are those of other folders below the
composer's, or of other pieces if there are none.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

from music_evals.datasets_builders.lilybench.rows import TaskRow

MARGIN = 0.03  # above chance, from which on a dataset is refused
_Z = 1.96  # of a 95% interval
_FINENESS = 2  # steps in which a number doubles
_MARK = re.compile(r"\\[A-Za-z]+|\\\\|\"[^\"\n]*\"|[#$%|]|\n[ \t]*\n")
_MUSIC = {
    "\\key",
    "\\time",
    "\\major",
    "\\minor",
    "\\dorian",
    "\\phrygian",
    "\\lydian",
    "\\mixolydian",
    "\\locrian",
}

Looks = Mapping[str, int]
"""Sign or command → steps on a scale of its number in a text."""


def looks(text: str) -> Looks:
    r"""Return how often a text has each command and sign, and its length, except commands that say
    what is played.

    Numbers are rough: on a scale on which a number doubles in two steps, from 1.

    Example:
        >>> looks(r"\new Staff { \key c \major \stemUp c'4 \voiceOne d' | \voiceOne e' |")
        {'\\new': 1, '\\stemUp': 1, '\\voiceOne': 3, '|': 3, 'length': 13}
    """
    counts = Counter(match[0] for match in _MARK.finditer(text) if match[0] not in _MUSIC)
    counts["length"] = len(text)
    return {mark: 1 + round(_FINENESS * math.log2(count)) for mark, count in counts.items()}


def attack(rows: Sequence[TaskRow]) -> list[float]:
    """Return, for each row, the chance that a classifier finds its answer by looks; ties count as
    guesses.

    Rows with an option that is right in no other group are left out, because nothing can be learnt
    of it.
    """
    groups = [_group(row) for row in rows]
    features = [looks(row["score"]) for row in rows]
    rights = [row["options"][int(row["answer"])] for row in rows]
    chances = []
    for row, group, own, right in zip(rows, groups, features, rights, strict=True):
        examples: dict[str, list[Looks]] = {option: [] for option in row["options"]}
        for other_group, other, answer in zip(groups, features, rights, strict=True):
            if other_group != group and answer in examples:
                examples[answer].append(other)
        if all(examples.values()):
            scores = _likelihoods(own, examples)
            best = max(scores.values())
            ties = [option for option, score in scores.items() if math.isclose(score, best)]
            chances.append((right in ties) / len(ties))
    return chances


def _group(row: TaskRow) -> str:
    """The works that are learnt from together with a row's piece."""
    folder = row["piece"].rpartition("/")[0]
    if row["id"].startswith("composer_recognition."):
        return folder if "/" in folder else row["piece"]
    return row["piece"].partition("/")[0]


def _likelihoods(own: Looks, examples: Mapping[str, Sequence[Looks]]) -> dict[str, float]:
    """Option → the logarithm of how likely the looks of a row are, by those of its examples.

    Shares are smoothed by those of all examples, so that it makes no difference how many an option
    has.
    """
    every_example = list(chain.from_iterable(examples.values()))
    scores = dict.fromkeys(examples, 0.0)
    for mark in set(own).union(*every_example):
        number = own.get(mark, 0)
        share = (sum(example.get(mark, 0) == number for example in every_example) + 1) / (
            len(every_example) + 1
        )
        for option, group in examples.items():
            count = sum(example.get(mark, 0) == number for example in group)
            scores[option] += math.log((count + share) / (len(group) + 1))
    return scores


def check_looks(task: str, rows: Sequence[TaskRow]) -> None:
    """Raise ValueError if looks give answers away: the 95% interval lies above chance and
    `MARGIN`.
    """
    chances = attack(rows)
    if not chances:
        return
    count = len(chances)
    share = sum(chances) / count
    chance = sum(1 / len(row["options"]) for row in rows) / len(rows)
    # Wilson's interval.
    scale = 1 + _Z**2 / count
    center = (share + _Z**2 / (2 * count)) / scale
    spread = _Z / scale * math.sqrt(share * (1 - share) / count + (_Z / (2 * count)) ** 2)
    if center - spread > chance + MARGIN:
        raise ValueError(
            f"{task}: how the scores are written, without their notes, gives {share:.0%} of the "
            f"answers away; chance is {chance:.0%}"
        )
