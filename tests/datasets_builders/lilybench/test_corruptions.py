"""Corruptions: in place, of one kind, and found by two readers that share no code."""

import pytest

from music_evals.datasets_builders.lilybench.reasons import reasons
from music_evals.datasets_builders.lilybench.rows import CORRUPTIONS, Corruption, task_row
from music_evals.datasets_builders.lilybench.strict.checker import find_errors
from music_evals.datasets_builders.lilybench.strict.corruptions import Corrupted, corrupt
from music_evals.notation.lilypond.anonymous import anonymise
from music_evals.notation.lilypond.compiler import lilypond_cache
from tests.datasets_builders.lilybench.scores import CLEAN, RELATIVE, read


@pytest.mark.parametrize("kind", CORRUPTIONS)
def test_a_corruption_is_the_only_error_of_its_score(kind: Corruption) -> None:
    scores = [(text, read(text)) for text in CLEAN.values()]
    made = corrupt(scores, kind, seed=5, cache=lilypond_cache())
    if kind == "invalid_metadata":  # only one of the scores has a key or clef in a complete measure that begins one
        assert any(made)
    else:
        assert all(made)
    for (text, clean), corrupted in zip(scores, made, strict=True):
        if not isinstance(corrupted, Corrupted):
            continue
        assert find_errors(corrupted.text, read(corrupted.text)) == {kind: [corrupted.measure]}
        # One note changes, and at most the next one is written out.
        changed = [before != after for before, after in zip(text.split(), corrupted.text.split(), strict=True)]
        assert sum(changed) in (1, 2)
        assert 1 <= corrupted.measure <= clean.measures


def test_a_reader_of_a_log_is_told_the_change() -> None:
    text = "\\version \"2.24.3\"\n\\header { title = \"A tune\" }\n{ c'4 d' |\n  g'8 a' b'4 | }\n"
    clean = anonymise(text)
    scores = {
        "melodic_leap": (clean.replace("g'8", "g,8"), "a melodic leap in measure 2: `g'8` became `g,8`."),
        "invalid_content": (clean.replace("b'4 |", "b'4 zq |"), "text that is no music in measure 2: `zq` was put in."),
        "accidental_outside_key": ("{ c'1 }" * 50, "an accidental that is foreign to the key in measure 2."),
        "clean": (clean, "nothing in this score was changed."),
    }
    rows = [
        task_row("error_detection", "strict", "airs/tune", "2", score=score, kind=kind)
        for kind, (score, _) in scores.items()
    ]
    told = reasons("error_detection", "strict", rows, {"airs/tune": text})
    assert list(told.values()) == [words for _, words in scores.values()]
    assert reasons("error_detection", "strict", rows[:1], {}) == {rows[0]["id"]: "a melodic leap in measure 2."}


def test_the_seed_chooses_the_place() -> None:
    scores = [(RELATIVE, read(RELATIVE))]
    made = [corrupt(scores, CORRUPTIONS[4], seed=seed, cache=lilypond_cache())[0] for seed in (1, 1, 2, 3)]
    texts = [one.text for one in made if isinstance(one, Corrupted)]
    assert texts[0] == texts[1]
    assert len(set(texts)) > 1
