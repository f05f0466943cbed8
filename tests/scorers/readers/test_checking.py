"""The rules that check answers: spellings, wrong answers, answers that no rule decides, and the
published answers.
"""

import csv
from collections import Counter
from itertools import cycle, islice
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from music_evals.datasets_builders.msu.questions import kind as score_question
from music_evals.scorers.readers.checking import AnswerType, answer_type_of, check

PUBLISHED = Path(__file__).parents[4] / "shared" / "data" / "msu" / "msu-bench.xlsx"

DATA = Path(__file__).parent / "data"
with (DATA / "answers.csv").open(encoding="utf-8", newline="") as file:
    CASES = list(csv.DictReader(file))


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case['answer_type']} {case['reference']}"
)
def test_answers(case):
    for column, expected in (("right", True), ("wrong", False), ("undecided", None)):
        for prediction in filter(None, case[column].split("|")):
            assert check(prediction, case["reference"], case["answer_type"]).is_right is expected, (
                prediction
            )


def test_the_types_are_those_of_the_questions():
    assert get_args(AnswerType) == get_args(score_question.AnswerType)
    with pytest.raises(ValueError, match="answer_type='tempo' is not valid"):
        check("fast", "fast", "tempo")


def test_keys_in_capitals_are_read():
    assert check("EB", "E♭ major", "key").is_right is True


@pytest.mark.parametrize("answer_type", get_args(AnswerType))
def test_hostile_predictions_end(answer_type):
    references = ("None", "C4", "I–V", "Measures 1–99999")
    pieces = (
        "I-",
        "1-",
        "1, ",
        "A",
        "no ",
        "C# ",
        "bars 1-",
        "-",
        " ",
        "V7 – ",
        "\n",
        "treble, ",
        "∯",
    )
    place = get_args(AnswerType).index(answer_type)
    for piece, reference in zip(pieces, islice(cycle(references), place, None), strict=False):
        assert check(piece * 20_000, reference, answer_type).is_right in (True, False, None)


@given(st.text(max_size=80), st.text(max_size=30), st.sampled_from(get_args(AnswerType)))
def test_any_texts_are_checked(prediction: str, reference: str, answer_type: str) -> None:
    assert check(prediction, reference, answer_type).is_right in (True, False, None)


@pytest.mark.slow
@pytest.mark.skipif(
    not PUBLISHED.is_file(), reason=f"no copy of the published questions in {PUBLISHED}"
)
def test_published_answers_are_never_wrong_of_themselves():
    openpyxl = pytest.importorskip("openpyxl", reason="needs the extra 'scores'")
    sheet = openpyxl.load_workbook(PUBLISHED, read_only=True).active
    rows = list(sheet.iter_rows(min_row=2, values_only=True))
    assert len(rows) == 1800
    told = Counter()
    for _, _, question, answer in rows:
        answer_type = answer_type_of(question, answer)
        found = check(answer, answer, answer_type).is_right
        assert found or (found is None and answer_type == "text"), (question, answer)
        told[found] += 1
    assert told[True] > 950


@pytest.mark.parametrize(
    ("question", "answer", "answer_type"),
    [
        ("In measure 3, what is the highest pitch?", "E♭5", "pitch"),
        ("In measure 3, what is the highest pitch?", "E♭5; G5", "pitches"),
        ("What is the initial clef?", "Treble clef; Bass clef", "clef"),
        ("What is the initial clef?", "Tenor c", "text"),
        ("In measure 9, what is the new key signature?", "1 flat", "text"),
        ("What is the metronome marking?", "None", "number"),
        ("In measure 2, is there a repeat sign?", "None", "yes_no"),
        ("In measures 5–9, is there a repeat sign?", "None", "yes_no"),
        ("Between measures 1–8, are there repeat signs?", "Present", "text"),
        ("What is the initial expression marking?", "None", "text"),
        ("Who is the composer?", "J.S. Bach", "name"),
    ],
)
def test_types_of_published_questions(question, answer, answer_type):
    assert answer_type_of(question, answer) == answer_type
