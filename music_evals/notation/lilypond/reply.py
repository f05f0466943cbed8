r"""The LilyPond code in a model's reply, made ready to compile as the benchmark's authors do.

They take the first fenced block if there is one, and add ``\version "2.24.4"`` and ``\language "nederlands"`` where the
code has none. The LilyPond that comes with this package is 2.24.3, and refuses a text that asks for a later one. So
`VERSION` is what is added here, and a text that states 2.24.4 states `VERSION` afterwards: within a stable series the
language stays the same. A later version stands as it is, for theirs refuses it too.
"""

import re
from itertools import pairwise
from typing import Final

from music_evals.notation.lilypond.syntax import Kind, code_tokens
from music_evals.notation.lilypond.upgrade import Edit, edited

MAX_CHARACTERS: Final = 200_000  # how much of a reply is looked at
VERSION: Final = "2.24.3"
PUBLISHED_VERSION: Final = "2.24.4"
LANGUAGE: Final = "nederlands"

_FENCE: Final = re.compile(r"^[ \t]*(?:(`{3,})[^`\n]*|(~{3,})[^\n]*)$", re.MULTILINE)


def extract_code(reply: str) -> str:
    """Take the code out of a reply: the first fenced block, whatever its tag, or the whole reply where there is none.

    A fence is, as in CommonMark, a line of three or more backticks or tildes, which may go on with a tag; it may be
    indented by any white space. The block ends where as many of the same come again, on a line of their own or not: no
    LilyPond code has them. It goes to the end where none do, as in a reply that was cut off. What is beyond
    `MAX_CHARACTERS` is dropped.
    """
    reply = reply[:MAX_CHARACTERS].replace("\r\n", "\n")
    if (opening := _FENCE.search(reply)) is None:
        return reply
    block, _, _ = reply[opening.end() + 1 :].partition(opening[1] or opening[2])
    return block


def complete_code(code: str) -> str:
    """Add the version and the language of note names where code does not state them.

    They stand ahead of the code in its first line, so that lines keep their numbers in LilyPond's messages. What is in
    comments and strings does not state anything. A version of 2.24.4 is lowered, as the module says.
    """
    found = code_tokens(code)
    commands = {token.text for token in found if token.kind is Kind.COMMAND}
    added = [
        f'{command} "{value}" '
        for command, value in (("\\version", VERSION), ("\\language", LANGUAGE))
        if command not in commands
    ]
    lowered: list[Edit] = [
        (after.start, after.end, f'"{VERSION}"')
        for token, after in pairwise(found)
        if token.text == "\\version" and after.text.lstrip("#") == f'"{PUBLISHED_VERSION}"'
    ]
    return "".join([*added, edited(code, lowered)])
