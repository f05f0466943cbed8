"""Reference pieces as rows: compiled, described and embedded."""

from collections.abc import Callable, Sequence

from music_evals.datasets_builders.lilybench.generation.rows import Score
from music_evals.encoders.lilybert import Encoder
from music_evals.notation.lilypond.compiler import Compiled, compile_texts, lilypond_cache
from music_evals.notation.lilypond.writing import LIMITS, why_not
from music_evals.notation.midi.descriptors import DescriptorError, describe
from music_evals.notation.reference_pieces import PAPER, ReferenceRow


def measure(
    scores: Sequence[Score], *, encoder: Encoder | None = None, on_score: Callable[[], None] = lambda: None
) -> list[ReferenceRow]:
    """Compile, describe and embed pieces: a row per piece, in order; `on_score` is called after each description."""
    rows: list[ReferenceRow] = []
    compiled = compile_texts((score.text for score in scores), limits=LIMITS, cache=lilypond_cache(), together=True)
    for score, run in zip(scores, compiled, strict=True):
        problem = why_not(run)
        values, undefined = _descriptors(run) if problem is None else ({}, "it does not compile")
        rows.append(
            {
                "id": score.id,
                "work": score.work,
                "text": score.text,
                "compiles": problem is None,
                "problem": problem,
                "polyphony_rate": values.get("polyphony_rate"),
                "groove_consistency": values.get("groove_consistency"),
                "scale_consistency": values.get("scale_consistency"),
                "paper_polyphony_rate": values.get(f"{PAPER}polyphony_rate"),
                "paper_groove_consistency": values.get(f"{PAPER}groove_consistency"),
                "paper_scale_consistency": values.get(f"{PAPER}scale_consistency"),
                "undefined": undefined,
                "embedding_first_token": None,
                "embedding_mean": None,
                "licence": score.licence,
            }
        )
        on_score()
    if encoder is not None:
        for row, vectors in zip(rows, encoder.embed([score.text for score in scores]), strict=True):
            row["embedding_first_token"] = vectors["first_token"].tolist()
            row["embedding_mean"] = vectors["mean"].tolist()
    return rows


def _descriptors(compiled: Compiled) -> tuple[dict[str, float | None], str | None]:
    """Columns of descriptors, and why some have no value."""
    try:
        strict, paper = (describe(compiled.midi[0], protocol) for protocol in ("strict", "paper"))
    except DescriptorError as error:
        return {}, str(error)
    reasons = {**{f"{PAPER}{name}": reason for name, reason in paper.reasons.items()}, **strict.reasons}
    undefined = "; ".join(f"{name}: {reason}" for name, reason in sorted(reasons.items()))
    values = {**strict.values, **{f"{PAPER}{name}": value for name, value in paper.values.items()}}
    return values, undefined or None
