"""Answer collapse, the permutation test and position bias: by hand, by SciPy's binomial test and by all
permutations.
"""

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import binomtest

from music_evals.scorers.metrics.collapse import collapse, permutation_p, position_bias

KEYS = ["A"] * 31 + ["B"] * 28 + ["C"] * 30 + ["D"] * 31


def test_the_commonest_answer_is_compared_with_the_commonest_key():
    answers = ["C"] * 102 + ["B"] * 10 + [None] * 8
    found = collapse(answers, KEYS, range(120))
    assert found is not None
    assert (found.answer, found.share, found.key) == ("C", 102 / 112, "A")
    assert found.key_share == 31 / 120
    tail = binomtest(102, 112, 31 / 120, alternative="greater").pvalue
    assert found.p == pytest.approx(4 * tail)
    assert found.is_collapsed


@pytest.mark.parametrize(
    ("same", "items", "is_collapsed"),
    [
        # 11 of 20 have a tail of 0.0039 and 10 of 0.0139, by tables of the binomial with 1/4; times 4.
        (11, 20, True),
        (10, 20, False),
        # 20 points above a quarter, and less.
        (90, 200, True),
        (89, 200, False),
    ],
)
def test_collapse_is_far_above_the_keys_and_not_by_chance(same, items, is_collapsed):
    rest = items - same
    answers = ["A"] * same + (["B", "C", "D"] * rest)[:rest]
    found = collapse(answers, ["A", "B", "C", "D"] * (items // 4), range(items))
    assert found is not None
    assert found.is_collapsed is is_collapsed


def test_epochs_are_no_further_questions():
    answers, keys = ["A"] * 10 + ["B"] * 10, ["A", "B", "C", "D"] * 5
    once = collapse(answers, keys, range(20))
    often = collapse(answers * 9, keys * 9, [*range(20)] * 9)
    assert once == often


def by_all_permutations(answers, keys):
    """Twice the smaller tail, over all orders of the keys."""
    right = [sum(map(str.__eq__, answers, order)) for order in permutations(keys)]
    score = sum(map(str.__eq__, answers, keys))
    tails = (sum(value >= score for value in right), sum(value <= score for value in right))
    return min(1.0, 2 * min(tails) / len(right))


@pytest.mark.parametrize("answers", ["ABCABC", "ABCACB", "AAAAAB", "BCABCA", "AABBCC"])
def test_p_of_few_questions_is_that_of_all_permutations(answers):
    keys = [*"ABCABC"]
    expected = by_all_permutations([*answers], keys)
    assert permutation_p([*answers], keys, range(6)) == pytest.approx(expected)


def test_p_of_many_questions_is_near_that_of_the_hypergeometric_distribution():
    from scipy.stats import hypergeom

    # 30 of 60 keys are A, and 30 answers: how many of these are right is hypergeometric. 999 draws
    # have a standard error of 0.012 here.
    keys = ["A"] * 30 + ["B"] * 30
    answers = ["A"] * 19 + ["B"] * 11 + ["A"] * 11 + ["B"] * 19
    expected = 2 * hypergeom(60, 30, 30).sf(18)
    assert permutation_p(answers, keys, range(60)) == pytest.approx(expected, abs=0.04)


def test_one_answer_to_all_questions_has_a_p_of_1_whatever_it_scores():
    keys = ["A"] * 54 + ["B"] * 6
    assert permutation_p(["A"] * 60, keys, range(60)) == 1
    assert permutation_p(["A"] * 60, ["A"] * 60, range(60)) == 1
    assert permutation_p(["A"], ["A"], [0]) == 1


def test_the_key_of_a_question_goes_to_all_its_epochs():
    # Six questions are the same evidence however often each is asked.
    keys, answers = [*"AABBCC"], [*"AABBCC"]
    once = permutation_p(answers, keys, range(6))
    assert permutation_p(answers * 5, keys * 5, [*range(6)] * 5) == pytest.approx(once)


def test_random_answers_are_seldom_called_collapsed_or_dependent():
    rng = np.random.default_rng(3)
    collapsed = dependent = 0
    for _ in range(100):
        keys = rng.permutation(["A", "B", "C", "D"] * 10).tolist()
        answers = rng.choice(["A", "B", "C", "D"], 40).tolist()
        found = collapse(answers, keys, range(40))
        collapsed += found is not None and found.is_collapsed
        dependent += permutation_p(answers, keys, range(40)) < 0.05
    # 5% of 100 are 5; more than 11 come with a chance of 0.4%.
    assert collapsed <= 3
    assert dependent <= 11


def test_position_bias_is_what_would_have_to_move():
    answers = ["C"] * 109 + ["B"] * 7 + ["D"] * 4
    # By hand: C has 109 in the place of 30 of 120.
    assert position_bias(answers, KEYS) == pytest.approx(79 / 120)
    assert position_bias(KEYS, KEYS) == 0
    assert position_bias([None], ["A"]) == 0
