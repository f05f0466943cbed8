"""Which pieces the strict tasks may use: their leak-free texts, and LilyPond's reading of these.

If the machine, and not the text, kept LilyPond from finishing, the piece is not left out: two builds would differ. That
is an error, once all pieces were tried.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from music_evals.datasets_builders.lilybench.facts import composer_of, instrument_of, licence_of, style_of, title_of
from music_evals.datasets_builders.lilybench.mutopia import holds_music
from music_evals.datasets_builders.lilybench.rows import CorpusRow, Piece, not_measured
from music_evals.datasets_builders.progress import OnPiece
from music_evals.notation.lilypond.anonymous import anonymise
from music_evals.notation.lilypond.compiler import Compiled, Running, compile_texts, lilypond_cache
from music_evals.notation.lilypond.source import included_names
from music_evals.notation.lilypond.structure import Structure, StructureError, read_structures
from music_evals.notation.subprocesses import LimitError, map_in_subprocess

_MAX_MESSAGES = 2_000  # characters of LilyPond's messages in a row


class Usable(NamedTuple):
    """A piece for strict tasks: its leak-free text as `score`, and LilyPond's reading of that."""

    id: str
    header: Mapping[str, str]
    score: str
    structure: Structure


def survey(
    pieces: Sequence[Piece], *, on_piece: OnPiece = lambda *_: None
) -> Iterator[tuple[CorpusRow, Usable | None]]:
    """Compile every piece, and yield its row and, if strict tasks can use it, its leak-free form.

    DatasetError after the last piece if LilyPond could not finish some through no fault of theirs.
    """
    texts = [piece.text for piece in pieces]
    options: Running = {"cache": lilypond_cache(), "together": True}
    scores = [
        ValueError(f"its cleaning {score}") if isinstance(score, LimitError) else score
        for score in map_in_subprocess(_anonymise, texts, few=64)
    ]
    runs: list[Compiled] = []
    readings: list[Structure | StructureError] = []
    for run, reading in zip(compile_texts(texts, **options), read_structures(texts, **options), strict=True):
        runs.append(run)
        readings.append(reading)
        on_piece("compiling", len(pieces))
    reasons = list(map(_reason, pieces, runs, readings, scores))
    clean = [score for score, reason in zip(scores, reasons, strict=True) if not reason and isinstance(score, str)]
    clean_readings = read_structures(clean, **options)
    unmeasured = []
    for piece, run, reading, score, reason in zip(pieces, runs, readings, scores, reasons, strict=True):
        usable, results = None, [reading]
        if not reason and isinstance(score, str):
            structure = next(clean_readings)
            results.append(structure)
            on_piece("compiling without words", len(clean))
            if isinstance(structure, StructureError):
                reason = f"without its words LilyPond does not read it: {structure}"
            elif isinstance(reading, Structure) and _content(reading) != _content(structure):
                reason = "without its words it is other music"
            else:
                usable = Usable(piece.id, piece.header, score, structure)
        yield _row(piece, run, reading, reason), usable
        if not (run.is_measured and all(isinstance(result, Structure) or result.is_measured for result in results)):
            unmeasured.append(piece.id)
    if unmeasured:
        raise not_measured(unmeasured)


def opening(reading: Structure | StructureError) -> tuple[str | None, str | None]:
    """Return the names of the first key and the first metre; None for one that is absent or cannot be read."""
    if isinstance(reading, StructureError):
        return None, None
    return reading.keys[0].name if reading.keys else None, reading.metres[0].name if reading.metres else None


def _anonymise(text: str) -> str | ValueError:
    try:
        return anonymise(text)
    except ValueError as error:
        return error
    except Exception as error:  # no piece ends a build
        return ValueError(f"{type(error).__name__}: {error}")


def _reason(piece: Piece, run: Compiled, reading: Structure | StructureError, score: str | ValueError) -> str | None:
    if included_names(piece.raw) and not holds_music(piece.raw):
        return "its main file holds no music, but includes other files"
    if run.problem is not None:
        return f"LilyPond does not compile it: {run.problem}"
    if isinstance(reading, StructureError):
        return str(reading)
    if reading.problems:
        return "; ".join(reading.problems)
    return f"it cannot be freed of leaks: {score}" if isinstance(score, ValueError) else None


def _content(structure: Structure) -> list[tuple[object, ...]]:
    return sorted(
        (event.kind, event.moment, event.grace, event.measure, event.step or 0, event.alteration, event.octave)
        for event in structure.events
    )


def _row(piece: Piece, run: Compiled, reading: Structure | StructureError, reason: str | None) -> CorpusRow:
    composer = composer_of(piece.header, piece.id)
    key, metre = opening(reading)
    return {
        "id": piece.id,
        "text": piece.text,
        "composer": None if composer is None else composer.name,
        "title": title_of(piece.header),
        "style": style_of(piece.header),
        "instrument": instrument_of(piece.header),
        "key": key,
        "metre": metre,
        "measures": None if isinstance(reading, StructureError) or reading.problems else reading.measures,
        "licence": licence_of(piece.header),
        "compiles": run.succeeded,
        "messages": run.messages[:_MAX_MESSAGES],
        "usable": reason is None,
        "reason": reason,
    }
