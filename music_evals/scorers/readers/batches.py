"""Splitting a reply to several numbered questions into its answers.

Forms are tried in this order: a JSON list or object; numbered lines (``1. …``, ``1) …``, ``Q1: …``,
``**1.** …``, ``Answer 1: …``), whose answers may run on over further lines; numbers within one
line; and, without any number, as many lines as there are questions. If a reply numbers its answers
more than once (a draft, then the final list), the fullest list counts, the later one of equally
full lists; the other lists supply the answers that it lacks.
"""

import re
from typing import Any

from music_evals.scorers.readers.cleaning import clean_reply, read_json

MAX_REPLY = 48_000  # characters of a reply that are read
MAX_ANSWER = 4_000  # characters of an answer that are kept

Answers = list[str | None]
Numbered = dict[int, str]  # answers by the numbers of their questions

_NUMBERED = re.compile(
    r"(?i)(?P<indent>[ \t]{0,12})[*_#>`\-•]{0,6}[ \t]{0,3}(?:(?:question|answer|q|a)[ "
    r"\t]{0,2}[.#]?[ \t]{0,2})?"
    r"[\[(]?(?P<number>\d{1,3})[*_\])]{0,3}[ \t]?"
    r"(?:[.:)][*_]{0,3}(?:[ \t]|(?=[^\d\s])|$)|[-–—][ \t]|$)[*_]{0,3}[ \t]{0,4}(?P<answer>.*)"
)
_IN_LINE = re.compile(r"(?<![^\s*(;,])Q?(\d{1,3})[.):][*_]{0,3}(?=[ \t])")
_LABEL = re.compile(
    r"[*_]{0,3}(?:final )?answer[*_]{0,3}[ ]?:[*_]{0,3}|[*_]{0,3}A:[*_]{0,3}", re.IGNORECASE
)
_KEY = re.compile(r"(?:question|answer|q|a)?[ _.#]{0,2}(\d{1,3})", re.IGNORECASE)
_NUMBER_KEYS = ("number", "id", "question", "index", "q")
_ANSWER_KEYS = ("answer", "a", "response", "value")


def split_answers(completion: str, count: int) -> Answers:
    """Find the answer to each of `count` questions that were asked together, in their order; None
    if it is missing.

    The whole reply to a single question is its answer.

    Raises:
        ValueError: `count` is below 1.

    Source: arXiv 2511.20697, section 5.1 (twelve questions in a run); the reading is this
    project's.

    Example:
        >>> split_answers("1. Piano\\n2) G minor\\n**4.** Yes", 4)
        ['Piano', 'G minor', None, 'Yes']
    """
    if count < 1:
        raise ValueError(f"count is {count}; at least 1 question is asked")
    text = clean_reply(completion)
    if count == 1:
        return [_trimmed(text[:MAX_REPLY])]
    text = text[-MAX_REPLY:]  # the end of a long reply has its answers
    answers = _from_json(text) or _from_numbered_lines(text, count)
    if len(answers) < 2:
        answers = _from_numbers_in_line(text, count) or answers
    lines = [line for line in text.splitlines() if line.strip()]
    if not answers and len(lines) == count:
        answers = dict(enumerate(lines, 1))
    return [_trimmed(answers.get(number, "")) for number in range(1, count + 1)]


def _trimmed(answer: str) -> str | None:
    return answer.strip()[:MAX_ANSWER].strip() or None


def _from_json(text: str) -> Numbered:
    body = text.strip()
    if fence := re.search(r"```(?:json)?[ \t]{0,8}\n", body):
        body = body[fence.end() :].partition("```")[0].strip()
    content = read_json(body) or {}
    if isinstance(content, dict) and len(content) == 1:
        (value,) = content.values()
        content = value if isinstance(value, dict | list) else content
    if isinstance(content, list):
        content = dict(enumerate(content, 1))
    answers = {}
    for place, entry in content.items():
        fields = entry if isinstance(entry, dict) else {"answer": entry}
        names = [*(fields.get(name) for name in _NUMBER_KEYS), place]
        number = next(filter(None, (_KEY.fullmatch(str(name)) for name in names)), None)
        answer = next((fields[name] for name in _ANSWER_KEYS if name in fields), None)
        if number:
            answers[int(number[1])] = _answer_text(answer)
    return answers


def _answer_text(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(entry for entry in value if isinstance(entry, str))
    if isinstance(value, bool):
        return "Yes" if value else "No"
    return value if isinstance(value, str) else ""


def _from_numbered_lines(text: str, count: int) -> Numbered:
    lists: list[dict[int, list[str]]] = []
    last = count + 1
    indent = 99
    for line in text.splitlines():
        match = _NUMBERED.match(line)
        number = int(match["number"]) if match else 0
        # Deeper indented lines number the items within an answer.
        if match and 1 <= number <= count and len(match["indent"]) <= indent:
            indent = len(match["indent"])
            if number <= last:
                lists.append({})
            lists[-1][number] = [match["answer"]]
            last = number
        elif lists:
            lists[-1][last].append(line)
    answers: Numbered = {}
    for numbered in sorted(lists, key=len):
        joined = ((number, _joined(lines)) for number, lines in numbered.items())
        answers.update((number, answer) for number, answer in joined if answer)
    return answers


def _joined(lines: list[str]) -> str:
    lines = [line.strip() for line in lines]
    # A reply may repeat each question ahead of its answer.
    if lines[0].rstrip("*_ ").endswith("?"):
        lines = lines[1:]
    text = "\n".join(lines).strip()
    if label := _LABEL.match(text):
        text = text[label.end() :].strip()
    return text.strip("*")  # "**1. Piano**" leaves the second pair of them


def _from_numbers_in_line(text: str, count: int) -> Numbered:
    answers = {}
    last = end = 0
    for match in _IN_LINE.finditer(text):
        if last < int(match[1]) <= count:
            answers[last] = text[end : match.start()].strip(" \t\n;,*")
            last = int(match[1])
            end = match.end()
    answers[last] = text[end:].strip(" \t\n;,*")
    del answers[0]
    return answers if len(answers) > 1 else {}
