"""Which pieces the strict tasks may use: their canonical texts, and LilyPond's reading of these.

If the machine, and not the text, kept LilyPond from finishing, the piece is not left out: two
builds would differ. That is an error, once all pieces were tried.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from music_evals.datasets_builders.lilybench.facts import (
    Header,
    composer_of,
    instrument_of,
    licence_of,
    style_of,
    title_of,
)
from music_evals.datasets_builders.lilybench.rows import CorpusRow, Piece, not_measured
from music_evals.datasets_builders.progress import OnPiece
from music_evals.notation.lilypond.canonical import same_music, write_score
from music_evals.notation.lilypond.compiler import Compiled, Running, compile_texts, lilypond_cache
from music_evals.notation.lilypond.structure import Structure, StructureError, read_structures

MAX_CHARACTERS = 200_000  # of a canonical text
_MAX_MESSAGES = 2_000  # characters of LilyPond's messages in a row


Reading = Structure | StructureError


class Usable(NamedTuple):
    """A piece for strict tasks: its canonical text as `score`, and LilyPond's reading of that."""

    id: str
    header: Header
    score: str
    structure: Structure


def survey(
    pieces: Sequence[Piece], *, on_piece: OnPiece = lambda *_: None
) -> Iterator[tuple[CorpusRow, Usable | None]]:
    """Compile every piece, and yield its row and, if strict tasks can use it, its canonical form.

    DatasetError after the last piece if LilyPond could not finish some through no fault of theirs.
    """
    options: Running = {"cache": lilypond_cache(), "together": True}
    texts = [piece.text for piece in pieces]
    runs, readings, scores = [], [], []
    for run, reading in zip(
        compile_texts(texts, **options), read_structures(texts, **options), strict=True
    ):
        runs.append(run)
        readings.append(reading)
        scores.append(_canonical(run, reading))
        on_piece("compiling", len(pieces))
    written = [score for score in scores if isinstance(score, str)]
    written_readings = read_structures(written, **options)
    unmeasured = []
    for piece, run, reading, score in zip(pieces, runs, readings, scores, strict=True):
        usable: Usable | None = None
        reason: str | None = str(score)
        is_measured = run.is_measured and _is_measured(reading)
        if isinstance(score, str):
            structure = next(written_readings)
            on_piece("compiling in canonical form", len(written))
            is_measured = is_measured and _is_measured(structure)
            reason = "in canonical form it is other music"
            if (same := _same_structure(reading, structure)) is not None:
                usable, reason = Usable(piece.id, piece.header, score, same), None
        yield _row(piece, run, reading, usable, reason), usable
        if not is_measured:
            unmeasured.append(piece.id)
    if unmeasured:
        raise not_measured(unmeasured)


def _is_measured(reading: Reading) -> bool:
    return isinstance(reading, Structure) or reading.is_measured


def _same_structure(reading: Reading, again: Reading) -> Structure | None:
    """The second reading, if it is of the same music as the first."""
    if isinstance(reading, StructureError) or isinstance(again, StructureError):
        return None
    return again if same_music(reading, again) else None


def opening(reading: Reading) -> tuple[str | None, str | None]:
    """Return the names of the first key and the first metre; None for one that is absent or cannot
    be read.
    """
    if isinstance(reading, StructureError):
        return None, None
    names = [signs[0].name if signs else None for signs in (reading.keys, reading.metres)]
    return names[0], names[1]


def _canonical(run: Compiled, reading: Reading) -> str | ValueError:
    """The canonical text of a piece, or the reason why it has none."""
    if run.problem is not None:
        return ValueError(f"LilyPond does not compile it: {run.problem}")
    if isinstance(reading, StructureError):
        return ValueError(str(reading))
    try:
        score = write_score(reading)
    except ValueError as error:
        return error
    except Exception as error:  # no piece ends a build
        return ValueError(
            f"it cannot be written in canonical form: {type(error).__name__}: {error}"
        )
    if len(score) > MAX_CHARACTERS:
        return ValueError(
            f"its canonical form is too long: {len(score):,} characters; {MAX_CHARACTERS:,} are "
            "allowed"
        )
    return score


def _row(
    piece: Piece,
    run: Compiled,
    reading: Reading,
    usable: Usable | None,
    reason: str | None,
) -> CorpusRow:
    composer = composer_of(piece.header, piece.id)
    measures = None
    if isinstance(reading, Structure) and not reading.problems:
        measures = reading.measures
    key, metre = opening(reading)
    return {
        "id": piece.id,
        "text": piece.text,
        "score": usable and usable.score,
        "composer": None if composer is None else composer.name,
        "title": title_of(piece.header),
        "style": style_of(piece.header),
        "instrument": instrument_of(piece.header),
        "key": key,
        "metre": metre,
        "measures": measures,
        "licence": licence_of(piece.header),
        "compiles": run.succeeded,
        "messages": run.messages[:_MAX_MESSAGES],
        "usable": usable is not None,
        "reason": reason,
    }
