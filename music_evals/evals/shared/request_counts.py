"""Counts the requests, tokens, sounds and pictures of a task before anything is sent, and shows its
prompts.
"""

import re
from functools import partial
from itertools import chain
from string import ascii_uppercase
from typing import NamedTuple

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import ContentAudio, ContentText

from music_evals.scorers.chosen_option import MAX_TOKENS, REPLY_END, reader_trial, reading_prompt
from music_evals.scorers.readers.fields import FORM
from music_evals.solvers.chats import CHAT
from music_evals.solvers.stimulus import messages_of, pages_in, parts_of, question_message

_PIECES = {
    r"[A-Za-z]+": 0.51,  # a word, and
    r"(?<=[A-Za-z])[A-Za-z]": 0.13,  # each of its letters but the first
    r"[0-9]+": 1.16,
    r"[^\s\w]+": 1.29,  # punctuation in a row
    r"[\u3000-\u9fff\uac00-\ud7ff\uff00-\uffef]": 0.6,  # Chinese, Japanese, Korean
    r"\n+": 1.4,
}
_PER_MESSAGE = 4  # tokens of a chat template


class Requests(NamedTuple):
    """The number of requests of a task, and what all of them contain together."""

    requests: int
    tokens: int  # of the texts, estimated
    sounds: int
    pictures: int  # with the pages of PDFs
    new_tokens: int | None  # the most that all replies may have; None without a limit
    is_least: bool  # whether solver or judges send further requests, depending on the replies

    def price(self, per_input: float, per_output: float) -> float | None:
        """Return the highest price of the texts, from prices per million tokens; None without a
        limit.
        """
        if self.new_tokens is None:
            return None
        return (self.tokens * per_input + self.new_tokens * per_output) / 1e6

    def cells(self) -> tuple[str, str, str]:
        """Return what tables show: requests, what is sent, and the most new tokens."""
        texts = f"{self.tokens:,}"
        if self.sounds:
            texts += f", {self.sounds} sounds"
        if self.pictures:
            texts += f", {self.pictures} pictures"
        further = "+" * self.is_least
        most = "no limit" if self.new_tokens is None else f"{self.new_tokens:,}{further}"
        return f"{self.requests:,}{further}", texts, most


def estimated_tokens(text: str) -> int:
    """Estimate the tokens of a text in English, Chinese or a notation.

    It was fitted to the mean of the tokenizers of GPT-4o and Qwen, and is within 10% of it on the
    prompts of each task.

    Example:
        >>> estimated_tokens("Which quality has the chord?")
        6
    """
    return round(sum(weight * len(re.findall(piece, text)) for piece, weight in _PIECES.items()))


def requests_of(
    task: Task, *, limit: int | None = None, epochs: int = 1, max_tokens: int | None = None
) -> Requests:
    """Count what a task sends.

    Args:
        task: the task.
        limit: count only so many samples.
        epochs: how often each sample is asked.
        max_tokens: most tokens of a reply, instead of the task's own limit.

    Example:
        >>> from music_evals.evals.musictheorybench import reasoning
        >>> requests_of(reasoning(), limit=2)[0]
        2
    """
    samples = list(task.dataset)[:limit]
    chats = []
    for sample in samples:
        asked = messages_of(sample)
        turns = len((sample.metadata or {}).get(CHAT, [sample]))
        # A chat repeats its earlier questions.
        chats += [asked[: len(asked) - left] for left in reversed(range(turns))]
    messages = list(chain(*chats))
    parts = list(chain(*map(parts_of, messages)))
    tokens = sum(estimated_tokens(message.text) + _PER_MESSAGE for message in messages)
    sounds = sum(isinstance(part, ContentAudio) for part in parts)
    pictures = sum(map(pages_in, parts))
    most = max_tokens or task.config.max_tokens
    condition = (task.metadata or {}).get("condition", {})
    is_least = condition.get("strategy") == "logiclm" or condition.get("judges", "rules") != "rules"
    is_least |= len(chats) > len(samples)  # replies that a chat repeats are not known
    count = len(chats) * epochs
    sent = (tokens * epochs, sounds * epochs, pictures * epochs)
    return Requests(count, *sent, most and most * count, is_least)


def reader_requests(task: Task, *, limit: int | None = None, epochs: int = 1) -> Requests:
    """Count what a model in the role ``reader`` is sent at most: its trial, and each reply to a
    question with options, once.

    The end of a reply counts as text in Chinese, which has more tokens than any other of its
    length.
    """
    end = estimated_tokens("音" * REPLY_END)
    prompts = [_reading_prompt(sample) for sample in list(task.dataset)[:limit]]
    tokens = [_PER_MESSAGE + end + estimated_tokens(text) for text in prompts if text] * epochs
    if tokens:
        trial = reader_trial()
        shown = partial(reading_prompt, trial["question"], trial["options"])
        tried = map(shown, trial["replies"].values())
        tokens += [_PER_MESSAGE + estimated_tokens(text) for text in tried]
    count = len(tokens)
    return Requests(count, sum(tokens), 0, 0, MAX_TOKENS * count, is_least=False)


def _reading_prompt(sample: Sample) -> str:
    """The prompt for an empty reply; nothing if the reply to the sample is no free choice of an
    option.
    """
    metadata = sample.metadata or {}
    options = metadata.get("options") or sample.choices
    if CHAT in metadata or FORM in metadata or not options:
        return ""
    labels = dict(zip(ascii_uppercase, options, strict=False))
    return reading_prompt(question_message(sample)[1].get("question", ""), labels, "")


def prompt(sample: Sample) -> str:
    """Return what a sample sends as text: the messages under their roles, with sounds and pictures
    named.
    """
    lines = []
    for message in messages_of(sample):
        texts = (
            part.text if isinstance(part, ContentText) else f"[{part.type}]"
            for part in parts_of(message)
        )
        lines += [f"[{message.role}]", *texts]
    return "\n".join(lines)
