r"""A piece that a model wrote: takes the LilyPond code out of its reply, completes it and compiles
it.

There are two protocols. ``paper`` does as the benchmark's authors do. The code is the inside of the
first block between two fences, or else the reply without a line that opens a fence, or else the
whole reply. ``\version "2.24.4"`` and ``\language "nederlands"``, each on a line of its own, are
put ahead of code in which these words do not occur. A piece counts as compiled if LilyPond ends
with status 0 within 15 seconds and leaves a MIDI file, whatever is in it.

``strict`` takes the piece by `code_blocks`, and puts the two commands into the first line. The MIDI
file must be readable and hold a note. A ``\score`` without ``\midi`` fails under both protocols. If
there are several MIDI files, the first one is the piece.

The LilyPond of this package is 2.24.3, and refuses a text that states a later version. So 2.24.4 is
replaced by `VERSION`: within a stable series the language stays the same. ``strict`` replaces any
later version, and says so if the piece then fails; ``paper`` does not, since the authors' LilyPond
refuses them too. The seconds are of CPU time, so that no score depends on the load of the machine.

Source: arXiv 2606.08722, section 3.3, and the code published with it.
"""

import io
import re
from dataclasses import dataclass

import mido

from music_evals.notation.code_blocks import MAX_CHARACTERS, extract_code
from music_evals.notation.lilypond.compiler import Compiled, compile_text, lilypond_cache
from music_evals.notation.lilypond.sandbox import Limits
from music_evals.notation.lilypond.syntax.header import stated_versions
from music_evals.notation.lilypond.syntax.lexer import Kind, tokenize
from music_evals.notation.midi.descriptors import Protocol

LIMITS = Limits(seconds=15)  # of a piece
MAX_MESSAGES = 4_000  # characters of LilyPond's messages that are kept
VERSION = "2.24.3"
PUBLISHED_VERSION = "2.24.4"
LANGUAGE = "nederlands"

_VERSION_FORM = re.compile(r"(?a)[0-9]\.[0-9]{1,2}(?:\.[0-9]{1,3}){0,2}")
_PUBLISHED_FENCE = r"```[\w+-]*[^\S\n]*\n"


@dataclass(frozen=True, slots=True)
class Written:
    """The code of a piece, and the result of compiling it."""

    code: str  # the text that is judged; its `complete_code` is compiled
    midi: bytes | None  # None if the piece did not compile
    problem: str | None  # why it did not compile, in one line; None if it did
    messages: (
        str  # LilyPond's warnings and errors, in which the text is score.ly; cut to `MAX_MESSAGES`
    )
    is_measured: bool = True  # False if the problem is the machine's doing, not the piece's
    has_notes: bool = False  # whether it compiled to a MIDI file that can be read and holds a note


def compile_reply(reply: str, protocol: Protocol = "strict") -> Written:
    """Take the LilyPond code out of a reply and compile it in the sandbox, by the protocol as
    above.
    """
    is_paper = protocol == "paper"
    extracted = published_code(reply) if is_paper else extract_code(reply)
    code = published_text(extracted) if is_paper else extracted
    if not extracted.strip():
        return Written(code.strip(), None, "the reply holds no LilyPond", "")
    compiled = compile_text(complete_code(code, protocol), limits=LIMITS, cache=lilypond_cache())
    strict_problem = why_not(compiled)
    if is_paper:
        problem = None if compiled.succeeded and compiled.midi else strict_problem
    else:
        problem = strict_problem and f"{_version_note(code)}{strict_problem}"
    if problem and len(reply) > MAX_CHARACTERS:
        problem = f"the reply was cut after {MAX_CHARACTERS} characters; {problem}"
    midi = None if problem else compiled.midi[0]
    return Written(
        code,
        midi,
        problem,
        compiled.messages[:MAX_MESSAGES],
        compiled.is_measured,
        strict_problem is None,
    )


def why_not(compiled: Compiled) -> str | None:
    r"""Return why a text does not count as compiled under ``strict``, in one line; None if it
    counts.

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
    # A program in the text can write any file under the name of a MIDI file.
    try:
        tracks = mido.MidiFile(file=io.BytesIO(compiled.midi[0]), clip=True).tracks
    except Exception:  # mido passes on all errors of its reader
        return "what was left as a MIDI file is none"
    if not any(
        message.type == "note_on" and message.velocity for track in tracks for message in track
    ):
        return "the MIDI file holds no note"
    return None


def published_code(reply: str) -> str:
    """Return the code of a reply as the published code reads it; cut to `MAX_CHARACTERS`.

    The block begins after the first three backticks with nothing but a tag behind them in their
    line, and ends at the next three that begin a line. If nothing closes it, the code is the reply
    without the first line that is only such an opening, and without the blank lines ahead of it.
    White space at both ends is dropped.

    Example:
        >>> published_code("Here it is: ```lilypond\\n{ c4 }\\n```\\nEnjoy."), published_code(
        ...     "{ c4 }\\n```\\nEnjoy.")
        ('{ c4 }', '{ c4 }\\nEnjoy.')
    """
    reply = reply[:MAX_CHARACTERS].strip()
    opening = re.search(rf"(?a){_PUBLISHED_FENCE}", reply)
    # The line feed at the end of an opening does not count as the one before a closing fence.
    end = -1 if opening is None else reply.find("\n```", opening.end())
    if opening is not None and end >= 0:
        return reply[opening.end() : end].strip()
    alone = re.search(rf"(?am)^[^\S\n]*{_PUBLISHED_FENCE}", reply)
    if alone is None:
        return reply
    ahead = reply[: alone.start()]
    # The end of the last line that is not blank.
    end_of_text = ahead.find("\n", len(ahead.rstrip()))
    return (ahead[: end_of_text + 1] + reply[alone.end() :]).strip()


def published_text(code: str) -> str:
    r"""Return the text that the authors compile and embed: the lines that the code lacks, and the
    code, stripped.

    Example:
        >>> published_text(r"{ c4 } % \version")
        '\\language "nederlands"\n{ c4 } % \\version'
    """
    lines = (("\\version", PUBLISHED_VERSION), ("\\language", LANGUAGE))
    return "".join(
        [*(f'{word} "{value}"\n' for word, value in lines if word not in code), code]
    ).strip()


def complete_code(code: str, protocol: Protocol = "strict") -> str:
    """Add the version and the language of note names if they are not stated; lower a newer version.

    Both go into the first line of the code, so that LilyPond's messages keep the numbers of its
    lines. ``paper`` lowers a version of 2.24.4 only.
    """
    commands = {token.text for token in tokenize(code) if token.kind is Kind.COMMAND}
    for version, stated in [*stated_versions(code)][::-1]:
        if stated == PUBLISHED_VERSION or (protocol == "strict" and _is_newer(stated)):
            code = f'{code[: version.start]}"{VERSION}"{code[version.end :]}'
    for command, value in (("\\language", LANGUAGE), ("\\version", VERSION)):
        if command not in commands:
            code = f'{command} "{value}" {code}'
    return code


def _is_newer(version: str) -> bool:
    if not _VERSION_FORM.fullmatch(version):
        return False
    return [*map(int, version.split("."))] > [*map(int, VERSION.split("."))]


def _version_note(code: str) -> str:
    """What the stated version has to do with a failure; nothing if it is not newer."""
    for _, stated in stated_versions(code):
        if not _VERSION_FORM.fullmatch(stated):
            return f"the version that it states, {stated[:40]!r}, is none of LilyPond; "
        if _is_newer(stated) and stated != PUBLISHED_VERSION:
            return f"it states LilyPond {stated}, newer than the {VERSION} that judged it; "
    return ""
