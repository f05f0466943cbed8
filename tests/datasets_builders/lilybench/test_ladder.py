"""Levels 2 to 5 of LilyBench and ABC-Eval, on a small piece: music21 and LilyPond recompute the
answers.
"""

from fractions import Fraction
from typing import Any

import pytest

pytest.importorskip("lilypond", reason="LilyPond is not installed: pip install -e '.[lilypond]'")

from music_evals.baselines.lilybench import _signs_at, count_measures, perform
from music_evals.datasets_builders.abc_eval.dataset import to_abc
from music_evals.datasets_builders.lilybench.dataset import BENCHMARK
from music_evals.datasets_builders.lilybench.ladder import MAKERS, make_rows
from music_evals.datasets_builders.lilybench.rows import FEATURES, TaskName, TaskRow
from music_evals.datasets_builders.lilybench.strict.survey import Usable
from music_evals.evals import lilybench
from music_evals.evals.shared.parameters import ParameterError
from music_evals.notation.abc.plain import parse_plain, plain_abc, split_voices
from music_evals.notation.abc.tunes import read_measure, split_measures, total_duration
from music_evals.notation.lilypond.structure import read_structure

pytestmark = pytest.mark.usefixtures("lilypond_runs")
BARS = ("c''4 d''4 e''2", "g'8 a'8 b'4 c''4 r4", "e''2. f''4", "d''4 <b' d''>4 g'2", "fis''2 g''2")
LEVELS = (2, 3, 4, 5)


@pytest.fixture(scope="module")
def piece() -> Usable:
    """Five staves of 30 measures."""
    staves = []
    for staff in range(5):
        lines = [f"    {BARS[(n * (staff + 2) + staff) % 5]} |" for n in range(30)]
        lines[0] = f'    \\clef "treble" \\key g \\major \\time 4/4 {lines[0].strip()}'
        staves.append("\n".join(["  \\new Staff {", *lines, "  }"]))
    score = "\n".join(["<<", *staves, ">>", ""])
    return Usable("composer/piece", {}, score, read_structure(score))


@pytest.fixture(scope="module")
def rows(piece: Usable) -> dict[int, dict[TaskName, list[TaskRow]]]:
    return {level: make_rows(level, [piece]) for level in LEVELS}


def music21_of(task: TaskName, row: TaskRow) -> Any:
    return parse_plain(plain_abc(to_abc(task, row)["score"])).parts[0]


@pytest.mark.parametrize("level", LEVELS)
def test_music21_and_lilypond_count_the_measures(rows: Any, level: int) -> None:
    for row in rows[level]["bar_count"][:1]:
        flowing = row["score"].replace(" |\n    ", " ")
        assert read_structure(flowing).measures == int(row["answer"])
    row = rows[level]["bar_count"][0]
    bars = music21_of("bar_count", row).getElementsByClass("Measure")
    assert len(bars) == int(row["answer"]) == count_measures(row["score"], perform(row["score"]))


@pytest.mark.parametrize("level", LEVELS)
def test_lilypond_and_the_abc_have_key_and_metre(rows: Any, level: int) -> None:
    for row in rows[level]["metadata_qa"]:
        number = int(row["id"].rpartition(".m")[2])
        right = row["options"][int(row["answer"])]
        for score in (row["score"], to_abc("metadata_qa", row)["score"]):
            assert _signs_at(score, number)[row["kind"]] == right


@pytest.mark.parametrize("level", LEVELS)
def test_the_abc_has_measures_of_wrong_length(rows: Any, level: int) -> None:
    for row in rows[level]["error_detection"]:
        wrong = set()
        _, voices = split_voices(to_abc("error_detection", row)["score"])
        for lines in voices.values():
            for number, measure in enumerate(split_measures("\n".join(lines)), 1):
                if total_duration(read_measure(measure.text, Fraction(1, 8), (4, 4))) != 1:
                    wrong.add(number)
        is_duration = row["kind"] == "invalid_bar_duration"
        assert " ".join(map(str, sorted(wrong))) == (row["answer"] if is_duration else "")


def test_rows_are_of_the_declared_form_and_the_same_each_time(piece: Usable, rows: Any) -> None:
    assert make_rows(2, [piece]) == rows[2]
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
