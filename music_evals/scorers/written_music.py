"""The scorer of written music: whether it compiles, how similar it is to real music, and whether it
is a copy.

Source: arXiv 2606.08722, section 3.3. Intervals, novelty and FMD∞ are beyond the paper.

The metadata of a score hold the piece's figures and the fits of the reference sets; only the
Fréchet distance needs the sets themselves. A figure that is not defined is absent.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import islice
from logging import getLogger
from typing import Any

import anyio.to_thread
import numpy as np
from inspect_ai.scorer import Score, Scorer, Target
from inspect_ai.solver import TaskState

from music_evals.encoders.lilybert import EncoderError
from music_evals.notation.lilypond.copies import NEAR_COPY, music_words
from music_evals.notation.midi.descriptors import Protocol
from music_evals.notation.reference_pieces import ReferenceSet
from music_evals.scorers.explanations import asks_of, code
from music_evals.scorers.metrics.descriptor_similarity import fit_of
from music_evals.scorers.metrics.estimates import Estimate, Estimates, flatten
from music_evals.scorers.metrics.frechet import frechet_distance, frechet_infinity, frechet_interval
from music_evals.scorers.metrics.written import (
    ORIGINAL,
    embedded,
    likeness,
    near_copies,
    original,
    rate,
    repeated,
)
from music_evals.scorers.readers.pieces import Piece
from music_evals.scorers.reference_pieces import ReferencePieces, embedded_reference
from music_evals.scorers.scores import (
    CUT,
    Figures,
    SampleScores,
    details_of,
    main_metric,
    not_measured,
    sample_metric,
    scorer,
)
from music_evals.scorers.written_pieces import Workbench, decoded, is_embedded

RESAMPLES = 200  # bootstrap samples of an interval
MAX_LOGGED = 1_000  # notes and chords of a piece in the log
MAX_SHOWN = 1_200  # characters of LilyPond's messages in an explanation

_log = getLogger(__name__)

Pieces = Sequence[Mapping[str, Any]]  # metadata of scores, one per piece


@sample_metric
def novelty(scores: SampleScores) -> Figures:
    """The shares of pieces that are near-copies of others, and of distinct pieces that are none,
    compile and have notes.

    ``near_copies`` are copies of a demonstration or of a reference piece, ``repeated`` of another
    piece of the run, ``original_rate`` has the ends of its interval.
    """
    pieces = details_of(scores)
    copies = flatten({"near_copies": near_copies(pieces)})
    shares = {"repeated": repeated(pieces), ORIGINAL: original(pieces)}
    return copies | flatten({name: rate(pieces, flags) for name, flags in shares.items()})


@sample_metric
def similarity(scores: SampleScores) -> Figures:
    """``R/js`` for each reference set R: the similarity of the pieces' descriptors, from 0 to
    100.
    """
    pieces = details_of(scores)
    references = pieces[0]["references"] if pieces else {}
    return flatten({f"{name}/js": likeness(pieces, fits) for name, fits in references.items()})


def music_scorer(pieces: ReferencePieces) -> Callable[..., Scorer]:
    """Make the scorer ``written_music`` and its metrics, which compare with these pieces.

    A log holds the name of the dataset, so that it can be scored again.
    """

    @sample_metric
    def frechet(scores: SampleScores) -> Figures:
        """The Fréchet Music Distance of all pieces, compiled or not, to each reference set R.

        These are ``R/fmd`` with a bootstrap interval, and ``R/fmd_infinity``, extrapolated to any
        number of pieces.
        """
        return _distances(pieces, details_of(scores))

    fits = cache(partial(_fits, pieces))

    @scorer(metrics=[main_metric("compile_rate"), similarity(), frechet(), novelty()])
    def written_music(
        dataset: str = "generated",
        reference: str | None = None,
        protocol: Protocol = "strict",
        encoder: str | None = None,
        attempt: int | None = None,
        pictures: bool = True,
    ) -> Scorer:
        """Score a piece of music that a model wrote in LilyPond: 1 where it compiles, else 0.

        Args:
            dataset: the dataset with the reference sets, as for the task.
            reference: names of reference sets, separated by commas; None for all of the dataset.
            protocol: how replies are read and what counts as compiled (`lilypond.writing`); which
                descriptors count, ``paper`` for MusPy's on MIDI ticks, ``strict`` for those on a
                grid; and which texts are embedded: under ``paper`` those of 40 characters or more,
                of pieces and references.
            encoder: for the Fréchet Music Distance, by its name on the Hub or its folder; None for
                no distance.
            attempt: which attempt counts, from 1; None for the last one made.
            pictures: whether the explanation shows the first system and a piano roll.

        Source: arXiv 2606.08722, section 3.3.
        """
        workbench = Workbench(pictures=pictures)

        async def score(state: TaskState, target: Target) -> Score:
            written = await workbench.pieces(state, protocol)
            judged = written[-1] if attempt is None else written[min(attempt, len(written)) - 1]
            problem = judged["problem"]
            if not judged["is_measured"]:
                return not_measured(str(problem))
            if problem and judged is written[-1] and state.output.stop_reason == CUT:
                problem = f"the reply was cut at the limit of tokens; {problem}"
            identity = vector = None
            if encoder and judged["code"] and is_embedded(judged["code"], protocol):
                identity, vector = await workbench.vector_of(state, judged, encoder)
            nearest = await anyio.to_thread.run_sync(
                pieces.nearest, judged["code"], dataset, reference
            )
            compiled = [piece["problem"] is None for piece in written]
            shown = explained({**judged, "problem": problem}, protocol, nearest)
            return Score(
                value=0 if problem else 1,
                answer=problem or "compiles",
                explanation=_asked(state) + shown,
                metadata={
                    "dataset": dataset,
                    "reference": reference,
                    "protocol": protocol,
                    "encoder": encoder,
                    "attempts": compiled,
                    "descriptors": judged["descriptors"].get(protocol, {}),
                    "undefined": judged["undefined"].get(protocol, {}),
                    "compiles": problem is None,
                    "has_notes": judged["has_notes"],
                    "prompt": str(state.sample_id),
                    "nearest": nearest,
                    "music": list(islice(music_words(judged["code"]), MAX_LOGGED)),
                    "references": fits(dataset, reference, protocol),
                    "embedded_by": identity,
                    "embedding": vector,
                },
            )

        return score

    return written_music


def explained(piece: Piece, protocol: Protocol, nearest: Mapping[str, tuple[str, float]]) -> str:
    """Describe a piece for the log viewer: LilyPond's messages, set as code, descriptors,
    near-copies and pictures.
    """
    parts = [
        f"Does not compile: {code(piece['problem'], MAX_SHOWN)}"
        if piece["problem"]
        else "Compiles."
    ]
    if messages := piece["messages"].strip()[:MAX_SHOWN]:
        parts.append("\n".join(f"    {line}" for line in messages.splitlines()))
    copied = [
        f"{share:.0%} of it in {place} {name}"
        for place, (name, share) in nearest.items()
        if share >= NEAR_COPY
    ]
    near_copy = f"Near-copy: {'; '.join(copied)}" if copied else ""
    parts += filter(None, ["; ".join(_facts(piece, protocol)), near_copy])
    for name, data in piece["pictures"].items():
        parts.append(f"![{_PICTURES[name]}](data:image/png;base64,{data})")
    return "\n\n".join(parts)


_PICTURES = {"system": "first system", "roll": "piano roll"}


def _facts(piece: Piece, protocol: Protocol) -> Iterator[str]:
    for name, value in piece["descriptors"].get(protocol, {}).items():
        if value is not None:
            yield f"{name.replace('_', ' ')} {value:.3f}"
    for name, why in piece["undefined"].get(protocol, {}).items():
        yield f"{name.replace('_', ' ') or 'descriptors'} undefined: {why}"
    for name, why in piece.get("undrawn", {}).items():
        yield f"picture of {name} missing: {code(why)}"


def _asked(state: TaskState) -> str:
    """The description that the model was given, if the log has it."""
    description = asks_of(state).get("description", {})
    facts = "; ".join(f"{name} {code(str(value))}" for name, value in description.items())
    return f"**Asked:** a piece in LilyPond: {facts}.\n\n" if facts else ""


def _fits(
    pieces: ReferencePieces, dataset: str, reference: str | None, protocol: Protocol
) -> dict[str, dict[str, Any]]:
    """The fits of the descriptors of each reference set."""
    fits = {}
    for references in pieces.references(dataset, reference):
        fits[references.name] = fit_of(references.descriptors(protocol))._asdict()
    return fits


def _distances(pieces: ReferencePieces, written: Pieces) -> Figures:
    """The Fréchet distances of written pieces to each reference set."""
    encoders = {piece["embedded_by"] for piece in embedded(written)}
    if len(encoders) != 1:  # vectors of two encoders have no distance
        return {}
    figures: Figures = {}
    for references in pieces.references(written[0]["dataset"], written[0]["reference"]):
        distances = flatten(_frechet(written, references))
        figures |= {f"{references.name}/{name}": value for name, value in distances.items()}
    return figures


def _frechet(pieces: Pieces, reference: ReferenceSet) -> Estimates:
    """The distances to a reference set; empty if they are not defined."""
    encoder = pieces[0]["encoder"]
    protocol = pieces[0]["protocol"]
    with_vectors = embedded(pieces)
    identity = with_vectors[0]["embedded_by"]
    counted = [is_embedded(text, protocol) for text in reference.texts]
    try:
        real = embedded_reference(reference, encoder, identity)[counted]
    except EncoderError as error:
        _log.warning("No Fréchet Music Distance to %s: %s", reference.name, error)
        return {}
    written = np.array([decoded(piece["embedding"]) for piece in with_vectors], dtype=np.float64)
    if min(len(real), len(written)) < 2:
        return {}
    ends = frechet_interval(real, written, resamples=RESAMPLES)
    distances = {"fmd": Estimate(frechet_distance(real, written), *ends, len(written))}
    infinity = frechet_infinity(real, written)
    if not math.isnan(infinity):
        distances["fmd_infinity"] = Estimate(infinity)
    return distances
