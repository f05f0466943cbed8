"""Floors: the score without the music, stored with a dataset when it is built."""

from dataclasses import replace

import pytest

from music_evals.datasets_builders.dataset_io import read_provenance
from music_evals.datasets_builders.questions.audit import earnings, items_of
from music_evals.datasets_builders.questions.question_rows import QuestionRow, write_question_rows
from tests.datasets_builders.questions.test_audit import exchangeable, longest


def rows(count, kind, *, leaky, seed=1):
    items = exchangeable(count, seed)
    items = (
        longest(items) if leaky else [replace(item, options=sorted(item.options)) for item in items]
    )
    return [
        QuestionRow(
            id=f"{kind}-{number}",
            question="Which?",
            abc=None,
            options=list(item.options),
            answer="ABCD"[list(item.options).index(item.answer)],
            kind=kind,
        )
        for number, item in enumerate(items)
    ]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    out = tmp_path_factory.mktemp("floors") / "bank"
    test = [*rows(200, "long", leaky=True), *rows(200, "plain", leaky=False)]
    write_question_rows(
        "musictheorybench",
        "1.0",
        {"knowledge": {"dev": test[:5], "test": test}},
        out,
        source="generated",
        seed=1,
    )
    return read_provenance(out)


def test_a_blind_guesser_that_finds_nothing_has_chance(tmp_path):
    plain = {"knowledge": {"test": rows(40, "plain", leaky=False, seed=2)}}
    made = write_question_rows(
        "musictheorybench", "1.0", plain, tmp_path / "bank", source="generated", seed=1
    )
    (floors,) = made.floors["knowledge"]["test"].values()
    assert {**floors, "majority": 0.25} == {
        "questions": 40,
        "chance": 0.25,
        "majority": 0.25,
        "blind": 0.25,
    }
    assert (
        floors["majority"] < 0.25 + 2 * (0.25 * 0.75 / 40) ** 0.5
    )  # the better of two constants, by luck


def test_the_best_constant_is_learned_from_other_pieces_at_any_number_of_questions(
    tmp_path,
):
    options = ["Baroque", "Classical", "Romantic", "Modern"]
    rights = [*["Baroque"] * 8, *["Classical"] * 3, *["Romantic"] * 2, *["Modern"] * 2]
    row = QuestionRow(
        id="", question="Of which period?", abc=None, options=[], answer="", kind="genre"
    )
    rows_ = []
    for number, right in enumerate(rights):
        own = options[number % 4 :] + options[: number % 4]
        rows_.append(
            {**row, "id": f"q{number}", "options": own, "answer": "ABCD"[own.index(right)]}
        )
    made = write_question_rows(
        "musictheorybench", "1.0", {"knowledge": {"test": rows_}}, tmp_path, source="generated"
    )
    assert made.floors["knowledge"]["test"]["genre"]["majority"] == pytest.approx(8 / 15, abs=1e-4)


def test_counting_bar_lines_is_a_floor_of_open_questions_on_scores():
    row = {"id": "a", "options": [], "answer": "2", "score": "c4 d | e f |", "question": ""}
    items = items_of("lilybench", "bar_count", [row, {**row, "id": "b", "answer": "3"}])
    assert earnings(items)["bar lines"].tolist() == [1, 0]


def test_what_a_guesser_can_answer_is_taken_from_rows_of_any_benchmark():
    row = {"id": "a", "options": ["Yes", "No"], "target": "No", "question": "Same?"}
    (item,) = items_of("muse", "transposition", [row])
    assert (item.answer, item.opening) == ("No", "")
    # A letter is the place of an option, even if an option has the same text.
    assert (
        items_of("muse", "chord_quality", [{**row, "options": ["B", "A"], "target": "B"}])[0].answer
        == "A"
    )
    assert (
        items_of(
            "lilybench", "bar_sequencing", [{"id": "b", "options": [*"wxyz"], "answer": "2031"}]
        )
        == []
    )
    tune = {"id": "c", "question": "Which goes on?\nX:1\nCDE", "options": ["F", "G"], "answer": "A"}
    (item,) = items_of("ziqi", "generation", [tune])
    assert (item.question, item.opening) == ("Which goes on?\n", "X:1\nCDE")
    (item,) = items_of(
        "lilybench", "next_bar_prediction", [{**tune, "question": "", "score": "c4 d"}]
    )
    assert item.opening == "c4 d"
    assert items_of("lilybench", "corpus", [{"id": "d"}]) == []
