"""LilyBench, generation, as a dataset: from BMdataset and a Mutopia checkout, or made offline.

Paper: https://arxiv.org/abs/2606.08722
Licence: each piece's own, see the column `licence`; BMdataset's labels are under Apache-2.0

Configs: `prompts` (splits `test`, and `paper` if BMdataset's files are at hand), `demonstrations`
(`train` and `ablation`), `works` (`full`), and one per set of reference pieces (`reference`):
`bmdataset-test` and `mutopia`, or `music21-test` and `music21-other`. See `rows`. Configs that the
source lacks files for are absent; the provenance lists them.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
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
from music_evals.datasets_builders.lilybench.dataset import made_by
from music_evals.datasets_builders.lilybench.default_pieces import (
    Source,
    default_sources,
    first_sources,
    make_pieces,
)
from music_evals.datasets_builders.lilybench.facts import licence_of
from music_evals.datasets_builders.lilybench.mutopia import read_pieces
from music_evals.datasets_builders.lilybench.rows import LeftOut
from music_evals.datasets_builders.lilybench_generation import rows, works
from music_evals.datasets_builders.lilybench_generation.bmdataset import (
    read_file_entries,
    read_labels,
    read_scores,
)
from music_evals.datasets_builders.lilybench_generation.demonstrations import (
    a_minor_demonstrations,
    draw_demonstrations,
)
from music_evals.datasets_builders.lilybench_generation.rows import (
    DEFAULT_SEED,
    ENCODER,
    FEATURES,
    NAME,
    VERSION,
)
from music_evals.datasets_builders.lilybench_generation.works import Work, split_domains
from music_evals.datasets_builders.progress import OnPiece
from music_evals.encoders.lilybert import Encoder, EncoderError, load_encoder
from music_evals.notation.cache import cache_folder
from music_evals.notation.lilypond.compiler import Compiled, compile_texts, lilypond_cache
from music_evals.notation.lilypond.writing import LIMITS, why_not
from music_evals.notation.midi.descriptors import DescriptorError, describe
from music_evals.notation.reference_pieces import PAPER, ReferenceRow

GENERATED_TEST_SHARE = 0.6
"""Share of the works that the default dataset holds out: it has few works."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A dataset that can be written; `left_out` says why a source gave no piece."""

    prompts: Mapping[rows.PromptSplit, Sequence[rows.PromptRow]]
    demonstrations: Mapping[rows.DemonstrationSplit, Sequence[rows.DemonstrationRow]]
    works: Sequence[rows.WorkRow]
    references: Mapping[str, Sequence[ReferenceRow]]
    provenance: Provenance
    left_out: LeftOut


def build_bmdataset(
    bmdataset: Path,
    mutopia: Path | None = None,
    *,
    free_only: bool = False,
    seed: int = DEFAULT_SEED,
    encoder: str | None = None,
    revision: str | None = None,
    on_piece: OnPiece = lambda *_: None,
) -> Plan:
    """Plan the dataset on BMdataset and a checkout of the Mutopia Project, or raise DatasetError.

    Args:
        bmdataset: folder of the labels and, if at hand, the LilyPond files. Without the files there
            are no prompts drawn from files, no demonstrations of the training split and no set
            `bmdataset-test`.
        mutopia: the checkout; without it there is no set `mutopia`.
        free_only: leave out pieces of Mutopia whose header states no free licence.
        seed: draws prompts and demonstrations, and splits the works.
        encoder: embeds the reference pieces: a name on the Hub, or a folder; None for no
            embeddings.
        revision: places and commits of the files, if they are known.
        on_piece: called with "reading" or "measuring" and the number of pieces after each.
    """
    made_with, loaded = _made_with(encoder)
    folder = bmdataset.expanduser()
    labels = read_labels(folder)
    scores, left_out = read_scores(folder, labels.works)
    pieces, unread = (
        read_pieces(mutopia, free_only=free_only, on_piece=on_piece) if mutopia else ([], {})
    )
    other_scores = [
        rows.Score(piece.id, piece.id, piece.text, licence_of(piece.header)) for piece in pieces
    ]
    files = read_file_entries(folder, labels.works)
    checksum = hashlib.sha256(labels.data)
    for score in (*scores, *other_scores):
        checksum.update(f"\0{score.id}\0{score.text}".encode("utf-8", "surrogatepass"))
    provenance = make_provenance(
        NAME,
        VERSION,
        "bmdataset",
        seed=seed,
        source_revision=revision,
        source_sha256=checksum.hexdigest(),
        made_with=made_with,
    )
    references = {rows.BMDATASET_TEST: scores, rows.MUTOPIA: other_scores}
    plan = _plan(
        labels.works,
        references,
        works.TEST_SHARE,
        provenance,
        {**left_out, **unread},
        loaded,
        on_piece,
    )
    if files:
        paper = works.draw_file_prompts(files, seed)
        return replace(plan, prompts={**plan.prompts, "paper": paper})
    missing = ("LilyPond files, for prompts/paper", *plan.provenance.missing_for(""))
    return replace(plan, provenance=replace(plan.provenance, missing={"": missing}))


def build_generated(
    seed: int = DEFAULT_SEED,
    *,
    sources: tuple[Source, ...] | None = None,
    encoder: str | None = None,
    on_piece: OnPiece = lambda *_: None,
) -> Plan:
    """Plan the dataset on LilyPond made from scores that come with music21; arguments as for
    `build_bmdataset`.

    `sources` are some of `default_sources`, None for all.
    """
    made_with, loaded = _made_with(encoder)
    pieces, left_out = make_pieces(sources or default_sources(), on_piece=on_piece)
    domains = split_domains(pieces)
    references = {rows.MUSIC21_TEST: domains.scores, rows.MUSIC21_OTHER: domains.others}
    made_with["music21"] = version("music21")
    provenance = make_provenance(NAME, VERSION, GENERATED, seed=seed, made_with=made_with)
    return _plan(
        domains.works, references, GENERATED_TEST_SHARE, provenance, left_out, loaded, on_piece
    )


def write_bmdataset(conversion: Conversion) -> Provenance:
    """Write the dataset on BMdataset; its labels may be in a folder ``bmdataset``, beside
    ``mutopia``, a checkout.
    """
    source = conversion.source.expanduser()
    labels, mutopia = source / "bmdataset", source / "mutopia"
    plan = build_bmdataset(
        labels if labels.is_dir() else source,
        mutopia if mutopia.is_dir() else None,
        revision=conversion.revision,
        on_piece=conversion.on_piece,
    )
    return write(plan, conversion.out, overwrite=True)


def write(plan: Plan, out: Path, *, overwrite: bool = False) -> Provenance:
    """Write a planned dataset as a folder in the layout of the Hub, completely or not at all, or
    raise DatasetError.
    """
    configs: Rows = {
        rows.PROMPTS: plan.prompts,
        rows.DEMONSTRATIONS: plan.demonstrations,
        rows.WORKS: {"full": plan.works},
        **{
            name: {rows.REFERENCE_SPLIT: references} for name, references in plan.references.items()
        },
    }
    return write_dataset(
        out, configs, features=FEATURES, provenance=plan.provenance, overwrite=overwrite
    )


def measure(
    scores: Sequence[rows.Score],
    *,
    encoder: Encoder | None = None,
    on_score: Callable[[], None] = lambda: None,
) -> list[ReferenceRow]:
    """Compile, describe and embed pieces: a row per piece, in order; `on_score` is called after
    each description.
    """
    references: list[ReferenceRow] = []
    compiled = compile_texts(
        (score.text for score in scores), limits=LIMITS, cache=lilypond_cache(), together=True
    )
    for score, run in zip(scores, compiled, strict=True):
        problem = why_not(run)
        values, undefined = _descriptors(run) if problem is None else ({}, "it does not compile")
        references.append(
            {
                "id": score.id,
                "work": score.work,
                "text": score.text,
                "compiles": problem is None,
                "problem": problem,
                "polyphony_rate": values.get("polyphony_rate"),
                "groove_consistency": values.get("groove_consistency"),
                "scale_consistency": values.get("scale_consistency"),
                "paper_polyphony_rate": values.get(f"{PAPER}polyphony_rate"),
                "paper_groove_consistency": values.get(f"{PAPER}groove_consistency"),
                "paper_scale_consistency": values.get(f"{PAPER}scale_consistency"),
                "undefined": undefined,
                "embedding": None,
                "licence": score.licence,
            }
        )
        on_score()
    if encoder is not None:
        embeddings = encoder.embed([score.text for score in scores])
        for row, vector in zip(references, embeddings, strict=True):
            row["embedding"] = vector.tolist()
    return references


def _plan(
    all_works: Sequence[Work],
    sources: Mapping[str, Sequence[rows.Score]],
    test_share: float,
    provenance: Provenance,
    left_out: LeftOut,
    encoder: Encoder | None,
    on_piece: OnPiece,
) -> Plan:
    """Plan the dataset; the scores of `sources` are those of the works, and those of the
    out-of-domain set.
    """
    (in_domain, scores), (out_of_domain, other_scores) = sources.items()
    seed = provenance.seed or 0
    texts: dict[str, list[str]] = {work.id: [] for work in all_works}
    for score in scores:
        texts[score.work].append(score.text)
    splits = works.split_works(all_works, texts, seed, test_share)
    held_out = [score for score in scores if splits[score.work] == "test"]
    total = len(held_out) + len(other_scores)
    shown = draw_demonstrations(all_works, scores, splits, seed)
    has_enough = len(shown) >= rows.N_DEMONSTRATIONS
    is_missing = {
        f"LilyPond files of held-out works, for {in_domain}": not held_out,
        f"{rows.N_DEMONSTRATIONS} short pieces of other works, for demonstrations/train": (
            not has_enough
        ),
        f"pieces of another source, for {out_of_domain}": not other_scores,
    }
    missing = tuple(filter(is_missing.__getitem__, is_missing))
    references = {}
    anomalies = {}
    for name, pieces in ((in_domain, held_out), (out_of_domain, other_scores)):
        try:
            references[name] = measure(
                pieces, encoder=encoder, on_score=lambda: on_piece("measuring", total)
            )
        except EncoderError as error:
            raise DatasetError(str(error)) from error
        uncompiled = sum(not row["compiles"] for row in references[name])
        if uncompiled:
            anomalies[f"pieces of {name} that do not compile"] = uncompiled
    provenance = replace(
        provenance,
        missing={"": missing} if missing else {},
        anomalies={**anomalies, **refusals(left_out)},
    )
    return Plan(
        {"test": works.draw_prompts(all_works, seed)},
        {"train": shown if has_enough else [], "ablation": a_minor_demonstrations()},
        works.work_rows(all_works, splits),
        references,
        provenance,
        left_out,
    )


def _descriptors(compiled: Compiled) -> tuple[dict[str, float | None], str | None]:
    """Columns of descriptors, and why some have no value."""
    try:
        strict, paper = (describe(compiled.midi[0], protocol) for protocol in ("strict", "paper"))
    except DescriptorError as error:
        return {}, str(error)
    values = dict(strict.values)
    reasons = dict(strict.reasons)
    values |= {f"{PAPER}{name}": value for name, value in paper.values.items()}
    reasons |= {f"{PAPER}{name}": reason for name, reason in paper.reasons.items()}
    undefined = [f"{name}: {reason}" for name, reason in sorted(reasons.items())]
    return values, "; ".join(undefined) or None


def _made_with(encoder: str | None) -> tuple[dict[str, str], Encoder | None]:
    """The programs that make the rows, checked before any work is done; and the loaded encoder."""
    made_with = made_by()
    if encoder is None:
        return made_with, None
    try:
        loaded = load_encoder(encoder, cache=cache_folder() / "embeddings")
    except EncoderError as error:
        raise DatasetError(str(error)) from error
    return {**made_with, ENCODER: loaded.identity}, loaded


def write_generated(out: Path, on_piece: OnPiece) -> None:
    """Write the default dataset, which has fewer pieces than `build_generated` makes."""
    plan = build_generated(sources=first_sources(["lilybench"]), on_piece=on_piece)
    write(plan, out, overwrite=True)


BENCHMARK = DatasetSpec(NAME, VERSION, DEFAULT_SEED, FEATURES, write_generated, write_bmdataset)
"""LilyBench's generation for `load_split` and `describe_dataset`."""
