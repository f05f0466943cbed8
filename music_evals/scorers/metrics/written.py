"""Figures of written pieces of music: which compile, which are near-copies, how similar they are to
reference pieces.

A piece is the metadata of its score (see `music_evals.scorers.written_music`), as a log holds them.

Source: arXiv 2606.08722, section 3.3. Novelty and the intervals are beyond the paper.
"""

from collections.abc import Mapping, Sequence
from math import exp, inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from music_evals.notation.lilypond.copies import NEAR_COPY, contained
from music_evals.notation.midi.descriptors import DESCRIPTORS
from music_evals.scorers.metrics.estimates import Estimate, Estimates, estimate, share
from music_evals.scorers.metrics.resampling import Floats

if TYPE_CHECKING:
    from music_evals.scorers.metrics.descriptor_similarity import Fit

Pieces = Sequence[Mapping[str, Any]]
ORIGINAL = "original_rate"
"""The metric of which a piece's value depends on the other pieces of its run, see `original`."""


class Likeness(NamedTuple):
    """How alike pieces are to a reference set.

    `js` is the similarity of all descriptors, from 0 to 100, with a jackknife interval; None for
    the `reason` given. `by_descriptor` has it for each descriptor, and `shifts` how far each mean
    lies from the reference's, in its standard deviations; NaN without a value.
    """

    js: Estimate | None
    by_descriptor: Mapping[str, float]
    shifts: Mapping[str, float]
    reason: str


def compiled_after(pieces: Pieces, attempts: int) -> Estimate:
    """Return the share of pieces that compile after at most so many attempts."""
    return share(
        sum(any(piece["attempts"][:attempts]) for piece in pieces) / len(pieces), len(pieces)
    )


def near_copies(pieces: Pieces) -> Estimates:
    """Return the share of near-copies: of anything under ``""``, and of the demonstrations and each
    reference set.

    Args:
        pieces: pieces that are too short to tell are left out. A near-copy has the share
            `NEAR_COPY` of its music, or more, in common with another piece.

    Returns:
        Place → share with Wilson's interval; nothing where no piece is long enough.
    """
    compared = [piece["nearest"] for piece in pieces if piece["nearest"]]
    if not compared:
        return {}
    copies = {
        "": [max(copied for _, copied in nearest.values()) >= NEAR_COPY for nearest in compared]
    }
    copies |= {
        place: [nearest[place][1] >= NEAR_COPY for nearest in compared] for place in compared[0]
    }
    return {place: share(sum(flags) / len(flags), len(flags)) for place, flags in copies.items()}


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


def likeness(pieces: Pieces, reference: Mapping[str, Any]) -> Likeness:
    """Compare the descriptors of the pieces that compile with the fits of a reference set."""
    from music_evals.scorers.metrics.descriptor_similarity import Fit, js_interval, js_similarity

    fit = Fit(*(reference[name] for name in Fit._fields))
    compiled = [piece["descriptors"] for piece in pieces if piece["compiles"]]
    rows = [[values.get(name) for name in DESCRIPTORS] for values in compiled]  # None becomes NaN
    values: Floats = np.array(rows, dtype=np.float64).reshape(len(rows), len(DESCRIPTORS))
    similarity = js_similarity(fit, values, names=DESCRIPTORS)
    if similarity.reason is not None:
        few = f"{len(values)} of {len(pieces)} pieces compile; at least 2 are needed"
        reason = few if len(values) < 2 else similarity.reason
        return Likeness(None, similarity.by_descriptor, similarity.shifts, reason)
    low, high, no_interval_reason = js_interval(fit, values)
    js = Estimate(similarity.value, low, high, len(values), 2)
    if no_interval_reason:
        js = Estimate(similarity.value, n=len(values), decimals=2)
    return Likeness(js, similarity.by_descriptor, similarity.shifts, no_interval_reason or "")


def piece_likeness(descriptors: Mapping[str, float | None], reference: "Fit") -> float:
    """Return how near one piece's descriptors lie to the means of a reference set, from 0 to 1.

    It is the mean of exp(-z²/2) over the descriptors with a fit, z being the distance in standard
    deviations of the reference; a descriptor that the piece lacks counts as 0. A set of pieces is
    compared by `likeness`, one piece has no distribution.

    Example:
        >>> from music_evals.scorers.metrics.descriptor_similarity import Fit
        >>> fit = Fit([0.5, 0.9, 0.9], [0.1, 0.1, 0.1], [None] * 3)
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


def no_distance_reason(pieces: Pieces, texts: int = 2) -> str:
    """Say why pieces have no Fréchet distance to a reference set with so many texts; nothing where
    they have one.
    """
    if pieces[0]["encoder"] is None:
        return "no encoder was named"
    encoders = sorted({piece["embedded_by"] for piece in embedded(pieces)})
    if not encoders:
        return "no piece holds LilyPond"
    if len(encoders) > 1:
        return f"pieces were embedded by different encoders: {' and '.join(encoders)}"
    if min(len(embedded(pieces)), texts) < 2:
        return f"{len(embedded(pieces))} pieces and {texts} references; 2 are needed"
    return ""


def rate(pieces: Pieces, flags: Sequence[bool]) -> Estimate | None:
    """Return the share of pieces with a flag; pieces to the same prompt are one item."""
    return estimate([*map(float, flags)], [piece["prompt"] for piece in pieces])
