"""The reader of scores: answers by hand on a duet, and what the builder answers on scores of the
default set.
"""

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from music_evals.baselines.msu import answer
from music_evals.baselines.score import read_score
from music_evals.datasets_builders.msu.questions.compose import KINDS
from music_evals.datasets_builders.msu.questions.reading import read
from music_evals.datasets_builders.msu.works import default_works
from music_evals.notation.abc.writing import score_to_abc
from music_evals.scorers.readers.checking import check

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
[M:2/4] [K:D] x4 | %4
G,2 "_sffz"F,2 |] %5
"""
UNKNOWN = "Unknown"


# Places that questions name, each with kinds of questions and their answers. The first signature
# changes, so that the beginning must tell the key: it begins on the fifth of B flat. In measure 2
# the accidental of the measure before is over; of a chord, all notes are read.
BY_HAND = """
the piece: composer = Nobody Known; title = A Duet; key signature = 2; time signature = 3/4; tempo words = Allegro
the piece: metronome mark = 132; anacrusis = Yes; instruments = Flute, Left, hand; last measure = 5
the piece: opening dynamic = p; initial key = Unknown; busiest part = Flute; widest part = Flute; last entry = 2
the piece: first entry = Flute; fullest measure = 2; metre changes = 1; is it beautiful = Unknown
at the beginning of the part “Flute”: clef = Treble clef
at the beginning of staff 2 from the top: clef = Bass clef
at the beginning of staff 3 from the top: clef = Unknown
measure 1 of the part “Flute”: highest pitch = C♯6; lowest pitch = E♭5; accidental = Yes; accidentals = B5, C♯6
measure 1 of the part “Flute”: articulation = Unknown; staccato = Yes; tie = Yes
measure 2 of the part “Flute”: highest pitch = E♭6; last pitch = A4; shortest note = Sixteenth note
measure 2 of the part “Flute”: longest note = Dotted quarter note; shortest rest = Eighth rest; rest = Yes
measure 2 of the part “Flute”: grace note = No; tie = No; number of notes = 5
measure 2 of the part “Left, hand”: highest pitch = D3; rest = No; number of notes = 3
measure 4 of the part “Flute”: lowest pitch = C♯4; fermata = Yes
measure 3 of the part “Flute”: accidental = No; shortest note = Unknown; longest rest = Quarter rest; ornament = Trill
measure 3 of the part “Flute”: grace note = Yes
measure 3 of the part “Left, hand”: accidentals = A♭3; ornament = Upper mordent; new clef = Alto clef
measure 3: dynamic = mf; new time signature = Unknown
measure 5: dynamic = sffz; all parts present = Yes
measure 2: dynamic = Unknown
measure 5 of the part “Flute”: articulation = Portato
measure 4 of the part “Left, hand”: articulation = Staccatissimo; staccato = No
measures 1–2: repeat sign = Yes
measures 4–5: repeat sign = No
measure 4: new time signature = 2/4; new key signature = 2
measure 9 of the part “Flute”: number of notes = Unknown
measure 2 of the part “Oboe”: number of notes = Unknown
of the part “Flute”: highest note = 2
of the part “Left, hand”: highest note = 3
measure 1: all parts present = No
in the part “Flute”: predominant rhythm of a part = Quarter note
Does measure 2 in the part “Flute” repeat measure 1: exact repetition = No
"""


@pytest.mark.parametrize("line", BY_HAND.strip("\n").splitlines())
def test_answers_by_hand(line):
    place, _, facts = line.partition(": ")
    for fact in facts.split("; "):
        kind, _, expected = fact.partition(" = ")
        assert answer(DUET, place, kind) == expected, fact


def test_a_measure_that_comes_again():
    score = "X:1\nL:1/4\nM:2/4\nK:G\nV:1\nFB | %1\nGA | %2\n^FB |] %3\n"
    assert (
        answer(score, "In which later measures does measure 1 come again?", "return of a measure")
        == "3"
    )
    assert answer(score, "Does measure 3 repeat measure 1?", "exact repetition") == "Yes"


@pytest.mark.parametrize(
    ("key", "bass", "expected"), [("Eb", "_E", "E♭ major"), ("C#m", "^C,", "C♯ minor")]
)
def test_the_bass_tells_the_key(key, bass, expected):
    score = (
        f"X:1\nL:1/4\nM:2/4\nK:{key}\nV:1\nV:2\nV:1\ng2 | %1\ng2 | %2\nV:2\nG2 | %1\nG {bass} | "
        "%2\n"
    )
    assert answer(score, "", "initial key") == expected


@pytest.mark.parametrize(
    "score",
    [
        *[
            "",
            "no score at all",
            "X:1",
            "X:1\nK:C\n",
            "X:1\nK:Hp\nC | %1\n",
            "X:1\nM:none\nK:C\nZ9 | %1\n",
        ],
        "X:1\nL:1/0\nM:0/4\nK:C\nC0 C/0 | %1\n",
        "X:1\nK:C\n[CEG | %1\n(3:0:0C | %1\n{[} | %1\n",
        "X:1\nK:C\n& & & | %1\n" + "[K:C][V:1][M:3/4]" * 100,
        "X:1\nK:C\nV:1\n" + "[CEG]" * 100_000,
        "X:1\nK:C\nV:1\nC | %1\nV:2\nz |\n%999999999999\n",
    ],
)
def test_broken_scores_are_unknown_or_read(score):
    assert answer(score, "staff 0 from the top", "clef") == UNKNOWN
    assert len(answer(score, "measure 1", "highest pitch")) < 10


@settings(max_examples=40)
@given(
    st.text(alphabet="XKVLMQC:1/4 \n|[]()%&{}!.^_=zabc,'\"-~", max_size=120),
    st.text(alphabet="measure12 of staff rom the tp“”–?", max_size=40),
)
def test_nothing_raises(music: str, question: str) -> None:
    for kind in (
        "last pitch",
        "initial key",
        "predominant rhythm",
        "first entry",
        "chord name",
        "exact repetition",
    ):
        assert answer(f"X:1\nK:C\nV:1\n{music} | %1\n", f"measure 1 {question}", kind)


WORKS = default_works()[::27]


@pytest.mark.parametrize("work", WORKS, ids=[work.name for work in WORKS])
def test_the_reader_agrees_with_the_builder(work):
    """From the ABC, by music21's other parser and counting of its own: all of levels 1 and 2, and
    no wrong answer.
    """
    score = work.load()
    reading, abc = read(score), score_to_abc(score)
    assert len(read_score(abc).parts) == len(reading.voices)
    known = Counter()
    for kind in KINDS:
        question = next(kind.questions(reading, Random(1), {}), None)
        if question is None:
            continue
        reply = answer(abc, question.text, question.kind)
        verdict = check(reply, question.answer, question.answer_type or "text")
        is_right = reply.casefold() == question.answer.casefold() if verdict is None else verdict
        assert is_right or (reply == UNKNOWN and question.level > 2), (question, reply)
        known[reply != UNKNOWN] += 1
    assert known[True] > known[False]
