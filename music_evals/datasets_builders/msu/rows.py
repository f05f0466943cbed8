"""The rows of MSU-Bench, their splits, and a plan of a dataset.

Two configs, `scores` and `questions`, are joined by `score_id`. Each has the splits `train`,
`validation` and `test` (6:2:2 by work).
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from random import Random
from typing import Annotated, Literal, TypedDict, TypeVar, get_args

from pydantic import Field

from music_evals.datasets_builders.dataset_io import FileCell, Provenance, Text, features_of
from music_evals.datasets_builders.msu.same_work import music_of, name_of

NAME = "msu"
VERSION = "2.10.0"
DEFAULT_SEED = 1

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)
LEVELS = (1, 2, 3, 4)


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


FEATURES = {
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
    # whether pages are engraved from the MusicXML of the scores while they are written
    engrave: bool = False
    # name of a score → reason why it is not in the dataset
    left_out: Mapping[str, str] | None = None


def by_split(rows: Sequence[Row], splits: Mapping[str, Split]) -> dict[Split, list[Row]]:
    """Group scores or questions by the splits of their scores."""
    return {split: [row for row in rows if splits[row["score_id"]] == split] for split in SPLITS}


def _in_turns(works: Iterable[set[str]], composers: Mapping[str, str]) -> list[set[str]]:
    """A work of each composer, then a second one of each, and so on; otherwise in their order."""
    counts: Counter[str] = Counter()
    turns: list[tuple[int, set[str]]] = []
    for work in works:
        composer = composers[min(work)]
        turns.append((counts[composer], work))
        counts[composer] += 1
    return [work for _, work in sorted(turns, key=itemgetter(0))]


def split_works(
    scores: Sequence[ScoreRow], seed: int, *, by_composer: bool = False
) -> dict[str, Split]:
    """Assign scores to splits, 6:2:2; scores of one work are in the same split.

    Two scores are of one work if they share title and composer, or the music, directly or through
    other scores. With `by_composer`, test and validation have as many composers as possible.

    Source: arXiv 2511.20697, section 5.1 (90, 30 and 30 of 150).
    """
    from scipy.cluster.hierarchy import DisjointSet

    joined = DisjointSet(sorted(score["score_id"] for score in scores))
    first: dict[str, str] = {}
    for score in scores:
        for mark in (name_of(score["title"], score["composer"]), music_of(score["abc"] or "")):
            if mark:
                joined.merge(score["score_id"], first.setdefault(mark, score["score_id"]))
    works = joined.subsets()
    Random(f"{seed}/splits").shuffle(works)
    if by_composer:
        works = _in_turns(works, {score["score_id"]: score["composer"] for score in scores})
    fifth = round(len(scores) / 5)
    splits: dict[str, Split] = {}
    for work in works:
        # The place of a work's first score decides.
        place = bisect_right((fifth, 2 * fifth), len(splits))
        splits |= dict.fromkeys(sorted(work), ("test", "validation", "train")[place])
    return splits
