"""Near-copies: the words of a text by hand, shares against plain sets, and real pieces."""

import random
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from music_evals.notation.lilypond.copies import LEAST_RUNS, NEAR_COPY, RUN, CopyIndex, Nearest, music_words
from music_evals.notation.lilypond.source import read_text
from tests.notation.lilypond.conftest import MUTOPIA, needs_mutopia

CASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def tune(seed: int, notes: int = 60) -> list[str]:
    rng = random.Random(seed)
    return [rng.choice("cdefgab") + rng.choice(["4", "8", "2.", "16"]) for _ in range(notes)]


def score(notes: list[str]) -> str:
    return "{ " + " ".join(notes) + " }"


@pytest.mark.parametrize(("text", "words"), CASES["test_words"])
def test_words(text: str, words: str) -> None:
    assert " ".join(music_words(text)) == words


def test_the_share_is_that_of_distinct_runs() -> None:
    pieces = {str(seed): tune(seed) for seed in range(5)}
    index = CopyIndex({name: score(notes) for name, notes in pieces.items()})

    def runs(notes: list[str]) -> set[tuple[str, ...]]:
        return {tuple(notes[start : start + RUN]) for start in range(len(notes) - RUN + 1)}

    for name, cut in (("3", 10), ("1", 25), ("0", 40)):
        mixed = [*tune(99)[:30], *pieces[name][cut:], *tune(99)[:30]]
        expected = len(runs(mixed) & runs(pieces[name])) / len(runs(mixed))
        found = index.nearest(score(mixed))
        assert found is not None
        assert (found.id, found.share) == (name, pytest.approx(expected))
    strange = index.nearest(score(tune(100)))
    assert strange is not None
    assert strange.share == 0


@pytest.mark.parametrize(
    "rewrite",
    [
        lambda text: text,
        lambda text: re.sub(" ", " | % bar\n  ", text),
        lambda text: '\\header { title = "Mine" }\n' + re.sub(r"(\d+\.?)", r"\1-.", text),
        lambda text: re.sub(r"([a-g])(\d)", r"\1''\2", text),
        lambda text: re.sub(r" ", " r1 ", text),
        lambda text: '\\language "deutsch"' + text.replace("b", "h"),
        lambda text: "melody = \\relative c' " + text + "\n\\score { \\melody \\layout { } \\midi { } }",
    ],
)
def test_a_copy_that_is_written_otherwise(rewrite: Callable[[str], str]) -> None:
    index = CopyIndex({"tune": score(tune(1)), "other": score(tune(2))})
    assert index.nearest(rewrite(score(tune(1)))) == Nearest("tune", 1.0)


def test_what_cannot_be_told() -> None:
    assert CopyIndex({}).nearest(score(tune(1))) is None
    index = CopyIndex({"tune": score(tune(1)), "silence": "{ " + "R1 " * 100 + "}", "empty": ""})
    enough = LEAST_RUNS + RUN - 1
    assert index.nearest(score(tune(1)[:enough])) == Nearest("tune", 1.0)
    for little in (score(tune(1)[: enough - 1]), "", "{ " + "R1 " * 100 + "}", "{ " + "c4 " * 1000 + "}"):
        assert index.nearest(little) is None


@pytest.mark.parametrize(
    "part", ["<", "{", "c", "c4 ", "\\markup ", "\\header { ", "'", "1", "\\lyricsto a ", "#(", "<c ", "c = "]
)
def test_hostile_texts_take_time_linear_in_their_length(part: str) -> None:
    assert CopyIndex({"tune": score(tune(1))}).nearest("c" + part * 10_000) is None


@given(st.text(alphabet="cdefgabr'4812.<>{} \\\"%#\n=*/|", max_size=200))
def test_any_text_has_words_of_notes_only(text: str) -> None:
    for word in music_words(text):
        assert re.fullmatch(r"(?:[a-gq]\w*|<[a-g].*>)(?:\d{1,4}|\\\w+)\.*(?:[*/]\d{1,4})*", word)


@needs_mutopia
def test_real_pieces() -> None:
    names = {
        "minuet": "BachJS/BWVAnh114/anna-magdalena-04/anna-magdalena-04.ly",
        "for guitar": "BachJS/BWVAnh114/anna-magdalena-04-guitar/anna-magdalena-04-guitar.ly",
        "elise": "BeethovenLv/WoO59/fur_Elise_WoO59/fur_Elise_WoO59.ly",
    }
    texts = {name: read_text(MUTOPIA / path) for name, path in names.items()}
    index = CopyIndex(texts)
    assert {name: index.nearest(text) for name, text in texts.items()} == {name: Nearest(name, 1.0) for name in texts}
    copy = CopyIndex({name: texts[name] for name in ("minuet", "elise")}).nearest(texts["for guitar"])
    assert copy is not None
    assert copy.id == "minuet"
    assert copy.share > NEAR_COPY
    other = CopyIndex({"minuet": texts["minuet"]}).nearest(texts["elise"])
    assert other is not None
    assert other.share < 0.05
