"""Level 3: chords and keys (section 3.1 of the paper: chord and harmony)."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from random import Random
from typing import Any, Final

from music21 import key, pitch

from music_evals.datasets_builders.msu.questions.kind import (
    PLACES,
    Answers,
    Cases,
    Kind,
    cells,
    evenly,
    sampled,
    varied,
)
from music_evals.datasets_builders.msu.questions.reading import Cell, Reading, Voice, spell
from music_evals.datasets_builders.msu.questions.tonality import (
    INVERSIONS,
    MEMBERS,
    PlainChord,
    certain_key,
    key_name,
    numeral,
    plain_chord,
)

# Most measures that a kind tries: chords take longer to find than notes.
_PLACES: Final = 120
_PEDAL_SPAN: Final = 2
_PROGRESSION_SPAN: Final = 2


def _indices(reading: Reading, rng: Random, reach: int = 1) -> list[int]:
    """Measures at which `reach` clear measures begin, in random order; none if the score has
    unpitched parts.
    """
    size = len(reading.measures) - reach + 1
    if not reading.is_harmonic or size < 1:
        return []
    drawn = sampled(size, rng, _PLACES)
    clear = [
        all(voice.cells[index].is_clear for voice in reading.voices)
        for index in range(len(reading.measures))
    ]
    return [index for index in drawn if all(clear[index : index + reach])]


def _chords(reading: Reading, rng: Random) -> Iterator[tuple[int, PlainChord]]:
    """Full measures that begin with a plain chord."""
    for index in _indices(reading, rng):
        if chord := _first_chord(reading, index):
            yield index, chord


@lru_cache(maxsize=4 * PLACES)
def _first_chord(reading: Reading, index: int) -> PlainChord | None:
    # Some part must begin a note there: a chord that is only held is not on the beat.
    is_full = reading.measures[index].length == reading.measures[index].full
    return (
        plain_chord(reading.sounding(index, Fraction(0)))
        if is_full and reading.onsets[index][:1] == [0]
        else None
    )


def _moments(reading: Reading, index: int, count: int = 1) -> list[tuple[pitch.Pitch, ...]]:
    """The pitches that sound at the onsets of measures."""
    return [
        reading.sounding(at, start)
        for at in range(index, index + count)
        for start in reading.onsets[at]
    ]


# --- a chord ---


def _chord_name(reading: Reading, rng: Random) -> Answers:
    for index, chord in _chords(reading, rng):
        yield chord.name, reading.where(index)


def _quality(reading: Reading, rng: Random) -> Answers:
    # Most chords are major triads: the quality is drawn before the place.
    for index, quality in varied(
        [(index, chord.quality) for index, chord in _chords(reading, rng)], rng
    ):
        yield quality.capitalize(), reading.where(index)


def _inversion(reading: Reading, rng: Random) -> Answers:
    chords = [
        (index, chord.inversion)
        for index, chord in _chords(reading, rng)
        if "augmented" not in chord.quality
    ]
    for index, inversion in varied(chords, rng):
        yield INVERSIONS[inversion], reading.where(index)


def _doubled(reading: Reading, rng: Random) -> Answers:
    for index, chord in _chords(reading, rng):
        doubled = [
            member for member in sorted(set(chord.members)) if chord.members.count(member) > 1
        ]
        if len(doubled) == 1 and not any(voice.cells[index].has_unison for voice in reading.voices):
            yield MEMBERS[doubled[0]], reading.where(index)


def _is_close(reading: Reading, rng: Random) -> Cases:
    for index, chord in _chords(reading, rng):
        pitches = reading.sounding(index, Fraction(0))
        if len(pitches) == 4 and all(voice.cells[index].is_at_pitch for voice in reading.voices):
            yield pitches[3].ps - pitches[1].ps < 12, reading.where(index), chord.name


def _bass_note(reading: Reading, rng: Random) -> Answers:
    if len(reading.voices) < 2:
        return
    for index, chord in _chords(reading, rng):
        if all(voice.cells[index].is_at_pitch for voice in reading.voices):
            yield (
                spell(reading.sounding(index, Fraction(0))[0]),
                reading.where(index),
                chord.quality,
            )


def _is_seventh(reading: Reading, rng: Random) -> Cases:
    for index, chord in _chords(reading, rng):
        yield "seventh" in chord.quality, reading.where(index)


def _has_chord(reading: Reading, rng: Random) -> Cases:
    """Whether a triad of the score sounds in a measure."""
    moments = {index: _moments(reading, index) for index in _indices(reading, rng)[: _PLACES // 3]}
    triads: dict[str, set[str]] = {}  # name → names of its notes
    sounding: dict[int, set[str]] = {}  # index of a measure → names of its triads
    for index, chords in moments.items():
        plain = [
            (chord, pitches)
            for pitches in chords
            if (chord := plain_chord(pitches)) and "triad" in chord.quality
        ]
        sounding[index] = {chord.name for chord, _ in plain}
        triads |= {chord.name: {note.name for note in pitches} for chord, pitches in plain}
    if not triads:
        return
    name = rng.choice(sorted(triads))
    for index, names in sounding.items():
        # "No" is certain only if the measure lacks one of the three notes: otherwise they can be a
        # broken chord.
        is_absent = moments[index] and not triads[name] <= {
            note.name for moment in moments[index] for note in moment
        }
        if name in names or is_absent:
            yield name in names, reading.where(index), name


def _triads_of_measures(
    reading: Reading, rng: Random, most: int = PLACES
) -> Iterator[tuple[int, Voice, Cell, PlainChord | None]]:
    """Measures of a part, and the triad of all their notes if they form one."""
    for index, voice, cell in cells(reading, rng)[:most]:
        if voice.is_pitched and cell.is_clear and not cell.has_grace:
            chord = plain_chord(sorted(cell.pitches, key=lambda note: note.ps))
            yield index, voice, cell, chord if chord and "triad" in chord.quality else None


def _is_broken_chord(reading: Reading, rng: Random) -> Cases:
    for index, voice, cell, triad in _triads_of_measures(reading, rng, _PLACES):
        if triad or len({note.name for note in cell.pitches}) > 2:
            yield triad is not None, reading.where(index, voice)


def _broken_triad(reading: Reading, rng: Random) -> Answers:
    for index, voice, _, triad in _triads_of_measures(reading, rng):
        if triad:
            yield triad.name, reading.where(index, voice)


# --- a chord in its key ---


def _in_key(
    draw: Callable[[Reading, Random, key.Key], Iterator[Any]],
) -> Callable[[Reading, Random], Any]:
    """Ask only if the key is certain."""

    def draw_in_key(reading: Reading, rng: Random) -> Iterator[Any]:
        if tonality := certain_key(reading):
            yield from draw(reading, rng, tonality)

    return draw_in_key


def _numeral(reading: Reading, rng: Random, tonality: key.Key) -> Answers:
    degrees = [
        (index, degree)
        for index, chord in _chords(reading, rng)
        if reading.measures[index].fifths == reading.measures[0].fifths
        and (degree := numeral(chord, tonality))
    ]
    for index, degree in varied(degrees, rng):
        yield degree, reading.where(index), key_name(tonality)


def _is_tonic(reading: Reading, rng: Random, tonality: key.Key) -> Cases:
    for index, chord in _chords(reading, rng):
        is_on_tonic = chord.root_pitch.name == tonality.tonic.name
        # A tonic of the other mode, or with a seventh, is uncertain.
        if not is_on_tonic or chord.quality == f"{tonality.mode} triad":
            yield is_on_tonic, reading.where(index), key_name(tonality)


def _is_dominant_tonic(reading: Reading, rng: Random, tonality: key.Key) -> Cases:
    for index in _indices(reading, rng, _PROGRESSION_SPAN)[: _PLACES // 3]:
        moments = _moments(reading, index, _PROGRESSION_SPAN)
        if len(moments) < 2:
            continue
        is_present = any(_resolves(a, b, tonality) for a, b in pairwise(map(plain_chord, moments)))
        # A bass with the tonic after the dominant can look like a cadence, despite the other parts.
        bass = [pitches[0].name for pitches in moments]
        dominant, tonic = tonality.pitchFromDegree(5).name, tonality.tonic.name
        if is_present or dominant not in bass or tonic not in bass[bass.index(dominant) :]:
            yield is_present, reading.span(index, _PROGRESSION_SPAN), key_name(tonality)


def _resolves(a: PlainChord | None, b: PlainChord | None, tonality: key.Key) -> bool:
    if not a or not b or a.inversion or b.inversion:
        return False
    return numeral(a, tonality) in ("V", "V7") and numeral(b, tonality) in ("I", "i")


def _cadence(reading: Reading, rng: Random, tonality: key.Key) -> Answers:
    if reading.measures[-1].fifths != reading.measures[0].fifths or len(reading.voices) < 2:
        return
    begin = max(len(reading.measures) - 3, 0)
    chords: list[PlainChord] = []  # from the last one backwards
    for moment in reversed(_moments(reading, begin, len(reading.measures) - begin)):
        chord = plain_chord(moment)
        if chord is None or len(chords) == 3:
            break
        if not chords or (chord.root, chord.quality) != (chords[-1].root, chords[-1].quality):
            chords.append(chord)
    if len(chords) < 2:
        return
    last, before = chords[0], chords[1]
    tonic, dominant, subdominant = (tonality.pitchFromDegree(degree).name for degree in (1, 5, 4))
    # A subdominant after the dominant can be an ornament of an authentic cadence.
    if before.root_pitch.name == subdominant and (
        len(chords) < 3 or chords[2].root_pitch.name == dominant
    ):
        return
    if before.inversion or last.inversion or "triad" not in last.quality:
        return
    moves = {(dominant, tonic): "Authentic cadence", (subdominant, tonic): "Plagal cadence"}
    if name := moves.get((before.root_pitch.name, last.root_pitch.name)):
        yield name, key_name(tonality)


def _is_pedal(reading: Reading, rng: Random) -> Cases:
    if len(reading.voices) < 2:
        return
    for index in _indices(reading, rng, _PEDAL_SPAN):
        moments = [
            [note.nameWithOctave for note in moment]
            for moment in _moments(reading, index, _PEDAL_SPAN)
        ]
        bass = [names[0] for names in moments]
        if len(bass) < 4 or len({tuple(names[1:]) for names in moments}) < 3:
            continue
        if len(set(bass)) == 1 or len({name[:-1] for name in bass}) > 2:
            yield len(set(bass)) == 1, reading.span(index, _PEDAL_SPAN)


def _bass_degree(reading: Reading, rng: Random, tonality: key.Key) -> Answers:
    degrees = {tonality.pitchFromDegree(degree).name: degree for degree in range(1, 8)}
    bass = []
    for index in _indices(reading, rng):
        pitches = reading.sounding(index, Fraction(0))
        if (
            pitches
            and pitches[0].name in degrees
            and reading.measures[index].fifths == reading.measures[0].fifths
        ):
            bass.append((index, degrees[pitches[0].name]))
    wording = "lowest note that sounds at" if len(reading.voices) > 1 else "note at"
    for index, degree in varied(bass, rng, least=1):
        yield str(degree), reading.where(index), key_name(tonality), wording


KINDS: Final = (
    Kind(3, "chord name", "chord", _chord_name, weight=1.5),
    Kind(3, "chord quality", "chord", _quality),
    Kind(3, "chord inversion", "text", _inversion),
    Kind(3, "doubled member", "text", _doubled),
    Kind(3, "chord spacing", "text", evenly(_is_close, "Close", "Open"), lists_answers=True),
    Kind(3, "bass note", "pitch", _bass_note, weight=0.5),
    Kind(3, "Roman numeral", "numeral", _in_key(_numeral), weight=3),
    Kind(3, "scale degree", "number", _in_key(_bass_degree)),
    Kind(3, "broken triad", "chord", _broken_triad, weight=0.5),
    Kind(3, "cadence", "cadence", _in_key(_cadence), weight=3),
    Kind(3, "tonic chord", "yes_no", evenly(_in_key(_is_tonic)), weight=1.5),
    Kind(3, "given chord", "yes_no", evenly(_has_chord)),
    Kind(3, "seventh chord", "yes_no", evenly(_is_seventh), weight=0.7),
    Kind(3, "dominant to tonic", "yes_no", evenly(_in_key(_is_dominant_tonic)), weight=1.5),
    Kind(3, "pedal point", "yes_no", evenly(_is_pedal)),
    Kind(3, "broken chord", "yes_no", evenly(_is_broken_chord), weight=0.7),
)
"""Kinds of questions of level 3."""
