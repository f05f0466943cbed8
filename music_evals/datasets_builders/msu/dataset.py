"""MSU-Bench: open questions on complete scores, as published, or computed on scores of one's own.

Two configs, `scores` and `questions`, joined by `score_id`, each with the splits `train`, `validation` and `test`
(6:2:2 by work). `ScoreRow` and `QuestionRow` say what a row holds.

Computed datasets are made here, from scores in files or in music21's corpus; `published` takes the authors' data.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Final, Literal, NamedTuple, TypedDict, get_args

from datasets import Features, Image, List
from pydantic import Field
from scipy.cluster.hierarchy import DisjointSet

from music_evals.datasets_builders.dataset_io import (
    GENERATED,
    Benchmark,
    DatasetError,
    FileCell,
    Provenance,
    Rows,
    Text,
    features_of,
    make_provenance,
    refusals,
    write_dataset,
)
from music_evals.datasets_builders.msu.questions import (
    Candidates,
    Composer,
    UnsuitableScoreError,
    asked_of_pages,
    candidates,
)
from music_evals.datasets_builders.msu.questions.kind import ScoreQuestion
from music_evals.datasets_builders.msu.same_work import music_of, name_of
from music_evals.datasets_builders.msu.works import Work, default_works, first_works
from music_evals.datasets_builders.progress import OnPiece
from music_evals.notation.abc.writing import score_to_abc
from music_evals.notation.scores.pages import engrave_pages, shown_text
from music_evals.notation.scores.preparing import SUFFIXES, ScoreError, score_to_musicxml
from music_evals.notation.subprocesses import LimitError, map_in_subprocess

NAME: Final = "msu"
VERSION: Final = "2.3.0"
DEFAULT_SEED: Final = 1
OWN_SCORES: Final = "own-scores"
PUBLISHED: Final = "published"
"""`Provenance.source` of computed questions on somebody's own scores, and of the authors' questions."""


Split = Literal["train", "validation", "test"]
SPLITS: Final[tuple[Split, ...]] = get_args(Split)
LEVELS: Final = (1, 2, 3, 4)


class ScoreRow(TypedDict):
    """A score; what is not known of it is null, and of a score without pages `images` is empty."""

    score_id: str
    title: str
    composer: str
    abc: Text | None
    images: list[FileCell]
    musicxml: str | None
    source: str


class QuestionRow(TypedDict):
    """A question; `kind` and `answer_type` are null where people wrote it."""

    id: str
    score_id: str
    level: Annotated[int, Field(ge=1, le=4)]
    kind: str | None
    question: Text
    answer: Text
    answer_type: str | None


FEATURES: Final[Mapping[str, Features]] = {
    "scores": features_of(ScoreRow, images=List(Image())),
    "questions": features_of(QuestionRow),
}
"""Config → declared columns."""


class _ReadWork(NamedTuple):
    """What came of a work: its score without pages and what may be asked, or the reason why it is left out."""

    name: str
    score: ScoreRow | None = None
    candidates: Candidates | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """A dataset that can be written."""

    # Split → scores; pages are engraved while they are written where `engrave` says so.
    scores: Mapping[Split, Sequence[ScoreRow]]
    questions: Mapping[Split, Sequence[QuestionRow]]  # split → questions
    provenance: Provenance  # who builds it from what
    engrave: bool = False  # whether the scores' pages are still to be engraved from their MusicXML
    left_out: Mapping[str, str] | None = None  # name of a score → why it is not in the dataset

    @property
    def n_scores(self) -> int:
        """Number of scores of all splits."""
        return sum(len(rows) for rows in self.scores.values())


def build_generated(
    seed: int = DEFAULT_SEED, works: Sequence[Work] | None = None, *, on_score: OnPiece = lambda *_: None
) -> Plan:
    """Compute questions on public-domain scores of music21's corpus: on some works of it, or all `default_works`.

    `on_score` is told "reading" and the number of works, after each.
    """
    return _computed(default_works() if works is None else works, seed, GENERATED, on_score)


def build_own(folder: Path, seed: int = DEFAULT_SEED, *, on_score: OnPiece = lambda *_: None) -> Plan:
    """Compute questions on the scores of a folder: MusicXML, MXL, MIDI, ABC or kern files, at any depth.

    A file that cannot be read, or cannot support twelve questions, is named in `Plan.left_out`; where none is left,
    DatasetError.
    """
    folder = folder.expanduser()
    if not folder.is_dir():
        raise DatasetError(f"{folder} is not a folder; a folder of scores is needed")
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())
    if not paths:
        raise DatasetError(f"{folder} holds no scores; files are read that end in {', '.join(sorted(SUFFIXES))}")
    works = [Work(path.relative_to(folder).as_posix(), str(path)) for path in paths]
    return _computed(works, seed, OWN_SCORES, on_score)


def _computed(works: Sequence[Work], seed: int, source: str, on_score: OnPiece) -> Plan:
    read = []
    for work, one in zip(works, map_in_subprocess(partial(_read, seed=seed), works), strict=True):
        read.append(_ReadWork(work.name, reason=f"reading it {one}") if isinstance(one, LimitError) else one)
        on_score("reading", len(works))
    left_out = {one.name: one.reason for one in read if one.score is None}
    found = {one.name: one.candidates for one in read if one.candidates is not None}
    splits = split_works([one.score for one in read if one.score is not None], seed)
    composers = {split: Composer((found[name] for name in found if splits[name] == split), seed) for split in SPLITS}
    composed: dict[str, list[QuestionRow]] = {}
    for name, candidates_ in found.items():
        try:
            composed[name] = _rows(name, composers[splits[name]].compose(name, candidates_))
        except UnsuitableScoreError as error:
            left_out[name] = str(error)
    scores = [one.score for one in read if one.score is not None and one.name in composed]
    if not scores:
        first = next(iter(left_out.items()), ("", "there are no works"))
        raise DatasetError(f"none of {len(works)} scores gives questions; {first[0]}: {first[1]}")
    provenance = make_provenance(
        NAME,
        VERSION,
        source,
        seed=seed,
        made_with={"music21": version("music21"), "verovio": version("verovio")},
        anomalies=refusals(left_out),
    )
    questions = [row for score in scores for row in composed[score["score_id"]]]
    return split_plan(scores, questions, splits, provenance, engrave=True, left_out=left_out)


def split_plan(
    scores: Sequence[ScoreRow],
    questions: Sequence[QuestionRow],
    splits: Mapping[str, Split],
    provenance: Provenance,
    *,
    engrave: bool = False,
    left_out: Mapping[str, str] | None = None,
) -> Plan:
    """Make a plan of scores and their questions; `splits` has the split of each score."""
    return Plan(
        {split: [row for row in scores if splits[row["score_id"]] == split] for split in SPLITS},
        {split: [row for row in questions if splits[row["score_id"]] == split] for split in SPLITS},
        provenance,
        engrave,
        left_out,
    )


def split_works(scores: Sequence[ScoreRow], seed: int) -> dict[str, Split]:
    """Assign scores to splits, 6:2:2, those of one work to the same split.

    Scores are of one work that share title and composer or the music, directly or through others.

    Source: arXiv 2511.20697, section 5.1 (90, 30 and 30 of 150).
    """
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
        split: Split = "test" if len(splits) < fifth else "validation" if len(splits) < 2 * fifth else "train"
        splits |= dict.fromkeys(sorted(work), split)
    return splits


def _read(work: Work, seed: int) -> _ReadWork:
    try:
        score = work.load()
        found = candidates(score, seed=seed, name=work.name)
        abc = score_to_abc(score)
        musicxml = score_to_musicxml(score)
        found = asked_of_pages(found, shown_text(musicxml))
        row: ScoreRow = {
            "score_id": work.name,
            "title": score.metadata.title or "",
            "composer": score.metadata.composer or "",
            "abc": abc,
            "images": [],
            "musicxml": musicxml,
            "source": work.source,
        }
    except (ScoreError, UnsuitableScoreError) as error:
        return _ReadWork(work.name, reason=str(error))
    except MemoryError:
        raise
    # music21 lets out whatever its code runs into, and one score must not stop the others.
    except Exception as error:
        return _ReadWork(work.name, reason=f"music21 fails on it ({type(error).__name__}: {str(error)[:200]})")
    return _ReadWork(work.name, row, found)


def _rows(name: str, questions: Sequence[ScoreQuestion]) -> list[QuestionRow]:
    return [
        QuestionRow(
            id=f"{name}-level{one.level}-{number % 3 + 1}",
            score_id=name,
            level=one.level,
            kind=one.kind,
            question=one.text,
            answer=one.answer,
            answer_type=one.answer_type,
        )
        for number, one in enumerate(questions)
    ]


def write(plan: Plan, out: Path, *, overwrite: bool = False, on_score: OnPiece = lambda *_: None) -> Provenance:
    """Write a planned dataset as a folder, whole or not at all.

    `on_score` is told "engraving" and the number of scores, after each.
    """
    scores = {split: _engraved(plan, split, on_score) for split in plan.scores}
    rows: Rows = {"scores": scores, "questions": plan.questions}
    return write_dataset(out, rows, features=FEATURES, provenance=plan.provenance, overwrite=overwrite)


def _engraved(plan: Plan, split: Split, on_score: OnPiece) -> Iterator[ScoreRow]:
    scores = plan.scores[split]
    if not plan.engrave:
        yield from scores
        return
    pages = map_in_subprocess(engrave_pages, [score["musicxml"] or "" for score in scores])
    for score, images in zip(scores, pages, strict=True):
        if isinstance(images, LimitError):
            raise DatasetError(f"{score['score_id']} cannot be engraved ({images}); build without it")
        yield {**score, "images": [{"bytes": image, "path": None} for image in images]}
        on_score("engraving", plan.n_scores)


def _generate(out: Path, on_score: OnPiece) -> None:
    plan = build_generated(works=first_works(), on_score=on_score)
    write(plan, out, overwrite=True, on_score=on_score)


BENCHMARK: Final = Benchmark(NAME, VERSION, DEFAULT_SEED, FEATURES, _generate)
"""MSU-Bench for `load_split` and `describe_dataset`."""
