"""Scores as ABC: hand-worked text, and corpus scores read back."""

from hashlib import sha256
from pathlib import Path

import pytest
from music21 import converter, tempo

from music_evals.notation.abc.writing import score_to_abc
from music_evals.notation.scores.preparing import prepare_score, score_to_musicxml
from music_evals.notation.scores.reading import read_corpus, read_score
from music_evals.notation.scores.renderings import render


@pytest.mark.parametrize(
    ("tune", "lines"),
    [
        ("4/4 f#4 f f# f b-4 B- b c'#", ["^F=F^F=F|%1", "_B_B,=B^c|]%2"]),
        ("4/4 c2~ c4 r4 d1", ["C2- C z | %1", "D4 |] %2"]),
        ("2/4 trip{c8 d e} f4", ["(3:2:3C/D/E/ F |] %1"]),
    ],
)
def test_measures_by_hand(tune, lines):
    abc = score_to_abc(prepare_score(converter.parse(tune, format="tinyNotation")))
    measures = [line.replace(" ", "") for line in abc.splitlines() if " %" in line]
    assert measures == [line.replace(" ", "") for line in lines]


def test_a_study_by_hand():
    """Five measures with what a line of a score can hold."""
    score = read_score(Path(__file__).with_name("study.musicxml"))
    score.parts[0].measure(1).insert(0, tempo.MetronomeMark("Allegro", 120))
    # music21 and verovio 6.4 read the same notes in this file.
    assert score_to_abc(prepare_score(score)) == Path(__file__).with_name("study.abc").read_text(
        encoding="utf-8"
    )


# verovio 6.4 reads the same notes in these bytes; it misreads tuplets of mixed lengths, of which
# the mazurka has some.
SAMPLE = {
    "bwv66.6": "3355f875",
    "chopin/mazurka06-2.krn": "832bd77e",
    "corelli/opus3no1/1grave": "ee0917ae",
}


@pytest.mark.parametrize(("name", "checksum"), SAMPLE.items())
def test_corpus_is_read_back(name, checksum):
    score = prepare_score(read_corpus(name))
    assert sha256(score_to_abc(score).encode()).hexdigest()[:8] == checksum
    (rendered,) = render([score_to_musicxml(score)], "abc")
    assert (rendered["problem"], len(rendered["text"]) > 500) == ("", True)
