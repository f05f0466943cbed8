"""The offline default: works of music21's corpus for prompts and one set of references, and its tunes for the other.

The pieces are those of `default_pieces`. What a named composer wrote is the domain of the prompts; traditional tunes,
from collections of the eighteenth and nineteenth century, are the other one.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from music_evals.datasets_builders.lilybench.corpus import opening
from music_evals.datasets_builders.lilybench.facts import composer_of, instrument_of, style_of, title_kind, title_of
from music_evals.datasets_builders.lilybench.generation.rows import Score
from music_evals.datasets_builders.lilybench.generation.works import Entry, Work
from music_evals.datasets_builders.lilybench.rows import Piece
from music_evals.notation.lilypond.structure import Structure, StructureError, read_structures

_PERIODS: Final = frozenset({"Renaissance", "Baroque", "Classical", "Romantic", "Modern"})
_MOVEMENT: Final = re.compile(r", (\w{1,20} movement)(?: \(.{1,80}\))?$")
_VOICES: Final = re.compile(r"Voice|Choir|Soprano")


class Domains(NamedTuple):
    """Works of named composers, in order of their ids, with their scores, and traditional tunes."""

    works: tuple[Work, ...]
    scores: tuple[Score, ...]
    others: tuple[Score, ...]


def domains(pieces: Sequence[Piece], *, cache: Path | None = None) -> Domains:
    """Tell the pieces of composers, where those of one title are one work, from traditional tunes; entries by piece."""
    composers = {piece.id: composer_of(piece.header, piece.id) for piece in pieces}
    art = [piece for piece in pieces if composers[piece.id] is not None]
    entries: dict[str, list[Entry]] = {}
    scores: list[Score] = []
    for piece, read in zip(
        art, read_structures((piece.text for piece in art), cache=cache, together=True), strict=True
    ):
        composer = composers[piece.id]
        name = "" if composer is None else composer.name
        title, movement = _parts(title_of(piece.header) or piece.id)
        work = f"{name}: {title}"
        entries.setdefault(work, []).append(_entry(piece, name, title, movement, read))
        scores.append(Score(piece.id, work, piece.text, None))
    others = tuple(Score(piece.id, piece.id, piece.text, None) for piece in pieces if composers[piece.id] is None)
    return Domains(tuple(Work(work, tuple(entries[work])) for work in sorted(entries)), tuple(scores), others)


def _entry(piece: Piece, composer: str, title: str, movement: str | None, read: Structure | StructureError) -> Entry:
    key, metre = opening(read)
    instrument = instrument_of(piece.header)
    # The first words of a song are its title, and name no form.
    sung = instrument is not None and _VOICES.search(instrument) is not None
    style = style_of(piece.header)
    return Entry(
        piece.id,
        {
            "composer": composer,
            "period": style if style in _PERIODS else None,
            "form": None if sung else title_kind(title),
            "ensemble": instrument,
            "part": movement,
            "key": key,
            "metre": metre,
        },
    )


def _parts(title: str) -> tuple[str, str | None]:
    """A work's title and, of a movement, which it is."""
    found = _MOVEMENT.search(title)
    return (title, None) if found is None else (title[: found.start()], found[1])
