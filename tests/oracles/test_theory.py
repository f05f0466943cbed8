"""Every key of the composed questions of theory, confirmed by arithmetic that the composer does not
know.
"""

from random import Random

import pytest

from music_evals.datasets_builders.questions.theory.compose import compose_theory
from tests.oracles.theory import solve

LANGUAGES = ("zh", "en")


@pytest.fixture(scope="module")
def questions():
    return [question for seed in range(2) for question in compose_theory(400, seed)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_reader_agrees_with_every_answer(questions, language):
    rng = Random(0)
    for question in questions:
        options = rng.sample([question.right[language], *question.wrong[language]], 4)
        assert solve(question.text[language], options) == options.index(question.right[language]), (
            question
        )


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_reader_does_not_guess(questions, language):
    for question in questions:
        text, right, wrong = (
            question.text[language],
            question.right[language],
            question.wrong[language],
        )
        # So no wrong option is right as well, by an arithmetic that the composer does not know.
        assert solve(text, wrong) is None, question
        assert solve(text, [right, *wrong, right]) is None
        assert solve(text, ["", "?", *wrong, right]) == 5
        assert solve(text, []) is None


HAND_WORKED = [
    ("从B向上到离它最近的F，构成什么音程？", ["纯五度", "增四度", "减五度", "小六度"], 2),
    (
        "What is the key signature of E flat minor?",
        ["6 sharps", "6 flats", "3 flats", "5 flats"],
        1,
    ),
    (
        "In A flat major, which notes, from the lowest up, form V7?",
        ["E flat, G, B flat, D", "E flat, G, B flat, D flat"],
        1,
    ),
    ("降B调单簧管的分谱上记着C，实际发出的是哪些音（只论音名，不论八度）？", ["D", "降B", "C"], 1),
    (
        (
            "How many eighth notes last as long as these note values in a row: half note, dotted "
            "quarter note?"
        ),
        ["6", "7"],
        1,
    ),
    ("Which note is enharmonic with C?", ["C", "B sharp", "B"], 1),
    (
        "In A minor, which notes, from the lowest up, form viio7?",
        ["G sharp, B, D, F"],
        None,
    ),  # written otherwise
    (
        "In A minor, which notes, from the lowest up, form vii°7/V?",
        ["D, F, A, C", "D sharp, F sharp, A, C"],
        1,
    ),
    ("Which note is enharmonic with C?", ["B sharp", "D double flat"], None),  # both are
]


@pytest.mark.parametrize(("text", "options", "answer"), HAND_WORKED)
def test_hand_worked_questions(text, options, answer):
    assert solve(text, options) == answer
