"""Near-copies: the words of a text by hand, shares against plain sets, and real pieces."""

import random
import re
import tomllib
from itertools import combinations
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from music_evals.notation.lilypond.copies import (
    LEAST_RUNS,
    NEAR_COPY,
    RUN,
    CopyIndex,
    Melody,
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


def test_the_share_is_that_of_distinct_runs():
    pieces = {str(seed): tune(seed) for seed in range(5)}
    index = CopyIndex({name: score(notes) for name, notes in pieces.items()})

    def runs(notes):
        return {tuple(notes[start : start + RUN]) for start in range(len(notes) - RUN + 1)}

    for name, cut in (("3", 10), ("1", 25), ("0", 40)):
        mixed = [*tune(99)[:30], *pieces[name][cut:], *tune(99)[:30]]
        expected = len(runs(mixed) & runs(pieces[name])) / len(runs(mixed))
        assert index.nearest(score(mixed)) == Nearest(name, pytest.approx(expected))
    assert set(index.shares(score(tune(100))).values()) == {0}


@pytest.mark.parametrize(
    "rewrite",
    [
        lambda text: text,
        lambda text: re.sub(" ", " | % bar\n  ", text),
        lambda text: '\\header { title = "Mine" }\n' + re.sub(r"(\d+\.?)", r"\1-.", text),
        lambda text: re.sub(r"([a-g])(\d)", r"\1''\2", text),
        lambda text: re.sub(r" ", " r1 ", text),
        lambda text: '\\language "deutsch"' + text.replace("b", "h"),
        lambda text: (
            "melody = \\relative c' " + text + "\n\\score { \\melody \\layout { } \\midi { } }"
        ),
    ],
)
def test_a_copy_that_is_written_otherwise(rewrite):
    index = CopyIndex({"tune": score(tune(1)), "other": score(tune(2))})
    assert index.nearest(rewrite(score(tune(1)))) == Nearest("tune", 1.0)


def test_short_and_uniform_texts_are_not_compared():
    assert CopyIndex({}).nearest(score(tune(1))) is None
    index = CopyIndex({"tune": score(tune(1)), "silence": "{ " + "R1 " * 100 + "}", "empty": ""})
    enough = LEAST_RUNS + RUN - 1
    assert index.nearest(score(tune(1)[:enough])) == Nearest("tune", 1.0)
    for little in (
        score(tune(1)[: enough - 1]),
        "",
        "{ " + "R1 " * 100 + "}",
        "{ " + "c4 " * 1000 + "}",
    ):
        assert index.nearest(little) is None


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


def test_seven_keys_of_a_piece_are_one_piece():
    words = tune(1, 64)
    for semitones in (1, 2, 4, 5, 7, 9, 11):
        other = in_key(words, semitones)
        assert Melody(words).is_like(Melody(other))
        assert CopyIndex({"tune": score(words)}).nearest(score(other)) == Nearest("tune", 1.0)
    slower = [re.sub(r"\d+", lambda number: str(2 * int(number[0])), word) for word in words]
    assert Melody(words).is_like(Melody(slower))


@pytest.mark.parametrize("notes", [40, 64, 300])
def test_a_piece_with_every_eighth_note_changed_is_the_same_piece(notes):
    for seed in range(30):
        words, changed = tune(seed, notes), tune(seed, notes)
        for place in random.Random(seed).sample(range(notes), notes // 8):
            changed[place] = tune(1000 + place)[0]
        assert Melody(words).is_like(Melody(in_key(changed, 2)))
        assert not Melody(words).is_like(Melody(tune(seed + 500, notes)))


def test_short_pieces_are_one_if_all_notes_are():
    short = Melody([*music_words("c4 d e")])
    for text, same in (
        ("d4 e fis", True),
        ("d8 e fis", True),
        ("c4 d f", False),
        ("c4 d e8", False),
    ):
        assert short.is_like(Melody([*music_words(text)])) == same
    assert Melody([]).is_like(Melody([]))
    assert not Melody([]).is_like(short)


def test_default_reference_pieces_are_all_distinct():
    """The reference pieces of the test and of other styles in the golden data."""
    folder = Path(__file__).parents[2] / "golden" / "data" / "generation"
    texts = []
    for path in folder.glob("music21-*/*.parquet"):
        texts += pq.read_table(path)["text"].to_pylist()
    assert len(texts) == 24
    melodies = [Melody([*music_words(text)]) for text in texts]
    for first, second in combinations(melodies, 2):
        assert not first.is_like(second)
