"""MIDI rendered to audio.

The same MIDI gives the same bytes of audio: in any process, after any earlier calls, with any
number of threads.
"""

import io
import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from music_evals.notation.audio.clips import MP3, file_of
from music_evals.notation.audio.soundfont import (
    SAMPLE_RATE,
    Samples,
    default_soundfont,
    instrument,
    play_note,
)
from music_evals.notation.midi.note_arrays import NoteArrays, read_note_arrays

LOUDNESS = -23.0  # root mean square of rendered audio in dB relative to full scale
PEAK = 0.93  # largest absolute sample, full scale being 1; it can keep audio below `LOUDNESS`
FADE_SECONDS = 0.03  # length of the fade-out of audio that is cut
MAX_SECONDS = 600.0  # longest audio that is rendered
_MAX_BYTES = 1 << 24  # largest MIDI file that is rendered


def render_wav(
    midi: bytes, *, seconds: float | None = None, soundfont: Path | None = None
) -> bytes:
    """Render a MIDI file with a SoundFont: 44.1 kHz, mono, 16-bit PCM WAV.

    The sound is scaled to a root mean square of `LOUDNESS` before any padding, or to a peak of
    `PEAK` where that is softer. The published MUSE recordings are about as loud.

    Args:
        midi: the file.
        seconds: exact length, to the nearest sample. Longer sound is cut with a short fade-out;
            shorter sound is padded with silence. None ends with the sound.
        soundfont: a SoundFont 2 file; None takes `default_soundfont`.

    Raises:
        ValueError: the MIDI cannot be read, has no notes or is too long; `seconds` is out of range;
            or the SoundFont cannot be read.
        FileNotFoundError: there is no such SoundFont.
    """
    if seconds is not None and not 0 < seconds <= MAX_SECONDS:
        raise ValueError(
            f"seconds is {seconds}; accepted are more than 0 and at most {MAX_SECONDS:g}, or None"
        )
    length = None if seconds is None else max(1, round(seconds * SAMPLE_RATE))
    mix = _mix(midi, default_soundfont() if soundfont is None else soundfont, length)

    power = float(np.mean(np.square(mix, dtype=np.float64)))
    peak = float(np.max(np.abs(mix)))
    gain = min(10 ** (LOUDNESS / 20) / power**0.5, PEAK / peak) if peak > 0 else 0.0
    # Another processor may add the squares in another order; six digits of the gain hide that.
    pcm = np.rint(mix * np.float32(float(f"{gain:.6g}") * 32768)).astype("<i2")
    data = pcm.tobytes() + bytes(0 if length is None else 2 * (length - len(pcm)))
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setparams((1, 2, SAMPLE_RATE, 0, "NONE", ""))
        file.writeframes(data)
    return buffer.getvalue()


def render_mp3(midi: bytes) -> bytes:
    """Render a MIDI file to its end for people to listen to: mono MP3 at 22.05 kHz, about 2.5 kB
    per second.

    Errors are those of `render_wav`.
    """
    import soundfile

    samples, rate = soundfile.read(io.BytesIO(render_wav(midi)), dtype="float32")
    even = samples[: len(samples) // 2 * 2]
    # The mean of two samples is a sufficient low-pass filter for listening.
    return file_of((even[::2] + even[1::2]) / 2, rate // 2, MP3, compression_level=0.99)


def _mix(midi: bytes, soundfont: Path, length: int | None) -> Samples:
    """Add up the sounds of all notes; at most `length` samples."""
    sounds = list(_sounds(read_note_arrays(midi, _MAX_BYTES), soundfont, length))
    if not sounds:
        raise ValueError(
            "MIDI holds no notes that the SoundFont can play within the time; there is nothing to "
            "render"
        )
    end = max(onset + len(sound) for onset, sound in sounds)
    mix = np.zeros(end, dtype=np.float32)
    for onset, sound in sounds:
        mix[onset : onset + len(sound)] += sound
    if end == length:
        fade = min(round(FADE_SECONDS * SAMPLE_RATE), end)
        mix[end - fade :] *= np.linspace(1, 0, fade, dtype=np.float32)
    return mix


def _sounds(
    notes: NoteArrays, soundfont: Path, length: int | None
) -> Iterator[tuple[int, Samples]]:
    """The sounds of all notes, and the samples at which they begin."""
    limit = round(MAX_SECONDS * SAMPLE_RATE) if length is None else length
    # The order decides how the sum is rounded, and single precision on which sample a note begins.
    order = np.lexsort((notes.pitch, notes.onset, notes.program, notes.track))
    starts, ends = (notes.seconds(ticks).astype(np.float32) for ticks in (notes.onset, notes.end))
    onsets, durations = (
        np.rint(times * np.float64(SAMPLE_RATE)).astype(int) for times in (starts, ends - starts)
    )
    columns = (onsets, durations, notes.pitch, notes.velocity, notes.program, notes.drum)
    rows = zip(*(column[order].tolist() for column in columns), strict=True)
    for onset, duration, pitch, velocity, program, is_drum in rows:
        if length is None and onset + duration > limit:
            raise ValueError(
                f"MIDI lasts more than {MAX_SECONDS:g} s, which is the longest that is rendered"
            )
        if onset >= limit:
            continue
        for zone in instrument(soundfont, program, is_drum):
            if zone.covers(pitch, velocity):
                yield onset, play_note(zone, pitch, velocity, max(1, duration), limit - onset)
