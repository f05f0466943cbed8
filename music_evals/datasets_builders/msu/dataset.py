"""MSU-Bench: open questions on complete scores, as published or computed on other scores.

Two configs, `scores` and `questions`, are joined by `score_id`. Each has the splits `train`,
`validation` and `test` (6:2:2 by work). `computed` makes questions on scores in files or in
music21's corpus; `published` reads the authors' data.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal, TypedDict, TypeVar, get_args

from pydantic import Field

from music_evals.datasets_builders.dataset_io import (
    Conversion,
    DatasetError,
    DatasetSpec,
    FileCell,
    Provenance,
    Rows,
    Text,
    features_of,
    write_dataset,
)
from music_evals.datasets_builders.msu.same_work import music_of, name_of
from music_evals.datasets_builders.progress import OnPiece
from music_evals.notation.subprocesses import LimitError, map_in_subprocess

NAME: Final = "msu"
VERSION: Final = "2.8.0"
DEFAULT_SEED: Final = 1

Split = Literal["train", "validation", "test"]
SPLITS: Final[tuple[Split, ...]] = get_args(Split)
LEVELS: Final = (1, 2, 3, 4)


class ScoreRow(TypedDict):
    """A score; unknown values are null, and `images` is empty if the score has no pages.

    `pdf` is the PDF that a source has of the score. Where there is none, `evals.msu` makes one of
    the pages.
    """

    score_id: str
    title: str
    composer: str
    abc: Text | None
    images: list[FileCell]
    pdf: bytes | None
    musicxml: str | None
    source: str


class QuestionRow(TypedDict):
    """A question; `kind` and `answer_type` are null for the authors' questions."""

    id: str
    score_id: str
    level: Annotated[int, Field(ge=1, le=4)]
    kind: str | None
    question: Text
    answer: Text
    answer_type: str | None


FEATURES: Final = {
    "scores": features_of(ScoreRow, images="images"),
    "questions": features_of(QuestionRow),
}
"""Config → columns."""


Row = TypeVar("Row", ScoreRow, QuestionRow)


@dataclass(frozen=True, slots=True)
class Plan:
    """A dataset that can be written."""

    scores: Mapping[Split, Sequence[ScoreRow]]  # split → scores
    questions: Mapping[Split, Sequence[QuestionRow]]  # split → questions
    provenance: Provenance
    engrave: bool = (
        False  # whether pages are engraved from the MusicXML of the scores while they are written
    )
    left_out: Mapping[str, str] | None = (
        None  # name of a score → reason why it is not in the dataset
    )


def by_split(rows: Sequence[Row], splits: Mapping[str, Split]) -> dict[Split, list[Row]]:
    """Group scores or questions by the splits of their scores."""
    return {split: [row for row in rows if splits[row["score_id"]] == split] for split in SPLITS}


def split_works(scores: Sequence[ScoreRow], seed: int) -> dict[str, Split]:
    """Assign scores to splits, 6:2:2; scores of one work are in the same split.

    Two scores are of one work if they share title and composer, or the music, directly or through
    other scores.

    Source: arXiv 2511.20697, section 5.1 (90, 30 and 30 of 150).
    """
    from scipy.cluster.hierarchy import DisjointSet

    joined = DisjointSet(sorted(score["score_id"] for score in scores))
    first: dict[str, str] = {}
    for score in scores:
        for mark in (name_of(score["title"], score["composer"]), music_of(score["abc"] or "")):
            if mark:
                joined.merge(score["score_id"], first.setdefault(mark, score["score_id"]))
    works: list[set[str]] = joined.subsets()
    random.Random(f"{seed}/splits").shuffle(works)
    fifth = round(len(scores) / 5)
    splits: dict[str, Split] = {}
    for work in works:
        split: Split = (
            "test" if len(splits) < fifth else "validation" if len(splits) < 2 * fifth else "train"
        )
        splits |= dict.fromkeys(sorted(work), split)
    return splits


def write(
    plan: Plan, out: Path, *, overwrite: bool = False, on_score: OnPiece = lambda *_: None
) -> Provenance:
    """Write a planned dataset as a folder, completely or not at all.

    `on_score` is called with "engraving" and the number of scores after every score.
    """
    scores = {split: _engrave(plan, split, on_score) for split in plan.scores}
    rows: Rows = {"scores": scores, "questions": plan.questions}
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


def _generate(out: Path, on_score: OnPiece) -> None:
    from music_evals.datasets_builders.msu.computed import build_generated
    from music_evals.datasets_builders.msu.works import first_works
    from music_evals.notation.extras import require

    for library in ("verovio", "resvg_py"):  # before any work, which takes minutes
        require(library, "scores")
    write(
        build_generated(works=first_works(), on_score=on_score),
        out,
        overwrite=True,
        on_score=on_score,
    )


def _convert(conversion: Conversion) -> Provenance:
    """Write the authors' data, as on the Hub or as spreadsheets, or questions computed on
    somebody's own scores.
    """
    from music_evals.datasets_builders.msu import computed, published

    folder, on_score = conversion.source.expanduser(), conversion.on_piece
    if published.is_snapshot(folder):
        plan = published.build_snapshot(folder, revision=conversion.revision)
    elif (folder / published.QUESTIONS_FILE).is_file():
        plan = published.build_spreadsheets(folder)
    else:
        plan = computed.build_own(folder, on_score=on_score)
    return write(plan, conversion.out, overwrite=True, on_score=on_score)


BENCHMARK: Final = DatasetSpec(NAME, VERSION, DEFAULT_SEED, FEATURES, _generate, _convert)
"""MSU-Bench for `load_split` and `describe_dataset`."""
