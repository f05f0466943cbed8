"""Levels of difficulty of MSU-Bench: a second program finds the answers, and the reader too."""

from collections import Counter
from itertools import chain

import pytest
from music21 import corpus

from music_evals.baselines.msu import answer
from music_evals.datasets_builders.msu.computed import build_generated
from music_evals.datasets_builders.msu.works import Work, default_works
from music_evals.notation.scores.numbering import number_measures
from music_evals.scorers.readers.checking import check
from tests.ladders.msu_resolver import STEP, notes_of, solve

HARDER = (2, 3, 4, 5)
PATHS = {
    **dict.fromkeys(HARDER, "mozart/k156/movement2.mxl"),  # four parts, grace notes
    4: "joplin/maple_leaf_rag.mxl",  # a tempo within a measure, one name for both staves
}


@pytest.mark.parametrize("level", HARDER)
def test_a_second_program_and_the_reader_find_the_answers(level):
    work = Work("piece", PATHS[level], "Anybody", "A piece", 0, level)
    plan = build_generated(works=[work])
    if level == 2:
        assert plan.questions == build_generated(works=[work]).questions
    (abc,) = (row["abc"] for rows in plan.scores.values() for row in rows)
    rows = list(chain.from_iterable(plan.questions.values()))
    assert 6 <= len({row["id"] for row in rows}) == len(rows) <= 12
    score = corpus.parse(work.path)
    number_measures(score)
    notes = notes_of(score)
    for row in rows:
        assert row["question"].count("Among the") == level - 1
        reply = answer(abc or "", row["question"], row["kind"] or "")
        assert check(reply, row["answer"], row["answer_type"] or "").is_right, row
        assert solve(notes, row["question"], row["kind"] or "") == row["answer"], row
    assert len({str(STEP.findall(row["question"])) for row in rows}) == len(rows)


def test_no_composer_has_more_than_a_fifth_of_a_level():
    for level in HARDER:
        works = default_works(f"msu_level{level}")
        assert {work.difficulty for work in works} == {level}
        most = max(Counter(work.composer for work in works).values())
        assert most <= max(1, len(works) / 5)
