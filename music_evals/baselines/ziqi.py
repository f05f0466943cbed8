"""How the baselines answer ZIQI-Eval: by computing theory questions, or by chance.

The reader goes by the question and its options alone. Questions that it cannot compute (all published ones, and the
continuation of tunes) it answers by chance.
"""

import re
from random import Random
from typing import NamedTuple

from music_evals.baselines.conversation import Conversation
from music_evals.baselines.theory import solve

LETTERS = "ABCD"
_FORM = re.compile(r"\[\[(答案：|answer: )X\]\]")


class _Asked(NamedTuple):
    """The question at the end of a prompt: the lines ahead of its options, the options, and the form of the answer."""

    lines: list[str]
    options: list[str]
    form: str


def recognises(conversation: Conversation) -> bool:
    """Say whether a conversation asks for a letter in double brackets.

    Example:
        >>> from music_evals.baselines.conversation import Turn
        >>> recognises(Conversation((Turn("user", "Reply with [[answer: X]]\\n1 + 1?\\nA. 1\\nB. 2\\nC. 3\\nD. 4"),)))
        True
    """
    return _asked(conversation) is not None


def read(conversation: Conversation, random: Random) -> str:
    """Answer by computing where the question is one of theory that can be computed, else by chance.

    Args:
        conversation: the conversation, whose last turn ends in a question with options A to D.
        random: the source of chance.

    Returns:
        The letter in the form asked for.

    Raises:
        ValueError: the conversation asks no such question; see `recognises`.
    """
    asked = _required(conversation)
    # The question may be preceded by words of introduction.
    for start in range(len(asked.lines)):
        place = solve("\n".join(asked.lines[start:]), asked.options)
        if place is not None:
            return f"[[{asked.form}{LETTERS[place]}]]"
    return guess(conversation, random)


def guess(conversation: Conversation, random: Random) -> str:
    """Answer with a letter drawn uniformly.

    Args:
        conversation: the conversation.
        random: the source of chance.

    Returns:
        The letter in the form asked for.

    Raises:
        ValueError: the conversation asks no such question; see `recognises`.
    """
    asked = _required(conversation)
    return f"[[{asked.form}{random.choice(LETTERS)}]]"


def _required(conversation: Conversation) -> _Asked:
    asked = _asked(conversation)
    if asked is None:
        raise ValueError("the conversation does not end in a question with options A to D")
    return asked


def _asked(conversation: Conversation) -> _Asked | None:
    """Take the last question apart, from its end: options and examples may themselves hold lines of letters."""
    text = conversation.last.text
    form = _FORM.search(text)
    if form is None:
        return None
    options: list[str] = []
    end = len(text)
    for letter in reversed(LETTERS):
        start = text.rfind(f"\n{letter}. ", 0, end)
        if start < 0:
            return None
        options.insert(0, text[start + len(f"\n{letter}. ") : end].strip())
        end = start
    paragraph = text[:end].rpartition("\n\n")[2]
    return _Asked(paragraph.splitlines(), options, form[1])
