"""Figures of written pieces of music: which compile, which are near-copies, how similar they are to
reference pieces.

A piece is the metadata of its score (see `music_evals.scorers.written_music`), as a log holds them.

Source: arXiv 2606.08722, section 3.3. Novelty and the intervals are beyond the paper.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import exp, inf, isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from music_evals.notation.lilypond.copies import NEAR_COPY, Melody
from music_evals.notation.midi.descriptors import DESCRIPTORS
from music_evals.scorers.metrics.estimates import Estimate, estimate, share, with_ends

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
    flags = [_is_copy(piece) for piece in pieces if piece["nearest"]]
    return share(sum(flags) / len(flags), len(flags)) if flags else None


def _is_copy(piece: Mapping[str, Any]) -> bool:
    return max((share for _, share in piece["nearest"].values()), default=0.0) >= NEAR_COPY


def versions(pieces: Pieces) -> list[int]:
    """Return of each piece how many others of the same run are the same music, see
    `Melody.is_like`: in another key, in other note values, or with few notes changed.
    """
    melodies = [Melody(piece["music"]) for piece in pieces]
    counts = [0] * len(pieces)
    for first, second in combinations(range(len(pieces)), 2):
        if melodies[first].is_like(melodies[second]):
            counts[first] += 1
            counts[second] += 1
    return counts


def repeated(pieces: Pieces) -> list[float]:
    """Return 1 for each piece that is the same music as another piece of the same run, else 0."""
    return [float(count > 0) for count in versions(pieces)]


def original(pieces: Pieces) -> list[float]:
    """Return 1 for each piece that compiles, has notes, and is a near-copy of no demonstration or
    reference, else 0; n versions of one piece have 1/n each.
    """
    values = [0.0] * len(pieces)
    sounding = [n for n, piece in enumerate(pieces) if piece["compiles"] and piece["has_notes"]]
    new = [place for place in sounding if not _is_copy(pieces[place])]
    for place, count in zip(new, versions([pieces[place] for place in new]), strict=True):
        values[place] = 1 / (1 + count)
    return values


def likeness(pieces: Pieces, reference: Mapping[str, Any]) -> Estimate | None:
    """Return how alike the descriptors of the pieces that compile are to the fits of a reference
    set, from 0 to 100, with a jackknife interval; None where a descriptor has no fit.
    """
    from music_evals.scorers.metrics.descriptor_similarity import Fit, js_interval, js_similarity

    fit = Fit(*(reference[name] for name in Fit._fields))
    compiled = [piece["descriptors"] for piece in pieces if piece["compiles"]]
    rows = [[values.get(name) for name in DESCRIPTORS] for values in compiled]  # None becomes NaN
    values = np.array(rows, dtype=np.float64).reshape(len(rows), len(DESCRIPTORS))
    similarity = js_similarity(fit, values)
    if isnan(similarity):
        return None
    return replace(with_ends(similarity, *js_interval(fit, values), len(values)), decimals=2)


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


def rate(pieces: Pieces, values: Sequence[float]) -> Estimate | None:
    """Return the mean of the pieces' values; pieces to the same prompt are one item."""
    return estimate(values, [piece["prompt"] for piece in pieces])
