"""Transcription of simple recordings: strokes of a drum loop, single notes, and the distance
between two melodies.

For audio of one instrument without noise, as tests of perception use it. Samples are mono with full
scale 1, times are in seconds, pitches are MIDI integers. The constants below were set on rendered
stimuli, whose notes are known.
"""

import io
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import soundfile

Samples = npt.NDArray[np.floating[Any]]

_KICK_BAND = (30, 120)  # Hz; only the bass drum is loud here
_SNARE_BAND = (150, 400)  # Hz; the body of a snare drum, below the hi-hat
_ATTACK = 0.08  # seconds of a stroke that are measured
_SILENCE = -60.0  # dB; a recording without any louder stroke has no drums
# dB below the loudest stroke of a band: less is silence, more a stroke.
_STROKE = (
    -18.0,
    -8.0,
)
# dB of the snare's band over the kick's: less is a kick alone, more a snare alone.
_SNARE = (
    -12.0,
    -2.0,
)

_NOTE_WINDOW = 16_384  # samples of a spectrum on either side of an onset
_WINDOW = 8192  # samples of a melody's spectra
_LOWEST, _HIGHEST = 36, 100  # range of notes

_HOP = 0.05  # seconds between two spectra of a melody
_LOUD = 0.2  # moments below this share of the melody's loudest note are not compared
_WIDEST = 14  # semitones
_SPAN = 5  # spectra that `Alignment.weakest` averages, a quarter of a second


class Alignment(NamedTuple):
    """The transposition that makes two melodies most alike; likeness is a cosine of spectra, 0 to
    1.
    """

    semitones: int  # from the first to the second, upward positive
    likeness: float  # of the complete melodies
    runner_up: float  # likeness at the next best transposition
    weakest: float  # likeness of the quarter of a second that fits least


def read_samples(wav: bytes) -> tuple[Samples, int]:
    """Decode a WAV file: the mean of its channels, and the sample rate."""
    samples, rate = soundfile.read(io.BytesIO(wav), dtype="float32", always_2d=True)
    return samples.mean(axis=1), rate


def drum_strokes(
    samples: Samples, rate: int, slot: float, n_slots: int
) -> tuple[list[int], list[int]] | None:
    """Find the slots, 1-based, of kick and snare in a loop on a grid; None if any slot is unclear.

    Args:
        samples: the loop from slot 1 on; a hi-hat may sound in it.
        rate: samples per second.
        slot: seconds from a slot to the next.
        n_slots: number of slots.
    """
    from scipy import signal

    starts = np.rint(np.arange(n_slots) * slot * rate).astype(int)
    length = round(_ATTACK * rate)
    if rate < 2.5 * _SNARE_BAND[1] or len(samples) < starts[-1] + length:
        return None
    levels = []
    for band in (_KICK_BAND, _SNARE_BAND):
        power = (
            signal.sosfilt(signal.butter(4, band, "bandpass", fs=rate, output="sos"), samples) ** 2
        )
        levels.append(
            10 * np.log10([power[start : start + length].mean() + 1e-12 for start in starts])
        )
    low, middle = levels
    if not np.max(levels) > _SILENCE:
        return None
    loud = np.maximum(low - low.max(), middle - middle.max())
    struck = loud > _STROKE[1]
    tilt = (middle - low)[struck]
    if (~struck & (loud > _STROKE[0])).any() or ((tilt > _SNARE[0]) & (tilt < _SNARE[1])).any():
        return None
    slots = np.flatnonzero(struck) + 1
    return slots[tilt <= _SNARE[0]].tolist(), slots[tilt >= _SNARE[1]].tolist()


def struck_pitch(samples: Samples, rate: int, onset: float) -> int:
    """Find the pitch of the note that begins at `onset` while others may still sound; its octave
    may be wrong.
    """
    from scipy import signal

    start, gap = round(onset * rate), round(0.01 * rate)
    window = signal.get_window("hann", _NOTE_WINDOW)

    def magnitudes(first: int) -> Samples:
        excerpt = samples[max(first, 0) : max(first + _NOTE_WINDOW, 0)]
        return np.abs(np.fft.rfft(excerpt * window[: len(excerpt)], _NOTE_WINDOW))

    rise = magnitudes(start + gap) - magnitudes(start - gap - _NOTE_WINDOW)
    rise = np.sqrt(np.maximum(rise, 0))
    pitches = np.arange(_LOWEST, 90)
    salience = np.zeros(len(pitches))
    for harmonic in range(1, 9):
        place = _frequency(pitches) * harmonic * _NOTE_WINDOW / rate
        # A third of a semitone down and up.
        ends = np.stack(
            [np.floor(place * 2 ** (-1 / 36)), np.ceil(place * 2 ** (1 / 36)) + 1], axis=1
        ).astype(int)
        loudest = np.maximum.reduceat(rise, np.minimum(ends.ravel(), len(rise) - 1))[::2]
        salience += 0.8 ** (harmonic - 1) * loudest
    return int(pitches[salience.argmax()])


def melody_spectra(samples: Samples, rate: int, lowest: int = _LOWEST) -> Samples:
    """Spectra of a melody from its first note on, shape (semitones, times): only peaks, on a
    compressed scale.

    `lowest` is the lowest semitone.
    """
    from scipy import signal

    hop = round(_HOP * rate)
    samples = np.pad(samples, (0, max(0, _WINDOW - len(samples))))
    frequencies, _, transform = signal.stft(samples, rate, nperseg=_WINDOW, noverlap=_WINDOW - hop)
    edges = np.searchsorted(frequencies, _frequency(np.arange(lowest, _HIGHEST + 2) - 0.5))
    notes = np.maximum.reduceat(np.abs(transform), np.minimum(edges, len(frequencies) - 1), axis=0)[
        :-1
    ]
    loudest = notes.max(axis=0)
    notes = notes[:, np.argmax(loudest > loudest.max() / 10) :]
    padded = np.pad(notes, ((1, 1), (0, 0)))
    is_peak = (notes >= padded[:-2]) & (notes >= padded[2:])
    return np.where(is_peak, np.log1p(100 * notes / max(notes.max(), 1e-9)), 0)


def align(first: Samples, second: Samples) -> Alignment | None:
    """Compare two melodies' spectra at every transposition; None if they share less than a second.

    Both begin with their first note, and the tempo is kept. The end of the longer melody is left
    out.
    """
    n_times = min(first.shape[1], second.shape[1])
    threshold = np.log1p(100 * _LOUD)
    loud = (first[:, :n_times].max(axis=0) > threshold) & (
        second[:, :n_times].max(axis=0) > threshold
    )
    if loud.sum() * _HOP < 1:
        return None
    first, second = first[:, :n_times][:, loud], second[:, :n_times][:, loud]
    # Transposition → likeness of the complete melodies, and of the weakest stretch.
    likeness: dict[int, tuple[float, float]] = {}
    for shift in range(-_WIDEST, _WIDEST + 1):
        lower = first[max(0, -shift) : len(first) - max(0, shift)]
        upper = second[max(0, shift) : len(second) - max(0, -shift)]
        pairs = ((lower, upper), (lower, lower), (upper, upper))
        products = [(a * b).sum(axis=0) for a, b in pairs]
        total, *powers = (product.sum() for product in products)
        stretch, *norms = (np.convolve(product, np.ones(_SPAN), "valid") for product in products)
        weakest = (stretch / np.sqrt(np.maximum(norms[0] * norms[1], 1e-9))).min()
        mean = total / np.sqrt(max(powers[0] * powers[1], 1e-9))
        likeness[shift] = (float(mean), float(weakest))
    best, runner_up = sorted(likeness, key=likeness.__getitem__, reverse=True)[:2]
    return Alignment(best, likeness[best][0], likeness[runner_up][0], likeness[best][1])


def _frequency(pitch: npt.NDArray[Any]) -> npt.NDArray[Any]:
    frequency: npt.NDArray[Any] = 440 * 2 ** ((pitch - 69) / 12)
    return frequency
