"""The order of evidence of choices: a commitment stays what it is, whatever is said about music
around it.
"""

import pytest

from music_evals.scorers.readers.choices import read_choice

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
