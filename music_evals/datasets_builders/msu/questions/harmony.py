"""Level 3: chords and keys (section 3.1 of the paper: chord and harmony)."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Final

from music21 import key, pitch

from music_evals.datasets_builders.msu.questions.kind import Answered, Kind, cells, evenly, span, where
from music_evals.datasets_builders.msu.questions.reading import Reading, spell
from music_evals.datasets_builders.msu.questions.tonality import (
    INVERSIONS,
    MEMBERS,
    PlainChord,
    certain_key,
    chord_at,
    key_name,
    numeral,
    plain_chord,
)

# Measures whose chords a kind looks at before it gives up: a chord takes longer to find than a note.
_PLACES: Final = 120
_PEDAL_SPAN: Final = 2
_PROGRESSION_SPAN: Final = 2
_SOUNDING: Final = "all notes that sound there, in all parts"
_ALL_NOTES: Final = f"({_SOUNDING})"


def _indices(reading: Reading, rng: Random, reach: int = 1) -> list[int]:
    """Some measures from which a run of that reach fits, shuffled; none where chords cannot be read off."""
    size = len(reading.measures) - reach + 1
    if not reading.is_harmonic or size < 1:
        return []
    found = rng.sample(range(size), min(_PLACES, size))
    clear = [[voice.cells[index].is_clear for voice in reading.voices] for index in range(len(reading.measures))]
    return [index for index in found if all(all(row) for row in clear[index : index + reach])]


def _chords(reading: Reading, rng: Random) -> Iterator[tuple[int, PlainChord]]:
    """Whole measures that begin with a plain chord."""
    for index in _indices(reading, rng):
        if reading.measures[index].length == reading.measures[index].full:
            found = chord_at(reading, index)
            # The chord must begin there in some part: one that is only held is not on the beat.
            if found and reading.onsets(index)[:1] == [Fraction(0)]:
                yield index, found


def _chord_name(reading: Reading, rng: Random) -> Answered | None:
    for index, found in _chords(reading, rng):
        text = (
            f"Which chord do the notes on the first beat of {where(reading, index)} make up {_ALL_NOTES}? Give its "
            "root and its quality."
        )
        return text, found.name
    return None


def _quality(reading: Reading, rng: Random) -> Answered | None:
    found = list(_chords(reading, rng))
    # Most chords are major triads: the quality is drawn before the place.
    qualities = sorted({each.quality for _, each in found})
    if len(qualities) < 2:
        return None
    quality = rng.choice(qualities)
    index = rng.choice([index for index, each in found if each.quality == quality])
    text = f"What is the quality of the chord on the first beat of {where(reading, index)} {_ALL_NOTES}?"
    return text, quality.capitalize()


def _inversion(reading: Reading, rng: Random) -> Answered | None:
    found = [(index, each) for index, each in _chords(reading, rng) if "augmented" not in each.quality]
    inversions = sorted({each.inversion for _, each in found})
    if len(inversions) < 2:
        return None
    inversion = rng.choice(inversions)
    index = rng.choice([index for index, each in found if each.inversion == inversion])
    text = (
        f"What is the position of the chord on the first beat of {where(reading, index)}, that is, its inversion if it "
        f"has one {_ALL_NOTES}?"
    )
    return text, INVERSIONS[inversion]


def _doubled(reading: Reading, rng: Random) -> Answered | None:
    for index, found in _chords(reading, rng):
        doubled = [member for member in sorted(set(found.members)) if found.members.count(member) > 1]
        if len(doubled) == 1:
            text = (
                f"Which member of the chord on the first beat of {where(reading, index)} sounds more than once, in any "
                "octave (in unison too)?"
            )
            return text, MEMBERS[doubled[0]]
    return None


def _spacing(reading: Reading, rng: Random) -> Answered | None:
    close: list[str] = []
    open_: list[str] = []
    for index, found in _chords(reading, rng):
        pitches = reading.sounding(index, Fraction(0))
        if len(pitches) != 4 or not all(voice.cells[index].is_at_pitch for voice in reading.voices):
            continue
        width = pitches[3].ps - pitches[1].ps
        text = (
            f"What is the spacing of the {found.name} on the first beat of {where(reading, index)}: close (the three "
            "upper notes lie within less than an octave) or open (they span an octave or more)?"
        )
        (close if width < 12 else open_).append(text)
    drawn = evenly(rng, close, open_)
    return drawn and (drawn[0], "Close" if drawn[1] == "Yes" else "Open")


def _numeral(reading: Reading, rng: Random) -> Answered | None:
    tonality = certain_key(reading)
    if tonality is None:
        return None
    found = [
        (index, numeral(each, tonality))
        for index, each in _chords(reading, rng)
        if reading.measures[index].fifths == reading.measures[0].fifths
    ]
    written = sorted({each for _, each in found if each})
    if len(written) < 2:
        return None
    degree = rng.choice(written)
    index = rng.choice([index for index, each in found if each == degree])
    text = (
        f"In {key_name(tonality)}, which Roman numeral has the chord on the first beat of {where(reading, index)} "
        f"{_ALL_NOTES}? Upper case for major, lower case for minor, ° for diminished; no figures of inversion, but 7 "
        "for a seventh chord (ø7 if half-diminished)."
    )
    return text, degree


def _is_tonic(reading: Reading, rng: Random) -> Answered | None:
    tonality = certain_key(reading)
    if tonality is None:
        return None
    yes: list[str] = []
    no: list[str] = []
    for index, found in _chords(reading, rng):
        is_tonic = found.root_pitch.name == tonality.tonic.name
        # The tonic of the other mode, or with a seventh, is a tonic chord to some.
        if is_tonic and found.quality != f"{tonality.mode} triad":
            continue
        text = f"Does {where(reading, index)} begin on the tonic chord of {key_name(tonality)} (in any inversion)?"
        (yes if is_tonic else no).append(text)
    return evenly(rng, yes, no)


def _has_chord(reading: Reading, rng: Random) -> Answered | None:
    """Whether a triad that the score has somewhere sounds in a measure."""
    sounding: dict[int, set[str]] = {}
    doubtful: dict[int, list[frozenset[str]]] = {}
    for index in _indices(reading, rng)[: _PLACES // 3]:
        moments = [reading.sounding(index, start) for start in reading.onsets(index)]
        found = [plain_chord(each) for each in moments]
        sounding[index] = {each.name for each in found if each and "triad" in each.quality}
        doubtful[index] = [frozenset(each.name for each in moment) for moment in moments]
    names = sorted(set().union(*sounding.values())) if sounding else []
    if not names:
        return None
    name = rng.choice(names)
    triad = _triad_notes(name)
    yes = [index for index in sounding if name in sounding[index]]
    # No is sure only where the three notes do not meet at all, and do not follow each other as a broken chord.
    no = [index for index in sounding if doubtful[index] and not triad <= frozenset().union(*doubtful[index])]
    return evenly(
        rng,
        *(
            [
                f"Do the notes of {where(reading, index)} ever make up a complete {name} "
                "(sounding together, in any inversion)?"
                for index in found
            ]
            for found in (yes, no)
        ),
    )


def _triad_notes(name: str) -> frozenset[str]:
    root, quality = name.split(" ", 1)
    low = pitch.Pitch(root.replace("♯", "#").replace("♭", "-").replace("𝄪", "##").replace("𝄫", "--") + "4")
    third = {"major": "M3", "augmented": "M3"}.get(quality.split()[0], "m3")
    fifth = {"augmented": "A5", "diminished": "d5"}.get(quality.split()[0], "P5")
    return frozenset(each.name for each in (low, low.transpose(third), low.transpose(fifth)))


def _dominant_tonic(reading: Reading, rng: Random) -> Answered | None:
    tonality = certain_key(reading)
    if tonality is None:
        return None
    yes: list[str] = []
    no: list[str] = []
    for index in _indices(reading, rng, _PROGRESSION_SPAN)[: _PLACES // 3]:
        moments = [
            reading.sounding(each, start)
            for each in range(index, index + _PROGRESSION_SPAN)
            for start in reading.onsets(each)
        ]
        if len(moments) < 2:
            continue
        text = (
            f"In {span(reading, index, _PROGRESSION_SPAN)}, does the dominant chord of {key_name(tonality)} (V or V7), "
            "in root position, move directly to the tonic chord in root position (as in a perfect authentic cadence)?"
        )
        found = [plain_chord(each) for each in moments]
        if any(_is_step_home(a, b, tonality) for a, b in pairwise(found)):
            yes.append(text)
        elif not _bass_falls_home([each[0] for each in moments], tonality):
            no.append(text)
    return evenly(rng, yes, no)


def _is_step_home(a: PlainChord | None, b: PlainChord | None, tonality: key.Key) -> bool:
    return (
        a is not None
        and b is not None
        and numeral(a, tonality) in ("V", "V7")
        and numeral(b, tonality) in ("I", "i")
        and a.inversion == b.inversion == 0
    )


def _bass_falls_home(bass: list[pitch.Pitch], tonality: key.Key) -> bool:
    """Whether the bass ever has the tonic after the dominant: then a cadence could be seen, whatever lies above."""
    names = [each.name for each in bass]
    dominant, tonic = tonality.pitchFromDegree(5).name, tonality.tonic.name
    return dominant in names and tonic in names[names.index(dominant) :]


def _cadence(reading: Reading, rng: Random) -> Answered | None:
    tonality = certain_key(reading)
    moments = [
        (index, start)
        for index in range(max(len(reading.measures) - 3, 0), len(reading.measures))
        for start in reading.onsets(index)
    ]
    if tonality is None or reading.measures[-1].fifths != reading.measures[0].fifths or len(reading.voices) < 2:
        return None
    found: list[PlainChord] = []
    for index, start in reversed(moments):
        each = plain_chord(reading.sounding(index, start))
        if each is None:
            break
        if not found or (each.root, each.quality) != (found[-1].root, found[-1].quality):
            found.append(each)
        if len(found) == 3:
            break
    if len(found) < 2:
        return None
    last, before = found[0], found[1]
    tonic, dominant, subdominant = (tonality.pitchFromDegree(degree).name for degree in (1, 5, 4))
    moves = {
        (dominant, tonic): "Authentic cadence",
        (subdominant, tonic): "Plagal cadence",
    }
    # A subdominant over or after the dominant may only adorn an authentic cadence.
    if before.root_pitch.name == subdominant and (len(found) < 3 or found[2].root_pitch.name == dominant):
        return None
    if before.inversion or last.inversion or "triad" not in last.quality:
        return None
    name = moves.get((before.root_pitch.name, last.root_pitch.name))
    if name is None:
        return None
    return f"The piece begins in {key_name(tonality)}. With which kind of cadence does it end?", name


def _edge_tonic(edge: str) -> Callable[[Reading, Random], Answered | None]:
    def draw(reading: Reading, rng: Random) -> Answered | None:
        tonality = certain_key(reading)
        if tonality is None or len(reading.voices) < 2:
            return None
        indices = range(len(reading.measures))
        for index in indices if edge == "begin" else reversed(indices):
            onsets = reading.onsets(index)
            if onsets:
                found = plain_chord(reading.sounding(index, onsets[0] if edge == "begin" else onsets[-1]))
                break
        else:
            return None
        if found is None or (
            found.root_pitch.name == tonality.tonic.name and found.quality != f"{tonality.mode} triad"
        ):
            return None
        is_tonic = found.root_pitch.name == tonality.tonic.name
        if is_tonic and rng.random() < _TONIC_EDGES_LEFT_OUT:
            return None
        text = f"Does the piece {edge} on the tonic chord of {key_name(tonality)} (in any inversion)?"
        return text, "Yes" if is_tonic else "No"

    return draw


# Nearly all pieces begin on the tonic: asking each of them would make Yes the better guess.
_TONIC_EDGES_LEFT_OUT: Final = 0.8


def _pedal(reading: Reading, rng: Random) -> Answered | None:
    yes: list[str] = []
    no: list[str] = []
    if len(reading.voices) < 2:
        return None
    for index in _indices(reading, rng, _PEDAL_SPAN):
        bass = [
            reading.sounding(each, start)[0].nameWithOctave
            for each in range(index, index + _PEDAL_SPAN)
            for start in reading.onsets(each)
        ]
        upper = {
            tuple(each.nameWithOctave for each in reading.sounding(at, start)[1:])
            for at in range(index, index + _PEDAL_SPAN)
            for start in reading.onsets(at)
        }
        if len(bass) < 4 or len(upper) < 3:
            continue
        text = (
            f"Is the lowest sounding note one and the same pitch, held or repeated, all through "
            f"{span(reading, index, _PEDAL_SPAN)} (a pedal point)?"
        )
        if len(set(bass)) == 1:
            yes.append(text)
        elif len({each[:-1] for each in bass}) > 2:
            no.append(text)
    return evenly(rng, yes, no)


def _bass_degree(reading: Reading, rng: Random) -> Answered | None:
    tonality = certain_key(reading)
    if tonality is None:
        return None
    degrees = {tonality.pitchFromDegree(degree).name: degree for degree in range(1, 8)}
    found = []
    for index in _indices(reading, rng):
        low = reading.sounding(index, Fraction(0))
        if low and low[0].name in degrees and reading.measures[index].fifths == reading.measures[0].fifths:
            found.append((index, degrees[low[0].name]))
    if not found:
        return None
    degree = rng.choice(sorted({each for _, each in found}))
    index = rng.choice([index for index, each in found if each == degree])
    lowest = "lowest note that sounds at" if len(reading.voices) > 1 else "note at"
    text = (
        f"Which scale degree of {key_name(tonality)}, from 1 (the tonic) to 7, is the {lowest} the beginning of "
        f"{where(reading, index)}?"
    )
    return text, str(degree)


def _broken_chord(reading: Reading, rng: Random) -> Answered | None:
    yes: list[str] = []
    no: list[str] = []
    for index, voice, cell in cells(reading, rng)[:_PLACES]:
        notes = [each for event in cell.notes for each in event.pitches]
        if not voice.is_pitched or not cell.is_clear or len(notes) < 3 or any(event.is_grace for event in cell.events):
            continue
        found = plain_chord(sorted(notes, key=lambda each: each.ps))
        text = (
            f"Do the notes of {where(reading, index, voice)}, taken together, make up one triad, all three of its "
            "notes and no others (a broken or repeated chord)?"
        )
        if found and "triad" in found.quality:
            yes.append(text)
        elif len({each.name for each in notes}) > 2:
            no.append(text)
    return evenly(rng, yes, no)


def _final_degree(reading: Reading, rng: Random) -> Answered | None:
    """Which degree the melody's last note is; the key is sure only if the bass ends on the tonic."""
    tonality = certain_key(reading)
    if tonality is None or len(reading.voices) < 2:
        return None
    degrees = {tonality.pitchFromDegree(degree).name: degree for degree in range(1, 8)}
    if any(measure.fifths != reading.measures[0].fifths for measure in reading.measures):
        return None
    voice = reading.voices[0]
    last = next((cell.notes[-1] for cell in reversed(voice.cells) if cell.notes), None)
    if last is None or len(last.pitches) > 1 or last.pitches[0].name not in degrees:
        return None
    text = f"With which scale degree of {key_name(tonality)}, from 1 (the tonic) to 7, does {voice.label} end?"
    return text, str(degrees[last.pitches[0].name])


def _first_degree(reading: Reading, rng: Random) -> Answered | None:
    tonality = certain_key(reading)
    if tonality is None:
        return None
    degrees = {tonality.pitchFromDegree(degree).name: degree for degree in range(1, 8)}
    voice = reading.voices[0]
    first = next((cell.notes[0] for cell in voice.cells if cell.notes), None)
    if first is None or len(first.pitches) > 1 or first.pitches[0].name not in degrees:
        return None
    text = (
        f"With which scale degree of {key_name(tonality)}, from 1 (the tonic) to 7, does {voice.label or 'the piece'} "
        "begin?"
    )
    return text, str(degrees[first.pitches[0].name])


def _broken_triad(reading: Reading, rng: Random) -> Answered | None:
    for index, voice, cell in cells(reading, rng):
        notes = [each for event in cell.notes for each in event.pitches]
        if not voice.is_pitched or not cell.is_clear or any(event.is_grace for event in cell.events):
            continue
        found = plain_chord(sorted(notes, key=lambda each: each.ps))
        if found and "triad" in found.quality:
            text = f"The notes of {where(reading, index, voice)} are those of one triad: which? Give root and quality."
            return text, found.name
    return None


def _chord_seventh(reading: Reading, rng: Random) -> Answered | None:
    yes: list[str] = []
    no: list[str] = []
    for index, found in _chords(reading, rng):
        text = f"Is the chord on the first beat of {where(reading, index)} a seventh chord {_ALL_NOTES}?"
        (yes if "seventh" in found.quality else no).append(text)
    return evenly(rng, yes, no)


def _bass_note(reading: Reading, rng: Random) -> Answered | None:
    if len(reading.voices) < 2:
        return None
    for index, found in _chords(reading, rng):
        if not all(voice.cells[index].is_at_pitch for voice in reading.voices):
            continue
        low = reading.sounding(index, Fraction(0))[0]
        text = f"Which pitch is the bass of the {found.quality} on the first beat of {where(reading, index)}?"
        return f"{text} Give its octave too.", spell(low)
    return None


KINDS: Final = (
    Kind(3, "chord name", "chord", _chord_name, weight=1.5),
    Kind(3, "chord quality", "chord", _quality),
    Kind(3, "chord inversion", "text", _inversion),
    Kind(3, "doubled member", "text", _doubled),
    Kind(3, "chord spacing", "text", _spacing, lists_answers=True),
    Kind(3, "bass note", "pitch", _bass_note, weight=0.5),
    Kind(3, "Roman numeral", "numeral", _numeral, weight=3),
    Kind(3, "scale degree", "number", _bass_degree),
    Kind(3, "final degree", "number", _final_degree, weight=0.7),
    Kind(3, "first degree", "number", _first_degree, weight=0.7),
    Kind(3, "broken triad", "chord", _broken_triad, weight=0.5),
    Kind(3, "cadence", "cadence", _cadence, weight=3),
    Kind(3, "tonic chord", "yes_no", _is_tonic, weight=1.5),
    Kind(3, "tonic at the beginning", "yes_no", _edge_tonic("begin"), weight=0.7),
    Kind(3, "given chord", "yes_no", _has_chord),
    Kind(3, "seventh chord", "yes_no", _chord_seventh, weight=0.7),
    Kind(3, "dominant to tonic", "yes_no", _dominant_tonic, weight=1.5),
    Kind(3, "pedal point", "yes_no", _pedal),
    Kind(3, "broken chord", "yes_no", _broken_chord, weight=0.7),
)
"""Kinds of questions of level 3."""
