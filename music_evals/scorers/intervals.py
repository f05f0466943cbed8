"""Inspect metrics for the uncertainty of an accuracy."""

from inspect_ai.scorer import Metric, SampleScore, metric, value_to_float

from music_evals.scorers.metrics.proportion import wilson_interval


@metric
def interval95() -> Metric:
    """Wilson's 95% interval of the accuracy, as ``ci95_low`` and ``ci95_high``.

    With several epochs a sample counts once, with the mean of its epochs.

    Returns:
        The metric; without any score both ends are 0.
    """
    to_float = value_to_float()

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        if not scores:
            return {"ci95_low": 0.0, "ci95_high": 0.0}
        proportion = sum(to_float(score.score.value) for score in scores) / len(scores)
        low, high = wilson_interval(proportion, len(scores))
        return {"ci95_low": low, "ci95_high": high}

    return compute
