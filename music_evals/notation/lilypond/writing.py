r"""What a model wrote when asked for a piece: its LilyPond, and what LilyPond makes of that.

Source: arXiv 2606.08722, section 3.3, and the code published with it: a piece counts as compiled when LilyPond ends
with status 0 and leaves a MIDI file within 15 seconds; one whose ``\score`` has no ``\midi`` fails. Of several MIDI
files the first is the piece.
"""

from dataclasses import dataclass
from typing import Final

from music_evals.notation.lilypond.compiler import Compiled, compile_text, lilypond_cache
from music_evals.notation.lilypond.reply import complete_code, extract_code
from music_evals.notation.lilypond.sandbox import Limits

LIMITS: Final = Limits(seconds=15.0)  # what a piece may use up; the seconds are the paper's
MAX_MESSAGES: Final = 4_000  # characters of LilyPond's messages that are kept


@dataclass(frozen=True, slots=True)
class Written:
    """A piece as it was written, and what LilyPond made of it."""

    code: str  # as it was written; what was compiled is its `reply.complete_code`
    midi: bytes | None  # None where the piece did not compile
    problem: str | None  # why it did not compile, in one line; None where it did
    messages: str  # LilyPond's warnings and errors, in which the text is score.ly; cut to `MAX_MESSAGES`


def compile_reply(reply: str) -> Written:
    """Take the LilyPond out of a reply, and compile it in the sandbox."""
    code = extract_code(reply)
    if not code.strip():
        return Written("", None, "the reply holds no LilyPond", "")
    compiled = compile_text(complete_code(code), limits=LIMITS, cache=lilypond_cache())
    problem = why_not(compiled)
    return Written(code, None if problem else compiled.midi[0], problem, compiled.messages[:MAX_MESSAGES])


def why_not(compiled: Compiled) -> str | None:
    r"""Return why a text does not count as compiled, in one line; None where it counts.

    Example:
        >>> why_not(Compiled(0, None, "", midi=(b"MThd",)))
        >>> why_not(Compiled(0, None, ""))
        'LilyPond made no MIDI file: no \\score block with music in it holds \\midi'
    """
    if compiled.problem is not None:
        return compiled.problem
    if not compiled.midi:
        return r"LilyPond made no MIDI file: no \score block with music in it holds \midi"
    # Code can write files of its own, under whatever names.
    return None if compiled.midi[0].startswith(b"MThd") else "what was left as a MIDI file is none"
