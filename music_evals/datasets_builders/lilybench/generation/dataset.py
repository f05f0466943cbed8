"""LilyBench, generation, as a dataset: BMdataset and a Mutopia checkout, or what can be made offline.

Paper: https://arxiv.org/abs/2606.08722
Licence: each piece's own, see the column `licence`; BMdataset's labels are under Apache-2.0

Configs: `prompts` (splits `test`, and `paper` where BMdataset's files are at hand), `demonstrations` (`train` and
`ablation`), `works` (`full`), and one a set of reference pieces (`reference`): `bmdataset-test` and `mutopia`, or
`music21-test` and `music21-other`. See `rows`. What the source lacks the files for is absent, and the provenance says
so.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Final, NamedTuple

from music_evals.datasets_builders.dataset_io import (
    GENERATED,
    DatasetError,
    DatasetSpec,
    Provenance,
    Rows,
    make_provenance,
    refusals,
    write_dataset,
)
from music_evals.datasets_builders.lilybench.dataset import made_by
from music_evals.datasets_builders.lilybench.default_pieces import Source, default_sources, first_sources, make_pieces
from music_evals.datasets_builders.lilybench.facts import licence_of
from music_evals.datasets_builders.lilybench.generation import rows, works
from music_evals.datasets_builders.lilybench.generation.bmdataset import read_file_entries, read_labels, read_scores
from music_evals.datasets_builders.lilybench.generation.demonstrations import (
    a_minor_demonstrations,
    draw_demonstrations,
)
from music_evals.datasets_builders.lilybench.generation.measured import measure
from music_evals.datasets_builders.lilybench.generation.music21_works import domains
from music_evals.datasets_builders.lilybench.generation.works import Entry, Work
from music_evals.datasets_builders.lilybench.mutopia import read_pieces
from music_evals.datasets_builders.progress import OnPiece
from music_evals.encoders.lilybert import Encoder, EncoderError, load_encoder
from music_evals.notation.cache import cache_folder
from music_evals.notation.lilypond.compiler import lilypond_cache
from music_evals.notation.reference_pieces import ReferenceRow

NAME: Final = "lilybench-generation"
VERSION: Final = "2.2.0"
DEFAULT_SEED: Final = 1234  # the paper's, of its prompt bank
ENCODER: Final = "encoder"  # key of `Provenance.made_with` under which the encoder's identity stands
GENERATED_TEST_SHARE: Final = 0.6
"""Part of the works that the default dataset holds out: it has few."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A dataset that can be written, with what gave no piece → why."""

    prompts: Mapping[rows.PromptSplit, Sequence[rows.PromptRow]]
    demonstrations: Mapping[rows.DemonstrationSplit, Sequence[rows.DemonstrationRow]]
    works: Sequence[rows.WorkRow]
    references: Mapping[str, Sequence[ReferenceRow]]
    provenance: Provenance
    left_out: Mapping[str, str]


def build_bmdataset(
    bmdataset: Path,
    mutopia: Path | None = None,
    *,
    free_only: bool = False,
    seed: int = DEFAULT_SEED,
    encoder: str | None = None,
    on_piece: OnPiece = lambda *_: None,
) -> Plan:
    """Plan the dataset on BMdataset and a checkout of the Mutopia Project, or raise DatasetError.

    Args:
        bmdataset: folder of the labels and, where they are at hand, the LilyPond files. Without the files there are
            neither prompts drawn from files nor demonstrations of the training split nor the set `bmdataset-test`.
        mutopia: the checkout; without it there is no set `mutopia`.
        free_only: leave out pieces of Mutopia that may not be published, because no free licence is stated.
        seed: draws prompts and demonstrations, and splits the works.
        encoder: embeds the reference pieces: a name on the Hub, or a folder; None for no embeddings.
        on_piece: told what was done to a piece, "reading" or "measuring", and the number of pieces after each.
    """
    made_with, loaded = _made_with(encoder)
    folder = bmdataset.expanduser()
    labels = read_labels(folder)
    scores, left_out = read_scores(folder, labels.works)
    pieces, unread = ([], {}) if mutopia is None else read_pieces(mutopia, free_only=free_only, on_piece=on_piece)
    others = [rows.Score(piece.id, piece.id, piece.text, licence_of(piece.header)) for piece in pieces]
    files = read_file_entries(folder, labels.works)
    source = _Source(labels.works, scores, rows.BMDATASET_TEST, others, rows.MUTOPIA, works.TEST_SHARE, files)
    checksum = _checksum(labels.data, [*scores, *others])
    provenance = make_provenance(NAME, VERSION, "bmdataset", seed=seed, source_sha256=checksum, made_with=made_with)
    return _planned(source, provenance, {**left_out, **unread}, loaded, on_piece)


def build_generated(
    seed: int = DEFAULT_SEED,
    *,
    sources: tuple[Source, ...] | None = None,
    encoder: str | None = None,
    on_piece: OnPiece = lambda *_: None,
) -> Plan:
    """Plan the dataset on LilyPond made from scores that come with music21; args as for `build_bmdataset`.

    `sources` are some of `default_sources`, None for all.
    """
    made_with, loaded = _made_with(encoder)
    cache = lilypond_cache()
    pieces, left_out = make_pieces(sources or default_sources(), cache=cache, on_piece=on_piece)
    found = domains(pieces, cache=cache)
    names = (rows.MUSIC21_TEST, found.others, rows.MUSIC21_OTHER)
    source = _Source(found.works, found.scores, *names, GENERATED_TEST_SHARE)
    made_with["music21"] = version("music21")
    provenance = make_provenance(NAME, VERSION, GENERATED, seed=seed, made_with=made_with)
    return _planned(source, provenance, left_out, loaded, on_piece)


class _Source(NamedTuple):
    """What a dataset is made from: works with their scores, of which a share makes one set, and the other set."""

    works: Sequence[Work]
    scores: Sequence[rows.Score]
    in_domain: str
    others: Sequence[rows.Score]
    out_of_domain: str
    share: float
    files: Sequence[tuple[str, Entry]] | None = None  # works and entries; None where the entries are files themselves


def _planned(
    source: _Source,
    provenance: Provenance,
    left_out: Mapping[str, str],
    encoder: Encoder | None,
    on_piece: OnPiece,
) -> Plan:
    cache, seed = lilypond_cache(), provenance.seed or 0
    texts: dict[str, list[str]] = {work.id: [] for work in source.works}
    for score in source.scores:
        texts[score.work].append(score.text)
    splits = works.split_works(source.works, texts, seed, source.share)
    held_out = [score for score in source.scores if splits[score.work] == "test"]
    total = len(held_out) + len(source.others)
    shown = draw_demonstrations(source.works, source.scores, splits, seed, cache=cache)
    enough = len(shown) >= rows.N_DEMONSTRATIONS
    prompts: dict[rows.PromptSplit, Sequence[rows.PromptRow]] = {"test": works.draw_prompts(source.works, seed)}
    if source.files:
        prompts["paper"] = works.draw_file_prompts(source.files, seed)
    lacking = {
        "LilyPond files, for prompts/paper": source.files is not None and not source.files,
        f"LilyPond files of held-out works, for {source.in_domain}": not held_out,
        f"{rows.N_DEMONSTRATIONS} short pieces of other works, for demonstrations/train": not enough,
        f"pieces of another source, for {source.out_of_domain}": not source.others,
    }
    try:
        references = {
            name: measure(scores, encoder=encoder, cache=cache, on_score=lambda: on_piece("measuring", total))
            for name, scores in ((source.in_domain, held_out), (source.out_of_domain, source.others))
        }
    except EncoderError as error:
        raise DatasetError(str(error)) from error
    anomalies = {
        f"pieces of {name} that do not compile": sum(not row["compiles"] for row in some)
        for name, some in references.items()
    }
    anomalies |= refusals(left_out)
    return Plan(
        prompts,
        {"train": shown if enough else [], "ablation": a_minor_demonstrations()},
        works.work_rows(source.works, splits),
        references,
        replace(
            provenance,
            missing=tuple(what for what, is_missing in lacking.items() if is_missing),
            anomalies={what: count for what, count in anomalies.items() if count},
        ),
        left_out,
    )


def write(plan: Plan, out: Path, *, overwrite: bool = False) -> Provenance:
    """Write a planned dataset as a folder in the layout of the Hub, whole or not at all, or raise DatasetError."""
    made: Rows = {
        rows.PROMPTS: plan.prompts,
        rows.DEMONSTRATIONS: plan.demonstrations,
        rows.WORKS: {"full": plan.works},
        **{name: {rows.REFERENCE_SPLIT: some} for name, some in plan.references.items()},
    }
    return write_dataset(out, made, features=rows.FEATURES, provenance=plan.provenance, overwrite=overwrite)


def _made_with(encoder: str | None) -> tuple[dict[str, str], Encoder | None]:
    """What the rows are made with, asked first, because without it there is nothing to do; and the encoder."""
    made_with = made_by()
    if encoder is None:
        return made_with, None
    try:
        loaded = load_encoder(encoder, cache=cache_folder() / "embeddings")
    except EncoderError as error:
        raise DatasetError(str(error)) from error
    return {**made_with, ENCODER: loaded.identity}, loaded


def _checksum(labels: bytes, scores: Sequence[rows.Score]) -> str:
    state = hashlib.sha256(labels)
    for score in scores:
        state.update(f"\0{score.id}\0{score.text}".encode("utf-8", "surrogatepass"))
    return state.hexdigest()


def _generate(out: Path, on_piece: OnPiece) -> None:
    write(build_generated(sources=first_sources(), on_piece=on_piece), out, overwrite=True)


BENCHMARK: Final = DatasetSpec(NAME, VERSION, DEFAULT_SEED, rows.FEATURES, _generate)
