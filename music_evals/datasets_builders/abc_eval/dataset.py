"""ABC-Eval as a dataset: LilyBench's default in ABC, or the authors' files.

Title: ABC-Eval: Benchmarking Large Language Models on Symbolic Music Understanding and Instruction Following
Paper: https://arxiv.org/abs/2509.23350; files: https://github.com/ZhaoJH97/ABC-Eval
Licence: each row's own, see the column `licence`

A config per task, with the splits `strict` and `paper`.

The default has the rows of LilyBench's default in ABC. Under ``strict``, ids, pieces, questions, options and answers
are the same, so that a model can be compared in both notations row by row. music21 confirms that both have the same
notes; a piece where it does not is left out. The rows of ``paper`` are made by ABC-Eval's procedure on these pieces.

From the authors' files, ``paper`` has their rows, see `published`. ``strict`` has LilyBench's strict questions on the
tunes of these files. There are none on emotion, genre and composer: nothing can confirm these labels.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from music_evals.datasets_builders.abc_eval import published
from music_evals.datasets_builders.abc_eval.abc_texts import ABC, has_notes
from music_evals.datasets_builders.abc_eval.rows import BENCHMARK, AbcRow
from music_evals.datasets_builders.dataset_io import (
    GENERATED,
    DatasetError,
    Provenance,
    Rows,
    load_split,
    make_provenance,
    write_dataset,
)
from music_evals.datasets_builders.dataset_io.provenance import source_facts
from music_evals.datasets_builders.lilybench import paper
from music_evals.datasets_builders.lilybench.dataset import FIRST_SIZES, made_by
from music_evals.datasets_builders.lilybench.default_pieces import Source, make_pieces
from music_evals.datasets_builders.lilybench.rows import BENCHMARK as LILYBENCH
from music_evals.datasets_builders.lilybench.rows import (
    DEFAULT_SEED,
    PROTOCOLS,
    TASKS,
    Piece,
    Protocol,
    TaskName,
    TaskRow,
)
from music_evals.datasets_builders.lilybench.strict import tasks as strict
from music_evals.datasets_builders.lilybench.strict.survey import Usable, survey
from music_evals.datasets_builders.progress import OnPiece
from music_evals.notation.abc.from_lilypond import lilypond_to_abc
from music_evals.notation.lilypond.canonical import write_score
from music_evals.notation.lilypond.structure import Structure, read_structures
from music_evals.notation.lilypond.syntax.header import read_header

__all__ = ["BENCHMARK", "to_abc", "write_generated", "write_published"]

_TEMPO: Final = re.compile(r"\\tempo 4 = ([0-9]{1,4})")
_SIZES: Final = (
    100,
    60,
    48,
    36,
    24,
    18,
    12,
    9,
    6,
    3,
)  # strict rows of a task on published tunes: the most that they give
_BARS: Final[tuple[TaskName, ...]] = ("bar_sequencing", "next_bar_prediction")
_NO_KEY: Final = "L:1/8\nK:none\n"  # the fields of single measures


def write_generated(out: Path, on_piece: OnPiece) -> None:
    """Write LilyBench's default dataset, which is built first if need be, with its scores in ABC."""
    load = partial(load_split, GENERATED, benchmark=LILYBENCH)
    corpus = {row["id"]: row for row in load("corpus", "full").to_list() if row["usable"]}
    scores: dict[str, str] = {}
    for name, row in corpus.items():
        abc = lilypond_to_abc(row["score"])
        on_piece("writing as ABC", len(corpus))
        if has_notes(abc, row["score"]):
            scores[name] = abc
    clips = _clips(load("emotion_recognition", "strict").to_list())
    pieces = [Piece(name, abc.removeprefix("X:1\n"), read_header(corpus[name]["text"])) for name, abc in scores.items()]
    licence = source_facts(BENCHMARK.name, GENERATED).licence_label
    rows: dict[TaskName, dict[Protocol, Sequence[TaskRow]]] = {task: {} for task in TASKS}
    for task in TASKS:
        if task == "emotion_recognition":
            for protocol in PROTOCOLS:
                found = [row for row in load(task, protocol).to_list() if row["piece"] in clips]
                rows[task][protocol] = [{**row, "score": clips[row["piece"]]} for row in found]
        else:
            usable = [row for row in load(task, "strict").to_list() if row["piece"] in scores]
            rows[task]["strict"] = [to_abc(task, row) for row in usable]
            rows[task]["paper"] = paper.make_rows(task, pieces, DEFAULT_SEED, FIRST_SIZES, ABC)
    lacking = len(corpus) - len(scores)
    provenance = make_provenance(
        BENCHMARK.name,
        BENCHMARK.version,
        GENERATED,
        seed=DEFAULT_SEED,
        made_with={**made_by(), "lilybench": LILYBENCH.version},
        anomalies={"pieces left out: music21 does not read the same notes in their ABC": lacking} if lacking else {},
    )
    _write(out, rows, provenance, lambda _: licence)


def write_published(source: Path, out: Path, revision: str | None, *, allow_partial: bool) -> Provenance:
    """Write the authors' CSV files, in a folder or its folder ``csv``, and strict rows on their tunes."""
    tables, missing = published.read_tables(source)
    if not tables or (missing and not allow_partial):
        raise DatasetError(
            f"{source} lacks {', '.join(missing)}; the authors' CSV files are needed, in the folder or in a folder csv "
            "in it; --allow-partial takes those that are there"
        )
    rows: dict[TaskName, dict[Protocol, Sequence[TaskRow]]] = {}
    for task, table in tables.items():
        rows[task] = {"strict": [], "paper": published.paper_rows(task, table)}
    usable, anomalies = _usable(tables)
    for task in TASKS if usable else ():
        rows.setdefault(task, {"paper": []})["strict"] = _strict_rows(task, usable)
    digest = hashlib.sha256(repr([(task, table) for task, table in tables.items()]).encode())
    licences = Counter(published.licence_of(row["piece"]) for splits in rows.values() for row in splits["paper"])
    anomalies |= published.audit(tables)
    provenance = make_provenance(
        BENCHMARK.name,
        BENCHMARK.version,
        "abc_eval",
        seed=DEFAULT_SEED,
        source_revision=revision,
        source_sha256=digest.hexdigest(),
        missing=tuple(missing),
        made_with=made_by(),
        anomalies={**{f"rows under {name}": count for name, count in licences.items()}, **anomalies},
    )
    return _write(out, rows, provenance, published.licence_of)


def to_abc(task: TaskName, row: TaskRow) -> TaskRow:
    """Write a strict row of LilyBench in ABC: its score, and its options if they are measures."""
    options = row["options"]
    if task in _BARS:
        options = [lilypond_to_abc(option).removeprefix(_NO_KEY).strip() for option in options]
    return {**row, "score": lilypond_to_abc(row["score"]) if row["score"] else _NO_KEY, "options": options}


def _clips(rows: Sequence[TaskRow]) -> dict[str, str]:
    """Id of a clip → its ABC with the tempo, if music21 confirms its notes."""
    clips = {}
    readings = read_structures([row["score"] for row in rows])
    for row, reading in zip(rows, readings, strict=True):
        tempo = _TEMPO.search(row["score"])
        if isinstance(reading, Structure):
            score = write_score(reading)
            abc = lilypond_to_abc(score, [f"Q:1/4={tempo[1]}"] if tempo else ())
            if has_notes(abc, score):
                clips[row["piece"]] = abc
    return clips


def _usable(tables: Mapping[TaskName, published.Table]) -> tuple[list[Usable], dict[str, int]]:
    """The whole tunes of the files that strict tasks may use, and how many others there are, by reason."""
    tunes = list(published.tunes(tables))
    if not tunes:
        return [], {}
    pieces, left_out = make_pieces([Source(t.id, "", None, t.title, None, None, None, t.abc) for t in tunes])
    surveyed = list(survey(pieces)) if pieces else []
    usable = [piece for _, piece in surveyed if piece and has_notes(lilypond_to_abc(piece.score), piece.score)]
    reasons = Counter(reason.split(":")[0] for reason in left_out.values())
    reasons += Counter(row["reason"].split(":")[0] for row, _ in surveyed if row["reason"])
    reasons["music21 does not read the same notes in its ABC"] = sum(p is not None for _, p in surveyed) - len(usable)
    return usable, {f"tunes not used by strict tasks: {reason}": count for reason, count in reasons.items() if count}


def _strict_rows(task: TaskName, usable: Sequence[Usable]) -> list[TaskRow]:
    """As many strict rows as the tunes give; none for labels that nothing confirms."""
    if task in ("composer_recognition", "genre_recognition", "emotion_recognition"):
        return []
    for size in _SIZES:
        try:
            return [to_abc(task, row) for row in strict.make_rows(task, usable, DEFAULT_SEED, size)]
        except ValueError:
            continue
    return []


def _write(
    out: Path,
    rows: Mapping[TaskName, Mapping[Protocol, Sequence[TaskRow]]],
    provenance: Provenance,
    licence_of: Callable[[str], str],
) -> Provenance:
    licensed: Rows = {
        task: {
            protocol: [AbcRow(**row, licence=licence_of(row["piece"])) for row in splits[protocol]]
            for protocol in PROTOCOLS
        }
        for task, splits in rows.items()
    }
    return write_dataset(out, licensed, features=BENCHMARK.features, provenance=provenance, overwrite=True)
