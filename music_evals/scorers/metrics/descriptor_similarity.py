"""How alike two sets of pieces are in a few descriptors: Jensen–Shannon similarity of Gaussian
fits.

Conventions: a set is an array of pieces (rows) by descriptors (columns), in the descriptors' own
units. NaN marks a missing value; the piece is left out of that descriptor only. A Gaussian is
fitted to each descriptor by sample mean and unbiased standard deviation. Divergences are in nats,
from 0 to ln 2. Similarities lie between 0 and 100 (equal fits); without a fit the similarity is
NaN, never 0.

Source: arXiv 2606.08722, section 3.2 (generation metrics), and the code published with it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from music_evals.scorers.metrics.resampling import Floats

REACH = 5  # standard deviations on both sides of each mean over which a divergence is integrated
_SAME = 1e-9  # of the largest value; a spread below is that of rounding
_ZERO = 40.0  # standard deviations from the mean at which a density is 0 in 64 bits
_FAR = 1e60  # standard deviations; beyond, differences in distance or width change nothing
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)


_Moments = tuple[Floats, Floats]  # means and standard deviations


class Fit(NamedTuple):
    """Gaussian fits of a reference set, one per descriptor, in its own units; None or NaN where
    there is no fit.
    """

    mean: Sequence[float | None]
    std: Sequence[float | None]


def fit_of(reference: npt.ArrayLike) -> Fit:
    """Fit the k descriptors of n pieces, an array of shape (n, k); errors as of `js_similarity`.

    A descriptor has no fit if fewer than two pieces have it, or if all have the same value.

    Example:
        >>> fit_of([[1.0, 5.0], [3.0, 5.0]])
        Fit(mean=[2.0, 5.0], std=[1.4142135623730951, None])
    """
    return Fit(*map(_or_none, _fit(_checked("reference", reference))))


def _or_none(numbers: Floats) -> list[float | None]:
    return [None if np.isnan(number) else float(number) for number in numbers]


def js_similarity(reference: Fit, generated: npt.ArrayLike) -> float:
    """Jensen–Shannon similarity of two sets of pieces, 100·exp(−2·mean divergence); NaN if a
    descriptor of one of the sets has no fit.

    Args:
        reference: fits of k descriptors, from `fit_of`.
        generated: (m, k) values of k descriptors of m pieces, NaN where a piece has none.

    Raises:
        ValueError: an array has another shape or holds infinities.
    """
    values = _checked("generated", generated, len(reference.mean))
    divergences = gaussian_divergences(*_numbers(reference), *_fit(values))
    return float(100 * np.exp(-2 * divergences.mean()))


def js_interval(reference: Fit, generated: npt.ArrayLike) -> tuple[float, float]:
    """A 95% jackknife interval for `js_similarity`, over generated pieces; NaN if the similarity is
    undefined, or becomes so without some piece.

    The root of the mean divergence, a distance, gets a t interval with the jackknife's standard
    error over pieces. The interval is for the average of as many newly generated pieces; the
    reference is fixed. In simulations of 5 to 200 pieces it contained that average in 94 to 98% of
    cases; with one descriptor near its bound in four of five pieces, in 82% (5 pieces) to 95%.

    Source: R. G. Miller, "The jackknife: a review", Biometrika 61 (1974).
    """
    from scipy import stats

    values = _checked("generated", generated, len(reference.mean))
    fit = _numbers(reference)
    n = len(values)
    if n < 2:
        return float("nan"), float("nan")
    distance = _distances(fit, _fit(values))
    means, stds = zip(*(_fit(np.delete(values, piece, axis=0)) for piece in range(n)), strict=True)
    without = _distances(fit, (np.array(means), np.array(stds)))
    error = np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
    reach = stats.t.ppf(0.975, n - 1) * error
    high, low = 100 * np.exp(
        -2 * np.clip([distance - reach, distance + reach], 0, np.sqrt(np.log(2))) ** 2
    )
    return float(low), float(high)


def _distances(fit: _Moments, other: _Moments) -> Floats:
    """The roots of the mean divergences of fits over the descriptors, the last axis."""
    return np.asarray(np.sqrt(gaussian_divergences(*fit, *other).mean(axis=-1)))


def _checked(side: str, values: npt.ArrayLike, descriptors: int | None = None) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != (descriptors or array.shape[1]):
        needed = descriptors or "the same"
        raise ValueError(
            f"{side} has the shape {array.shape}; pieces by {needed} descriptors are needed"
        )
    if np.isinf(array).any():
        raise ValueError(
            f"{side} holds infinities; finite numbers are needed, NaN for a descriptor without "
            "value"
        )
    return array


def _numbers(fit: Fit) -> _Moments:
    return np.array(fit.mean, dtype=np.float64), np.array(fit.std, dtype=np.float64)


def _fit(values: Floats) -> _Moments:
    """Mean and unbiased standard deviation over the pieces; NaN where there is no fit."""
    present = ~np.isnan(values)
    count = present.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(present, values, 0.0).sum(axis=0) / count
        std = np.sqrt((np.where(present, values - mean, 0.0) ** 2).sum(axis=0) / (count - 1))
        largest = np.where(present, np.abs(values), 0.0).max(axis=0, initial=0.0)
        return mean, np.where((count > 1) & (std > _SAME * largest), std, np.nan)


def gaussian_divergences(mean_1: Floats, std_1: Floats, mean_2: Floats, std_2: Floats) -> Floats:
    """Jensen–Shannon divergences of Gaussians, in nats, from 0 (equal) to ln 2 (disjoint); NaN if a
    number is NaN.

    By quadrature within `REACH` standard deviations of either mean; the rest is less than 1e-6.

    Source: J. Lin, "Divergence measures based on the Shannon entropy", IEEE Trans. Inf. Theory 37
    (1991).
    """
    with np.errstate(over="ignore", invalid="ignore"):
        first = _to_middle((mean_2 - mean_1) / std_1, std_2 / std_1)
        second = _to_middle((mean_1 - mean_2) / std_2, std_1 / std_2)
    return np.asarray(np.clip((first + second) / 2, 0.0, np.log(2)))


def _to_middle(mean: Floats, std: Floats) -> Floats:
    """The relative entropy of the standard Gaussian to its middle with another.

    Either Gaussian is the standard once, so that it is resolved however narrow it is. The panels of
    the quadrature end at whole standard deviations of either.
    """
    steps = np.arange(-REACH, REACH + 1.0)
    mean, std = (
        np.clip(number, -_FAR, _FAR)[..., None] for number in (mean, np.maximum(std, 1 / _FAR))
    )
    ends = np.concatenate(
        [np.broadcast_to(steps, (*mean.shape[:-1], len(steps))), mean + std * steps], axis=-1
    )
    ends = np.sort(np.clip(ends, -_ZERO, _ZERO), axis=-1)
    half = np.diff(ends)[..., None] / 2
    z = ends[..., :-1, None] + half * (1 + _NODES)
    log_ratio = (z**2 - ((z - mean[..., None]) / std[..., None]) ** 2) / 2 - np.log(std)[..., None]
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    integrand = density * (np.log(2) - np.logaddexp(0.0, log_ratio))
    return np.asarray((integrand * half * _WEIGHTS).sum(axis=(-2, -1)))
