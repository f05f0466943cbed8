"""Levels of MUSE and The MUSE Benchmark: answers recomputed by other means, and what the reader
reads.
"""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from music21 import chord

from music_evals.datasets_builders.muse import dataset
from music_evals.datasets_builders.muse_ten.dataset import compose
from music_evals.evals import muse, muse_ten
from music_evals.notation.midi.files import parse_midi_text
from tests.ladders.muse import TASKS, answer, answers_of, rows, texts_of

HARDER = (2, 4, 5)


def small(level, out, _):
    plan = dataset.build_generated(counts=dataset.Counts(5, 4, 4), level=level)
    dataset.write(plan, out, overwrite=True)


@pytest.fixture
def small_levels(monkeypatch):
    benchmark = replace(dataset.BENCHMARK, version="small", generate_level=small)
    monkeypatch.setattr(muse, "BENCHMARK", benchmark)
    monkeypatch.setattr(dataset, "VERSION", "small")


@pytest.mark.parametrize("task", TASKS)
def test_a_program_reads_the_answers_which_are_balanced(task):
    for level in (2, 5):
        tried = rows(task, level, 8)
        right = 0
        for row in tried:
            clips = [parse_midi_text(text) for text in texts_of(row)]
            right += answer(task, clips, answers_of(row), None) == row["target"]  # type: ignore[arg-type]
        assert right == 8
        counts = Counter(row["target"] for row in tried).values()
        assert max(counts) - min(counts) <= 1
        assert len({*map(str, map(texts_of, tried))}) == len({row["id"] for row in tried}) == 8


def strokes(text):
    notes = parse_midi_text(text).notes
    return sorted((note.pitch, round(note.onset / 240)) for note in notes)


def pitches(text):
    return [note.pitch for note in parse_midi_text(text).notes]


@pytest.mark.parametrize("level", HARDER)
def test_answers_of_muse_by_other_means(level):
    for row in rows("chord_quality", level, 8):
        forte = chord.Chord(sorted({*pitches(row["midi_text"])})).forteClass
        assert ["3-11B", "3-11A", "4-27B", "3-10"].index(forte) == "ABCD".index(row["target"])
    for row in rows("syncopation", level, 10):
        hits = [slot for drum, slot in strokes(row["midi_text"]) if drum in (36, 38)]
        assert sum(slot % 2 for slot in hits) == 2 * "ABCDE".index(row["target"])
    for row in rows("transposition", level, 10):
        first, second = np.array([pitches(text) for text in texts_of(row)])
        moved = np.flatnonzero(second - first != second[0] - first[0])
        assert (len(moved) == 0) == row["target"].startswith("Yes")
        assert len(moved) <= {2: 7, 3: 3, 4: 1, 5: 1}[level]


@pytest.mark.parametrize("level", HARDER)
def test_answers_of_the_muse_benchmark_by_other_means(level):
    for target, stimulus in compose(3, "oddball", "test", 8, level):
        first, second = np.array(
            [[note.pitch for note in clip.notes] for clip, _ in stimulus.clips]
        )
        assert (first != second).sum() == target.startswith("No")
    for target, stimulus in compose(3, "contour", "test", 8, level):
        ((clip, _),) = stimulus.clips
        line = np.array([note.pitch for note in clip.notes]).reshape(-1, 2 * level).max(axis=1)
        assert clip.notes[2 * level].onset == 1920
        bend, slope, _ = np.polyfit(np.linspace(-1, 1, len(line)), line, 2)
        is_bent = abs(bend) > abs(slope)
        assert target == ("AB"[int(bend > 0)] if is_bent else "DC"[int(slope > 0)])
    for row in rows("rhythm_matching", level, 6):
        first, second = map(strokes, texts_of(row))
        assert (first == second) == row["target"].startswith("Yes")
        assert len({*first} ^ {*second}) in (0, 2)
    for row in rows("syncopation_pairs", level, 4):
        first, second = (
            sum(slot % 2 for drum, slot in strokes(text) if drum in (36, 38))
            for text in texts_of(row)
        )
        assert abs(first - second) == (2 if level < 4 else 1)
        assert (first > second) == (row["target"] == "A")
    for row in rows("progression", level, 8):
        first, second = (series(text) for text in texts_of(row))
        distances = {(b - a) % 12 for (a, _), (b, _) in zip(first, second, strict=True)}
        kinds = [[kind for _, kind in chords] for chords in (first, second)]
        is_same = len(distances) == 1 and kinds[0] == kinds[1]
        assert is_same == (row["target"] == "A")
        assert len(first) == 4 * level


def series(text):
    """Roots and qualities of chords, by music21."""
    ends = {}
    for note in parse_midi_text(text).notes:
        ends.setdefault(note.onset + note.duration, set()).add(note.pitch)
    named = [chord.Chord(sorted(own)) for _, own in sorted(ends.items())]
    return [(own.root().pitchClass, own.quality) for own in named]


@pytest.mark.parametrize("level", HARDER)
def test_keys_and_groups_by_other_means(level):
    for row in rows("key_modulation", level, 8):
        chords = series(row["midi_text"])
        # Of five chords with subdominant, dominant and tonic, the last is the tonic.
        assert (chords[4] != chords[-1]) == (row["target"] == "A")
    for row in rows("meter", level, 9):
        line = np.array(pitches(row["midi_text"]))[::2]
        distances = np.diff(np.flatnonzero(line < (line.min() + line.max()) / 2))
        assert np.gcd.reduce(distances) == min(distances) == 3 + "ABC".index(row["target"])


@pytest.mark.usefixtures("small_levels")
def test_levels_that_are_not_there_are_refused():
    with pytest.raises(ValueError, match="is valid for syncopation up to level=2"):
        muse.syncopation(level=3, strategy="logiclm")
    with pytest.raises(ValueError, match="is valid for meter up to level=1"):
        muse_ten.meter(level=2, strategy="logiclm")
    with pytest.raises(ValueError, match="level=2 is not valid for instrument"):
        muse_ten.instrument(level=2)
    with pytest.raises(ValueError, match="is valid with dataset=generated"):
        muse.syncopation(level=2, dataset="published", modality="audio")


@pytest.mark.usefixtures("small_levels")
def test_own_wording_is_not_replaced_in_silence(tmp_path):
    own = tmp_path / "own.toml"
    own.write_text('[chord_quality]\ncot = "Which chord is this? $given"')
    with pytest.raises(ValueError, match=r"also needs chord_quality\.ladder\.cot$"):
        muse.chord_quality(level=3, strategy="cot", prompts=str(own))
    with own.open("a") as file:
        file.write('\n[chord_quality.ladder]\ncot = "Which hard chord is this? $given"')
    reworded = muse.chord_quality(level=3, strategy="cot", prompts=str(own))
    assert reworded.dataset[0].input[0].text.startswith("Which hard chord is this?")
