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


def test_notes_are_where_they_sound():
    """C, D and E flat: 24 pixels a quarter note, 6 a semitone, two semitones free above and
    below.
    """
    roll = pixels(melody((0, 1, 60), (1, 2, 62), (4, 1, 63)))
    assert roll.shape == (8 * 6, LEFT + 5 * 24, 3)
    ink = (roll == BLUE).all(axis=2)[:, LEFT:]
    expected = np.zeros_like(ink)
    for onset, end, row in ((0, 1, 5), (1, 3, 3), (4, 5, 2)):
        # Notes are a pixel narrower than they last, and a line lower than they are high.
        expected[6 * row : 6 * row + 5, 24 * onset : 24 * end - 1] = True
    assert (ink == expected).all()


def test_lines_of_measures_and_octaves():
    roll = pixels(melody((0, 1, 59), (4, 2, 73), meter=(3, 4)))
    # From A (57) to E flat (75): the lines of C5 and C4 lie under their rows.
    assert [row for row in range(roll.shape[0]) if tuple(roll[row, LEFT + 30]) == OCTAVE] == [
        4 * 6 - 1,
        16 * 6 - 1,
    ]
    assert [
        column for column in range(LEFT, roll.shape[1]) if tuple(roll[1, column]) == MEASURE
    ] == [LEFT, LEFT + 72]
    assert tuple(roll[1, LEFT + 50]) == WHITE


def test_tracks_have_colours():
    roll = pixels(
        midi_file(bytes([0, 0x90, 60, 80, 96, 60, 0]), bytes([96, 0x91, 62, 80, 96, 62, 0]))
    )
    assert tuple(roll[6 * 4 + 2, LEFT + 12]) == BLUE
    assert tuple(roll[6 * 2 + 2, LEFT + 36]) == ORANGE


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
