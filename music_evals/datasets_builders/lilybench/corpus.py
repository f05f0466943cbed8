"""Which pieces the strict tasks may use: their leak-free texts, and LilyPond's reading of them.

What the machine, and not the text, kept LilyPond from finishing is no reason to leave a piece out: two builds would
differ. It is an error, once all pieces were tried.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from music_evals.datasets_builders import in_processes
from music_evals.datasets_builders.lilybench.facts import composer_of, instrument_of, licence_of, style_of, title_of
from music_evals.datasets_builders.lilybench.mutopia import holds_music
from music_evals.datasets_builders.lilybench.rows import CorpusRow, Piece, not_measured
from music_evals.notation.lilypond.anonymous import anonymise
from music_evals.notation.lilypond.compiler import Compiled, compile_texts
from music_evals.notation.lilypond.source import included_names
from music_evals.notation.lilypond.structure import Structure, StructureError, read_structures

_MOST_MESSAGES = 2_000  # characters of LilyPond's messages that a row keeps


class Usable(NamedTuple):
    """A piece that strict tasks can use: its text without identifying marks, and LilyPond's reading of that."""

    id: str
    header: Mapping[str, str]
    score: str
    structure: Structure


def survey(
    pieces: Sequence[Piece], *, cache: Path | None = None, on_piece: Callable[[str, int], None] = lambda *_: None
) -> Iterator[tuple[CorpusRow, Usable | None]]:
    """Compile every piece, and find out what is known of it and whether the strict tasks can use it.

    DatasetError after the last piece, where LilyPond could not finish some through no fault of theirs.
    """
    texts = [piece.text for piece in pieces]
    scores = list(in_processes(_anonymised, texts, few=32, chunksize=4))
    # A piece that has no leak-free text stands in for itself, so that the three stay in step.
    bare = [text if isinstance(score, ValueError) else score for text, score in zip(texts, scores, strict=True)]
    compiled = compile_texts(texts, cache=cache)
    read, reread = read_structures(texts, cache=cache), read_structures(bare, cache=cache)
    unmeasured = []
    for piece, score, run, original, structure in zip(pieces, scores, compiled, read, reread, strict=True):
        reason = _reason(piece, run, original, score, structure)
        row = _row(piece, run, original, reason)
        if reason or isinstance(score, ValueError) or isinstance(structure, StructureError):
            yield row, None
        else:
            yield row, Usable(piece.id, piece.header, score, structure)
        if not (run.is_measured and all(_is_measured(one) for one in (original, structure))):
            unmeasured.append(piece.id)
        on_piece("compiling", len(pieces))
    if unmeasured:
        raise not_measured(unmeasured)


def _is_measured(read: Structure | StructureError) -> bool:
    return isinstance(read, Structure) or read.is_measured


def _anonymised(text: str) -> str | ValueError:
    try:
        return anonymise(text)
    except ValueError as error:
        return error
    except Exception as error:  # no piece ends a build
        return ValueError(f"{type(error).__name__}: {error}")


def _reason(
    piece: Piece,
    compiled: Compiled,
    original: Structure | StructureError,
    score: str | ValueError,
    structure: Structure | StructureError,
) -> str | None:
    if included_names(piece.raw) and not holds_music(piece.raw):
        return "its main file holds no music, but includes other files"
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


def opening(read: Structure | StructureError) -> tuple[str | None, str | None]:
    """The first key and the first metre by name; None for what is not there, and for both of what cannot be read."""
    if isinstance(read, StructureError):
        return None, None
    return read.keys[0].name if read.keys else None, read.metres[0].name if read.metres else None


def _row(piece: Piece, compiled: Compiled, read: Structure | StructureError, reason: str | None) -> CorpusRow:
    composer = composer_of(piece.header, piece.id)
    key, metre = opening(read)
    return {
        "id": piece.id,
        "text": piece.text,
        "composer": None if composer is None else composer.name,
        "title": title_of(piece.header),
        "style": style_of(piece.header),
        "instrument": instrument_of(piece.header),
        "key": key,
        "metre": metre,
        "measures": None if isinstance(read, StructureError) or read.problems else read.measures,
        "licence": licence_of(piece.header),
        "compiles": compiled.succeeded,
        "messages": compiled.messages[:_MOST_MESSAGES],
        "usable": reason is None,
        "reason": reason,
    }
