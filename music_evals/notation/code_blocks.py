r"""The piece in a reply: which of its code blocks is the music that was asked for, or which lines if there is no block.

As in CommonMark, a fence is a line of three or more backticks or tildes, perhaps with a tag. Beyond CommonMark it may
be indented by any white space, and backticks may follow other text if the tag is one word. A block ends at the next
fence of as many of the same characters, also within a line, at the next fence with a tag, or at the end of the reply.

A block is music by its tag, or because it begins like music and holds some. The most complete block counts: a file
before a passage, one with the right tag before others, a closed one before one that was cut, the last one before
earlier ones. If no block holds music, the lines outside of blocks that begin like music are the piece.

``<answer>`` tags come first: if the last ones hold a piece, nothing outside of them counts.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from textwrap import dedent
from typing import Final, Literal, NamedTuple

Notation = Literal["lilypond", "abc"]

MAX_CHARACTERS: Final = 200_000  # characters of a reply that are read

_OPENING: Final = re.compile(
    r"(?<!`)(?P<ticks>`{3,})(?!`)(?P<tag>[^`\n]*)$|^[ \t]*+(?P<tildes>~{3,})(?P<info>[^\n]*)$", re.MULTILINE
)
_ONE_WORD: Final = re.compile(r"[ \t]*[\w.+-]*[ \t]*")
_TAGGED: Final = r"^[ \t]*+(?:`{3,}|~{3,})[ \t]*[\w.{]"
_ANSWER: Final = re.compile(r"<(?:final_)?answer>(.*?)(?:</(?:final_)?answer>|\Z)", re.DOTALL | re.IGNORECASE)
_WRAPPER: Final = re.compile(r"</?(?:(?:final_)?answer|final|response|output)>", re.IGNORECASE)


class _Form(NamedTuple):
    """How a notation is told from other text."""

    tag: re.Pattern[str]  # of a block
    begins: re.Pattern[str]  # a line with which music begins
    holds: Sequence[re.Pattern[str]]  # in music; the more of them, the more complete it is
    ends: re.Pattern[str]  # music, as far as nothing but other text follows


_FORMS: Final[Mapping[Notation, _Form]] = {
    "lilypond": _Form(
        tag=re.compile(r"\W*(?:lilypond|ly)\b", re.IGNORECASE),
        begins=re.compile(
            r"""^[ \t]*+(?:%|<<|\#[({]|\{(?!\s*["'}])|\\(?!documentclass|usepackage|begin|end)[a-zA-Z]"""
            r"""|"?[A-Za-z][\w.-]{0,99}"?[ \t]*=\s*(?:\\[a-zA-Z]|<<|\#|\{(?!\s*["'\d}])))""",
            re.MULTILINE,
        ),
        holds=(re.compile(r"\\(?:score|book|bookpart)\b"), re.compile(r"\{|<<|^\#\(", re.MULTILINE)),
        ends=re.compile(r".*(?:\}|>>)[ \t]*\n(?=[^\\#{}<>]*\Z)", re.DOTALL),
    ),
    "abc": _Form(
        tag=re.compile(r"\W*abc", re.IGNORECASE),
        begins=re.compile(r"^(?:%|[A-Z]:)", re.MULTILINE),
        holds=(re.compile(r"^K:", re.MULTILINE),),
        ends=re.compile(r"(?>.*?^K:).*?\n(?=[ \t]*(?:\n|\Z))", re.DOTALL | re.MULTILINE),
    ),
}


class _Block(NamedTuple):
    """A code block, and the text between the block before and this one."""

    ahead: str
    tag: str
    code: str
    is_closed: bool


def extract_code(reply: str, notation: Notation = "lilypond") -> str:
    r"""Return the music of a notation in a reply, or nothing if there is none; at most `MAX_CHARACTERS` are read.

    Example:
        >>> extract_code("```bash\nlilypond a.ly\n```\nHere it is: ```\n{ c4 }\n```\nEnjoy.")
        '{ c4 }\n'
        >>> extract_code("Of course.\n\nX:1\nK:C\nCDEF|\n\nEnjoy.", "abc")
        'X:1\nK:C\nCDEF|\n'
    """
    text = reply[:MAX_CHARACTERS].replace("\r\n", "\n")
    for stated in (*_ANSWER.findall(text)[-1:], _WRAPPER.sub("", text)):
        if code := _best_code(stated, _FORMS[notation]):
            return code
    return ""


def _best_code(text: str, form: _Form) -> str:
    """The most complete block of music, or else the music outside of blocks."""
    candidates = []
    *blocks, last = _blocks(text)
    for number, block in enumerate(blocks):
        code = block.code if block.is_closed else _music_in(block.code, form) or block.code
        has_tag = form.tag.match(block.tag) is not None
        completeness = _completeness(code, form)
        if has_tag or (completeness and form.begins.match(code.lstrip())):
            candidates.append((completeness, has_tag, block.is_closed, number, code))
    best = max(candidates, default=(0, ""))
    if best[0]:
        return str(best[-1])
    outside = "".join(block.ahead for block in (*blocks, last))
    return _music_in(outside, form) or str(best[-1])


def _blocks(text: str) -> Iterator[_Block]:
    """Yield the blocks of a text in order, and last an empty one with the text behind them."""
    position = ahead = 0
    while opening := _OPENING.search(text, position):
        position = opening.end()
        if not _opens(text, opening):
            continue
        fence = opening["ticks"] or opening["tildes"]
        closing = re.compile(f"(?P<tagged>{_TAGGED})|{fence}{fence[0]}*", re.MULTILINE).search(text, position)
        end = closing.start() if closing else len(text)
        code = dedent(text[position + 1 : end])
        yield _Block(text[ahead : opening.start()], opening["tag"] or opening["info"] or "", code, closing is not None)
        ahead = position = closing.end() if closing and not closing["tagged"] else end
    yield _Block(text[ahead:], "", "", True)


def _opens(text: str, opening: re.Match[str]) -> bool:
    """Whether a fence opens a block. With an odd number of fences ahead of it in the line, it closes one of them."""
    before = text[text.rfind("\n", 0, opening.start()) + 1 : opening.start()]
    if not before.strip():
        return True
    return len(re.findall("`{3,}", before)) % 2 == 0 and _ONE_WORD.fullmatch(opening["tag"] or "") is not None


def _music_in(text: str, form: _Form) -> str:
    """The lines from the first that begins like music, without other text behind the music; nothing without music."""
    begin = form.begins.search(text)
    if begin is None or not _completeness(text[begin.start() :], form):
        return ""
    music = text[begin.start() :]
    end = form.ends.match(music)
    return end[0] if end else music


def _completeness(code: str, form: _Form) -> int:
    return sum(pattern.search(code) is not None for pattern in form.holds)
