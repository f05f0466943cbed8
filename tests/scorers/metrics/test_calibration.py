"""A judge's scores corrected by a person: against ppi-python, and its coverage."""

import numpy as np
import pytest

from music_evals.scorers.metrics.calibration import corrected_mean, youden


def sample(seed, n=300, labelled=60):
    """A judge that calls 90% of right and 35% of wrong answers right; of all answers 55% are."""
    rng = np.random.default_rng(seed)
    people = rng.random(n) < 0.55
    judged = rng.random(n) < np.where(people, 0.9, 0.35)
    known = rng.permutation(n) < labelled
    labels = [
        float(label) if is_known else None for label, is_known in zip(people, known, strict=True)
    ]
    return judged.astype(float).tolist(), labels


@pytest.mark.parametrize(
    ("seed", "expected"),
    [
        (0, (0.44552317, 0.3330168, 0.55802953)),
        (1, (0.60997884, 0.50402852, 0.71592915)),
        (2, (0.59788536, 0.49170608, 0.70406464)),
    ],
)
def test_the_mean_is_that_of_ppi_python(seed, expected):
    """Against ppi_mean_pointestimate and ppi_mean_ci of ppi-python 0.2.3, whose interval is
    normal.
    """
    judged, labels = sample(seed)
    found = corrected_mean(judged, labels, range(len(judged)))
    assert found
    assert (found.value, found.low, found.high) == pytest.approx(expected, abs=0.005)


def test_the_interval_holds_the_truth_and_the_judges_mean_does_not():
    holds = biased = 0
    for seed in range(300):
        judged, labels = sample(seed)
        found = corrected_mean(judged, labels, range(len(judged)))
        assert found
        assert found.low is not None
        assert found.high is not None
        holds += found.low <= 0.55 <= found.high
        biased += np.mean(judged) > 0.6
    assert 0.92 <= holds / 300 <= 0.98
    assert biased / 300 > 0.8


def test_labels_of_one_cluster_correct_nothing():
    assert corrected_mean([1, 0, 1], [1, 0, None], ["a", "a", "b"]) is None
    everybody = corrected_mean([1, 1, 1, 1], [1, 0, 1, 0], "abcd")
    assert everybody
    assert everybody.value == 0.5


def test_youdens_j():
    assert youden([1, 1], [1, 1]) is None
    found = youden([1, 1, 0, 0], [1, 1, 0, 0])
    assert found
    assert found.value == found.high == 1
    assert found.low
