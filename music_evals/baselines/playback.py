r"""Answers from a folder of LilyPond files, so that music written by people goes through the task `generation`.

A file is brought to the current syntax by LilyPond's converter if that can be done; otherwise it is played as it is.
Files that it includes are not read. The sample that the task gives the seed `FIRST_SEED` gets the first file by path,
the next one the second, and so on, from the beginning again after the last. Without seeds files go by the order of
calls.
"""

import re
from collections import defaultdict
from functools import cache
from itertools import count
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from music_evals.baselines.asking import Asked, BaselineError
from music_evals.notation.lilypond.compiler import LilyPondError, lilypond_version
from music_evals.notation.lilypond.converters import ConversionError, modernise
from music_evals.notation.lilypond.sandbox import SandboxError
from music_evals.notation.lilypond.source import SourceError, read_text
from music_evals.notation.lilypond.syntax.header import version_of

FIRST_SEED: Final = 1234  # the seed of the task's first sample; the others count on from it

_FENCE: Final = re.compile(r"`{3,}")


class Playback:
    """The files ``*.ly`` of a folder, and of those below it, as answers; `BaselineError` where there are none."""

    def __init__(self, folder: object) -> None:
        if folder is None:
            raise BaselineError("baseline/playback needs a folder with LilyPond files: -M folder=DIR")
        self.folder = Path(str(folder)).expanduser()  # of a name in digits Inspect makes a number
        if not self.folder.is_dir():
            raise BaselineError(f"baseline/playback: {folder} is no folder; one with LilyPond files (*.ly) is needed")
        self.files = sorted(path for path in self.folder.rglob("*.ly") if path.is_file())
        if not self.files:
            raise BaselineError(f"baseline/playback: {folder} holds no LilyPond files (*.ly)")
        self._calls = count()
        self._text = cache(current_text)
        self._locks = defaultdict[Path, anyio.Lock](anyio.Lock)

    async def reply(self, asked: Asked, seed: int | None, limiter: anyio.CapacityLimiter) -> str:
        """Answer a request with a file in a fenced code block; a request to repair gets the same again.

        Conversion is a process of its own, and all samples may ask at once: the limiter says how many run at a time.
        `BaselineError` where no piece is asked for, or the file cannot be read or is too large.
        """
        if asked.keys["answer_type"] != "piece":
            raise BaselineError(f"baseline/playback cannot answer {asked.task}; it answers lilybench_generation")
        if asked.keys.get("attempt", 1) > 1:
            return asked.reply
        path = self.files[(next(self._calls) if seed is None else seed - FIRST_SEED) % len(self.files)]
        try:
            async with self._locks[path]:
                return fenced(await anyio.to_thread.run_sync(self._text, path, limiter=limiter))
        except SourceError as error:
            raise BaselineError(f"baseline/playback: {error}") from error


def current_text(path: Path) -> str:
    r"""Read a file and bring it to the syntax of the installed LilyPond, or leave it as it is if that fails.

    It fails without ``\version``, or without LilyPond. SourceError if the file cannot be read, or is too large.
    """
    text = read_text(path)
    try:
        return text if _is_current(text) else modernise(text)
    except (ConversionError, LilyPondError, SandboxError):
        return text


def fenced(text: str) -> str:
    """Put a text into a fenced code block whose fence does not stand in the text.

    Example:
        >>> fenced("% see ```\\n{ c'1 }\\n")
        "````lilypond\\n% see ```\\n{ c'1 }\\n````"
    """
    fence = "`" * (1 + max((len(run) for run in _FENCE.findall(text)), default=2))
    return f"{fence}lilypond\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}"


def _is_current(text: str) -> bool:
    """Whether a text states the installed LilyPond's version, or a later one, up to the last of the three numbers."""
    stated = re.match(r"([0-9]{1,3})\.([0-9]{1,3})(?:\.|$)", version_of(text) or "")
    installed = lilypond_version().split(".")
    return stated is not None and (int(stated[1]), int(stated[2])) >= (int(installed[0]), int(installed[1]))
