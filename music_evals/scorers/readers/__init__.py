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

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeVar, get_args

_T = TypeVar("_T")
Status = Literal["answered", "refused", "several", "unreadable", "empty", "cut"]
VERSION = 6
"""Changes with every change of what replies are read as; logs record it, and signatures of scores
name it.
"""
STATUSES: tuple[Status, ...] = get_args(Status)
ERROR = "reader_error"
"""What a score's metadata call the error of a reader that failed."""


class Reading(NamedTuple):
    """The answer in plain form if the status is ``answered``, else None, and the rule that found
    it.

    `error` is that of a reader that failed; the status then is ``unreadable``.
    """

    status: Status
    answer: str | None = None
    rule: str = ""
    error: str = ""


def format_error(error: Exception) -> str:
    """Return an error as one short line, for a log."""
    line = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    return line.encode(errors="backslashreplace").decode()


def try_read(read: Callable[..., _T], reply: str, *args: Any) -> tuple[_T, str]:
    """Read a reply, as an empty one if it makes the reader fail; return also the reader's error.

    An error that an empty reply causes too is raised, because the reply is not its cause.

    Example:
        >>> try_read(lambda reply: 1 // len(reply.strip()) if reply else 0, " ")
        (0, 'ZeroDivisionError: integer division or modulo by zero')
    """
    try:
        return read(reply, *args), ""
    except Exception as error:  # whatever a reader does not expect of a reply
        return read("", *args), format_error(error)
