"""Answers with the LilyPond files of a folder, so that music written by people goes through the
task `generation`.

LilyPond's converter brings a file to the current syntax; if it fails, the file is used as it is.
Included files are not read. Files are sorted by path. The sample with the seed `FIRST_SEED` gets
the first file, the next sample the second, and so on; after the last file comes the first again.
Without seeds, the order of calls counts.
"""

import re
from collections import defaultdict
from functools import cache
from itertools import count
from pathlib import Path

import anyio
import anyio.to_thread

from music_evals.baselines.asking import BaselineError, Request
from music_evals.notation.lilypond.compiler import LilyPondError, lilypond_version
from music_evals.notation.lilypond.converters import ConversionError, modernise
from music_evals.notation.lilypond.sandbox import SandboxError
from music_evals.notation.lilypond.source import SourceError, read_text
from music_evals.notation.lilypond.syntax.header import version_of

FIRST_SEED = 1234  # the seed of the task's first sample; the others count on from it

_FENCE = re.compile(r"`{3,}")


class Playback:
    """The files ``*.ly`` of a folder and its subfolders as answers; `BaselineError` if there are
    none.
    """

    def __init__(self, folder: object) -> None:
        if folder is None:
            raise BaselineError(
                "baseline/playback needs a folder with LilyPond files: -M folder=DIR"
            )
        self.folder = Path(str(folder)).expanduser()  # Inspect reads a name of digits as a number
        if not self.folder.is_dir():
            raise BaselineError(
                f"baseline/playback: {folder} is no folder; one with LilyPond files (*.ly) is "
                "needed"
            )
        self.files = sorted(path for path in self.folder.rglob("*.ly") if path.is_file())
        if not self.files:
            raise BaselineError(f"baseline/playback: {folder} holds no LilyPond files (*.ly)")
        self._calls = count()
        self._text = cache(current_text)
        self._locks = defaultdict[Path, anyio.Lock](anyio.Lock)

    async def reply(
        self, request: Request, seed: int | None, limiter: anyio.CapacityLimiter
    ) -> str:
        """Answer a request with a file in a fenced code block; a request to repair it gets the same
        file again.

        The limiter bounds how many converters run at a time. `BaselineError` if the task asks for
        no piece, or the file cannot be read or is too large.
        """
        if request.keys["answer_type"] != "piece":
            raise BaselineError(
                f"baseline/playback cannot answer {request.task}; it answers lilybench_generation"
            )
        if request.keys.get("attempt", 1) > 1:
            return request.reply
        path = self.files[
            (next(self._calls) if seed is None else seed - FIRST_SEED) % len(self.files)
        ]
        try:
            async with self._locks[path]:
                return fenced(await anyio.to_thread.run_sync(self._text, path, limiter=limiter))
        except SourceError as error:
            raise BaselineError(f"baseline/playback: {error}") from error


def current_text(path: Path) -> str:
    r"""Read a file in the syntax of the installed LilyPond, unchanged if it has no ``\version`` or
    LilyPond is missing.

    SourceError if the file cannot be read, or is too large.
    """
    text = read_text(path)
    try:
        return text if _is_current(text) else modernise(text)
    except (ConversionError, LilyPondError, SandboxError):
        return text


def fenced(text: str) -> str:
    """Put a text into a fenced code block whose fence is longer than any in the text.

    Example:
        >>> fenced("% see ```\\n{ c'1 }\\n")
        "````lilypond\\n% see ```\\n{ c'1 }\\n````"
    """
    fence = "`" * (1 + max((len(run) for run in _FENCE.findall(text)), default=2))
    return f"{fence}lilypond\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}"


def _is_current(text: str) -> bool:
    """Whether a text states the installed LilyPond's version or a later one; the third number does
    not count.
    """
    stated = re.match(r"([0-9]{1,3})\.([0-9]{1,3})(?:\.|$)", version_of(text) or "")
    installed = lilypond_version().split(".")
    return stated is not None and (int(stated[1]), int(stated[2])) >= (
        int(installed[0]),
        int(installed[1]),
    )
