r"""A piece that a model wrote: the LilyPond code in its reply, made ready as the benchmark's authors do, and compiled.

They take the first fenced block if there is one, and add ``\version "2.24.4"`` and ``\language "nederlands"`` where the
code has none. The LilyPond that comes with this package is 2.24.3, and refuses a text that asks for a later one. So
`VERSION` is what is added here, and a text that states 2.24.4 states `VERSION` afterwards: within a stable series the
language stays the same. A later version stands as it is, for theirs refuses it too.

Source: arXiv 2606.08722, section 3.3, and the code published with it: a piece counts as compiled when LilyPond ends
with status 0 and leaves a MIDI file within 15 seconds; one whose ``\score`` has no ``\midi`` fails. Of several MIDI
files the first is the piece. Here the seconds are of CPU time, so that no score depends on what else the machine does.
"""

import io
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import mido

from music_evals.notation.lilypond.compiler import Compiled, compile_text, lilypond_cache
from music_evals.notation.lilypond.sandbox import Limits
from music_evals.notation.lilypond.syntax import Kind, code_tokens, edited

LIMITS: Final = Limits(seconds=15)  # what a piece may use up
MAX_MESSAGES: Final = 4_000  # characters of LilyPond's messages that are kept
MAX_CHARACTERS: Final = 200_000  # how much of a reply is looked at
VERSION: Final = "2.24.3"
PUBLISHED_VERSION: Final = "2.24.4"
LANGUAGE: Final = "nederlands"

_FENCE: Final = re.compile(r"^[ \t]*(?:(`{3,})[^`\n]*|(~{3,})[^\n]*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Written:
    """A piece as it was written, and what LilyPond made of it."""

    code: str  # as it was written; what was compiled is its `complete_code`
    midi: bytes | None  # None where the piece did not compile
    problem: str | None  # why it did not compile, in one line; None where it did
    messages: str  # LilyPond's warnings and errors, in which the text is score.ly; cut to `MAX_MESSAGES`
    is_measured: bool = True  # whether the problem is the piece's, and not the machine's


def compile_reply(reply: str) -> Written:
    """Take the LilyPond out of a reply, and compile it in the sandbox."""
    code = extract_code(reply)
    if not code.strip():
        return Written("", None, "the reply holds no LilyPond", "")
    compiled = compile_text(complete_code(code), limits=LIMITS, cache=lilypond_cache())
    problem = why_not(compiled)
    if problem and len(reply) > MAX_CHARACTERS:
        problem = f"the reply was cut after {MAX_CHARACTERS} characters; {problem}"
    midi = None if problem else compiled.midi[0]
    return Written(code, midi, problem, compiled.messages[:MAX_MESSAGES], compiled.is_measured)


def why_not(compiled: Compiled) -> str | None:
    r"""Return why a text does not count as compiled, in one line; None where it counts.

    Example:
        >>> why_not(Compiled(0, None, "", midi=(b"MThd",)))
        'what was left as a MIDI file is none'
        >>> why_not(Compiled(0, None, ""))
        'LilyPond made no MIDI file: no \\score block with music in it holds \\midi'
    """
    if compiled.problem is not None:
        return compiled.problem
    if not compiled.midi:
        return r"LilyPond made no MIDI file: no \score block with music in it holds \midi"
    # Code can write files of its own, under whatever names.
    try:
        mido.MidiFile(file=io.BytesIO(compiled.midi[0]), clip=True)
    except Exception:  # whatever a reader meets in a file that is none
        return "what was left as a MIDI file is none"
    return None


def extract_code(reply: str) -> str:
    """Take the first fenced block out of a reply, or the whole reply where there is none; cut to `MAX_CHARACTERS`.

    A fence is, as in CommonMark, a line of three or more backticks or tildes, which may go on with a tag; it may be
    indented by any white space. The block ends where as many of the same come again, on a line of their own or not, or
    at the reply's end.
    """
    reply = reply[:MAX_CHARACTERS].replace("\r\n", "\n")
    if (opening := _FENCE.search(reply)) is None:
        return reply
    block, _, _ = reply[opening.end() + 1 :].partition(opening[1] or opening[2])
    return block


def complete_code(code: str) -> str:
    """Add the version and the language of note names where code does not state them, and lower a version of 2.24.4.

    They stand in the code's first line, so that lines keep their numbers in LilyPond's messages.
    """
    found = code_tokens(code)
    commands = {token.text for token in found if token.kind is Kind.COMMAND}
    added = [
        f'{command} "{value}" '
        for command, value in (("\\version", VERSION), ("\\language", LANGUAGE))
        if command not in commands
    ]
    lowered = [
        (after.start, after.end, f'"{VERSION}"')
        for token, after in pairwise(found)
        if token.text == "\\version" and after.text.lstrip("#") == f'"{PUBLISHED_VERSION}"'
    ]
    return "".join([*added, edited(code, lowered)])
