"""The lexer of LilyPond text: where words begin and end, whatever stands there."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from music_evals.notation.lilypond.syntax.header import read_header, version_of
from music_evals.notation.lilypond.syntax.lexer import blocks, closing_index, string_value, tokenize

CASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

any_text = st.lists(st.sampled_from(CASES["pieces"]), max_size=40).map("".join)


def kinds(text):
    return [(token.kind.value, token.text) for token in tokenize(text)]


@given(any_text | st.text(max_size=60))
def test_tokens_cover_all_but_white_space_and_comments(text: str) -> None:
    end = 0
    for token in tokenize(text):
        assert token.start >= end
        assert (
            not text[end : token.start].strip(" \t\n\r\f\v\ufeff") or "%" in text[end : token.start]
        )
        assert text[token.start : token.end] == token.text != ""
        end = token.end
    assert not text[end:].strip(" \t\n\r\f\v\ufeff") or "%" in text[end:]


@given(any_text)
def test_any_text_can_be_read(text: str) -> None:
    assert all(read_header(text))
    assert (version_of(text) or "") in text


@pytest.mark.parametrize("piece", CASES["hostile"])
def test_time_grows_with_the_text_alone(piece):
    text = piece * 10_000  # for which quadratic time would be minutes
    assert all(token.end <= len(text) for token in tokenize(text))
    assert all(read_header(text))


@pytest.mark.parametrize(("text", "scheme"), CASES["test_scheme_ends_where_its_datum_ends"])
def test_scheme_ends_where_its_datum_ends(text, scheme):
    assert kinds(text) == [("scheme", scheme), ("word", "c")]


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


@pytest.mark.parametrize("case", CASES["tokens"], ids=lambda case: case["text"][:20])
def test_kinds_and_words(case):
    assert [list(token) for token in kinds(case["text"])][case.get("first", 0) :] == case["found"]


def test_header_fields():
    assert read_header(CASES["header"]["text"]) == CASES["header"]["fields"]
    assert read_header('\\header { } \\header { title = "B" }') == {"title": "B"}
    assert read_header("{ c4 }") == {}
    assert read_header("\\header { x = \\markup { a\\super b c. } }") == {"x": "a b c."}


def test_versions_and_strings():
    assert version_of('%\\version "1.0"\n \\version "2.18.2"') == "2.18.2"
    assert version_of('\\version #"2.4"') == "2.4"
    assert version_of("{ c4 }") is None
    assert string_value('"a \\" b\\\\"') == 'a " b\\'
