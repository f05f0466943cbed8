"""Near-copies: the words of a text by hand, shares against plain sets, and real pieces."""

import random
import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from music_evals.notation.lilypond.copies import (
    NEAR_COPY,
    CopyIndex,
    Nearest,
    music_words,
)
from music_evals.notation.lilypond.source import read_text
from tests.notation.lilypond.conftest import MUTOPIA, needs_mutopia

CASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def tune(seed, notes=60):
    rng = random.Random(seed)
    return [rng.choice("cdefgab") + rng.choice(["4", "8", "2.", "16"]) for _ in range(notes)]


def score(notes):
    return "{ " + " ".join(notes) + " }"


@pytest.mark.parametrize(("text", "words"), CASES["test_words"])
def test_words(text, words):
    assert " ".join(music_words(text)) == words


@pytest.mark.parametrize(
    "part",
    [
        "<",
        "{",
        "c",
        "c4 ",
        "\\markup ",
        "\\header { ",
        "'",
        "1",
        "\\lyricsto a ",
        "#(",
        "<c ",
        "c = ",
    ],
)
def test_hostile_texts_take_time_linear_in_their_length(part):
    assert CopyIndex({"tune": score(tune(1))}).nearest("c" + part * 10_000) is None


@given(st.text(alphabet="cdefgabr'4812.<>{} \\\"%#\n=*/|", max_size=200))
def test_any_text_has_words_of_notes_only(text: str) -> None:
    for word in music_words(text):
        assert re.fullmatch(r"(?:[a-gq]\w*|<[a-g].*>)(?:\d{1,4}|\\\w+)\.*(?:[*/]\d{1,4})*", word)


@needs_mutopia
def test_real_pieces() -> None:
    minuet, guitar, elise = (
        read_text(MUTOPIA / path)
        for path in (
            "BachJS/BWVAnh114/anna-magdalena-04/anna-magdalena-04.ly",
            "BachJS/BWVAnh114/anna-magdalena-04-guitar/anna-magdalena-04-guitar.ly",
            "BeethovenLv/WoO59/fur_Elise_WoO59/fur_Elise_WoO59.ly",
        )
    )
    index = CopyIndex({"minuet": minuet, "elise": elise})
    assert [index.nearest(text) for text in (minuet, elise)] == [
        Nearest("minuet", 1.0),
        Nearest("elise", 1.0),
    ]
    assert index.shares(guitar)["minuet"] > NEAR_COPY
    assert index.shares(elise)["minuet"] < 0.05


def in_key(words, semitones):
    """Melody in another key, by the names of a keyboard."""
    names = ["c", "cis", "d", "ees", "e", "f", "fis", "g", "gis", "a", "bes", "b"]

    def moved(word):
        name, duration = re.fullmatch(r"([a-z]+)(.*)", word).groups()  # type: ignore[union-attr]
        return names[(names.index(name) + semitones) % 12] + duration

    return [moved(word) for word in words]
