"""Garbage collection is rarer while a task is alive."""

import gc

import pytest
from inspect_ai import Task

from music_evals.evals.shared import garbage_collection
from music_evals.evals.shared.garbage_collection import collect_rarely, collection_paused

USUAL = (700, 10, 10)


def test_the_threshold_is_given_back_with_the_last_task(monkeypatch):
    """Another task keeps it."""
    gc.collect()  # tasks of other tests may live, and are not to end here
    monkeypatch.setattr(garbage_collection, "_alive", 0)
    before = gc.get_threshold()
    gc.set_threshold(*USUAL)
    first, second = Task(), Task()
    collect_rarely(first)
    collect_rarely(second)
    thresholds = [gc.get_threshold()[0]]
    del first
    gc.collect()
    thresholds.append(gc.get_threshold()[0])
    del second
    gc.collect()
    thresholds.append(gc.get_threshold()[0])
    gc.set_threshold(*before)
    assert thresholds == [100_000, 100_000, USUAL[0]]


def test_collection_goes_on_after_an_error():
    """A block that fails leaves it as it was."""
    states = []

    def fail():
        with collection_paused():
            states.append(gc.isenabled())
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        fail()
    assert [*states, gc.isenabled()] == [False, True]
