"""MusPy's three descriptors of a piece, from its MIDI: polyphony rate, groove consistency, scale consistency.

- The polyphony rate is the share of time steps at which more than two pitches sound (MusPy's threshold is 2).
- The groove consistency is 1 less the mean Hamming distance between neighbouring measures, a measure being the steps at
  which notes start. As MusPy counts, one more measure begins where the piece ends.
- The scale consistency is the largest share of notes that fit one major or natural minor scale.

Percussion counts for the groove alone. All three are from 0 to 1.

The numbers are MusPy's to the bit, but worked out from the notes directly, however long the piece, where MusPy fills a
table of all ticks and pitches. A piece without any note has none. Two protocols are offered:

``paper``
    MusPy's values for the ticks of the file, with the ticks of a quarter note as those of a measure, as published. As
    LilyPond writes 384 ticks a quarter note, few with an onset, the groove consistency is then near 1 for any music.
``strict``
    The notes are first moved to the nearest of `STEPS` steps a quarter note, halves upwards, and last a step at least.
    A measure is that of the time signature, 4/4 where none is given. Where it changes, each stretch of one metre is
    compared within itself, but for a last measure that is cut short, and the stretches' values are averaged, weighted
    by their pairs of neighbours. Measures are counted from the beginning, or from a change: MIDI tells no pickup.

Source: Spanio et al., "Can LLMs understand LilyPond?" (arXiv 2606.08722), generation metrics; Dong et al., "MusPy: A
toolkit for symbolic music generation" (ISMIR 2020), and its `muspy.metrics`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, get_args

import numpy as np

from music_evals.notation.note_arrays import Integers, MidiError, NoteArrays, read_note_arrays

Protocol = Literal["strict", "paper"]

DESCRIPTORS: Final = ("polyphony_rate", "groove_consistency", "scale_consistency")
STEPS: Final = 24  # steps a quarter note of the strict protocol

_THRESHOLD: Final = 2
_MAJOR: Final = (0, 2, 4, 5, 7, 9, 11)
_MINOR: Final = (0, 2, 3, 5, 7, 8, 10)
_FINEST: Final = 7  # exponent of 2 in a time signature's denominator: 128

DescriptorError = MidiError  # MIDI of which nothing can be told


@dataclass(frozen=True, slots=True)
class Described:
    """The descriptors of a piece."""

    values: Mapping[str, float | None]  # by the names in `DESCRIPTORS`; None is an undefined one
    reasons: Mapping[str, str] = field(default_factory=dict)  # why, for each that is undefined
    moved: float | None = None  # share of starts and ends of notes that the strict protocol moved


def describe(midi: bytes, protocol: Protocol = "strict") -> Described:
    """Work out the descriptors of a MIDI file of at most `note_arrays.MAX_BYTES`; the module says how in each protocol.

    DescriptorError if the bytes are no MIDI file, or one that is too large; ValueError if there is no such protocol.
    """
    if protocol not in get_args(Protocol):
        raise ValueError(f"protocol {protocol!r} is unknown; accepted are {', '.join(get_args(Protocol))}")
    notes = read_note_arrays(midi)
    if not len(notes.onset):
        return Described(dict.fromkeys(DESCRIPTORS), dict.fromkeys(DESCRIPTORS, "the MIDI file has no notes"))
    moved = None
    if protocol == "strict":
        notes, moved = _quantised(notes)
        groove = _groove_consistency(notes, *_stretches(notes))
    else:
        groove = _groove_consistency(notes, np.zeros(1, np.int64), np.array([notes.resolution]))
    values = {
        "polyphony_rate": _polyphony_rate(notes),
        "groove_consistency": groove,
        "scale_consistency": _scale_consistency(notes),
    }
    why = {
        "polyphony_rate": "the notes have no length",
        "groove_consistency": "there are no two measures of one metre to compare",
        "scale_consistency": "all notes are percussion",
    }
    return Described(values, {name: why[name] for name in DESCRIPTORS if values[name] is None}, moved)


def _quantised(notes: NoteArrays) -> tuple[NoteArrays, float]:
    """Move notes to the steps of the strict protocol; return also what share of starts and ends that changed."""

    def step(ticks: Integers) -> Integers:
        return (2 * STEPS * ticks + notes.resolution) // (2 * notes.resolution)

    onset = step(notes.onset)
    end = np.maximum(step(notes.end), onset + 1)
    moved = np.concatenate([onset, end]) * notes.resolution != np.concatenate([notes.onset, notes.end]) * STEPS
    metres = notes.metres.copy()
    metres[:, 0] = step(metres[:, 0])
    steps = replace(notes, resolution=STEPS, onset=onset, end=end, length=int(end.max()), metres=metres)
    return steps, float(moved.mean())


def _polyphony_rate(notes: NoteArrays) -> float | None:
    """Share of steps at which more than two pitches sound."""
    if not notes.length:
        return None
    pitched = ~notes.drum
    order = np.lexsort((notes.onset[pitched], notes.pitch[pitched]))
    # One time axis a pitch, one after the other, so that notes that overlap can be joined for all pitches at once.
    shift = notes.pitch[pitched][order] * (notes.length + 1)
    start = notes.onset[pitched][order] + shift
    reached = np.maximum.accumulate(notes.end[pitched][order] + shift)
    begins = np.flatnonzero(np.concatenate([[True], start[1:] > reached[:-1]])[: len(start)])
    ends = np.append(begins[1:], len(start))[: len(begins)] - 1
    moments = np.concatenate([start[begins] - shift[begins], reached[ends] - shift[ends]])
    change = np.concatenate([np.ones(len(begins), np.int64), -np.ones(len(ends), np.int64)])
    order = np.argsort(moments)
    sounding = np.cumsum(change[order])[:-1]
    lasting = np.diff(moments[order])
    return int(lasting[sounding > _THRESHOLD].sum()) / notes.length


def _stretches(notes: NoteArrays) -> tuple[Integers, Integers]:
    """Where stretches of one metre begin, the first at 0, and the steps that a measure has in each.

    A metre is given 0 steps, and has no measures, if it is finer than the steps, or makes no sense.
    """
    metres = notes.metres[np.argsort(notes.metres[:, 0], kind="stable")]
    metres = metres[metres[:, 0] < notes.length]
    metres = np.concatenate([np.array([[0, 4, 2]]), metres])
    last = np.append(metres[1:, 0] > metres[:-1, 0], True)  # of several at a time the last one holds
    metres = metres[last]
    new = np.append(True, (metres[1:, 1:] != metres[:-1, 1:]).any(axis=1))
    start, numerator, exponent = metres[new].T
    known = exponent <= _FINEST
    steps, rest = np.divmod(numerator * 4 * notes.resolution, 1 << np.where(known, exponent, 0))
    return start, np.where(known & (rest == 0), steps, 0)


def _groove_consistency(notes: NoteArrays, starts: Integers, measures: Integers) -> float | None:
    """Likeness of neighbouring measures; `starts` and `measures` are as `_stretches` gives them."""
    lengths = np.diff(np.append(starts, notes.length))
    steps = np.maximum(measures, 1)
    counts = lengths // steps
    counts[-1] += 1
    pairs = np.where(measures > 0, np.maximum(counts - 1, 0), 0)
    if not pairs.any():
        return None
    onsets = np.unique(notes.onset)
    stretch = np.searchsorted(starts, onsets, side="right") - 1
    measure = (onsets - starts[stretch]) // steps[stretch]
    inside = (pairs[stretch] > 0) & (measure < counts[stretch])
    onsets, stretch, measure = onsets[inside], stretch[inside], measure[inside]
    # An onset differs from the measure before, and from the measure after, unless that has one at the same place.
    neighbours = (measure > 0).astype(np.int64) + (measure < pairs[stretch])
    repeated = (measure < pairs[stretch]) & np.isin(onsets + steps[stretch], onsets)
    distances = np.bincount(stretch, neighbours - 2 * repeated, len(starts))
    used = pairs > 0
    alike = 1 - distances[used] / (steps[used] * pairs[used])
    return float(np.average(alike, weights=pairs[used])) if used.sum() > 1 else float(alike[0])


def _scale_consistency(notes: NoteArrays) -> float | None:
    """Largest share of notes that fit one scale."""
    classes = np.bincount(notes.pitch[~notes.drum] % 12, minlength=12)
    if not classes.any():
        return None
    fitting = max(
        int(classes[[(root + degree) % 12 for degree in scale]].sum())
        for scale in (_MAJOR, _MINOR)
        for root in range(12)
    )
    return fitting / int(classes.sum())
