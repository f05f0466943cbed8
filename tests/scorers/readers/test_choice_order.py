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
def test_the_last_commitment_counts(reply, answer):
    assert read_choice(reply, OPTIONS).answer == answer


QUALITIES = ["Major", "Minor", "Dominant", "Diminished"]
INTRODUCTIONS = (
    *(
        "Let us analyze each option:",
        "Let's check every option:",
        "Analysis of each choice:",
        "Options:",
        "Option:",
    ),
    *(
        "Going through all the options:",
        "Consider each answer:",
        "Here is each answer:",
        "Choices:",
    ),
    *(
        "逐一分析每个选项：",
        "各选项分析：",
        "选项：",
        "Betrachten wir jede Option:",
        "Prüfen wir jede Antwort:",
    ),
    *(
        "Analysons chaque option :",
        "Examinons chaque réponse :",
        "Analicemos cada opción:",
        "Opción:",
    ),
    *("Analizziamo ogni opzione:", "Вариант:", "Рассмотрим каждый вариант:"),
)
ITEMS = (
    "A. Major needs a wide third.\nB. Minor has a low third.\nC. Dominant has four notes.\nD. "
    "Diminished is narrow."
)


@pytest.mark.parametrize("introduction", INTRODUCTIONS)
@pytest.mark.parametrize(
    ("ending", "answer"), [("\n**B**", "B"), ("\nThe answer is B.", "B"), ("", None)]
)
def test_a_heading_of_a_list_is_no_label(introduction, ending, answer):
    assert read_choice(f"{introduction}\n{ITEMS}{ending}", QUALITIES).answer == answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Let me see. A. Major, which is characterised by", None),
        ("The melody rises by a third. The bass holds. C", None),
        ("It is minor.\nB", None),
        ("The third is low. Final Answer: B", "B"),
        ("Answer: B\n\nBecause the third", "B"),
    ],
)
def test_a_reply_that_was_cut_answers_by_a_label_alone(reply, answer):
    assert read_choice(reply, QUALITIES, is_cut=True).answer == answer


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


def test_the_end_of_a_long_reply_is_read_first():
    reasoning = (
        "First I thought of A. The notes lie close together and the bass moves slowly. " * 90
    )
    assert len(reasoning) > 7_000
    assert read_choice(f"{reasoning}\n\n**B**", QUALITIES).answer == "B"
    assert read_choice(f"Final Answer: D\n\n{reasoning}", QUALITIES).answer == "D"
