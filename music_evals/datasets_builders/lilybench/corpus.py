"""Which pieces the strict tasks may use: their leak-free texts, and LilyPond's reading of them."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from music_evals.datasets_builders.lilybench.facts import composer_of, instrument_of, licence_of, style_of, title_of
from music_evals.datasets_builders.lilybench.rows import CorpusRow, Piece
from music_evals.notation.lilypond.anonymous import anonymise
from music_evals.notation.lilypond.compiler import Compiled, compile_texts
from music_evals.notation.lilypond.structure import Structure, StructureError, read_structures

_MOST_MESSAGES = 2_000  # characters of LilyPond's messages that a row keeps


@dataclass(frozen=True, slots=True)
class Surveyed:
    """A piece, and what the strict tasks may know of it.

    Args:
        piece: the piece.
        compiled: LilyPond's run on its text.
        read: LilyPond's reading of its text; None where there is none.
        score: the text without anything that tells whose piece it is; None where that cannot be made.
        structure: LilyPond's reading of `score`; None where the piece is not usable.
        reason: why strict tasks cannot use it; None where they can.
    """

    piece: Piece
    compiled: Compiled
    read: Structure | None
    score: str | None
    structure: Structure | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Usable:
    """A piece that strict tasks can use: its leak-free text, with LilyPond's reading of that."""

    piece: Piece
    score: str
    structure: Structure


def survey(
    pieces: Sequence[Piece], *, cache: Path | None = None, on_piece: Callable[[], None] = lambda: None
) -> list[Surveyed]:
    """Compile every piece, and find out which the strict tasks can use.

    Args:
        pieces: the pieces.
        cache: a folder to keep LilyPond's results in.
        on_piece: called after each.

    Returns:
        In the same order.
    """
    return list(_survey(pieces, cache, on_piece))


def _survey(pieces: Sequence[Piece], cache: Path | None, on_piece: Callable[[], None]) -> Iterator[Surveyed]:
    # A process a core, because this is Python alone. Spawned: forks of a process with threads (Inspect's) can hang.
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        scores = list(pool.map(_anonymised, [piece.text for piece in pieces], chunksize=4))
    compiled = compile_texts((piece.text for piece in pieces), cache=cache)
    read = read_structures((piece.text for piece in pieces), cache=cache)
    # A piece that has no leak-free text stands in for itself, so that the three stay in step.
    bare = read_structures(
        (piece.text if isinstance(score, ValueError) else score for piece, score in zip(pieces, scores, strict=True)),
        cache=cache,
    )
    for piece, score, run, original, structure in zip(pieces, scores, compiled, read, bare, strict=True):
        reason = _reason(run, original, score, structure)
        yield Surveyed(
            piece,
            run,
            None if isinstance(original, StructureError) else original,
            None if isinstance(score, ValueError) else score,
            None if reason or isinstance(structure, StructureError) else structure,
            reason,
        )
        on_piece()


def _anonymised(text: str) -> str | ValueError:
    try:
        return anonymise(text)
    except ValueError as error:
        return error


def _reason(
    compiled: Compiled,
    original: Structure | StructureError,
    score: str | ValueError,
    structure: Structure | StructureError,
) -> str | None:
    if compiled.problem is not None:
        return f"LilyPond does not compile it: {compiled.problem}"
    if isinstance(original, StructureError):
        return str(original)
    if original.problems:
        return "; ".join(original.problems)
    if isinstance(score, ValueError):
        return f"it cannot be freed of leaks: {score}"
    if isinstance(structure, StructureError):
        return f"without its words LilyPond does not read it: {structure}"
    if _music(original) != _music(structure):
        return "without its words it is other music"
    return None


def _music(structure: Structure) -> list[tuple[object, ...]]:
    return sorted(
        (event.kind, event.moment, event.grace, event.measure, event.step or 0, event.alteration, event.octave)
        for event in structure.events
    )


def usable(surveyed: Sequence[Surveyed]) -> list[Usable]:
    """The pieces that strict tasks can use."""
    return [
        Usable(found.piece, found.score, found.structure)
        for found in surveyed
        if found.score is not None and found.structure is not None
    ]


def corpus_row(found: Surveyed) -> CorpusRow:
    """What the dataset says of a piece."""
    header, structure = found.piece.header, found.read
    composer = composer_of(header, found.piece.id)
    counted = structure is not None and not structure.problems
    keys = structure.keys if structure is not None else ()
    return {
        "id": found.piece.id,
        "text": found.piece.text,
        "composer": None if composer is None else composer.name,
        "title": title_of(header),
        "style": style_of(header),
        "instrument": instrument_of(header),
        "key": keys[0].name if keys else None,
        "metre": structure.metres[0].name if structure is not None and structure.metres else None,
        "measures": structure.measures if structure is not None and counted else None,
        "licence": licence_of(header),
        "compiles": found.compiled.succeeded,
        "messages": found.compiled.messages[:_MOST_MESSAGES],
        "usable": found.reason is None,
        "reason": found.reason,
    }
