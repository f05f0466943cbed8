"""MUSE's rows: what they say against readers and facts from outside the builder."""

import io
import itertools
import re
from collections import Counter
from pathlib import Path

import mido
import pytest
import soundfile

from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.muse import dataset as muse
from music_evals.datasets_builders.muse.dataset import Counts, build_generated
from music_evals.datasets_builders.muse.recordings import build_recordings, recorded_rows
from music_evals.datasets_builders.muse.rows import CONFIGS
from tests.datasets_builders.muse.conftest import RECORDINGS, needs_recordings, read_all
from tests.notation.midi.midi_files import read_notes

# --- generated ---


COUNTS = {
    "syncopation": {"test": 20, "fewshot": 2},
    "transposition": {"test": 20, "fewshot": 2},
    "chord_quality": {"test": 44, "fewshot": 4},
}


def starts(midi, *, drums):
    """Ticks and pitches of the notes by symusic, which shares no code with the writer."""
    file = read_notes(midi)
    assert file.ticks_per_beat == 480
    assert all(note.is_drum is drums for note in file.notes)
    return [(note.onset, note.pitch) for note in file.notes]


def test_transposition_targets_follow_from_the_midi(generated):
    for row in itertools.chain(*generated["transposition"].values()):
        melodies = [[pitch for _, pitch in starts(row[f"midi_{i}"], drums=False)] for i in (1, 2)]
        assert melodies == [row["pitches_1"], row["pitches_2"]]
        distances = {second - first for first, second in zip(*melodies, strict=True)}
        assert (len(distances) == 1) is row["same"]
        if row["same"]:
            assert distances == {row["semitones"]}
            assert row["semitones"] != 0
        assert row["target"] == ("Yes, these are the same melody." if row["same"]
                                 else "No, these are not the same melody.")  # fmt: skip
        assert row["target"] in row["options"]
        assert (row["foil"] == "none") is row["same"]
        signatures = [m for i in (1, 2) for m in mido.MidiFile(file=io.BytesIO(row[f"midi_{i}"])).tracks[0]
                      if m.type == "key_signature"]  # fmt: skip
        assert [signature.key for signature in signatures] == [row["key_1"], row["key_2"]]
    assert [row["same"] for row in generated["transposition"]["fewshot"]] == [True, False]
    rows = generated["transposition"]["test"]
    assert Counter((row["same"], row["instrument"]) for row in rows) == dict.fromkeys(
        itertools.product((True, False), ("guitar", "piano")), 5
    )
    assert sorted(Counter(row["foil"] for row in rows if not row["same"]).values()) == [3, 3, 4]


def test_chord_targets_follow_from_the_midi(generated):
    qualities = {(0, 4, 7): "A", (0, 3, 7): "B", (0, 4, 7, 10): "C", (0, 3, 6): "D"}
    roots = ("Ab", "A", "Bb", "B", "C", "Db", "D", "Eb", "E", "F", "Gb", "G")
    pitch_classes = {root: (8 + number) % 12 for number, root in enumerate(roots)}
    for row in itertools.chain(*generated["chord_quality"].values()):
        pitches = [pitch for _, pitch in starts(row["midi"], drums=False)]
        assert min(pitches) % 12 == pitch_classes[row["root"]]
        assert (
            qualities[tuple(sorted({(pitch - min(pitches)) % 12 for pitch in pitches}))]
            == row["target"]
        )
        assert row["options"]["ABCD".index(row["target"])].lower() == row["quality"]
        assert "key_signature" not in row["midi_text"]
        assert [pitch for tick, pitch in starts(row["midi"], drums=False) if tick == 0] == row[
            "pitches"
        ]
    assert Counter(row["target"] for row in generated["chord_quality"]["test"]) == dict.fromkeys(
        "ABCD", 11
    )
    assert {row["root"] for row in generated["chord_quality"]["test"]} == set(pitch_classes) - {
        "Ab"
    }
    assert {(row["root"], row["target"]) for row in generated["chord_quality"]["fewshot"]} == {
        ("Ab", letter) for letter in "ABCD"
    }


def clips(row):
    """Audio, MIDI and MIDI text of each clip of a row."""
    return [(row[f"audio{i}"]["bytes"], row[f"midi{i}"], row[f"midi_text{i}"]) for i in ("", "_1", "_2")
            if f"audio{i}" in row]  # fmt: skip


def test_audio_is_as_long_as_the_midi(generated):
    for config, splits in generated.items():
        for row in itertools.chain(*splits.values()):
            for wav, midi, text in clips(row):
                info = soundfile.info(io.BytesIO(wav))
                assert (info.samplerate, info.format) == (44100, "WAV")
                assert abs(info.duration - mido.MidiFile(file=io.BytesIO(midi)).length) < 0.01
                if config == "syncopation":
                    assert abs(info.duration - 8) < 0.01
                assert text.startswith("ticks_per_beat=480\n")


def test_counts_are_the_papers_and_no_stimulus_comes_twice(generated):
    assert {
        name: {split: len(some) for split, some in splits.items()}
        for name, splits in generated.items()
    } == COUNTS
    rows = {config: list(itertools.chain(*splits.values())) for config, splits in generated.items()}
    loops = [(*row["kick"], 0, *row["snare"]) for row in rows["syncopation"]]
    assert len(set(loops)) == len(loops)
    melodies = []
    for row in rows["transposition"]:
        pair = {tuple(b - a for a, b in itertools.pairwise(row[f"pitches_{i}"])) for i in (1, 2)}
        assert len(pair) == (1 if row["same"] else 2)
        melodies += sorted(pair)
    assert len(set(melodies)) == len(melodies)
    for some in rows.values():
        sounds = [wav for row in some for wav, _, _ in clips(row)]
        assert len(set(sounds)) == len(sounds)


def test_same_seed_same_bytes_and_another_seed_other_stimuli(tmp_path):
    made = [
        muse.write(build_generated(seed, Counts(2, 2, 2)), tmp_path / name)
        for name, seed in (("a", 5), ("b", 5), ("c", 6))
    ]
    assert made[0].files == made[1].files
    one, other = read_all(tmp_path / "a"), read_all(tmp_path / "c")
    for config in ("syncopation", "transposition"):
        sounds = [
            {wav for rows in data[config].values() for row in rows for wav, _, _ in clips(row)}
            for data in (one, other)
        ]
        assert not sounds[0] & sounds[1]
    assert one["chord_quality"]["test"] != other["chord_quality"]["test"]


def planned(seed, counts, config, split="test"):
    return [dict(make()) for make in build_generated(seed, counts).makers[config][split][:3]]


def test_rows_do_not_depend_on_how_many_are_asked_for():
    for config in CONFIGS:
        few, more = (planned(3, Counts(*[count] * 3), config) for count in (1, 3))
        assert more[:1] == few
        assert (
            planned(3, Counts(0, 0, 0), config, "fewshot")[:1]
            == planned(3, Counts(1, 1, 1), config, "fewshot")[:1]
        )


def test_soundfont_that_cannot_render_is_named(tmp_path):
    (tmp_path / "text.sf2").write_text("no soundfont")
    plan = build_generated(soundfont=tmp_path / "text.sf2")
    with pytest.raises(DatasetError, match=r"cannot render with .*text\.sf2"):
        muse.write(plan, tmp_path / "out")
    assert not (tmp_path / "out").exists()


# --- recordings ---


def write_wav(path, seconds):
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, [0.1] * round(44100 * seconds), 44100, subtype="PCM_24")


@pytest.fixture
def complete(tmp_path):
    """A copy of the repository with all the files that the trials use, holding next to nothing."""
    source = tmp_path / "source"
    for number, path in enumerate(
        dict.fromkeys(path for row in recorded_rows() for path in row.paths)
    ):
        write_wav(source / path, 0.1 + number / 1000)
    (source / "LICENSE_DATA.md").write_text("research only")
    return source


def test_missing_files_are_all_named(complete):
    for name in ("Chords/7.wav", "Intermediate/Sync2_B.wav", "M5_Dm_100.wav"):
        (complete / "stimuli" / name).unlink()
    with pytest.raises(DatasetError) as caught:
        build_recordings(complete)
    assert str(caught.value).splitlines() == [
        f"3 of 94 files are missing in {complete} (--allow-partial builds the rest):",
        "  stimuli/Intermediate/Sync2_B.wav",
        "  stimuli/M5_Dm_100.wav",
        "  stimuli/Chords/7.wav",
    ]
    plan = build_recordings(complete, allow_partial=True)
    assert plan.provenance.missing == {
        "syncopation": ("stimuli/Intermediate/Sync2_B.wav",),
        "transposition": ("stimuli/M5_Dm_100.wav",),
        "chord_quality": ("stimuli/Chords/7.wav",),
    }
    assert plan.n_rows == 92 - 4  # one loop, one chord, and two pairs that share the melody


def test_damaged_files_are_all_named_with_the_reason(complete):
    chord, loop = complete / "stimuli/Chords/7.wav", complete / "stimuli/Intermediate/Sync2_B.wav"
    chord.write_bytes(chord.read_bytes()[:3000])
    loop.write_text("version https://git-lfs.github.com/spec/v1")
    for allow_partial in (False, True):
        with pytest.raises(DatasetError) as caught:
            build_recordings(complete, allow_partial=allow_partial)
        loop_said, chord_said = str(caught.value).splitlines()[1:]
        assert re.match(r"  stimuli/Intermediate/Sync2_B.wav: .*not a WAV file", loop_said)
        assert re.match(r"  stimuli/Chords/7.wav: it ends after 3000 of", chord_said)


def test_folder_without_recordings_is_refused_even_as_partial(tmp_path):
    (tmp_path / "LICENSE_DATA.md").write_text("")
    with pytest.raises(DatasetError, match="holds none of the recordings"):
        build_recordings(tmp_path, allow_partial=True)


@needs_recordings
def test_every_wanted_file_is_published_and_every_published_trial_is_wanted() -> None:
    published = set((RECORDINGS / "upstream_file_list.txt").read_text().split())
    wanted = {path for row in recorded_rows() for path in row.paths}
    assert wanted <= published
    pattern = r"stimuli/(Chords/\d+|Intermediate/(No)?Sync\d?_[A-E]|M\d+_(?!Odd)[^/]*)\.wav"
    assert wanted == {path for path in published if re.fullmatch(pattern, path)}
    pairs = {
        tuple(row.paths) for row in recorded_rows() if row.split == "test" and len(row.paths) == 2
    }
    joined = {tuple(f"stimuli/{stem}.wav" for stem in Path(path).stem.split("__")) for path in published
              if path.startswith("stimuli/combined/M") and "Odd" not in path}  # fmt: skip
    # The same recording twice and the same melody out of tune belong to other tasks; a pair may be
    # joined either way.
    assert {frozenset(pair) for pair in pairs} == {
        frozenset(pair) for pair in joined if len(set(pair)) == 2
    }
