"""The order of evidence of choices: a commitment stays what it is, whatever is said about music around it."""

import random
import re

import pytest

from music_evals.scorers.readers.choices import read_choice

OPTIONS = ["Fugue", "Rondo", "Sonata", "Suite"]
LABELS = (
    *(
        "Final Answer: {}",
        "**Final Answer:** {}",
        "Answer: **{}**",
        "The answer is {}.",
        r"\boxed{{{}}}",
        "[[答案：{}]]",
    ),
    *('{{"answer": "{}"}}', "答案：{}", "故选 {}", "Die richtige Antwort ist {}.", "La bonne réponse est la {}."),
    *("答え：{}", "정답: {}", "Ответ: {}", "La respuesta correcta es {}."),
)
WORDS = re.findall(
    r"\S+",
    """
    bright adagio cadence dominant bass beat Bartók Bach Brahms allegro alto aria articulation augmented bar baroque
    bridge coda counterpoint crescendo chord diminished diatonic dolce duet ensemble entry exposition flat fermata
    harmony half high key leading measure melody minor major mode motif natural note octave open ornament passage
    pedal phrase pitch quaver register rest rhythm right scale second semitone seventh sharp slow sonority staccato
    staff syncopated tempo texture theme third tie tonic triad true unison upper voice wrong correct only
    """,
)
STARTS = (
    "Bright, open sonority.",
    "A",
    "The",
    "C major",
    "D minor",
    "B flat",
    "Adagio:",
    "Cadence,",
    "Dominant",
    "In A major",
)


@pytest.mark.parametrize("label", LABELS)
def test_prose_behind_a_labelled_answer_changes_nothing(label: str) -> None:
    draw = random.Random(label)
    for _ in range(700):
        letter = draw.choice("ABCD")
        words = [draw.choice(STARTS), *draw.choices(WORDS, k=draw.randint(2, 9))]
        sentence = " ".join(word.capitalize() if draw.random() < 0.1 else word for word in words) + draw.choice(".!")
        reply = label.format(letter) + draw.choice(("\n\n", "\n")) + sentence
        assert read_choice(reply, OPTIONS).answer == letter, reply


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("A correct count gives five semitones.\nC", "C"),
        ("Neither A nor B is correct.\nC", "C"),
        ("C. a perfect fourth\n\nThe others:\n- A: four semitones\n- D: six semitones", "C"),
        ("B. Rondo\nA: one subject\nC: three\nD: dances", "B"),
        ("A: no\nB: no\nC: yes\nD: no", "C"),
        ("A ✗\nB ✗\nC ✓\nD ✗", "C"),
        ("- A: wrong\n- B: correct\n- C: wrong\n- D: incorrect", "B"),
        ("A: one subject\nC: three", None),
        ("B\n\nWait, that's wrong. It should be C.", "C"),
        ("B。不对，应该是C。", "C"),
        ("Answer: B. Wait, no. It's C.", "C"),
        ("Answer: B. Wait, no. It's C.\nFinal Answer: D", "D"),
        ("Answer: B\nActually, this is a bright rondo.", "B"),
        ("C major is the relative major of A minor; the piece is in A minor. **B**", "B"),
        ("It cannot be A, B or C. That leaves D.", "D"),
        ('```json\n{"answer": "B"}\n```', "B"),
        ("정답은 B입니다.", "B"),
        ("正解はCです。", "C"),
        ("B or C", None),
    ],
)
def test_the_last_commitment_counts(reply: str, answer: str | None) -> None:
    assert read_choice(reply, OPTIONS).answer == answer
