"""How the baselines answer questions on scores: by reading the ABC, or by chance."""

import re
from random import Random
from typing import Final

from music_evals.baselines.conversation import Conversation
from music_evals.baselines.msu.answers import UNKNOWN, answer
from music_evals.baselines.msu.score import Score, read_score

_SINGLE: Final = "Question: "
_BATCH: Final = re.compile(r"Answer the following [0-9]{1,5} questions\b")
_NUMBERED: Final = re.compile(r"[0-9]{1,5}\. (.*)")
_TITLE: Final = re.compile(r"^The piece is: (.+)$", re.MULTILINE)
_YES_NO: Final = re.compile(
    r"(?:Is|Are|Was|Were|Do|Does|Did|Has|Have|Can)\b|.{0,300}, (?:is there|are there|does|do)\b", re.IGNORECASE
)


def recognises(conversation: Conversation) -> bool:
    """Say whether a conversation asks a question, or several, on a score.

    Args:
        conversation: the conversation.

    Returns:
        Whether its last turn ends as ``music_evals/benchmarks/msu/prompts.toml`` has it.

    Example:
        >>> from music_evals.baselines.conversation import Turn
        >>> recognises(Conversation((Turn("user", "X:1\\nK:C\\nC | %1\\n\\nQuestion: Who composed this piece?"),)))
        True
        >>> recognises(Conversation((Turn("user", "Question: Which?\\n\\nA. This\\nB. That"),)))
        False
    """
    return bool(_asked(conversation)[1])


def read(conversation: Conversation, random: Random) -> str:
    """Answer by reading the score.

    Args:
        conversation: the conversation, whose last turn holds the score and ends in a question or several.
        random: not used; the reader guesses nothing.

    Returns:
        The answer, or a numbered line for each; ``Unknown`` for what the score does not say.

    Raises:
        ValueError: the conversation asks no such question; see `recognises`.

    Example:
        >>> from music_evals.baselines.conversation import Turn
        >>> asked = "Answer the following 2 questions:\\n\\n1. Who composed it?\\n2. Why?"
        >>> prompt = f"X:1\\nC:Erik Satie\\nK:C\\nC | %1\\n\\n{asked}"
        >>> print(read(Conversation((Turn("user", prompt),)), Random(1)))
        1. Erik Satie
        2. Unknown
    """
    given, questions, is_batch = _required(conversation)
    try:
        score = read_score(given)
    except ValueError:
        score = Score()
        if title := _TITLE.search(given):
            score.title, _, score.composer = title[1].rpartition(" by ")
            if not score.title:
                score.title, score.composer = score.composer, ""
    return _written([answer(score, question) for question in questions], is_batch)


def guess(conversation: Conversation, random: Random) -> str:
    """Answer yes/no questions by chance.

    Args:
        conversation: the conversation.
        random: the source of chance.

    Returns:
        The answer, or a numbered line for each; ``Unknown`` for questions that ask for more than yes or no.

    Raises:
        ValueError: the conversation asks no such question; see `recognises`.

    Example:
        >>> from music_evals.baselines.conversation import Turn
        >>> guess(Conversation((Turn("user", "Question: Who composed this piece?"),)), Random(1))
        'Unknown'
    """
    _, questions, is_batch = _required(conversation)
    answers = [random.choice(("Yes", "No")) if _YES_NO.match(question) else UNKNOWN for question in questions]
    return _written(answers, is_batch)


def _written(answers: list[str], is_batch: bool) -> str:
    if not is_batch:
        return answers[0]
    return "\n".join(f"{number}. {each}" for number, each in enumerate(answers, start=1))


def _required(conversation: Conversation) -> tuple[str, list[str], bool]:
    asked = _asked(conversation)
    if not asked[1]:
        raise ValueError("the conversation does not end in questions on a score")
    return asked


def _asked(conversation: Conversation) -> tuple[str, list[str], bool]:
    """What comes ahead of the questions, the questions, and whether they are numbered."""
    text = conversation.last.text.rstrip()
    place = text.rfind("\n") + 1
    if text.startswith(_SINGLE, place):
        return text[:place], [text[place + len(_SINGLE) :].strip()], False
    head, _, paragraph = text.rpartition("\n\n")
    numbered = [_NUMBERED.fullmatch(line) for line in paragraph.splitlines()]
    start = head.rfind("\n") + 1
    if _BATCH.match(head, start) is None:
        return text, [], False
    return head[:start], [match[1] for match in numbered if match], True
