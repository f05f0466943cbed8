"""Paired comparisons, against published examples, statsmodels and scipy."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as reference_mcnemar
from statsmodels.stats.multitest import multipletests

from music_evals.scorers.metrics.paired import (
    EXACT_UP_TO,
    compare,
    difference_interval,
    holm,
    mcnemar,
    sign_flip_test,
)


@pytest.mark.parametrize(
    ("first_only", "second_only"), [(1, 7), (0, 5), (12, 12), (30, 61), (3, 0), (121, 59)]
)
def test_mcnemar_is_that_of_statsmodels(first_only, second_only):
    table = [[10, first_only], [second_only, 20]]
    assert mcnemar(first_only, second_only) == pytest.approx(
        reference_mcnemar(table, exact=True).pvalue
    )


def test_interval_worked_by_hand():
    """21 pairs, 7 and 1 of them discordant; with one more of each and two more pairs: 8/23 and
    2/23, so -6/23 or -0.2609, and 1.96 sqrt((10/23 - (6/23)^2) / 23) or 0.2475 to either side.
    """
    assert difference_interval(7, 1, 21) == pytest.approx((-0.508, -0.013), abs=5e-4)
    assert difference_interval(1, 7, 21) == pytest.approx((0.013, 0.508), abs=5e-4)


def test_interval_covers_the_true_difference_as_often_as_it_says():
    rng = np.random.default_rng(7)
    counts = rng.multinomial(
        40, (0.25, 0.10, 0.65), 1000
    )  # only the first, only the second, neither or both
    ends = [difference_interval(int(one), int(other), 40) for one, other, _ in counts]
    assert np.mean([low <= -0.15 <= high for low, high in ends]) > 0.93


@pytest.mark.parametrize(
    ("first_only", "second_only"), [(0, 0), (0, 1), (3, 1), (2, 2), (0, 12), (9, 3)]
)
def test_flipping_signs_of_right_and_wrong_is_mcnemars_test(first_only, second_only):
    differences = [-1.0] * first_only + [0.0] * 3 + [1.0] * second_only
    assert sign_flip_test(differences) == pytest.approx(mcnemar(first_only, second_only))


@pytest.mark.parametrize("size", [6, EXACT_UP_TO, 40])
def test_sign_flips_are_those_of_scipy(size):
    differences = np.random.default_rng(size).normal(0.3, 1, size)
    found = stats.permutation_test(
        (differences,),
        np.mean,
        permutation_type="samples",
        n_resamples=20_000,
        rng=np.random.default_rng(1),
    )
    assert sign_flip_test(differences) == pytest.approx(
        found.pvalue, abs=1e-12 if size <= EXACT_UP_TO else 0.01
    )


def test_random_flips_never_give_a_p_of_nothing():
    assert sign_flip_test([1.0] * 60, resamples=999) == 0.001


def test_graded_outcomes_have_nearly_the_interval_of_student():
    rng = np.random.default_rng(3)
    first = rng.uniform(0, 0.8, 200)
    second = np.clip(first + rng.normal(0.1, 0.1, 200), 0, 1)
    found = compare(first, second)
    expected = stats.ttest_rel(second, first).confidence_interval()
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.003)
    assert found.test == "sign flips"


def test_questions_on_one_piece_count_as_one():
    """Five pieces, on each of which all ten answers changed alike: five coins, not fifty."""
    pieces = [piece for piece in range(5) for _ in range(10)]
    first = [0.0] * 50
    second = [float(piece < 5) for piece in pieces]
    assert compare(first, second, pieces).p == 2 / 2**5
    assert compare(first, second).p == pytest.approx(2 / 2**50)
    mixed = [float(piece < 3) for piece in pieces]
    clustered, independent = compare(first, mixed, pieces), compare(first, mixed)
    assert clustered.difference == independent.difference == 0.6
    assert clustered.high - clustered.low > 2 * (independent.high - independent.low)


def test_without_a_difference_there_is_no_evidence_of_one():
    found = compare([1] * 20, [1] * 20)
    assert (found.difference, found.p, found.pairs) == (0, 1, 20)
    assert 0.1 < found.high < 0.2, "twenty right answers do not prove that the models are alike"


def test_pieces_without_a_difference_are_a_pair_each():
    found = compare([1, 0] * 10, [1, 0] * 10, [place // 4 for place in range(20)])
    assert (found.low, found.high) == difference_interval(0, 0, 5)


@pytest.mark.slow
@pytest.mark.parametrize("count", [5, 10, 15])
def test_differences_on_few_pieces_are_held_as_often_as_the_interval_says(count):
    rng = np.random.default_rng(count)
    held = 0
    for _ in range(500):
        pieces = np.repeat(range(count), rng.integers(3, 22, count))
        rates = rng.beta((0.6, 0.9), (0.9, 0.6), (count, 2))[pieces]
        first, second = (rng.random((2, len(pieces))) < rates.T).astype(float)
        found = compare(first, second, pieces.tolist(), resamples=1)
        held += found.low <= 0.2 <= found.high
    assert held / 500 > 0.93


def test_a_single_piece_has_a_difference_but_no_interval():
    found = compare([0, 0], [1, 1], ["op. 1", "op. 1"])
    assert (found.difference, found.p) == (1, 1)
    assert np.isnan([found.low, found.high]).all()


@pytest.mark.parametrize("size", [1, 5, 30])
def test_holm_is_that_of_statsmodels(size):
    ps = np.random.default_rng(size).uniform(0, 0.2, size).round(2)  # with ties
    assert holm(ps.tolist()) == pytest.approx(list(multipletests(ps, method="holm")[1]))
    assert holm([]) == []
    with_ones = [*ps.tolist(), *[1.0] * 7]
    adjusted = multipletests(with_ones, method="holm")[1][:size]
    assert holm(ps.tolist(), untested=7) == pytest.approx(list(adjusted))


def test_the_same_outcomes_give_the_same_figures_and_swapped_ones_the_opposite():
    first, second = [0.2, 0.5, 0.9, 0.4], [0.6, 0.5, 1.0, 0.1]
    there, back = compare(first, second), compare(second, first)
    assert there.difference == pytest.approx(-back.difference)
    assert there.p == back.p


@pytest.mark.parametrize(
    ("first", "second", "clusters", "says"),
    [
        ([], [], None, "empty"),
        ([1], [1, 0], None, "first has 1 outcomes, second has 2"),
        ([1], [1.5], None, "second holds something outside 0 to 1"),
        ([float("nan")], [1], None, "first holds something outside 0 to 1"),
        ([1, 1], [1, 0], ["a"], "clusters names 1 items, first has 2"),
    ],
)
def test_what_cannot_be_compared_is_named(first, second, clusters, says):
    with pytest.raises(ValueError, match=says):
        compare(first, second, clusters)  # type: ignore[arg-type]
