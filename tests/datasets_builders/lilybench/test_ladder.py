"""Levels 2 to 5 of LilyBench and ABC-Eval, on a small piece: music21 and LilyPond recompute the
answers.
"""

import re
from itertools import pairwise
from typing import Any

import pytest

pytest.importorskip("lilypond", reason="LilyPond is not installed: pip install -e '.[lilypond]'")

from music_evals.baselines.lilybench import _signs_at
from music_evals.datasets_builders.abc_eval.dataset import to_abc
from music_evals.datasets_builders.lilybench.dataset import BENCHMARK
from music_evals.datasets_builders.lilybench.default_pieces import Source
from music_evals.datasets_builders.lilybench.ladder import (
    MAKERS,
    Passage,
    make_rows,
    read_passage,
)
from music_evals.datasets_builders.lilybench.rows import FEATURES, TaskName, TaskRow
from music_evals.evals import lilybench
from music_evals.evals.shared.parameters import ParameterError
from music_evals.notation.abc.plain import parse_plain, plain_abc
from music_evals.notation.lilypond.structure import read_structure

pytestmark = pytest.mark.usefixtures("lilypond_runs")
BARS = ("c2 d2 e4", "G A B2 c", "e3 f2", "d [Bd]2 G2", "^f2 g2 z")
LEVELS = (2, 3, 4, 5)
METRE = re.compile(r"(?m)^M:.*\n|\[M:[^\]\n]*\]")


@pytest.fixture(scope="module")
def passages() -> dict[str, Passage]:
    """Five staves of 30 measures, one of which has a tuplet."""
    lines = ["X:1", "M:5/8", "L:1/8", "K:G"]
    for staff in range(1, 6):
        bars = [BARS[(number * staff + staff) % 5] for number in range(30)]
        lines += [f"V:{staff}", " | ".join(["(3ccc d3", *bars]) + " |"]
    abc = "\n".join([*lines, ""]).replace("c2 d2 e4", "c2 d2 e")
    return {"composer/piece": read_passage(Source("composer/piece", "", "", abc=abc))}


@pytest.fixture(scope="module")
def rows(passages: dict[str, Passage]) -> dict[int, dict[TaskName, list[TaskRow]]]:
    return {level: make_rows(level, passages) for level in LEVELS}


def first_staff(row: TaskRow) -> TaskRow:
    """The row with one staff alone, which is quicker to read."""
    staff = row["score"].split("  \\new Staff")[1].removesuffix(">>\n")
    return {**row, "score": f"<<\n  \\new Staff{staff}>>\n"}


def music21_of(task: TaskName, row: TaskRow, *, has_metre: bool = True) -> list[Any]:
    """The measures of each part. music21 divides measures that are longer than the metre."""
    abc = plain_abc(to_abc(task, row)["score"])
    score = parse_plain(abc if has_metre else METRE.sub("", abc))
    return [list(part.getElementsByClass("Measure")) for part in list(score.parts) or [score]]


def test_a_piece_is_read_without_the_measure_of_a_tuplet(passages: dict[str, Passage]) -> None:
    passage = passages["composer/piece"]
    assert passage[:2] == (1, "5/8")
    assert len(passage.bars) == 30
    bars = ("g'8 a'8 b'4 c''8", "e''4. fis''4", "d''8 d''4 g'4", "fis''4 g''4 r8")
    assert passage.bars[0] == [*bars, "c''4 d''4 e''8"]


@pytest.mark.parametrize("level", LEVELS)
def test_music21_and_lilypond_count_the_measures(rows: Any, level: int) -> None:
    row = first_staff(rows[level]["bar_count"][0])
    assert len(music21_of("bar_count", row)[0]) == int(row["answer"])
    assert read_structure(row["score"].replace(" |\n    ", " ")).measures == int(row["answer"])


@pytest.mark.parametrize("level", LEVELS)
def test_music21_and_the_reader_find_key_and_metre(rows: Any, level: int) -> None:
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
def test_lilypond_has_key_and_metre(rows: Any, level: int) -> None:
    for row in map(first_staff, rows[level]["metadata_qa"]):
        number = int(row["id"].rpartition(".m")[2])
        option = row["options"][int(row["answer"])]
        assert _signs_at(row["score"], number)[row["kind"]] == option


@pytest.mark.parametrize("level", LEVELS)
def test_music21_finds_measures_of_wrong_length_and_leaps(rows: Any, level: int) -> None:
    too_long, leaps = rows[level]["error_detection"]
    assert (too_long["kind"], leaps["kind"]) == ("invalid_bar_duration", "melodic_leap")
    wrong = set()
    for bars in music21_of("error_detection", too_long, has_metre=False):
        wrong |= {n for n, bar in enumerate(bars, 1) if bar.duration.quarterLength != 2.5}
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


def test_passages_with_errors_are_in_different_keys(rows: Any) -> None:
    keys = re.findall(r"\\key (\S+)", rows[5]["error_detection"][0]["score"])
    assert len(set(keys)) == 4
    assert keys == keys[:4] * 5


def test_rows_are_of_the_declared_form_and_the_same_each_time(
    passages: dict[str, Passage], rows: Any
) -> None:
    assert make_rows(2, passages) == rows[2]
    for level, task in ((level, task) for level in LEVELS for task in MAKERS):
        own = rows[level][task]
        assert len({row["id"] for row in own}) == len(own) == 2
        assert set(own[0]) == set(FEATURES[task])


def test_levels_are_of_the_strict_protocol() -> None:
    assert BENCHMARK.leveled == ("bar_count", "metadata_qa", "error_detection")
    with pytest.raises(ParameterError, match="level=2 is valid with protocol=strict"):
        lilybench.bar_count(level=2, protocol="paper")
    with pytest.raises(ParameterError, match="level=2 is not valid for genre_recognition"):
        lilybench.genre_recognition(level=2)
