"""MSU-Bench: open questions on complete scores, as published or computed on other scores.

`computed` makes questions on scores in files or in music21's corpus; `published` reads the authors'
data. See `rows`.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from music_evals.datasets_builders.dataset_io import (
    Conversion,
    DatasetError,
    DatasetSpec,
    Provenance,
    write_dataset,
)
from music_evals.datasets_builders.msu.rows import (
    DEFAULT_SEED,
    FEATURES,
    NAME,
    VERSION,
    Plan,
    ScoreRow,
    Split,
)
from music_evals.datasets_builders.progress import OnPiece
from music_evals.notation.extras import require
from music_evals.notation.subprocesses import LimitError, map_in_subprocess


def write(
    plan: Plan, out: Path, *, overwrite: bool = False, on_score: OnPiece = lambda *_: None
) -> Provenance:
    """Write a planned dataset as a folder, completely or not at all.

    `on_score` is called with "engraving" and the number of scores after every score.
    """
    scores = {split: _engrave(plan, split, on_score) for split in plan.scores}
    rows = {"scores": scores, "questions": plan.questions}
    return write_dataset(
        out, rows, features=FEATURES, provenance=plan.provenance, overwrite=overwrite
    )


def _engrave(plan: Plan, split: Split, on_score: OnPiece) -> Iterator[ScoreRow]:
    from music_evals.notation.scores.pages import engrave_pages

    scores = plan.scores[split]
    if not plan.engrave:
        yield from scores
        return
    pages = map_in_subprocess(engrave_pages, [score["musicxml"] or "" for score in scores])
    for score, images in zip(scores, pages, strict=True):
        if isinstance(images, LimitError):
            raise DatasetError(
                f"{score['score_id']} cannot be engraved ({images}); build without it"
            )
        yield {**score, "images": [{"bytes": image, "path": None} for image in images]}
        on_score("engraving", sum(map(len, plan.scores.values())))


def _generate(level: int, out: Path, on_score: OnPiece) -> None:
    from music_evals.datasets_builders.msu.computed import build_generated
    from music_evals.datasets_builders.msu.works import default_works, first_works

    for library in ("verovio", "resvg_py"):  # before any work, which takes minutes
        require(library, "scores")
    works = first_works() if level == 1 else default_works(f"msu_level{level}")
    write(build_generated(works=works, on_score=on_score), out, overwrite=True, on_score=on_score)


def _convert(conversion: Conversion) -> Provenance:
    """Write the authors' data, as on the Hub, or questions computed on somebody's own scores."""
    from music_evals.datasets_builders.msu import computed, published

    folder, on_score = conversion.source.expanduser(), conversion.on_piece
    if published.is_snapshot(folder):
        plan = published.build_snapshot(folder, revision=conversion.revision)
    else:
        plan = computed.build_own(folder, on_score=on_score)
    return write(plan, conversion.out, overwrite=True, on_score=on_score)


BENCHMARK = DatasetSpec(
    NAME,
    VERSION,
    DEFAULT_SEED,
    FEATURES,
    partial(_generate, 1),
    _convert,
    generate_level=_generate,
    leveled=("textual", "visual"),
)
"""MSU-Bench for `load_split` and `describe_dataset`."""
