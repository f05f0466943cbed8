"""Confidence sequences: they hold at every look, and do not depend on the order of the items."""

import random

import numpy as np
import pytest

from music_evals.scorers.metrics.sequences import sequence_interval


@pytest.mark.parametrize("mean", [0.25, 0.5, 0.8])
def test_the_mean_is_within_all_looks_of_a_run_in_95_of_100_runs(mean):
    rng = np.random.default_rng(1)
    left_out = 0
    for _ in range(200):
        values = (rng.random(160) < mean).astype(float).tolist()
        looks = [sequence_interval(values[:n], range(n), range(n), 160) for n in range(8, 161, 8)]
        left_out += any(not low <= mean <= high for low, high in looks)
    assert left_out / 200 <= 0.05


def test_clusters_count_with_their_sums():
    """Clusters of four that are all right or all wrong are as few as their number."""
    values = [1.0, 0.0] * 20
    single = sequence_interval(values, range(40), range(40), 40)
    repeated = [value for value in values for _ in range(4)]
    clusters = [place // 4 for place in range(160)]
    assert sequence_interval(repeated, range(160), clusters, 40, 4) == pytest.approx(single)


def test_the_order_of_responses_makes_no_difference():
    values = [(number % 3 == 0, f"q{number}") for number in range(60)]
    before = sequence_interval(*zip(*values, strict=True), range(60), 60)  # type: ignore[arg-type]
    random.Random(0).shuffle(values)
    after = sequence_interval(*zip(*values, strict=True), range(60), 60)  # type: ignore[arg-type]
    assert before == pytest.approx(after)


def test_answers_that_are_all_right_leave_no_lower_mean_for_long():
    low, high = sequence_interval([1.0] * 40, range(40), range(40), 200)
    assert high == pytest.approx(1)
    assert 0.7 < low < 1
