"""Checks whether MUSE's recordings sound like their published answers.

A check returns a description of the difference. It returns None if the answer fits, or if the sound
is not clear. These sounds are clear:

- a drum loop where every slot is a kick, a snare or neither (`transcription.drum_strokes`);
- a chord where the arpeggio has the pitch classes of exactly one chord of the four qualities;
- two melodies that are alike under one transposition (`_ALIKE`), or under no transposition
  (`_UNLIKE`).

These thresholds separate rendered pairs of the same melody from pairs with a single changed
interval.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, product

import numpy as np

from music_evals.datasets_builders.muse.chords import INTERVALS, ROOTS
from music_evals.datasets_builders.muse.drum_loops import SLOTS
from music_evals.notation.audio.transcription import (
    Samples,
    align,
    drum_strokes,
    melody_spectra,
    read_samples,
    struck_pitch,
)

_EIGHTH = 0.25  # seconds, at 120 quarters a minute
_ARPEGGIO = tuple(2.5 + 0.5 * note for note in range(6))  # onsets in seconds

# Least likeness of the melodies, and of their weakest quarter of a second.
_ALIKE = (
    0.7,
    0.4,
)
_UNLIKE = (0.55, 0.2)  # the same, at most one of the two
_EQUAL = 0.9  # least likeness of a quarter of a second to the same one
_RISE = 5  # least semitones of a contour
_BASS = (24, 41)  # pitches of a bass, whose fundamentals are not clear
_AUDIBLE = 1.8  # least peak of a spectrum in which a note sounds
CONTOURS = ("arch", "inverted arch", "ascending", "descending")
_CLEAR = 0.15  # least difference in likeness to the next best transposition


def check_loop(offbeats: int, wavs: Sequence[bytes]) -> str | None:
    """Count the kicks and snares of a loop on even slots."""
    heard = _count_offbeats(wavs[0])
    return None if heard in (None, offbeats) else f"keyed {offbeats} off-beats, sounds with {heard}"


def check_loops(first_has_more: bool, wavs: Sequence[bytes]) -> str | None:
    """Compare the off-beats of two loops."""
    first, second = map(_count_offbeats, wavs)
    if first is None or second is None:
        return None
    if first != second and (first > second) == first_has_more:
        return None
    more = "first" if first_has_more else "second"
    return f"keyed more off-beats in the {more}, sounds with {first} and {second}"


def check_contour(contour: str, wavs: Sequence[bytes]) -> str | None:
    """Find the turn of the lowest strong partials of a melody, above a bass; `contour` is one of
    `CONTOURS`.
    """
    spectra = melody_spectra(*read_samples(wavs[0]), lowest=_BASS[0])
    audible = [peaks for peaks in spectra.T if peaks.max() > _AUDIBLE]
    lines = [_BASS[0] + np.flatnonzero(peaks > 0.6 * peaks.max())[0] for peaks in audible]
    start, end = np.median(lines[:5]), np.median(lines[-10:])
    middles = [np.median(stretch) for stretch in np.array_split(lines, 9)]
    if min(middles, default=0) < _BASS[1]:
        return None
    arch, inverted = max(middles) - max(start, end), min(start, end) - min(middles)
    rises = dict(zip(CONTOURS, (arch, inverted, end - start, start - end), strict=True))
    heard = next((name for name, rise in rises.items() if rise >= _RISE), contour)
    return None if heard == contour else f"keyed {contour}, sounds {heard}"


def check_equal(is_same: bool, wavs: Sequence[bytes]) -> str | None:
    """Find out whether two clips sound the same, note by note."""
    alignment = align(*map(_melody, wavs))
    if alignment is None:
        return None
    sounds_same = alignment.semitones == 0 and alignment.weakest >= _EQUAL
    if sounds_same == is_same:
        return None
    return "keyed the same, sounds different" if is_same else "keyed different, sounds the same"


def check_chord(root: str, quality: str, wavs: Sequence[bytes]) -> str | None:
    """Find the chord of the six notes of an arpeggio."""
    samples, rate = read_samples(wavs[0])
    if len(samples) < (_ARPEGGIO[-1] + 0.5) * rate:
        return None
    heard = {struck_pitch(samples, rate, onset) % 12 for onset in _ARPEGGIO}
    keyed, sounding = f"{root} {quality}", []
    for name, (kind, tones) in product(ROOTS, INTERVALS.items()):
        if heard == {(_pitch_class(name) + tone) % 12 for tone in tones}:
            sounding.append(f"{name} {kind}")
    return f"keyed {keyed}, sounds as {sounding[0]}" if sounding and sounding != [keyed] else None


def check_pair(keys: tuple[str, str] | None, wavs: Sequence[bytes]) -> str | None:
    """Compare two melodies; `keys` are the keys of the same melody by the file names, None for
    different melodies.
    """
    alignment = align(*map(_melody, wavs))
    if alignment is None:
        return None
    likeness, weakest = alignment.likeness, alignment.weakest
    is_alike = likeness >= _ALIKE[0] and weakest >= _ALIKE[1]
    if keys is None:
        return "keyed different, sounds the same" if is_alike else None
    if likeness <= _UNLIKE[0] or weakest <= _UNLIKE[1]:
        return "keyed the same, sounds different"
    first, second = (_pitch_class(key.removesuffix("m")) for key in keys)
    is_clear = is_alike and likeness - alignment.runner_up >= _CLEAR
    if not is_clear or (first + alignment.semitones - second) % 12 == 0:
        return None
    return (
        f"named in {keys[0]} and {keys[1]}, the second sounds {alignment.semitones:+} semitones "
        "from the first"
    )


def _count_offbeats(wav: bytes) -> int | None:
    strokes = drum_strokes(*read_samples(wav), _EIGHTH, SLOTS)
    if strokes is None:
        return None
    return sum(slot % 2 == 0 for slot in chain.from_iterable(strokes))


@lru_cache(maxsize=4)
def _melody(wav: bytes) -> Samples:
    """Spectra of a melody; consecutive pairs share melodies."""
    return melody_spectra(*read_samples(wav))


def _pitch_class(root: str) -> int:
    return (8 + ROOTS.index(root)) % 12  # `ROOTS` starts at A flat
