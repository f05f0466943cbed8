"""Drum loops for the syncopation task: hi-hat on every eighth, kick and snare on and off the beat.

A loop has a groove on the beats, off-beat strokes that anticipate or answer it, repetitions of the
bar, and a variation in the last bar. The number of strokes off the beat is exact. The number of
strokes on the beat hardly depends on it: next to an off-beat stroke, the stroke on the beat is
often left out.
"""

import itertools
from collections.abc import Collection
from random import Random
from typing import NamedTuple

from music_evals.datasets_builders import read_table
from music_evals.notation.midi.performance import TICKS_PER_BEAT, Note, Performance

OFFBEATS = (0, 2, 4, 6, 8)
"""The syncopation levels: numbers of off-beat onsets, in the order of the answer options A to E."""
SLOTS = 32  # eighth-note slots of a loop, 1-based; odd slots are beats
KICK = 36
SNARE = 38
HI_HAT = 42

_BARS = 4
_SLOTS_PER_BAR = SLOTS // _BARS
_TICKS_PER_SLOT = TICKS_PER_BEAT // 2
_STROKE = _TICKS_PER_SLOT // 2  # drums ignore the length of a note; it must be shorter than a slot
_WEIGHTS = read_table("names/muse_drum_loops.toml")
_MOST_PER_BAR = 3

# Of kick and snare, drawn in the same way at every level, so that their number does not give the
# level away.
_STROKES_PER_LOOP = (14, 15, 16)
# Every stroke on the beat makes a groove less likely, by this factor to the power of offbeats / 8.
# A loop with many off-beats then has few strokes on the beat.
_THINNING = 0.4
# Of the hi-hat, by slot of a bar: beats 1 and 3 are louder, and a little more the first of a bar.
_ACCENTS = (10, -12, 2, -12, 6, -12, 2, -12)

# Drums that repeat a stroke across the beat, after so many slots; each level has one more.
_CROSSING = ((56, 3), (48, 5), (51, 7))  # cowbell, tom and ride cymbal

_Bar = dict[int, str]  # position in the bar, 1 to 8 → "K" or "S"


class _BarKind(NamedTuple):
    """Tables of strokes on and off the beat, and how likely the bar is like the first bar."""

    grooves: str
    offbeats: str
    likeness: float


_INNER, _LAST = _BarKind("grooves", "offbeats", 0.7), _BarKind("turnarounds", "fills", 0.35)


class DrumLoop(NamedTuple):
    """Four bars of 4/4 at 120 quarter notes a minute; slots 1 to 32 of kick and snare, ascending
    and disjoint. Above level 1 it is up to four times as long, and faster.
    """

    kick: tuple[int, ...]
    snare: tuple[int, ...]
    performance: Performance

    @property
    def offbeats(self) -> int:
        """Number of kick and snare onsets on even slots, that is, off the beat."""
        return sum(slot % 2 == 0 for slot in self.kick + self.snare)


def compose_drum_loop(offbeats: int, rng: Random, n_strokes: int | None = None) -> DrumLoop:
    """Compose a drum loop with an exact number of kick and snare onsets off the beat, one of
    `OFFBEATS`.

    It has `n_strokes` of kick and snare; if not given, 14 to 16.

    Source: MUSE (arXiv 2510.22455), syncopation task.
    """
    n_strokes = n_strokes or rng.choice(_STROKES_PER_LOOP)
    while True:
        kick, snare = _compose_strokes(offbeats, rng)
        if len(kick) + len(snare) == n_strokes:
            return DrumLoop(kick, snare, perform_drum_loop(kick, snare, rng))


def compose_loop(offbeats: int, level: int, rng: Random, n_strokes: int | None = None) -> DrumLoop:
    """Compose a drum loop; above level 1 join up to four, with so many off-beats in all."""
    if level == 1:
        return compose_drum_loop(offbeats, rng, n_strokes)
    starts = range(0, len(slots(level)), SLOTS)
    # Each off-beat is in any loop, so one loop does not tell how many all have.
    places = rng.sample([*starts] * max(OFFBEATS), offbeats)
    kick: list[int] = []
    snare: list[int] = []
    for start in starts:
        loop = compose_drum_loop(places.count(start), rng, n_strokes)
        kick += [start + slot for slot in loop.kick]
        snare += [start + slot for slot in loop.snare]
    performance = perform_drum_loop(kick, snare, rng, level).played_late(lateness(level), rng)
    return DrumLoop(tuple(kick), tuple(snare), performance)


def slots(level: int) -> range:
    """Return the slots of a loop."""
    return range(1, SLOTS * max(1, level - 1) + 1)


def lateness(level: int) -> list[int]:
    """Return ticks by which a stroke may be late.

    With them all times in beats have as many decimals on the beat as off it, so the length of the
    MIDI text does not tell where the strokes are.
    """
    return [ticks for ticks in range(1, 8 * level + 2) if ticks % 5]


def _compose_strokes(offbeats: int, rng: Random) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Compose the slots of kick and snare."""
    form, counts = _plan(offbeats, rng)
    thinning = _THINNING ** (offbeats / max(OFFBEATS))
    bars: dict[str, _Bar] = {}
    for letter, count in counts.items():
        kind = _LAST if form.index(letter) == _BARS - 1 else _INNER
        bars[letter] = _compose_bar(count, bars.get("A"), kind, thinning, rng)
    strokes = {
        bar * _SLOTS_PER_BAR + position: drum
        for bar, letter in enumerate(form)
        for position, drum in bars[letter].items()
    }
    kick, snare = (
        tuple(sorted(slot for slot, drum in strokes.items() if drum == name)) for name in "KS"
    )
    return kick, snare


def _plan(offbeats: int, rng: Random) -> tuple[str, dict[str, int]]:
    """Choose the form of the loop, and how many off-beats each kind of bar has."""
    plans: list[tuple[str, dict[str, int]]] = []
    weights: list[float] = []
    for form, weight in _WEIGHTS["forms"].items():
        letters = sorted(set(form))
        for numbers in itertools.product(range(_MOST_PER_BAR + 1), repeat=len(letters)):
            counts = dict(zip(letters, numbers, strict=True))
            if sum(counts[letter] for letter in form) == offbeats:
                plans.append((form, counts))
                # The bars of a loop are about equally busy.
                weights.append(weight / 2 ** (max(numbers) - min(numbers)))
    return rng.choices(plans, weights)[0]


def _compose_bar(
    count: int, model: _Bar | None, kind: _BarKind, thinning: float, rng: Random
) -> _Bar:
    """Compose a bar with `count` off-beats, as close to the model bar as possible."""
    is_alike = model is not None and rng.random() < kind.likeness
    if model is not None and is_alike:
        bar = _strokes(model, 1)
    else:
        bar = _draw_groove(kind.grooves, thinning, rng)
    _vary_kicks(bar, thinning, rng)
    repeated: _Bar = {}
    if model is not None and rng.random() < (0.65 if is_alike else 0.35):
        repeated = _strokes(model, 0)
    offbeats = _draw_offbeats(count, repeated, kind.offbeats, rng)
    for position, drum in offbeats.items():
        # An off-beat stroke often replaces the stroke on the beat after it, or before it.
        neighbour = position + 1 if rng.random() < 0.7 else position - 1
        if bar.get(neighbour) == drum and neighbour != 1 and rng.random() < 0.6:
            del bar[neighbour]
        bar[position] = drum
    return bar


def _draw_groove(table: str, thinning: float, rng: Random) -> _Bar:
    """Draw the strokes on the beats."""
    grooves = _WEIGHTS[table]
    weights = [weight * thinning ** (4 - groove.count("-")) for groove, weight in grooves.items()]
    groove = rng.choices(list(grooves), weights)[0]
    return {1 + 2 * beat: drum for beat, drum in enumerate(groove) if drum != "-"}


def _vary_kicks(bar: _Bar, thinning: float, rng: Random) -> None:
    """Sometimes drop a kick after beat 1, or add one on a free beat; the snare stays, because it
    carries the groove.
    """
    for position in (3, 5, 7):
        if bar.get(position) == "K":
            if rng.random() < 0.3:
                del bar[position]
        elif position not in bar and rng.random() < 0.3 * thinning:
            bar[position] = "K"


def _draw_offbeats(count: int, repeated: _Bar, table: str, rng: Random) -> _Bar:
    """Draw strokes off the beat, in addition to those that are repeated from another bar."""
    # Later off-beats of the model lead into the next bar: the earlier ones are dropped first.
    offbeats = dict(sorted(repeated.items())[max(0, len(repeated) - count) :])
    choices = dict(_WEIGHTS[table])
    while len(offbeats) < count:
        stroke = rng.choices(list(choices), list(choices.values()))[0]
        del choices[stroke]
        offbeats.setdefault(int(stroke[1]), stroke[0])
    return offbeats


def _strokes(bar: _Bar, remainder: int) -> _Bar:
    """The strokes of a bar on the beats (remainder 1) or off them (0)."""
    return {position: drum for position, drum in bar.items() if position % 2 == remainder}


def perform_drum_loop(
    kick: Collection[int], snare: Collection[int], rng: Random, level: int = 1
) -> Performance:
    """Play the loop in strict time; above level 1 faster, and with other drums.

    The hi-hat has a drummer's accents. The loudness of kick and snare does not depend on the beat,
    because it would tell which strokes are off it.
    """
    notes = []
    for slot in slots(level):
        strokes = [(HI_HAT, 78 + _ACCENTS[(slot - 1) % _SLOTS_PER_BAR])]
        if slot in kick:
            strokes.append((KICK, 100))
        if slot in snare:
            strokes.append((SNARE, 98))
        strokes += [(drum, 90) for drum, period in _CROSSING[: level - 1] if slot % period == 0]
        onset = (slot - 1) * _TICKS_PER_SLOT
        notes += [
            Note(onset, drum, _STROKE, velocity + rng.randint(-4, 4)) for drum, velocity in strokes
        ]
    length = len(slots(level)) * _TICKS_PER_SLOT
    tempo = 114 + 6 * level
    return Performance(tuple(notes), tempo, (4, 4), None, percussion=True, length=length)
