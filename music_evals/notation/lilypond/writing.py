r"""A piece that a model wrote: the LilyPond code in its reply, made ready to be compiled, and compiled.

`Protocol` says how. ``paper`` does as the benchmark's authors do: the inside of the first block between two fences,
the code without a fence that opens it, or the whole reply; ahead of it ``\version "2.24.4"`` and ``\language
"nederlands"``, a line each, where these words occur nowhere in it. It counts as compiled when LilyPond ends with status
0 within 15 seconds and leaves a MIDI file, whatever is in it. ``strict`` takes fences in more places, adds the two
commands without lines of their own, and wants a MIDI file that can be read and holds a note. A ``\score`` without
``\midi`` fails under both. Of several MIDI files the first is the piece.

The LilyPond that comes with this package is 2.24.3, and refuses a text that asks for a later one. So what is compiled
states `VERSION` where the text states 2.24.4: within a stable series the language stays the same. A later version
stands as it is, for the authors' refuses it too. The seconds are of CPU time, so that no score depends on what else the
machine does.

Source: arXiv 2606.08722, section 3.3, and the code published with it.
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
from music_evals.notation.midi.descriptors import Protocol

LIMITS: Final = Limits(seconds=15)  # what a piece may use up
MAX_MESSAGES: Final = 4_000  # characters of LilyPond's messages that are kept
MAX_CHARACTERS: Final = 200_000  # how much of a reply is looked at
VERSION: Final = "2.24.3"
PUBLISHED_VERSION: Final = "2.24.4"
LANGUAGE: Final = "nederlands"

# A fence at the end of a line: of backticks, also after other text; of tildes, on a line of its own.
_FENCE: Final = re.compile(r"(?<!`)(`{3,})(?!`)([^`\n]*)$|^[ \t]*(~{3,})([^\n]*)$", re.MULTILINE)
_TAG: Final = re.compile(r"[ \t]*[\w.+-]*[ \t]*")
_PUBLISHED_FENCE: Final = re.compile(r"```[\w+-]*[^\S\n]*\n", re.ASCII)
_PUBLISHED_FENCE_ALONE: Final = re.compile(rf"^[^\S\n]*{_PUBLISHED_FENCE.pattern}", re.ASCII | re.MULTILINE)
_MUSIC: Final = re.compile(r"\{|<<")  # what music never lacks


@dataclass(frozen=True, slots=True)
class Written:
    """A piece as it was written, and what LilyPond made of it."""

    code: str  # the text that is judged; what was compiled is its `complete_code`
    midi: bytes | None  # None where the piece did not compile
    problem: str | None  # why it did not compile, in one line; None where it did
    messages: str  # LilyPond's warnings and errors, in which the text is score.ly; cut to `MAX_MESSAGES`
    is_measured: bool = True  # whether the problem is the piece's, and not the machine's
    has_notes: bool = False  # whether it compiled to a MIDI file that can be read and holds a note


def compile_reply(reply: str, protocol: Protocol = "strict") -> Written:
    """Take the LilyPond out of a reply, and compile it in the sandbox; the module says how in each protocol."""
    found = published_code(reply) if protocol == "paper" else extract_code(reply)
    code = published_text(found) if protocol == "paper" else found
    if not found.strip():
        return Written(code.strip(), None, "the reply holds no LilyPond", "")
    compiled = compile_text(complete_code(code), limits=LIMITS, cache=lilypond_cache())
    unsound = why_not(compiled)
    problem = None if protocol == "paper" and compiled.succeeded and compiled.midi else unsound
    if problem and len(reply) > MAX_CHARACTERS:
        problem = f"the reply was cut after {MAX_CHARACTERS} characters; {problem}"
    midi = None if problem else compiled.midi[0]
    return Written(code, midi, problem, compiled.messages[:MAX_MESSAGES], compiled.is_measured, unsound is None)


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
        tracks = mido.MidiFile(file=io.BytesIO(compiled.midi[0]), clip=True).tracks
    except Exception:  # whatever a reader meets in a file that is none
        return "what was left as a MIDI file is none"
    if not any(one.type == "note_on" and one.velocity for track in tracks for one in track):
        return "the MIDI file holds no note"
    return None


def extract_code(reply: str) -> str:
    """Take the first fenced block out of a reply, or the whole reply where there is none; cut to `MAX_CHARACTERS`.

    A fence is, as in CommonMark, a line of three or more backticks or tildes, which may go on with a tag; it may be
    indented by any white space, and one of backticks may stand behind other text, with one word for its tag. The block
    ends where as many of the same come again, on a line of their own or not, or at the reply's end. A fence without a
    tag that has music before it and none in its block ends a block whose opening is missing.

    Example:
        >>> extract_code("Here it is: ```lilypond\\n{ c4 }\\n```\\nEnjoy.")
        '{ c4 }\\n'
        >>> extract_code("{ c4 }\\n```\\nEnjoy.")
        '{ c4 }\\n'
    """
    reply = reply[:MAX_CHARACTERS].replace("\r\n", "\n")
    for opening in _FENCE.finditer(reply):
        before = reply[reply.rfind("\n", 0, opening.start()) + 1 : opening.start()]
        tag = opening[2] or opening[4] or ""
        # An odd number of fences within a line: the last one ends what the one before begins.
        if before.strip() and (len(re.findall("`{3,}", before)) % 2 or not _TAG.fullmatch(tag)):
            continue
        block, _, _ = reply[opening.end() + 1 :].partition(opening[1] or opening[3])
        is_closing = not tag.strip() and not _MUSIC.search(block) and _MUSIC.search(reply, 0, opening.start())
        return reply[: opening.start()] if is_closing else block
    return reply


def published_code(reply: str) -> str:
    """Take the code out of a reply as the published code does; cut to `MAX_CHARACTERS`.

    It is what stands between the first three backticks whose line holds nothing else behind them but a tag, and the
    next three that begin a line; else the reply without the first line that is such an opening, and without the blank
    lines ahead of it. White space at the ends is dropped.

    Example:
        >>> published_code("Here it is: ```lilypond\\n{ c4 }\\n```\\nEnjoy."), published_code("{ c4 }\\n```\\nEnjoy.")
        ('{ c4 }', '{ c4 }\\nEnjoy.')
    """
    reply = reply[:MAX_CHARACTERS].strip()
    opening = _PUBLISHED_FENCE.search(reply)
    # The line feed that ends an opening is none before the closing fence.
    end = -1 if opening is None else reply.find("\n```", opening.end())
    if opening is not None and end >= 0:
        return reply[opening.end() : end].strip()
    if (alone := _PUBLISHED_FENCE_ALONE.search(reply)) is None:
        return reply
    ahead = reply[: alone.start()]
    last = ahead.find("\n", len(ahead.rstrip()))  # the end of the last line that is not blank
    return (ahead[: last + 1] + reply[alone.end() :]).strip()


def published_text(code: str) -> str:
    r"""Return the text that the authors compile and embed: code with the lines that it lacks ahead of it, stripped.

    Example:
        >>> published_text(r"{ c4 } % \version")
        '\\language "nederlands"\n{ c4 } % \\version'
    """
    lines = (("\\version", PUBLISHED_VERSION), ("\\language", LANGUAGE))
    return "".join([*(f'{word} "{value}"\n' for word, value in lines if word not in code), code]).strip()


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
