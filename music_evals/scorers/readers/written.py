"""Reading the answers to questions on a written score: a number, an option's index, an order, or some measures.

Two readings, by protocol:

- ``strict``: the answer is in the form that was asked for, and nothing else stands beside it. The white space around
  it, a label ``Answer:`` ahead of it, Markdown's ``*``, ``_`` and backticks around it, and one full stop after it do
  not count. The forms are: a number in digits; one of the indices 0 to 3; four digits that name each of the indices 0
  to 3 once; the numbers of measures with single spaces between them, or ``none``.
- ``paper``: what the authors' code takes. An index is the first character 0 to 3, also of ``10``; a number of measures
  the first run of digits; an order, and the wrong measures, the longest run (the first of equally long ones), so that
  of ``3 7 12`` only ``12`` is left, against the paper's own form. Leading zeros stay, and ``024`` is not ``24``. A
  reply without digits names no measure. `read_all_measures` has all the numbers of a reply.

Where a model was told to reason first (`reasoned`), both look at nothing but what follows the last ``Answer:`` that
begins a line; only where no line begins so, at the whole reply.

What a model thinks aloud ahead of ``</think>`` is no part of its reply, but ``paper`` reads it all the same. Replies
are looked at up to `MAX_REPLY` characters, from their end where the answer stands there, and runs of digits under
``paper`` up to `MAX_DIGITS`; the patterns take linear time.

Source: arXiv 2606.08722, section 3.2 and Table 1 (forms), and its code (https://github.com/CSCPadova/lilybench); the
strict reading is this project's.
"""

import re
from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from music_evals.scorers.readers import Status, without_thinking
from music_evals.scorers.readers.refusals import is_refusal

Protocol = Literal["strict", "paper"]

MAX_REPLY: Final = 20_000
"""Characters of a reply that are looked at."""
MAX_DIGITS: Final = 50
"""Digits of a run that the paper's reading keeps, more than any right answer has."""

INDICES: Final = "0123"
NONE: Final = "none"
"""The answer that no measure is wrong."""

_LABEL: Final = re.compile(r"[*_`#>\t ]{0,8}(?:final )?answer[*_` ]{0,4}:[*_`\t ]{0,8}", re.IGNORECASE)
_AROUND: Final = "*_` \t\r\n"
_NUMBER: Final = re.compile(r"[0-9]{1,6}")
_STANDING: Final = re.compile(r"(?<![0-9])[0-9]{1,6}(?![0-9])")
_INDEX: Final = re.compile("[0-3]")
_DIGITS: Final = re.compile(r"\d+")  # of any script, as published
_MEASURES: Final = re.compile(r"[0-9]{1,6}(?: [0-9]{1,6}){0,999}")
_SEVERAL: Final = re.compile(
    r"(?:either )?(?:[0-9]{1,6}|none)(?:(?: or )(?:[0-9]{1,6}|none)){1,9}|[0-9]{4}/[0-9]{4}"
    r"|(?:between )?[0-9]{2,6}(?: and | to | ?[-–] ?)[0-9]{2,6}|[0-3]/[0-3]",
    re.IGNORECASE,
)


class Answer(NamedTuple):
    """How a reply reads, and what it answers in plain form: ``12``, ``2``, ``3102``, ``4 7`` or ``none``.

    `in_form` says whether the reply keeps to the form that was asked for, by the strict reading, and `rule` what was
    taken for the answer.
    """

    status: Status
    text: str | None
    in_form: bool
    rule: str = ""


def read_number(reply: str, protocol: Protocol = "strict", *, reasoned: bool = False) -> Answer:
    """Read a number in digits; the strict reading drops leading zeros.

    Example:
        >>> read_number("024"), read_number("24 or 25").status, read_number("About 024 measures.", "paper").text
        (Answer(status='answered', text='24', in_form=True, rule='the whole reply'), 'several', '024')
    """

    def strict(whole: str) -> str | None:
        return str(int(whole)) if _NUMBER.fullmatch(whole) else None

    return _read(reply, protocol, reasoned, strict, lambda text: _first(_DIGITS, text), "the first run of digits")


def read_index(reply: str, protocol: Protocol = "strict", *, reasoned: bool = False) -> Answer:
    """Read the index of an option, 0 to 3, as a digit.

    Example:
        >>> read_index("Answer: 2").text, read_index("2: G major").text, read_index("2: G major", "paper").text
        ('2', None, '2')
    """

    def strict(whole: str) -> str | None:
        return whole if len(whole) == 1 and whole in INDICES else None

    return _read(reply, protocol, reasoned, strict, lambda text: _first(_INDEX, text), "the first digit 0 to 3")


def read_order(reply: str, protocol: Protocol = "strict", *, reasoned: bool = False) -> Answer:
    """Read an order of the options as four digits; by the paper's reading it may be none, such as ``0012`` or ``7``.

    Example:
        >>> read_order("2031").text, read_order("2011").text, read_order("It is 2011.", "paper").text
        ('2031', None, '2011')
    """

    def strict(whole: str) -> str | None:
        return whole if len(whole) == len(INDICES) and set(whole) == set(INDICES) else None

    return _read(reply, protocol, reasoned, strict, _longest)


def read_measures(reply: str, protocol: Protocol = "strict", *, reasoned: bool = False) -> Answer:
    """Read the numbers of measures, each once and ascending, or ``none``; `measures_of` takes them apart.

    The paper's reading has one number at most.

    Example:
        >>> read_measures("7 4").text, read_measures("None.").text, read_measures("bars 3 and 15", "paper").text
        ('4 7', 'none', '15')
    """

    def strict(whole: str) -> str | None:
        if whole.lower() == NONE:
            return NONE
        return _joined(whole.split(" ")) if _MEASURES.fullmatch(whole) else None

    return _read(reply, protocol, reasoned, strict, _longest)


def read_all_measures(reply: str, *, reasoned: bool = False) -> frozenset[int]:
    """Read every number in a reply, or in its answer where it reasons first, as a measure.

    Example:
        >>> sorted(read_all_measures("<think>4?</think>Bars 3 and 15."))
        [3, 15]
    """
    return frozenset(map(int, _STANDING.findall(_stated(without_thinking(reply), reasoned=reasoned)[:MAX_REPLY])))


def measures_of(answer: str) -> frozenset[int]:
    """The measures that an answer of `read_measures`, or a right answer, names; a ValueError for anything else."""
    if answer == NONE:
        return frozenset()
    try:
        return frozenset(int(number) for number in answer.split(" "))
    except ValueError:
        raise ValueError(f"{answer[:80]!r} names no measures; numbers with single spaces, or none, are") from None


def _read(
    reply: str,
    protocol: Protocol,
    reasoned: bool,
    strict: Callable[[str], str | None],
    paper: Callable[[str], str | None],
    taken: str = "the longest run of digits",
) -> Answer:
    """Read the whole answer by the strict reading, or what the paper's takes of the text."""
    said = without_thinking(reply)
    stated = _stated(said, reasoned=reasoned)
    bare = _bare(stated, reasoned=reasoned)
    kept = found = strict(bare)
    rule = "the whole reply" if stated == said else "what follows the last “Answer:”"
    if protocol == "paper" and (loose := paper(_stated(reply, reasoned=reasoned).strip()[:MAX_REPLY])):
        # Only ``none`` is an answer that this reading does not see.
        found, rule = loose, f"{taken} in {rule}"
    if found is not None:
        return Answer("answered", found, kept is not None, rule)
    if not stated.strip():
        return Answer("empty", None, False, rule)
    status: Status = (
        "several" if _SEVERAL.fullmatch(bare) else "refused" if is_refusal(bare or stated) else "unreadable"
    )
    return Answer(status, None, False, rule)


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return found[0][:MAX_DIGITS] if found else None


def _longest(text: str) -> str | None:
    longest = max(_DIGITS.findall(text), key=len, default="")
    return longest[:MAX_DIGITS] or None


def _joined(numbers: list[str]) -> str:
    return " ".join(map(str, sorted({int(number) for number in numbers})))


def _bare(stated: str, *, reasoned: bool) -> str:
    """The answer without what does not count around it; nothing where it is too long for an answer."""
    text = stated.strip(_AROUND)
    if len(text) > MAX_REPLY:
        return ""
    if not reasoned and (label := _LABEL.match(text)):
        text = text[label.end() :]
    return text.strip(_AROUND).removesuffix(".").strip(_AROUND)


def _stated(text: str, *, reasoned: bool) -> str:
    """What a reply says: all of it, or what follows its last label where the model was to reason first."""
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
