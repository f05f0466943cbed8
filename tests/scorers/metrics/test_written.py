"""Distinct pieces of one run: n versions of one piece count as one."""

import pytest

from music_evals.scorers.metrics.written import original, repeated
from tests.notation.lilypond.test_copies import in_key, tune


def piece(words, **facts):
    return {"music": words, "compiles": True, "has_notes": True, "nearest": {}, **facts}


def test_seven_keys_of_one_piece_are_one_original():
    keys = [piece(in_key(tune(1), semitones)) for semitones in range(7)]
    others = [piece(tune(seed)) for seed in range(2, 5)]
    assert original([*keys, *others]) == pytest.approx([1 / 7] * 7 + [1] * 3)
    assert repeated([*keys, *others]) == [1] * 7 + [0] * 3


def test_versions_that_do_not_count_take_nothing_from_those_that_do():
    broken = piece(tune(1), compiles=False)
    silent = piece(tune(1), has_notes=False)
    copied = piece(tune(1), nearest={"references": ("minuet", 0.5)})
    assert original([piece(tune(1)), broken, silent, copied]) == [1, 0, 0, 0]
