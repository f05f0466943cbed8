"""Where a reply gives an answer, and the lines of the answer without the marks of its layout.

A statement goes from its label to the end, or to prose that follows. Its layout may be one line,
wrapped lines, bullets, numbers, a table, JSON, bold or a code fence; kinds of answers read lines.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from music_evals.scorers.answer_kinds.kind import AnswerKind
from music_evals.scorers.readers.checking import after_label, statements
from music_evals.scorers.readers.cleaning import read_json
from music_evals.scorers.readers.words import Vocabulary, in_digits

_BULLET = re.compile(r"^\s*(?:(?:[-*+•·▪◦–]|\\item)\s+|[>|]\s*)+")
_NUMBER = re.compile(  # without the numbers of sections: "Verse 1"
    r"^\(?(?:(?!(?i:verse|.{0,4}chorus|bridge|solo))[^\W\d_]{2,12}\s?#?|#)?(\d{1,4})(?:[.):：]\)?\s+|\s?[–-]\s+|\s*\|\s*)"
)
_END = re.compile(
    rf"\n(?:[^\S\n]{{0,80}}\n){{1,20}}+(?!\s*(?:{_BULLET.pattern}|{_NUMBER.pattern}))", re.MULTILINE
)
# A number, unless it counts the lines of a list.
_DIGITS = re.compile(r"(?m)(?<![\w.,])\d{1,2}(?![.,]?\w)(?!(?<=^\d)[.)] )")
_COLUMNS = 2  # of a table that are read as they are
_ANSWERS = ("answer", "final_answer", "value", "result", "response", "output")  # fields of JSON


def marked_statements(text: str, kind: AnswerKind) -> Iterator[str]:
    """Yield what a reply marks as its answer, the last first: of a list all, else one line
    first.
    """
    array = re.search(r"(?ms)^\s*[\[{].*[\]}]", text)
    if array and read_json(array[0]) is not None:
        yield array[0]
    if kind.is_long:
        yield after_label(text)
        return
    for statement in statements(text, marked_only=True):
        block = _block(statement)
        line = statement.strip().partition("\n")[0]
        yield from (block, line) if kind.is_list or line[:1] in "|`" else (line, block)


def answer_in_line(reply: str, options: Sequence[str]) -> str:
    """Return a reply with its answer in the line of its label, and labels as the options spell
    them; where those are numbers in words, digits are too.

    >>> answer_in_line("It swings.\\n\\n**Final Answer:**\\n\\n1. hip hop", ["hip-hop"])
    'It swings.\\n\\n**Final Answer:**hip-hop'
    >>> answer_in_line("Final Answer: 2 flutes", ["one", "two"])
    'Final Answer: two flutes'
    """
    words = {in_digits(option): option for option in options}
    reply = _DIGITS.sub(lambda match: words.get(match[0], match[0]), reply)
    reply = Vocabulary([(option, option) for option in options]).respelled(reply)
    below = after_label(reply)
    block = _block(below)
    if "\n" not in below[: below.find(block)]:
        return reply
    return reply.removesuffix(below) + laid_out(block)


def unmarked_statements(text: str, kind: AnswerKind) -> Iterator[str]:
    """Yield where a reply without a label may have its answer; a list may follow a colon."""
    if kind.is_list:
        yield _block(text)
    yield from [text] if kind.is_long else statements(text)


def _block(text: str) -> str:
    """The lines of a text up to a blank line that another text follows."""
    return _END.split(text.strip(), maxsplit=1)[0]


def laid_out(statement: str, column: str = "") -> str:
    """Return the lines of a statement without the marks of its layout.

    Args:
        statement: what a reply marks as its answer.
        column: a pattern of the heading of the column, or the name of the field, with the answer.

    >>> laid_out("| # | note |\\n|---|---|\\n| 1 | C4 |\\n| 2 | E4 |")
    'C4\\nE4'
    >>> laid_out('{"tags": ["pop"]}')
    'pop'
    """
    text = statement.strip()
    content = read_json(text)
    pattern = re.compile(column or "$.", re.IGNORECASE)
    if content is not None:
        with suppress(RecursionError):
            return _values(content, pattern)
    lines = re.sub(r"\*\*|__|`|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)", "", text).splitlines()
    if len(lines) > 2 and re.fullmatch(r"[\s|:]*-[\s|:-]*", lines[1]):
        lines = _column(lines, pattern)
    elif len(lines) == 1:
        lines = re.sub(r"(?<=\S)[ ,;]+(?=\d{1,3}\)\s)", "\n", lines[0]).splitlines()
    return "\n".join(_without_numbers([_BULLET.sub("", line).strip() for line in lines]))


def _column(lines: list[str], own: re.Pattern[str]) -> list[str]:
    """The rows of a table; of many columns only the one with the answer, if one has its heading."""
    heading, _, *rows = [list(map(str.strip, line.strip().strip("|").split("|"))) for line in lines]
    places = [place for place, name in enumerate(heading) if own.search(name)]
    if len(places) == 1 and len(heading) > _COLUMNS:
        rows = [row[places[0] :][:1] for row in rows]
    return [" | ".join(row) for row in rows]


def _without_numbers(lines: list[str]) -> list[str]:
    """Lines without the numbers 1, 2, 3 … ahead of them."""
    matches = filter(None, map(_NUMBER.match, lines))
    numbers = [int(match[1]) for match in matches]
    first = min([1, *numbers])
    if numbers != list(range(first, first + len(numbers))) or numbers == [0]:
        return lines
    return [_NUMBER.sub("", line) for line in lines]


def _values(content: Any, own: re.Pattern[str]) -> str:
    """The values of an array, of the fields with the answer, or of all fields, a line each."""
    if isinstance(content, list):
        return "\n".join(_values(row, own).replace("\n", ", ") for row in content)
    if not isinstance(content, dict):
        return str(content)
    answers = [content[name] for name in content if name in _ANSWERS]
    answers = answers or [value for name, value in content.items() if own.search(name)]
    answers = answers or [value for value in content.values() if isinstance(value, list)]
    if answers or len(content) == 1:
        return _values([*answers, *content.values()][0], own)
    return "\n".join(f"{name}: {_values(value, own)}" for name, value in content.items())
