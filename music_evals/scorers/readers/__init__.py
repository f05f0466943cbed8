"""Readers of answers: what a reply says, whether right or wrong.

Every reading is one of six, with the same names in all benchmarks:

- ``answered``: the reply commits to one answer;
- ``refused``: it will not, cannot or does not know, or says that it got no music;
- ``several``: it commits to more than one answer;
- ``unreadable``: it says something else, or something that no rule reads;
- ``empty``: it says nothing;
- ``cut``: an unreadable or empty reply that was cut at the limit of tokens.

Text ahead of ``</think>`` is a model's thinking and does not count. All patterns take linear time.
"""

from typing import Final, Literal, NamedTuple, get_args

Status = Literal["answered", "refused", "several", "unreadable", "empty", "cut"]
VERSION: Final = 3
"""Changes with every change of what replies are read as; logs record it, and signatures of scores name it."""
STATUSES: Final[tuple[Status, ...]] = get_args(Status)


class Reading(NamedTuple):
    """The answer in plain form if the status is ``answered``, else None, and the rule that found it."""

    status: Status
    answer: str | None = None
    rule: str = ""


def without_thinking(reply: str) -> str:
    """Return the text after the last ``</think>``; nothing if the reply was cut within its thinking.

    Example:
        >>> without_thinking("<think>A or B?</think>B"), without_thinking("<think>A or")
        ('B', '')
    """
    _, end, rest = reply.rpartition("</think>")
    before, begun, _ = reply.partition("<think>")
    return "" if begun and not end and not before.strip() else rest


def format_error(error: Exception) -> str:
    """Return an error as one short line, for a log."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]
