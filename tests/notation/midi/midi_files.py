"""MIDI files for tests, as mido writes them, and a second parser that shares no code with it."""

import io

import mido
from symusic import Score

from music_evals.notation.midi.files import FileNote, MidiFile


def saved(*tracks, resolution=384):
    """Write tracks of messages as a MIDI file of format 1."""
    written = io.BytesIO()
    mido.MidiFile(type=1, ticks_per_beat=resolution, tracks=list(map(mido.MidiTrack, tracks))).save(
        file=written
    )
    return written.getvalue()


def midi_file(*tracks, kind=1, resolution=b"\0\x60", count=None):
    """Join tracks, as bytes, to a MIDI file with a header of `count` tracks."""
    chunks = b"".join(b"MTrk" + len(track).to_bytes(4, "big") + track for track in tracks)
    number = len(tracks) if count is None else count
    return b"MThd\0\0\0\6" + bytes([0, kind]) + number.to_bytes(2, "big") + resolution + chunks


def read_notes(data):
    """Read the notes of a MIDI file with symusic."""
    score = Score.from_midi(data)
    notes = sorted(
        FileNote(note.time, note.pitch, note.duration, note.velocity, track.is_drum)
        for track in score.tracks
        for note in track.notes
    )
    tempo = next((tempo.mspq for tempo in score.tempos if tempo.time == 0), 500_000)
    return MidiFile(score.ticks_per_quarter, round(60e6 / tempo, 2), tuple(notes))
