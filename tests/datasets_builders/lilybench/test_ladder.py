"""Levels 2 to 5 of LilyBench and ABC-Eval, on small pieces: music21 and LilyPond recompute the
answers.
"""

import random
import re
from fractions import Fraction
from itertools import pairwise

import pytest

pytest.importorskip("lilypond", reason="LilyPond is not installed: pip install -e '.[lilypond]'")

from music_evals.baselines.lilybench import _signs_at
from music_evals.datasets_builders.abc_eval.dataset import to_abc
from music_evals.datasets_builders.lilybench.dataset import BENCHMARK
from music_evals.datasets_builders.lilybench.default_pieces import Source
from music_evals.datasets_builders.lilybench.ladder import (
    make_rows,
    read_passage,
)
from music_evals.evals import lilybench
from music_evals.evals.shared.parameters import ParameterError
from music_evals.notation.abc.plain import parse_plain, plain_abc
from music_evals.notation.lilypond.structure import read_structure
from tests.ladders.lilybench import compare

pytestmark = pytest.mark.usefixtures("lilypond_runs")
LEVELS = (2, 3, 4, 5)
METRE = re.compile(r"(?m)^M:.*\n|\[M:[^\]\n]*\]")
PIECES = {"3/4": 6, "4/4": 8, "6/8": 6, "2/2": 8, "2/4": 4}
"""Metre → eighth notes of a measure."""


def melody(eighths, draw):
    """30 measures in ABC, without an error."""
    step, bars = 0, []
    for _ in range(30):
        left, notes = eighths, []
        while left:
            length = min(draw.randint(1, 3), left)
            step = min(max(step + draw.randint(-3, 3), 0), 7)
            notes.append(f"{'GABcdefg'[step]}{length}")
            left -= length
        bars.append(" ".join(notes))
    return " | ".join(bars)


@pytest.fixture(scope="module")
def passages():
    """Five pieces of five staves and 30 measures, before which there is one with a tuplet."""
    found = {}
    for metre, eighths in PIECES.items():
        draw = random.Random(metre)
        lines = ["X:1", f"M:{metre}", "L:1/8", "K:G"]
        for staff in range(1, 6):
            lines += [
                f"V:{staff}",
                f"(3ccc {'d2' * (eighths // 2 - 1)} | {melody(eighths, draw)} |",
            ]
        name = f"composer/{metre.replace('/', '-')}"
        abc = "\n".join([*lines, ""])
        found[name] = read_passage(Source(name, "", "", abc=abc))
    return found


@pytest.fixture(scope="module")
def rows(passages):
    return {level: make_rows(level, passages) for level in LEVELS}


def first_staff(row):
    """The row with one staff alone, which is quicker to read."""
    staff = row["score"].split("  \\new Staff")[1].removesuffix(">>\n")
    return {**row, "score": f"<<\n  \\new Staff{staff}>>\n"}


def music21_of(task, row, *, has_metre=True):
    """The measures of each part. music21 divides measures that are longer than the metre."""
    abc = plain_abc(to_abc(task, row)["score"])
    score = parse_plain(abc if has_metre else METRE.sub("", abc))
    return [list(part.getElementsByClass("Measure")) for part in list(score.parts) or [score]]


@pytest.mark.parametrize("level", LEVELS)
def test_music21_and_lilypond_count_the_measures(rows, level):
    row = first_staff(rows[level]["bar_count"][0])
    assert len(music21_of("bar_count", row)[0]) == int(row["answer"])
    assert read_structure(row["score"].replace(" |\n    ", " ")).measures == int(row["answer"])


@pytest.mark.parametrize("level", LEVELS)
def test_music21_and_the_reader_find_key_and_metre(rows, level):
    for row in map(first_staff, rows[level]["metadata_qa"]):
        bars = music21_of("metadata_qa", row)[0][: int(row["id"].rpartition(".m")[2])]
        option = row["options"][int(row["answer"])]
        if row["kind"] == "metre_at":
            metres = [bar.timeSignature.ratioString for bar in bars if bar.timeSignature]
            assert option == metres[-1]
        else:
            sharps = [bar.keySignature.sharps for bar in bars if bar.keySignature][-1]
            kind = "flat" if sharps < 0 else "sharp"
            plural = "s" * (abs(sharps) != 1)
            assert option == (f"{abs(sharps)} {kind}{plural}" if sharps else "no sharps or flats")
        abc = to_abc("metadata_qa", row)["score"]
        assert _signs_at(abc, len(bars))[row["kind"]] == option


@pytest.mark.parametrize("level", [2, 5])
def test_lilypond_has_key_and_metre(rows, level):
    for row in map(first_staff, rows[level]["metadata_qa"]):
        number = int(row["id"].rpartition(".m")[2])
        option = row["options"][int(row["answer"])]
        assert _signs_at(row["score"], number)[row["kind"]] == option


@pytest.mark.parametrize("level", LEVELS)
def test_music21_finds_measures_of_wrong_length_and_leaps(rows, level):
    by_kind = {row["kind"]: row for row in rows[level]["error_detection"]}
    too_long, leaps = by_kind["invalid_bar_duration"], by_kind["melodic_leap"]
    metres = []
    first = too_long["score"].split("\\new Staff")[1]
    for line in filter(re.compile(r"\|$").search, first.splitlines()):
        metres += re.findall(r"\\time (\S+)", line) or metres[-1:]
    wrong = set()
    for bars in music21_of("error_detection", too_long, has_metre=False):
        for n, (bar, metre) in enumerate(zip(bars, metres, strict=True), 1):
            if bar.duration.quarterLength != 4 * Fraction(metre):
                wrong.add(n)
    assert " ".join(map(str, sorted(wrong))) == too_long["answer"]
    wrong = set()
    for bars in music21_of("error_detection", leaps):
        notes = [(n, note) for n, bar in enumerate(bars, 1) for note in bar.notesAndRests]
        for (_, first), (number, second) in pairwise(notes):
            if first.isRest or second.isRest:
                continue
            if abs(first.pitch.diatonicNoteNum - second.pitch.diatonicNoteNum) > 10:
                wrong.add(number)
    assert " ".join(map(str, sorted(wrong))) == leaps["answer"]


def test_errors_are_not_found_by_comparing_measures(rows):
    """A comparer that knows no metre and no key finds most of them if passages are copies."""
    wrong = [row for row in rows[5]["error_detection"] if row["kind"] != "clean"]
    assert not [row for row in wrong if compare(row["score"]) != "none"]
    copies = r"""<<
  \new Staff {
    \clef "treble" \key c \major \time 4/4 c'8 d'8 e'8 f'8 g'2 |
    \key d \major \time 4/4 d'8 e'8 fis'8 g'8 b'2 |
    d'4 d'4 d'4 d'8 d'8 |
  }
>>
"""
    assert compare(copies) == "1 2"


def test_passages_with_errors_are_in_different_keys(rows):
    score = rows[5]["error_detection"][0]["score"]
    keys = re.findall(r"\\key (\S+)", score)
    per_staff = len(keys) // score.count("\\new Staff")
    assert len(set(keys)) == per_staff >= 4
    assert keys == keys[:per_staff] * score.count("\\new Staff")


def test_levels_are_of_the_strict_protocol():
    assert BENCHMARK.leveled == ("bar_count", "metadata_qa", "error_detection")
    with pytest.raises(ParameterError, match="level=2 is valid with protocol=strict"):
        lilybench.bar_count(level=2, protocol="paper")
    with pytest.raises(ParameterError, match="level=2 is not valid for genre_recognition"):
        lilybench.genre_recognition(level=2)
