"""Clips by quadrant: a folder of EMOPIA-like files, its rows under both protocols, and the composed
stand-in.
"""

import io
import re
from collections import Counter

import mido
import pytest

from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.lilybench.composed_clips import compose_clips
from music_evals.datasets_builders.lilybench.emopia import Clip, make_rows, read_clips, without_text
from music_evals.datasets_builders.lilybench.rows import QUADRANT_LABELS
from music_evals.notation.lilypond.converters import ConversionError
from tests.notation.midi.midi_files import read_notes

EACH = 12
CLIPS = compose_clips(seed=1, per_quadrant=EACH)


def with_text(midi):
    """The same music with a name, a lyric and a marker that tell its mood."""
    file = mido.MidiFile(file=io.BytesIO(midi))
    name, lyric = (
        mido.MetaMessage("track_name", name='happy " % {'),
        mido.MetaMessage("lyrics", text="joy", time=120),
    )
    marker, sysex = mido.MetaMessage("marker", text="Q1"), mido.Message("sysex", data=[1, 2, 3])
    file.tracks[0][:1] = [name, lyric, marker, sysex, file.tracks[0][0].copy(time=0)]
    buffer = io.BytesIO()
    file.save(file=buffer)
    return buffer.getvalue()


def converted(midi):
    """What midi2ly writes around the music, in short: a comment that names the file, and texts of
    the file.
    """
    file = mido.MidiFile(file=io.BytesIO(midi))
    texts = [
        getattr(event, "name", getattr(event, "text", ""))
        for track in file.tracks
        for event in track
    ]
    printed = "".join(f"  % {text}\n" for text in texts if text)
    return f'% made by midi2ly from score.midi\n\\version "2.14.0"\n{printed}{{ c4 | % 2\n d1 }}\n'


def test_a_folder_is_read_with_its_damaged_files_named(tmp_path):
    midi = CLIPS[0].midi
    silent = mido.MidiFile(tracks=[mido.MidiTrack([mido.MetaMessage("end_of_track", time=480)])])
    silent.save(tmp_path / "Q2_silent_0.mid")
    for name, data in {
        "Q1_8v0MFBZoco_0.mid": midi,
        "Q4_a_b-c_12.mid": midi,
        "Q3_cut_0.mid": midi[:-9],
        "Q3_empty_0.mid": b"",
        "Q5_song_0.mid": midi,
        "song.mid": midi,
        "Q2_big_0.mid": b"MThd" + bytes(1 << 20),
        "label.csv": b"ID,4Q",
    }.items():
        (tmp_path / name).write_bytes(data)
    clips, left_out = read_clips(tmp_path)
    assert clips == [Clip("Q1_8v0MFBZoco_0", 1, midi), Clip("Q4_a_b-c_12", 4, midi)]
    assert [clip.song for clip in clips] == ["8v0MFBZoco", "a_b-c"]
    assert {name: reason.partition(";")[0] for name, reason in left_out.items()} == {
        "Q2_big_0.mid": "1048580 bytes are too many",
        "Q2_silent_0.mid": "the file has no notes",
        "Q3_cut_0.mid": "the 829 bytes are no MIDI file: it ends within an event",
        "Q3_empty_0.mid": "the 0 bytes are no MIDI file: it ends within an event",
        "Q5_song_0.mid": "the name does not say the quadrant",
        "song.mid": "the name does not say the quadrant",
    }
    # What is composed comes back from a folder.
    (tmp_path / "midis").mkdir()
    for clip in CLIPS:
        (tmp_path / "midis" / f"{clip.id}.mid").write_bytes(clip.midi)
    assert read_clips(tmp_path) == (CLIPS, {})
    (tmp_path / "EMOPIA").mkdir()
    with pytest.raises(DatasetError, match="EMOPIA has no MIDI files"):
        read_clips(tmp_path / "EMOPIA")


def test_text_is_taken_out_and_time_is_kept():
    told = with_text(CLIPS[0].midi)
    bare = without_text(told)
    assert not re.search(rb"happy|joy|Q1|\x01\x02\x03", bare)
    assert read_notes(bare) == read_notes(told)
    onset = read_notes(CLIPS[0].midi).notes[0].onset
    assert read_notes(bare).notes[0].onset == onset + 120
    with pytest.raises(ValueError, match="MIDI data of 4 bytes cannot be read"):
        without_text(b"MThd")


def test_strict_rows_take_a_song_once():
    clips = [
        Clip(f"Q{quadrant}_song{song}_{number}", quadrant, CLIPS[0].midi)
        for quadrant in (1, 2, 3, 4)
        for song in range(3)
        for number in range(4)
    ]
    strict, _ = make_rows("strict", clips, seed=1, per_quadrant=3, convert=converted)
    assert len({row["piece"].rpartition("_")[0] for row in strict}) == 12
    with pytest.raises(
        ValueError, match=r"Q1 has 3 usable clips \(1 a song at most\), and 4 are needed"
    ):
        make_rows("strict", clips, seed=1, per_quadrant=4, convert=converted)
    assert len(make_rows("paper", clips, seed=1, per_quadrant=12, convert=converted)[0]) == 48
    assert len(make_rows("paper", clips[1:], seed=1, per_quadrant=13, convert=converted)[0]) == 47
    with pytest.raises(ValueError, match="emotion_recognition: none of 0 clips is usable"):
        make_rows("paper", [], seed=1)


def test_clips_that_cannot_be_converted_are_replaced_and_named():
    bad = {clip.midi for clip in CLIPS if clip.id.startswith("Q2_") and clip.id < "Q2_composed-004"}

    def convert(midi):
        if midi in bad:
            raise ConversionError("midi2ly ended with 1")
        return converted(midi)

    for wanted, available in ((8, 8), (12, 8)):
        rows, left_out = make_rows("paper", CLIPS, seed=1, per_quadrant=wanted, convert=convert)
        counts = Counter(row["options"][int(row["answer"])] for row in rows)
        assert counts == dict.fromkeys(QUADRANT_LABELS, wanted) | {"Q2": available}
    assert left_out == dict.fromkeys(
        [f"Q2_composed-{n:03d}_0" for n in range(4)], "midi2ly ended with 1"
    )
    refuse = lambda _: convert(next(iter(bad)))  # noqa: E731
    with pytest.raises(
        ValueError, match=r"Q1 has 0 usable clips \(.*\), and 1 are needed; Q1_.*: midi2ly ended"
    ):
        make_rows("strict", CLIPS, seed=1, per_quadrant=1, convert=refuse)

    def busy(_):
        raise ConversionError("the clock ran out", is_measured=False)

    with pytest.raises(DatasetError, match=r"not measured: Q1_"):
        make_rows("paper", CLIPS, seed=1, convert=busy)


def test_composed_clips_are_one_of_a_kind():
    assert compose_clips(seed=1, per_quadrant=2)[:2] == CLIPS[:2]
    assert (
        len({clip.midi for clip in CLIPS})
        == len(CLIPS)
        == len({(clip.quadrant, clip.song) for clip in CLIPS})
    )
    assert not {clip.midi for clip in compose_clips(seed=2, per_quadrant=2)} & {
        clip.midi for clip in CLIPS
    }
    for clip in CLIPS:
        kinds = {
            event.type
            for track in mido.MidiFile(file=io.BytesIO(clip.midi)).tracks
            for event in track
        }
        assert kinds == {
            "set_tempo",
            "time_signature",
            "program_change",
            "note_on",
            "note_off",
            "end_of_track",
        }
