"""Works, their entries, the prompts that are drawn from them, and which split each work is in."""

import hashlib
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

from scipy.cluster.hierarchy import DisjointSet

from music_evals.datasets_builders.lilybench.generation.rows import (
    N_PROMPTS,
    Description,
    PromptRow,
    WorkRow,
    WorkSplit,
)
from music_evals.notation.lilypond.copies import NEAR_COPY, CopyIndex

TEST_SHARE: Final = 0.2  # part of the works that are held out; the paper tells no ratio


class Entry(NamedTuple):
    """What a prompt is made from; its id is the work's, with the number of the movement where the work has several."""

    id: str
    description: Description


class Work(NamedTuple):
    """A work of the source."""

    id: str
    entries: tuple[Entry, ...]  # its movements, or the one entry of a work of which no movements are known
    shares: tuple[str, ...] = ()  # names in common with other excerpts of the same whole, and with other editions


def draw_prompts(works: Sequence[Work], seed: int, count: int = N_PROMPTS) -> list[PromptRow]:
    """Draw prompts from the entries of all works, each of which counts once, with replacement.

    The first of many are those of fewer.

    Source: arXiv 2606.08722, section 3.1 (200 prompts, seed 1234).
    """
    entries = [(work.id, entry) for work in works for entry in work.entries]
    return _prompts(random.Random(seed).choices(entries, k=count))


def draw_file_prompts(files: Sequence[tuple[str, Entry]], seed: int, count: int = N_PROMPTS) -> list[PromptRow]:
    """Draw prompts from files, given in order as their works and entries, one by one and with replacement.

    With the paper's files and seed these are its own draws.
    """
    random_ = random.Random(seed)
    return _prompts([random_.choice(files) for _ in range(count)])


def split_works(
    works: Sequence[Work], texts: Mapping[str, Sequence[str]], seed: int, share: float = TEST_SHARE
) -> dict[str, WorkSplit]:
    """Hold out a part of the works, with those that share a name or are near-copies (`NEAR_COPY`) by their texts.

    The side follows from the name of the first of those works and the seed alone, so that it stays where it is when
    others are added. Music that was transposed is not recognised as a copy.
    """
    groups = _groups(((work.id, name) for work in works for name in (work.id, *work.shares)), _near_copies(texts))
    return {work.id: "test" if _draw(groups[work.id], seed) < share else "train" for work in works}


def work_rows(works: Sequence[Work], splits: Mapping[str, WorkSplit]) -> list[WorkRow]:
    """The works as rows, with what their first entries say."""
    return [
        {
            "id": work.id,
            "composer": work.entries[0].description["composer"],
            "period": work.entries[0].description["period"],
            "form": work.entries[0].description["form"],
            "movements": len(work.entries),
            "split": splits[work.id],
        }
        for work in works
    ]


def _prompts(drawn: Iterable[tuple[str, Entry]]) -> list[PromptRow]:
    return [
        {"id": f"prompt-{index:03}", "index": index, "entry": entry.id, "work": work, **entry.description}
        for index, (work, entry) in enumerate(drawn)
    ]


def _draw(name: str, seed: int) -> float:
    """A number from 0 to below 1 that a name and a seed determine."""
    digest = hashlib.sha256(f"{seed}\0{name}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:6]) / 2**48


def _groups(*pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Names that are paired, directly or through others → the first of them."""
    joined = DisjointSet()
    for one, other in chain(*pairs):
        joined.add(one)
        joined.add(other)
        joined.merge(one, other)
    return {name: min(names) for names in joined.subsets() for name in names}


def _near_copies(texts: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Pairs of works of which a text of the one stands in a text of the other by half."""
    held = {f"{work}\n{number}": (work, text) for work, some in texts.items() for number, text in enumerate(some)}
    index = CopyIndex({name: text for name, (_, text) in held.items()})
    for work, text in held.values():
        yield from ((work, held[name][0]) for name, share in index.shares(text).items() if share >= NEAR_COPY)
