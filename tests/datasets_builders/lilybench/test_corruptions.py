"""Corruptions: in place, of one kind, and found by two readers that share no code."""

import pytest

from music_evals.datasets_builders.lilybench.checker import find_errors
from music_evals.datasets_builders.lilybench.corruptions import Corrupted, corrupt
from music_evals.datasets_builders.lilybench.rows import CORRUPTIONS, Corruption
from music_evals.notation.lilypond.compiler import lilypond_cache
from tests.datasets_builders.lilybench.scores import CLEAN, RELATIVE, read
from tests.oracles.lilypond_errors import wrong_measures


@pytest.mark.parametrize("kind", CORRUPTIONS)
def test_a_corruption_is_the_only_error_of_its_score(kind: Corruption) -> None:
    scores = [(text, read(text)) for text in CLEAN.values()]
    made = corrupt(scores, kind, seed=5, cache=lilypond_cache())
    if kind == "invalid_metadata":  # only one of the scores has a key or clef in a complete measure that begins one
        assert any(made)
    else:
        assert all(made)
    for (text, clean), corrupted in zip(scores, made, strict=True):
        assert wrong_measures(text) == []
        if not isinstance(corrupted, Corrupted):
            continue
        assert find_errors(corrupted.text, read(corrupted.text)) == {kind: [corrupted.measure]}
        assert wrong_measures(corrupted.text) == [corrupted.measure]
        # One note changes, and at most the next one is written out.
        changed = [before != after for before, after in zip(text.split(), corrupted.text.split(), strict=True)]
        assert sum(changed) in (1, 2)
        assert 1 <= corrupted.measure <= clean.measures


def test_the_seed_chooses_the_place() -> None:
    scores = [(RELATIVE, read(RELATIVE))]
    made = [corrupt(scores, CORRUPTIONS[4], seed=seed, cache=lilypond_cache())[0] for seed in (1, 1, 2, 3)]
    texts = [one.text for one in made if isinstance(one, Corrupted)]
    assert texts[0] == texts[1]
    assert len(set(texts)) > 1
