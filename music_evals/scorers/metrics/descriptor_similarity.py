"""How alike two sets of pieces are in a few descriptors: Jensen–Shannon similarity of Gaussian fits.

Conventions: a set is an array of pieces (rows) by descriptors (columns), in the descriptors' own units; NaN is a
descriptor that a piece does not have, and that piece is left out of that descriptor alone. A Gaussian is fitted to each
descriptor by sample mean and unbiased standard deviation. Divergences are in nats, from 0 to ln 2; similarities lie
between 0 and 100, which is for equal fits. Where a fit is not defined there is no similarity, which is never 0.

Source: arXiv 2606.08722, section 3.2 (generation metrics), and the code published with it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from music_evals.scorers.metrics.resampling import Floats

REACH: Final = 5
"""Standard deviations on both sides of each mean over which a divergence is integrated."""

_SAME: Final = 1e-9  # of the largest value; a spread below is that of rounding
_CANCELLED: Final = 1e-4  # share of a sum of squares below which what is left of it is summed anew
_PIECES: Final = 1_000  # whose divergences are computed at a time
_ZERO: Final = 40.0  # standard deviations from the mean at which a density is 0 in 64 bits
_FAR: Final = 1e60  # standard deviations; what is farther, wider or, inverted, narrower makes no difference
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)


class Fit(NamedTuple):
    """Gaussian fits of a reference set, one a descriptor: what is left of it for a comparison."""

    mean: Sequence[float | None]  # in a descriptor's own units; None or NaN where there is no fit
    std: Sequence[float | None]
    reasons: Sequence[str | None]  # why there is none


class Similarity(NamedTuple):
    """How alike a generated set is to a reference, over all descriptors and `by_descriptor`.

    `value` is NaN, for the `reason` given, where a descriptor has no fit. `shifts` are the mean of the generated less
    that of the reference, in the reference's standard deviations.
    """

    value: float
    by_descriptor: Mapping[str, float]
    shifts: Mapping[str, float]
    reason: str | None


def fit_of(reference: npt.ArrayLike, *, names: Sequence[str]) -> Fit:
    """Fit the k descriptors, so named, of n pieces, an array of shape (n, k); errors as of `js_similarity`.

    Example:
        >>> fit = fit_of([[1.0, 5.0], [3.0, 5.0]], names=["a", "b"])
        >>> fit.mean, fit.reasons[1]
        ([2.0, 5.0], 'b: all 2 values of the reference pieces are 5; they must differ')
    """
    values = _checked("reference", reference)
    reasons = [_why_not(name, "reference", values[:, column]) for column, name in _columns(names, values)]
    mean, std = ([None if np.isnan(one) else float(one) for one in part] for part in _fit(values))
    return Fit(mean, std, reasons)


def js_similarity(reference: npt.ArrayLike | Fit, generated: npt.ArrayLike, *, names: Sequence[str]) -> Similarity:
    """Jensen–Shannon similarity of two sets of pieces, 100·exp(−2·mean divergence), over all descriptors and for each.

    A descriptor has no fit where fewer than two pieces of a set have it, or where all have the same value; then neither
    it nor the whole has a similarity, and the reason names every such case.

    Args:
        reference: (n, k) values of k descriptors of n pieces, NaN where a piece has none; or their fits.
        generated: (m, k) values.
        names: of the k descriptors, all different.

    Raises:
        ValueError: an array has another shape or holds infinities, or the names do not fit.
    """
    ours, theirs = _sides(reference, generated, names)
    (mean_r, std_r), (mean_g, std_g) = _numbers(ours), _fit(theirs)
    divergences = gaussian_divergences(mean_r, std_r, mean_g, std_g)
    reasons = [
        problem
        for column, name in _columns(names, theirs)
        for problem in (ours.reasons[column], _why_not(name, "generated", theirs[:, column]))
        if problem
    ]
    return Similarity(
        float("nan") if reasons else float(_similarity(divergences)),
        {name: float(_similarity(one[None])) for name, one in zip(names, divergences, strict=True)},
        {name: float(shift) for name, shift in zip(names, (mean_g - mean_r) / std_r, strict=True)},
        "; ".join(reasons) or None,
    )


def js_interval(reference: npt.ArrayLike | Fit, generated: npt.ArrayLike) -> tuple[float, float, str | None]:
    """A 95% jackknife interval for `js_similarity`, over generated pieces, or NaN and the reason why there is none.

    The root of the mean divergence, a distance, gets a t interval whose standard error is that of leaving out a piece
    at a time. It is for what generating as many pieces again would give, on average; the reference is not drawn. In
    simulations of 5 to 200 pieces it held that 94 to 98 times in 100, and with one descriptor near its bound in four of
    five pieces 82 (5 pieces) to 95 times. There is no interval where the similarity itself is undefined, or becomes so
    without some piece.

    Source: R. G. Miller, "The jackknife: a review", Biometrika 61 (1974).
    """
    from scipy import stats

    ours, theirs = _sides(reference, generated)
    fit = _numbers(ours)
    n, nan = len(theirs), float("nan")
    whole = _distance(fit, theirs)
    if np.isnan(whole):
        return nan, nan, "the similarity itself is undefined"
    means, stds = _fits_without_each(theirs)
    parts = np.array_split(np.arange(n), -(-n // _PIECES))
    without = np.concatenate([_between(fit, (means[part], stds[part])) for part in parts])
    if undefined := int(np.isnan(without).sum()):
        return nan, nan, f"without each of {undefined} of the {n} pieces it is undefined; too few values differ"
    error = np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
    reach = stats.t.ppf(0.975, n - 1) * error
    high, low = 100 * np.exp(-2 * np.clip([whole - reach, whole + reach], 0, np.sqrt(np.log(2))) ** 2)
    return float(low), float(high), None


def _distance(fit: tuple[Floats, Floats], pieces: Floats) -> Floats:
    """The root of the mean divergence of pieces from a fit."""
    return _between(fit, _fit(pieces))


def _between(fit: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> Floats:
    return np.asarray(np.sqrt(gaussian_divergences(*fit, *other).mean(axis=-1)))


def _fits_without_each(values: Floats) -> tuple[Floats, Floats]:
    """`_fit` without each of the pieces in turn, from the sums over all; shape (pieces, descriptors)."""
    there = ~np.isnan(values)
    count = there.sum(axis=0)
    mean = np.where(there, values, 0.0).sum(axis=0) / count
    off = np.where(there, values - mean, 0.0)
    squares = (off**2).sum(axis=0)
    left = count - there
    with np.errstate(invalid="ignore", divide="ignore"):
        means = mean - off / left
        rest = squares - off**2 * count / left
        stds = np.sqrt(rest / (left - 1))
        # Where little is left of a sum its digits are lost.
        largest = np.where(there, np.abs(values), 0.0).max(axis=0)
        sure = (rest > _CANCELLED * squares) & (stds > 2 * _SAME * largest)
    for piece in np.flatnonzero(~sure.all(axis=1)):
        means[piece], stds[piece] = _fit(np.delete(values, piece, axis=0))
    return means, stds


def _sides(
    reference: npt.ArrayLike | Fit, generated: npt.ArrayLike, names: Sequence[str] | None = None
) -> tuple[Fit, Floats]:
    """Check two sets of pieces, of as many descriptors."""
    theirs = _checked("generated", generated)
    if isinstance(reference, Fit):
        found, ours = len(reference.mean), reference
    else:
        values = _checked("reference", reference)
        found = values.shape[1]
        ours = fit_of(values, names=names or [f"descriptor {column}" for column in range(found)])
    if found != theirs.shape[1]:
        raise ValueError(f"reference has {found} descriptors, generated {theirs.shape[1]}; the same ones are needed")
    return ours, theirs


def _checked(side: str, values: npt.ArrayLike) -> Floats:
    """Check a set of pieces, and make a 64-bit array of it."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(f"{side} has the shape {array.shape}; pieces by descriptors are needed")
    if np.isinf(array).any():
        raise ValueError(f"{side} holds infinities; finite numbers are needed, NaN for a descriptor without value")
    return array


def _columns(names: Sequence[str], values: Floats) -> Iterator[tuple[int, str]]:
    if len(names) != values.shape[1] or len(set(names)) != len(names):
        raise ValueError(
            f"names are {list(names)}; a different one for each of {values.shape[1]} descriptors is needed"
        )
    return enumerate(names)


def _numbers(fit: Fit) -> tuple[Floats, Floats]:
    return np.array(fit.mean, dtype=np.float64), np.array(fit.std, dtype=np.float64)


def _fit(values: Floats) -> tuple[Floats, Floats]:
    """Mean and unbiased standard deviation over the pieces, the second axis from the end; NaN where there is no fit."""
    there = ~np.isnan(values)
    count = there.sum(axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(there, values, 0.0).sum(axis=-2) / count
        off = np.where(there, values - mean[..., None, :], 0.0)
        std = np.sqrt((off**2).sum(axis=-2) / (count - 1))
        largest = np.where(there, np.abs(values), 0.0).max(axis=-2, initial=0.0)
        return mean, np.where((count > 1) & (std > _SAME * largest), std, np.nan)


def _why_not(name: str, side: str, values: Floats) -> str | None:
    """Why one descriptor of one set has no fit."""
    count = int((~np.isnan(values)).sum())
    if count < 2:
        return f"{name}: {count} value{'s' * (count != 1)} among {len(values)} {side} pieces; at least 2 are needed"
    if np.isnan(_fit(values[:, None])[1][0]):
        return f"{name}: all {count} values of the {side} pieces are {np.nanmean(values):.4g}; they must differ"
    return None


def gaussian_divergences(mean_1: Floats, std_1: Floats, mean_2: Floats, std_2: Floats) -> Floats:
    """Jensen–Shannon divergences of Gaussians, in nats, from 0 (equal) to ln 2 (apart); NaN where a number is.

    By quadrature within `REACH` standard deviations of either mean; what lies outside is less than 1e-6.

    Source: J. Lin, "Divergence measures based on the Shannon entropy", IEEE Trans. Inf. Theory 37 (1991).
    """
    with np.errstate(over="ignore", invalid="ignore"):
        halves = _to_middle((mean_2 - mean_1) / std_1, std_2 / std_1) + _to_middle(
            (mean_1 - mean_2) / std_2, std_1 / std_2
        )
    return np.asarray(np.clip(halves / 2, 0.0, np.log(2)))


def _to_middle(mean: Floats, std: Floats) -> Floats:
    """The relative entropy of the standard Gaussian to its middle with another.

    Each of the two takes itself for standard, so that it is resolved however narrow it is. The panels of the
    quadrature end at whole standard deviations of either.
    """
    steps = np.arange(-REACH, REACH + 1.0)
    mean, std = (np.clip(number, -_FAR, _FAR)[..., None] for number in (mean, np.maximum(std, 1 / _FAR)))
    ends = np.concatenate([np.broadcast_to(steps, (*mean.shape[:-1], len(steps))), mean + std * steps], axis=-1)
    ends = np.sort(np.clip(ends, -_ZERO, _ZERO), axis=-1)
    half = np.diff(ends)[..., None] / 2
    z = ends[..., :-1, None] + half * (1 + _NODES)
    log_ratio = (z**2 - ((z - mean[..., None]) / std[..., None]) ** 2) / 2 - np.log(std)[..., None]
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    integrand = density * (np.log(2) - np.logaddexp(0.0, log_ratio))
    return np.asarray((integrand * half * _WEIGHTS).sum(axis=(-2, -1)))


def _similarity(divergences: Floats) -> Floats:
    """100·exp(−2·mean) over the descriptors, the last axis."""
    return np.asarray(100 * np.exp(-2 * divergences.mean(axis=-1)))
