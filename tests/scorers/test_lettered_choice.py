"""Lettered choices: what the scorer takes for an answer, and its metrics against scikit-learn on
random runs.
"""

import pytest

from music_evals.scorers.lettered_choice import lettered_choice
from tests.scorers.every_scorer import Case

KEYS = ["A大调", "B大调", "B小调", "D大调"]
TWICE = ["王洛宾", "丁善德", "王洛宾", "桑桐"]  # the right text has two letters


@pytest.mark.parametrize(
    ("options", "protocol", "reply", "value", "answer"),
    [
        (TWICE, "strict", "[[答案：C]]", "C", "C"),
        (TWICE, "strict", "[[答案：A]]", "C", "A"),
        (TWICE, "strict", "A. 王洛宾", "C", "A"),
        (TWICE, "strict", "王洛宾", "C", "C"),
        (TWICE, "strict", "[[答案：B]]", "I", "B"),
        (TWICE, "strict", "丁善德", "I", "B"),
        (TWICE, "paper", "[[答案：A]]", "I", "A"),
        (KEYS, "paper", "B小调", "I", "B"),
        (KEYS, "strict", "B小调", "C", "C"),
        (KEYS, "strict", "A good question", "N", None),
        (KEYS, "paper", "A good question", "I", "A"),
        (KEYS, "paper", "无法确定", "N", None),
    ],
)
def test_the_scorer(options, protocol, reply, value, answer):
    (score,) = Case(lambda: lettered_choice(protocol), "C", choices=tuple(options)).score(reply)
    assert (score.value, score.answer, (score.metadata or {})["key"]) == (value, answer, "C")
    with pytest.raises(ValueError, match="valid values are: paper, strict"):
        lettered_choice("lax")  # type: ignore[arg-type]
