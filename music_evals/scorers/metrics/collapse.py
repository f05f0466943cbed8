"""Whether answers depend on the questions: answer collapse, a permutation test, position bias.

Conventions: an answer and a key (the right answer) are texts in one form, a letter for an option.
None is a reply without an answer; it is in no share. Replies to one question in several epochs are
replies to one item.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from music_evals.scorers.metrics.resampling import Names, numbered

LEAST_EXCESS = 0.2
LEVEL = 0.05
LEAST_ITEMS = 20
"""Number of items from which on a large p says something."""
_PERMUTATIONS = 999
_LEAST_PERMUTATIONS = 199
_MOST_CELLS = 2_000_000  # answers under all permutations

Answers = Sequence[str | None]


class Collapse(NamedTuple):
    """The commonest answer beside the commonest key.

    Args:
        answer: the commonest answer.
        share: its share of all answers.
        key: the commonest key.
        key_share: its share of all keys.
        p: of the test that the commonest answer is no commoner than the commonest key.
    """

    answer: str
    share: float
    key: str
    key_share: float
    p: float

    @property
    def is_collapsed(self) -> bool:
        """Whether the share of the commonest answer is above that of the commonest key by at least
        `LEAST_EXCESS`, and p is below `LEVEL`.
        """
        return round(self.share - self.key_share, 9) >= LEAST_EXCESS and self.p < LEVEL


def shares(texts: Answers) -> dict[str, float]:
    """Return the share of each text, the commonest first; None is in no share.

    >>> shares(["A", "C", None, "C"])
    {'C': 0.6666666666666666, 'A': 0.3333333333333333}
    """
    counts = Counter(text for text in texts if isinstance(text, str))
    return {text: number / counts.total() for text, number in counts.most_common()}


def collapse(answers: Answers, keys: Sequence[str], items: Names) -> Collapse | None:
    """Compare the commonest answer with the commonest key; None without an answer.

    p is a binomial tail: how likely an answer is to get at least its share of as many answers as
    there are items, if its probability is the share of the commonest key. It is multiplied by the
    number of different keys (Bonferroni), because any of them may become the commonest answer.

    Args:
        answers: one per reply.
        keys: the key of each reply.
        items: the item of each reply.

    Source: R. A. Fisher, "The Design of Experiments" (1935), for the binomial test.

    Example:
        >>> found = collapse(["C"] * 8 + ["A", None], ["A", "B", "C", "D", "B"] * 2, range(10))
        >>> found.answer, round(found.share, 3), found.key, found.key_share
        ('C', 0.889, 'B', 0.4)
    """
    from scipy.special import bdtrc

    chosen = shares(answers)
    right = shares(keys)
    if not chosen:
        return None
    answer = next(iter(chosen))
    key = next(iter(right))
    trials = len({item for item, text in zip(items, answers, strict=True) if text in chosen})
    tail = bdtrc(round(chosen[answer] * trials) - 1, trials, right[key])
    p = min(1.0, len(right) * float(tail))
    return Collapse(answer, chosen[answer], key, right[key], p)


def permutation_p(answers: Answers, keys: Sequence[str], items: Names) -> float:
    """p of the test that answers have nothing to do with the keys of their questions.

    The null hypothesis: given the replies, every assignment of the keys to the questions is equally
    likely. The statistic is the number of right answers. Its distribution is that of the same
    replies under permuted keys: all permutations if there are at most 999, else 999 random ones
    with a fixed seed, and fewer of more than 2,000 replies. p is two-sided: twice the smaller tail,
    which is (1 + b) / (1 + m) of random permutations.

    A model that gives all questions the same answer has the same score under each permutation, so
    that p is 1, however high the score is. So it is if all keys are equal. A small p says that
    answers depend on the questions. A large one does not say that they do not, least with few
    items.

    Args:
        answers: one per reply; an answer is right if it equals the key.
        keys: the key of each reply.
        items: the item of each reply; the key of an item goes to all replies to it. Items are taken
            as independent, also those on the same piece.

    Source: B. Phipson and G. K. Smyth, "Permutation p-values should never be zero", Statistical
        Applications in Genetics and Molecular Biology 9 (2010); P. Good, "Permutation, Parametric
        and Bootstrap Tests of Hypotheses" (2005), section 3.2.

    Example:
        >>> keys = ["A", "B"] * 20
        >>> permutation_p(keys, keys, range(40)), permutation_p(["A"] * 40, keys, range(40))
        (0.002, 1.0)
    """
    from scipy.stats import permutation_test

    if len({*keys}) < 2:
        return 1.0
    codes = {text: code for code, text in enumerate({*answers, *keys})}
    chosen = np.array([codes[answer] for answer in answers])
    pairs = list(zip(items, keys, strict=True))
    places = numbered(pairs)
    right = np.array([codes[key] for _, key in dict.fromkeys(pairs)])
    test = permutation_test(
        (right,),
        lambda permuted: (permuted[places] == chosen).sum(),
        permutation_type="pairings",
        n_resamples=min(_PERMUTATIONS, max(_LEAST_PERMUTATIONS, _MOST_CELLS // len(answers))),
        rng=0,
    )
    return float(test.pvalue)


def position_bias(answers: Answers, keys: Sequence[str]) -> float:
    """How far the shares of the positions among the answers are from those among the keys: the
    total variation distance, from 0 to 1.

    It is the share of answers that would have to move to other positions; 0 without an answer. Few
    answers have some by chance: about 0.09 with four options and 60 random answers.

    Args:
        answers: the position of the option that each reply chooses, such as its letter.
        keys: the position of the right option.

    Source: C. Zheng et al., "Large language models are not robust multiple choice selectors", ICLR
        2024 (the bias).

    Example:
        >>> position_bias(["A", "A", "A", "B"], ["A", "B", "C", "D"])
        0.5
    """
    chosen = shares(answers)
    right = shares(keys)
    names = {*chosen, *right} if chosen else ()
    return sum(abs(chosen.get(name, 0) - right.get(name, 0)) for name in names) / 2
