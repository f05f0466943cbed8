"""Comparing two sets of outcomes on the same samples: difference, interval, test, and correction
for many tests.

Conventions: an outcome is a number from 0 to 1 (0 or 1 if a sample is right or wrong) and has the
same place in both sequences. A difference is the second mean less the first, from -1 to 1.
Intervals are two-sided 95%, and p is two-sided. Samples of one cluster, such as the questions on
one piece, are not independent, so their differences are flipped together. Draws have a fixed seed:
the same outcomes give the same figures.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import product
from math import nan, sqrt
from typing import Literal, NamedTuple

import numpy as np

from music_evals.scorers.metrics.clustered import checked_outcomes, mean_interval
from music_evals.scorers.metrics.proportion import Z95
from music_evals.scorers.metrics.resampling import (
    Floats,
    Interval,
    Names,
    Outcomes,
    numbered,
)

Test = Literal["McNemar", "sign flips"]

EXACT_UP_TO = 12  # the most clusters for which all flips of signs are tried, 4096 flips
_MAX_CELLS = 1_000_000  # signs that are drawn at a time


class Comparison(NamedTuple):
    """How two sets of outcomes differ; a single cluster has no interval (NaN).

    `totals` and `sizes` are the sums of the differences and the weights of each cluster's samples;
    the weights of all samples sum to their number.
    """

    difference: float
    low: float
    high: float
    p: float
    pairs: int
    test: Test
    totals: Floats
    sizes: Floats

    @property
    def variance(self) -> float:
        """The variance of a sample's difference, so that the mean's is a part in `pairs` of it.

        It takes samples of a cluster together, as the cluster-robust variance of Stata does, and is
        above 0 also where no sample differs; NaN of a single cluster.

        Source: E. Miller, arXiv 2411.00640, section 2.2; D. G. Bonett and R. M. Price (2012).
        """
        count = len(self.totals)
        if self.test == "McNemar" or not self.totals.any():
            lost, gained = ((sign * self.totals > 0).sum() for sign in (-1, 1))
            return _adjusted(int(lost), int(gained), count)[1] ** 2 * self.pairs
        if count < 2:
            return nan
        residuals = self.totals - self.difference * self.sizes
        return float(count / (count - 1) * (residuals**2).sum() / self.pairs)


def compare(
    first: Outcomes,
    second: Outcomes,
    clusters: Names | None = None,
    strata: Names | None = None,
    *,
    resamples: int = 10_000,
) -> Comparison:
    """Compare outcomes from 0 to 1 on the same samples.

    Independent samples that are right or wrong have McNemar's exact test and `difference_interval`.
    All others have `sign_flip_test` and, over the differences by cluster, `mean_interval`; if no
    sample differs, the interval is that of `difference_interval` with a pair per cluster.

    Args:
        first: one outcome per sample; at least one.
        second: the outcomes of the same samples in the same order.
        clusters: what each sample belongs to; without it every sample is independent.
        strata: the stratum of each sample; the difference is then that of the means of the strata's
            means.
        resamples: number of random flips if there are too many to try all.

    Raises:
        ValueError: there is nothing to compare, an outcome is not from 0 to 1, or the lengths
            differ.
    """
    values = checked_outcomes("first", first, clusters)
    later = checked_outcomes("second", second)
    pairs = len(values)
    if pairs != len(later):
        raise ValueError(f"first has {pairs} outcomes, second has {len(later)}; they go in pairs")
    differences = later - values
    names = list(range(pairs) if clusters is None else clusters)
    places = numbered(names)
    count = int(places.max()) + 1
    if len(set(strata or ())) < 2:
        strata = None
    is_right_or_wrong = np.isin(values, (0, 1)).all() and np.isin(later, (0, 1)).all()
    if strata is None and count == pairs and is_right_or_wrong:
        return _compare_independent(differences)
    weights = np.ones(pairs)
    if strata:
        counts = Counter(strata)
        weights = np.array([pairs / len(counts) / counts[name] for name in strata])
    difference = float((weights * differences).mean())
    totals = np.bincount(places, weights=weights * differences).astype(float)
    sizes = np.bincount(places, weights=weights).astype(float)
    if differences.any() or count == 1:
        # The interval takes outcomes from 0 to 1, and differences lie between -1 and 1.
        ends = mean_interval((differences + 1) / 2, names, strata)
        low, high = (2 * end - 1 for end in ends)
    else:
        low, high = difference_interval(0, 0, count)
    p = sign_flip_test(totals, resamples=resamples)
    return Comparison(difference, low, high, p, pairs, "sign flips", totals, sizes)


def _compare_independent(differences: Floats) -> Comparison:
    """Compare independent samples that are right or wrong."""
    pairs = len(differences)
    difference = float(differences.mean())
    only = int((differences < 0).sum()), int((differences > 0).sum())
    low, high = difference_interval(*only, pairs)
    sizes = np.ones(pairs)
    return Comparison(difference, low, high, mcnemar(*only), pairs, "McNemar", differences, sizes)


@cache
def mcnemar(first_only: int, second_only: int) -> float:
    """p of McNemar's exact test, from the numbers of samples that only one of the two has right."""
    from scipy import stats

    differing = first_only + second_only
    return float(stats.binomtest(first_only, differing).pvalue) if differing else 1.0


def difference_interval(first_only: int, second_only: int, pairs: int) -> Interval:
    """Bonett's and Price's interval of a difference of paired proportions, second less first.

    It takes the number of samples that only one of the two has right, for each, and the number of
    all samples. The interval has a width even if the two never differ, so it suits small samples.

    Source: D. G. Bonett and R. M. Price, "Adjusted Wald confidence interval for a difference of
        binomial proportions based on paired data", Journal of Educational and Behavioral Statistics
        37 (2012).
    """
    difference, error = _adjusted(first_only, second_only, pairs)
    return max(-1.0, difference - Z95 * error), min(1.0, difference + Z95 * error)


def _adjusted(first_only: int, second_only: int, pairs: int) -> tuple[float, float]:
    """The middle of Bonett's and Price's interval and its standard error, which is above 0 also
    where no sample differs.
    """
    one = (first_only + 1) / (pairs + 2)
    other = (second_only + 1) / (pairs + 2)
    return other - one, sqrt((one + other - (other - one) ** 2) / (pairs + 2))


def sign_flip_test(totals: Outcomes, *, resamples: int = 10_000) -> float:
    """p of the randomisation test of paired differences, from the sum of the differences of each
    cluster.

    p is the share of sign flips whose total is at least as far from 0 as the observed one. All
    flips are tried up to `EXACT_UP_TO` clusters that differ. Beyond, `resamples` random flips and
    the observed signs are counted, so p is never 0. For samples that are right or wrong it is
    McNemar's exact test.

    Source: R. A. Fisher, "The Design of Experiments" (1935), section 21.
    """
    differing = np.asarray([total for total in totals if total], dtype=float)
    if not len(differing):
        return 1.0
    # Sums of the same numbers in another order may differ in their last digits.
    far = abs(differing.sum()) - 1e-9
    if len(differing) <= EXACT_UP_TO:
        signs = np.array(list(product((-1, 1), repeat=len(differing))))
        return float((np.abs(signs @ differing) >= far).mean())
    rng = np.random.default_rng(0)
    as_far = 0
    at_once = max(1, _MAX_CELLS // len(differing))
    for start in range(0, resamples, at_once):
        signs = 2.0 * rng.integers(0, 2, (min(at_once, resamples - start), len(differing))) - 1
        as_far += int((np.abs(signs @ differing) >= far).sum())
    return (as_far + 1) / (resamples + 1)


def holm(ps: Sequence[float], untested: int = 0) -> list[float]:
    """Holm's correction for many tests: the adjusted p of each, in the same order.

    If every adjusted p below 0.05 is called a difference, the risk that any of these calls is wrong
    is 5%. It is at most that where ps are chosen out of more tests by their data, and `untested`
    says how many tests were left out; these count as if their p were 1.

    Source: S. Holm, Scandinavian Journal of Statistics 6 (1979).
    """
    order = np.argsort(ps, kind="stable")
    adjusted = np.empty(len(ps))
    adjusted[order] = np.maximum.accumulate(
        (len(ps) + untested - np.arange(len(ps))) * np.asarray(ps)[order]
    ).clip(max=1)
    return [float(p) for p in adjusted]
