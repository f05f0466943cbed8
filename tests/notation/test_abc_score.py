"""Scores as ABC: hand-worked text, and corpus scores read back."""

import pytest
from music21 import converter, corpus

from music_evals.notation.abc_score import abc_notes, score_notes, score_to_abc, verovio_notes
from music_evals.notation.score_file import prepare_score


def body(music: str) -> list[str]:
    """Write the tinyNotation or ABC as ABC, and give the lines of music."""
    kind = "abc" if music.startswith("X:") else "tinyNotation"
    score = prepare_score(converter.parse(music, format=kind))
    abc = score_to_abc(score)
    assert abc_notes(abc) == score_notes(score)
    return [line for line in abc.splitlines() if " %" in line]


@pytest.mark.parametrize(
    ("music", "lines"),
    [
        ("4/4 f#4 f f# f b-4 B- b c'#", ["^F=F^F=F|%1", "_B_B,=B^c|]%2"]),
        ("4/4 c2~ c4 r4 d1", ["C2- C z | %1", "D4 |] %2"]),
        ("2/4 trip{c8 d e} f4", ["(3:2:3C/D/E/ F |] %1"]),
        ("X:1\nL:1/4\nM:3/4\nK:G\nD | G A B | d3 |]\n", ["D | %0", "G A B | %1", "d3 |] %2"]),
    ],
)
def test_measures_by_hand(music: str, lines: list[str]) -> None:
    assert [line.replace(" ", "") for line in body(music)] == [line.replace(" ", "") for line in lines]


SAMPLE = (
    *("bwv66.6", "bwv1.6", "bwv10.7", "bwv101.7", "bwv102.7", "bwv103.6", "haydn/opus74no1/movement3"),
    *("mozart/k545", "mozart/k155/movement1", "schumann_robert/opus48no2", "chopin/mazurka06-2.krn"),
    *("palestrina/Agnus_01.krn", "corelli/opus3no1/1grave"),
)


def test_corpus_is_read_back() -> None:
    wrong: dict[str, list[str]] = {"music21": [], "verovio": []}
    for name in SAMPLE:
        score = prepare_score(corpus.parse(name))
        abc, notes = score_to_abc(score), score_notes(score)
        assert notes
        if abc_notes(abc) != notes:
            wrong["music21"].append(name)
        if verovio_notes(abc) != notes:
            wrong["verovio"].append(name)
    assert not wrong["music21"]
    # verovio loses track of tuplets and of keys that change after a bar line's sign.
    assert len(wrong["verovio"]) <= 5
