"""A picture of the notes of a MIDI file: time across, pitch up, one colour per track."""

import math
from itertools import chain

import numpy as np

from music_evals.notation.midi.note_arrays import MidiError, NoteArrays, read_note_arrays
from music_evals.notation.pictures import png_of

MAX_WIDTH = 800
MAX_HEIGHT = 240
LEFT = 24  # pixels left of the first note, in which the octaves are named

_QUARTER = 24  # pixels per quarter note of short music
_SEMITONE = 6  # pixels per semitone of music in a narrow range
_BORDER = 2  # semitones above and below the notes
_CLOSEST = 8  # pixels between two measure lines
# White, lines of measures, lines of octaves, names of octaves; then the colours of the tracks,
# which people with colour vision deficiency can tell apart (Okabe and Ito, 2008).
_COLOURS = (
    "#ffffff",
    "#ececec",
    "#d2d2d2",
    "#6e6e6e",
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#000000",
    "#968c14",
)
_FIRST_TRACK = 4  # place of its colour


def piano_roll(midi: bytes) -> bytes | None:
    """Draw the notes of a MIDI file as a PNG of at most `MAX_WIDTH` × `MAX_HEIGHT` pixels.

    A line marks every C, with its name (C4 is MIDI's 60). Another marks every measure of the first
    metre, unless measures are too close together. Tracks are coloured in the order of the file; the
    ninth has the colour of the first. None if the file has no notes or cannot be read.
    """
    try:
        notes = read_note_arrays(midi)
    except MidiError:
        return None
    return _draw(notes) if len(notes.onset) else None


def _draw(notes: NoteArrays) -> bytes:
    from PIL import Image, ImageColor, ImageDraw

    length = max(1, notes.length)
    low, high = int(notes.pitch.min()) - _BORDER, int(notes.pitch.max()) + _BORDER
    semitone = min(_SEMITONE, MAX_HEIGHT // (high - low + 1))
    roll = min(MAX_WIDTH - LEFT, max(1, length * _QUARTER // notes.resolution))
    height = (high - low + 1) * semitone
    image = Image.new("P", (LEFT + roll, height), 0)
    image.putpalette([*chain.from_iterable(map(ImageColor.getrgb, _COLOURS))])
    draw = ImageDraw.Draw(image)
    draw.fontmode = "1"

    *_, numerator, exponent = [4, 2, *notes.metres[notes.metres[:, 0] == 0, 1:].ravel().tolist()]
    measure = notes.resolution * math.ldexp(4 * numerator, -exponent)
    step = measure * roll / length
    if step >= _CLOSEST:
        for number in range(int(length // measure) + 1):
            x = LEFT + number * step
            draw.line([x, 0, x, height], fill=1)
    for pitch in range(low + -low % 12, high + 1, 12):
        bottom = (high - pitch + 1) * semitone - 1
        draw.line([LEFT, bottom, LEFT + roll, bottom], fill=2)
        name, place = f"C{pitch // 12 - 1}", (2, min(bottom + 3, height))
        draw.text(place, name, fill=3, anchor="ls", font_size=10)
    lefts = notes.onset * roll // length + LEFT
    rights = -(-notes.end * roll // length) + LEFT - 1
    tops = (high - notes.pitch) * semitone
    colours = notes.track % (len(_COLOURS) - _FIRST_TRACK) + _FIRST_TRACK
    for left, top, right, colour in np.stack([lefts, tops, rights, colours], axis=1).tolist():
        # A gap of a pixel separates notes that follow each other.
        end = max(left, right - (right - left > 2))
        draw.rectangle([left, top, end, top + max(0, semitone - 2)], fill=colour)
    return png_of(image, optimize=True, bits=4)
