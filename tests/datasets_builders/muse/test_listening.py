"""The checks of recordings by their sound, on generated stimuli and on recordings."""

import io
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
import soundfile

from music_evals.datasets_builders import read_table
from music_evals.datasets_builders.muse.chords import QUALITIES, ROOTS
from music_evals.datasets_builders.muse.listening import check_chord, check_loop, check_pair
from music_evals.datasets_builders.muse.recordings import recorded_rows
from music_evals.notation.audio.transcription import (
    align,
    drum_strokes,
    melody_spectra,
    read_samples,
)
from tests.datasets_builders.muse.conftest import RECORDINGS, Row, Rows, needs_recordings


def all_rows(data: Rows, config: str) -> list[Row]:
    return list(itertools.chain(*data[config].values()))


def wavs(row: Mapping[str, Any]) -> list[bytes]:
    return [cell["bytes"] for name, cell in row.items() if name.startswith("audio")]


def test_every_generated_loop_sounds_with_its_offbeats(generated: Rows) -> None:
    for number, row in enumerate(all_rows(generated, "syncopation")):
        assert number >= 5 or check_loop(row["offbeats"], wavs(row)) is None
        keyed = (row["offbeats"] + 2) % 10
        assert (
            check_loop(keyed, wavs(row))
            == f"keyed {keyed} off-beats, sounds with {row['offbeats']}"
        )


def test_every_generated_chord_sounds_with_its_root_and_quality(generated: Rows) -> None:
    for number, row in enumerate(all_rows(generated, "chord_quality")):
        assert number >= 4 or check_chord(row["root"], row["quality"], wavs(row)) is None
        keyed = QUALITIES[QUALITIES.index(row["quality"]) - 1]
        said = f"keyed {row['root']} {keyed}, sounds as {row['root']} {row['quality']}"
        assert check_chord(row["root"], keyed, wavs(row)) == said


def test_every_generated_pair_sounds_as_it_is(generated: Rows) -> None:
    unclear = 0
    for row in all_rows(generated, "transposition"):
        # Spelled as in the names of files; C is 4 semitones above A flat.
        keys = ("C", ROOTS[(4 + row["semitones"]) % 12])
        if not row["same"]:
            assert check_pair(None, wavs(row)) is None
            # A single other interval is not always clear; it is never taken for the same melody.
            said = check_pair(keys, wavs(row))
            assert said in {None, "keyed the same, sounds different"}
            unclear += said is None
            continue
        assert check_pair(keys, wavs(row)) is None
        assert check_pair(None, wavs(row)) == "keyed different, sounds the same"
        said = check_pair(("C", "C"), wavs(row))
        assert (
            said
            == f"named in C and C, the second sounds {row['semitones']:+} semitones from the first"
        )
    assert unclear <= 1


@pytest.mark.parametrize(("seconds", "rate"), [(0.1, 44_100), (9.0, 44_100), (9.0, 500)])
def test_nothing_is_said_of_silence_or_of_next_to_nothing(seconds: float, rate: int) -> None:
    for level in (0.0, 0.1):
        file = io.BytesIO()
        soundfile.write(file, np.full(round(rate * seconds), level), rate, format="WAV")
        said: Sequence[str | None] = (
            check_loop(6, [file.getvalue()]),
            check_chord("C", "major", [file.getvalue()]),
            check_pair(None, [file.getvalue()] * 2) if level == 0 else None,
        )
        assert set(said) == {None}


@needs_recordings
def test_recordings_sound_as_librosa_heard_them() -> None:
    """Off-beats by librosa's onset strength below 400 Hz, and distances of keys by its pitch
    tracker (yin).
    """
    sounding = read_table("names/muse_recordings.toml")["sounding_keys"]
    assert sounding["M2_Abm_155_3_4"] == "Dbm"  # four semitones below Fm
    loops, distances = {}, {}
    for row in recorded_rows():
        if not all((RECORDINGS / path).is_file() for path in row.paths):
            continue
        heard = [read_samples((RECORDINGS / path).read_bytes()) for path in row.paths]
        if row.config == "syncopation":
            strokes = drum_strokes(*heard[0], 0.25, 32)
            loops[row.paths[0][-7:-4]] = strokes and sum(
                slot % 2 == 0 for drum in strokes for slot in drum
            )
        elif len({path.split("_")[0] for path in row.paths}) == 1 and len(heard) == 2:
            alignment = align(*(melody_spectra(*one) for one in heard))
            distances[row.paths[0].split("/")[1][:2]] = alignment and alignment.semitones
    assert loops == {"c_A": 0, "1_A": 2, "2_B": 4, "3_C": 6, "4_D": 8}
    assert distances == {"M1": 4, "M2": 4, "M6": -2, "M7": 1}
