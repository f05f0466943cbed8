"""Whether a score of all ladders on a scale of ability ranks models better than their plain mean.

It does not, which is why the suite has no such score. Run it with ``python -m tests.ladders.exam``.
Models are simulated: each has an ability, and in some settings another one on each ladder. A ladder
has five levels, whose difficulty and discrimination vary from ladder to ladder, and a chance level.
Abilities are estimated as means of their posteriors under a model of one parameter, with
difficulties from the scores of thirty other models.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

Floats = NDArray[np.float64]
# Spread of ability between models and between ladders; items of a level.
SETTINGS = {
    "one ability": (1.0, 0.0, 40),
    "an ability for each ladder": (1.0, 0.5, 40),
    "models alike": (0.3, 0.0, 40),
    "models alike, an ability for each ladder": (0.3, 0.3, 40),
    "10 items a level": (1.0, 0.0, 10),
}
MODELS, OTHER_MODELS, DRAWS = 12, 30, 400
CHANCE = np.array([0.25, 0.25, 0, 0.5, 0.25, 0])[:, None]
LEVELS = np.arange(-2.0, 3.0)
ABILITIES = np.linspace(-5, 5, 201)
_PRIOR = 2.0  # standard deviation


def probability(ability, difficulty, discrimination):
    """The probability of a right answer: abilities … × ladders, difficulties ladders × levels."""
    right = 1 / (1 + np.exp(-discrimination * (ability[..., None] - difficulty)))
    return CHANCE + (1 - CHANCE) * right


def exam(right, others, items):
    """The mean over ladders of each model's ability; shares of right answers, models × ladders ×
    levels.
    """
    shares = np.clip((others.mean(axis=0) - CHANCE) / (1 - CHANCE), 0.02, 0.98)
    difficulty = np.log((1 - shares) / shares)
    grid = np.repeat(ABILITIES[:, None], len(CHANCE), axis=1)
    expected = probability(grid, difficulty, 1.0)
    correct = right[:, None] * np.log(expected)
    wrong = (1 - right)[:, None] * np.log(1 - expected)
    log_posterior = items * (correct + wrong).sum(axis=3) - (grid / _PRIOR) ** 2 / 2
    weights = np.exp(log_posterior - log_posterior.max(axis=1, keepdims=True))
    return np.asarray(((weights * grid).sum(axis=1) / weights.sum(axis=1)).mean(axis=1))


def compare(seed, spread, by_ladder, items):
    """Kendall's tau between the models' abilities and their plain mean, and their exam."""
    rng = np.random.default_rng(seed)
    difficulty = LEVELS + rng.normal(0, 0.4, (len(CHANCE), len(LEVELS)))
    discrimination = np.exp(rng.normal(0, 0.3, difficulty.shape))

    def shares(ability):
        by_ladders = ability[:, None] + rng.normal(0, by_ladder, (len(ability), len(CHANCE)))
        chances = probability(by_ladders, difficulty, discrimination)
        return np.asarray(rng.binomial(items, chances) / items)

    ability = rng.normal(0, spread, MODELS)
    right, others = shares(ability), shares(rng.normal(0, 1, OTHER_MODELS))
    scores = right.mean(axis=(1, 2)), exam(right, others, items)
    return [float(kendalltau(score, ability).statistic) for score in scores]


def main():
    """Print the mean tau of both, and their difference with its 95% interval."""
    for name, setting in SETTINGS.items():
        taus = np.array([compare(seed, *setting) for seed in range(DRAWS)])
        mean, ability = taus.mean(axis=0)
        gain = taus[:, 1] - taus[:, 0]
        margin = 1.96 * gain.std(ddof=1) / DRAWS**0.5
        print(
            f"{name}: mean {mean:.3f}, exam {ability:.3f}, difference {gain.mean():+.4f} ± {margin:.4f}"
        )


if __name__ == "__main__":
    main()
