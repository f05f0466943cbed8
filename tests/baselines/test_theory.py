"""The theory reader: agrees with every composed answer by arithmetic of its own, and guesses nothing."""

import ast
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from music_evals.baselines.theory import solve
from music_evals.datasets_builders.questions.question_rows import Language, Question
from music_evals.datasets_builders.questions.theory.compose import compose_theory

ROOT = Path(__file__).parents[2]
LANGUAGES: tuple[Language, ...] = ("zh", "en")


@pytest.fixture(scope="module")
def questions() -> list[Question]:
    return [question for seed in range(2) for question in compose_theory(400, seed)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_reader_agrees_with_every_answer(questions: list[Question], language: Language) -> None:
    rng = Random(0)
    for question in questions:
        options = rng.sample([question.right[language], *question.wrong[language]], 4)
        assert solve(question.text[language], options) == options.index(question.right[language]), question


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_reader_does_not_guess(questions: list[Question], language: Language) -> None:
    for question in questions:
        text, right, wrong = question.text[language], question.right[language], question.wrong[language]
        # So no wrong option is right as well, by an arithmetic that the composer does not know.
        assert solve(text, wrong) is None, question
        assert solve(text, [right, *wrong, right]) is None
        assert solve(text, ["", "?", *wrong, right]) == 5
        assert solve(text, []) is None


def test_the_reader_is_independent() -> None:
    for path in [*(ROOT / "music_evals/baselines").glob("theory*.py"), ROOT / "music_evals/notation/spelling.py"]:
        imported = {
            name
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            for name in ([a.name for a in node.names] if isinstance(node, ast.Import) else [])
            + ([node.module or ""] if isinstance(node, ast.ImportFrom) else [])
        }
        assert not any("music21" in name or "datasets_builders" in name for name in imported)


HAND_WORKED = [
    ("从B向上到离它最近的F，构成什么音程？", ["纯五度", "增四度", "减五度", "小六度"], 2),
    ("What is the key signature of E flat minor?", ["6 sharps", "6 flats", "3 flats", "5 flats"], 1),
    (
        "In A flat major, which notes, from the lowest up, form V7?",
        ["E flat, G, B flat, D", "E flat, G, B flat, D flat"],
        1,
    ),
    ("降B调单簧管的分谱上记着C，实际发出的是哪些音（只论音名，不论八度）？", ["D", "降B", "C"], 1),
    (
        "How many eighth notes last as long as these note values in a row: half note, dotted quarter note?",
        ["6", "7"],
        1,
    ),
    ("Which note is enharmonic with C?", ["C", "B sharp", "B"], 1),
    ("In A minor, which notes, from the lowest up, form viio7?", ["G sharp, B, D, F"], None),  # written otherwise
    ("In A minor, which notes, from the lowest up, form vii°7/V?", ["D, F, A, C", "D sharp, F sharp, A, C"], 1),
    ("Which note is enharmonic with C?", ["B sharp", "D double flat"], None),  # both are
]


@pytest.mark.parametrize(("text", "options", "answer"), HAND_WORKED)
def test_hand_worked_questions(text: str, options: list[str], answer: int | None) -> None:
    assert solve(text, options) == answer


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Who composed Aida?",
        "Which note lies a major third above H?",
        "Which note lies a major fourth above C?",
        "Which note lies a third above C?",
        "C上方大五度的音是哪个音？",
        "In C major, which notes, from the lowest up, form IIII7?",
        "A bar of 3/0 time already holds these note values: half note. Which single note value fills the rest of it?",
        "How many half notes fill ２ bars of 4/4 time?",
        "x" * 100_000,
        "Which note lies " * 7_000,
        "A tuplet fits " * 30,
        "从" * 400 + "？",
        "In the key signature of " + ", on which letter is the last " * 15 + " written?",
    ],
)
def test_what_is_no_theory_question_is_not_answered(text: str) -> None:
    assert solve(text, ["E", "F", "1", "perfect fifth", "", "x" * 100_000]) is None


@settings(max_examples=50)
@given(st.text(max_size=600), st.lists(st.text(max_size=40), max_size=5))
def test_random_text_is_not_answered(text: str, options: list[str]) -> None:
    assert solve(text, options) is None


@settings(max_examples=50)
@given(st.data())
def test_spoilt_questions_never_crash(questions: list[Question], data: st.DataObject) -> None:
    question = data.draw(st.sampled_from(questions[:80]))
    language = data.draw(st.sampled_from(LANGUAGES))
    text, options = question.text[language], [question.right[language], *question.wrong[language]]
    at = data.draw(st.integers(0, len(text)))
    spoilt = text[:at] + data.draw(st.text(max_size=5)) + text[at + data.draw(st.integers(0, 5)) :]
    assert solve(spoilt, options) in (None, 0, 1, 2, 3)
