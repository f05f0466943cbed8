"""Pairs of melodies for the transposition task: one melody in two keys, or a melody and a foil in
another key.

A melody has two or four phrases of two measures: a motif, its return (the same, or a step or a
third higher or lower), half closes and a final close on the tonic. Pitches are a random walk on the
scale with fixed ends of the phrases: mostly steps, and leaps that turn back.

A foil has the tempo, metre, instrument, rhythm and number of notes of the other melody, and is as
far away as a true transposition: only the intervals differ. Either of two different melodies can
come first.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, combinations, pairwise, product
from random import Random
from typing import Literal, NamedTuple, get_args

from music_evals.datasets_builders import read_table
from music_evals.notation.midi.performance import TICKS_PER_BEAT, Note, Performance

Instrument = Literal["guitar", "piano"]
Foil = Literal["other_melody", "moved_passage", "reordered"]

INSTRUMENTS: tuple[Instrument, ...] = get_args(Instrument)
FOILS: tuple[Foil, ...] = get_args(Foil)

RANGES: dict[Instrument, tuple[int, int]] = {"guitar": (40, 76), "piano": (60, 84)}
"""Lowest and highest sounding MIDI pitch: the guitar's E2 to E5, and C4 to C6 for a melody on the
piano.
"""

MAX_TRANSPOSITION = 11  # largest distance between the two keys, in semitones
# Guitars of nylon and of steel; a grand piano.
_PROGRAMS: dict[Instrument, tuple[int, ...]] = {
    "guitar": (24, 25),
    "piano": (0,),
}
_MAJOR_KEYS = ("C", "Db", "D", "Eb", "E", "F", "Gb", "G", "Ab", "A", "Bb", "B")
_MINOR_KEYS = ("Cm", "C#m", "Dm", "Ebm", "Em", "Fm", "F#m", "Gm", "G#m", "Am", "Bbm", "Bm")
_SCALES = read_table("names/scales.toml")["modes"]
_MODES = {"major": 5, "natural minor": 3, "harmonic minor": 2}  # weights

_TEMPI = (70, 180)
_SECONDS = (4.0, 9.5)
_NOTES = (8, 28)
# Both melodies of the most distant pair must fit into the two octaves of the piano.
_AMBITUS = RANGES["piano"][1] - RANGES["piano"][0] - MAX_TRANSPOSITION
_MAX_LEAP = 9

_EIGHTH = TICKS_PER_BEAT // 2
# Rhythms of a measure by metre.
_OPENINGS, _CLOSES = (
    {(int(meter[0]), int(meter[2])): rhythms for meter, rhythms in table.items()}
    for table in read_table("names/muse_rhythms.toml").values()
)
# Phrases of a form; phrases with the same letter share their rhythm, and mostly their first
# measure.
_FORMS = {2: ("AA", "AA", "AB"), 4: ("ABAC", "AABA", "AAAB", "ABAB", "AABC")}

# Degrees are steps of the scale above the tonic, 0 to 6 in its octave.
_DEGREES = tuple(range(-4, 10))
_INTERVALS = range(-5, 6)  # scale steps from note to note
_HALF_CLOSES = (1, 4, 2, -3)
_STARTS = (0, 2, 4)
_STEP_WEIGHTS = (0.5, 6.0, 1.3, 0.4, 0.2, 0.06)  # by size of the step
_CLOSE_WEIGHTS = {0: 0.3, 1: 3.0}  # by size of the step; a close is mostly reached by step


class Melody(NamedTuple):
    """A melody: MIDI pitches, the key as `mido` spells it (``"F#m"``), the tempo in quarter notes a
    minute.
    """

    pitches: tuple[int, ...]
    key: str
    meter: tuple[int, int]
    tempo: int
    instrument: Instrument
    performance: Performance


class MelodyPair(NamedTuple):
    """Two melodies to compare; `foil` is None if they are the same melody.

    `semitones` is the distance from the first key to the second, upward positive; it is never 0 or
    an octave.
    """

    first: Melody
    second: Melody
    foil: Foil | None
    semitones: int


class _Plan(NamedTuple):
    """A melody without pitches: mode, metre, tempo, rhythm in ticks, phrases and measures."""

    mode: str
    meter: tuple[int, int]
    tempo: int
    onsets: tuple[int, ...]
    durations: tuple[int, ...]
    length: int
    form: str
    # Indices of the notes of the measures; a phrase has two measures.
    measures: tuple[tuple[int, ...], ...]


def is_transposition(first: Sequence[int], second: Sequence[int]) -> bool:
    """Whether two melodies (MIDI pitches) are the same except for their key, under the most lenient
    definition.

    Notes that repeat the previous pitch class are merged, and intervals are taken modulo an octave.
    A transposition under a stricter definition is also a transposition here.
    """
    intervals = (
        [(b - a) % 12 for a, b in pairwise(pitches) if (b - a) % 12] for pitches in (first, second)
    )
    return next(intervals) == next(intervals)


def compose_pair(
    *, foil: Foil | None, instrument: Instrument, rng: Random, level: int = 1
) -> MelodyPair:
    """Compose two melodies to compare, in different keys of one mode.

    Args:
        foil: how the second melody differs; None for the same melody in another key.
            ``"other_melody"`` has new pitches. ``"moved_passage"`` has some notes higher or lower:
            two intervals change their size, not their direction. ``"reordered"`` has the same
            pitches relative to the key in another order. No foil is a transposition
            (`is_transposition`). The distance from the first to the last note is the same in both
            melodies, so that it does not give the foil away.
        instrument: one of `INSTRUMENTS`.
        rng: the source of randomness.
        level: 1, or 2 to 5 for longer melodies, each on any instrument and not in strict time.
            Every foil is then a passage that is moved: at level 5 one note, by a semitone.

    Source: MUSE (arXiv 2510.22455), transposition task; the foils other than ``"other_melody"`` go
    beyond it.
    """
    # Drawn first, so that it does not depend on the kind of pair through rejections below.
    semitones = rng.randint(1, MAX_TRANSPOSITION) * rng.choice((-1, 1))
    program = rng.choice(_PROGRAMS[instrument])
    low, high = RANGES[instrument]
    if foil and level > 1:
        foil = "moved_passage"
    while True:
        mode = rng.choices(list(_MODES), list(_MODES.values()))[0]
        plan = _plan(mode, level, rng)
        composed = _compose_two(foil, plan, level, rng)
        if composed is None:
            continue
        # Pitches are relative to the tonic. Choose a tonic with which both melodies fit.
        shifted = list(zip(composed, (0, semitones), strict=True))
        lowest = low - min(min(pitches) + shift for pitches, shift in shifted)
        highest = high - max(max(pitches) + shift for pitches, shift in shifted)
        if lowest <= highest:
            tonic = rng.randint(lowest, highest)
            first, second = (
                _perform(pitches, tonic + shift, plan, instrument, program, rng)
                for pitches, shift in shifted
            )
            if level > 1:
                first, second = _vary(first, level, rng), _vary(second, level, rng)
            return MelodyPair(first, second, foil, semitones)


def _vary(melody: Melody, level: int, rng: Random) -> Melody:
    """Play a melody somewhat late, on any instrument."""
    instrument = rng.choice(INSTRUMENTS)
    played = replace(melody.performance, program=rng.choice(_PROGRAMS[instrument]))
    return melody._replace(
        instrument=instrument, performance=played.played_late(range(3 * level), rng)
    )


def _compose_two(
    foil: Foil | None, plan: _Plan, level: int, rng: Random
) -> tuple[list[int], list[int]] | None:
    """Compose both melodies relative to their tonics; None if the plan does not give a pair."""
    melody = _compose(plan, rng)
    if melody is None:
        return None
    match foil:
        case None:
            return melody, melody
        case "other_melody":
            other = _compose(plan, rng)
        case "moved_passage":
            other = _move_passage(melody, plan.mode, level, rng)
        case "reordered":
            other = _reorder(melody, rng)
    if other is None or is_transposition(melody, other):
        return None
    if other[-1] - other[0] != melody[-1] - melody[0]:
        return None
    # The altered melody must not always be the second one.
    return (melody, other) if rng.random() < 0.5 else (other, melody)


def _plan(mode: str, level: int, rng: Random) -> _Plan:
    """Choose metre, tempo, form and rhythm; at level 4 three forms of level 1 follow each other."""
    n_forms = 1 + level // 2
    while True:
        meter = rng.choices(list(_OPENINGS), (5, 3, 2, 2))[0]
        phrases = rng.choice((2, 4))
        measure = 8 * meter[0] // meter[1]  # in eighths
        tempo = rng.randint(*_TEMPI)
        seconds = 2 * phrases * measure * 30 / tempo
        if not _SECONDS[0] <= seconds <= _SECONDS[1]:
            continue
        form = "".join([rng.choice(_FORMS[phrases]) for _ in range(n_forms)])
        rhythms = {
            letter: (rng.choice(_OPENINGS[meter]), rng.choice(_CLOSES[meter]))
            for letter in sorted(set(form))
        }
        last = rng.choice([rhythm for rhythm in _CLOSES[meter] if max(rhythm) >= measure / 2])
        *first, _ = chain.from_iterable(rhythms[letter] for letter in form)
        notes: list[tuple[int, int]] = []  # onset and duration
        measures: list[tuple[int, ...]] = []
        for number, rhythm in enumerate([*first, last]):
            tick, start = number * measure * _EIGHTH, len(notes)
            for eighths in rhythm:  # rests are negative
                if eighths > 0:
                    notes.append((tick, eighths * _EIGHTH))
                tick += abs(eighths) * _EIGHTH
            measures.append(tuple(range(start, len(notes))))
        if _NOTES[0] <= len(notes) / n_forms <= _NOTES[1]:
            onsets, durations = zip(*notes, strict=True)
            length = len(measures) * measure * _EIGHTH
            return _Plan(mode, meter, tempo, onsets, durations, length, form, tuple(measures))


def _compose(plan: _Plan, rng: Random) -> list[int] | None:
    """Compose pitches in semitones from the tonic; None if they exceed the range of a melody."""
    degrees: list[int] = []
    motifs: dict[str, list[int]] = {}
    for number, letter in enumerate(plan.form):
        opening, close = plan.measures[2 * number : 2 * number + 2]
        is_last = number == len(plan.form) - 1
        ends = (0, 7) if is_last else _HALF_CLOSES
        start = motifs.get(letter, motifs.get("A", []))
        if len(start) != len(opening):
            start = []
        elif start:  # the motif returns unchanged or in sequence
            shift = rng.choices((0, 1, -1, 2, -2), (6, 2, 2, 1, 1))[0]
            moved = [degree + shift for degree in start]
            start = moved if all(degree in _DEGREES for degree in moved) else start
        phrase = _walk(plan, (*opening, *close), start, degrees[-1:], ends, rng)
        if phrase is None:
            return None
        motifs.setdefault(letter, phrase[: len(opening)])
        degrees += phrase
    pitches = _to_semitones(degrees, plan.mode)
    return pitches if 5 <= max(pitches) - min(pitches) <= _AMBITUS else None


def _walk(
    plan: _Plan,
    numbers: Sequence[int],
    start: list[int],
    before: list[int],
    ends: Sequence[int],
    rng: Random,
) -> list[int] | None:
    """Draw a random walk on the scale for the notes `numbers`: it begins with `start` and closes on
    one of `ends`.

    The walk is a Markov chain of second order. A note is drawn in proportion to its own weight
    times the weight of all continuations to an end (backward weights), so that every walk ends
    correctly.
    """
    measure = plan.length // len(plan.measures)
    stressed = [plan.onsets[i] % measure == 0 or plan.durations[i] >= 3 * _EIGHTH for i in numbers]

    @cache
    def onward(i: int, degree: int, interval: int) -> float:
        """Weight of all continuations from note i, which has this degree and was reached by this
        interval.
        """
        if i < len(numbers) - 1:
            return sum(onward_by(i + 1, degree + step, step, interval) for step in _INTERVALS)
        if degree not in ends:
            return 0.0
        return _CLOSE_WEIGHTS.get(abs(interval), 1.0)

    def onward_by(i: int, degree: int, step: int, last_step: int) -> float:
        weight = _weight(degree, step, last_step, stressed[i])
        return weight * onward(i, degree, step) if weight else 0.0

    def draw(i: int, interval: int) -> int | None:
        """Draw the degree of note i; None if no continuation ends correctly."""
        if line:
            weights = {
                line[-1] + step: onward_by(i, line[-1] + step, step, interval)
                for step in _INTERVALS
            }
        else:
            weights = {degree: onward(i, degree, 0) for degree in _STARTS}
        if not any(weights.values()):
            return None
        return rng.choices(list(weights), list(weights.values()))[0]

    line = list(before)  # the last note of the phrase before, if any, and the walk
    interval = 0
    for i in range(len(numbers)):
        degree = start[i] if i < len(start) else draw(i, interval)
        if degree is None:
            return None
        interval = max(-5, min(5, degree - line[-1])) if line else 0
        line.append(degree)
    return line[len(before) :]


@cache
def _weight(degree: int, step: int, before: int, is_stressed: bool) -> float:
    """Weight of a note that is `step` scale steps from the last note, which was reached by the
    interval `before`.
    """
    if degree not in _DEGREES:
        return 0.0
    weight = _STEP_WEIGHTS[abs(step)] * _turn_weight(step, before)
    # The first note of a measure and long notes prefer the tonic triad.
    if is_stressed and degree % 7 in (0, 2, 4):
        weight *= 2.0
    # Melodies prefer the middle of the range.
    return weight * (1.0 if -2 <= degree <= 7 else 0.4)


def _turn_weight(step: int, before: int) -> float:
    """Weight of the direction of a step after the interval `before`."""
    goes_on, turns, size = step * before > 0, step * before < 0, abs(step)
    if abs(before) >= 3:
        # After a leap the melody turns back, preferably by step.
        return 3.0 if turns and size <= 2 else 0.15
    if abs(before) == 2 and goes_on and size > 2:
        return 0.3
    if goes_on and size == 1:
        return 1.3  # scales go on
    if turns and size == 1 == abs(before):
        return 0.6  # turns to and fro are rarer
    return 1.0


def _to_semitones(degrees: list[int], mode: str) -> list[int]:
    scale = _SCALES[mode]
    pitches = []
    for i, degree in enumerate(degrees):
        octave, step = divmod(degree, 7)
        around = degrees[max(0, i - 1) : i] + degrees[i + 1 : i + 2]
        neighbours = {neighbour % 7 for neighbour in around}
        # The leading note goes to the tonic. Next to the sixth it would form an augmented second.
        goes_to_tonic = step == 6 and 0 in neighbours and 5 not in neighbours
        is_raised = mode == "harmonic minor" and goes_to_tonic
        pitches.append(12 * octave + scale[step] + is_raised)
    return pitches


def _move_passage(pitches: list[int], mode: str, level: int, rng: Random) -> list[int] | None:
    """Move some notes in a row within the key, so that the intervals before and after them have
    another size; at a higher level fewer notes, and not as far.
    """
    longest, farthest = _NOTES[1] // level**2, min(4, 6 - level)
    scale = {*_SCALES[mode], *(() if mode == "major" else (11,))}
    intervals = [b - a for a, b in pairwise(pitches)]
    shifts = [*range(-farthest, 0), *range(1, farthest + 1)]
    variants = []
    for (start, end), shift in product(combinations(range(1, len(pitches)), 2), shifts):
        if end - start > longest:
            continue
        # The interval into the passage, and that out of it.
        edges = ((intervals[start - 1], shift), (intervals[end - 1], -shift))
        if not all(_keeps_direction(size, size + change) for size, change in edges):
            continue
        passage = [pitch + shift for pitch in pitches[start:end]]
        changed = [*pitches[:start], *passage, *pitches[end:]]
        is_in_key = {pitch % 12 for pitch in passage} <= scale
        if is_in_key and max(changed) - min(changed) <= _AMBITUS:
            variants.append(changed)
    return rng.choice(variants) if variants else None


def _keeps_direction(old: int, new: int) -> bool:
    return old * new > 0 and abs(new) <= _MAX_LEAP


def _reorder(pitches: list[int], rng: Random) -> list[int] | None:
    """Put the notes in another order that is about as smooth; the first and last notes stay."""
    roughness = sum(abs(b - a) for a, b in pairwise(pitches))
    for _ in range(60):
        changed = list(pitches)
        for _ in range(rng.randint(2, 4)):
            i, j = rng.sample(range(1, len(pitches) - 1), 2)
            changed[i], changed[j] = changed[j], changed[i]
        differing = sum(a != b for a, b in zip(pitches, changed, strict=True))
        leaps = [abs(b - a) for a, b in pairwise(changed)]
        if differing >= 3 and max(leaps) <= _MAX_LEAP and sum(leaps) <= 1.25 * roughness:
            return changed
    return None


def _perform(
    pitches: list[int],
    tonic: int,
    plan: _Plan,
    instrument: Instrument,
    program: int,
    rng: Random,
) -> Melody:
    """Perform a melody, in semitones above the tonic, nearly legato and with the accents of the
    metre.
    """
    key = (_MAJOR_KEYS if plan.mode == "major" else _MINOR_KEYS)[tonic % 12]
    pitches = [tonic + pitch for pitch in pitches]
    measure = plan.length // len(plan.measures)
    beat = 3 * _EIGHTH if plan.meter == (6, 8) else TICKS_PER_BEAT
    notes = []
    for onset, duration, pitch in zip(plan.onsets, plan.durations, pitches, strict=True):
        is_on_beat = onset % beat == 0
        accent = 12 if onset % measure == 0 else 6 * is_on_beat
        # Velocities are drawn for every melody: equal velocities would give a transposition away.
        notes.append(
            Note(onset, pitch, duration - duration // 16, 78 + accent + rng.randint(-4, 4))
        )
    performance = Performance(
        tuple(notes), plan.tempo, plan.meter, key, program=program, length=plan.length
    )
    return Melody(tuple(pitches), key, plan.meter, plan.tempo, instrument, performance)
