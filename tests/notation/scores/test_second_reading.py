"""The second reading of a file: what it confirms, and what it refuses."""

from pathlib import Path

import pytest

from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.msu.computed import build_own
from music_evals.datasets_builders.msu.works import first_works
from music_evals.notation.scores import second_reading
from music_evals.notation.scores.preparing import ScoreError
from music_evals.notation.scores.reading import read_score_data
from music_evals.notation.scores.second_reading import (
    ReadNote,
    check_by_second_reader,
    compare_notes,
)

XML = (
    "<score-partwise><part-list><score-part "
    'id="P1"><part-name>A</part-name></score-part></part-list><part id="P1">'
    "<measure "
    'number="1"><attributes><divisions>2</divisions><key><fifths>2</fifths></key><time><beats>2</beats>'
    "<beat-type>4</beat-type></time></attributes>"
    "<note><grace/><pitch><step>D</step><octave>5</octave></pitch><type>eighth</type></note>"
    "<note><pitch><step>C</step><alter>1</alter><octave>4</octave></pitch><duration>4</duration>"
    '<tie type="start"/></note></measure>'
    "<measure "
    'number="2"><note><pitch><step>C</step><alter>1</alter><octave>4</octave></pitch><duration>2</duration>'
    '<tie type="stop"/></note><note><chord/><pitch><step>E</step><octave>4</octave></pitch><duration>2</duration>'
    "</note></measure></part></score-partwise>"
)
KERN = "**kern\n*M2/4\n=1\n[4c#\n8c#]\n8d\n=2\n4e\n4f\n==\n*-\n"
ABC = "X:1\nL:1/4\nM:2/4\nK:D\nf =f- | f {g}[ce] | (3d/e/f/ z |]\n"


def difference(path, other=""):
    """What the second reading of a score says against it, or of another text."""
    score, data, kind = read_score_data(path)
    try:
        check_by_second_reader(score, other.encode() or data, kind)
    except ScoreError as error:
        return str(error)
    return ""


def check(folder, name, text, other=""):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return difference(path, other)


@pytest.mark.parametrize(("name", "text"), [("a.musicxml", XML), ("a.krn", KERN), ("a.abc", ABC)])
def test_sound_files_pass(tmp_path, name, text):
    assert check(tmp_path, name, text) == ""


@pytest.mark.parametrize(
    ("name", "text", "old", "new", "message"),
    [
        (
            "a.xml",
            XML,
            "<alter>1</alter>",
            "",
            "measure 1: music21 reads C#4 for 3, partitura reads C4 for 3",
        ),
        (
            "a.xml",
            XML,
            "<step>D</step>",
            "<step>B</step>",
            "music21 reads the grace note D5, partitura reads the grace note B5",
        ),
        (
            "a.xml",
            XML,
            "<fifths>2",
            "<fifths>3",
            "measure 1: music21 reads the key 2, partitura reads 3",
        ),
        (
            "a.xml",
            XML,
            "<beats>2",
            "<beats>3",
            "measure 1: music21 reads the metre 2/4, partitura reads 3/4",
        ),
        (
            "a.xml",
            XML,
            'number="2"',
            'number="5"',
            "music21 reads the number 2 at a measure, partitura reads 5",
        ),
        (
            "a.xml",
            XML,
            '<tie type="stop"/>',
            "",
            "music21 reads C#4 for 3, partitura reads C#4 for 2",
        ),
        (
            "a.krn",
            KERN,
            "4e\n",
            "4e-\n",
            "measure 2: music21 reads E4 for 1, partitura reads E-4 for 1",
        ),
        ("a.krn", KERN, "=2\n", "", "music21 reads 2 measures, partitura reads 1"),
        (
            "a.abc",
            ABC,
            "f =f",
            "f f",
            "measure 1: music21 reads F5 for 2, our reader reads F#5 for 2",
        ),
    ],
)
def test_what_differs_is_named_with_the_first_measure(tmp_path, name, text, old, new, message):
    assert message in check(tmp_path, name, text, text.replace(old, new))


def test_notes_are_compared_in_the_order_of_measures():
    notes = [ReadNote(0, 0, "C4", 96), ReadNote(1, 0, "D4", 48)]
    compare_notes(notes, notes[::-1], ["1", "2"], "partitura")
    with pytest.raises(
        ScoreError, match="measure 2: music21 reads D4 for 1/2, partitura reads nothing there"
    ):
        compare_notes(notes, notes[:1], ["1", "2"], "partitura")


def test_a_file_that_the_second_program_cannot_read_is_refused(tmp_path, monkeypatch):
    def fail(*_):
        raise KeyError("quarter-flat")

    monkeypatch.setattr(second_reading, "_partitura_score", fail)
    assert "cannot read it" in check(tmp_path, "a.xml", XML)


def test_files_of_the_user_that_differ_are_left_out_with_the_reason(tmp_path):
    # The second voice is silent at first; music21 begins it too early.
    kern = "**kern\n*M2/4\n=1\n*^\n4c\t8e\n4d\t8f\n.\t8g\n*v\t*v\n==\n*-\n"
    (tmp_path / "a.krn").write_text(kern)
    with pytest.raises(DatasetError, match="measure 1: music21 reads"):
        build_own(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("work", first_works()[::8], ids=lambda work: work.name)
def test_works_of_the_first_run_pass(work):
    from music21 import corpus

    assert difference(Path(str(corpus.getWork(work.path)))) == ""
