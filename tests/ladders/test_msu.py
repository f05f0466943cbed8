"""Levels of difficulty of MSU-Bench: partitura recomputes the answers, and the reader reads them."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import partitura
import pytest
from music21 import corpus
from partitura.score import GenericNote, GraceNote, Measure, Rest

from music_evals.baselines.msu import answer
from music_evals.datasets_builders.msu.computed import _read, build_generated
from music_evals.datasets_builders.msu.dataset import BENCHMARK
from music_evals.datasets_builders.msu.works import Work, default_works
from music_evals.evals import msu
from music_evals.scorers.readers.checking import check

HARDER = (2, 3, 4, 5)
PATH = "mozart/k156/movement2.mxl"  # four parts, 37 measures
SIGNS = {-2: "𝄫", -1: "♭", 0: "", 1: "♯", 2: "𝄪"}


def read_at(level: int) -> Any:
    read = _read(Work("adagio", PATH, "Mozart", "Adagio", 0, level), seed=1)
    assert not isinstance(read, str), read
    return read


@pytest.fixture(scope="module")
def notes() -> dict[str, dict[int, list[GenericNote]]]:
    """Part → measure → notes, as partitura reads the file."""
    by_part: dict[str, dict[int, list[GenericNote]]] = {}
    for part in partitura.load_score(str(corpus.getWork(PATH))).parts:
        measures = {}
        for measure in part.iter_all(Measure):
            inside = part.iter_all(GenericNote, measure.start, measure.end, include_subclasses=True)
            measures[int(measure.name)] = [n for n in inside if not isinstance(n, Rest | GraceNote)]
        by_part[f"the part “{part.part_name}”"] = measures
    return by_part


@pytest.mark.parametrize("level", HARDER)
def test_a_second_program_and_the_reader_find_the_answers(level: int, notes: Any) -> None:
    row, pool = read_at(level)
    if level == 2:
        assert (row, pool) == read_at(level)
    questions = [question for questions in pool.values() for question in questions]
    assert len(questions) > 40
    recomputed = Counter[bool]()
    right = []
    for question in questions:
        assert question.text.count("Among the") == level - 1
        reply = answer(row["abc"], question.text, question.kind)
        right.append(check(reply, question.answer, question.answer_type).is_right)
        expected = by_partitura(notes, question.text, question.kind)
        if expected is not None:
            recomputed[expected == question.answer] += 1
    assert right.count(True) >= 0.95 * len(right)
    assert recomputed[True] > 20
    assert not recomputed[False]


def by_partitura(notes: Any, text: str, kind: str) -> str | None:
    """Pitches and numbers of notes; None for other kinds of questions."""
    if kind not in ("highest pitch", "lowest pitch", "number of notes"):
        return None
    place = int(re.findall(r"after measure (\d+)", text)[0])
    *steps, last = re.split(r"\. (?=Among|In|How)", text)
    for step in steps:
        span = int(re.findall(r"the (\d+) measures", step)[0])
        part = notes[re.findall(r"the part “.*”", step)[0]]
        extreme = max if "highest" in step else min
        reached = {
            number: extreme(note.midi_pitch for note in part[number])
            for number in range(place + 1, place + span + 1)
            if part[number]
        }
        place = extreme(reached, key=lambda number: reached[number])
    there = notes[re.findall(r"the part “.*”", last)[0]][place]
    if kind == "number of notes":
        return str(len(there))
    extreme = max if kind == "highest pitch" else min
    note = extreme(there, key=lambda note: note.midi_pitch)
    return f"{note.step}{SIGNS[note.alter or 0]}{note.octave}"


def test_no_composer_has_more_than_a_fifth_of_a_level() -> None:
    for level in HARDER:
        works = default_works(f"msu_level{level}")
        assert {work.difficulty for work in works} == {level}
        assert max(Counter(work.composer for work in works).values()) <= len(works) / 5


def test_a_dataset_of_a_level(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    works = [Work("adagio", PATH, "Mozart", "Adagio", 0, 3)]
    plan = build_generated(works=works)
    questions = [row for rows in plan.questions.values() for row in rows]
    assert len(questions) == len({row["id"] for row in questions}) >= 7
    assert len({row["kind"] for row in questions}) == len(questions)
    assert {row["level"] for row in questions} == {2, 3}
    assert BENCHMARK.leveled == ("textual", "visual")
    with pytest.raises(ValueError, match="tasks of msu with levels are: textual, visual"):
        msu.score(level=3)
