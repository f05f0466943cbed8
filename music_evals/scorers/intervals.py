"""Inspect metrics made of functions of scores, and the interval of an accuracy."""

from collections.abc import Callable, Mapping

from inspect_ai.scorer import Metric, SampleScore, metric, value_to_float

from music_evals.scorers.metrics.proportion import wilson_interval


def figures(compute: Callable[[list[SampleScore]], Mapping[str, float | None]]) -> Callable[[], Metric]:
    """Make a metric, of the function's name, over the scores of all epochs; without scores it has no figures."""

    def make() -> Metric:
        def figures_of(scores: list[SampleScore]) -> dict[str, float | None]:
            return dict(compute(scores)) if scores else {}

        return figures_of

    return metric(compute.__name__, scores="unreduced")(make)


@metric
def interval95() -> Metric:
    """Wilson's 95% interval of the accuracy, as ``ci95_low`` and ``ci95_high``; without any score both are 0.

    With several epochs a sample counts once, with the mean of its epochs.
    """
    to_float = value_to_float()

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        if not scores:
            return {"ci95_low": 0.0, "ci95_high": 0.0}
        proportion = sum(to_float(score.score.value) for score in scores) / len(scores)
        low, high = wilson_interval(proportion, len(scores))
        return {"ci95_low": low, "ci95_high": high}

    return compute
