"""The Fréchet distance, against SciPy's root of a matrix, closed forms, by hand, and by its
properties.
"""

from functools import partial

import numpy as np
import numpy.typing as npt
import pytest
from scipy import linalg

from music_evals.scorers.metrics.frechet import (
    frechet_distance,
    frechet_infinity,
    frechet_interval,
)

Floats = npt.NDArray[np.float64]


def by_definition(reference, generated):
    first, second = np.cov(reference.T), np.cov(generated.T)
    root = linalg.sqrtm(first @ second)
    difference = reference.mean(axis=0) - generated.mean(axis=0)
    return float(difference @ difference + np.trace(first + second - 2 * root).real)


def clouds(seed, *sizes, dimension):
    rng = np.random.default_rng(seed)
    return [
        rng.normal(size=(n, dimension)) @ rng.normal(size=(dimension, dimension)) + rng.normal()
        for n in sizes
    ]


def whitened(rng, n, dimension):
    """Pieces whose mean is 0 and whose covariance is the identity, to rounding."""
    rows = rng.normal(size=(n, dimension))
    return np.linalg.qr(rows - rows.mean(axis=0))[0] * np.sqrt(n - 1)


@pytest.mark.parametrize("sizes", [(300, 200), (200, 300), (40, 300)])
def test_the_distance_agrees_with_scipy(sizes):
    for seed in range(5):
        reference, generated = clouds(seed, *sizes, dimension=24)
        assert frechet_distance(reference, generated) == pytest.approx(
            by_definition(reference, generated), rel=1e-6
        )


def test_diagonal_covariances_have_a_closed_form():
    rng = np.random.default_rng(1)
    first, second, between = rng.uniform(0.1, 3, 10), rng.uniform(0.1, 3, 10), rng.normal(size=10)
    found = frechet_distance(
        whitened(rng, 80, 10) * first, whitened(rng, 50, 10) * second + between
    )
    assert found == pytest.approx(np.sum(between**2) + np.sum((first - second) ** 2), rel=1e-9)


def test_singular_covariances():
    # Fewer pieces than dimensions: all that differs lies in a subspace of 6 of 100 dimensions.
    rng = np.random.default_rng(2)
    first, second = rng.uniform(0.5, 2, 6), rng.uniform(0.5, 2, 6)
    axes = np.linalg.qr(rng.normal(size=(100, 6)))[0]
    found = frechet_distance(
        (whitened(rng, 9, 6) * first) @ axes.T, (whitened(rng, 12, 6) * second) @ axes.T
    )
    assert found == pytest.approx(np.sum((first - second) ** 2), rel=1e-9)
    # Sets in orthogonal subspaces have no covariance in common.
    left, right = (
        np.hstack([whitened(rng, 9, 6), np.zeros((9, 6))]),
        np.hstack([np.zeros((9, 6)), whitened(rng, 9, 6)]),
    )
    assert frechet_distance(left, right) == pytest.approx(12)


@pytest.mark.parametrize(("n", "dimension"), [(200, 24), (20, 200)])
def test_what_a_distance_must_be(n, dimension):
    reference, generated = clouds(3, n, n + 7, dimension=dimension)
    distance = frechet_distance(reference, generated)
    assert 0 <= frechet_distance(reference, reference) <= 1e-9 * np.trace(np.cov(reference.T))
    assert frechet_distance(generated, reference) == pytest.approx(distance, rel=1e-9)
    turn = np.linalg.qr(np.random.default_rng(4).normal(size=(dimension, dimension)))[0]
    assert frechet_distance(reference @ turn + 5, generated @ turn + 5) == pytest.approx(
        distance, rel=1e-9
    )
    assert frechet_distance(reference * 3, generated * 3) == pytest.approx(9 * distance, rel=1e-9)
    assert frechet_distance(reference.astype(np.float32), generated) == pytest.approx(
        distance, rel=1e-5
    )


def test_resamples_are_those_of_the_pieces_themselves():
    reference, generated = clouds(5, 60, 40, dimension=6)
    counts = np.random.default_rng(0).multinomial(40, np.full(40, 1 / 40), 200)
    distances = [
        frechet_distance(reference, np.repeat(generated, times, axis=0)) for times in counts
    ]
    shift = frechet_distance(reference, generated) - np.mean(distances)
    expected = np.quantile(distances, [0.025, 0.975]) + shift
    assert frechet_interval(reference, generated, resamples=200) == pytest.approx(tuple(expected))


def test_the_interval_covers_what_is_expected_at_its_size():
    rng = np.random.default_rng(6)
    reference = rng.normal(size=(200, 5))
    samples = [rng.normal(size=(60, 5)) * 0.8 + 0.4 for _ in range(60)]
    expected = np.mean([frechet_distance(reference, sample) for sample in samples])
    intervals = [frechet_interval(reference, sample, resamples=80) for sample in samples]
    assert np.mean([low <= expected <= high for low, high in intervals]) >= 0.88
    assert frechet_interval(reference, reference[:30], resamples=80)[0] == 0


def test_the_extrapolation_takes_the_bias_away():
    rng = np.random.default_rng(8)
    reference = whitened(rng, 500, 16)
    found = [rng.normal(size=(120, 16)) + 0.25 for _ in range(12)]  # 16 · 0.25² = 1 apart
    distances = [frechet_distance(reference, sample) for sample in found]
    extrapolated = [frechet_infinity(reference, sample) for sample in found]
    assert np.mean(distances) > 1.4
    assert np.mean(extrapolated) == pytest.approx(1, abs=0.15)
    assert frechet_infinity(reference, found[0]) == extrapolated[0]
    assert np.isnan(frechet_infinity(reference, reference[:49]))


@pytest.mark.parametrize(
    ("reference", "generated", "named"),
    [
        ([1.0, 2.0], [[1.0], [2.0]], r"reference has the shape \(2,\)"),
        ([[1.0], [2.0]], [[1.0]], "generated has 1 pieces"),
        ([[1.0], [np.nan]], [[1.0], [2.0]], "reference holds embeddings that are not finite"),
        ([[1.0], [2.0]], [[1.0, 2.0], [2.0, 3.0]], "reference has 1 dimensions, generated 2"),
    ],
)
def test_what_is_no_set_of_embeddings(reference, generated, named):
    for figure in (frechet_distance, partial(frechet_interval, resamples=9), frechet_infinity):
        with pytest.raises(ValueError, match=named):
            figure(reference, generated)
