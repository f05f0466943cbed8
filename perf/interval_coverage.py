"""How often the 95% intervals of clustered outcomes hold the truth, with few clusters of unequal sizes.

    PYTHONPATH=. python perf/interval_coverage.py [--runs 2000]

Clusters have 1 to 40 items, by a log-normal distribution with a median of 7. Shares: each cluster has a probability of
its own, from a beta distribution with the mean and the correlation within clusters. Means: each item is from a beta
distribution about its cluster's mean. Differences: two models answer the same items, and their probabilities in a
cluster are correlated by 0.5 (Gaussian copula). Prints a row an outcome, with the share of runs whose interval
(`mean_interval`, `compare`) holds the truth and its mean width by the number of clusters, and the same for the
percentile bootstrap.

Then the mean over five kinds of error of the F1 of measures named, by rows a kind: 0 and 1 have a probability of their
own in each kind, and what lies between is 0.4, 0.5, 0.67 or 0.8. A piece has one row, or a row of every kind, whose F1
are correlated (Gaussian copula). The bootstrap draws rows within each kind.
"""

from collections.abc import Callable

import numpy as np
from measuring import start
from scipy import stats

from music_evals.scorers.metrics.clustered import mean_interval
from music_evals.scorers.metrics.paired import compare
from music_evals.scorers.metrics.resampling import Floats, middle95

CLUSTERS = (5, 10, 15, 30, 60)
_RESAMPLES = 1000

ROWS = (2, 5, 10, 15, 30)
BETWEEN = np.array([0.4, 0.5, 2 / 3, 0.8])
# Of each kind, how often F1 is 0 and 1.
KINDS = {
    "hard": [(0.9, 0.05), (0.95, 0.03), (0.8, 0.1), (0.97, 0.03), (0.9, 0.1)],
    "mixed": [(0.1, 0.85), (0.3, 0.5), (0.5, 0.3), (0.7, 0.2), (0.95, 0.03)],
    "easy": [(0.05, 0.9), (0.03, 0.95), (0.1, 0.8), (0.03, 0.97), (0.1, 0.9)],
}

Interval = tuple[float, float]
Drawn = tuple[Floats, Floats | None]  # outcomes, and those of another model on the same items


def shares(mean: float, correlation: float, of: Floats, rng: np.random.Generator) -> Drawn:
    """Right or wrong answers to the items of clusters."""
    return _right(_probabilities(mean, correlation, rng.random(of.max() + 1)), of, rng), None


def means(mean: float, correlation: float, of: Floats, rng: np.random.Generator) -> Drawn:
    """Graded outcomes, whose spread within a cluster is a quarter of that of right or wrong answers."""
    between = correlation / (4 - 3 * correlation)
    middle = np.clip(_probabilities(mean, between, rng.random(of.max() + 1)), 1e-6, 1 - 1e-6)[of]
    return rng.beta(3 * middle, 3 * (1 - middle)), None


def differences(mean: float, correlation: float, of: Floats, rng: np.random.Generator) -> Drawn:
    """Right or wrong answers of two models that differ by `mean`."""
    ranks = stats.norm.cdf(rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], of.max() + 1))
    first = _right(_probabilities(0.5 - mean / 2, correlation, ranks[:, 0]), of, rng)
    return first, _right(_probabilities(0.5 + mean / 2, correlation, ranks[:, 1]), of, rng)


def _probabilities(mean: float, correlation: float, ranks: Floats) -> Floats:
    spread = (1 - correlation) / correlation
    return stats.beta.ppf(ranks, mean * spread, (1 - mean) * spread)


def _right(probabilities: Floats, of: Floats, rng: np.random.Generator) -> Floats:
    return (rng.random(len(of)) < probabilities[of]).astype(float)


def _ours(first: Floats, second: Floats | None, of: Floats, rng: np.random.Generator) -> Interval:
    if second is None:
        return mean_interval(first, of.tolist())
    found = compare(first, second, of.tolist(), resamples=1)
    return found.low, found.high


def _bootstrap(first: Floats, second: Floats | None, of: Floats, rng: np.random.Generator) -> Interval:
    totals, sizes = np.bincount(of, weights=first if second is None else second - first), np.bincount(of)
    drawn = rng.integers(0, len(sizes), (_RESAMPLES, len(sizes)))
    return middle95(totals[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))


def f1(kind: tuple[float, float], ranks: Floats) -> Floats:
    """F1 of rows of a kind, by how well each was done, from 0 to 1."""
    never, always = kind
    at = (ranks - never) / max(1 - never - always, 1e-9) * len(BETWEEN)
    some = BETWEEN[np.clip(at.astype(int), 0, len(BETWEEN) - 1)]
    return np.where(ranks < never, 0.0, np.where(ranks < 1 - always, some, 1.0))


def macro(runs: int, seed: int) -> None:
    """Print how often intervals of means over kinds hold the truth."""
    print("\nkinds, rows of a piece |", " | ".join(f"{rows} rows a kind" for rows in ROWS), "| bootstrap at the same")
    for name, kinds in KINDS.items():
        truth = np.mean([always + (1 - never - always) * BETWEEN.mean() for never, always in kinds])
        for correlation in (None, 0.2, 0.5):
            cells: dict[str, list[str]] = {"ours": [], "bootstrap": []}
            for rows in ROWS:
                rng = np.random.default_rng(seed)
                shape = (len(kinds), rows)
                of, pieces = np.indices(shape)
                if correlation is None:
                    pieces = np.arange(of.size)
                ends: dict[str, list[Interval]] = {"ours": [], "bootstrap": []}
                for _ in range(runs):
                    skill = rng.standard_normal(rows) * np.sqrt(correlation or 0)
                    ranks = stats.norm.cdf(skill + rng.standard_normal(shape) * np.sqrt(1 - (correlation or 0)))
                    values = np.stack([f1(kind, some) for kind, some in zip(kinds, ranks, strict=True)])
                    ends["ours"].append(mean_interval(values.ravel(), pieces.ravel().tolist(), of.ravel().tolist()))
                    drawn = rng.integers(0, rows, (_RESAMPLES, *shape))
                    ends["bootstrap"].append(middle95(values[of, drawn].mean(axis=(1, 2))))
                for which, some in ends.items():
                    cells[which].append(_cell(some, truth))
            sharing = "1" if correlation is None else f"5, correlated by {correlation}"
            print(f"{name}, {sharing} |", " | ".join(cells["ours"]), "|", ", ".join(cells["bootstrap"]), flush=True)


def _cell(ends: list[Interval], truth: float) -> str:
    low, high = np.array(ends).T
    # Ends are compared with a sum of products that may be off by rounding.
    held = np.mean((low <= truth + 1e-9) & (truth - 1e-9 <= high))
    return f"{100 * held:.1f} ({np.mean(high - low):.2f})"


def main(runs: int = 2000, seed: int = 1) -> None:
    cases: list[tuple[str, Callable[..., Drawn], float]] = [
        *((f"share {mean}", shares, mean) for mean in (0.2, 0.5, 0.8)),
        *((f"mean {mean}", means, mean) for mean in (0.2, 0.5, 0.8)),
        *((f"difference {mean}", differences, mean) for mean in (0.0, 0.2)),
    ]
    print("outcome, correlation |", " | ".join(f"{count} clusters" for count in CLUSTERS), "| bootstrap at the same")
    for name, draw, mean in cases:
        for correlation in (0.2, 0.35, 0.5):
            cells: dict[str, list[str]] = {"ours": [], "bootstrap": []}
            for count in CLUSTERS:
                rng = np.random.default_rng(seed)
                ends: dict[str, list[Interval]] = {"ours": [], "bootstrap": []}
                for _ in range(runs):
                    sizes = np.clip(np.round(rng.lognormal(2, 0.8, count)), 1, 40).astype(int)
                    of = np.repeat(np.arange(count), sizes)
                    drawn = draw(mean, correlation, of, rng)
                    ends["ours"].append(_ours(*drawn, of, rng))
                    ends["bootstrap"].append(_bootstrap(*drawn, of, rng))
                for which, some in ends.items():
                    cells[which].append(_cell(some, mean))
            print(f"{name}, {correlation} |", " | ".join(cells["ours"]), "|", ", ".join(cells["bootstrap"]), flush=True)
    macro(runs, seed)


if __name__ == "__main__":
    start(main, __doc__)
