"""Where a reply gives an answer, and the lines of the answer without the marks of its layout.

A statement goes from its label to the end, or to prose that follows. Its layout may be one line,
wrapped lines, bullets, numbers, a table, JSON, bold or a code fence; kinds of answers read lines.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from music_evals.scorers.readers.checking import after_label, statements

_FENCE = re.compile(r"(?m)^[ \t]*(?:```|~~~)[\w-]*[ \t]*$\n?")
_EMPHASIS = re.compile(r"\*\*|__|`|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)")
_BULLET = re.compile(r"^\s*(?:(?:[-*+•·▪◦–]|\\item)\s+|[>|]\s*)+")
_NUMBER = re.compile(r"\(?(?:[^\W\d_]{2,12}\s?#?|#)?(\d{1,4})(?:[.):：]\)?\s+|\s?[–-]\s+|\s*\|\s*)")
_RULE = re.compile(r"[\s|:-]*-{2}[\s|:-]*")
_LEAD = re.compile(r"(?m)^.{0,200}[:：]\W{0,4}\n+")
_HEADING = re.compile(r"\W{0,4}[A-Z][\w ]{2,30}[:：]")
_PIECES = re.compile(r"[,;:|→]|\sand\s|\s[–-]\s")
_WORDS_OF_PROSE = 5
_ANSWERS = ("answer", "final_answer", "value", "result", "response", "output")  # fields of JSON


def marked_statements(text: str, *, is_list: bool, is_long: bool) -> Iterator[str]:
    """Yield what a reply marks as its answer, the last first; of a list all, else one line first.

    >>> [*marked_statements("Final Answer:\\n- up\\n- down", is_list=True, is_long=False)]
    ['- up\\n- down']
    """
    if is_long:
        yield after_label(text)
        return
    start, end = re.search(r"(?m)^\s*[\[{]", text), max(text.rfind("]"), text.rfind("}")) + 1
    if start and _from_json(text[start.start() : end]) is not None:
        yield text[start.start() : end]
    for statement in statements(text, marked_only=True):
        block, line = _block(statement), statement.strip().partition("\n")[0]
        yield from (block, line) if is_list else (line, block)


def unmarked_statements(text: str, *, is_list: bool, is_long: bool) -> Iterator[str]:
    """Yield where a reply without a label may have its answer; a list may follow a colon."""
    if is_long:
        yield text
        return
    if is_list:
        leads = [*_LEAD.finditer(text)]
        yield from (_block(text[lead.end() :]) for lead in leads[-1:])
        yield _block(text)
    yield from statements(text)


def _block(text: str) -> str:
    """The lines of a text up to prose."""
    lines, is_new = [], False
    for line in text.strip().splitlines():
        is_item = _BULLET.match(line) or _NUMBER.match(line)
        is_prose = not is_item and (_is_prose(line) or (is_new and _HEADING.match(line)))
        if lines and is_prose:
            break
        is_new = not line.strip()
        lines.append(line)
    return "\n".join(lines).strip()


def _is_prose(line: str) -> bool:
    pieces = _PIECES.split(line)
    return any(len(re.findall(r"[^\W\d_]{2,}", piece)) >= _WORDS_OF_PROSE for piece in pieces)


def laid_out(statement: str) -> str:
    """Return the lines of a statement without the marks of its layout.

    >>> laid_out("| # | note |\\n|---|---|\\n| 1 | C4 |\\n| 2 | E4 |"), laid_out('{"tags": ["pop"]}')
    ('C4\\nE4', 'pop')
    """
    text = _FENCE.sub("", statement).strip()
    content = _from_json(text)
    if content is not None:
        return _values(content)
    lines = [line for line in _EMPHASIS.sub("", text).splitlines() if line.strip()]
    is_table = len(lines) > 2 and "|" in lines[0] and _RULE.fullmatch(lines[1])
    if (
        not is_table
        and not any(map(_BULLET.match, lines))
        and all("," in line for line in lines[:-1])
    ):
        return " ".join(lines)
    rows = [_BULLET.sub("", line).strip(" |") for line in lines[2 if is_table else 0 :]]
    return "\n".join(_without_numbers(rows))


def _without_numbers(lines: list[str]) -> list[str]:
    """Lines without the numbers 1, 2, 3 … ahead of them."""
    matches = [_NUMBER.match(line) for line in lines]
    numbers = [int(match[1]) for match in matches if match]
    if not numbers or numbers != [*range(min(numbers[0], 1), len(numbers) + min(numbers[0], 1))]:
        return lines
    if len(lines) == 1 and re.search(r"\d", lines[0][1:]):
        return lines
    return [
        line[match.end() :] if match else line for line, match in zip(lines, matches, strict=True)
    ]


def _from_json(text: str) -> Any:
    """An array or object, else None."""
    try:
        content = json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, list | dict) else None


def _values(content: Any) -> str:
    """The values of an array, of a field that is an answer, or of all fields, a line each."""
    if isinstance(content, list):
        rows = [row if isinstance(row, list) else [row] for row in content]
        return "\n".join(", ".join(map(_values, row)) for row in rows)
    if not isinstance(content, dict):
        return str(content)
    answers = [content[name] for name in _ANSWERS if name in content]
    if len(content) == 1 or answers:
        return _values([*answers, *content.values()][0])
    return "\n".join(f"{name}: {_values(value)}" for name, value in content.items())
