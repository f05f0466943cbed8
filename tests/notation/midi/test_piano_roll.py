"""Piano rolls: ink where the notes are and nowhere else, lines where measures and octaves begin,
bounds.
"""

import io

import numpy as np
import pytest
from PIL import Image

from music_evals.notation.midi.files import write_midi
from music_evals.notation.midi.note_arrays import MAX_BYTES
from music_evals.notation.midi.performance import Note, Performance
from music_evals.notation.midi.piano_roll import LEFT, MAX_HEIGHT, MAX_WIDTH, piano_roll
from tests.notation.midi.midi_files import midi_file

BLUE, ORANGE, MEASURE, OCTAVE, WHITE = (
    (0, 114, 178),
    (213, 94, 0),
    (236,) * 3,
    (210,) * 3,
    (255,) * 3,
)


def pixels(midi):
    picture = piano_roll(midi)
    assert picture is not None
    with Image.open(io.BytesIO(picture)) as image:
        assert image.format == "PNG"
        return np.asarray(image.convert("RGB"))


def melody(*notes, meter=(4, 4)):
    """Write quarter notes: onset, duration and pitch."""
    return write_midi(
        Performance(tuple(Note(480 * a, p, 480 * b, 80) for a, b, p in notes), 120, meter, None)
    )


def test_long_and_wide_music_fits():
    track = b"\0\xff\x58\4\1\xff\0\0\0\x90\x3c\0" + bytes([1, 60, 80, 1, 60, 0]) * (MAX_BYTES // 60)
    assert pixels(midi_file(track)).shape[1] == MAX_WIDTH
    roll = pixels(melody((0, 1, 0), (5000, 1, 127)))
    assert roll.shape == (128 + 4, MAX_WIDTH, 3)
    assert roll.shape[0] <= MAX_HEIGHT
    ink = np.argwhere((roll == BLUE).all(axis=2))
    assert ink.tolist() == [[2, MAX_WIDTH - 1], [129, LEFT]]
    assert not (roll == MEASURE).all(axis=2).any()  # they would be too close


@pytest.mark.parametrize(
    "midi", [b"", b"no MIDI", write_midi(Performance((), 120, (4, 4), "C")), bytes(MAX_BYTES + 1)]
)
def test_without_notes_there_is_no_picture(midi):
    assert piano_roll(midi) is None
