"""The score reader: answers worked out by hand on snippets, and what music21 answered on scores of the default set."""

import time
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from music_evals.baselines import msu, ziqi
from music_evals.baselines.conversation import Conversation, Turn
from music_evals.baselines.msu.answers import UNKNOWN, answer
from music_evals.baselines.msu.score import Score, read_score
from music_evals.benchmarks.prompts import load_prompts
from music_evals.datasets_builders.msu.dataset import QuestionRow, ScoreRow
from music_evals.datasets_builders.msu.questions import compose_score_questions
from music_evals.datasets_builders.msu.works import Work, default_works
from music_evals.evals.msu import prompt_messages
from music_evals.notation.abc_score import score_to_abc
from music_evals.scorers.music_answers import check

DUET = """\
X:1
T:A Duet
C:Nobody Known
L:1/8
Q:"Allegro" 1/4=132
%%score 1 (2 2b)
M:3/4
K:Bb
V:1 treble nm="Flute"
V:2 bass nm="Left, hand"
V:2b bass
V:1
!p!f2 | %0
|: .e2 .=b2 !accent!^c'2- | %1
[c'e']3 ^F/G/ z A | %2
(3:2:3def {/g}!trill!a2 z2 :| %3
[M:2/4] [K:D] "^Lento"!fermata!C4 | %4
.!tenuto!c4 |] %5
V:2
x2 | %0
z6 | %1
B,,6 | %2
|: !mf!F,,4 [K:clef=alto] !uppermordent!_A,2 | %3
[M:2/4] [K:D] !wedge!C,4 | %4
C,,4- |] %5
V:2b
x2 | %0
x6 | %1
D,2 D,2 x2 | %2
x6 | %3
x4 [M:2/4] [K:D] | %4
G,2 "_sffz"F,2 |] %5
"""
FLUTE, LEFT = "of the part “Flute”", "of the part “Left, hand”"
SIGNS = "Give the number alone."


def _prompt(score: str, *questions: str) -> Conversation:
    asked = "\n".join(f"{number}. {question}" for number, question in enumerate(questions, start=1))
    head = f"Answer the following {len(questions)} questions. Write one line for each:\n\n"
    end = f"Question: {questions[0]}" if len(questions) == 1 else head + asked
    return Conversation(
        (Turn("system", "You answer."), Turn("user", f"The score in ABC notation:\n\n{score}\n\n{end}"))
    )


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who composed this piece?", "Nobody Known"),
        ("What is the title of this piece?", "A Duet"),
        ("How many signs (sharps, or else flats) does the key signature at the beginning have? " + SIGNS, "2"),
        ("What is the time signature at the beginning? Write it as two numbers with a slash.", "3/4"),
        ("Which clef stands at the beginning of the part “Flute”?", "Treble clef"),
        ("Which clef stands at the beginning of staff 2 from the top?", "Bass clef"),
        ("Which tempo indication, in words, stands at the beginning?", "Allegro"),
        ("Which number of beats per minute does the metronome mark at the beginning give?", "132"),
        ("Does the piece begin with an anacrusis (an incomplete upbeat measure)?", "Yes"),
        ("For which instruments or voices is the piece written? List the parts from the top.", "Flute, Left, hand"),
        ("How many staves does a complete system of the score have?", "2"),
        ("What is the number of the last measure? (A pickup is measure 0.)", "5"),
        ("Which dynamic marking stands at the very beginning of the piece?", "p"),
        # The signature changes, so that the beginning must tell the key: it begins on the fifth of B flat.
        ("In which key, major or minor, does the piece begin?", UNKNOWN),
    ],
)
def test_openings(question: str, expected: str) -> None:
    assert answer(read_score(DUET), question) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (f"In measure 1 {FLUTE}, what is the highest pitch? Give its octave too.", "C♯6"),
        (f"In measure 1 {FLUTE}, what is the lowest pitch? Give its octave too.", "E♭5"),
        # The accidental of the measure before is over; of a chord, all notes are read.
        (f"In measure 2 {FLUTE}, what is the highest pitch? Give its octave too.", "E♭6"),
        (f"In measure 2 {FLUTE}, what is the last note? Give its octave too.", "A4"),
        (f"In measure 2 {LEFT}, what is the highest pitch? Give its octave too.", "D3"),
        (f"In measure 4 {FLUTE}, what is the lowest pitch? Give its octave too.", "C♯4"),
        (f"In measure 1 {FLUTE}, is there a note with an accidental, that is, one that …?", "Yes"),
        (f"In measure 3 {FLUTE}, is there a note with an accidental, that is, one that …?", "No"),
        (f"In measure 1 {FLUTE}, which pitches depart from the key signature (accidentals)?", "B5, C♯6"),
        (f"In measure 3 {LEFT}, which pitches depart from the key signature (accidentals)?", "A♭3"),
        (f"In measure 2 {FLUTE}, what is the value of the shortest note (each sign by itself)?", "Sixteenth note"),
        (f"In measure 2 {FLUTE}, what is the value of the longest note (each sign by itself)?", "Dotted quarter note"),
        (f"In measure 3 {FLUTE}, what is the value of the shortest note (each sign by itself)?", UNKNOWN),
        (f"In measure 2 {FLUTE}, what is the value of the shortest rest?", "Eighth rest"),
        (f"In measure 3 {FLUTE}, what is the value of the longest rest?", "Quarter rest"),
        (f"Is there a rest in measure 2 {FLUTE}?", "Yes"),
        (f"Is there a rest in measure 2 {LEFT}?", "No"),
        ("Which dynamic marking stands in measure 3?", "mf"),
        ("Which dynamic marking stands in measure 5?", "sffz"),
        ("Which dynamic marking stands in measure 2?", UNKNOWN),
        (f"Which articulation mark do notes bear in measure 5 {FLUTE}?", "Portato"),
        (f"Which articulation mark do notes bear in measure 4 {LEFT}?", "Staccatissimo"),
        (f"Which articulation mark do notes bear in measure 1 {FLUTE}?", UNKNOWN),
        (f"Is any note in measure 1 {FLUTE} marked staccato?", "Yes"),
        (f"Is any note in measure 4 {LEFT} marked staccato?", "No"),
        (f"Which ornament sign stands in measure 3 {FLUTE}?", "Trill"),
        (f"Which ornament sign stands in measure 3 {LEFT}?", "Upper mordent"),
        (f"Is there a fermata in measure 4 {FLUTE}?", "Yes"),
        (f"Is there a grace note in measure 3 {FLUTE}?", "Yes"),
        (f"Is there a grace note in measure 2 {FLUTE}?", "No"),
        (f"Is a note at the end of measure 1 {FLUTE} tied over into the next measure?", "Yes"),
        (f"Is a note at the end of measure 2 {FLUTE} tied over into the next measure?", "No"),
        ("Is there a repeat sign (a repeat barline) in measures 1–2?", "Yes"),
        ("Is there a repeat sign (a repeat barline) in measures 4–5?", "No"),
        ("To which time signature does measure 4 change?", "2/4"),
        ("To which time signature does measure 3 change?", UNKNOWN),
        ("The key signature changes at measure 4: how many signs does the new one have? " + SIGNS, "2"),
        (f"Which new clef appears within measure 3 {LEFT}, after its beginning?", "Alto clef"),
        (f"How many notes are written in measure 2 {FLUTE}? (Count every note of a chord.)", "5"),
        (f"How many notes are written in measure 2 {LEFT}? (Count every note of a chord.)", "3"),
        ("How many notes are written in measure 9 of the part “Flute”?", UNKNOWN),
        ("How many notes are written in measure 2 of the part “Oboe”?", UNKNOWN),
    ],
)
def test_measures(question: str, expected: str) -> None:
    assert answer(read_score(DUET), question) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which part has the most notes (chords counted as one, grace notes left out)?", "Flute"),
        ("Which part has the widest range, from its lowest to its highest note?", "Flute"),
        ("In which measure does the last of the parts (staves) to enter have its first note?", "2"),
        ("Which part begins the piece alone?", "Flute"),
        ("Which measure has the most notes, all parts together?", "2"),
        ("In which measures does the highest note of the part “Flute” stand? Name all of them.", "2"),
        ("In which measures does the highest note of the part “Left, hand” stand?", "3"),
        ("How many times does the time signature change after the beginning?", "1"),
        ("Does every part have at least one note in measure 1?", "No"),
        ("Does every part have at least one note in measure 5?", "Yes"),
        ("In which register do measures 0–1 in the part “Flute” lie: low, middle or high?", "High"),
        ("In which register do measures 4–5 in the part “Left, hand” lie: low, middle or high?", "Low"),
        ("What is the most frequent note value in the part “Flute” (ties not added up)?", "Quarter note"),
        ("Does measure 2 in the part “Flute” repeat measure 1 exactly?", "No"),
    ],
)
def test_whole_scores(question: str, expected: str) -> None:
    assert answer(read_score(DUET), question) == expected


def test_a_measure_that_comes_again() -> None:
    score = read_score("X:1\nL:1/4\nM:2/4\nK:G\nFB | %1\nGA | %2\n^FB |] %3\n")
    assert answer(score, "In which later measures does measure 1 come again exactly?") == "3"
    assert answer(score, "Does measure 3 repeat measure 1 exactly (same pitches)?") == "Yes"
    assert answer(score, "In which key, major or minor, does the piece begin?") == UNKNOWN


@pytest.mark.parametrize(("key", "bass", "expected"), [("Eb", "_E", "E♭ major"), ("C#m", "^C,", "C♯ minor")])
def test_keys(key: str, bass: str, expected: str) -> None:
    score = read_score(f"X:1\nL:1/4\nM:2/4\nK:{key}\nV:1\nV:2\nV:1\ng2 | %1\ng2 | %2\nV:2\nG2 | %1\nG {bass} | %2\n")
    assert answer(score, "In which key, major or minor, does the piece begin?") == expected


def test_lines_without_numbers_are_counted() -> None:
    score = read_score("X:1\nM:2/4\nK:D\n|: F4 | c4 :|\n[1 d4 |2 e4 | z4 |]\n")
    assert [each.number for each in score.parts[0].measures] == [1, 2, 3, 4, 5]
    # Without an L field, the metre says that the unit is a sixteenth.
    assert answer(score, "In measure 2, what is the value of the longest note?") == "Quarter note"
    assert answer(score, "Is there a repeat sign (a repeat barline) in measure 2?") == "Yes"
    assert answer(score, "Is there a repeat sign (a repeat barline) in measures 4–5?") == "No"
    assert answer(score, "Does the piece begin with an anacrusis (an incomplete upbeat measure)?") == "Yes"


def test_a_batch_has_a_line_a_question() -> None:
    prompt = _prompt(DUET, "Who composed this piece?", "Why?", "How many staves does a complete system have?")
    assert msu.read(prompt, Random(1)) == "1. Nobody Known\n2. Unknown\n3. 2"
    assert msu.guess(prompt, Random(1)) == "1. Unknown\n2. Unknown\n3. Unknown"


def test_a_title_alone_says_title_and_composer() -> None:
    prompt = _prompt(
        "", "Who composed this piece?", "What is the title of this piece?", "Which clef does it begin with?"
    )
    text = prompt.last.text.replace("The score in ABC notation:", "The piece is: Stand by Me by Ben E. King")
    assert msu.read(Conversation((Turn("user", text),)), Random(1)).splitlines() == [
        "1. Ben E. King",
        "2. Stand by Me",
        "3. Unknown",
    ]


@pytest.mark.parametrize(
    ("question", "is_yes_no"),
    [
        ("Is there a rest in measure 3?", True),
        ("Does the piece begin with an anacrusis?", True),
        ("In measure 3, is there a note with an accidental?", True),
        ("Has it a coda?", True),
        ("Island songs are of which kind?", False),
        ("What is the highest pitch in measure 3?", False),
    ],
)
def test_chance_answers_yes_and_no(question: str, is_yes_no: bool) -> None:
    answers = Counter(msu.guess(_prompt(DUET, question), Random(seed)) for seed in range(400))
    assert set(answers) == ({"Yes", "No"} if is_yes_no else {UNKNOWN})
    assert not is_yes_no or 150 < answers["Yes"] < 250


def test_other_conversations_are_not_recognised() -> None:
    letters = Conversation((Turn("user", "Reply with [[answer: X]]\n1 + 1?\nA. 1\nB. 2\nC. 3\nD. 4"),))
    assert ziqi.recognises(letters)
    assert not msu.recognises(letters)
    judged = Conversation((Turn("user", "Question: Which key?\nReference: D major\nAnswer: D"),))
    assert not msu.recognises(judged)
    with pytest.raises(ValueError, match="does not end in questions"):
        msu.read(judged, Random(1))
    assert not ziqi.recognises(_prompt(DUET, "Why?"))


@pytest.mark.parametrize(
    "score",
    [
        "",
        "no score at all",
        "X:1",
        "X:1\nK:C\n",
        "X:1\nK:Hp\nC | %1\n",
        "X:1\nL:1/0\nM:0/4\nK:C\nC0 C/0 | %1\n",
        "X:1\nM:none\nK:C\nZ9 | %1\n",
        "X:1\n%%score (1 1 1) (1 2) (2 1)\nK:C\nV:1\nC | %1\nV:2\nC | %1\n",
        "X:1\nK:C\n[CEG | %1\n(3:0:0C | %1\n{[} | %1\n",
        "X:1\nK:C\n& & & | %1\n" + "[K:C][V:1][M:3/4]" * 100,
        "X:1\nK:C\n%999999999999\n| %1\n| %1\n",
        "X:1\nK:C\nC>D | %1\n",
    ],
)
def test_broken_scores_are_unknown(score: str) -> None:
    pitch = "In measure 1, what is the highest pitch?"
    last = msu.read(_prompt(score, pitch, "Which clef stands at the beginning of staff 0 from the top?"), Random(1))
    assert last.endswith("2. Unknown")


@pytest.mark.parametrize(
    "piece", ["[", "{", "(3", '"', "!", "%", "|", "V:1\n", "[K:", "C1/999983 ", "[CEG]", "&", "\n", "(3:2:2C/7", "\\"]
)
def test_hostile_scores_take_no_time(piece: str) -> None:
    score = "X:1\nK:C\nV:1\n" + piece * (500_000 // len(piece))
    start = time.process_time()
    msu.read(_prompt(score, "How many notes are written in measure 1?", "Which measure has the most notes?"), Random(1))
    assert time.process_time() - start < 20


@given(
    st.text(alphabet="XKVLMQC:1/4 \n|[]()%&{}!.^_=zabc,'\"-~", max_size=200),
    st.text(alphabet="In measure12, wht s 'lo“”–?of", max_size=60),
)
def test_nothing_raises(music: str, question: str) -> None:
    asked = [
        question,
        "In measure 1, what is the last note?",
        "In which key, major or minor, does the piece begin?",
        "What is the most frequent note value of the piece?",
        "Which part begins the piece alone?",
    ]
    reply = msu.read(_prompt("X:1\nK:C\n" + music, *(" ".join(each.split()) or "?" for each in asked)), Random(1))
    assert len(reply.splitlines()) == 5


WORKS = default_works()[::6]


@pytest.fixture(scope="module", params=WORKS, ids=[work.name for work in WORKS])
def asked(request: pytest.FixtureRequest) -> tuple[str, list[QuestionRow], Conversation]:
    """The questions on a work, and the prompt that asks them."""
    work: Work = request.param
    score = work.load()
    rows = [
        QuestionRow(
            id=f"{work.name}-{number}",
            score_id=work.name,
            level=one.level,
            kind=one.kind,
            question=one.text,
            answer=one.answer,
            answer_type=one.answer_type,
        )
        for number, one in enumerate(compose_score_questions(score, seed=1, name=work.name))
    ]
    row: ScoreRow = {
        "score_id": work.name,
        "title": work.title,
        "composer": work.composer,
        "abc": score_to_abc(score),
        "images": [],
        "musicxml": None,
        "source": "",
    }
    messages = prompt_messages(row, rows, load_prompts("msu"), "textual", "full")
    return work.name, rows, Conversation(tuple(Turn(message.role, message.text) for message in messages))


def test_the_reader_agrees_with_music21(asked: tuple[str, list[QuestionRow], Conversation]) -> None:
    _, rows, conversation = asked
    assert msu.recognises(conversation)
    replies = [line.partition(". ")[2] for line in msu.read(conversation, Random(1)).splitlines()]
    assert len(replies) == len(rows)
    early = [(row, reply) for row, reply in zip(rows, replies, strict=True) if row["level"] <= 2]
    right = [row for row, reply in early if _agrees(reply, row)]
    assert len(right) >= 0.9 * len(early), [(row["question"], row["answer"], reply) for row, reply in early]
    # What it does not know it must not make up.
    for row, reply in zip(rows, replies, strict=True):
        assert reply == UNKNOWN or _agrees(reply, row), (row["question"], row["answer"], reply)


def _agrees(reply: str, row: QuestionRow) -> bool:
    verdict = check(reply, row["answer"], row["answer_type"] or "text")
    return reply.casefold() == row["answer"].casefold() if verdict is None else verdict


@pytest.mark.parametrize(
    "question",
    [
        "Is there a repeat sign (a repeat barline) in measures 1–8?",
        "Does every part have at least one note in measure 3?",
        "Is there a rest in measure 2?",
    ],
)
def test_nothing_is_said_of_a_score_that_is_not_there(question: str) -> None:
    assert answer(Score(), question) == "Unknown"
