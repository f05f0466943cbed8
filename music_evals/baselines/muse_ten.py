"""How the reader answers the ten tasks of The MUSE Benchmark: from the notes of the MIDI text in the prompt."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Final

from music_evals.baselines.asking import Request
from music_evals.notation.midi.files import FileNote, parse_midi_text

_MAJOR: Final = (0, 2, 4, 5, 7, 9, 11)
_GROUPS: Final = (3, 4, 5)
_KICK_AND_SNARE: Final = (36, 38)

Chord = tuple[int, frozenset[int]]  # pitch class of the bass, and of the notes above the bass in semitones


def read(request: Request) -> str:
    """Answer a question; ValueError if a stimulus is no MIDI text, or fits no option."""
    place = ANSWERS[request.keys["task"]](request.music)
    return request.worded(request.keys["answers"][place])


def _notes(text: str) -> list[FileNote]:
    return sorted(parse_midi_text(text).notes)


def _are_unequal(texts: Sequence[str]) -> int:
    """Compare onsets and pitches."""
    first, second = ([(note.onset, note.pitch) for note in _notes(text)] for text in texts)
    return int(first != second)


def _contour(texts: Sequence[str]) -> int:
    steps = [after.pitch - before.pitch for before, after in pairwise(_notes(texts[0]))]
    return {(True, False): 0, (False, True): 1, (True, True): 2, (False, False): 3}[steps[0] > 0, steps[-1] > 0]


def _instrument(texts: Sequence[str]) -> int:
    """Read the program, counted from 0: eight General MIDI programs are a family."""
    if any(note.is_drum for note in _notes(texts[0])):
        return 3
    program = re.search(r"program_change channel=\d+ program=(\d+)", texts[0])
    families = {0: 0, 3: 1, 4: 2}  # pianos, guitars, basses
    family = int(program[1]) // 8 if program else -1
    if family not in families:
        raise ValueError("the MIDI text names no program of a piano, guitar or bass")
    return families[family]


def _meter(texts: Sequence[str]) -> int:
    """Find the commonest distance between loud beats."""
    text = parse_midi_text(texts[0])
    middle = (max(note.velocity for note in text.notes) + min(note.velocity for note in text.notes)) / 2
    loud = [note.onset for note in sorted(text.notes) if note.velocity > middle]
    distances = Counter(round((after - before) / text.ticks_per_beat) for before, after in pairwise(loud))
    return _GROUPS.index(distances.most_common(1)[0][0])


def _key_modulation(texts: Sequence[str]) -> int:
    """Compare the major keys of both halves: those with the most notes, if equal with the last bass as tonic."""
    notes = _notes(texts[0])
    middle = max(note.onset + note.duration for note in notes) / 2

    def key(half: Sequence[FileNote]) -> int:
        last = [note.pitch for note in half if note.onset + note.duration >= half[-1].onset + half[-1].duration]
        scores = {
            tonic: (sum((note.pitch - tonic) % 12 in _MAJOR for note in half), tonic == min(last) % 12)
            for tonic in range(12)
        }
        return max(scores, key=lambda tonic: scores[tonic])

    first, second = (key([note for note in notes if (note.onset >= middle) == late]) for late in (False, True))
    return int(first == second)


def _progression(texts: Sequence[str]) -> int:
    """Compare qualities of chords, and intervals from each root to the next."""
    first, second = (_chords(_notes(text)) for text in texts)
    moves = [[(after[0] - before[0]) % 12 for before, after in pairwise(chords)] for chords in (first, second)]
    return int(moves[0] != moves[1] or [quality for _, quality in first] != [quality for _, quality in second])


def _are_other_melodies(texts: Sequence[str]) -> int:
    first, second = ([note.pitch for note in _notes(text)] for text in texts)
    return int({after - before for before, after in zip(first, second, strict=True)} != {second[0] - first[0]})


def _major_or_minor(texts: Sequence[str]) -> int:
    """Look for a major third above the bass."""
    pitches = {note.pitch for note in _notes(texts[0])}
    return int(4 not in {(pitch - min(pitches)) % 12 for pitch in pitches})


def _more_syncopated(texts: Sequence[str]) -> int:
    """Count strokes of kick and snare off the beat."""
    first, second = (
        sum(note.pitch in _KICK_AND_SNARE and note.onset % text.ticks_per_beat > 0 for note in text.notes)
        for text in map(parse_midi_text, texts)
    )
    return int(second > first)


def _chords(notes: Sequence[FileNote]) -> list[Chord]:
    """Chords in root position: the notes that end together."""
    chords = []
    for _, group in groupby(notes, key=lambda note: note.onset + note.duration):
        pitches = [note.pitch for note in group]
        bass = min(pitches)
        chords.append((bass % 12, frozenset((pitch - bass) % 12 for pitch in pitches)))
    return chords


ANSWERS: Final[Mapping[str, Callable[[Sequence[str]], int]]] = {
    "oddball": _are_unequal,
    "contour": _contour,
    "instrument": _instrument,
    "rhythm_matching": _are_unequal,
    "meter": _meter,
    "key_modulation": _key_modulation,
    "progression": _progression,
    "transposition_pairs": _are_other_melodies,
    "major_or_minor": _major_or_minor,
    "syncopation_pairs": _more_syncopated,
}
"""Task → the place of the right option, by the MIDI texts of a trial."""
