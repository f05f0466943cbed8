"""The ceiling: answers by reading what the libraries at hand can read."""

from typing import Final

import anyio
import anyio.to_thread

from music_evals.baselines import lilybench, msu, muse
from music_evals.baselines.asking import Asked, BaselineError
from music_evals.baselines.chance import guess, numbered
from music_evals.notation.lilypond.compiler import LilyPondError
from music_evals.notation.lilypond.sandbox import SandboxError

TASKS: Final = (
    *(f"muse {task}" for task in muse.SOLVERS),
    "msu textual",
    "lilybench bar_count",
    "lilybench metadata_qa",
)
"""Tasks whose music the reader reads."""


def check(asked: Asked) -> None:
    """Check that the reader can read what is asked about; `BaselineError` if not."""
    keys = asked.keys
    if keys.get("stimulus") == "none":
        return
    if asked.task in TASKS and (asked.music or "refused" in keys):
        return
    given = f" from {keys['notation']}" if asked.task in TASKS and "notation" in keys else ""
    raise BaselineError(
        f"baseline/reader cannot answer {asked.task}{given}; it reads MIDI text (muse), ABC (msu textual) and LilyPond "
        "(lilybench bar_count, metadata_qa). To leave other tasks of a file out, name one, as in "
        "evals/msu.py@textual, or use `music-evals run`, which leaves them out; valid for other tasks: "
        "baseline/chance, baseline/majority"
    )


async def read(asked: Asked, error_rate: float, limiter: anyio.CapacityLimiter) -> str:
    """Answer what is asked; by chance, or ``Unknown``, what cannot be read, or is asked without music.

    `BaselineError` where it is none of the reader's tasks, the music is in another form, or LilyPond is missing. A
    share of symbolic lines is garbled on purpose, the error rate; the limiter says how many LilyPonds run at a time.
    """
    check(asked)
    keys = asked.keys
    if keys.get("stimulus") == "none":
        return guess(asked)
    if keys["benchmark"] == "muse":
        try:
            return muse.read(asked, error_rate)
        except ValueError:
            if keys.get("stimulus") != "noise":  # which may be none of the options
                raise
            return guess(asked)
    if keys["benchmark"] == "msu":
        questions = keys.get("questions") or [{"text": keys["question"], "kind": keys.get("kind")}]
        return numbered(asked, [msu.answer(asked.music[0], one["text"], one["kind"]) for one in questions])
    try:
        answer = await anyio.to_thread.run_sync(lilybench.answer, asked, limiter=limiter)
    except (LilyPondError, SandboxError) as error:
        raise BaselineError(f"baseline/reader: {error}") from error
    return guess(asked) if answer is None else asked.worded(answer)
