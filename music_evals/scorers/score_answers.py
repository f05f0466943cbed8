"""Reading the answers to questions on a written score: a number, an option's index, an order, or some measures.

Two readings, by protocol:

- ``strict``: the answer is in the form that was asked for, and nothing else stands beside it. The white space around
  it, a label ``Answer:`` ahead of it, Markdown's ``*``, ``_`` and backticks around it, and one full stop after it do
  not count. The forms are: a number in digits; one of the indices 0 to 3; four digits that name each of the indices 0
  to 3 once; the numbers of measures with single spaces between them, or ``none``.
- ``paper``: the first thing in the reply that looks like an answer: its first number; its first number that is 0 to 3;
  its first run of four digits; ``none`` where no number comes ahead of it, or else all its numbers. The paper says only
  that such an answer is looked for; the order of precedence is this project's.

Where a model was told to reason first (`reasoned`), both look at nothing but what follows the last ``Answer:`` that
begins a line; only where no line begins so, at the whole reply.

What a model thinks aloud ahead of ``</think>`` is no part of its reply. Replies are looked at up to `MAX_REPLY`
characters, from their end where the answer stands there; the patterns take linear time.

Source: arXiv 2606.08722, section 3.2 and Table 1 (forms); the strict reading is this project's.
"""

import re
from typing import Final, Literal, NamedTuple

Protocol = Literal["strict", "paper"]

MAX_REPLY: Final = 20_000
"""Characters of a reply that are looked at."""

INDICES: Final = "0123"
NONE: Final = "none"
"""The answer that no measure is wrong."""

_LABEL: Final = re.compile(r"[*_`#>\t ]{0,8}(?:final )?answer[*_` ]{0,4}:[*_`\t ]{0,8}", re.IGNORECASE)
_AROUND: Final = "*_` \t\r\n"
_NUMBER: Final = re.compile(r"[0-9]{1,6}")
_STANDING: Final = re.compile(r"(?<![0-9])[0-9]{1,6}(?![0-9])")
_INDEX: Final = re.compile(r"(?<![0-9])[0-3](?![0-9])")
_ORDER: Final = re.compile(r"(?<![0-9])[0-9]{4}(?![0-9])")
_MEASURES: Final = re.compile(r"[0-9]{1,6}(?: [0-9]{1,6}){0,999}")
_NONE_OR_NUMBER: Final = re.compile(r"(?P<none>\bnone\b)|(?<![0-9])[0-9]{1,6}(?![0-9])", re.IGNORECASE)


class Answer(NamedTuple):
    """What a reply answers.

    Args:
        text: the answer in its plain form, such as ``12``, ``2``, ``3102``, ``4 7`` or ``none``; None where there is
            none.
        in_form: whether the reply keeps to the form that was asked for, by the strict reading.
    """

    text: str | None
    in_form: bool


def read_number(reply: str, protocol: Protocol = "strict", *, reasoned: bool = False) -> Answer:
    """Read a number in digits.

    Args:
        reply: the model's reply.
        protocol: how; see the module.
        reasoned: whether the reply was to reason first and end in a line ``Answer: …``.

    Returns:
        The number without leading zeros.

    Example:
        >>> read_number("24"), read_number("About 24 measures."), read_number("About 24 measures.", "paper").text
        (Answer(text='24', in_form=True), Answer(text=None, in_form=False), '24')
    """
    whole = _whole(reply, reasoned=reasoned)
    strict = str(int(whole)) if _NUMBER.fullmatch(whole) else None
    if strict is not None or protocol == "strict":
        return Answer(strict, strict is not None)
    first = _STANDING.search(_looked_at(reply, reasoned=reasoned))
    return Answer(str(int(first[0])) if first else None, False)


def read_index(reply: str, protocol: Protocol = "strict", *, reasoned: bool = False) -> Answer:
    """Read the index of an option, 0 to 3.

    Args:
        reply: the model's reply.
        protocol: how; see the module.
        reasoned: whether the reply was to reason first and end in a line ``Answer: …``.

    Returns:
        The index as a digit.

    Example:
        >>> read_index("Answer: 2").text, read_index("2: G major").text, read_index("2: G major", "paper").text
        ('2', None, '2')
    """
    whole = _whole(reply, reasoned=reasoned)
    strict = whole if len(whole) == 1 and whole in INDICES else None
    if strict is not None or protocol == "strict":
        return Answer(strict, strict is not None)
    first = _INDEX.search(_looked_at(reply, reasoned=reasoned))
    return Answer(first[0] if first else None, False)


def read_order(reply: str, protocol: Protocol = "strict", *, reasoned: bool = False) -> Answer:
    """Read an order of the options as four digits.

    Args:
        reply: the model's reply.
        protocol: how; see the module.
        reasoned: whether the reply was to reason first and end in a line ``Answer: …``.

    Returns:
        The four digits; by the paper's reading they may be no order at all, such as ``0012``.

    Example:
        >>> read_order("2031").text, read_order("2011").text, read_order("It is 2011.", "paper").text
        ('2031', None, '2011')
    """
    whole = _whole(reply, reasoned=reasoned)
    strict = whole if len(whole) == len(INDICES) and set(whole) == set(INDICES) else None
    if strict is not None or protocol == "strict":
        return Answer(strict, strict is not None)
    first = _ORDER.search(_looked_at(reply, reasoned=reasoned))
    return Answer(first[0] if first else None, False)


def read_measures(reply: str, protocol: Protocol = "strict", *, reasoned: bool = False) -> Answer:
    """Read the numbers of measures, or that there are none.

    Args:
        reply: the model's reply.
        protocol: how; see the module.
        reasoned: whether the reply was to reason first and end in a line ``Answer: …``.

    Returns:
        The numbers, each once and ascending, with spaces between them, or ``none``. `measures_of` takes them apart.

    Example:
        >>> read_measures("7 4").text, read_measures("None.").text, read_measures("bars 3 and 5", "paper").text
        ('4 7', 'none', '3 5')
    """
    whole = _whole(reply, reasoned=reasoned)
    if whole.lower() == NONE:
        return Answer(NONE, True)
    if _MEASURES.fullmatch(whole):
        return Answer(_joined(whole.split(" ")), True)
    if protocol == "strict":
        return Answer(None, False)
    text = _looked_at(reply, reasoned=reasoned)
    found = _NONE_OR_NUMBER.search(text)
    if found is None:
        return Answer(None, False)
    return Answer(NONE if found["none"] else _joined(_STANDING.findall(text)), False)


def measures_of(answer: str) -> frozenset[int]:
    """Take an answer of `read_measures`, or a right answer, apart.

    Args:
        answer: numbers with spaces between them, or ``none``.

    Returns:
        The measures.

    Raises:
        ValueError: it is neither.

    Example:
        >>> sorted(measures_of("4 7")), sorted(measures_of("none"))
        ([4, 7], [])
    """
    if answer == NONE:
        return frozenset()
    try:
        return frozenset(int(number) for number in answer.split(" "))
    except ValueError:
        raise ValueError(f"{answer[:80]!r} names no measures; numbers with single spaces, or none, are") from None


def _joined(numbers: list[str]) -> str:
    return " ".join(map(str, sorted({int(number) for number in numbers})))


def _whole(reply: str, *, reasoned: bool) -> str:
    """The reply without what does not count around it; nothing where it is too long for an answer."""
    text = _stated(reply, reasoned=reasoned).strip(_AROUND)
    if len(text) > MAX_REPLY:
        return ""
    if not reasoned and (label := _LABEL.match(text)):
        text = text[label.end() :]
    return text.strip(_AROUND).removesuffix(".").strip(_AROUND)


def _looked_at(reply: str, *, reasoned: bool) -> str:
    return _stated(reply, reasoned=reasoned)[:MAX_REPLY]


def _stated(reply: str, *, reasoned: bool) -> str:
    text = reply.rpartition("</think>")[2]
    if not reasoned:
        return text
    end = text[-MAX_REPLY:]
    # Only whole lines: the first of a long reply's end may be cut.
    start = end.find("\n") + 1 if len(text) > MAX_REPLY else 0
    after: str | None = None
    place = start
    for line in end[start:].splitlines(keepends=True):
        if label := _LABEL.match(line):
            after = end[place + label.end() :]
        place += len(line)
    return text if after is None else after
