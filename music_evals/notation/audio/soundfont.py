"""A sampler for single notes of a SoundFont 2 file, in NumPy.

No library that installs with pip alone plays SoundFonts correctly. FluidSynth and the bindings of
TinySoundFont need system libraries. The synthesizer of symusic (0.5.8) ignores velocities, root
keys and tuning: its middle C on a piano sounds 20 semitones high with the default SoundFont.

The sampler implements what General MIDI instruments need of SoundFont 2.04: key and velocity zones,
tuning, loops, attenuation, the volume envelope, and the low-pass filter with its envelope. It
leaves out LFOs, pitch envelopes, exclusive classes, modulators, reverb, chorus, stereo and MIDI
controllers.
"""

import importlib.util
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

SAMPLE_RATE = 44_100  # sample rate of rendered audio in Hz

Samples = npt.NDArray[np.float32]  # a mono signal, shape (n,), full scale being 1

_Loop = tuple[int, int] | None  # first sample, and the one behind the last
_Generators = dict[int, int]  # number of a generator → value
_Signal = npt.NDArray[np.floating[Any]]
_Signals = list[_Signal]

# Voices are computed in whole blocks: a short voice then equals the beginning of a long one to the
# last bit.
_BLOCK = 1 << 14
_SILENCE_DB = 100.0  # the range over which SoundFont envelopes run
_FINAL_DB = 70.0  # a released voice ends this far below its level


def default_soundfont() -> Path:
    """Find the SoundFont that ships inside the `pretty_midi` package (TimGM6mb, General MIDI, 6
    MB).
    """
    spec = importlib.util.find_spec("pretty_midi")  # much faster than importing it
    path = Path(spec.origin).with_name("TimGM6mb.sf2") if spec and spec.origin else None
    if path is None or not path.is_file():
        raise FileNotFoundError(
            "the default SoundFont TimGM6mb.sf2 is not in the pretty_midi package; "
            "run `pip install --force-reinstall pretty_midi`, or name a .sf2 file as soundfont"
        )
    return path


def play_note(zone: "Zone", pitch: int, velocity: int, pressed: int, limit: int) -> Samples:
    """Play a note whose key is down for `pressed` samples, with its release; at most `limit`
    samples in all.
    """
    # The release falls by 100 dB in the release time, evenly in dB.
    tail = max(1, round(_FINAL_DB / _SILENCE_DB * _seconds(zone.generator(38)) * SAMPLE_RATE))
    wanted = min(pressed + tail, limit)
    # Rounded up to a power of two and at least 1.5 s, so that notes of similar length share one
    # voice.
    blocks = max(4, 1 << (-(-wanted // _BLOCK) - 1).bit_length())
    voice = _voice(zone, pitch, blocks)[:wanted]
    # SoundFont 2.04, section 8.4.1: a concave curve of velocity, which is 40 dB per decade.
    sound = voice * np.float32((velocity / 127) ** 2)
    if len(sound) > pressed:
        sound[pressed:] *= _release(tail)[: len(sound) - pressed]
    return sound


@lru_cache(maxsize=64)
def _release(tail: int) -> Samples:
    return np.power(10.0, -_FINAL_DB / 20 * np.arange(tail) / tail).astype(np.float32)


@lru_cache(maxsize=160)
def _voice(zone: "Zone", pitch: int, blocks: int) -> Samples:
    """The sound of a key that is held, with filter and volume envelope, before velocity and
    release.
    """
    size = blocks * _BLOCK
    semitones = (
        (pitch - zone.root) * zone.generator(56) / 100 + zone.generator(51) + zone.tuning / 100
    )
    # Samples of the source per rendered sample.
    step = float(zone.sample_rate / SAMPLE_RATE * 2 ** (semitones / 12))
    # Non-looping samples end by themselves.
    if zone.loop is None:
        size = min(size, -(-int(len(zone.samples) / step) // _BLOCK) * _BLOCK or _BLOCK)
    time = (np.arange(size) / SAMPLE_RATE).astype(np.float32)
    sources, loop = _filtered(zone, step)
    sound, *dark = _interpolate(sources, size, step, loop)
    if dark:
        # The filter moves with the modulation envelope. A cross-fade between its extremes is close
        # and much faster.
        sound += (1 - _envelope(zone, time, pitch)) * (dark[0] - sound)
    decibels = _envelope_decibels(zone, time, pitch) + np.float32(0.04 * zone.generator(48))
    # Processors differ in the last digit of exp and log10. In double precision that digit is
    # rounded away.
    sound *= np.exp(decibels.astype(np.float64) * (-np.log(10) / 20)).astype(np.float32)
    return np.ascontiguousarray(sound, dtype=np.float32)


def _interpolate(sources: _Signals, size: int, step: float, loop: _Loop) -> _Signals:
    """Resample signals of one length at every `step`, repeating their loop; cubic Hermite
    interpolation.
    """
    position = np.arange(size) * step
    index = position.astype(np.intp)
    fraction = (position - index).astype(np.float32)
    loop_start, end = loop or (0, len(sources[0]))
    # Positions ascend, so those past the end are one slice.
    beyond = int(np.searchsorted(index, end))
    if loop is None:
        index[beyond:] = end + 1
    else:
        index[beyond:] = loop_start + (index[beyond:] - loop_start) % (end - loop_start)
    results: _Signals = []
    for source in sources:
        # Coefficients are computed once per source sample. The signal is zero before its start and
        # after its end.
        points = np.concatenate([np.zeros(1), source, np.zeros(4)]).astype(np.float32)
        a, b, c, d = points[:-3], points[1:-2], points[2:-1], points[3:]
        slope, next_slope = (c - a) / 2, (d - b) / 2
        cubic, square = 2 * (b - c) + slope + next_slope, 3 * (c - b) - 2 * slope - next_slope
        sound = cubic[index]
        for coefficient in (square, slope, b):
            sound *= fraction
            sound += coefficient[index]
        results.append(sound)
    return results


def _filtered(zone: "Zone", step: float) -> tuple[_Signals, _Loop]:
    """The sample, low-pass filtered as at the peak and (if different) as at rest of the envelope;
    and its loop.
    """
    source, loop = zone.samples.astype(np.float64) / 32768, zone.loop
    if loop is not None:
        start, end = loop
        # Unroll the loop until the filter has settled, and loop there.
        length = end - start
        rounds = -(-4096 // length) + 1
        source = np.concatenate([source[:end], np.tile(source[start:end], rounds + 2)])
        loop = (end + (rounds - 1) * length, end + rounds * length)
    rest = min(zone.generator(8), 13_500)
    peak = min(max(rest + zone.generator(11), 1500), 13_500)
    # The transform wraps around at the end: leave room there.
    size = 1 << (len(source) + 4096).bit_length()
    spectrum = np.fft.rfft(source, size)
    frequency = np.arange(len(spectrum)) / size * SAMPLE_RATE * step  # as heard, in Hz
    results: _Signals = []
    for cents in dict.fromkeys((peak, rest)):
        if cents >= 13_500:
            results.append(source)
            continue
        # Two poles with the resonance of the zone, at a cutoff in cents above 8.176 Hz.
        s = 1j * frequency / (8.176 * 2 ** (cents / 1200))
        damping = 10 ** (-(zone.generator(9) / 10 - 3.01) / 20)
        results.append(np.fft.irfft(spectrum / (1 + damping * s + s * s), size)[: len(source)])
    return results, loop


def _seconds(timecents: int) -> float:
    return float(2 ** (max(timecents, -12_000) / 1200))


def _envelope_times(zone: "Zone", first: int, pitch: int) -> list[float]:
    """Delay, attack, hold and decay in seconds of the envelope whose generators start at
    `first`.
    """
    times = [zone.generator(number) for number in range(first, first + 4)]
    for place in (2, 3):  # hold and decay depend on the key
        times[place] += (60 - pitch) * zone.generator(first + place + 4)
    return list(map(_seconds, times))


def _envelope(zone: "Zone", time: _Signal, pitch: int) -> _Signal:
    """The modulation envelope of a held key, 0 to 1 (linear)."""
    delay, attack, hold, decay = _envelope_times(zone, 25, pitch)
    sustain = 1 - min(max(zone.generator(29), 0), 1000) / 1000
    fallen = 1 - (time - delay - attack - hold) / decay
    return np.asarray(
        np.minimum(np.clip((time - delay) / attack, 0, 1), np.clip(fallen, sustain, 1))
    )


def _envelope_decibels(zone: "Zone", time: _Signal, pitch: int) -> _Signal:
    """The volume envelope of a held key, in dB of attenuation."""
    delay, attack, hold, decay = _envelope_times(zone, 33, pitch)
    sustain = min(max(zone.generator(37), 0), 1440) / 10
    decibels: _Signal = np.clip(
        (time - (delay + attack + hold)) * (_SILENCE_DB / decay), 0, sustain
    )
    # The attack is linear in amplitude and short: only its samples need a logarithm.
    rising = int(np.searchsorted(time, delay + attack))
    attacked = np.clip((time[:rising].astype(np.float64) - delay) / attack, 1e-5, 1)
    decibels[:rising] -= (20 * np.log10(attacked)).astype(np.float32)
    return decibels


# Defaults of SoundFont 2.04, section 8.1.3, for the generators that are used; all others are 0.
_DEFAULTS: _Generators = {8: 13_500, 56: 100} | dict.fromkeys(
    (*range(25, 29), 30, *range(33, 37), 38), -12_000
)
# Generators of a preset that are added to those of the instrument.
_ADDED = {8, 9, 11, *range(25, 41), 48, 51, 52, 56}
_FULL_RANGE = 127 << 8


@dataclass(frozen=True, slots=True, eq=False)
class Zone:
    """A sample and how it is played for a range of keys and velocities; compared by identity, as a
    cache's key.
    """

    keys: range
    velocities: range
    generators: _Generators
    samples: npt.NDArray[np.int16]
    loop: _Loop
    sample_rate: int
    root: int
    tuning: int  # cents

    def covers(self, pitch: int, velocity: int) -> bool:
        """Return whether a note of this pitch and velocity sounds in the zone."""
        return pitch in self.keys and velocity in self.velocities

    def generator(self, number: int) -> int:
        """Return the value of a SoundFont generator."""
        return self.generators.get(number, 0)


@lru_cache(maxsize=256)
def instrument(soundfont: Path, program: int, is_drum: bool) -> tuple[Zone, ...]:
    """Load the zones of a General MIDI program of a SoundFont 2 file; program 0 if the file lacks
    the program.

    FileNotFoundError if there is no such file; ValueError if it is no SoundFont, or lacks program 0
    as well.
    """
    bank = _load(soundfont)
    place = (128 if is_drum else 0, program)
    if place not in bank.presets:
        place = (place[0], 0)
    if place not in bank.presets:
        raise ValueError(
            f"SoundFont {soundfont} has no program {program}{' for drums' if is_drum else ''}, nor "
            "program 0"
        )
    return bank.zones(bank.presets[place])


@lru_cache(maxsize=4)
def _load(soundfont: Path) -> "_Bank":
    if not soundfont.is_file():
        raise FileNotFoundError(
            f"SoundFont {soundfont} does not exist; accepted is a SoundFont 2 (.sf2) file"
        )
    try:
        return _Bank(soundfont.read_bytes())
    except (struct.error, KeyError, IndexError, ValueError) as error:
        raise ValueError(
            f"SoundFont {soundfont} cannot be read ({error}); accepted is a SoundFont 2 (.sf2) file"
        ) from error


def _riff_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Name and content of every chunk of a RIFF file, including chunks within lists."""
    start = 12
    while start + 8 <= len(data):
        name, size = struct.unpack_from("<4sI", data, start)
        if name == b"LIST":  # step inside
            start += 12
            continue
        yield name, data[start + 8 : start + 8 + size]
        start += 8 + size + size % 2


class _Bank:
    """The tables of a SoundFont file."""

    def __init__(self, data: bytes) -> None:
        if data[:4] != b"RIFF" or data[8:12] != b"sfbk":
            raise ValueError("it does not start with RIFF/sfbk")
        chunks = dict(_riff_chunks(data))
        self._samples = np.frombuffer(chunks[b"smpl"], dtype="<i2")
        self._sample_heads = _records(chunks[b"shdr"], "<20sIIIIIBbHH")
        presets = _records(chunks[b"phdr"], "<20sHHHIII")
        self.presets = {(head[2], head[1]): index for index, head in enumerate(presets[:-1])}
        instruments = _records(chunks[b"inst"], "<20sH")
        first_bags = {
            b"p": [head[3] for head in presets],
            b"i": [head[1] for head in instruments],
        }
        self._tables = {
            level: (
                bags,
                _records(chunks[level + b"bag"], "<HH"),
                _records(chunks[level + b"gen"], "<Hh"),
            )
            for level, bags in first_bags.items()
        }

    def zones(self, preset: int) -> tuple[Zone, ...]:
        """All zones of a preset, with their generators added up."""
        zones = []
        for outer in self._levels(b"p", preset, 41):
            zones += [self._zone(outer, inner) for inner in self._levels(b"i", outer[41], 53)]
        return tuple(zones)

    def _levels(self, level: bytes, index: int, target: int) -> list[_Generators]:
        """Generators of the zones of a preset or instrument that name a `target`; a first zone
        without one has defaults.
        """
        common: _Generators = {}
        levels = []
        first_bags, bags, generators = self._tables[level]
        first, last = first_bags[index : index + 2]
        for bag in range(first, last):
            zone = dict(generators[bags[bag][0] : bags[bag + 1][0]])
            if target in zone:
                levels.append(common | zone)
            elif bag == first:
                common = zone
        return levels

    def _zone(self, outer: _Generators, inner: _Generators) -> Zone:
        head = self._sample_heads[inner[53]]
        rate, root, correction = head[5:8]
        # Generators move them: one by samples, another by 32,768 samples.
        start, end, loop_start, loop_end = (
            head[1 + fine] + inner.get(fine, 0) + 32_768 * inner.get(coarse, 0)
            for fine, coarse in enumerate((4, 12, 45, 50))
        )
        is_looped = inner.get(54, 0) in (1, 3) and start <= loop_start < loop_end <= end
        generators = _DEFAULTS | inner
        for number in _ADDED & outer.keys():
            generators[number] = generators.get(number, 0) + outer[number]
        return Zone(
            keys=_overlap(outer, inner, 43),
            velocities=_overlap(outer, inner, 44),
            generators=generators,
            samples=self._samples[start:end],
            loop=(loop_start - start, loop_end - start) if is_looped else None,
            sample_rate=rate,
            root=inner.get(58, root),
            tuning=generators.get(52, 0) + correction,
        )


def _records(data: bytes, layout: str) -> list[tuple[Any, ...]]:
    return list(struct.iter_unpack(layout, data))


def _overlap(outer: _Generators, inner: _Generators, number: int) -> range:
    """The overlap of ranges that are packed as low and high byte; a missing range is full."""
    first, second = (zone.get(number, _FULL_RANGE) for zone in (outer, inner))
    low, high = max(first & 0xFF, second & 0xFF), min(first >> 8 & 0xFF, second >> 8 & 0xFF)
    return range(low, high + 1)
