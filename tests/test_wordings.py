"""The second and third wording of each benchmark's prompts ask the same as the first."""

import re
from collections.abc import Mapping
from string import Template

import pytest

from music_evals.benchmarks import names
from music_evals.benchmarks.prompts import WORDINGS, load_prompts

ANSWER = re.compile(
    r"Final Answer: .*|\[\[答案：X]]解析|\[\[answer: X]] explanation|^[A-E]\. .*$|write: Unknown|"
    r"(?:Yes|No), these are .*melody\.",
    re.MULTILINE,
)
"""What a prompt demands word for word, and options."""


def texts(prompts, path=""):
    for key, value in prompts.items():
        if isinstance(value, Mapping):
            yield from texts(value, f"{path}.{key}")
        else:
            yield f"{path}.{key}", str(value)


@pytest.mark.parametrize("benchmark", names())
def test_other_words_ask_the_same(benchmark):
    versions = [dict(texts(load_prompts(benchmark, wording))) for wording in (None, *WORDINGS)]
    assert [path for path in versions[0] if len({version[path] for version in versions}) == 3]
    for path in versions[0]:
        for version in versions[1:]:
            assert set(Template(version[path]).get_identifiers()) == set(
                Template(versions[0][path]).get_identifiers()
            )
            assert sorted(ANSWER.findall(version[path])) == sorted(
                ANSWER.findall(versions[0][path])
            )


def test_a_form_of_others_has_one_wording():
    with pytest.raises(ValueError, match="prompts=second is not valid with the prompts 'paper'"):
        load_prompts("mmau", "second", "paper")
