"""Figures of written pieces of music: which compile, which are near-copies, how similar they are to
reference pieces.

A piece is the metadata of its score (see `music_evals.scorers.written_music`), as a log holds them.

Source: arXiv 2606.08722, section 3.3. Novelty and the intervals are beyond the paper.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import exp, inf, isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from music_evals.notation.lilypond.copies import NEAR_COPY, contained
from music_evals.notation.midi.descriptors import DESCRIPTORS
from music_evals.scorers.metrics.estimates import Estimate, estimate, share
from music_evals.scorers.metrics.resampling import Floats

if TYPE_CHECKING:
    from music_evals.scorers.metrics.descriptor_similarity import Fit

Pieces = Sequence[Mapping[str, Any]]
ORIGINAL = "original_rate"
"""The metric of which a piece's value depends on the other pieces of its run, see `original`."""


def near_copies(pieces: Pieces) -> Estimate | None:
    """Return the share of near-copies of demonstrations and reference pieces; None where no piece
    is long enough to tell.

    A near-copy has the share `NEAR_COPY` of its music, or more, in common with another piece.
    """
    compared = [piece["nearest"].values() for piece in pieces if piece["nearest"]]
    if not compared:
        return None
    flags = [max(copied for _, copied in nearest) >= NEAR_COPY for nearest in compared]
    return share(sum(flags) / len(flags), len(flags))


def repeated(pieces: Pieces) -> list[bool]:
    """Return of each piece whether it is a near-copy of another piece of the same run."""
    sketches = [piece["sketch"] for piece in pieces]
    flags = []
    for number, own in enumerate(sketches):
        others = sketches[:number] + sketches[number + 1 :]
        flags.append(any(contained(own, other) >= NEAR_COPY for other in others))
    return flags


def original(pieces: Pieces) -> list[bool]:
    """Return of each piece whether it compiles, has notes, and is a near-copy of no other piece.

    Other pieces are the demonstrations, the references, and those of the same run.
    """
    flags = []
    for piece, is_copy in zip(pieces, repeated(pieces), strict=True):
        shares = [share for _, share in piece["nearest"].values()]
        is_new = not is_copy and max(shares, default=0.0) < NEAR_COPY
        flags.append(bool(piece["compiles"] and piece["has_notes"] and is_new))
    return flags


def likeness(pieces: Pieces, reference: Mapping[str, Any]) -> Estimate | None:
    """Return how alike the descriptors of the pieces that compile are to the fits of a reference
    set, from 0 to 100, with a jackknife interval; None where a descriptor has no fit.
    """
    from music_evals.scorers.metrics.descriptor_similarity import Fit, js_interval, js_similarity

    fit = Fit(*(reference[name] for name in Fit._fields))
    compiled = [piece["descriptors"] for piece in pieces if piece["compiles"]]
    rows = [[values.get(name) for name in DESCRIPTORS] for values in compiled]  # None becomes NaN
    values: Floats = np.array(rows, dtype=np.float64).reshape(len(rows), len(DESCRIPTORS))
    similarity = js_similarity(fit, values)
    if isnan(similarity):
        return None
    low, high = js_interval(fit, values)
    score = Estimate(similarity, n=len(values), decimals=2)
    return score if isnan(low) else replace(score, low=low, high=high)


def piece_likeness(descriptors: Mapping[str, float | None], reference: "Fit") -> float:
    """Return how near one piece's descriptors lie to the means of a reference set, from 0 to 1.

    It is the mean of exp(-z²/2) over the descriptors with a fit, z being the distance in standard
    deviations of the reference; a descriptor that the piece lacks counts as 0. A set of pieces is
    compared by `likeness`, one piece has no distribution.

    Example:
        >>> from music_evals.scorers.metrics.descriptor_similarity import Fit
        >>> fit = Fit([0.5, 0.9, 0.9], [0.1, 0.1, 0.1])
        >>> piece_likeness({"polyphony_rate": 0.5, "groove_consistency": 0.9,
        ...     "scale_consistency": None}, fit)
        0.6666666666666666
    """
    nearness = []
    for name, mean, std in zip(DESCRIPTORS, reference.mean, reference.std, strict=True):
        if mean is not None and std is not None:
            value = descriptors.get(name)
            distance = inf if value is None else (value - mean) / std
            nearness.append(exp(-(distance**2) / 2))
    return sum(nearness) / max(len(nearness), 1)


def embedded(pieces: Pieces) -> list[Mapping[str, Any]]:
    """Return the pieces that an encoder made a vector of."""
    return [piece for piece in pieces if piece["embedded_by"]]


def rate(pieces: Pieces, flags: Sequence[bool]) -> Estimate | None:
    """Return the share of pieces with a flag; pieces to the same prompt are one item."""
    return estimate([*map(float, flags)], [piece["prompt"] for piece in pieces])
