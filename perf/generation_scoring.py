"""How fast written pieces are scored: the scorer's own steps, beside the same steps done for one file after another.

The pieces are files of the Mutopia Project (folder as argument) of ordinary length: one file that includes nothing, of
2,000 to 12,000 characters, about what a model writes in 1,000 to 6,000 tokens, brought to the current syntax ahead of
all measuring. The steps are to compile a piece, take its MIDI, and compute its descriptors under both protocols. One
after the other means a plain ``lilypond -dno-print-pages`` for each file, as usual, and then MusPy in this process; it
runs in the same sandbox. Nothing is cached.

    python perf/generation_scoring.py MUTOPIA [--pieces 200] [--pictures]

Checks that problems and descriptors are the same, piece by piece. Target: less than a sixth of the time on four cores.
"""

import sys
import tempfile
from functools import partial
from pathlib import Path
from unittest.mock import patch

import anyio
from inspect_ai.model import ChatMessageAssistant, ModelName
from inspect_ai.solver import TaskState
from lilypond_compiling import choose
from measuring import show, start, timed

from music_evals.notation.lilypond.compiler import compile_text
from music_evals.notation.lilypond.writing import LIMITS, complete_code, why_not
from music_evals.notation.midi.descriptors import describe
from music_evals.scorers.written_pieces import Piece, Workbench

SHORTEST, LONGEST = 2_000, 12_000


async def score(texts: list[str], pictures: bool) -> list[Piece]:
    """Do what the scorer does, for all texts at once."""
    workbench = Workbench(pictures=pictures)
    found: list[list[Piece]] = [[] for _ in texts]

    async def one(number: int, text: str) -> None:
        found[number] = await workbench.pieces(_state(number, text))

    async with anyio.create_task_group() as group:
        for number, text in enumerate(texts):
            group.start_soon(one, number, text)
    return [pieces[0] for pieces in found]


def _state(number: int, text: str) -> TaskState:
    reply = ChatMessageAssistant(content=f"```lilypond\n{text}\n```")
    return TaskState(ModelName("none/none"), number, 1, "", [ChatMessageAssistant(content=""), reply])


def one_by_one(texts: list[str]) -> list[tuple[str | None, dict[str, dict[str, float | None]]]]:
    """Do the same steps for one file after another."""
    found = []
    for text in texts:
        compiled = compile_text(complete_code(text), settings="", limits=LIMITS)
        problem = why_not(compiled)
        values = (
            {} if problem else {name: dict(describe(compiled.midi[0], name).values) for name in ("strict", "paper")}
        )
        found.append((problem, values))
    return found


def main(mutopia: Path, pieces: int = 200, pictures: bool = False) -> None:
    texts = [text for text in choose(mutopia, 10_000).values() if SHORTEST <= len(text) <= LONGEST]
    texts = [texts[number * len(texts) // pieces] for number in range(min(pieces, len(texts)))]
    if not texts:
        sys.exit(f"{mutopia} holds no file of ordinary length that includes nothing")
    print(f"{len(texts)} pieces, {sum(map(len, texts)) // len(texts):,} characters on average")
    one_by_one(texts[:1])  # loads what the descriptors need, so that no side has to wait for it
    with tempfile.TemporaryDirectory() as empty, patch.dict("os.environ", MUSIC_EVALS_CACHE=empty):
        seconds, ours = timed(lambda: anyio.run(partial(score, texts, pictures)))
    plain_seconds, plain = timed(lambda: one_by_one(texts))
    show(f"scorer{' with pictures' if pictures else ''}", seconds, "one after the other", plain_seconds)
    same = sum((one["problem"], one["descriptors"]) == other for one, other in zip(ours, plain, strict=True))
    print(f"the same problem and descriptors for {same} of {len(texts)}")


if __name__ == "__main__":
    start(main, __doc__)
