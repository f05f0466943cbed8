"""MIDI files and their text: round trips, an independent reader, and what is rejected."""

from dataclasses import astuple, replace
from itertools import groupby
from pathlib import Path
from random import Random

import mido
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from music_evals.notation.midi.files import FileNote, midi_to_text, parse_midi_text, write_midi
from music_evals.notation.midi.note_arrays import KEYS, read_note_arrays
from music_evals.notation.midi.performance import TICKS_PER_BEAT, Note, Performance
from tests.notation.midi.midi_files import read_notes, saved


@st.composite
def performances(draw: st.DrawFn) -> Performance:
    # Notes of one pitch follow each other, so that none overlap.
    notes = []
    for pitch in draw(st.lists(st.integers(0, 127), max_size=6, unique=True)):
        now = 0
        for gap, duration, velocity in draw(
            st.lists(
                st.tuples(st.integers(0, 999), st.integers(1, 2000), st.integers(1, 127)),
                max_size=4,
            )
        ):
            notes.append(Note(now + gap, pitch, duration, velocity))
            now += gap + duration
    end = max((note.onset + note.duration for note in notes), default=0)
    return Performance(
        notes=tuple(notes),
        tempo=draw(st.integers(30, 300)),
        meter=draw(st.sampled_from([(4, 4), (3, 4), (6, 8), (2, 2), (7, 16)])),
        key=draw(st.sampled_from([None, *KEYS])),
        program=draw(st.integers(0, 127)),
        percussion=draw(st.booleans()),
        length=draw(st.sampled_from([None, end, end + 480])),
    )


@given(performances(), st.randoms())
@settings(max_examples=40)
def test_all_readers_give_back_what_was_written_in_any_order(
    performance: Performance, rng: Random
) -> None:
    notes = sorted(performance.notes)
    data = write_midi(replace(performance, notes=tuple(rng.sample(notes, len(notes)))))
    assert data == write_midi(performance)
    parsed, file, arrays = (
        parse_midi_text(midi_to_text(data)),
        read_notes(data),
        read_note_arrays(data),
    )
    assert list(file.notes) == [
        FileNote(n.onset, n.pitch, n.duration, n.velocity, performance.percussion) for n in notes
    ]
    assert parsed == file
    assert (file.ticks_per_beat, file.tempo) == (TICKS_PER_BEAT, performance.tempo)
    columns = (arrays.onset, arrays.pitch, arrays.end - arrays.onset, arrays.velocity, arrays.drum)
    assert sorted(zip(*(column.tolist() for column in columns), strict=True)) == [
        astuple(note) for note in file.notes
    ]
    assert {*arrays.program.tolist()} <= {0 if performance.percussion else performance.program}
    assert arrays.seconds(arrays.onset) == pytest.approx(
        arrays.onset * 60 / performance.tempo / 480, rel=1e-5
    )
    lines = [line.split()[::2] for line in midi_to_text(data).split("\n")[1:]]
    for _, events in groupby(lines, key=lambda line: line[0]):
        kinds = [kind for _, kind, *_ in events if kind.startswith("note")]
        assert kinds == sorted(kinds)  # note_off before note_on


def test_text_of_a_foreign_file():
    """Two tracks at another resolution, with names, controllers and ends written as starts of
    velocity 0.
    """
    meta = [
        mido.MetaMessage("track_name", name="C major"),
        mido.MetaMessage("key_signature", key="F#m"),
        mido.MetaMessage("set_tempo", tempo=750_000),
        mido.MetaMessage("time_signature", numerator=3, denominator=4),
        mido.MetaMessage("end_of_track", time=960),
    ]
    part = [
        mido.MetaMessage("text", text="secret"),
        mido.Message("control_change", channel=2, control=7, value=100),
        mido.Message("program_change", channel=2, program=5),
        mido.Message("note_on", channel=2, note=60, velocity=90),
        mido.Message("note_on", channel=2, note=62, velocity=91, time=32),
        mido.Message("note_on", channel=2, note=60, velocity=0),
        mido.Message("pitchwheel", channel=2, pitch=-100),
        mido.Message("note_off", channel=2, note=62, velocity=3, time=7),
        mido.Message("note_on", channel=2, note=62, velocity=5),
        mido.Message("note_off", channel=2, note=62, velocity=64, time=57),
    ]
    text = midi_to_text(saved(meta, part, resolution=96))
    assert text + "\n" == Path(__file__).with_name("foreign_midi.txt").read_text(encoding="utf-8")
    assert parse_midi_text(text).tempo == 80.0
    notes = [(60, 0, 32, 90), (62, 32, 7, 91), (62, 39, 57, 5)]
    assert list(parse_midi_text(text).notes) == [
        FileNote(onset, pitch, length, velocity, False) for pitch, onset, length, velocity in notes
    ]


_ON = "tick=0 beat=0 note_on channel=0 note=60 velocity=80"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("ticks=480", "line 1.*ticks_per_beat=N"),
        ("ticks_per_beat=0", "line 1.*ticks_per_beat=N"),
        ("ticks_per_beat=480\nHere is the MIDI:", "line 2.*tick=T beat=B EVENT"),
        (f"ticks_per_beat=480\n{_ON}\n{_ON} ", "line 3"),
        ("ticks_per_beat=480\ntick=9999999999 beat=1 end_of_track", "line 2"),
        (
            f"ticks_per_beat=480\n{_ON.replace('note=60 velocity=80', 'velocity=80 note=60')}",
            "line 2",
        ),
    ],
)
def test_bad_text_is_rejected_with_the_line(text, problem):
    with pytest.raises(ValueError, match=problem):
        parse_midi_text(text)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"tempo": 0}, "tempo 0"),
        ({"meter": (4, 3)}, "power of 2"),
        ({"meter": (0, 4)}, "out of range"),
        ({"key": "H"}, "key 'H'"),
        ({"program": 128}, "data byte"),
        ({"notes": (Note(0, 60, 0, 80),)}, "duration >= 1"),
        ({"notes": (Note(0, 60, 2, 80), Note(1, 60, 2, 80))}, "still sounds"),
        ({"length": 479}, "length 479.*480"),
    ],
)
def test_what_midi_cannot_hold_is_rejected(change, problem):
    values = {"notes": (Note(0, 60, 480, 80),), "tempo": 120, "meter": (4, 4), "key": None} | change
    with pytest.raises(ValueError, match=problem):
        write_midi(Performance(**values))


def test_keys_are_those_of_mido():
    assert len({mido.MetaMessage("key_signature", key=key).key for key in KEYS}) == len(KEYS) == 30
