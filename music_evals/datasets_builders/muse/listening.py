"""Do MUSE's recordings sound as they are keyed? Each check says what sounds otherwise, or None.

A check speaks only where the sound is clear, and None also stands for sound that is not:

- a drum loop whose every slot is clearly a kick, a snare or neither (`notation.transcription.drum_strokes`);
- a chord whose arpeggio has the pitch classes of exactly one chord of the four qualities;
- two melodies that are alike by one transposition throughout (`_ALIKE`), or clearly not by any (`_UNLIKE`).

These thresholds part rendered pairs that are the same from those with a single interval changed.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

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

_EIGHTH: Final = 0.25  # seconds, at 120 quarters a minute
_ARPEGGIO: Final = tuple(2.5 + 0.5 * note for note in range(6))  # onsets in seconds

_ALIKE: Final = (0.7, 0.4)  # least likeness of the whole, and of its weakest quarter of a second
_UNLIKE: Final = (0.55, 0.2)  # at most the one or the other
_CLEAR: Final = 0.15  # least distance in likeness to the next best transposition


def check_loop(offbeats: int, wavs: Sequence[bytes]) -> str | None:
    """Count the kicks and snares of a loop on even slots."""
    strokes = drum_strokes(*read_samples(wavs[0]), _EIGHTH, SLOTS)
    if strokes is None:
        return None
    heard = sum(slot % 2 == 0 for drum in strokes for slot in drum)
    return None if heard == offbeats else f"keyed {offbeats} off-beats, sounds with {heard}"


def check_chord(root: str, quality: str, wavs: Sequence[bytes]) -> str | None:
    """Find the chord of the six notes of an arpeggio."""
    samples, rate = read_samples(wavs[0])
    if len(samples) < (_ARPEGGIO[-1] + 0.5) * rate:
        return None
    heard = {struck_pitch(samples, rate, onset) % 12 for onset in _ARPEGGIO}
    named = {
        f"{one} {kind}": {(_pitch_class(one) + i) % 12 for i in INTERVALS[kind]} for one in ROOTS for kind in INTERVALS
    }
    sounding = [chord for chord, pitch_classes in named.items() if pitch_classes == heard]
    keyed = f"{root} {quality}"
    return f"keyed {keyed}, sounds as {sounding[0]}" if sounding and sounding != [keyed] else None


def check_pair(keys: tuple[str, str] | None, wavs: Sequence[bytes]) -> str | None:
    """Compare two melodies; `keys` are those that the file names give to one melody, None to two melodies."""
    found = align(*(_melody(wav) for wav in wavs))
    if found is None:
        return None
    alike = found.likeness >= _ALIKE[0] and found.weakest >= _ALIKE[1]
    unlike = found.likeness <= _UNLIKE[0] or found.weakest <= _UNLIKE[1]
    if keys is None:
        return "keyed different, sounds the same" if alike else None
    if unlike:
        return "keyed the same, sounds different"
    named = [_pitch_class(key.removesuffix("m")) for key in keys]
    is_clear = alike and found.likeness - found.runner_up >= _CLEAR
    if not is_clear or (named[0] + found.semitones - named[1]) % 12 == 0:
        return None
    return f"named in {keys[0]} and {keys[1]}, the second sounds {found.semitones:+} semitones from the first"


@lru_cache(maxsize=4)
def _melody(wav: bytes) -> Samples:
    """Spectra of a melody; a pair shares melodies with the next."""
    return melody_spectra(*read_samples(wav))


def _pitch_class(root: str) -> int:
    return (8 + ROOTS.index(root)) % 12  # the list starts at A flat
