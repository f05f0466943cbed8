"""The generated stimuli: what the answer depends on is exact, and nothing else gives it away."""

import random
from collections import Counter
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from music_evals.datasets_builders.muse.drum_loops import OFFBEATS, compose_drum_loop
from music_evals.datasets_builders.muse.melodies import (
    FOILS,
    INSTRUMENTS,
    RANGES,
    MelodyPair,
    compose_pair,
)
from music_evals.notation.midi.files import midi_to_text, parse_midi_text, write_midi
from music_evals.notation.midi.note_arrays import KEYS

seeds = st.integers(0, 2**32).map(random.Random)


# --- drum loops


def test_drum_loops_are_many_and_the_number_of_strokes_does_not_give_the_level_away():
    loops = {
        level: [compose_drum_loop(level, random.Random(f"{level}/{i}")) for i in range(75)]
        for level in OFFBEATS
    }
    distinct = {
        level: len({(loop.kick, loop.snare) for loop in made}) for level, made in loops.items()
    }
    # Without off-beats there are few ways to fill 16 beats well.
    assert distinct[0] > 40
    assert all(distinct[level] > 70 for level in OFFBEATS[1:])
    counts = {
        level: Counter(len(loop.kick + loop.snare) for loop in made)
        for level, made in loops.items()
    }
    values = set().union(*counts.values())
    best = sum(max(counts[level][value] for level in OFFBEATS) for value in values) / 375
    assert best < 0.28  # of the best guess from that number alone; chance is 0.2
    for level, made in loops.items():
        assert all(loop.offbeats == level and not set(loop.kick) & set(loop.snare) for loop in made)


# --- melodies

pairs = st.builds(
    lambda foil, instrument, rng: compose_pair(foil=foil, instrument=instrument, rng=rng),
    st.sampled_from([None, *FOILS]),
    st.sampled_from(INSTRUMENTS),
    seeds,
)


def _intervals(pitches):
    return [b - a for a, b in pairwise(pitches)]


def _tonic(key):
    letters = {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}
    return letters[key[0]] + key.count("#") - key.count("b")


@settings(max_examples=30)
@given(pairs)
def test_pairs_are_what_they_are_said_to_be(pair: MelodyPair) -> None:
    check_kind(pair)
    check_that_all_but_pitch_is_shared(pair)
    for melody in (pair.first, pair.second):
        check_melody(melody)


def check_kind(pair):
    first, second = pair.first.pitches, pair.second.pitches
    moved = [pitch + pair.semitones for pitch in first]
    if pair.foil is None:
        assert list(second) == moved
        return
    # No reading makes a foil a transposition. The readings are spelled out here, apart from the
    # code under test.
    a, b = _intervals(first), _intervals(second)
    assert a != b
    assert [i % 12 for i in a] != [i % 12 for i in b]
    assert [i for i in a if i] != [i for i in b if i]
    assert [i % 12 for i in a if i % 12] != [i % 12 for i in b if i % 12]
    assert sum(a) == sum(b)  # the ends do not tell
    if pair.foil == "moved_passage":
        differing = [(x, y) for x, y in zip(a, b, strict=True) if x != y]
        assert len(differing) == 2
        assert all(x * y > 0 for x, y in differing)
    elif pair.foil == "reordered":
        assert sorted(second) == sorted(moved)
        assert list(second) != moved


def check_that_all_but_pitch_is_shared(pair):
    first, second = pair.first, pair.second
    assert (first.meter, first.tempo, first.instrument) == (
        second.meter,
        second.tempo,
        second.instrument,
    )
    assert first.performance.program == second.performance.program
    assert first.performance.length == second.performance.length
    assert [(n.onset, n.duration) for n in first.performance.notes] == [
        (n.onset, n.duration) for n in second.performance.notes
    ]
    assert (_tonic(second.key) - _tonic(first.key)) % 12 == pair.semitones % 12 != 0
    assert first.key.endswith("m") == second.key.endswith("m")


def check_melody(melody):
    low, high = RANGES[melody.instrument]
    assert low <= min(melody.pitches) <= max(melody.pitches) <= high
    assert 8 <= len(melody.pitches) <= 28
    assert melody.key in KEYS
    assert melody.performance.length is not None
    assert 4 <= melody.performance.length / 480 * 60 / melody.tempo <= 9.5
    is_minor = melody.key.endswith("m")
    scale = {0, 2, 3, 5, 7, 8, 10, 11} if is_minor else {0, 2, 4, 5, 7, 9, 11}
    assert {(pitch - _tonic(melody.key)) % 12 for pitch in melody.pitches} <= scale
    # It closes on the tonic triad.
    assert (melody.pitches[-1] - _tonic(melody.key)) % 12 in (0, 3 if is_minor else 4, 7)
    # One voice, as the MIDI text says it.
    notes = parse_midi_text(midi_to_text(write_midi(melody.performance))).notes
    assert tuple(note.pitch for note in notes) == melody.pitches
    assert all(a.onset + a.duration <= b.onset for a, b in pairwise(notes))


# --- chords
