r"""The piece in a reply: which of its code blocks is LilyPond, or which lines if no block is.

As in CommonMark, a fence is a line of three or more backticks or tildes, perhaps with a tag. Beyond
CommonMark it may be indented by any white space, and backticks may follow other text if the tag is
one word. A block ends at the next such fence, also within a line, at the next fence with a tag, or
at the end of the reply.

A block is music by its tag, or because it begins like music and holds some. The most complete block
counts: a file before a passage, one with LilyPond's tag before others, a closed one before one that
was cut, the last one before earlier ones. If no block holds music, the lines outside of blocks that
begin like music are the piece.

``<answer>`` tags come first: if the last ones hold a piece, nothing outside of them counts.
"""

import re
from collections.abc import Iterator
from textwrap import dedent
from typing import NamedTuple

MAX_CHARACTERS = 200_000  # characters of a reply that are read

_BLOCK = re.compile(
    r"(?ms)(?:^[ \t]*+|(?<=[\s:])(?=`{3,}+[ \t]*+[\w.+-]*+[ \t]*+$))"
    r"(?P<fence>`{3,}+|~{3,}+)(?P<tag>[^`\n]*)(?:\n|\Z)(?P<code>.*?)"
    r"(?:(?P<end>(?=^[ \t]*+(?:`{3,}|~{3,})[ \t]*[\w.{])|(?P=fence)[`~]*)|\Z)"
)
# From a line that begins like music, without other text behind the last brace.
_MUSIC = re.compile(
    r"""(?m)^[ \t]*+(?:%|<<|\#[({]|\{(?!\s*["'}])"""
    r"""|\\(?!documentclass|usepackage|begin|end)[a-zA-Z]"""
    r"""|"?[A-Za-z][\w.-]{0,99}"?[ \t]*=\s*(?:\\[a-zA-Z]|<<|\#|\{(?!\s*["'\d}])))"""
    r"""(?s:.*(?:\}|>>)[ \t]*(?:\n|(?=`))(?=[^\\#{}<>]*\Z)|.*)"""
)
_PASSAGE = re.compile(r"(?m)\{|<<|^\#\(")
_ANSWER = re.compile(r"(?is)<(?:final_)?answer>(.*?)(?:</(?:final_)?answer>|\Z)")
_WRAPPER = re.compile(r"(?i)</?(?:(?:final_)?answer|final|response|output)>")


class _Candidate(NamedTuple):
    """Code that may be the piece; the largest is."""

    completeness: int  # 2 for a file, 1 for a passage
    is_outside: bool  # of all blocks
    is_tagged: bool
    is_closed: bool
    position: int
    code: str


def extract_code(reply: str) -> str:
    r"""Return the LilyPond code in a reply, or nothing; at most `MAX_CHARACTERS` are read.

    Example:
        >>> extract_code("```bash\nlilypond a.ly\n```\nHere it is: ```\n{ c4 }\n```\nEnjoy.")
        '{ c4 }\n'
    """
    text = reply[:MAX_CHARACTERS].replace("\r\n", "\n")
    for stated in (*_ANSWER.findall(text)[-1:], _WRAPPER.sub("", text)):
        if code := max(_candidates(stated)).code:
            return code
    return ""


def _candidates(text: str) -> Iterator[_Candidate]:
    outside = _music_in(_BLOCK.sub("", text))
    yield _Candidate(0, bool(outside), False, False, 0, outside)
    for block in _BLOCK.finditer(text):
        code, is_closed = dedent(block["code"]), block["end"] is not None
        if not is_closed:
            code = _music_in(code) or code
        is_tagged = re.match(r"(?i)\W*(?:lilypond|ly)\b", block["tag"]) is not None
        completeness = _completeness(code)
        if is_tagged or (completeness and _MUSIC.match(code.lstrip())):
            yield _Candidate(completeness, False, is_tagged, is_closed, block.start(), code)


def _music_in(text: str) -> str:
    music = _MUSIC.search(text)
    return music[0] if music and _completeness(music[0]) else ""


def _completeness(code: str) -> int:
    return bool(_PASSAGE.search(code)) + bool(re.search(r"\\(?:score|book|bookpart)\b", code))
