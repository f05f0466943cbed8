"""Levels of difficulty of MSU-Bench: a second program finds the answers, and the reader too."""

from collections import Counter
from itertools import chain
from typing import Any

import pytest
from music21 import corpus

from music_evals.baselines.msu import answer
from music_evals.datasets_builders.msu.computed import _read
from music_evals.datasets_builders.msu.dataset import BENCHMARK
from music_evals.datasets_builders.msu.questions.compose import compose_evenly
from music_evals.datasets_builders.msu.works import Work, default_works
from music_evals.evals import msu
from music_evals.notation.scores.numbering import number_measures
from music_evals.scorers.readers.checking import check
from tests.ladders.msu_resolver import notes_of, solve

HARDER = (2, 3, 4, 5)
PATHS = {
    **dict.fromkeys(HARDER, "mozart/k156/movement2.mxl"),  # four parts, grace notes
    4: "joplin/maple_leaf_rag.mxl",  # a tempo within a measure, one name for both staves
}


def read_at(level: int, path: str) -> Any:
    read = _read(Work(path, path, "Anybody", "A piece", 0, level), seed=1)
    assert not isinstance(read, str), read
    return read


@pytest.mark.parametrize("level", HARDER)
def test_a_second_program_and_the_reader_find_the_answers(level: int) -> None:
    path = PATHS[level]
    row, pool = read_at(level, path)
    if level == 2:
        assert (row, pool) == read_at(level, path)
    score = corpus.parse(path)
    number_measures(score)
    notes = notes_of(score)
    for question in chain.from_iterable(pool.values()):
        assert question.text.count("Among the") == level - 1
        reply = answer(row["abc"], question.text, question.kind)
        assert check(reply, question.answer, question.answer_type).is_right, question
        assert solve(notes, question.text, question.kind) == question.answer, question
    leads = [question.lead for question in compose_evenly({path: pool})[path]]
    assert 6 <= len({*leads}) == len(leads) <= 12


def test_no_composer_has_more_than_a_fifth_of_a_level() -> None:
    for level in HARDER:
        works = default_works(f"msu_level{level}")
        assert {work.difficulty for work in works} == {level}
        most = max(Counter(work.composer for work in works).values())
        assert most <= max(1, len(works) / 5)


def test_tasks_with_levels() -> None:
    assert BENCHMARK.leveled == ("textual", "visual")
    with pytest.raises(ValueError, match="tasks of msu with levels are: textual, visual"):
        msu.score(level=3)
