"""The lexer of LilyPond text: where words begin and end, whatever stands there."""

import tomllib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from music_evals.notation.lilypond.syntax.header import read_header, version_of
from music_evals.notation.lilypond.syntax.lexer import blocks, closing_index, tokenize

CASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

any_text = st.lists(st.sampled_from(CASES["pieces"]), max_size=40).map("".join)


@given(any_text)
def test_any_text_can_be_read(text: str) -> None:
    assert all(read_header(text))
    assert (version_of(text) or "") in text


def test_blocks():
    text = (
        '\\header { a = "}" b = \\markup { x } } \\score { { c } \\header { d = "e" } } % '
        "\\header { }"
    )
    assert [text[block[0].start : block[-1].end] for block in blocks(text, "\\header")] == [
        '\\header { a = "}" b = \\markup { x } }',
        '\\header { d = "e" }',
    ]
    nested = blocks("\\paper { \\paper { } } \\paper {", "\\paper")
    assert [(block[0].start, block[-1].end) for block in nested] == [(0, 21), (22, 30)]
    assert closing_index(tokenize("{ { } "), 0) == 2


def test_header_fields():
    assert read_header(CASES["header"]["text"]) == CASES["header"]["fields"]
    assert read_header('\\header { } \\header { title = "B" }') == {"title": "B"}
    assert read_header("{ c4 }") == {}
    assert read_header("\\header { x = \\markup { a\\super b c. } }") == {"x": "a b c."}
