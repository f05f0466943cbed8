"""Audio from MIDI, and what an audio file is.

The same MIDI gives the same bytes of audio, in any process, after any earlier calls, with any number of threads.
"""

import io
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import soundfile

from music_evals.notation.midi import load_score
from music_evals.notation.soundfont import SAMPLE_RATE, Samples, default_soundfont, instrument, play_note, riff_chunks

LOUDNESS: Final = -23.0  # root mean square of rendered audio in dB relative to full scale
PEAK: Final = 0.93  # largest absolute sample, full scale being 1; audio that would pass it stays below `LOUDNESS`
FADE_SECONDS: Final = 0.03  # length of the fade-out of audio that is cut
MAX_SECONDS: Final = 600.0  # longest audio that is rendered


@dataclass(frozen=True, slots=True)
class AudioInfo:
    """What an audio file holds."""

    sample_rate: int  # Hz
    channels: int
    seconds: float
    encoding: str  # as libsndfile names it, such as "PCM_16" or "PCM_24"


def render_wav(midi: bytes, *, seconds: float | None = None, soundfont: Path | None = None) -> bytes:
    """Play a MIDI file on a SoundFont (`default_soundfont` if None): 44.1 kHz, mono, 16-bit PCM WAV.

    The sound is scaled to a root mean square of `LOUDNESS` (before any padding), less where a peak would pass
    `PEAK`. The level of the published MUSE recordings is about the same. `seconds` is the exact length, to the nearest
    sample: longer sound is cut with a short fade-out, shorter sound is padded with silence. None ends with the sound.

    ValueError if the MIDI cannot be read, has no notes or is too long, `seconds` is out of range, or the SoundFont is
    none; FileNotFoundError if there is no such SoundFont.
    """
    if seconds is not None and not 0 < seconds <= MAX_SECONDS:
        raise ValueError(f"seconds is {seconds}; accepted are more than 0 and at most {MAX_SECONDS:g}, or None")
    length = None if seconds is None else max(1, round(seconds * SAMPLE_RATE))
    mix = _mix(midi, default_soundfont() if soundfont is None else soundfont, length)

    power = float(np.mean(np.square(mix, dtype=np.float64)))
    peak = float(np.max(np.abs(mix)))
    gain = min(10 ** (LOUDNESS / 20) / power**0.5, PEAK / peak) if peak > 0 else 0.0
    # Six digits of the gain are plenty, and hide that another processor may add the squares in another order.
    pcm = np.rint(mix * np.float32(float(f"{gain:.6g}") * 32768)).astype("<i2")
    data: bytes = pcm.tobytes() + bytes(0 if length is None else 2 * (length - len(pcm)))
    return _wav_header(len(data)) + data


def render_mp3(midi: bytes, *, soundfont: Path | None = None) -> bytes:
    """Play a MIDI file to its end for people to listen to: mono MP3 at 22.05 kHz, some 2.5 kB a second.

    Errors are those of `render_wav`.
    """
    samples, rate = soundfile.read(io.BytesIO(render_wav(midi, soundfont=soundfont)), dtype="float32")
    even = samples[: len(samples) // 2 * 2]
    written = io.BytesIO()
    # The mean of two samples takes off what half the rate cannot hold, well enough for listening.
    soundfile.write(written, (even[::2] + even[1::2]) / 2, rate // 2, format="MP3", compression_level=0.99)
    return written.getvalue()


def describe_wav(data: bytes) -> AudioInfo:
    """Decode a WAV file to its end and say what it holds.

    ValueError if the bytes are no WAV file, cannot be decoded, hold no samples, or end before the header says.
    """
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise ValueError(f"audio of {len(data)} bytes is not a WAV file; accepted is RIFF/WAVE")
    # libsndfile quietly shortens what is truncated, so the promise of the header is checked here.
    sizes = {name: (size, len(content)) for name, size, content in riff_chunks(data)}
    if b"data" not in sizes:
        raise ValueError(f"WAV file of {len(data)} bytes has no data chunk; it is truncated or no audio")
    promised, present = sizes[b"data"]
    if present < promised:
        raise ValueError(f"WAV file is truncated: its header promises {promised} bytes of samples, {present} are there")
    try:
        with soundfile.SoundFile(io.BytesIO(data)) as file:
            frames = sum(len(block) for block in file.blocks(1 << 16, dtype="float32"))
            info = AudioInfo(file.samplerate, file.channels, frames / file.samplerate, file.subtype)
            declared = file.frames
    except (soundfile.SoundFileError, RuntimeError, ValueError) as error:
        raise ValueError(f"WAV file of {len(data)} bytes cannot be decoded: {error}") from error
    if frames == 0:
        raise ValueError("WAV file is empty: it holds no samples")
    if frames != declared:
        raise ValueError(f"WAV file is truncated: its header promises {declared} frames, {frames} can be decoded")
    return info


def _wav_header(size: int) -> bytes:
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, SAMPLE_RATE, 2 * SAMPLE_RATE, 2, 16)
    return struct.pack("<4sI4s", b"RIFF", 36 + size, b"WAVE") + form + struct.pack("<4sI", b"data", size)


def _mix(midi: bytes, soundfont: Path, length: int | None) -> Samples:
    """Add up all notes; at most `length` samples."""
    score = load_score(midi)
    limit = round(MAX_SECONDS * SAMPLE_RATE) if length is None else length
    parts: list[tuple[int, Samples]] = []
    for track in score.to("second").tracks:
        zones = instrument(soundfont, track.program, track.is_drum)
        for note in track.notes:
            onset = round(note.time * SAMPLE_RATE)
            if length is None and onset + round(note.duration * SAMPLE_RATE) > limit:
                raise ValueError(f"MIDI lasts more than {MAX_SECONDS:g} s, which is the longest that is rendered")
            for zone in zones:
                if zone.covers(note.pitch, note.velocity) and onset < limit:
                    held = max(1, round(note.duration * SAMPLE_RATE))
                    parts.append((onset, play_note(zone, note.pitch, note.velocity, held, limit - onset)))
    if not parts:
        raise ValueError("MIDI holds no notes that the SoundFont can play within the time; there is nothing to render")
    end = max(onset + len(sound) for onset, sound in parts)
    mix = np.zeros(end, dtype=np.float32)
    for onset, sound in parts:
        mix[onset : onset + len(sound)] += sound
    if end == length:
        fade = min(round(FADE_SECONDS * SAMPLE_RATE), end)
        mix[end - fade :] *= np.linspace(1, 0, fade, dtype=np.float32)
    return mix
