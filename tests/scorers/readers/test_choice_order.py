"""The order of evidence of choices: a commitment stays what it is, whatever is said about music
around it.
"""

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
    *(
        '{{"answer": "{}"}}',
        "答案：{}",
        "故选 {}",
        "Die richtige Antwort ist {}.",
        "La bonne réponse est la {}.",
    ),
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
def test_prose_behind_a_labelled_answer_changes_nothing(label):
    draw = random.Random(label)
    for _ in range(700):
        letter = draw.choice("ABCD")
        words = [draw.choice(STARTS), *draw.choices(WORDS, k=draw.randint(2, 9))]
        sentence = " ".join(
            word.capitalize() if draw.random() < 0.1 else word for word in words
        ) + draw.choice(".!")
        reply = label.format(letter) + draw.choice(("\n\n", "\n")) + sentence
        assert read_choice(reply, OPTIONS).answer == letter, reply


QUALITIES = ["Major", "Minor", "Dominant", "Diminished"]


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("So it is E minor or\nFinal Answer: B", "B"),
        ("Final Answer: А", "A"),  # Cyrillic
        ("Ｆｉｎａｌ Ａｎｓｗｅｒ：Ｂ", "B"),
        ("<|im_start|>assistant\nFinal Answer: C<|im_end|>", "C"),
        (
            "<|channel|>analysis<|message|>A?<|end|><|start|>assistant<|channel|>final<|message|>B<|return|>",
            "B",
        ),
        ("<think>Major, so A.</think>\n</think>B</s>", "B"),
        ("I'm not sure at all, but I would lean towards C.", "C"),
        ("It is not B, and not C or D either.", "A"),
        ("Ce n'est pas B mais C.", "C"),
        ("不是A，而是D。", "D"),
        ("A가 아니라 B입니다.", "B"),
        ("Die dritte Möglichkeit.", "C"),
        ("The wait is over: the chord sounds dark. Actually it is C", "C"),
        ("Wait, the third is low. It is a minor chord.", "B"),
    ],
)
def test_forms_of_an_answer(reply, answer):
    assert read_choice(reply, QUALITIES).answer == answer
