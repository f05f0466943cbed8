import json
import tomllib
from pathlib import Path

import pytest

from music_evals.notation.scores.preparing import ScoreError
from music_evals.notation.scores.reading import read_score

CASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
FOREIGN = Path(__file__).parents[4] / "shared" / "data" / "foreign" / "abc_cases.json"

REFUSED = {"K added", "K exp", "K octave=-1", "K transpose", "macro", "microtone", "overlay"}

# What is printed, where abc2midi plays ornaments, grace notes, chord symbols or repeats.
_SCALE = [[0, 60, 1], [1, 62, 1], [2, 64, 1], [3, 65, 1], [4, 60, 4], [8, 62, 4]]
PRINTED = {
    "E before ::": [[0, 60, 1], [1, 62, 1], [2, 64, 1], [3, 64, 1], [4, 60, 4], [8, 62, 4]],
    "U user symbol": _SCALE,
    "plus deco": _SCALE,
    "annotations": _SCALE,
    "grace accid": [[0, 61, 1], [1, 73, 1], [2, 62, 1], [3, 73, 1], [4, 60, 4], [8, 62, 4]],
    # abc2midi takes the length behind the bracket alone; ABC 2.1 multiplies both (4.17).
    "chord inner*outer": [
        *(
            [onset, pitch, length]
            for onset, length in ((0, 1), (1, 1), (2, 2))
            for pitch in (60, 64)
        ),
        *([4, 60, 4], [4, 64, 4], [4, 67, 4], [8, 62, 4]),
    ],
    # Both voices have the same notes at the beginning and in the last measures; a piano plays them
    # once.
    "voice L": [
        *([0, 60, 1], [1, 62, 1], [2, 64, 1], [3, 65, 1], [4, 60, 4], [8, 65, 4]),
        *([0, 60, 4], [4, 60, 4], [8, 65, 4]),
    ],
}


def read_notes(abc, folder):
    """MIDI pitch, onset and end of the notes, with tied notes as one, without grace notes."""
    path = folder / "tune.abc"
    path.write_text(abc)
    score = read_score(path)
    notes = []
    for part in score.parts:
        tied = {}  # pitch → onset of notes with a tie
        for element in part.recurse().notes:
            if "Harmony" in element.classes or element.duration.isGrace:
                continue
            onset = float(element.getOffsetInHierarchy(score))
            for note in getattr(element, "notes", [element]):
                tie = note.tie.type if note.tie else ""
                start = tied.pop(note.pitch.midi) if tie in ("stop", "continue") else onset
                if tie in ("start", "continue"):
                    tied[note.pitch.midi] = start
                else:
                    notes.append((note.pitch.midi, start, onset + float(element.quarterLength)))
        assert not tied
    return sorted(notes)


def assert_same(notes, expected):
    """The onsets of notes of a chord may differ by a 24th, as abc2midi plays them."""
    ends = sorted((pitch, onset, onset + length) for onset, pitch, length in expected)
    assert [pitch for pitch, _, _ in notes] == [pitch for pitch, _, _ in ends]
    assert [onset for _, onset, _ in notes] == pytest.approx(
        [onset for _, onset, _ in ends], abs=0.042
    )
    assert [end for _, _, end in notes] == pytest.approx([end for _, _, end in ends], abs=0.001)


@pytest.mark.parametrize("name", CASES["notes"])
def test_notes_as_the_standard_says(name, tmp_path):
    music, notes = CASES["notes"][name]
    assert_same(read_notes(f"X:1\nT:t\n{music}\n", tmp_path), notes)


@pytest.mark.parametrize("name", CASES["refused"])
def test_what_cannot_be_read_is_refused_by_name(name, tmp_path):
    music, message = CASES["refused"][name]
    with pytest.raises(ScoreError, match=message):
        read_notes(f"X:1\nT:t\n{music}\n", tmp_path)


@pytest.mark.skipif(not FOREIGN.exists(), reason=f"no copy of the cases in {FOREIGN}")
def test_notes_as_abc2midi_plays_them(tmp_path):
    refused = set()
    for case in json.loads(FOREIGN.read_text()):
        try:
            notes = read_notes(case["abc"], tmp_path)
        except ScoreError:
            refused.add(case["name"])
        else:
            assert_same(notes, PRINTED.get(case["name"], case["notes"]))
    assert refused == REFUSED
