"""Pairs of melodies for the transposition task: one melody in two keys, or a melody and a foil in another key.

A melody is two or four phrases of two measures over one rhythm plan: a motif, its return (as it was, or a step or
a third higher or lower), half closes on the way and a close on the tonic. Pitches are a random walk on the scale
with the ends of the phrases fixed: mostly steps, leaps that turn back.

A foil keeps tempo, metre, instrument, rhythm and number of notes, and lies as far from the first melody as a true
transposition would, so that only the intervals tell the two apart. Either of two unlike melodies may come first.
"""

import random
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Final, Literal, NamedTuple, get_args

from music_evals.datasets_builders import read_table
from music_evals.notation.midi.performance import TICKS_PER_BEAT, Note, Performance

Instrument = Literal["guitar", "piano"]
Foil = Literal["other_melody", "changed_interval", "reordered"]

INSTRUMENTS: Final[tuple[Instrument, ...]] = get_args(Instrument)
FOILS: Final[tuple[Foil, ...]] = get_args(Foil)

RANGES: Final[dict[Instrument, tuple[int, int]]] = {"guitar": (40, 76), "piano": (60, 84)}
"""Lowest and highest sounding MIDI pitch: the guitar's E2 to E5, and C4 to C6 for a melody on the piano."""

MAX_TRANSPOSITION: Final = 11  # largest distance between the two keys, in semitones
_PROGRAMS: Final[dict[Instrument, tuple[int, ...]]] = {"guitar": (24, 25), "piano": (0,)}  # nylon, steel; grand
_MAJOR_KEYS: Final = ("C", "Db", "D", "Eb", "E", "F", "Gb", "G", "Ab", "A", "Bb", "B")
_MINOR_KEYS: Final = ("Cm", "C#m", "Dm", "Ebm", "Em", "Fm", "F#m", "Gm", "G#m", "Am", "Bbm", "Bm")
_SCALES: Final = {
    "major": (0, 2, 4, 5, 7, 9, 11),
    "natural minor": (0, 2, 3, 5, 7, 8, 10),
    "harmonic minor": (0, 2, 3, 5, 7, 8, 10),  # its seventh is raised where it leads to the tonic
}
_MODES: Final = {"major": 5, "natural minor": 3, "harmonic minor": 2}

_TEMPI: Final = (70, 180)
_SECONDS: Final = (4.0, 9.5)
_NOTES: Final = (8, 28)
# Both melodies of the farthest pair must fit into the piano's two octaves.
_AMBITUS: Final = RANGES["piano"][1] - RANGES["piano"][0] - MAX_TRANSPOSITION
_MAX_LEAP: Final = 9

# Share of the melodies that close on the third or fifth, in pairs whose kind does not ask for it. A changed interval
# moves the close away from the tonic; it must not be the only kind where that happens.
_OPEN_SHARE: Final = 0.25

_EIGHTH: Final = TICKS_PER_BEAT // 2
# Rhythms of a measure by metre.
_OPENINGS, _CLOSES = (
    {(int(meter[0]), int(meter[2])): rhythms for meter, rhythms in table.items()}
    for table in read_table("names/muse_rhythms.toml").values()
)
# Phrases by letter; equal letters share their rhythm, and mostly their first measure.
_FORMS: Final = {2: ("AA", "AA", "AB"), 4: ("ABAC", "AABA", "AAAB", "ABAB", "AABC")}

# Degrees are steps of the scale above the tonic, 0 to 6 in the octave on it; the walk stays within these.
_DEGREES: Final = tuple(range(-4, 10))
_HALF_CLOSES: Final = (1, 4, 2, -3)
_STARTS: Final = (0, 2, 4)


class Melody(NamedTuple):
    """A melody of one voice: MIDI pitches, a key as `mido` spells it (``"F#m"``), a tempo in quarter notes a minute."""

    pitches: tuple[int, ...]
    key: str
    meter: tuple[int, int]
    tempo: int
    instrument: Instrument
    performance: Performance


class MelodyPair(NamedTuple):
    """Two melodies to compare; `foil` is None where the second is the first in another key.

    `semitones` is the distance from the first key to the second, upward positive; never 0 or an octave.
    """

    first: Melody
    second: Melody
    foil: Foil | None
    semitones: int


class _Plan(NamedTuple):
    """Everything of a melody but its pitches: rhythm in ticks, and where the phrases and measures begin."""

    meter: tuple[int, int]
    tempo: int
    onsets: tuple[int, ...]
    durations: tuple[int, ...]
    length: int
    form: str
    measures: tuple[tuple[int, ...], ...]  # for each measure, two a phrase, the numbers of its notes


def is_transposition(first: Sequence[int], second: Sequence[int]) -> bool:
    """Whether two melodies (MIDI pitches) are the same but for their key, under the most lenient reading.

    Notes that repeat the pitch class before them are merged and intervals are taken modulo an octave, so whatever
    a stricter reading holds to be a transposition is one here too.
    """
    return _lenient_intervals(first) == _lenient_intervals(second)


def compose_pair(*, foil: Foil | None, instrument: Instrument, rng: random.Random) -> MelodyPair:
    """Compose two melodies to compare, in different keys of one mode; no foil is a transposition of the other.

    ``"other_melody"`` has new pitches throughout. In ``"changed_interval"`` exactly one interval differs, in size and
    not in direction. ``"reordered"`` has the same pitches relative to the key, as often, in another order.

    Source: MUSE (arXiv 2510.22455), transposition task; the foils other than ``"other_melody"`` go beyond it.
    """
    if foil is not None and foil not in FOILS:
        raise ValueError(f"foil {foil!r} is unknown; accepted are {', '.join(FOILS)} or None")
    if instrument not in INSTRUMENTS:
        raise ValueError(f"instrument {instrument!r} is unknown; accepted are {', '.join(INSTRUMENTS)}")
    # Drawn first, so that no later rejection can make it depend on the kind of pair.
    semitones = rng.randint(1, MAX_TRANSPOSITION) * rng.choice((-1, 1))
    program = rng.choice(_PROGRAMS[instrument])
    low, high = RANGES[instrument]
    while True:
        mode = rng.choices(list(_MODES), list(_MODES.values()))[0]
        plan = _plan(rng)
        made = _compose_two(foil, plan, mode, rng)
        if made is None:
            continue
        first, second = made
        # Pitches are relative to the tonic so far: place it where both melodies fit.
        lowest = low - min(min(first), min(second) + semitones)
        highest = high - max(max(first), max(second) + semitones)
        if lowest > highest:
            continue
        tonic = rng.randint(lowest, highest)
        melodies = [
            _perform([pitch + shift for pitch in pitches], shift, mode, plan, instrument, program, rng)
            for pitches, shift in ((first, tonic), (second, tonic + semitones))
        ]
        return MelodyPair(melodies[0], melodies[1], foil, semitones)


def _compose_two(foil: Foil | None, plan: _Plan, mode: str, rng: random.Random) -> tuple[list[int], list[int]] | None:
    """Compose both melodies relative to their tonics, or None if this plan does not yield a pair."""
    melody = _compose(plan, mode, rng)
    if melody is None:
        return None
    if foil == "changed_interval":
        other = _change_interval(melody, mode, rng)
    else:
        if rng.random() < _OPEN_SHARE:
            melody = _change_interval(melody, mode, rng) or melody
        if foil is None:
            return melody, melody
        other = _compose(plan, mode, rng) if foil == "other_melody" else _reorder(melody, rng)
    if other is None or is_transposition(melody, other):
        return None
    # Which of the two is the altered one must not be a rule to learn.
    return (melody, other) if rng.random() < 0.5 else (other, melody)


def _plan(rng: random.Random) -> _Plan:
    """Choose metre, tempo, form and rhythm."""
    while True:
        meter = rng.choices(list(_OPENINGS), (5, 3, 2, 2))[0]
        phrases = rng.choice((2, 4))
        measure = 8 * meter[0] // meter[1]
        tempo = rng.randint(*_TEMPI)
        seconds = 2 * phrases * measure * 30 / tempo
        if not _SECONDS[0] <= seconds <= _SECONDS[1]:
            continue
        form = rng.choice(_FORMS[phrases])
        rhythms = {letter: (rng.choice(_OPENINGS[meter]), rng.choice(_CLOSES[meter])) for letter in sorted(set(form))}
        last = rng.choice([rhythm for rhythm in _CLOSES[meter] if max(rhythm) >= measure / 2])
        chosen = [*[rhythm for letter in form for rhythm in rhythms[letter]][:-1], last]
        onsets: list[int] = []
        durations: list[int] = []
        measures: list[tuple[int, ...]] = []
        for number, rhythm in enumerate(chosen):
            tick = number * measure * _EIGHTH
            notes = []
            for eighths in rhythm:
                if eighths > 0:
                    notes.append(len(onsets))
                    onsets.append(tick)
                    durations.append(eighths * _EIGHTH)
                tick += abs(eighths) * _EIGHTH
            measures.append(tuple(notes))
        if _NOTES[0] <= len(onsets) <= _NOTES[1]:
            length = len(chosen) * measure * _EIGHTH
            return _Plan(meter, tempo, tuple(onsets), tuple(durations), length, form, tuple(measures))


def _compose(plan: _Plan, mode: str, rng: random.Random) -> list[int] | None:
    """Compose pitches in semitones from the tonic, or None where they outgrow the range of a melody."""
    degrees: list[int] = []
    motifs: dict[str, list[int]] = {}
    for number, letter in enumerate(plan.form):
        opening, close = plan.measures[2 * number : 2 * number + 2]
        is_last = number == len(plan.form) - 1
        ends = (0, 7) if is_last else _HALF_CLOSES
        motif = motifs.get(letter, motifs["A"] if motifs and len(opening) == len(motifs["A"]) else None)
        given: list[int] = []
        if motif is not None and len(motif) == len(opening):
            # The motif returns as it was, or in sequence.
            shift = rng.choices((0, 1, -1, 2, -2), (6, 2, 2, 1, 1))[0]
            given = [degree + shift for degree in motif]
            if not all(degree in _DEGREES for degree in given):
                given = motif
        phrase = _walk(plan, (*opening, *close), given, degrees[-1:], ends, rng)
        if phrase is None:
            return None
        motifs.setdefault(letter, phrase[: len(opening)])
        degrees += phrase
    pitches = _to_semitones(degrees, mode)
    # A melody needs some room to move and must not exceed the range.
    return pitches if 5 <= max(pitches) - min(pitches) <= _AMBITUS else None


def _walk(
    plan: _Plan, numbers: Sequence[int], given: list[int], before: list[int], ends: Sequence[int], rng: random.Random
) -> list[int] | None:
    """A random walk on the scale for the notes `numbers`, from `given` degrees to one of `ends`.

    Each note is drawn in proportion to its own weight and to the weight of all ways on to the end (forward filtering
    of a Markov chain of second order, with backward weights), so that no walk ever has to be patched.
    """
    total = len(numbers)
    measure = plan.length // len(plan.measures)
    stressed = [plan.onsets[i] % measure == 0 or plan.durations[i] >= 3 * _EIGHTH for i in numbers]
    # onward[i][(degree, interval)]: weight of all ways from note i, reached by that interval, to an end.
    intervals = range(-5, 6)
    onward: list[dict[tuple[int, int], float]] = [{} for _ in numbers]
    for i in reversed(range(total)):
        for degree in _DEGREES:
            for interval in intervals:
                if i == total - 1:
                    # A close is reached by step, from a stable side.
                    weight = (3.0 if abs(interval) == 1 else 0.3 if interval == 0 else 1.0) if degree in ends else 0.0
                else:
                    weight = sum(
                        _weight(degree + step, step, interval, stressed[i + 1])
                        * onward[i + 1].get((degree + step, step), 0.0)
                        for step in intervals
                    )
                if weight > 0:
                    onward[i][degree, interval] = weight

    walk: list[int] = []
    interval = 0
    for i in range(total):
        previous = walk[-1] if walk else before[-1] if before else None
        if i < len(given):
            degree = given[i]
        else:
            choices = _STARTS if previous is None else [previous + step for step in intervals]
            weights = [
                (1.0 if previous is None else _weight(choice, choice - previous, interval, stressed[i]))
                * onward[i].get((choice, 0 if previous is None else choice - previous), 0.0)
                for choice in choices
            ]
            if not any(weights):
                return None
            degree = rng.choices(choices, weights)[0]
        interval = 0 if previous is None else max(-5, min(5, degree - previous))
        walk.append(degree)
    return walk


@cache
def _weight(degree: int, step: int, before: int, is_stressed: bool) -> float:
    """How well a note follows: it is `step` from the last one, which was reached by `before` (in scale steps)."""
    if degree not in _DEGREES:
        return 0.0
    weight = (0.5, 6.0, 1.3, 0.4, 0.2, 0.06)[abs(step)]
    if abs(before) >= 3:
        # A leap turns back, by step for choice.
        weight *= 3.0 if step * before < 0 and abs(step) <= 2 else 0.15
    elif abs(before) == 2 and abs(step) > 2 and step * before > 0:
        weight *= 0.3
    elif step * before > 0 and abs(step) == 1:
        weight *= 1.3  # steps run on
    elif step * before < 0 and abs(step) == 1 and abs(before) == 1:
        weight *= 0.6  # rather than turn to and fro
    # The first note of a measure and long ones belong to the tonic triad.
    if is_stressed and degree % 7 in (0, 2, 4):
        weight *= 2.0
    # The middle of the range is home.
    return weight * (1.0 if -2 <= degree <= 7 else 0.4)


def _to_semitones(degrees: list[int], mode: str) -> list[int]:
    scale = _SCALES[mode]
    pitches = []
    for i, degree in enumerate(degrees):
        octave, step = divmod(degree, 7)
        neighbours = {neighbour % 7 for neighbour in degrees[max(0, i - 1) : i] + degrees[i + 1 : i + 2]}
        # The leading note goes to the tonic; beside the sixth it would make an augmented second.
        is_leading = mode == "harmonic minor" and step == 6 and 0 in neighbours and 5 not in neighbours
        pitches.append(12 * octave + scale[step] + is_leading)
    return pitches


def _change_interval(pitches: list[int], mode: str, rng: random.Random) -> list[int] | None:
    """Change the size of one interval; all notes after it move. Stays in the key and ends on a triad note."""
    scale = set(_SCALES[mode]) | ({11} if mode != "major" else set())
    triad = {_SCALES[mode][degree] for degree in (2, 4)}
    found = []
    for i in range(1, len(pitches)):
        old = pitches[i] - pitches[i - 1]
        for new in range(1, _MAX_LEAP + 1) if old > 0 else range(-_MAX_LEAP, 0) if old < 0 else ():
            shift = new - old
            moved = [pitch + shift for pitch in pitches[i:]]
            changed = pitches[:i] + moved
            if (
                shift % 12
                and {pitch % 12 for pitch in moved} <= scale
                and moved[-1] % 12 in triad
                and max(changed) - min(changed) <= _AMBITUS
            ):
                found.append(changed)
    return rng.choice(found) if found else None


def _reorder(pitches: list[int], rng: random.Random) -> list[int] | None:
    """Put the notes in another order that is about as smooth; the last one stays."""
    roughness = sum(abs(b - a) for a, b in pairwise(pitches))
    for _ in range(60):
        changed = list(pitches)
        for _ in range(rng.randint(2, 4)):
            i, j = rng.sample(range(len(pitches) - 1), 2)
            changed[i], changed[j] = changed[j], changed[i]
        differing = sum(a != b for a, b in zip(pitches, changed, strict=True))
        leaps = [abs(b - a) for a, b in pairwise(changed)]
        if differing >= 3 and max(leaps) <= _MAX_LEAP and sum(leaps) <= 1.25 * roughness:
            return changed
    return None


def _lenient_intervals(pitches: Sequence[int]) -> tuple[int, ...]:
    return tuple(step for a, b in pairwise(pitches) if (step := (b - a) % 12))


def _perform(
    pitches: list[int], tonic: int, mode: str, plan: _Plan, instrument: Instrument, program: int, rng: random.Random
) -> Melody:
    """Play a melody nearly legato, with the metre's accents."""
    keys = _MAJOR_KEYS if mode == "major" else _MINOR_KEYS
    key = keys[tonic % 12]
    measure = plan.length // len(plan.measures)
    beat = 3 * _EIGHTH if plan.meter == (6, 8) else TICKS_PER_BEAT
    notes = []
    for onset, duration, pitch in zip(plan.onsets, plan.durations, pitches, strict=True):
        accent = 12 if onset % measure == 0 else 6 if onset % beat == 0 else 0
        # Velocities are drawn anew for each melody: equal ones would give a transposition away.
        notes.append(Note(onset, pitch, duration - duration // 16, 78 + accent + rng.randint(-4, 4)))
    performance = Performance(
        tuple(notes), tempo=plan.tempo, meter=plan.meter, key=key, program=program, length=plan.length
    )
    return Melody(tuple(pitches), key, plan.meter, plan.tempo, instrument, performance)
