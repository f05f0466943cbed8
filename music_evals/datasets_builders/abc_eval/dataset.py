"""ABC-Eval as a dataset: LilyBench's default in ABC, or the authors' files.

Title: ABC-Eval: Benchmarking Large Language Models on Symbolic Music Understanding and Instruction
Following Paper: https://arxiv.org/abs/2509.23350; files: https://github.com/ZhaoJH97/ABC-Eval
Licence: each row's own, see the column `licence`

A config per task, with the splits `strict` and `paper`.

The default has the rows of LilyBench's default in ABC. Under ``strict``, ids, pieces, questions,
options and answers are the same, so that a model can be compared in both notations row by row.
music21 reads the notes in the ABC that LilyPond reads in its text; a piece where they differ is
left out. Under ``paper`` these questions are asked as published: a pickup counts as a bar, and only
errors in bars 1 to 9 are asked, because an answer names a bar by a digit.

From the authors' files, ``paper`` has their rows, see `published`. ``strict`` has LilyBench's
strict questions on the whole tunes of these files. There are none on emotion, genre and composer:
nothing can confirm these labels.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from music_evals.datasets_builders.abc_eval import published
from music_evals.datasets_builders.dataset_io import (
    GENERATED,
    ConfigColumns,
    Conversion,
    DatasetError,
    DatasetSpec,
    Provenance,
    load_split,
    make_provenance,
    text_sha256,
    write_dataset,
)
from music_evals.datasets_builders.dataset_io.provenance import source_facts
from music_evals.datasets_builders.lilybench.dataset import BENCHMARK as LILYBENCH
from music_evals.datasets_builders.lilybench.dataset import level_rows, made_by
from music_evals.datasets_builders.lilybench.default_pieces import Source, make_pieces
from music_evals.datasets_builders.lilybench.rows import (
    CLEAN,
    CORRUPTIONS,
    DEFAULT_SEED,
    PROTOCOLS,
    TASKS,
    Protocol,
    TaskName,
    TaskRow,
    task_features,
)
from music_evals.datasets_builders.lilybench.strict import tasks as strict
from music_evals.datasets_builders.lilybench.strict.survey import Usable, survey
from music_evals.datasets_builders.progress import OnPiece
from music_evals.notation.abc.from_lilypond import lilypond_to_abc
from music_evals.notation.abc.plain import parse_plain, plain_abc
from music_evals.notation.lilypond.canonical import write_score
from music_evals.notation.lilypond.structure import Structure, read_structures

NAME = "abc_eval"
VERSION = "1.4.0"
_TEMPO = re.compile(r"\\tempo 4 = ([0-9]{1,4})")
_METRE = re.compile(r"(?m)^M:.*\n|\[M:[^\]\n]*\]")
# Strict rows of a task on published tunes: as many as possible.
_SIZES = (100, 60, 48, 36, 24, 18, 12, 9, 6, 3)
_LABELLED = ("composer_recognition", "genre_recognition", "emotion_recognition")
_BARS = ("bar_sequencing", "next_bar_prediction")
_NO_KEY = "L:1/8\nK:none\n"  # the fields of single measures
_STEPS = (0, 2, 4, 5, 7, 9, 11)
# Onset, MIDI pitch and length of notes → how many there are.
_Notes = Counter[tuple[Any, ...]]
Splits = dict[TaskName, dict[Protocol, list[TaskRow]]]


class AbcRow(TaskRow):
    """A question on a score in ABC, see `TaskRow`; published questions of order have up to six
    options.

    `licence` is that of the piece, or ``not stated``; `instruction` the authors' wording of the
    question, empty except for published rows.
    """

    licence: str
    instruction: str


FEATURES: ConfigColumns = {
    **{task: task_features(task, AbcRow) for task in TASKS},
    "bar_sequencing": task_features("bar_sequencing", AbcRow, n_options=[4, 5, 6]),
    # An error as published has no kind.
    "error_detection": task_features("error_detection", AbcRow, kinds=(*CORRUPTIONS, CLEAN, "")),
}
"""Task → declared columns."""


def write_generated(out: Path, on_piece: OnPiece) -> None:
    """Write LilyBench's default dataset, which is built first if need be, with its scores in
    ABC.
    """
    load = partial(load_split, GENERATED, benchmark=LILYBENCH)
    texts = {row["id"]: row["score"] for row in load("corpus", "full") if row["usable"]}
    clips = {row["piece"]: row["score"] for row in load("emotion_recognition", "strict")}
    scores = {**_confirmed(texts), **_confirmed_clips(clips)}
    rows: Splits = {}
    for task in TASKS:
        splits = {name: load(task, name).to_list() for name in PROTOCOLS}
        rows[task] = _rows_in_abc(task, splits, scores)
        on_piece("writing as ABC", len(TASKS))
    lacking = len(texts) + len(clips) - len(scores)
    made_with = {**made_by(), "lilybench": LILYBENCH.version}
    anomalies = {"left out: music21 reads other notes in the ABC": lacking} if lacking else {}
    _write(out, rows, GENERATED, made_with=made_with, anomalies=anomalies)


def write_level(level: int, out: Path, on_piece: OnPiece) -> None:
    """Write LilyBench's rows of a level with their scores in ABC."""
    rows: Splits = {}
    for task, task_rows in level_rows(level, on_piece).items():
        rows[task] = {"strict": [to_abc(task, row) for row in task_rows]}
    _write(out, rows, GENERATED)


def _confirmed_clips(clips: Mapping[str, str]) -> dict[str, str]:
    """Id → ABC of clips, with their tempo, of which emotion may depend."""
    headers = {
        name: [f"Q:1/4={tempo}" for tempo in _TEMPO.findall(text)[:1]]
        for name, text in clips.items()
    }
    readings = zip(clips, read_structures(clips.values()), strict=True)
    written = {
        name: write_score(reading) for name, reading in readings if isinstance(reading, Structure)
    }
    return _confirmed(written, headers)


def _rows_in_abc(
    task: TaskName, splits: Mapping[Protocol, Sequence[TaskRow]], scores: Mapping[str, str]
) -> dict[Protocol, list[TaskRow]]:
    """LilyBench's rows on pieces that have a score in ABC."""
    both = {name: [row for row in splits[name] if row["piece"] in scores] for name in PROTOCOLS}
    if task == "emotion_recognition":
        return {
            name: [{**row, "score": scores[row["piece"]]} for row in rows]
            for name, rows in both.items()
        }
    published = (_as_published(task, row) for row in both["strict"])
    both["paper"] = [row for row in published if row]
    return {name: [to_abc(task, row) for row in rows] for name, rows in both.items()}


def write_published(conversion: Conversion) -> Provenance:
    """Write the authors' CSV files, in a folder or its folder ``csv``, and strict rows on their
    tunes.
    """
    tables, missing = published.read_tables(conversion.source)
    if not tables or (missing and not conversion.allow_partial):
        raise DatasetError(
            f"{conversion.source} lacks {', '.join(missing.values())}; the authors' CSV files are "
            "needed, in the folder or in a folder csv in it; --allow-partial takes those that are "
            "there"
        )
    rows: Splits = {}
    instructions = {}
    licences: Counter[str] = Counter()
    for task, table in tables.items():
        paper = published.paper_rows(task, table)
        rows[task] = {"paper": paper}
        licences.update(published.licence_of(row["piece"]) for row in paper)
        for row, entry in zip(paper, table, strict=True):
            instructions[row["id"]] = entry["task_description"].strip()
    usable, unused = _usable_pieces([*published.tunes(tables)])
    for task in TASKS if usable else ():
        rows.setdefault(task, {})["strict"] = _strict_rows(task, usable)
    anomalies = {
        **{f"rows under {name}": count for name, count in licences.items()},
        **{f"tunes not used by strict tasks: {reason}": count for reason, count in unused.items()},
    }
    return _write(
        conversion.out,
        rows,
        "abc_eval",
        instructions,
        source_revision=conversion.revision,
        source_sha256=text_sha256(repr(sorted(tables.items()))),
        missing={task: (name,) for task, name in missing.items()},
        made_with=made_by(),
        anomalies=anomalies,
    )


def to_abc(task: TaskName, row: TaskRow) -> TaskRow:
    """Write a strict row of LilyBench in ABC: its score, and its options if they are measures."""
    options = row["options"]
    if task in _BARS:
        options = [lilypond_to_abc(option).removeprefix(_NO_KEY).strip() for option in options]
    return {
        **row,
        "score": lilypond_to_abc(row["score"]) if row["score"] else _NO_KEY,
        "options": options,
    }


def _as_published(task: TaskName, row: TaskRow) -> TaskRow | None:
    """A strict row of LilyBench as a row of ``paper``; None for an error after bar 9."""
    answer = row["answer"]
    if task in ("bar_count", "error_detection") and answer != "none":
        answer = str(int(answer) + ("\\partial " in row["score"]))
        if task == "error_detection" and len(answer) > 1:
            return None
    return {**row, "id": row["id"].replace(".strict.", ".paper.", 1), "answer": answer}


def _usable_pieces(tunes: Sequence[Source]) -> tuple[list[Usable], Counter[str]]:
    """The tunes that strict tasks can use; and the reasons why others are not used."""
    pieces, left_out = make_pieces(tunes)
    surveyed = list(survey(pieces))
    canonical = [piece for _, piece in surveyed if piece]
    confirmed = _confirmed({piece.id: piece.score for piece in canonical})
    reasons = [*left_out.values(), *(row["reason"] or "" for row, _ in surveyed)]
    unused = Counter(reason.split(":")[0] for reason in reasons if reason)
    return [piece for piece in canonical if piece.id in confirmed], unused


def _strict_rows(task: TaskName, pieces: Sequence[Usable]) -> list[TaskRow]:
    """As many strict rows as the tunes give; none for labels that nothing confirms."""
    for size in () if task in _LABELLED else _SIZES:
        try:
            rows = strict.make_rows(task, pieces, DEFAULT_SEED, size)
        except ValueError:
            continue
        return [to_abc(task, row) for row in rows]
    return []


def _confirmed(
    scores: Mapping[str, str], headers: Mapping[str, Sequence[str]] | None = None
) -> dict[str, str]:
    """Id → ABC of the canonical scores whose notes music21 reads in their ABC as LilyPond does in
    its text.
    """
    confirmed = {}
    for (name, text), reading in zip(scores.items(), read_structures(scores.values()), strict=True):
        abc = lilypond_to_abc(text, (headers or {}).get(name, ()))
        if isinstance(reading, Structure) and _notes(abc) == _lilypond_notes(reading):
            confirmed[name] = abc
    return confirmed


def _lilypond_notes(reading: Structure) -> _Notes:
    """The notes that LilyPond reads."""
    notes = _Notes()
    for event in reading.events:
        if event.step is not None and not event.grace:
            pitch = 60 + 12 * event.octave + _STEPS[event.step] + event.alteration
            notes[4 * event.moment, pitch, 4 * event.duration] += 1
    return notes


def _notes(abc: str) -> _Notes:
    """The notes that music21 reads; none if it cannot read the ABC."""
    try:
        # music21 divides measures that are longer than the metre, so it is given none.
        score = parse_plain(_METRE.sub("", plain_abc(abc)))
    except Exception:  # music21 passes on all errors of its code
        return Counter()
    notes = _Notes()
    for note in score.recurse().notes:
        if not note.duration.isGrace:
            onset = Fraction(note.getOffsetInHierarchy(score)).limit_denominator(1000)
            length = Fraction(note.quarterLength).limit_denominator(1000)
            notes.update((onset, pitch.midi, length) for pitch in note.pitches)
    return notes


def _write(
    out: Path,
    rows: Splits,
    source: str,
    instructions: Mapping[str, str] | None = None,
    **facts: Any,
) -> Provenance:
    """Write rows; published ones have `instructions`, by id, and the licences of their tunes."""
    generated_licence = source_facts(NAME, GENERATED).licence_label

    def complete(row: TaskRow) -> AbcRow:
        if instructions is None:
            return AbcRow(**row, licence=generated_licence, instruction="")
        licence = published.licence_of(row["piece"])
        return AbcRow(**row, licence=licence, instruction=instructions.get(row["id"], ""))

    licensed = {
        task: {name: list(map(complete, splits.get(name, ()))) for name in PROTOCOLS}
        for task, splits in rows.items()
    }
    provenance = make_provenance(NAME, VERSION, source, seed=DEFAULT_SEED, **facts)
    return write_dataset(out, licensed, features=FEATURES, provenance=provenance, overwrite=True)


BENCHMARK = DatasetSpec(
    NAME,
    VERSION,
    DEFAULT_SEED,
    FEATURES,
    write_generated,
    write_published,
    generate_level=write_level,
    leveled=LILYBENCH.leveled,
)
"""ABC-Eval for `load_split` and `describe_dataset`."""
