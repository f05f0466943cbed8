"""The questions of levels 2 to 5."""

import pytest

from music_evals.datasets_builders import musictheorybench
from music_evals.datasets_builders.questions.theory.chains import compose_chains
from music_evals.datasets_builders.ziqi import dataset as ziqi
from music_evals.notation.theory_chains import TABLES, solve

LEVELS = (2, 3, 4, 5)
SMALL = 6


@pytest.mark.parametrize("level", LEVELS)
def test_a_program_solves_each_question_in_both_languages(level):
    for question in compose_chains(SMALL, "test", level):
        for language, right in question.right.items():
            names = solve(question.text[language])
            assert right in (names or ()), question.text
        steps, letters = TABLES["levels"][level]
        assert question.text["en"].count("\n") == steps + 2
        assert len({option[0] for option in question.options("en", 0)}) <= letters


def test_the_same_key_gives_the_same_questions_and_another_key_others():
    first, again, others = (compose_chains(SMALL, key, 3) for key in ("a", "a", "b"))
    assert first == again
    assert not {question.text["en"] for question in first} & {
        question.text["en"] for question in others
    }


@pytest.mark.parametrize("builder", [ziqi, musictheorybench])
def test_a_level_is_a_dataset_of_one_task(builder, tmp_path, monkeypatch):
    monkeypatch.setattr(ziqi, "LEVEL_THEORY", SMALL)
    monkeypatch.setattr(musictheorybench, "LEVEL_ROWS", SMALL + musictheorybench.EXAMPLES)
    spec = builder.BENCHMARK  # type: ignore[attr-defined]
    provenance = builder.build_level(2, tmp_path / "level", lambda *_: None)  # type: ignore[attr-defined]
    languages = 2 if builder is ziqi else 1
    assert provenance.counts == {
        config: {"dev": 5 * languages, "test": SMALL * languages} for config in spec.leveled
    }
