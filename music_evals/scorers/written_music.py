"""The scorer of written music and its metrics: does it compile, how near does it come to real music, is it new.

Source: arXiv 2606.08722, section 3.3. Intervals, novelty and FMD∞ are beyond the paper.

A piece's figures lie in its score, with the fits of the reference sets, so that only the Fréchet distance needs the
sets themselves. A figure that is undefined is NaN or absent, and a further entry tells why: ``mutopia/js undefined:
...``.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final

import anyio.to_thread
import numpy as np
from inspect_ai.scorer import SampleScore, Score, Scorer, Target
from inspect_ai.solver import TaskState

from music_evals.encoders.lilybert import EncoderError, Pooling
from music_evals.notation.lilypond.copies import NEAR_COPY
from music_evals.notation.midi.descriptors import DESCRIPTORS, Protocol
from music_evals.notation.reference_pieces import ReferenceSet
from music_evals.scorers.explanations import asks_of, code
from music_evals.scorers.metrics.descriptor_similarity import Fit, fit_of, js_interval, js_similarity
from music_evals.scorers.metrics.figures import each, share, with_interval
from music_evals.scorers.metrics.frechet import (
    LEAST_PIECES,
    frechet_distance,
    frechet_infinity,
    frechet_interval,
    small_sample_note,
)
from music_evals.scorers.metrics.resampling import Floats
from music_evals.scorers.reference_pieces import ReferencePieces, embedded_reference, shared_encoder
from music_evals.scorers.scores import figures, not_measured, scorer, setting_up
from music_evals.scorers.written_pieces import Piece, Workbench, decoded, is_embedded, stored_embedding

RESAMPLES: Final = 200
"""Bootstrap samples of an interval."""
MAX_SHOWN: Final = 1_200
"""Characters of LilyPond's messages in an explanation."""

Scores = Sequence[SampleScore]

_NONE: Final = "the dataset has no reference set"


@figures
def compile_figures(scores: list[SampleScore]) -> dict[str, float]:
    """``compile_rate``, the share of pieces that compile, with Wilson's 95% interval, and the number of ``pieces``.

    Where several attempts were allowed, ``attempt_1``, ``attempt_2`` and so on are the share that compiles after so
    many. Repeated runs of a prompt (epochs) count as one for the interval. Under ``paper``, whose rule takes any MIDI
    file, ``compile_rate_with_notes`` is the share that compiles to one that can be read and holds a note.
    """
    prompts = len({score.sample_id for score in scores})
    rate = float(np.mean([_is_compiled(score) for score in scores]))
    found = {**share("compile_rate", rate, prompts), "pieces": float(len(scores))}
    if _of(scores[0], "protocol") == "paper":
        sound = float(np.mean([_of(score, "has_notes") for score in scores]))
        found |= share("compile_rate_with_notes", sound, prompts)
    allowed = max(_of(score, "attempts_allowed") for score in scores)
    if allowed > 1:
        for attempt in range(1, allowed + 1):
            found[f"attempt_{attempt}"] = float(np.mean([any(_of(score, "attempts")[:attempt]) for score in scores]))
    return found


@figures
def novelty_figures(scores: list[SampleScore]) -> dict[str, float]:
    """The share of pieces that are near-copies of a demonstration or of a reference piece.

    These are ``near_copies`` with Wilson's 95% interval, and ``R/near_copies`` for the demonstrations and each
    reference set R. Pieces too short to tell are left out, and counted in ``too_short``.
    """
    told = [nearest for score in scores if (nearest := _of(score, "nearest"))]
    if not told:
        undefined = with_interval("near_copies", math.nan, (math.nan, math.nan))
        return {**undefined, "near_copies undefined: no piece is long enough to tell": math.nan}
    rate = float(np.mean([max(copied for _, copied in nearest.values()) >= NEAR_COPY for nearest in told]))
    found = share("near_copies", rate, len(told))
    for name in told[0]:
        found[f"{name}/near_copies"] = float(np.mean([nearest[name][1] >= NEAR_COPY for nearest in told]))
    return {**found, "too_short": float(len(scores) - len(told))}


@figures
def similarity_figures(scores: list[SampleScore]) -> dict[str, float]:
    """The JS similarity of the compiled pieces' descriptors to each reference set R, from 0 to 100.

    These are ``R/js`` with a jackknife interval, ``R/js_DESCRIPTOR`` for each descriptor alone, and
    ``R/shift_DESCRIPTOR``, how far the mean lies from the reference's, in its standard deviations.
    """
    found = each(_of(scores[0], "references"), lambda one: _similarity(scores, one))
    return found or {f"js undefined: {_NONE}": math.nan}


@figures
def frechet_notes(scores: list[SampleScore]) -> dict[str, float]:
    """What the Fréchet Music Distance is of, ``R/fmd_texts``, and why it or its extrapolation is missing."""
    found = each(_of(scores[0], "references"), lambda one: _notes(scores, one["texts"]))
    return found or {f"fmd undefined: {_NONE}": math.nan}


def music_scorer(pieces: ReferencePieces) -> Callable[..., Scorer]:
    """Make the scorer ``written_music`` and its metrics, which compare with these pieces.

    A log holds the name of the dataset, so that it can be scored again.
    """

    @figures
    def frechet_figures(scores: list[SampleScore]) -> dict[str, float]:
        """The Fréchet Music Distance of all pieces, compiled or not, to each reference set R.

        These are ``R/fmd`` with a bootstrap interval, and ``R/fmd_infinity``, extrapolated to any number of pieces;
        `frechet_notes` says why one is missing.
        """
        references = pieces.references(_of(scores[0], "dataset"), _of(scores[0], "reference"))
        return each({reference.name: reference for reference in references}, lambda one: _frechet(scores, one))

    @cache
    def fits(dataset: str, reference: str | None, protocol: Protocol) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        for one in pieces.references(dataset, reference):
            found[one.name] = dict(fit_of(one.descriptors(protocol), names=DESCRIPTORS)._asdict())
            found[one.name]["texts"] = sum(is_embedded(text, protocol) for text in one.texts)
        return found

    @scorer(
        metrics=[
            compile_figures("compile_rate"),
            similarity_figures("*/js"),
            frechet_figures("*fmd*"),
            novelty_figures("near_copies"),
        ]
    )
    def written_music(
        dataset: str = "generated",
        reference: str | None = None,
        protocol: Protocol = "strict",
        encoder: str | None = None,
        pooling: Pooling = "first_token",
        attempt: int | None = None,
        attempts: int = 1,
        pictures: bool = True,
    ) -> Scorer:
        """Score a piece of music that a model wrote in LilyPond: 1 where it compiles, else 0.

        Args:
            dataset: the dataset with the reference sets, as for the task.
            reference: names of reference sets, separated by commas; None for all of the dataset.
            protocol: how replies are read and what counts as compiled (`lilypond.writing`); which descriptors count,
                ``paper`` for MusPy's on MIDI ticks, ``strict`` for those on a grid; and which texts are embedded: under
                ``paper`` those of 40 characters or more, of pieces and references.
            encoder: for the Fréchet Music Distance, by its name on the Hub or its folder; None for no distance.
            pooling: how the vectors of a text's tokens become one.
            attempt: which attempt counts, from 1; None for the last one made.
            attempts: how many a model was allowed.
            pictures: whether the explanation shows the first system and a piano roll.

        Source: arXiv 2606.08722, section 3.3.
        """
        workbench = Workbench(pictures=pictures)

        async def score(state: TaskState, target: Target) -> Score:
            written = await workbench.pieces(state, protocol)
            judged = written[-1] if attempt is None else written[min(attempt, len(written)) - 1]
            if not judged.get("is_measured", True):
                return not_measured(str(judged["problem"]))
            problem = judged["problem"]
            if problem and judged is written[-1] and state.output.stop_reason in ("max_tokens", "model_length"):
                problem = f"the reply was cut at the limit of tokens; {problem}"
            # What the log holds already is taken as it is, so that no encoder is needed to score it again.
            embeds = encoder is not None and bool(judged["code"]) and is_embedded(judged["code"], protocol)
            embedded = stored_embedding(judged, encoder, pooling) if encoder is not None and embeds else None
            if encoder is not None and embeds and embedded is None:
                with setting_up():
                    loaded = await anyio.to_thread.run_sync(shared_encoder, encoder)
                await workbench.embed(state, judged, loaded, pooling)
                embedded = stored_embedding(judged, encoder, pooling)
            nearest = await anyio.to_thread.run_sync(pieces.nearest, judged["code"], dataset, reference)
            return Score(
                value=0 if problem else 1,
                answer=problem or "compiles",
                explanation=_asked(state) + explained({**judged, "problem": problem}, protocol, nearest),
                metadata={
                    "dataset": dataset,
                    "reference": reference,
                    "protocol": protocol,
                    "encoder": encoder,
                    "pooling": pooling,
                    "attempts": [piece["problem"] is None for piece in written],
                    "attempts_allowed": attempts,
                    "descriptors": judged["descriptors"].get(protocol, {}),
                    "undefined": judged["undefined"].get(protocol, {}),
                    "has_notes": judged.get("has_notes", problem is None),
                    "nearest": nearest,
                    "references": fits(dataset, reference, protocol),
                    "embedded_by": embedded and embedded[0],
                    "embedding": embedded and embedded[1],
                    "dimensions": embedded and len(decoded(embedded[1])),
                },
            )

        return score

    return written_music


def explained(piece: Piece, protocol: Protocol, nearest: Mapping[str, tuple[str, float]]) -> str:
    """Describe a piece for the log viewer: what LilyPond says, its descriptors, what it copies, its pictures.

    LilyPond's messages are set as code, so that nothing in them counts as markup.
    """
    parts = [f"Does not compile: {_plain(piece['problem'])}" if piece["problem"] else "Compiles."]
    if messages := piece["messages"].strip()[:MAX_SHOWN]:
        parts.append("\n".join(f"    {line}" for line in messages.splitlines()))
    values, undefined = piece["descriptors"].get(protocol, {}), piece["undefined"].get(protocol, {})
    told = [f"{name.replace('_', ' ')} {value:.3f}" for name, value in values.items() if value is not None]
    told += [f"{name.replace('_', ' ') or 'descriptors'} undefined: {why}" for name, why in undefined.items()]
    told += [f"picture of {name} missing: {_plain(why)}" for name, why in piece.get("undrawn", {}).items()]
    if told:
        parts.append("; ".join(told))
    copied = [f"{part:.0%} of it in {place} {name}" for place, (name, part) in nearest.items() if part >= NEAR_COPY]
    if copied:
        parts.append(f"Near-copy: {'; '.join(copied)}")
    titles = {"system": "first system", "roll": "piano roll"}
    parts += [f"![{titles[name]}](data:image/png;base64,{data})" for name, data in piece["pictures"].items()]
    return "\n\n".join(parts)


def _asked(state: TaskState) -> str:
    """What the piece was to be; nothing for logs that do not say it."""
    known: Mapping[str, Any] = asks_of(state).get("description", {})
    told = "; ".join(f"{name} {code(str(value))}" for name, value in known.items())
    return f"**Asked:** a piece in LilyPond: {told}.\n\n" if told else ""


def _plain(text: str | None) -> str:
    """A line without signs that Markdown or HTML reads."""
    return "".join(sign if sign not in "<>[]()`*_&!\\#|" else " " for sign in text or "")


def _similarity(scores: Scores, reference: Mapping[str, Any]) -> dict[str, float]:
    real, made = Fit(*(reference[name] for name in Fit._fields)), _descriptors(scores)
    alike = js_similarity(real, made, names=DESCRIPTORS)
    low, high, reason = js_interval(real, made)
    found = with_interval("js", alike.value, (low, high))
    if alike.reason is not None:
        few = f"{len(made)} of {len(scores)} pieces compile; at least 2 are needed"
        found[f"js undefined: {few if len(made) < 2 else alike.reason}"] = math.nan
    elif reason is not None:
        found[f"js note: {reason}"] = math.nan
    for descriptor in DESCRIPTORS:
        found[f"js_{descriptor}"] = alike.by_descriptor[descriptor]
        found[f"shift_{descriptor}"] = alike.shifts[descriptor]
    return found


def _frechet(scores: Scores, reference: ReferenceSet) -> dict[str, float]:
    if why_not_embedded(scores):
        return {}
    try:
        real, made = _embeddings(scores, reference)
    except EncoderError as error:
        return {f"fmd undefined: {error}": math.nan}
    if min(len(real), len(made)) < 2:
        return {}
    found = with_interval("fmd", frechet_distance(real, made), frechet_interval(real, made, resamples=RESAMPLES))
    infinity = frechet_infinity(real, made)
    return found if math.isnan(infinity) else {**found, "fmd_infinity": infinity}


def why_not_embedded(scores: Scores) -> str:
    """Say why pieces have no distance; nothing where they may have."""
    if _of(scores[0], "encoder") is None:
        return "no encoder was named"
    identities = sorted({_of(score, "embedded_by") for score in _embedded(scores)})
    if not identities:
        return "no piece holds LilyPond"
    return f"pieces were embedded by different encoders: {' and '.join(identities)}" if len(identities) > 1 else ""


def _notes(scores: Scores, texts: int) -> dict[str, float]:
    if why := why_not_embedded(scores):
        return {f"fmd undefined: {why}": math.nan}
    embedded = _embedded(scores)
    made = len(embedded)
    if min(made, texts) < 2:
        return {f"fmd undefined: {made} pieces and {texts} references; 2 are needed": math.nan}
    found = {"fmd_texts": float(made)}
    if made < LEAST_PIECES:
        few = f"{made} generated pieces; at least {LEAST_PIECES} are needed to extrapolate"
        found[f"fmd_infinity undefined: {few}"] = math.nan
    if note := small_sample_note(texts, made, _of(embedded[0], "dimensions")):
        found[f"fmd note: {note}"] = math.nan
    return found


def _embedded(scores: Scores) -> list[SampleScore]:
    return [score for score in scores if _of(score, "embedded_by")]


def _embeddings(scores: Scores, reference: ReferenceSet) -> tuple[Floats, Floats]:
    """The embeddings of a reference set, by the encoder of the pieces, and of these."""
    encoder, pooling, protocol = (_of(scores[0], name) for name in ("encoder", "pooling", "protocol"))
    identity, made = _of(_embedded(scores)[0], "embedded_by"), [_of(score, "embedding") for score in _embedded(scores)]
    counted = [is_embedded(text, protocol) for text in reference.texts]
    real = embedded_reference(reference, encoder, identity, pooling)[counted]
    return real, np.array([decoded(one) for one in made], dtype=np.float64)


def _descriptors(scores: Scores) -> Floats:
    """The descriptors of the pieces that compiled, NaN for one that has no value."""
    compiled = [_of(score, "descriptors") for score in scores if _is_compiled(score)]
    rows = [[values.get(name) for name in DESCRIPTORS] for values in compiled]  # None becomes NaN
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(DESCRIPTORS))


def _is_compiled(score: SampleScore) -> bool:
    return score.score.as_float() == 1.0


def _of(score: SampleScore, name: str) -> Any:
    return (score.score.metadata or {})[name]
