"""Notes of MIDI files as arrays: against MusPy and mido on music of several sources, and bytes that
are no music.
"""

import io
from typing import Any

import mido
import pytest
from hypothesis import given
from hypothesis import strategies as st

from music_evals.notation.midi.files import write_midi
from music_evals.notation.midi.note_arrays import MAX_BYTES, MidiError, read_note_arrays
from music_evals.notation.midi.performance import Note, Performance
from tests.notation.midi.midi_files import midi_file, saved

muspy = pytest.importorskip("muspy", reason="MusPy is not installed: pip install -e '.[lilypond]'")

GOOD = write_midi(
    Performance((Note(0, 60, 480, 80), Note(480, 64, 240, 80)), tempo=120, meter=(3, 4), key="C")
)


def check_against_muspy(midi):
    read = read_note_arrays(midi)
    music = muspy.from_mido(mido.MidiFile(file=io.BytesIO(midi)))
    columns = (read.onset, read.end, read.pitch, read.velocity, read.drum)
    assert sorted(zip(*(column.tolist() for column in columns), strict=True)) == sorted(
        (note.time, note.end, note.pitch, note.velocity, track.is_drum)
        for track in music.tracks
        for note in track.notes
    )
    assert read.tempos.tolist() == [[tempo.time, round(60e6 / tempo.qpm)] for tempo in music.tempos]
    assert read.length == max((track.get_end_time() for track in music.tracks), default=0)
    assert read.resolution == music.resolution
    signatures = [(sign.time, sign.numerator, sign.denominator) for sign in music.time_signatures]
    assert [
        (tick, numerator, 2**exponent) for tick, numerator, exponent in read.metres.tolist()
    ] == signatures


def events(kind, cls=mido.Message, **values):
    return st.builds(cls, st.just(kind), time=st.sampled_from([0, 0, 1, 96, 384]), **values)


CHANNELS, PITCHES, DATA = (
    st.sampled_from([0, 1, 9]),
    st.sampled_from([0, 60, 61, 127]),
    st.integers(0, 127),
)
EVENTS = st.one_of(
    events("note_on", channel=CHANNELS, note=PITCHES, velocity=st.sampled_from([0, 1, 127])),
    events("note_off", channel=CHANNELS, note=PITCHES),
    events("control_change", channel=CHANNELS),
    events("program_change", program=DATA),
    events("pitchwheel", pitch=st.integers(-8192, 8191)),
    events("sysex", data=st.lists(DATA, max_size=200)),
    events("text", mido.MetaMessage, text=st.text("aé", max_size=200)),
    events("set_tempo", mido.MetaMessage, tempo=st.integers(1, 2**24 - 1)),
    events(
        "time_signature",
        mido.MetaMessage,
        numerator=st.integers(1, 255),
        denominator=st.sampled_from([1, 2, 16]),
    ),
    events("end_of_track", mido.MetaMessage),
)


@given(st.lists(st.lists(EVENTS, max_size=30), max_size=3), st.sampled_from([1, 96, 384, 32767]))
def test_any_events_are_read_as_muspy_reads_them(tracks: list[list[Any]], resolution: int) -> None:
    check_against_muspy(saved(*tracks, resolution=resolution))


@pytest.mark.parametrize(
    ("midi", "message"),
    [
        (b"", "the 0 bytes are no MIDI file"),
        (GOOD[:13], "the 13 bytes are no MIDI file"),
        (GOOD[:-1], "ends within an event"),
        (midi_file(b"", count=2), "ends within an event"),
        (midi_file(b"", kind=2), "format 2; accepted are 0 and 1"),
        (midi_file(b"", resolution=b"\xe7\x28"), "ticks a quarter note"),
        (midi_file(b"\0\xff\x01\x7fshort"), "ends within an event"),
        (midi_file(b"\0\xff\x58\x00"), "no MIDI file"),
        (midi_file(b"\0\x3c\x40"), "running status"),
        (midi_file(b"\0\x90\xbc\x40"), "data byte must be in range"),
        (midi_file(b"\xff\xff\xff\xff\xff\x7f\x90\x3c\x40"), "later than tick"),
        (midi_file(b"\xff" * 990 + b"\x7f\x90\x3c\x40"), "later than tick"),
        (midi_file(b"\xff" * 100_000), "more than 4 bytes"),
        (b"\0" * (MAX_BYTES + 1), "1,000,001 bytes; accepted are up to 1,000,000"),
    ],
)
def test_what_is_refused(midi, message):
    with pytest.raises(MidiError, match=message):
        read_note_arrays(midi)


@given(
    st.lists(st.tuples(st.integers(14, len(GOOD) - 1), st.integers(0, 255)), max_size=6),
    st.binary(max_size=40),
)
def test_damaged_files_are_read_or_refused(changes: list[tuple[int, int]], more: bytes) -> None:
    damaged = bytearray(GOOD)
    for place, byte in changes:
        damaged[place] = byte
    for midi in (bytes(damaged), midi_file(more)):
        try:
            read = read_note_arrays(midi)
        except MidiError:
            continue
        assert (read.onset <= read.end).all()
        assert (read.end <= read.length).all()
        assert ((read.pitch >= 0) & (read.pitch < 128)).all()
