"""Twins of MSU's questions: answers that move along, and names of another piece."""

from music_evals.datasets_builders.msu.twins import transposed
from tests.msu_dataset import question

ABC = "X:1\nT:Ode\nC:Somebody\nL:1/4\nM:2/4\nK:G\nV:1\nV:1\nG ^c | %1\n"


def row(text, answer):
    return question("s", 1, question=text, answer=answer)


def test_answers_move_along_by_their_type():
    questions = [
        row("What is the highest pitch of the part “Horn in F”?", "C♯5"),
        row("Does it begin on the tonic of G major?", "Yes"),
        row("How many sharps does the key signature have?", "1"),
        row("For which instruments is it written?", "Horn in F"),
    ]
    abc, moved = transposed(ABC, questions, ["pitch", "yes_no", "number", "text"])
    assert abc == ABC.replace("K:G", "K:A").replace("G ^c", "A ^d")
    assert [(twin["question"], twin["answer"]) for twin in moved] == [
        ("What is the highest pitch of the part “Horn in F”?", "D♯5"),
        ("Does it begin on the tonic of A major?", "Yes"),
        ("For which instruments is it written?", "Horn in F"),
    ]
