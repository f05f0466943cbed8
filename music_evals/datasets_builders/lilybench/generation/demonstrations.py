"""The pieces that are shown ahead of a prompt: some of the training split, or three in A minor.

Those in A minor are this project's own (``a_minor/``): a minuet for harpsichord, an air for violin and cello and a
prelude for piano, whole pieces of `LINES`, as long as the paper's, which are hand-written in A minor too.
"""

import random
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Final

from music_evals.datasets_builders import read_table
from music_evals.datasets_builders.lilybench.corpus import opening
from music_evals.datasets_builders.lilybench.generation.rows import (
    MAX_DEMONSTRATION,
    N_DEMONSTRATIONS,
    DemonstrationRow,
    Description,
    Score,
    WorkSplit,
)
from music_evals.datasets_builders.lilybench.generation.works import Work
from music_evals.notation.lilypond.compiler import compile_texts
from music_evals.notation.lilypond.structure import read_structures
from music_evals.notation.lilypond.writing import LIMITS, why_not

LINES: Final = range(53, 65)
"""Lines that a demonstration of the paper's ablation has."""


def a_minor_demonstrations() -> list[DemonstrationRow]:
    """The hand-written demonstrations of the ablation."""
    rows: list[DemonstrationRow] = []
    described: Mapping[str, Description] = read_table("lilybench/generation/a_minor/pieces.toml")
    for name, description in described.items():
        text = (files(__package__) / "a_minor" / f"{name}.ly").read_text("utf-8")
        rows.append({"id": name, "work": name, **description, "text": text})
    return rows


def draw_demonstrations(
    works: Sequence[Work],
    scores: Sequence[Score],
    splits: Mapping[str, WorkSplit],
    seed: int,
    *,
    cache: Path | None = None,
) -> list[DemonstrationRow]:
    """Draw `N_DEMONSTRATIONS` pieces of the training split, or fewer where there are no more, each of another work.

    A piece can be shown if it compiles to MIDI within the time that a written piece has, and is no longer than
    `MAX_DEMONSTRATION`. Those whose number of lines is nearest to `LINES` come first.
    """
    known = {work.id: work for work in works}
    candidates = [score for score in scores if splits[score.work] == "train" and len(score.text) <= MAX_DEMONSTRATION]
    random.Random(seed).shuffle(candidates)
    candidates.sort(key=lambda score: _off(len(score.text.strip().splitlines())))
    rows: dict[str, DemonstrationRow] = {}
    compiled = compile_texts((score.text for score in candidates), limits=LIMITS, cache=cache, together=True)
    for score, run in zip(candidates, compiled, strict=True):
        if why_not(run) is None and score.work not in rows:
            description = _description(known[score.work], score, cache)
            rows[score.work] = {"id": score.id, "work": score.work, **description, "text": score.text}
            if len(rows) == N_DEMONSTRATIONS:
                break
    return list(rows.values())


def _off(lines: int) -> int:
    """How many lines lie between a number of them and `LINES`."""
    return max(LINES.start - lines, lines - LINES[-1], 0)


def _description(work: Work, score: Score, cache: Path | None) -> Description:
    """What is known of a piece: its entry, or what its work and the piece itself tell."""
    for entry in work.entries:
        if score.id == entry.id or len(work.entries) == 1:
            return entry.description
    key, metre = opening(next(read_structures([score.text], cache=cache)))
    return {**work.entries[0].description, "part": None, "key": key, "metre": metre}
