"""Stimuli of the ten tasks, composed so that nothing but the music gives the answer away.

The right option decides what is compared or played. All else is drawn in the same way for every
option: instrument, tempo, register, number of notes. Two clips of a pair never have the same bytes,
because each is performed anew. Level 1 is like the authors' stimuli; those of levels 2 to 5 are
longer, differ less, and have more notes that do not matter.

Source: The MUSE Benchmark (arXiv 2510.19055); options and their order are those of its runners.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from random import Random
from typing import NamedTuple

from music_evals.datasets_builders import read_table
from music_evals.datasets_builders.muse import chords, drum_loops, melodies
from music_evals.datasets_builders.muse.rows import DIFFERENT, SAME, Row
from music_evals.notation.midi.performance import TICKS_PER_BEAT, Note, Performance

NAME = "muse_ten"
VERSION = "1.4.0"


Clip = tuple[Performance, str]
"""A performance, and its instrument."""


class Stimulus(NamedTuple):
    """One or two clips with their instruments; the kind of stimulus, and why the answer is
    right.
    """

    clips: Sequence[Clip]
    variant: str
    why: str


Compose = Callable[[int, int, int, Random], Stimulus]
"""Composes a stimulus: place of the right option, number of the stimulus among those of this
option, level, randomness.
"""

_TABLE = read_table("names/muse_ten.toml")
_PITCHES = read_table("names/scales.toml")
PROGRAMS = _TABLE["programs"]
GROUPS = (3, 4, 5)
DEGREES = _TABLE["degrees"]
PROGRESSIONS = ("I-V-vi-IV", "vi-IV-I-V", "I-IV-V-V", "I-vi-ii-V", "I-vi-IV-V")
_MODULATIONS = (2, 7, 5, 1, 3)  # semitones upward
_FOREIGN = 0.4  # how often an inner chord is
_DRAWN = 300  # stimuli of each answer, of which two are likely to have the same notes
_LOWEST = {"piano": 55, "guitar": 48, "bass": 28}
# Much wider than a contour, so that its first or last note hardly tells which contour it is.
_COMPASS = (36, 88)
_DRUM_FOILS = ("other pattern", "moved stroke", "swapped drum")
_STROKES = 16
_Slots = tuple[int, ...]
_LOUDER = (-6, 6)  # velocity of the low notes, compared with the others
_GAP = TICKS_PER_BEAT // 16  # silence before the next note


def _oddball(place: int, serial: int, level: int, rng: Random) -> Stimulus:
    """A melody twice; in one of them, a note is changed: at level 1 to a pitch class that the
    melody does not have, above to one that it mostly has.
    """
    instrument = melodies.INSTRUMENTS[serial % 2]
    melody = melodies.compose_pair(foil=None, instrument=instrument, rng=rng, level=level).first
    pitch_classes = {pitch % 12 for pitch in melody.pitches}
    at, altered = rng.randrange(1, len(melody.pitches) - 1), rng.randrange(2)
    steps = [
        step
        for step in (-1, 1, -2, 2)
        if ((melody.pitches[at] + step) % 12 in pitch_classes) == (level > 1)
    ]
    step = rng.choice(steps[:2] or (-1, 1)) if place else 0
    clips = []
    for number in range(2):
        notes = [
            replace(note, velocity=note.velocity + rng.randint(-4, 4))
            for note in melody.performance.notes
        ]
        if number == altered:
            notes[at] = replace(notes[at], pitch=notes[at].pitch + step)
        program = rng.choice(PROGRAMS[instrument])
        clips.append((replace(melody.performance, notes=tuple(notes), program=program), instrument))
    why = (
        f"note {at + 1} of excerpt {altered + 1} is {step:+} semitones off."
        if step
        else "all pitches are equal."
    )
    return Stimulus(clips, "oddball" if step else "same", why)


def _contour(place: int, serial: int, level: int, rng: Random) -> Stimulus:
    """A scale or an arpeggio of five or seven notes, anywhere in the compass of an instrument.

    Above level 1 these are the highest notes of bars with 4 to 10 notes. Where the highest note
    rises, the lowest falls, so the average tells nothing.
    """
    texture = "arpeggio" if serial % 2 and level == 1 else "scale"
    instrument = ("piano", "guitar")[serial // 2 % 2]
    mode, n_notes = rng.choice(list(_PITCHES["scales"])), rng.choice((5, 7)) + level // 2 * 2
    steps = _PITCHES["scales" if texture == "scale" else "sevenths"][mode]
    height = n_notes if place >= 2 else (n_notes + 1) // 2
    ladder = [12 * (i // len(steps)) + steps[i % len(steps)] for i in range(height)]
    contour = (ladder + ladder[-2::-1], ladder[::-1] + ladder[1:], ladder, ladder[::-1])[place]
    if level > 1:
        bottom, peaks, contour = 2 * min(contour) - 6, contour, []
        for peak in peaks:
            bar = [peak, *rng.choices(range(bottom - peak, peak), k=2 * level - 1)]
            rng.shuffle(bar)
            contour += bar
    low, high = _COMPASS
    lowest = rng.randint(low - min(contour), high - max(contour))
    line = [lowest + step for step in contour]
    clip = _line(line, instrument, rng, min(TICKS_PER_BEAT, 2 * TICKS_PER_BEAT // level))
    return Stimulus([clip], f"{mode} {texture}", f"its pitches are {_numbers(line)}.")


def _instrument(place: int, serial: int, _: int, rng: Random) -> Stimulus:
    """A melody in the register of an instrument, or drums; number of notes and length are about the
    same.
    """
    n_notes = rng.randint(12, 20)
    name = [*PROGRAMS, "drums"][place]
    if name == "drums":
        loop = drum_loops.compose_drum_loop(rng.choice(drum_loops.OFFBEATS), rng).performance
        notes = tuple(sorted(loop.notes)[:n_notes])
        clips = [(replace(loop, notes=notes, tempo=rng.randint(75, 115), length=None), "drums")]
    else:
        scale = rng.choice(list(_PITCHES["scales"].values()))
        lowest, degree, line = _LOWEST[name] + rng.randrange(6), rng.randrange(8), []
        for _ in range(n_notes):
            degree = min(10, max(0, degree + rng.choice((-2, -1, 1, 2))))
            line.append(lowest + 12 * (degree // 7) + scale[degree % 7])
        clips = [_line(line, name, rng, TICKS_PER_BEAT // 2)]
    return Stimulus(clips, name, f"the {'drums play' if name == 'drums' else f'{name} plays'}.")


def _rhythm_matching(place: int, serial: int, level: int, rng: Random) -> Stimulus:
    """A drum loop twice, or two loops with equally many strokes; above level 1 they differ in one
    stroke.
    """
    loop = drum_loops.compose_loop(rng.choice(drum_loops.OFFBEATS), level, rng)
    foils = _DRUM_FOILS[level > 1 :]
    variant = foils[serial % len(foils)] if place else "same"
    patterns = [(loop.kick, loop.snare), _drum_foil(loop, variant, level, rng)]
    if rng.random() < 0.5:
        patterns.reverse()
    texts = [f"kick {_numbers(kick)}, snare {_numbers(snare)}" for kick, snare in patterns]
    late = drum_loops.lateness(level)
    clips = [
        (drum_loops.perform_drum_loop(*pattern, rng, level).played_late(late, rng), "drums")
        for pattern in patterns
    ]
    why = f"the first has {texts[0]}; the second {texts[1]}" if place else f"both have {texts[0]}"
    return Stimulus(clips, variant, f"{why} (eighths, counted from 1).")


def _drum_foil(
    loop: drum_loops.DrumLoop, variant: str, level: int, rng: Random
) -> tuple[_Slots, _Slots]:
    """Kick and snare of the loop that a loop is compared with."""
    kick, snare = loop.kick, loop.snare
    match variant:
        case "other pattern":
            while {*kick} == {*loop.kick} or len(kick + snare) != len(loop.kick + loop.snare):
                kick, snare, _ = drum_loops.compose_drum_loop(loop.offbeats, rng)
        case "moved stroke":
            # The stroke stays in the loop, and the first beat keeps its own.
            free = {*drum_loops.slots(level)} - {*kick, *snare}
            moves = product((slot for slot in kick if slot > 2), (-2, -1, 1, 2))
            old, step = rng.choice([(slot, step) for slot, step in moves if slot + step in free])
            kick = tuple(sorted({*kick, old + step} - {old}))
        case "swapped drum":
            slot = rng.choice(kick[1:])
            kick = tuple(other for other in kick if other != slot)
            snare = tuple(sorted((*snare, slot)))
    return kick, snare


def _meter(place: int, serial: int, level: int, rng: Random) -> Stimulus:
    """One note a beat; the first of each group is low. The file's own metre is one beat.

    How loud and long the low notes are does not depend on the group. The last note is never low.
    Above level 1 there are two notes a beat. Many groups begin without a low note, but some two in
    a row begin with one. Notes between the beats may be low, too.
    """
    instrument, group = ("drums", "piano", "guitar")[serial % 3], GROUPS[place]
    per_beat = min(level, 2)
    n_notes = per_beat * rng.randint(12 + 12 * level, 28 + 12 * level)
    low_notes = [*range(0, n_notes - 1, group * per_beat)]
    if level > 1:
        # About as many beats are low whatever the group.
        share, at = group * (7 - level) / 40, rng.randrange(len(low_notes) - 1)
        fixed = [0, *low_notes[at : at + 2]]
        low_notes = fixed + [number for number in low_notes if rng.random() < share]
        low_notes += [number for number in range(1, n_notes - 1, 2) if rng.random() < 0.05 * level]
    lowest = rng.randint(40, 47)
    louder, longest = rng.randint(*_LOUDER), rng.randint(1, min(GROUPS))
    notes, chord = [], DEGREES["I"]
    unit = TICKS_PER_BEAT // per_beat
    for number in range(n_notes):
        is_low = number in low_notes
        if is_low and number > 0:
            chord = DEGREES[rng.choice(("I", "IV", "V", "vi"))]
        if instrument == "drums":
            pitch = drum_loops.KICK if is_low else drum_loops.HI_HAT
        else:
            pitch = lowest + chord[0] + (0 if is_low else 12 + rng.choice((chord[1], 7)))
        velocity = rng.randint(64, 100) + (louder if is_low else 0)
        n_sounding = rng.randint(1, longest) if is_low and level == 1 else 1
        notes.append(Note(number * unit, pitch, n_sounding * unit - _GAP, velocity))
    clip, _ = _clip(notes, instrument, rng.randint(104 + 16 * level, 200), rng)
    clip = clip.played_late(range(4 * level - 3), rng)
    return Stimulus(
        [(replace(clip, meter=(1, 4)), instrument)],
        instrument,
        f"every {group} beats, a low note {'comes' if level == 1 else 'may come'}.",
    )


def _key_modulation(place: int, serial: int, level: int, rng: Random) -> Stimulus:
    """Progressions that close on their tonic, two to four by level, of which the later ones may be
    in another key, at levels 4 and 5 in a related one.

    Foreign chords lead to chords of the key, also where it stays. Stimuli of both answers are drawn
    until two have as many notes of each pitch class, whatever its name: one of them is played.
    """
    shifts = _MODULATIONS if level < 4 else (7, 5)
    n_halves = 2 + level // 2
    tonic, shift, change = (
        rng.randrange(12),
        shifts[serial % len(shifts)],
        1 + serial % (n_halves - 1),
    )
    drawn: list[dict[tuple[int, ...], list[tuple[int, str]]]] = [{}, {}]
    while not (common := sorted(drawn[0].keys() & drawn[1].keys())):
        for _, is_same in product(range(_DRAWN), (0, 1)):
            chords = [
                (tonic + shift * (number >= change and not is_same), chord)
                for number in range(n_halves)
                for chord in _coloured(rng)
            ]
            tones = chain.from_iterable(_tones(chord, level) for chord in chords)
            drawn[is_same][tuple(sorted(Counter(tones).values()))] = chords
    chords = drawn[place][rng.choice(common)]
    names = [chord for _, chord in chords]
    moved = f"{shift} semitones higher" if place == 0 else "in the same key"
    later = "-".join(names[5 * change :])
    why = f"{'-'.join(names[: 5 * change])}, then {later} {moved}."
    variant = "same key" if place else f"{shift} semitones up"
    return Stimulus([_play_chords(chords, rng, level)], variant, why)


def _coloured(rng: Random) -> list[str]:
    """A progression that closes on its tonic, some of whose inner chords are foreign."""
    half = [*rng.choice(PROGRESSIONS).split("-"), "I"]
    for at in range(1, 4):
        if rng.random() < _FOREIGN:
            half[at] = rng.choice(_TABLE["leading"].get(half[at + 1], (half[at],)))
    return half


def _tones(chord: tuple[int, str], level: int) -> list[int]:
    """The pitch classes of a chord; at level 1 the root is doubled."""
    tonic, degree = chord
    step, third = DEGREES[degree]
    return [(tonic + step + above) % 12 for above in ([0, third, 7] + [0] * (level == 1))]


def _progression(place: int, serial: int, level: int, rng: Random) -> Stimulus:
    """Two progressions, each played twice through, in the same key or in two keys; both begin on
    the same degree.

    Above level 1 they are longer, and a chord may be replaced by one that shares two notes with it.
    """
    names = [name for name in PROGRESSIONS if level > 1 or name.startswith("I-")]
    first = "-".join([rng.choice(names) for _ in range(level)])
    second = [name for name in names if name != first]
    if level > 1:
        chords = first.split("-")
        at = rng.randrange(1, len(chords) - 1)
        chords[at] = _TABLE["relatives"][chords[at]]
        second = ["-".join(chords)]
    played = [first, rng.choice(second) if place else first]
    tonic = rng.randrange(12)
    tonics = [tonic, tonic + (0 if serial % 2 else rng.randint(1, 11))]
    clips = [
        _play_chords([(key, chord) for chord in name.split("-") * (1 + (level == 1))], rng, level)
        for name, key in zip(played, tonics, strict=True)
    ]
    variant = "same key" if serial % 2 else "other key"
    return Stimulus(clips, variant, f"the first is {played[0]}, the second {played[1]}.")


def _transposition_pairs(place: int, serial: int, level: int, rng: Random) -> Stimulus:
    """A melody in two keys, or two melodies that differ in their intervals alone, as in `muse`."""
    foil = melodies.FOILS[serial % len(melodies.FOILS)] if place else None
    instrument = melodies.INSTRUMENTS[serial % 2]
    pair = melodies.compose_pair(foil=foil, instrument=instrument, rng=rng, level=level)
    why = (
        "the intervals differ"
        if foil
        else f"all intervals are equal, {pair.semitones:+} semitones away"
    )
    clips = [(melody.performance, melody.instrument) for melody in (pair.first, pair.second)]
    return Stimulus(clips, foil or "same", f"{why}.")


def _major_or_minor(place: int, serial: int, _: int, rng: Random) -> Stimulus:
    """A triad as a block and then as an arpeggio, from C3 on, in any voicing and loudness."""
    instrument, quality, root = (
        ("piano", "guitar")[serial % 2],
        chords.QUALITIES[place],
        rng.choice(chords.ROOTS),
    )
    chord = chords.compose_chord(
        root, quality, rng.randrange(0, chords.N_VARIANTS, chords.N_REGISTERS)
    )
    clip = replace(chord.performance, program=rng.choice(PROGRAMS[instrument]))
    return Stimulus([(clip, instrument)], instrument, f"its notes are those of {root} {quality}.")


def _syncopation_pairs(place: int, serial: int, level: int, rng: Random) -> Stimulus:
    """Two drum loops with equally many strokes, of which more are off the beat in one."""
    pairs = _TABLE["offbeats"]
    low, high = pairs[serial % len(pairs)]
    if level > 1:
        low = rng.randint(2 * level, 5 * level - 5)
        high = low + 1 + (level < 4)
    counts = (low, high) if place else (high, low)
    why = f"{counts[0]} strokes of the first are off the beat, and {counts[1]} of the second."
    clips = [(_equal_loop(count, level, rng), "drums") for count in counts]
    return Stimulus(clips, f"{low} and {high} off-beats", why)


def _equal_loop(offbeats: int, level: int, rng: Random) -> Performance:
    """A loop of 16 strokes, 6 or 7 of them on the snare, and none at its very end, or several
    loops. The beat is not accented.

    Otherwise loops with many strokes off the beat would have fewer snares, and more often end with
    a stroke.
    """
    last = len(drum_loops.slots(level))
    n_snares = range(6 * last // drum_loops.SLOTS, 7 * last // drum_loops.SLOTS + 1)
    loop = drum_loops.compose_loop(offbeats, level, rng, _STROKES)
    while len(loop.snare) not in n_snares or last in loop.kick + loop.snare:
        loop = drum_loops.compose_loop(offbeats, level, rng, _STROKES)
    notes = []
    for note in loop.performance.notes:
        velocity = rng.randint(64, 96) if note.pitch == drum_loops.HI_HAT else rng.randint(84, 110)
        notes.append(replace(note, velocity=velocity))
    return replace(loop.performance, notes=tuple(notes)).played_late(drum_loops.lateness(1), rng)


def _line(
    pitches: Sequence[int], instrument: str, rng: Random, length: int = TICKS_PER_BEAT
) -> Clip:
    """Play notes of the same length."""
    notes = [
        Note(number * length, pitch, length - _GAP, rng.randint(78, 96))
        for number, pitch in enumerate(pitches)
    ]
    return _clip(notes, instrument, rng.randint(110, 170), rng)


def _play_chords(chords: Sequence[tuple[int, str]], rng: Random, level: int) -> Clip:
    """Play triads (tonic, degree) over their root, as blocks or broken, two beats each.

    Above level 1 the register changes, and all but the last may be inverted.
    """
    instrument, broken = rng.choice(("piano", "guitar")), rng.random() < 0.5
    low, length, notes = rng.randint(52, 60), 2 * TICKS_PER_BEAT, []
    for number, (tonic, degree) in enumerate(chords):
        step, third = DEGREES[degree]
        root = bass = tonic + step
        tones = (root, root + third, root + 7)
        if level > 1:
            low = rng.randint(52, 72)
            bass = rng.choice(tones) if number < len(chords) - 1 else root
        upper = sorted(low + (tone - low) % 12 for tone in tones)
        for place, pitch in enumerate([36 + bass % 12, *upper]):
            delay = place * length // 4 if broken else 0
            notes.append(
                Note(number * length + delay, pitch, length - delay - _GAP, rng.randint(74, 90))
            )
    return _clip(notes, instrument, rng.randint(90, 150), rng)


def _clip(notes: Sequence[Note], instrument: str, tempo: int, rng: Random) -> Clip:
    is_drums = instrument == "drums"
    program = 0 if is_drums else rng.choice(PROGRAMS[instrument])
    return Performance(tuple(notes), tempo, (4, 4), None, program, is_drums), instrument


def _numbers(values: Sequence[int]) -> str:
    return ", ".join(map(str, values))


@dataclass(frozen=True, slots=True)
class TaskForm:
    """What the rows of a task are made of."""

    options: Sequence[str]
    compose: Compose
    clips: Sequence[str] = ("",)  # what the names of the columns of each clip end with
    is_lettered: bool = True  # whether the answer is the letter of an option, or its text

    @property
    def targets(self) -> list[str]:
        """The answers in the order of the options."""
        return list("ABCD"[: len(self.options)]) if self.is_lettered else list(self.options)

    def row(self, task: str, split: str, number: int, target: str) -> Row:
        """Return what all rows of a task have: its id, its target and its options."""
        place = f"{number:03d}" if split == "test" else f"example-{number:03d}"
        name = f"{task.partition('_')[0]}-{place}"
        return {"id": name, "target": target, "options": list(self.options)}


_PAIR = ("_1", "_2")
_MELODIES = (
    "Yes, these are the same exact melody.",
    "No, these are not the same exact melody.",
)
_DRUMS = (
    "Yes, these are the same exact drum set patterns.",
    "No, these are not the same exact drum set patterns.",
)
_CHORDS = (
    "Yes, these are the same chord progression.",
    "No, these are not the same chord progression.",
)
_LOOPS = (
    "The rhythm in Excerpt 1 is more syncopated.",
    "The rhythm in Excerpt 2 is more syncopated.",
)
_CONTOURS = (
    "Arch (ascending and then descending)",
    "Inverted Arch (descending and then ascending)",
    "Ascending (pitch rises over time)",
    "Descending (pitch falls over time)",
)
FORMS = {
    "oddball": TaskForm(_MELODIES, _oddball, _PAIR, is_lettered=False),
    "contour": TaskForm(_CONTOURS, _contour),
    "instrument": TaskForm(("Piano", "Guitar", "Bass", "Drums"), _instrument),
    "rhythm_matching": TaskForm(_DRUMS, _rhythm_matching, _PAIR, is_lettered=False),
    "meter": TaskForm(("Groups of 3", "Groups of 4", "Groups of 5"), _meter),
    "key_modulation": TaskForm(
        ("Yes, a key modulation occurs.", "No, the key stays the same."), _key_modulation
    ),
    "progression": TaskForm(_CHORDS, _progression, _PAIR),
    "transposition_pairs": TaskForm(
        (SAME, DIFFERENT), _transposition_pairs, _PAIR, is_lettered=False
    ),
    "major_or_minor": TaskForm(("Major", "Minor"), _major_or_minor),
    "syncopation_pairs": TaskForm(_LOOPS, _syncopation_pairs, _PAIR),
}
"""Task → its form."""
