"""ABC text: hand-worked measures, and text that is no ABC."""

import re
import tomllib
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from music_evals.notation.abc.tunes import (
    parse_key,
    parse_meter,
    parse_unit,
    read_measure,
    spell,
    split_measures,
    split_tunes,
    total_duration,
)

CASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

EIGHTH = Fraction(1, 8)
COMMON = (4, 4)
ALPHABET = "ABGceg^_=,'0123456789/|:[](){}<>-.~uvTzxyZ \"!%\\\n&+*KMLXwé"


def duration(text, meter=COMMON):
    return total_duration(read_measure(text, EIGHTH, meter))


def plain(text):
    return spell(read_measure(text, EIGHTH, COMMON), COMMON)


def test_tunes_of_a_file():
    text = (
        "% a book\nC:nobody\n\nX:1\nT:First % of all\nT:Second title\nM:6/8\nK:G\nGAB |\\\nc3 |]\n%"
        " end\n\nfree text | A\n\nX:2\r\nM:C|\r\nK:Am\r\nA4 |\r\nX:3\nT:no key\n\nX:4\nK:D\nw:la "
        "la\nd4"
    )
    tunes = split_tunes(text)
    assert [tune.values("X") for tune in tunes] == [("1",), ("2",), ("4",)]
    assert tunes[0].values("T") == ("First", "Second title")
    assert tunes[0].body == "GAB |\\\nc3 |]"
    assert tunes[1].body == "A4 |"
    assert tunes[2].body == "w:la la\nd4"


@pytest.mark.parametrize(("text", "expected"), CASES["test_plain_spelling"])
def test_plain_spelling(text, expected):
    assert plain(text) == plain(expected) == expected


@pytest.mark.parametrize(("text", "message"), CASES["test_errors_say_what_is_wrong"])
def test_errors_say_what_is_wrong(text, message):
    with pytest.raises(ValueError, match=message):
        read_measure(text, EIGHTH, COMMON)


def test_header_values():
    assert [parse_meter(value) for value in ("C", "C|", "9/8", "2 / 4")] == [
        (4, 4),
        (2, 2),
        (9, 8),
        (2, 4),
    ]
    assert parse_unit("1/16", COMMON) == Fraction(1, 16)
    assert [parse_unit(None, meter) for meter in ((2, 4), (3, 4))] == [Fraction(1, 16), EIGHTH]
    sharps = {
        "C": 0,
        "F#": 6,
        "Cb": -7,
        "Ador": 1,
        "D Mixolydian": 1,
        "EMin": 1,
        "G minor": -2,
        "Flyd": 0,
        "Bphr": 1,
    }
    assert {value: parse_key(value).sharps for value in sharps} == sharps
    assert parse_key("D Mixolydian").name == "Dmix"
    for reader, value in (
        (parse_meter, "none"),
        (parse_meter, "3/5"),
        (parse_key, "Hp"),
        (parse_key, "G#"),
    ):
        with pytest.raises(ValueError, match="accepted are"):
            reader(value)


@given(st.text(ALPHABET, max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    for tune in split_tunes(f"X:1\nK:C\n{text}"):
        with suppress(ValueError):
            for measure in split_measures(tune.body):
                spelled = plain(measure.text)
                assert not re.search(r"[\"!{}|%]", spelled)
                assert duration(spelled) == duration(measure.text)


def test_text_beyond_the_limit_is_refused():
    for reader in (split_tunes, lambda text: list(split_measures(text))):
        with pytest.raises(ValueError, match="too long"):
            reader("A" * 1_000_001)
