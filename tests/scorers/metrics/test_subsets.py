"""Subsets that are chosen by herding, and statistics of items."""

import numpy as np
import pytest

from music_evals.scorers.metrics.subsets import choose_items, discrimination

NO_KINDS = np.zeros((0, 200))


def graded(runs: int, items: int) -> np.ndarray:
    """Runs of graded skill: each is right on the easiest items, which come first."""
    skill = np.linspace(0.1, 0.9, runs)[:, None] * items
    return (np.arange(items) < skill).astype(float)


def test_discrimination_is_the_corrected_item_total_correlation() -> None:
    responses = np.random.default_rng(1).random((9, 30))
    correlations = [
        np.corrcoef(responses[:, item], np.delete(responses, item, axis=1).sum(axis=1))[0, 1]
        for item in range(30)
    ]
    assert discrimination(responses) == pytest.approx(correlations)
    responses[:, 3] = 1
    assert discrimination(responses)[3] == 0


def test_subsets_are_nested_and_keep_the_scores_of_the_runs() -> None:
    responses = graded(4, 200)
    order = choose_items(responses, NO_KINDS, 100)
    assert len({*order}) == 100
    for size in (25, 50, 100):
        assert choose_items(responses, NO_KINDS, size) == order[:size]
        errors = responses[:, order[:size]].mean(axis=1) - responses.mean(axis=1)
        assert np.abs(errors).max() < 1.5 / size


def test_subsets_keep_the_shares_of_kinds() -> None:
    kinds = np.repeat(np.eye(4), [100, 60, 20, 20], axis=1)
    order = choose_items(np.ones((2, 200)), kinds, 20)
    assert kinds[:, order].sum(axis=1).tolist() == [10, 6, 2, 2]


@pytest.mark.parametrize(("runs", "least", "most"), [(6, -0.05, 0.05), (12, 0.05, 0.5)])
def test_many_runs_prefer_discriminating_items(runs: int, least: float, most: float) -> None:
    responses = (np.random.default_rng(2).random((runs, 200)) < 0.5).astype(float)
    chosen = discrimination(responses)[choose_items(responses, NO_KINDS, 50)]
    assert least < chosen.mean() - discrimination(responses).mean() < most
