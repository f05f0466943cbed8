"""Reading the chosen letter: the paper's way and the strict one."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from music_evals.scorers.letters import MAX_REPLY, first_letter, standing_letter

KEYS = ["A大调", "B大调", "B小调", "D大调"]


@pytest.mark.parametrize(
    ("reply", "paper", "strict"),
    [
        # The form that is asked for.
        ("[[答案：C]]解析：A项错误。", "C", "C"),
        ("[[C]]", "C", "C"),
        ("[[答案：]]B。解析", "B", "B"),
        ("[[answer: D]] because B is wrong", "D", "D"),
        ("【【答案：B】】", "B", "B"),
        ("I think aloud. [[answer: A]] Some say [[answer: B]].", "A", "A"),
        # A stated answer, the last one.
        ("这是B小调，所以答案是C", "B", "C"),
        ("正确选项为 D。", "D", "D"),
        ("不选A，选B", "A", "B"),
        ("A项不对。故选：（C）", "A", "C"),
        ("The correct answer is **D**.", "D", "D"),
        ("First guess: the answer is A. But no: the answer is B.", "A", "B"),
        ("So we get \\boxed{C}", "C", "C"),
        ("正确答案：\nC", "C", "C"),
        ("C选项正确", "C", "C"),
        ("Option B is right.", "B", "B"),
        # A letter at the beginning.
        ("B", "B", "B"),
        ("b", None, "B"),
        ("Ｂ", None, "B"),
        ("(D)", "D", "D"),
        ("**C**", "C", "C"),
        ("A、因为", "A", "A"),
        ("A\nbecause", "A", "A"),
        # An option's text.
        ("B小调", "B", "C"),
        ("  b大调。", None, "B"),
        # Letters that do not stand as an answer.
        ("C大调音阶", "C", None),
        ("D 小调的关系大调", "D", None),
        ("答案为：B小调", "B", None),
        ("[[答案：B小调]]", "B", None),
        ("The answer is C major", "C", None),
        ("A good question", "A", None),
        ("the answer is a scale", None, None),
        ("Bach wrote it", "B", None),
        ("A4 = 440 Hz", "A", None),
        ("答案是A或B", "A", None),
        ("A, B and D are wrong", "A", None),
        ("Option B is incorrect", "B", None),
        ("A不正确", "A", None),
        ("答案不是A", "A", None),
        ("According to the score", "A", None),
        ("无法确定，需要更多信息。", None, None),
        ("", None, None),
    ],
)
def test_hand_worked_replies(reply: str, paper: str | None, strict: str | None) -> None:
    assert first_letter(reply) == paper
    assert standing_letter(reply, KEYS) == strict


def test_an_option_that_stands_twice_is_no_answer_by_its_text() -> None:
    assert standing_letter("赵元任", ["赵元任", "萧友梅", "李叔同", "赵元任"]) is None


@given(st.text(alphabet=st.sampled_from("ABCDabcd答案选是：:[]()（） \n*大调#") | st.characters(), max_size=200))
def test_any_reply_gives_a_letter_or_none(reply: str) -> None:
    assert standing_letter(reply, KEYS) in {*"ABCD", None}
    found = first_letter(reply)
    assert found == next((character for character in reply if character in "ABCD"), None)


@given(st.sampled_from("ABCD"), st.text(alphabet=string.ascii_lowercase + "，。解析 \n", max_size=100))
def test_the_form_asked_for_is_always_read(letter: str, explanation: str) -> None:
    for form in ("[[答案：{}]]{}", "[[answer: {}]] {}"):
        assert standing_letter(form.format(letter, explanation), KEYS) == letter


@pytest.mark.parametrize("piece", ["答案", "[[", " ", "答案 \n", "选", "答案：**", "A或", "answer is ", "\\boxed{"])
def test_long_hostile_replies_end(piece: str) -> None:
    standing_letter(piece * 500_000, KEYS)  # quadratic time would be hours
    assert first_letter("x" * MAX_REPLY + "A") is None
