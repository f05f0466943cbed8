"""Clips of sound as a server takes them: checked by decoding, in WAV or MP3, bounded in length and
sample rate.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

MP3 = "MPEG_LAYER_III"
"""The encoding of MP3, as `soundfile` names it."""
MAX_RATE = 48_000  # Hz; above it a clip is resampled
_Format = Literal["wav", "mp3"]
_FORMATS: dict[str, _Format] = {"WAV": "wav", "WAVEX": "wav", "MP3": "mp3"}
_RATES = range(1000, 192_001)  # Hz
_MOST_SECONDS = 3600
_BLOCK = 1 << 16  # frames that are decoded at a time
_UNKNOWN_SIZE = (
    0x7FFF0000  # sizes from here on are what programs write that do not know the size yet
)


class Clip(NamedTuple):
    """A file of sound, and its format as the OpenAI API names it."""

    data: bytes
    format: _Format


def check_clip(data: bytes) -> None:
    """Decode a file of any format that libsndfile reads to its end.

    ValueError if the file cannot be decoded, holds no samples, or ends before its header says.
    """
    promised = int.from_bytes(data[4:8], "little") + 8
    # libsndfile shortens such a file in silence.
    if data[:4] == b"RIFF" and len(data) < promised < _UNKNOWN_SIZE:
        raise ValueError(f"it ends after {len(data)} of {promised} bytes")
    with _opened(data) as file:
        frames = 0
        while count := len(file.read(_BLOCK, dtype="float32")):
            frames += count
        if not frames:
            raise ValueError("it holds no samples")
        if frames < file.frames:
            raise ValueError(f"it ends after {frames} of {file.frames} frames")


def sendable_clip(data: bytes, seconds: float) -> Clip:
    """Return a clip as it can be sent: the same bytes if they are WAV or MP3, short enough, and at
    most `MAX_RATE`.

    Otherwise the clip becomes 16-bit WAV with the same channels: its first seconds, resampled only
    above `MAX_RATE`. ValueError if the file cannot be decoded.
    """
    import numpy as np

    with _opened(data) as file:
        kind, rate = _FORMATS.get(file.format), file.samplerate
        if kind and rate <= MAX_RATE and file.frames <= seconds * rate:
            return Clip(data, kind)
        samples = file.read(round(seconds * rate), dtype="float32", always_2d=True)
    if rate > MAX_RATE:
        from scipy.signal import resample_poly

        samples, rate = resample_poly(samples, MAX_RATE, rate), MAX_RATE
    return Clip(file_of(np.clip(samples, -1, 1), rate), "wav")


def file_of(samples: Any, rate: int, subtype: str = "PCM_16", **options: float) -> bytes:
    """Return samples as a file, WAV or MP3.

    Args:
        samples: from -1 to 1, or whole numbers of 16 bits; a column per channel.
        rate: samples per second.
        subtype: as `soundfile` names it, such as `MP3`.
        options: of `soundfile.write`.
    """
    import soundfile

    buffer = io.BytesIO()
    kind = "MP3" if subtype == MP3 else "WAV"
    soundfile.write(buffer, samples, rate, format=kind, subtype=subtype, **options)
    return buffer.getvalue()


@contextmanager
def _opened(data: bytes) -> Iterator[Any]:
    """Open a file; an error of the library within the block becomes a ValueError."""
    import soundfile

    try:
        with soundfile.SoundFile(io.BytesIO(data)) as file:
            if file.samplerate not in _RATES:
                accepted = f"{_RATES[0]:,} to {_RATES[-1]:,} Hz"
                raise ValueError(f"its sample rate is {file.samplerate:,} Hz; accepted: {accepted}")
            if file.frames > _MOST_SECONDS * file.samplerate:
                raise ValueError(f"it lasts over {_MOST_SECONDS:,} seconds, which is the most")
            yield file
    except (soundfile.SoundFileError, RuntimeError) as error:
        raise ValueError(f"it cannot be decoded: {str(error).rpartition('>: ')[2]}") from error
