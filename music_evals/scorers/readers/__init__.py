"""Readers of answers: what a reply says, apart from whether that is right.

Every reading is one of six, with the same names in all benchmarks:

- ``answered``: the reply commits to one answer;
- ``refused``: it will not, cannot or does not know, or says that it got no music;
- ``several``: it commits to more than one answer;
- ``unreadable``: it says something else, or something that no rule reads;
- ``empty``: it says nothing;
- ``cut``: either of these two, of a reply that was cut at the limit of tokens.

What a model thinks aloud ahead of ``</think>`` is no part of its reply. All patterns take linear time.
"""

from typing import Final, Literal, NamedTuple, get_args

Status = Literal["answered", "refused", "several", "unreadable", "empty", "cut"]
STATUSES: Final[tuple[Status, ...]] = get_args(Status)


class Reading(NamedTuple):
    """What was read: the answer in plain form where the status is ``answered``, else None, and where it stood."""

    status: Status
    answer: str | None = None
    rule: str = ""


def without_thinking(reply: str) -> str:
    """What follows the last ``</think>``; nothing where thinking was begun and cut off before its end.

    Example:
        >>> without_thinking("<think>A or B?</think>B"), without_thinking("<think>A or")
        ('B', '')
    """
    thought, end, said = reply.rpartition("</think>")
    if end:
        return said
    before, begun, _ = thought.partition("<think>") if thought else said.partition("<think>")
    return "" if begun and not before.strip() else said
