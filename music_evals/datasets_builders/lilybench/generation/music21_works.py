"""The offline default: works of music21's corpus for prompts and the first reference set, and tunes for the second.

The pieces are those of `default_pieces`. The domain of the prompts is the works of named composers. The other domain is
traditional tunes, from collections of the eighteenth and nineteenth century.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from music_evals.datasets_builders.lilybench.facts import composer_of, instrument_of, style_of, title_kind, title_of
from music_evals.datasets_builders.lilybench.generation.rows import Score
from music_evals.datasets_builders.lilybench.generation.works import Entry, Work
from music_evals.datasets_builders.lilybench.rows import Piece
from music_evals.datasets_builders.lilybench.strict.survey import opening
from music_evals.notation.lilypond.compiler import lilypond_cache
from music_evals.notation.lilypond.structure import Structure, StructureError, read_structures

_PERIODS: Final = frozenset({"Renaissance", "Baroque", "Classical", "Romantic", "Modern"})
_MOVEMENT: Final = re.compile(r", (\w{1,20} movement)(?: \(.{1,80}\))?$")
_VOICES: Final = re.compile(r"Voice|Choir|Soprano")


class Domains(NamedTuple):
    """Works of named composers, by id, with their scores, and traditional tunes."""

    works: tuple[Work, ...]
    scores: tuple[Score, ...]
    others: tuple[Score, ...]


def split_domains(pieces: Sequence[Piece]) -> Domains:
    """Separate the pieces of named composers from traditional tunes; pieces of one title are movements of a work."""
    composers = {piece.id: composer_of(piece.header, piece.id) for piece in pieces}
    composed = [piece for piece in pieces if composers[piece.id] is not None]
    entries: dict[str, list[Entry]] = {}
    scores: list[Score] = []
    readings = read_structures((piece.text for piece in composed), cache=lilypond_cache(), together=True)
    for piece, reading in zip(composed, readings, strict=True):
        composer = composers[piece.id]
        name = "" if composer is None else composer.name
        title = title_of(piece.header) or piece.id
        movement = _MOVEMENT.search(title)
        title = title[: movement.start()] if movement else title
        work = f"{name}: {title}"
        entries.setdefault(work, []).append(_entry(piece, name, title, movement and movement[1], reading))
        scores.append(Score(piece.id, work, piece.text, None))
    others = tuple(Score(piece.id, piece.id, piece.text, None) for piece in pieces if composers[piece.id] is None)
    return Domains(tuple(Work(work, tuple(entries[work])) for work in sorted(entries)), tuple(scores), others)


def _entry(piece: Piece, composer: str, title: str, part: str | None, reading: Structure | StructureError) -> Entry:
    key, metre = opening(reading)
    instrument = instrument_of(piece.header)
    style = style_of(piece.header)
    # The title of a song is its first words, and names no form.
    is_sung = instrument is not None and _VOICES.search(instrument) is not None
    return Entry(
        piece.id,
        {
            "composer": composer,
            "period": style if style in _PERIODS else None,
            "form": None if is_sung else title_kind(title),
            "ensemble": instrument,
            "part": part,
            "key": key,
            "metre": metre,
        },
    )
