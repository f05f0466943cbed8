"""LilyBench, understanding, as a dataset: from a Mutopia checkout and EMOPIA clips, or made
offline.

Title: Can LLMs understand LilyPond? A benchmark for symbolic music generation and understanding
Paper: https://arxiv.org/abs/2606.08722
Licence: each piece's own (public domain, CC BY or CC BY-SA), see the column `licence` of the config
`corpus`

A config per task, with the splits `strict` and `paper`, and `corpus` with the one split `full`. See
`rows`.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import chain, product
from pathlib import Path

from music_evals.datasets_builders.dataset_io import (
    GENERATED,
    Conversion,
    DatasetError,
    DatasetSpec,
    Provenance,
    Rows,
    make_provenance,
    refusals,
    write_dataset,
)
from music_evals.datasets_builders.lilybench import emopia as emotion
from music_evals.datasets_builders.lilybench import ladder, paper
from music_evals.datasets_builders.lilybench.composed_clips import compose_clips
from music_evals.datasets_builders.lilybench.default_pieces import (
    Source,
    default_sources,
    first_sources,
    make_pieces,
)
from music_evals.datasets_builders.lilybench.mutopia import read_pieces
from music_evals.datasets_builders.lilybench.rows import (
    DEFAULT_SEED,
    FEATURES,
    NAME,
    PROTOCOLS,
    QUADRANTS,
    SIZES,
    TASKS,
    VERSION,
    CorpusRow,
    LeftOut,
    Piece,
    Protocol,
    TaskName,
    TaskRow,
)
from music_evals.datasets_builders.lilybench.strict import tasks as strict
from music_evals.datasets_builders.lilybench.strict.survey import survey
from music_evals.datasets_builders.progress import OnPiece
from music_evals.notation.lilypond.compiler import LilyPondError, lilypond_version
from music_evals.notation.lilypond.sandbox import SandboxError, available_confinement

GENERATED_SIZES: Mapping[TaskName, int] = {
    **dict.fromkeys(TASKS, 24),
    "metadata_qa": 30,
    "metadata_prediction": 30,
    "error_detection": 50,
}
"""Task → rows in the dataset that is made offline."""
_FIRST_SIZES: Mapping[TaskName, int] = {
    **GENERATED_SIZES,
    "next_bar_prediction": 20,
    "composer_recognition": 14,
    "genre_recognition": 12,
}
"""Task → rows of a first run, which has fewer pieces."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A dataset that can be written: task → protocol → rows, and the pieces."""

    rows: Mapping[TaskName, Mapping[Protocol, Sequence[TaskRow]]]
    corpus: Sequence[CorpusRow]
    provenance: Provenance
    left_out: LeftOut  # file or piece → reason

    @property
    def unusable(self) -> Counter[str]:
        """Reason why strict tasks cannot use pieces, without particulars → number of pieces."""
        reasons = (row["reason"] for row in self.corpus)
        return Counter(reason.split(":")[0] for reason in reasons if reason is not None)


def build_mutopia(
    source: Path,
    emopia: Path | None = None,
    *,
    free_only: bool = False,
    seed: int = DEFAULT_SEED,
    sizes: Mapping[TaskName, int] = SIZES,
    revision: str | None = None,
    on_piece: OnPiece = lambda *_: None,
) -> Plan:
    """Plan the dataset on a checkout of the Mutopia Project, or raise DatasetError.

    Args:
        source: holds the checkout's ``ftp`` folder.
        emopia: folder of EMOPIA's MIDI files; without it there is no `emotion_recognition`.
        free_only: leave out pieces whose header states no free licence, which must not be
            published.
        seed: chooses pieces, places and distractors.
        sizes: rows per task; default are the paper's.
        revision: places and commits of the files, if they are known.
        on_piece: called with "reading" or "compiling" and the number of pieces after each.
    """
    made_with = made_by()
    # Clips are read first: they are small, and a wrong folder is reported before any other work.
    clips, bad_clips = ([], {}) if emopia is None else emotion.read_clips(emopia)
    pieces, left_out = read_pieces(source, free_only=free_only, on_piece=on_piece)
    checksum = hashlib.sha256()
    for piece in pieces:
        checksum.update(f"{piece.id}\0{piece.text}\0".encode("utf-8", "surrogatepass"))
    for clip in clips:
        checksum.update(f"{clip.id}\0".encode() + clip.midi)
    provenance = make_provenance(
        NAME,
        VERSION,
        "mutopia",
        seed=seed,
        source_revision=revision,
        source_sha256=checksum.hexdigest(),
        missing={} if emopia else {"emotion_recognition": ("EMOPIA",)},
        made_with=made_with,
    )
    return _plan(pieces, clips, {**left_out, **bad_clips}, provenance, sizes, on_piece)


def build_generated(
    seed: int = DEFAULT_SEED,
    *,
    sources: tuple[Source, ...] | None = None,
    sizes: Mapping[TaskName, int] = GENERATED_SIZES,
    on_piece: OnPiece = lambda *_: None,
) -> Plan:
    """Plan the dataset on scores that come with music21 and on clips composed from the seed.

    `sources` are some of `default_sources`, None for all. Other arguments as for `build_mutopia`.
    """
    made_with = {**made_by(), "music21": version("music21")}
    pieces, left_out = make_pieces(sources or default_sources(), on_piece=on_piece)
    clips = compose_clips(seed, per_quadrant=sizes["emotion_recognition"] // 4)
    provenance = make_provenance(NAME, VERSION, GENERATED, seed=seed, made_with=made_with)
    return _plan(pieces, clips, left_out, provenance, sizes, on_piece)


def write_mutopia(conversion: Conversion) -> Provenance:
    """Write the dataset on a checkout of the Mutopia Project; a folder ``emopia`` in it has
    EMOPIA's clips.
    """
    source = conversion.source.expanduser()
    clips = source / "emopia"
    plan = build_mutopia(
        source,
        clips if clips.is_dir() else None,
        sizes=SIZES,
        revision=conversion.revision,
        on_piece=conversion.on_piece,
    )
    return write(plan, conversion.out, overwrite=True)


def write(plan: Plan, out: Path, *, overwrite: bool = False) -> Provenance:
    """Write a planned dataset as a folder in the layout of the Hub, completely or not at all, or
    raise DatasetError.
    """
    rows: Rows = {**plan.rows, "corpus": {"full": plan.corpus}}
    return write_dataset(
        out, rows, features=FEATURES, provenance=plan.provenance, overwrite=overwrite
    )


def made_by() -> dict[str, str]:
    """Return LilyPond's version and sandbox; DatasetError if LilyPond or a sandbox is missing."""
    try:
        return {"LilyPond": lilypond_version(), "sandbox": available_confinement().value}
    except (LilyPondError, SandboxError) as error:
        raise DatasetError(str(error)) from error


def _plan(
    pieces: Sequence[Piece],
    clips: Sequence[emotion.Clip],
    left_out: LeftOut,
    provenance: Provenance,
    sizes: Mapping[TaskName, int],
    on_piece: OnPiece,
) -> Plan:
    if not pieces:
        name, reason = next(iter(left_out.items()), ("", "there is none"))
        raise DatasetError(f"none of {len(left_out)} pieces can be read; {name}: {reason}")
    seed = provenance.seed or 0
    surveyed = list(survey(pieces, on_piece=on_piece))
    usable = [piece for _, piece in surveyed if piece is not None]
    tasks = [task for task in TASKS if clips or task != "emotion_recognition"]
    rows: dict[TaskName, dict[Protocol, Sequence[TaskRow]]] = {task: {} for task in tasks}
    try:
        for task, protocol in product(tasks, PROTOCOLS):
            if task == "emotion_recognition":
                rows[task][protocol], bad_clips = emotion.make_rows(
                    protocol, clips, seed, per_quadrant=sizes[task] // len(QUADRANTS)
                )
                left_out = {**left_out, **bad_clips}
            elif protocol == "strict":
                rows[task][protocol] = strict.make_rows(task, usable, seed, sizes[task])
            else:
                rows[task][protocol] = paper.make_rows(task, pieces, seed, sizes)
    except DatasetError:
        raise
    except ValueError as error:
        raise DatasetError(
            f"{len(pieces)} pieces, {len(usable)} of them usable by strict tasks, are too few: "
            f"{error}"
        ) from error
    plan = Plan(rows, [row for row, _ in surveyed], provenance, left_out)
    return replace(plan, provenance=replace(provenance, anomalies=_anomalies(plan, sizes)))


def _anomalies(plan: Plan, sizes: Mapping[TaskName, int]) -> dict[str, int]:
    reasons = plan.unusable.most_common()
    anomalies = {f"not usable by strict tasks: {reason}": count for reason, count in reasons}
    anomalies |= refusals(plan.left_out)
    for task, protocol in product(plan.rows, PROTOCOLS):
        lacking = sizes[task] - len(plan.rows[task][protocol])
        if lacking > 0:
            anomalies[f"{task}, {protocol}: rows that the pieces do not give"] = lacking
    return anomalies


def level_rows(level: int, on_piece: OnPiece) -> dict[TaskName, list[TaskRow]]:
    """Make the rows of a level from 2 to 5, in canonical form."""
    sources = first_sources(["lilybench_levels"])
    passages = {}
    for source in sources:
        passages[source.id] = ladder.read_passage(source)
        on_piece("reading", len(sources))
    return ladder.make_rows(level, passages)


def write_level(level: int, out: Path, on_piece: OnPiece) -> None:
    """Write the dataset of a level; from level 4 on, scores to read have no bar checks."""
    rows = level_rows(level, on_piece)
    for row in chain(rows["bar_count"], rows["metadata_qa"]) if level > 3 else ():
        row["score"] = row["score"].replace(" |\n    ", " ")
    made_with = {"music21": version("music21")}
    provenance = make_provenance(NAME, VERSION, GENERATED, seed=DEFAULT_SEED, made_with=made_with)
    splits = {task: {"strict": task_rows} for task, task_rows in rows.items()}
    write_dataset(out, splits, features=FEATURES, provenance=provenance, overwrite=True)


def write_generated(out: Path, on_piece: OnPiece) -> None:
    """Write the default dataset, which has fewer pieces than `build_generated` makes."""
    plan = build_generated(sources=first_sources(), sizes=_FIRST_SIZES, on_piece=on_piece)
    write(plan, out, overwrite=True)


BENCHMARK = DatasetSpec(
    NAME,
    VERSION,
    DEFAULT_SEED,
    FEATURES,
    write_generated,
    write_mutopia,
    generate_level=write_level,
    leveled=(*ladder.MAKERS,),
)
"""LilyBench's tasks on understanding for `load_split` and `describe_dataset`."""
