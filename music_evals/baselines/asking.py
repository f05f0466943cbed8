"""What a task asks in a conversation: read from the metadata ``asks`` of its messages, never from
the wording.

``asks`` has ``benchmark``, ``task``, ``answer_type`` (``choice``, ``number``, ``order``,
``measures``, ``text``, ``piece`` or ``symbols``) and ``form``, a template for the answer. Other
keys depend on the task: ``answers``, ``majority``, ``options``, ``question`` or ``questions``,
``kind``, ``notation``, ``music`` (spans of the text), ``stimulus`` if the music is not the
question's own, and what symbolic lines (``identifiers``, ``refused``) or pieces (``attempt``) need.
A later message repeats only the keys that differ.
"""

import json
from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from string import Template
from types import MappingProxyType
from typing import Any

import click
from inspect_ai.model import ChatMessage, ChatMessageAssistant


class BaselineError(click.ClickException, ValueError):
    """A baseline cannot do what is asked; Inspect's command line and logs show the message
    alone.
    """


@dataclass(frozen=True, slots=True)
class Request:
    """The question at the end of a conversation."""

    keys: Mapping[str, Any]  # ``asks`` of all messages; later values replace earlier ones
    music: tuple[str, ...]  # the stimuli of the last message that shows any as text
    reply: str  # what the model itself wrote last
    random: Random  # with the same seed for the same conversation

    @property
    def task(self) -> str:
        """Benchmark and task, such as ``muse syncopation``."""
        return f"{self.keys['benchmark']} {self.keys['task']}"

    def worded(self, answer: str) -> str:
        """Word an answer in the form that the task asks for."""
        return Template(self.keys.get("form", "$answer")).safe_substitute(answer=answer)


def read_conversation(
    messages: Sequence[ChatMessage], metadata: Mapping[str, Any] = MappingProxyType({})
) -> Request:
    """Return what a conversation asks; `BaselineError` if neither its messages nor the sample's
    metadata say it.
    """
    asking = [message for message in messages if "asks" in (message.metadata or {})]
    asked = [(message.metadata or {})["asks"] for message in asking]
    if not asking and isinstance(facts := metadata.get("asks"), str):
        # Inspect makes the messages of prompts from the Hub, without metadata.
        asking = [messages[-1]]
        asked = [json.loads(facts)]
    if not asking:
        raise BaselineError(
            "the baselines answer the tasks of music-evals only: neither a message of this "
            "conversation nor its sample says in its metadata what is asked"
        )
    replies = [message.text for message in messages if isinstance(message, ChatMessageAssistant)]
    fields = {"role", "content", "tool_calls", "error"}
    conversation = [message.model_dump(include=fields) for message in messages]
    return Request(
        keys=dict(ChainMap(*reversed(asked))),
        music=_last_music(asking, asked),
        reply=replies[-1] if replies else "",
        random=Random(json.dumps(conversation, default=str)),
    )


def _last_music(
    messages: Sequence[ChatMessage], asked: Sequence[Mapping[str, Any]]
) -> tuple[str, ...]:
    """The music in the text of the last message that has any."""
    for message, facts in zip(reversed(messages), reversed(asked), strict=True):
        if spans := facts.get("music"):
            return tuple(message.text[start:end] for start, end in spans)
    return ()
