"""Readers of answers: what a reply says, whether right or wrong.

Every reading is one of six, with the same names in all benchmarks:

- ``answered``: the reply commits to one answer;
- ``refused``: it will not, cannot or does not know, or says that it got no music;
- ``several``: it commits to more than one answer;
- ``unreadable``: it says something else, or something that no rule reads;
- ``empty``: it says nothing;
- ``cut``: an unreadable or empty reply that was cut at the limit of tokens.

`cleaning` takes away what a reply does not say to the user, such as thinking. All patterns take
linear time.
"""

from typing import Literal, NamedTuple, get_args

Status = Literal["answered", "refused", "several", "unreadable", "empty", "cut"]
VERSION = 4
"""Changes with every change of what replies are read as; logs record it, and signatures of scores
name it.
"""
STATUSES: tuple[Status, ...] = get_args(Status)


class Reading(NamedTuple):
    """The answer in plain form if the status is ``answered``, else None, and the rule that found
    it.
    """

    status: Status
    answer: str | None = None
    rule: str = ""


def format_error(error: Exception) -> str:
    """Return an error as one short line, for a log."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]
