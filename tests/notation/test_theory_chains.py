"""Steps of music theory, which music21 takes again from their English words."""

import pytest
from music21.key import KeySignature

from music_evals.notation.theory_chains import solve

DEGREES = ("tonic", "supertonic", "mediant", "subdominant", "dominant", "submediant")
DEGREES = (*DEGREES, "leading note")
VALUES = {"whole": 4, "half": 2, "quarter": 1, "eighth": 0.5, "sixteenth": 0.25}


def signature(word, mode):
    number, sign = word.split()
    sharps = int(number) * {"sharps": 1, "flats": -1}[sign]
    return str(KeySignature(sharps).asKey(mode).tonic.name)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        # C minor, its leading note B, a diminished seventh above
        (
            "R is the note a diminished seventh above Q\nQ is the leading note of P\n"
            "P is the minor key with 3 flats in its key signature\nWhat is R?",
            ("降A", "A flat"),
        ),
        ("Q是P下方小二度的音\nP是写在中音谱表第三线上的自然音\nQ是什么？", ("B", "B")),
        ("P is the note a major third above Q\nQ is the fifth of P\nWhat is P?", None),
        ("Which key has no sharps?", None),
    ],
)
def test_texts_are_read_in_any_order_and_in_both_languages(text, names):
    assert solve(text) == names
