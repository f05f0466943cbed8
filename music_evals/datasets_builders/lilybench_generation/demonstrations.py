"""The pieces that are shown ahead of a prompt: some of the training split, or three in A minor.

The pieces in A minor are this project's own (``a_minor/``): a minuet for harpsichord, an air for
violin and cello and a prelude for piano. They are whole pieces of `LINES`, as long as the paper's,
which are hand-written in A minor too.
"""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from random import Random

from music_evals.datasets_builders import read_table
from music_evals.datasets_builders.lilybench.strict.survey import opening
from music_evals.datasets_builders.lilybench_generation.rows import (
    MAX_DEMONSTRATION,
    N_DEMONSTRATIONS,
    DemonstrationRow,
    Description,
    Score,
    WorkSplit,
)
from music_evals.datasets_builders.lilybench_generation.works import Work
from music_evals.notation.lilypond.compiler import compile_texts, lilypond_cache
from music_evals.notation.lilypond.structure import read_structures
from music_evals.notation.lilypond.writing import LIMITS, why_not

LINES = range(53, 65)
"""Number of lines of the demonstrations in the paper's ablation."""


def a_minor_demonstrations() -> list[DemonstrationRow]:
    """Return the hand-written demonstrations of the ablation."""
    rows: list[DemonstrationRow] = []
    descriptions: Mapping[str, Description] = read_table("lilybench_generation/a_minor/pieces.toml")
    for name, description in descriptions.items():
        text = (files(__package__) / "a_minor" / f"{name}.ly").read_text("utf-8")
        rows.append({"id": name, "work": name, **description, "text": text})
    return rows


def draw_demonstrations(
    works: Sequence[Work],
    scores: Sequence[Score],
    splits: Mapping[str, WorkSplit],
    seed: int,
) -> list[DemonstrationRow]:
    """Draw `N_DEMONSTRATIONS` pieces of the training split, or fewer if there are no more, each of
    another work.

    A demonstration compiles to MIDI within the limits of a written piece, and is no longer than
    `MAX_DEMONSTRATION`. Pieces whose number of lines is nearest to `LINES` come first.
    """
    by_id = {work.id: work for work in works}
    candidates = [
        score
        for score in scores
        if splits[score.work] == "train" and len(score.text) <= MAX_DEMONSTRATION
    ]
    Random(seed).shuffle(candidates)
    candidates.sort(key=lambda score: _distance(len(score.text.strip().splitlines())))
    rows = {}
    compiled = compile_texts(
        (score.text for score in candidates), limits=LIMITS, cache=lilypond_cache(), together=True
    )
    for score, run in zip(candidates, compiled, strict=True):
        if why_not(run) is None and score.work not in rows:
            description = _description(by_id[score.work], score)
            row = DemonstrationRow(id=score.id, work=score.work, **description, text=score.text)
            rows[score.work] = row
            if len(rows) == N_DEMONSTRATIONS:
                break
    return list(rows.values())


def _distance(lines: int) -> int:
    return max(LINES.start - lines, lines - LINES[-1], 0)


def _description(work: Work, score: Score) -> Description:
    """The description of a piece's entry, or the facts of its work and of the piece itself."""
    for entry in work.entries:
        if score.id == entry.id or len(work.entries) == 1:
            return entry.description
    key, metre = opening(next(read_structures([score.text], cache=lilypond_cache())))
    return {**work.entries[0].description, "part": None, "key": key, "metre": metre}
