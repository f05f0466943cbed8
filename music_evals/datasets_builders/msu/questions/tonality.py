"""Recognition of keys and chords, only where they are certain."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, product
from typing import Any, NamedTuple

import numpy as np
from music21 import chord, key, pitch
from music21.analysis.discrete import KrumhanslSchmuckler

from music_evals.datasets_builders import read_table
from music_evals.datasets_builders.msu.questions.reading import Reading

QUALITIES = read_table("msu/questions/terms.toml")["chords"]
"""Quality → semitones of third, fifth and seventh above the root."""

INVERSIONS = ("Root position", "First inversion", "Second inversion", "Third inversion")
MEMBERS = ("Root", "Third", "Fifth", "Seventh")

_NUMERALS = {
    mode: {(semitones, quality): written for written, (semitones, quality) in numerals.items()}
    for mode, numerals in read_table("names/msu_numerals.toml").items()
}
_KEY_MARGIN = 0.08  # by which the best key must fit better than its relative
_Profiles: Any = KrumhanslSchmuckler  # music21 has no types for it


class PlainChord(NamedTuple):
    """A complete triad or seventh chord by its spelling, without other notes."""

    root: str
    root_pitch: pitch.Pitch
    quality: str  # one of `QUALITIES`
    pitches: Sequence[pitch.Pitch]  # from the lowest up
    members: Sequence[int]  # of the pitches: 0 root, 1 third, 2 fifth, 3 seventh

    @property
    def inversion(self) -> int:
        """0 in root position."""
        return self.members[0]

    @property
    def name(self) -> str:
        """Root and quality, such as ``F♯ minor triad``."""
        return f"{self.root} {self.quality}"


def plain_chord(pitches: Sequence[pitch.Pitch]) -> PlainChord | None:
    """The triad or seventh chord of notes, given from the lowest to the highest.

    None if a member is missing, if there is any other note, or if the spelling does not fit.

    >>> plain_chord([pitch.Pitch(name) for name in ("A3", "C#4", "F#4")]).name
    'F♯ minor triad'
    >>> plain_chord([pitch.Pitch(name) for name in ("C4", "D4", "G4")])
    """
    names = {note.name for note in pitches}
    if len(names) not in (3, 4):
        return None
    root = chord.Chord(sorted(names)).root()
    members = []
    intervals: dict[int, int] = {}
    for note in pitches:
        steps = (note.diatonicNoteNum - root.diatonicNoteNum) % 7
        if steps not in (0, 2, 4, 6):
            return None
        semitones = (note.pitchClass - root.pitchClass) % 12
        if intervals.setdefault(steps, semitones) != semitones:
            return None
        members.append(steps // 2)
    if intervals.get(0) != 0:
        return None
    shape = [intervals[steps] for steps in sorted(intervals) if steps]
    quality = next((name for name, semitones in QUALITIES.items() if semitones == shape), None)
    if quality is None:
        return None
    return PlainChord(_name(root), root, quality, pitches, members)


def numeral(triad: PlainChord, tonality: key.Key) -> str | None:
    """Roman numeral without inversion figures; None for chords outside the key or without a common
    numeral.
    """
    tonic = tonality.tonic
    above = (triad.root_pitch.pitchClass - tonic.pitchClass) % 12
    written = _NUMERALS[tonality.mode].get((above, triad.quality))
    if written is None:
        return None
    # Spelling and sound must give the same degree: D♯ is not the third of C minor.
    degree = ("i", "ii", "iii", "iv", "v", "vi", "vii").index(written.rstrip("°ø7").lower())
    steps = (triad.root_pitch.diatonicNoteNum - tonic.diatonicNoteNum) % 7
    return written if steps == degree else None


def key_name(tonality: key.Key) -> str:
    """Name of a key, such as ``F♯ minor``."""
    return f"{_name(tonality.tonic)} {tonality.mode}"


@lru_cache(maxsize=4)
def certain_key(reading: Reading) -> key.Key | None:
    """The key of the beginning, if signature, notes, bass and the mode in the file (if any) agree
    on it.

    None if there is a doubt, such as for modal pieces and for parts with different signatures.
    """
    fifths = reading.measures[0].fifths
    if not reading.is_harmonic or any(voice.cells[0].fifths != fifths for voice in reading.voices):
        return None
    indices = range(len(reading.measures))
    change = next((index for index in indices if reading.measures[index].fifths != fifths), None)
    tonality = _best_key(fifths, _durations(reading, change))
    modes = {sign.mode for sign in reading.source[key.Key] if sign.sharps == fifths}
    if tonality is None or (len(modes) == 1 and tonality.mode not in modes):
        return None
    # The bass begins on the tonic, or ends on it if the signature never changes.
    end = -1 if change is None else 0
    index = [index for index in indices if reading.onsets[index]][end]
    bass = reading.sounding(index, reading.onsets[index][end])[0]
    return tonality if bass.name == tonality.tonic.name else None


def _durations(reading: Reading, end: int | None) -> Any:
    """Quarter notes of each pitch class in the measures before an index; an array."""
    durations = np.zeros(12)
    cells = chain.from_iterable(voice.cells[:end] for voice in reading.voices)
    for event in chain.from_iterable(cell.notes for cell in cells):
        for note in event.pitches:
            durations[note.pitchClass] += float(event.length)
    return durations


def _best_key(fifths: int, durations: Any) -> key.Key | None:
    """The key of a signature, if it fits the notes best of all keys, and clearly better than its
    relative.
    """
    if not durations.std():
        return None
    profiles = _Profiles()
    fits = {
        (mode, tonic): float(
            np.corrcoef(durations, np.roll(profiles.getWeights(mode), tonic))[0, 1]
        )
        for mode, tonic in product(("major", "minor"), range(12))
    }

    def fit(tonality: key.Key) -> float:
        return fits[tonality.mode, tonality.tonic.pitchClass]

    signature = key.KeySignature(fifths)
    keys = [signature.asKey("major"), signature.asKey("minor")]
    best, relative = sorted(keys, key=fit, reverse=True)
    is_clear = fit(best) == max(fits.values()) and fit(best) - fit(relative) >= _KEY_MARGIN
    return best if is_clear else None


def _name(note: pitch.Pitch) -> str:
    return str(note.unicodeName).replace("♮", "")
