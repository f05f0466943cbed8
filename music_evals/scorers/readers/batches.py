"""Taking a reply that answers several numbered questions apart.

Read are, in this order: a JSON list or object; numbered lines (``1. …``, ``1) …``, ``Q1: …``, ``**1.** …``,
``Answer 1: …``), whose answers may run on over further lines; numbers within one line; and, without any number, as
many lines as there are questions. Where a reply numbers its answers more than once (a draft, then the final list), the
fullest list counts, the later one of equally full ones; what it lacks is taken from the others.

A reply is looked at up to `MAX_REPLY` characters, an answer up to `MAX_ANSWER`; every pattern is bounded and every
pass over the reply takes linear time.
"""

import json
import re
from typing import Any, Final

from music_evals.scorers.readers import without_thinking

MAX_REPLY: Final = 48_000
"""Characters of a reply that are looked at."""

MAX_ANSWER: Final = 4_000
"""Characters of an answer that are kept."""

_NUMBERED: Final = re.compile(
    r"(?P<indent>[ \t]{0,12})[*_#>`\-•]{0,6}[ \t]{0,3}(?:(?:question|answer|q|a)[ \t]{0,2}[.#]?[ \t]{0,2})?"
    r"[\[(]?(?P<number>\d{1,3})[*_\])]{0,3}[ \t]?"
    r"(?:[.:)][*_]{0,3}(?:[ \t]|(?=[^\d\s])|$)|[-–—][ \t]|$)[*_]{0,3}[ \t]{0,4}(?P<answer>.*)",
    re.IGNORECASE,
)
_LABEL: Final = re.compile(r"[*_]{0,3}(?:final )?answer[*_]{0,3}[ ]?:[*_]{0,3}|[*_]{0,3}A:[*_]{0,3}", re.IGNORECASE)
_KEY: Final = re.compile(r"(?:question|answer|q|a)?[ _.#]{0,2}(\d{1,3})", re.IGNORECASE)
_FENCED: Final = re.compile(r"```(?:json)?[ \t]{0,8}\n")
_NUMBER_KEYS: Final = ("number", "id", "question", "index", "q")
_ANSWER_KEYS: Final = ("answer", "a", "response", "value")


def split_answers(completion: str, count: int) -> list[str | None]:
    """Find the answer to each of `count` questions that were asked together, in their order; None where there is none.

    The reply to a single question is its answer, as a whole.

    Raises:
        ValueError: there is no question.

    Source: arXiv 2511.20697, section 5.1 (twelve questions in a run); the reading is this project's.

    Example:
        >>> split_answers("1. Piano\\n2) G minor\\n**4.** Yes", 4)
        ['Piano', 'G minor', None, 'Yes']
    """
    if count < 1:
        raise ValueError(f"count is {count}; at least 1 question is asked")
    # What a model thinks aloud is not its answer; the end of a long reply is where its answers are.
    text = without_thinking(completion)[-MAX_REPLY:] if count > 1 else without_thinking(completion)
    if count == 1:
        return [_kept(text[:MAX_REPLY])]
    answers = _from_json(text, count) or _from_numbered_lines(text, count)
    if answers is None or sum(answer is not None for answer in answers) < 2:
        answers = _from_numbers_in_line(text, count) or answers
    if answers is not None:
        return [_kept(answer) for answer in answers]
    lines = [line for line in text.splitlines() if line.strip()]
    return [_kept(line) for line in lines] if len(lines) == count else [None] * count


def _kept(answer: str | None) -> str | None:
    return ((answer or "").strip()[:MAX_ANSWER]).strip() or None


def _from_json(text: str, count: int) -> list[str | None] | None:
    body = text.strip()
    if fence := _FENCED.search(body):
        body = body[fence.end() :].partition("```")[0].strip()
    if body[:1] not in ("[", "{"):
        return None
    try:
        found = json.loads(body, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None
    if isinstance(found, dict) and len(found) == 1 and isinstance(next(iter(found.values())), dict | list):
        found = next(iter(found.values()))
    answers: list[str | None] = [None] * count
    if isinstance(found, dict):
        pairs = list(found.items())
    elif isinstance(found, list):
        pairs = [_numbered_entry(entry, position) for position, entry in enumerate(found, start=1)]
    else:
        return None
    for key, value in pairs:
        match = _KEY.fullmatch(str(key)[:20])
        if match and 1 <= int(match[1]) <= count:
            answers[int(match[1]) - 1] = _plain(value)
    return answers if any(answers) else None


def _numbered_entry(entry: Any, position: int) -> tuple[str, Any]:
    if not isinstance(entry, dict):
        return str(position), entry
    fields = {str(key).lower(): value for key, value in entry.items()}
    number = next((str(fields[key]) for key in _NUMBER_KEYS if _KEY.fullmatch(str(fields.get(key))[:20])), position)
    return str(number), next((fields[key] for key in _ANSWER_KEYS if key in fields), None)


def _plain(value: Any) -> str | None:
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, dict):
        return _plain(next((value[key] for key in _ANSWER_KEYS if key in value and value[key] is not value), None))
    if isinstance(value, list):
        return "; ".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else None


def _from_numbered_lines(text: str, count: int) -> list[str | None] | None:
    lists: list[dict[int, list[str]]] = []
    last, indent = count + 1, None
    for line in text.splitlines():
        match = _NUMBERED.match(line)
        number = int(match["number"]) if match else 0
        # Lines that are set in deeper than the first answer number the parts of an answer.
        if match and 1 <= number <= count and (indent is None or len(match["indent"]) <= indent):
            indent = len(match["indent"])
            if number <= last:
                lists.append({})
            lists[-1][number] = [match["answer"]]
            last = number
        elif lists:
            lists[-1][last].append(line)
    answers: list[str | None] = [None] * count
    for one in sorted(lists, key=len):
        for number, lines in one.items():
            answers[number - 1] = _joined(lines) or answers[number - 1]
    return answers if any(answers) else None


def _joined(lines: list[str]) -> str:
    kept = [line.strip() for line in lines]
    # A reply may repeat each question ahead of its answer.
    if kept[0].rstrip("*_ ").endswith("?") and any(kept[1:]):
        kept = kept[1:]
    text = "\n".join(kept).strip()
    label = _LABEL.match(text)
    text = text[label.end() :].strip() if label else text
    # "**1. Piano**" leaves the second pair of asterisks.
    return text[:-2] if text.endswith("**") and text.count("**") % 2 else text


def _from_numbers_in_line(text: str, count: int) -> list[str | None] | None:
    found: list[re.Match[str]] = []
    numbers: list[int] = []
    for number in range(1, count + 1):
        start = found[-1].end() if found else 0
        match = re.compile(rf"(?<![^\s*(;,])Q?{number}[.):][*_]{{0,3}}(?=[ \t])").search(text, start)
        if match:
            found.append(match)
            numbers.append(number)
    if len(found) < 2:
        return None
    answers: list[str | None] = [None] * count
    for number, match, after in zip(numbers, found, [*found[1:], None], strict=True):
        answers[number - 1] = text[match.end() : after.start() if after else len(text)].strip(" \t\n;,*")
    return answers
