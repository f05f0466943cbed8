"""The ceiling: answers that are computed from the music."""

import anyio
import anyio.to_thread

from music_evals.baselines import lilybench, msu, muse
from music_evals.baselines.asking import BaselineError, Request
from music_evals.baselines.chance import guess, numbered
from music_evals.notation import theory_chains
from music_evals.notation.lilypond.compiler import LilyPondError
from music_evals.notation.lilypond.sandbox import SandboxError
from music_evals.solvers.symbolic import muse_ten, music

TASKS = (
    *(f"muse {task}" for task in music.SOLVERS),
    *(f"muse_ten {task}" for task in muse_ten.SOLVERS),
    *(f"muse_ten {task}" for task in muse.WITHOUT_SOLVER),
    *("msu textual", "msu visual"),
    *("lilybench bar_count", "lilybench metadata_qa"),
    *("abc_eval bar_count", "abc_eval metadata_qa"),
)
"""Tasks whose music the reader can read."""

_CHAINS = "chains"  # the kind of the theory questions that it can read


def check(request: Request) -> None:
    """Check that the reader can read the music of a request; `BaselineError` if not."""
    keys = request.keys
    if keys.get("stimulus") == "none":
        return
    is_readable = request.task in TASKS and (request.music or "refused" in keys)
    if is_readable or keys.get("kind") == _CHAINS:
        return
    notation = f" from {keys['notation']}" if request.task in TASKS and "notation" in keys else ""
    raise BaselineError(
        f"baseline/reader cannot answer {request.task}{notation}; it reads MIDI text (muse, "
        "muse_ten), ABC (msu textual, msu visual with abc=true, abc_eval bar_count, metadata_qa) "
        "and LilyPond (lilybench bar_count, metadata_qa). To leave other tasks of a file out, "
        "name one, as in evals/msu.py@textual, or use `music-evals run`, which leaves them out; "
        "valid for other tasks: baseline/chance, baseline/majority"
    )


async def read(request: Request, limiter: anyio.CapacityLimiter) -> str:
    """Answer a request from its music; by chance, or with ``Unknown``, if there is none or it
    cannot be read.

    Args:
        request: the request; `BaselineError` if `check` refuses it, or LilyPond is missing.
        limiter: bounds how many processes of LilyPond run at a time.
    """
    check(request)
    keys = request.keys
    if keys.get("stimulus") == "none":
        return guess(request)
    if keys.get("kind") == _CHAINS:
        names = theory_chains.solve(keys["question"]) or ()
        letters = [chr(65 + at) for at, option in enumerate(keys["options"]) if option in names]
        return request.worded(letters[0]) if letters else guess(request)
    if keys["benchmark"] in ("muse", "muse_ten"):
        try:
            return muse.read(request)
        except ValueError:
            if keys.get("stimulus") != "noise":  # noise may fit no option
                raise
            return guess(request)
    if keys["benchmark"] == "msu":
        questions = keys.get("questions") or [{"text": keys["question"], "kind": keys.get("kind")}]
        score = request.music[0]
        answers = [msu.answer(score, question["text"], question["kind"]) for question in questions]
        return numbered(request, answers)
    try:
        answer = await anyio.to_thread.run_sync(lilybench.answer, request, limiter=limiter)
    except (LilyPondError, SandboxError) as error:
        raise BaselineError(f"baseline/reader: {error}") from error
    return guess(request) if answer is None else request.worded(answer)
