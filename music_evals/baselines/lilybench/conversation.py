"""How the baselines answer questions on scores in LilyPond: by parsing the text in the prompt, or by chance.

The reader goes by the music alone. Who wrote a piece, what it is called, of which style and mood it is, the music does
not say to a parser: there the reader takes an option that the text itself names, where there is just one, and else
guesses.
"""

import re
from itertools import pairwise
from random import Random
from typing import Final, Literal, NamedTuple

from music_evals.baselines.conversation import Conversation
from music_evals.baselines.lilybench.errors import wrong_measures
from music_evals.baselines.lilybench.score import (
    UnreadableScoreError,
    count_measures,
    metadata,
    next_measure,
    order_measures,
)

Form = Literal["number", "index", "order", "measures"]

_FORMS: Final[dict[str, Form]] = {
    "the number of measures in digits": "number",
    "the index of the right option": "index",
    "the indices of the four options in playing order": "order",
    "the numbers of the wrong measures": "measures",
}
_BEFORE: Final = "<score>\n"
_AFTER: Final = "\n</score>\n"
_OPTION: Final = re.compile(r"^[0-3]:", re.MULTILINE)
_TOOLS: Final[dict[Form, str]] = {
    "number": "count_measures",
    "index": "read_key_and_metre",
    "measures": "list_problems",
}
_FIELDS: Final = (("key", "which key"), ("note_length", "note value"), ("metre", "time signature"))
_MOST: Final = 100
"""The largest number of measures that chance names."""


class ToolUse(NamedTuple):
    """A tool that is called ahead of an answer, without arguments."""

    tool: str


class _Asked(NamedTuple):
    """What a prompt asks."""

    score: str
    question: str
    options: list[str]
    form: Form
    labelled: bool


def recognises(conversation: Conversation) -> bool:
    """Say whether a conversation asks a question on a score in LilyPond.

    Args:
        conversation: the conversation.

    Returns:
        Whether its last turn of the user ends as ``music_evals/benchmarks/lilybench/prompts.toml`` has it.

    Example:
        >>> from music_evals.baselines.conversation import Turn
        >>> form = "Reply with nothing but the number of measures in digits."
        >>> recognises(Conversation((Turn("user", f"<score>\\n{{ c'1 }}\\n</score>\\n\\nHow many?\\n\\n{form}"),)))
        True
        >>> recognises(Conversation((Turn("user", "How many measures?"),)))
        False
    """
    return _asked(conversation) is not None


def read(conversation: Conversation, random: Random) -> str | ToolUse:
    """Answer by parsing the score; what cannot be told so, by chance.

    Where tools are on offer, one is called first, as a model would; the answer is the reader's own all the same.

    Args:
        conversation: the conversation.
        random: the source of chance.

    Returns:
        The answer in the form asked for, or a call.

    Raises:
        ValueError: the conversation asks no such question; see `recognises`.

    Example:
        >>> from music_evals.baselines.conversation import Turn
        >>> form = "Reply with nothing but the number of measures in digits."
        >>> prompt = f"<score>\\n{{ c'1 d'1 }}\\n</score>\\n\\nHow many?\\n\\n{form}"
        >>> read(Conversation((Turn("user", prompt),)), Random(1))
        '2'
    """
    asked = _required(conversation)
    if call := _call(conversation, asked):
        return call
    try:
        answer = _read(asked)
    except UnreadableScoreError:
        answer = None
    return _worded(asked, _guessed(asked, random) if answer is None else answer)


def guess(conversation: Conversation, random: Random) -> str | ToolUse:
    """Answer by chance.

    Args:
        conversation: the conversation.
        random: the source of chance.

    Returns:
        An index or an order drawn uniformly; a number from 1 to 100; one measure from 1 to 100, or none, as likely.
        Where tools are on offer, a call first.

    Raises:
        ValueError: the conversation asks no such question; see `recognises`.

    Example:
        >>> from music_evals.baselines.conversation import Turn
        >>> form = "Reply with nothing but the index of the right option, which is 0, 1, 2 or 3."
        >>> options = "Options:\\n0: a\\n1: b\\n2: c\\n3: d"
        >>> guess(Conversation((Turn("user", f"Which?\\n\\n{options}\\n\\n{form}"),)), Random(1))
        '1'
    """
    asked = _required(conversation)
    return _call(conversation, asked) or _worded(asked, _guessed(asked, random))


def _call(conversation: Conversation, asked: _Asked) -> ToolUse | None:
    tool = _TOOLS.get(asked.form)
    called = any(turn.role == "tool" for turn in conversation.turns)
    return ToolUse(tool) if tool in conversation.tools and tool and not called else None


def _read(asked: _Asked) -> str | None:
    if asked.form == "number":
        return str(count_measures(asked.score))
    if asked.form == "measures":
        return " ".join(map(str, sorted(set(wrong_measures(asked.score))))) or "none"
    if asked.form == "order":
        return "".join(map(str, order_measures(asked.options)))
    question = asked.question.lower()
    if "the measure that comes next" in question:
        return str(next_measure(asked.score, asked.options))
    for field, words in _FIELDS:
        if words in question:
            # A signature that was taken out leaves LilyPond's default; the reader tells that one as any other.
            return _only(asked.options, metadata(asked.score)[field])
    return _named(asked)


def _only(options: list[str], answer: str) -> str | None:
    places = [place for place, option in enumerate(options) if option.strip().casefold() == answer.casefold()]
    return str(places[0]) if len(places) == 1 else None


def _named(asked: _Asked) -> str | None:
    """The one option that the text names, as it does where its header is left in."""
    text = " ".join(asked.score.casefold().split())
    named = [place for place, option in enumerate(asked.options) if option.strip() and option.casefold() in text]
    return str(named[0]) if len(named) == 1 else None


def _guessed(asked: _Asked, random: Random) -> str:
    if asked.form == "order":
        return "".join(random.sample("0123", 4))
    if asked.form == "index":
        return random.choice("0123")
    number = str(random.randint(1, _MOST))
    return number if asked.form == "number" or random.random() < 0.5 else "none"


def _worded(asked: _Asked, answer: str) -> str:
    return f"Answer: {answer}" if asked.labelled else answer


def _required(conversation: Conversation) -> _Asked:
    asked = _asked(conversation)
    if asked is None:
        raise ValueError("the conversation asks no question on a score in LilyPond")
    return asked


def _asked(conversation: Conversation) -> _Asked | None:
    """Take the user's last turn apart, from its end: a score may hold anything."""
    text = next((turn.text for turn in reversed(conversation.turns) if turn.role == "user"), "").rstrip()
    head, _, reply = text.rpartition("\n\n")
    form = next((form for words, form in _FORMS.items() if words in reply), None)
    if form is None:
        return None
    end = head.rfind(_AFTER)
    score = ""
    if end >= 0 and head.startswith(_BEFORE):
        score, head = head[len(_BEFORE) : end], head[end + len(_AFTER) :]
    question, _, listed = head.partition("\n\nOptions:\n")
    starts = [match.start() for match in _OPTION.finditer(listed)]
    if form in ("index", "order") and len(starts) != 4:
        return None
    options = [
        "\n".join(line.removeprefix("    ") for line in listed[start + 2 : after].strip("\n ").split("\n"))
        for start, after in pairwise([*starts, len(listed)])
    ]
    return _Asked(score, question, options, form, '"Answer:"' in reply)
