"""Works, their entries, the prompts that are drawn from them, and the split of each work.

The works of the offline default are those of named composers among the pieces of `default_pieces`.
Its other domain has traditional tunes, from collections of the eighteenth and nineteenth century,
and works of composers who were born before or after `_COMMON_PRACTICE`: tunes alone have no
polyphony, and a set without any cannot be compared with.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from random import Random
from typing import NamedTuple

from music_evals.datasets_builders.lilybench import facts
from music_evals.datasets_builders.lilybench.rows import Piece
from music_evals.datasets_builders.lilybench.strict.survey import opening
from music_evals.datasets_builders.lilybench_generation.rows import (
    N_PROMPTS,
    Description,
    PromptRow,
    Score,
    WorkRow,
    WorkSplit,
)
from music_evals.notation.lilypond.compiler import lilypond_cache
from music_evals.notation.lilypond.copies import NEAR_COPY, CopyIndex
from music_evals.notation.lilypond.structure import Structure, StructureError, read_structures

_COMMON_PRACTICE = range(1580, 1860)  # years of birth of the composers of the works
_MOVEMENT = re.compile(r", (\w{1,20} movement)(?: \(.{1,80}\))?$")
_VOICES = re.compile(r"Voice|Choir|Soprano")
TEST_SHARE = 0.2  # share of the works that are held out; the paper states no ratio


class Entry(NamedTuple):
    """The source of a prompt; its id is the work's, with the number of the movement if the work has
    several.
    """

    id: str
    description: Description


class Work(NamedTuple):
    """A work of the source."""

    id: str
    entries: tuple[Entry, ...]  # its movements, or one entry if no movements are known
    # names in common with other excerpts and editions of the same work
    shared_names: tuple[str, ...] = ()


def draw_prompts(works: Sequence[Work], seed: int, count: int = N_PROMPTS) -> list[PromptRow]:
    """Draw prompts from the entries of all works, with replacement; each entry counts once.

    A smaller `count` gives the first ones of a larger one.

    Source: arXiv 2606.08722, section 3.1 (200 prompts, seed 1234).
    """
    entries = [(work.id, entry) for work in works for entry in work.entries]
    return _prompts(Random(seed).choices(entries, k=count))


def draw_file_prompts(files: Sequence[tuple[str, Entry]], seed: int) -> list[PromptRow]:
    """Draw prompts from files, each given as its work and its entry, one by one and with
    replacement.

    The paper's files in order and its seed give its own draws.
    """
    draw = Random(seed)
    return _prompts([draw.choice(files) for _ in range(N_PROMPTS)])


def split_works(
    works: Sequence[Work], texts: Mapping[str, Sequence[str]], seed: int, share: float = TEST_SHARE
) -> dict[str, WorkSplit]:
    """Hold out a share of the works: id → split.

    Works that share a name, or whose texts are near-copies (`NEAR_COPY`), are on the same side. The
    side follows from the seed and the first of their names alone, so it stays the same when other
    works are added.
    """
    from scipy.cluster.hierarchy import DisjointSet

    groups = DisjointSet()
    names = ((work.id, name) for work in works for name in (work.id, *work.shared_names))
    for name, other in chain(names, _near_copies(texts)):
        groups.add(name)
        groups.add(other)
        groups.merge(name, other)
    first: dict[str, str] = {}
    for group in groups.subsets():
        first |= dict.fromkeys(group, min(group))
    splits: dict[str, WorkSplit] = {}
    for work in works:
        text = f"{seed}\0{first[work.id]}"
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        fraction = int.from_bytes(digest[:6]) / 2**48
        splits[work.id] = "test" if fraction < share else "train"
    return splits


def work_rows(works: Sequence[Work], splits: Mapping[str, WorkSplit]) -> list[WorkRow]:
    """Return the works as rows, with the facts of their first entries."""
    rows = []
    for work in works:
        description = work.entries[0].description
        row = WorkRow(
            id=work.id,
            composer=description["composer"],
            period=description["period"],
            form=description["form"],
            movements=len(work.entries),
            split=splits[work.id],
        )
        rows.append(row)
    return rows


def _prompts(drawn: Iterable[tuple[str, Entry]]) -> list[PromptRow]:
    return [
        {
            "id": f"prompt-{index:03}",
            "index": index,
            "entry": entry.id,
            "work": work,
            **entry.description,
        }
        for index, (work, entry) in enumerate(drawn)
    ]


def _near_copies(texts: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Pairs of works such that a text of one contains at least half of a text of the other."""
    by_name: dict[str, tuple[str, str]] = {}
    for work, group in texts.items():
        by_name |= {f"{work}\n{number}": (work, text) for number, text in enumerate(group)}
    index = CopyIndex({name: text for name, (_, text) in by_name.items()})
    for work, text in by_name.values():
        for name, share in index.shares(text).items():
            if share >= NEAR_COPY:
                yield work, by_name[name][0]


class Domains(NamedTuple):
    """Works of named composers, by id, with their scores; and pieces of the other domain."""

    works: tuple[Work, ...]
    scores: tuple[Score, ...]
    others: tuple[Score, ...]


def split_domains(pieces: Sequence[Piece]) -> Domains:
    """Separate the works of the common practice from other pieces; pieces of one title are
    movements of a work.
    """
    composed = []
    further = []
    for piece in pieces:
        composer = facts.composer_of(piece.header, piece.id)
        if composer and (composer.born is None or composer.born in _COMMON_PRACTICE):
            composed.append((piece, composer.name))
        else:
            further.append(Score(piece.id, piece.id, piece.text, None))
    entries = defaultdict(list)
    scores = []
    texts = [piece.text for piece, _ in composed]
    readings = read_structures(texts, cache=lilypond_cache(), together=True)
    for (piece, composer_name), reading in zip(composed, readings, strict=True):
        title = facts.title_of(piece.header) or piece.id
        movement = _MOVEMENT.search(title)
        title = title[: movement.start()] if movement else title
        part = movement[1] if movement else None
        work = f"{composer_name}: {title}"
        entries[work].append(_entry(piece, composer_name, title, part, reading))
        scores.append(Score(piece.id, work, piece.text, None))
    by_name = (Work(work, tuple(entries[work])) for work in sorted(entries))
    return Domains(tuple(by_name), tuple(scores), tuple(further))


def _entry(
    piece: Piece, composer: str, title: str, part: str | None, reading: Structure | StructureError
) -> Entry:
    key, metre = opening(reading)
    instrument = facts.instrument_of(piece.header)
    style = facts.style_of(piece.header)
    # The title of a song is its first words, and names no form.
    is_sung = instrument is not None and _VOICES.search(instrument) is not None
    return Entry(
        piece.id,
        {
            "composer": composer,
            "period": style if style in facts.PERIODS else None,
            "form": None if is_sung else facts.title_kind(title),
            "ensemble": instrument,
            "part": part,
            "key": key,
            "metre": metre,
        },
    )
