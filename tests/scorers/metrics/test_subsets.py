"""Random subsets, and estimates from them, against all subsets and known truths."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from music_evals.scorers.metrics.subsets import draw, strata_by_difficulty, subset_estimate


def test_the_mean_over_all_subsets_is_the_score_on_all_items():
    """Strata of two sizes: each item has a chance of its own, and no model is favoured."""
    values = np.array([1, 0, 0.5, 1, 1, 0, 0.25])
    strata = [np.arange(4), np.arange(4, 7)]
    means = [
        subset_estimate([values[[*first]], values[[*second]]], [4, 3]).value
        for first in combinations(strata[0], 2)
        for second in combinations(strata[1], 2)
    ]
    assert np.mean(means) == pytest.approx(values.mean())


def test_all_items_leave_no_doubt():
    values = np.array([1, 0, 0, 1.0])
    found = subset_estimate([values[:2], values[2:]], [2, 2])
    assert (found.value, found.low, found.high) == (0.5, 0.5, 0.5)


def test_strata_hold_items_that_are_about_as_hard():
    means = np.random.default_rng(1).permutation(np.linspace(0, 1, 101))
    strata = strata_by_difficulty(means, 22, np.random.default_rng(0))
    assert [len(items) for items in strata] == [26, 25, 25, 25]
    assert sorted(np.concatenate(strata)) == [*range(101)]
    ends = [(means[items].min(), means[items].max()) for items in strata]
    assert all(high < low for (_, high), (low, _) in pairwise(ends))
    drawn = draw(strata, 22, np.random.default_rng(0))
    assert [len({*items}) for items in drawn] == [6, 6, 5, 5]


def responses(rng, models, items):
    """Answers by a model of two parameters, with guessing."""
    skill, difficulty = rng.normal(size=(models, 1)), rng.normal(size=items)
    slope = np.exp(rng.normal(0, 0.4, items))
    chance = 0.25 + 0.75 / (1 + np.exp(-1.7 * slope * (skill - difficulty)))
    return (rng.random((models, items)) < chance).astype(float)


@pytest.mark.parametrize("size", [25, 100])
def test_estimates_of_held_out_models_are_unbiased_and_cover(size):
    rng = np.random.default_rng(3)
    errors, covered, widths = [], [], []
    for _ in range(100):
        values = responses(rng, 24, 300)
        strata = strata_by_difficulty(values[:12].mean(axis=0), size, rng)
        drawn = draw(strata, size, rng)
        for model in values[12:]:
            found = subset_estimate([model[items] for items in drawn], [*map(len, strata)])
            assert found.low is not None
            assert found.high is not None
            errors.append(found.value - model.mean())
            covered.append(found.low <= model.mean() <= found.high)
            widths.append(found.high - found.low)
    assert np.mean(errors) == pytest.approx(0, abs=0.01)
    assert 0.93 <= np.mean(covered) <= 0.97
    assert np.mean(widths) == pytest.approx(3.92 * np.sqrt(np.mean(np.square(errors))), rel=0.1)
