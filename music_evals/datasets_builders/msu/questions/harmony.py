"""Level 3: chords and keys (section 3.1 of the paper: chord and harmony)."""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import chain, pairwise
from random import Random
from typing import Any

from music21 import key, pitch

from music_evals.datasets_builders.msu.questions.kind import (
    PLACES,
    Answers,
    Cases,
    Draw,
    evenly,
    of_cells,
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
_PLACES = 120
_PEDAL_SPAN = 2
_PROGRESSION_SPAN = 2


def _indices(reading: Reading, rng: Random, reach: int = 1) -> list[int]:
    """Measures at which `reach` clear measures begin, in random order; none if the score has
    unpitched parts.
    """
    size = len(reading.measures) - reach + 1
    if not reading.is_harmonic or size < 1:
        return []
    columns = map(reading.column, range(len(reading.measures)))
    clear = [all(cell.is_clear for cell in column) for column in columns]
    return [index for index in sampled(size, rng, _PLACES) if all(clear[index : index + reach])]


def _chords(reading: Reading, rng: Random) -> Iterator[tuple[int, PlainChord]]:
    """Full measures that begin with a plain chord."""
    for index in _indices(reading, rng):
        if chord := _first_chord(reading, index):
            yield index, chord


@lru_cache(maxsize=4 * PLACES)
def _first_chord(reading: Reading, index: int) -> PlainChord | None:
    is_full = reading.measures[index].length == reading.measures[index].full
    # Some part must begin a note there: a chord that is only held is not on the beat.
    if not is_full or reading.onsets[index][:1] != [0]:
        return None
    return plain_chord(reading.sounding(index, Fraction(0)))


def _is_in_first_key(reading: Reading, index: int) -> bool:
    return reading.measures[index].fifths == reading.measures[0].fifths


def _is_at_pitch(reading: Reading, index: int) -> bool:
    return all(cell.is_at_pitch for cell in reading.column(index))


def _moments(reading: Reading, index: int, count: int = 1) -> list[tuple[pitch.Pitch, ...]]:
    """The pitches that sound at the onsets of measures."""
    moments = []
    for at in range(index, index + count):
        moments += [reading.sounding(at, start) for start in reading.onsets[at]]
    return moments


# --- a chord ---


def _chord_name(reading: Reading, rng: Random) -> Answers:
    for index, chord in _chords(reading, rng):
        yield chord.name, reading.where(index)


def _quality(reading: Reading, rng: Random) -> Answers:
    # Most chords are major triads: the quality is drawn before the place.
    qualities = [(index, chord.quality) for index, chord in _chords(reading, rng)]
    for index, quality in varied(qualities, rng):
        yield quality.capitalize(), reading.where(index)


def _inversion(reading: Reading, rng: Random) -> Answers:
    chords = [pair for pair in _chords(reading, rng) if "augmented" not in pair[1].quality]
    for index, inversion in varied([(index, chord.inversion) for index, chord in chords], rng):
        yield INVERSIONS[inversion], reading.where(index)


def _doubled(reading: Reading, rng: Random) -> Answers:
    for index, chord in _chords(reading, rng):
        doubled = {member for member in chord.members if chord.members.count(member) > 1}
        if len(doubled) == 1 and not any(cell.has_unison for cell in reading.column(index)):
            yield MEMBERS[doubled.pop()], reading.where(index)


def _is_close(reading: Reading, rng: Random) -> Cases:
    for index, chord in _chords(reading, rng):
        if len(chord.pitches) == 4 and _is_at_pitch(reading, index):
            width = chord.pitches[3].ps - chord.pitches[1].ps
            yield width < 12, reading.where(index), chord.name


def _bass_note(reading: Reading, rng: Random) -> Answers:
    if len(reading.voices) < 2:
        return
    for index, chord in _chords(reading, rng):
        if _is_at_pitch(reading, index):
            yield spell(chord.pitches[0]), reading.where(index), chord.quality


def _is_seventh(reading: Reading, rng: Random) -> Cases:
    for index, chord in _chords(reading, rng):
        yield "seventh" in chord.quality, reading.where(index)


def _has_chord(reading: Reading, rng: Random) -> Cases:
    """Whether a triad of the score sounds in a measure."""
    triads: dict[str, set[str]] = {}  # name → names of its notes
    measures: list[tuple[int, set[str], set[str]]] = []  # with names of its triads and of its notes
    for index in _indices(reading, rng)[: _PLACES // 3]:
        moments = _moments(reading, index)
        chords = [chord for chord in map(plain_chord, moments) if _is_triad(chord)]
        own = {chord.name: {note.name for note in chord.pitches} for chord in chords if chord}
        triads |= own
        measures.append((index, set(own), {note.name for note in chain.from_iterable(moments)}))
    if not triads:
        return
    name = rng.choice(sorted(triads))
    for index, names, notes in measures:
        # "No" is certain only if the measure lacks one of the three notes: otherwise they can be a
        # broken chord.
        is_absent = notes and not triads[name] <= notes
        if name in names or is_absent:
            yield name in names, reading.where(index), name


def _is_triad(chord: PlainChord | None) -> bool:
    return chord is not None and "triad" in chord.quality


def _chord_of(voice: Voice, cell: Cell) -> PlainChord | None:
    """The chord of all notes of a measure, if they are certain."""
    if not voice.is_pitched or not cell.is_clear or cell.has_grace:
        return None
    return plain_chord(sorted(cell.pitches, key=lambda note: note.ps))


def _is_broken_chord(voice: Voice, cell: Cell) -> bool | None:
    is_certain = voice.is_pitched and cell.is_clear and not cell.has_grace
    names = {note.name for note in cell.pitches}
    return _is_triad(_chord_of(voice, cell)) if is_certain and len(names) > 2 else None


def _broken_triad(voice: Voice, cell: Cell) -> str | None:
    chord = _chord_of(voice, cell)
    return chord.name if chord and _is_triad(chord) else None


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
    chords = (pair for pair in _chords(reading, rng) if _is_in_first_key(reading, pair[0]))
    numerals = ((index, numeral(chord, tonality)) for index, chord in chords)
    for index, degree in varied(((index, degree) for index, degree in numerals if degree), rng):
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
    chords = _last_chords(reading)
    if len(reading.voices) < 2 or len(chords) < 2 or not _is_in_first_key(reading, -1):
        return
    last, before = chords[:2]
    if before.inversion or last.inversion or not _is_triad(last):
        return
    tonic, dominant, subdominant = (tonality.pitchFromDegree(degree).name for degree in (1, 5, 4))
    roots = [chord.root_pitch.name for chord in chords]
    if roots[:2] == [tonic, dominant]:
        yield "Authentic cadence", key_name(tonality)
    # A subdominant after the dominant can be an ornament of an authentic cadence.
    elif roots[:2] == [tonic, subdominant] and roots[2:] not in ([], [dominant]):
        yield "Plagal cadence", key_name(tonality)


def _last_chords(reading: Reading) -> list[PlainChord]:
    """Up to three chords at the end, from the last one backwards."""
    begin = max(len(reading.measures) - 3, 0)
    chords: list[PlainChord] = []
    for moment in reversed(_moments(reading, begin, len(reading.measures) - begin)):
        chord = plain_chord(moment)
        if chord is None or len(chords) == 3:
            break
        if not chords or chord.name != chords[-1].name:
            chords.append(chord)
    return chords


def _is_pedal(reading: Reading, rng: Random) -> Cases:
    if len(reading.voices) < 2:
        return
    for index in _indices(reading, rng, _PEDAL_SPAN):
        moments = _moments(reading, index, _PEDAL_SPAN)
        upper = {tuple(note.nameWithOctave for note in pitches[1:]) for pitches in moments}
        if len(moments) < 4 or len(upper) < 3:
            continue
        is_pedal = len({pitches[0].nameWithOctave for pitches in moments}) == 1
        if is_pedal or len({pitches[0].name for pitches in moments}) > 2:
            yield is_pedal, reading.span(index, _PEDAL_SPAN)


def _bass_degree(reading: Reading, rng: Random, tonality: key.Key) -> Answers:
    degrees = {tonality.pitchFromDegree(degree).name: degree for degree in range(1, 8)}
    bass = []
    for index in _indices(reading, rng):
        pitches = reading.sounding(index, Fraction(0))
        degree = degrees.get(pitches[0].name) if pitches else None
        if degree and _is_in_first_key(reading, index):
            bass.append((index, degree))
    wording = "lowest note that sounds at" if len(reading.voices) > 1 else "note at"
    for index, degree in varied(bass, rng, least=1):
        yield str(degree), reading.where(index), key_name(tonality), wording


DRAWS: Mapping[str, Draw] = {
    "chord name": _chord_name,
    "chord quality": _quality,
    "chord inversion": _inversion,
    "doubled member": _doubled,
    "chord spacing": evenly(_is_close, "Close", "Open"),
    "bass note": _bass_note,
    "Roman numeral": _in_key(_numeral),
    "scale degree": _in_key(_bass_degree),
    "broken triad": of_cells(_broken_triad),
    "cadence": _in_key(_cadence),
    "tonic chord": evenly(_in_key(_is_tonic)),
    "given chord": evenly(_has_chord),
    "seventh chord": evenly(_is_seventh),
    "dominant to tonic": evenly(_in_key(_is_dominant_tonic)),
    "pedal point": evenly(_is_pedal),
    "broken chord": evenly(of_cells(_is_broken_chord, _PLACES)),
}
"""Kind of question of level 3 → what draws its questions."""
