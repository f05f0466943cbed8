"""What a task sends to a model, known before anything is sent: requests, tokens, sounds, pictures, and the prompts."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, ContentAudio, ContentImage, ContentText

_PIECES: Final = {
    r"[A-Za-z]+": 0.51,  # a word, and
    r"(?<=[A-Za-z])[A-Za-z]": 0.13,  # each of its letters but the first
    r"[0-9]+": 1.16,
    r"[^\s\w]+": 1.29,  # punctuation in a row
    r"[\u3000-\u9fff\uac00-\ud7ff\uff00-\uffef]": 0.6,  # Chinese, Japanese, Korean
    r"\n+": 1.4,
}
_PER_MESSAGE: Final = 4  # tokens of a chat template


class Requests(NamedTuple):
    """The requests of a task, and what they hold together.

    Args:
        requests: how many; at least so many if `is_least`.
        tokens: of the texts, estimated.
        sounds: how many.
        pictures: how many.
        new_tokens: the most that all replies may have; None without a limit.
        is_least: whether solver or judges send more, by what the model replies.
    """

    requests: int
    tokens: int
    sounds: int
    pictures: int
    new_tokens: int | None
    is_least: bool

    def price(self, per_input: float, per_output: float) -> float | None:
        """Return the most that the texts cost, by prices of a million tokens; None without a limit."""
        return None if self.new_tokens is None else (self.tokens * per_input + self.new_tokens * per_output) / 1e6


def estimated_tokens(text: str) -> int:
    """Estimate the tokens of a text in English, Chinese or a notation.

    On the prompts of each task it is within 10% of what the tokenizers of GPT-4o and Qwen give, to whose mean it was
    fitted.

    Example:
        >>> estimated_tokens("Which quality has the chord?")
        6
    """
    return round(sum(weight * len(re.findall(piece, text)) for piece, weight in _PIECES.items()))


def requests_of(task: Task, *, limit: int | None = None, epochs: int = 1, max_tokens: int | None = None) -> Requests:
    """Count what a task sends.

    Args:
        task: the task.
        limit: only so many samples.
        epochs: how often each sample is asked.
        max_tokens: of a reply, in the place of the task's own limit.

    Example:
        >>> from music_evals.evals.musictheorybench import reasoning
        >>> requests_of(reasoning(), limit=2)[0]
        2
    """
    samples = list(task.dataset)[:limit]
    tokens = sounds = pictures = 0
    for sample in samples:
        for message in _messages(sample):
            tokens += estimated_tokens(message.text) + _PER_MESSAGE
            if not isinstance(message.content, str):
                sounds += sum(isinstance(part, ContentAudio) for part in message.content)
                pictures += sum(isinstance(part, ContentImage) for part in message.content)
    most = max_tokens or task.config.max_tokens
    condition = (task.metadata or {}).get("condition", {})
    is_least = condition.get("strategy") == "logiclm" or condition.get("judges", "rules") != "rules"
    count = len(samples) * epochs
    return Requests(
        count, tokens * epochs, sounds * epochs, pictures * epochs, most and most * count, is_least=is_least
    )


def prompt(sample: Sample) -> str:
    """Return what a sample sends as text: the messages under their roles, with sounds and pictures named."""
    lines: list[str] = []
    for message in _messages(sample):
        lines += [f"[{message.role}]", *_parts(message)]
    return "\n".join(lines)


def _messages(sample: Sample) -> list[ChatMessage]:
    return [message for message in sample.input if not isinstance(message, str)]


def _parts(message: ChatMessage) -> Iterator[str]:
    parts = [ContentText(text=message.content)] if isinstance(message.content, str) else message.content
    for part in parts:
        yield part.text if isinstance(part, ContentText) else f"[{part.type}]"
