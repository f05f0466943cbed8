"""Similarity of descriptors, against SciPy's quadrature, by hand, and by its properties."""

import json
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from music_evals.scorers.metrics.descriptor_similarity import (
    fit_of,
    gaussian_divergences,
    js_interval,
    js_similarity,
)

LN2 = float(np.log(2))


def similarity(reference, generated):
    return js_similarity(fit_of(reference), generated)


def interval(reference, generated):
    return js_interval(fit_of(reference), generated)


def gaussian_divergence(*numbers):
    return float(gaussian_divergences(*map(np.float64, numbers)))  # type: ignore[arg-type]


def quadrature(mean_1, std_1, mean_2, std_2):
    """The divergence by its definition, over all that SciPy's densities leave of a line."""
    first, second = stats.norm(mean_1, std_1), stats.norm(mean_2, std_2)

    def integrand(x):
        p, q = first.pdf(x), second.pdf(x)
        middle = (p + q) / 2
        return float(sum(d * np.log(d / middle) / 2 for d in (p, q) if d > 0 and middle > 0))

    points = sorted(
        mean + step * std
        for mean, std in ((mean_1, std_1), (mean_2, std_2))
        for step in (-9, -4, -1, 0, 1, 4, 9)
    )
    return float(
        sum(
            integrate.quad(integrand, start, end, epsabs=1e-11)[0]
            for start, end in pairwise(points)
            if end > start
        )
    )


@pytest.mark.parametrize(
    "gaussians",
    [
        (0, 1, 2, 1), (0.9, 0.05, 0.87, 0.11), (40, 20, 55, 3), (0, 1, 0, 1e-4), (3, 1e-4, 3.5, 1),
        (0, 1e-3, 0.004, 1e-3), (-2, 0.4, 1, 5),
    ],
)  # fmt: skip
def test_divergence_agrees_with_scipys_quadrature(
    gaussians,
):
    mean_1, std_1, mean_2, std_2 = gaussians
    found = gaussian_divergence(*gaussians)
    assert found == pytest.approx(quadrature(*gaussians), abs=1e-6)
    assert gaussian_divergence(mean_2, std_2, mean_1, std_1) == pytest.approx(found, abs=1e-12)


def test_similarity_is_the_published_one_unless_a_spread_is_a_hundred_times_the_other():
    """The published sum takes 2,000 points over both, which are too few for the narrower one
    then.
    """
    path = Path(__file__).parents[2] / "oracles" / "data" / "lilybench_generation.json"
    rng = np.random.default_rng(1)
    for published in json.loads(path.read_text("utf-8"))["js_similarity"]:
        spread = 10 ** rng.uniform(-2, 0, 3)
        reference = rng.normal(0, spread, (60, 3))
        made = rng.normal(
            spread * rng.normal(size=3), spread * 10 ** rng.uniform(-1.5, 1.5, 3), (40, 3)
        )
        found = similarity(reference, made)
        assert found == pytest.approx(published, abs=1e-4)


def test_divergence_of_what_is_equal_or_apart():
    assert gaussian_divergence(5.0, 0.1, 5.0, 0.1) == 0
    for gaussians in (
        (0, 1, 1e6, 1),
        (0, 1e-9, 1, 1e-9),
        (0, 1e-200, 0, 1e200),
        (1e9, 1e-9, 1e9 + 1, 1e-6),
    ):
        assert gaussian_divergence(*gaussians) == pytest.approx(LN2, abs=1e-6)


@settings(max_examples=40)
@given(st.floats(-20, 20), st.floats(-6, 6), st.floats(-100, 100), st.floats(0.1, 10))
def test_divergence_does_not_depend_on_the_unit(
    shift: float, log_ratio: float, origin: float, unit: float
) -> None:
    ratio = 10**log_ratio
    found = gaussian_divergence(0.0, 1.0, shift, ratio)
    assert 0 <= found <= LN2
    moved = gaussian_divergence(origin, unit, origin + shift * unit, ratio * unit)
    assert moved == pytest.approx(found, abs=1e-6)


def test_a_worked_case():
    # Reference: means 2, 10, 50, standard deviations √2, 2, 10. Generated: the same; one more; the
    # same, twice as wide.
    reference = [[1, 8, 40], [3, 10, 50], [np.nan, 12, 60]]
    generated = [[1, 9, 30], [3, 11, 50], [np.nan, 13, 70]]
    divergences = [0.0, quadrature(0, 2, 1, 2), quadrature(0, 1, 0, 2)]
    found = similarity(reference, generated)
    assert found == pytest.approx(100 * np.exp(-2 * np.mean(divergences)), abs=1e-4)


def test_a_set_is_like_itself_and_like_nothing_far_away():
    pieces = np.random.default_rng(1).normal(size=(50, 3))
    assert similarity(pieces, pieces) == pytest.approx(100)
    assert interval(pieces, pieces)[1] == 100
    # 100·exp(−2·ln 2) is the least there is.
    assert similarity(pieces, pieces + 1000) == pytest.approx(25, abs=1e-3)


@pytest.mark.parametrize("column", [[np.nan] * 3, [np.nan, 0.5, np.nan], [0.98] * 3])
def test_what_has_no_fit_has_no_similarity(column):
    reference = np.random.default_rng(1).random((10, 3))
    generated = reference[:3].copy()
    generated[:, 1] = column
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan([similarity(reference, generated), *interval(reference, generated)]).all()
        assert np.isnan(similarity(generated, reference))
        assert np.isnan(
            [similarity(reference, generated[:1]), *interval(reference, generated[:0])]
        ).all()


def test_the_interval_is_as_wide_as_samples_scatter():
    rng = np.random.default_rng(2)
    reference = rng.normal(size=(300, 2))
    samples = [rng.normal(size=(100, 2)) + 1 for _ in range(150)]
    scatter = [similarity(reference, sample) for sample in samples]
    low, high = interval(reference, samples[0])
    assert high - low == pytest.approx(
        np.quantile(scatter, 0.975) - np.quantile(scatter, 0.025), rel=0.25
    )
    assert low < similarity(reference, samples[0]) < high


def test_a_similarity_that_hangs_on_one_piece_has_no_interval():
    generated = np.random.default_rng(1).normal(size=(12, 2))
    generated[:, 1] = [1.0] * 11 + [2.0]
    reference = np.random.default_rng(2).normal(size=(50, 2))
    assert np.isnan(interval(reference, generated)).all()
    generated[:, 1] = [1.0] * 10 + [2.0] * 2
    assert np.isfinite(interval(reference, generated)).all()


@pytest.mark.slow
@pytest.mark.parametrize("count", [10, 30])
def test_the_interval_holds_what_as_many_pieces_give_on_average(count):
    rng = np.random.default_rng(count)
    reference = rng.gamma(2, 1, size=(300, 2))
    samples = [rng.gamma(3, 0.6, size=(count, 2)) for _ in range(200)]
    truth = np.mean([similarity(reference, sample) for sample in samples])
    held = [
        low <= truth <= high for low, high in (interval(reference, sample) for sample in samples)
    ]
    assert np.mean(held) > 0.93


@pytest.mark.parametrize(
    ("reference", "generated", "named"),
    [
        ([1.0, 2.0], [[1.0]], r"reference has the shape \(2,\)"),
        ([[1.0, 2.0]], [[1.0]], r"generated has the shape \(1, 1\); pieces by 2 descriptors"),
        ([[1.0]], [[np.inf]], "generated holds infinities"),
    ],
)
def test_what_is_no_set_of_pieces(reference, generated, named):
    with pytest.raises(ValueError, match=named):
        similarity(reference, generated)
