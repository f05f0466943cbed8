"""Which pieces the strict tasks may use: their leak-free texts, and LilyPond's reading of them.

What the machine, and not the text, kept LilyPond from finishing is no reason to leave a piece out: two builds would
differ. It is an error, once all pieces were tried.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from music_evals.datasets_builders.lilybench.facts import composer_of, instrument_of, licence_of, style_of, title_of
from music_evals.datasets_builders.lilybench.mutopia import holds_music
from music_evals.datasets_builders.lilybench.rows import CorpusRow, Piece, not_measured
from music_evals.notation.lilypond.anonymous import anonymise
from music_evals.notation.lilypond.compiler import Compiled, Running, compile_texts
from music_evals.notation.lilypond.source import included_names
from music_evals.notation.lilypond.structure import Structure, StructureError, read_structures
from music_evals.notation.subprocesses import LimitError, map_in_subprocess

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
    how: Running = {"cache": cache, "together": True}
    scores = [
        ValueError(f"its cleaning {one}") if isinstance(one, LimitError) else one
        for one in map_in_subprocess(_anonymised, texts, few=64)
    ]
    found = []
    for run, original in zip(compile_texts(texts, **how), read_structures(texts, **how), strict=True):
        found.append((run, original))
        on_piece("compiling", len(pieces))
    reasons = [
        _reason(piece, run, original, score)
        for piece, (run, original), score in zip(pieces, found, scores, strict=True)
    ]
    clean = [score for score, reason in zip(scores, reasons, strict=True) if not reason and isinstance(score, str)]
    reread = read_structures(clean, **how)
    unmeasured = []
    for piece, (run, original), score, reason in zip(pieces, found, scores, reasons, strict=True):
        usable, read = None, [original]
        if not reason and isinstance(score, str):
            structure = next(reread)
            read.append(structure)
            on_piece("compiling without words", len(clean))
            if isinstance(structure, StructureError):
                reason = f"without its words LilyPond does not read it: {structure}"
            elif isinstance(original, Structure) and _music(original) != _music(structure):
                reason = "without its words it is other music"
            else:
                usable = Usable(piece.id, piece.header, score, structure)
        yield _row(piece, run, original, reason), usable
        if not (run.is_measured and all(isinstance(one, Structure) or one.is_measured for one in read)):
            unmeasured.append(piece.id)
    if unmeasured:
        raise not_measured(unmeasured)


def _anonymised(text: str) -> str | ValueError:
    try:
        return anonymise(text)
    except ValueError as error:
        return error
    except Exception as error:  # no piece ends a build
        return ValueError(f"{type(error).__name__}: {error}")


def _reason(
    piece: Piece, compiled: Compiled, original: Structure | StructureError, score: str | ValueError
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
