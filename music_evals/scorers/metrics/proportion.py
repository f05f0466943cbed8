"""Wilson's interval for a proportion of correct answers that are independent.

`clustered.mean_interval` takes it for such answers; others have the interval of that module.
"""

from math import sqrt

Z95 = 1.959963984540054  # the 97.5% quantile of the normal distribution: two-sided 95%


def wilson_interval(proportion: float, n: float) -> tuple[float, float]:
    """Wilson's 95% score interval for a proportion, within 0 and 1.

    Args:
        proportion: observed proportion, from 0 to 1.
        n: number of trials, above 0; unlike SciPy's interval it may be fractional, for trials that
            are not independent.

    Raises:
        ValueError: the proportion is not in 0 to 1 or there is no trial.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
    JASA 22 (1927).
    """
    if n <= 0:
        raise ValueError(f"n is {n}; an interval needs trials, a number above 0")
    if not 0 <= proportion <= 1:
        raise ValueError(f"proportion is {proportion}; it must lie between 0 and 1")
    centre = proportion + Z95 * Z95 / (2 * n)
    half = Z95 * sqrt(proportion * (1 - proportion) / n + Z95 * Z95 / (4 * n * n))
    scale = 1 + Z95 * Z95 / n
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)
