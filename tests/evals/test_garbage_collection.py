"""Garbage collection is rarer while a task is alive."""

import gc

import pytest

import music_evals as me
from music_evals.evals.shared.garbage_collection import collection_paused


def test_the_threshold_is_given_back_with_the_last_task() -> None:
    """Another task keeps it."""
    gc.collect()
    before = gc.get_threshold()
    first = me.task("muse_chord_quality")
    second = me.task("muse_chord_quality")
    assert gc.get_threshold()[0] > before[0]
    del first
    gc.collect()
    assert gc.get_threshold()[0] > before[0]
    del second
    gc.collect()
    assert gc.get_threshold() == before


def test_collection_goes_on_after_an_error() -> None:
    """A block that fails leaves it as it was."""
    states = []

    def fail() -> None:
        with collection_paused():
            states.append(gc.isenabled())
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        fail()
    assert [*states, gc.isenabled()] == [False, True]
