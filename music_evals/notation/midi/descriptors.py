"""MusPy's three descriptors of a piece, from its MIDI: polyphony rate, groove consistency, scale
consistency.

- The polyphony rate is the share of time steps at which more than two pitches sound (MusPy's
  threshold is 2).
- The groove consistency is 1 minus the mean Hamming distance between neighbouring measures. A
  measure is represented by the steps at which notes start. As in MusPy, one more measure begins
  where the piece ends.
- The scale consistency is the largest share of notes that fit one major or natural minor scale.

All three are from 0 to 1. Percussion counts only for the groove consistency. A piece without notes
has no values. The values equal MusPy's to the bit; MusPy fills a table of all ticks and pitches,
here only the notes cost time.

There are two protocols:

``paper``
    MusPy's values for the ticks of the file, with a quarter note as the measure, as published.
    LilyPond writes 384 ticks per quarter note, and few of them have an onset; so the groove
    consistency is near 1 for any music.
``strict``
    Notes are first moved to the nearest of `STEPS` steps per quarter note (halves upwards), and
    last at least a step. Measures have the length of the time signature (default: 4/4). Measures
    are compared only within a stretch of one metre, without a last measure that is cut short. The
    values of the stretches are averaged, weighted by their pairs of neighbours. A stretch begins
    with a full measure, because MIDI does not mark a pickup.

Source: Spanio et al., "Can LLMs understand LilyPond?" (arXiv 2606.08722), generation metrics; Dong
et al., "MusPy: A toolkit for symbolic music generation" (ISMIR 2020), and its `muspy.metrics`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from music_evals.notation.midi.note_arrays import Integers, MidiError, NoteArrays, read_note_arrays

Protocol = Literal["strict", "paper"]

DESCRIPTORS = ("polyphony_rate", "groove_consistency", "scale_consistency")
STEPS = 24  # steps per quarter note of the strict protocol

_THRESHOLD = 2
_MAJOR = (0, 2, 4, 5, 7, 9, 11)
_MINOR = (0, 2, 3, 5, 7, 8, 10)
_FINEST = 7  # exponent of 2 in a time signature's denominator: 128

DescriptorError = MidiError  # raised for MIDI that has no descriptors


@dataclass(frozen=True, slots=True)
class Described:
    """The descriptors of a piece."""

    values: Mapping[str, float | None]  # by the names in `DESCRIPTORS`; None where undefined
    reasons: Mapping[str, str]  # name of an undefined descriptor → reason


def describe(midi: bytes, protocol: Protocol = "strict") -> Described:
    """Compute the descriptors of a MIDI file; the module's docstring describes the protocols.

    Raises:
        DescriptorError: the bytes are no MIDI file, or more than `note_arrays.MAX_BYTES`.
        ValueError: there is no such protocol.
    """
    if protocol not in get_args(Protocol):
        raise ValueError(
            f"protocol {protocol!r} is unknown; accepted are {', '.join(get_args(Protocol))}"
        )
    notes = read_note_arrays(midi)
    if not len(notes.onset):
        return Described(
            dict.fromkeys(DESCRIPTORS), dict.fromkeys(DESCRIPTORS, "the MIDI file has no notes")
        )
    if protocol == "strict":
        notes = _quantised(notes)
        groove = _groove_consistency(notes, *_stretches(notes))
    else:
        groove = _groove_consistency(notes, np.zeros(1, np.int64), np.array([notes.resolution]))
    values = {
        "polyphony_rate": _polyphony_rate(notes),
        "groove_consistency": groove,
        "scale_consistency": _scale_consistency(notes),
    }
    reasons = {
        "polyphony_rate": "the notes have no length",
        "groove_consistency": "there are no two measures of one metre to compare",
        "scale_consistency": "all notes are percussion",
    }
    return Described(values, {name: reasons[name] for name in DESCRIPTORS if values[name] is None})


def _quantised(notes: NoteArrays) -> NoteArrays:
    """Move notes to the steps of the strict protocol."""

    def step(ticks: Integers) -> Integers:
        return (2 * STEPS * ticks + notes.resolution) // (2 * notes.resolution)

    onset = step(notes.onset)
    end = np.maximum(step(notes.end), onset + 1)
    metres = notes.metres.copy()
    metres[:, 0] = step(metres[:, 0])
    return replace(
        notes, resolution=STEPS, onset=onset, end=end, length=int(end.max()), metres=metres
    )


def _polyphony_rate(notes: NoteArrays) -> float | None:
    """Share of steps at which more than two pitches sound."""
    if not notes.length:
        return None
    pitched = ~notes.drum
    order = np.lexsort((notes.onset[pitched], notes.pitch[pitched]))
    # The time axes of all pitches are laid end to end, so that overlapping notes can be joined for
    # all at once.
    shift = notes.pitch[pitched][order] * (notes.length + 1)
    start = notes.onset[pitched][order] + shift
    reached = np.maximum.accumulate(notes.end[pitched][order] + shift)
    begins = np.flatnonzero(np.concatenate([[True], start[1:] > reached[:-1]])[: len(start)])
    ends = np.append(begins[1:], len(start))[: len(begins)] - 1
    moments = np.concatenate([start[begins] - shift[begins], reached[ends] - shift[ends]])
    change = np.repeat([1, -1], len(begins))
    order = np.argsort(moments)
    sounding = np.cumsum(change[order])[:-1]
    lasting = np.diff(moments[order])
    return int(lasting[sounding > _THRESHOLD].sum()) / notes.length


def _stretches(notes: NoteArrays) -> tuple[Integers, Integers]:
    """The steps at which stretches of one metre begin, the first at 0, and the steps of a measure
    in each stretch.

    A metre that is finer than the steps, or impossible, has 0 steps and no measures.
    """
    metres = notes.metres[np.argsort(notes.metres[:, 0], kind="stable")]
    metres = metres[metres[:, 0] < notes.length]
    metres = np.concatenate([np.array([[0, 4, 2]]), metres])
    # The last of several simultaneous ones counts.
    last = np.append(metres[1:, 0] > metres[:-1, 0], True)
    metres = metres[last]
    new = np.append(True, (metres[1:, 1:] != metres[:-1, 1:]).any(axis=1))
    start, numerator, exponent = metres[new].T
    is_valid = exponent <= _FINEST
    steps, rest = np.divmod(numerator * 4 * notes.resolution, 1 << np.where(is_valid, exponent, 0))
    return start, np.where(is_valid & (rest == 0), steps, 0)


def _groove_consistency(notes: NoteArrays, starts: Integers, measures: Integers) -> float | None:
    """Likeness of neighbouring measures; `starts` and `measures` come from `_stretches`."""
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
    # An onset is a difference from the measure before and from the next, unless that has one at the
    # same place.
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
    rotations = [np.roll(classes, -root) for root in range(12)]
    fitting = max(
        int(rotation[list(scale)].sum()) for scale in (_MAJOR, _MINOR) for rotation in rotations
    )
    return fitting / int(classes.sum())
