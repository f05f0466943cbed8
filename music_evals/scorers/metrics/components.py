"""How much of the variance of answers comes from the questions, from the wording of the prompts,
and from asking again.

The same questions are asked in several wordings, perhaps several times in each. Questions and
wordings are samples of all that could have been asked.
"""

from typing import NamedTuple

import numpy as np

from music_evals.scorers.metrics.clustered import jackknife, macro_mean, t_interval
from music_evals.scorers.metrics.resampling import Floats, Interval, Names


class Components(NamedTuple):
    """The variance of an answer, in four parts.

    Args:
        items: of the questions' means: some are harder than others.
        wordings: of the wordings' means: some suit the model better, whatever the question.
        both: of questions in wordings: some wordings suit some questions. With one answer in each
            wording it holds `asking`, too.
        asking: of answers to one prompt; None with one answer in each wording.
    """

    items: float
    wordings: float
    both: float
    asking: float | None


def variance_components(values: Floats) -> Components:
    """Split the variance of answers by the analysis of variance of two crossed random factors.

    Parts that it estimates below 0 are 0.

    Args:
        values: an outcome per question, wording and time of asking; two or more questions and
            wordings.

    Source: S. R. Searle, G. Casella and C. E. McCulloch, "Variance Components" (1992), section 4.3.

    Example:
        >>> variance_components(np.array([[[1.0], [0.0]], [[1.0], [0.0]], [[1.0], [0.0]]]))
        Components(items=0.0, wordings=0.5, both=0.0, asking=None)
    """
    items, wordings, times = values.shape
    cells = values.mean(axis=2)
    mean = values.mean()
    rows = cells.mean(axis=1)
    columns = cells.mean(axis=0)
    residuals = cells - rows[:, None] - columns + mean
    of_cells = (residuals**2).sum() / ((items - 1) * (wordings - 1))
    of_times = 0.0
    if times > 1:
        of_times = values.var(axis=2, ddof=1).mean() / times
    return Components(
        items=max(float(rows.var(ddof=1) - of_cells / wordings), 0.0),
        wordings=max(float(columns.var(ddof=1) - of_cells / items), 0.0),
        both=max(float(of_cells - of_times), 0.0),
        asking=float(of_times * times) if times > 1 else None,
    )


def wordings_interval(values: Floats, clusters: Names, strata: Names) -> tuple[float, Interval]:
    """Return the mean over questions and wordings, and a 95% interval for that over all questions
    and wordings of the kind, within 0 and 1.

    The variance is `mean_interval`'s of the questions' means, plus that of the wordings' means.
    What questions and wordings have together counts twice, so that the interval is rather too wide.
    The degrees of freedom are Satterthwaite's.

    Args:
        values: an outcome from 0 to 1 per question and wording; two or more wordings.
        clusters: the cluster of each question.
        strata: the stratum of each question.

    Source: as of `crossed_interval`.
    """
    wordings = values.shape[1]
    mean, variance, clusters_worth = jackknife(values.mean(axis=1), clusters, strata)
    by_wording = [macro_mean(column, strata) for column in values.T]
    of_wordings = float(np.var(by_wording, ddof=1)) / wordings
    parts = [(variance, clusters_worth), (of_wordings, wordings)]
    least = min(clusters_worth, wordings) if of_wordings else clusters_worth
    return mean, t_interval(mean, parts, least)
