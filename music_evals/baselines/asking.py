"""What a task asks in a conversation, by the metadata ``asks`` of its messages; nothing goes by the words of prompts.

Such metadata says ``benchmark``, ``task``, ``answer_type`` (``choice``, ``number``, ``order``, ``measures``, ``text``,
``piece`` or ``symbols``) and ``form``, a template for the answer; where there are such, ``answers`` and ``majority``,
``options``, ``question`` or ``questions``, ``kind``, ``notation`` and ``music`` (spans of the text), ``stimulus`` where
the music is not the question's own, and what symbolic lines (``functor``, ``identifiers``, ``refused``) or pieces
(``attempt``) need. A later message need only say what differs.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from string import Template
from types import MappingProxyType
from typing import Any, Final

import click
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool

_TOOLS: Final = {"number": "count_measures", "choice": "read_key_and_metre", "measures": "list_problems"}
"""Type of answer → the tool of LilyBench that helps to find it."""


class BaselineError(click.ClickException, ValueError):
    """What a baseline cannot do; Inspect's command line and logs show the message alone."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A conversation that ends in a question of a task."""

    keys: Mapping[str, Any]  # ``asks`` of all messages; what a later one says counts
    music: tuple[str, ...]  # the stimuli of the last message that shows any as text
    tools: Sequence[str]  # that may be called
    has_called: bool  # whether a tool's result follows the question
    reply: str  # what the model itself wrote last
    random: Random  # the same for the same conversation

    @property
    def task(self) -> str:
        """Benchmark and task, such as ``muse syncopation``."""
        return f"{self.keys['benchmark']} {self.keys['task']}"

    @property
    def helpful_tool(self) -> str | None:
        """The tool to call: one that takes symbolic lines, or one that reads the score, before the first answer."""
        if self.keys["answer_type"] == "symbols":
            return next(iter(self.tools), None)
        tool = _TOOLS.get(self.keys["answer_type"])
        return tool if tool in self.tools and not self.has_called else None

    def worded(self, answer: str) -> str:
        """Word an answer in the form that is asked for."""
        return Template(self.keys.get("form", "$answer")).safe_substitute(answer=answer)


def read_conversation(
    messages: Sequence[ChatMessage], tools: Sequence[str], metadata: Mapping[str, Any] = MappingProxyType({})
) -> Asked:
    """Find what is asked; `BaselineError` where neither a message nor the sample's metadata says it."""
    asking = [(each, asks) for each in messages if (asks := (each.metadata or {}).get("asks"))]
    if not asking and isinstance(told := metadata.get("asks"), str):
        # Inspect makes messages of prompts from the Hub, which carry no metadata.
        asking = [(messages[-1], json.loads(told))]
    if not asking:
        raise BaselineError(
            "the baselines answer the tasks of music-evals only: neither a message of this conversation nor its sample "
            "says in its metadata what is asked"
        )
    text, spans = next(((each.text, asks["music"]) for each, asks in reversed(asking) if asks.get("music")), ("", ()))
    last, keys = asking[-1][0], {key: value for _, asks in asking for key, value in asks.items()}
    said = [each.model_dump(include={"role", "content", "tool_calls", "error"}) for each in messages]
    return Asked(
        keys=keys,
        music=tuple(text[start:end] for start, end in spans),
        tools=tools,
        has_called=any(isinstance(each, ChatMessageTool) for each in messages[messages.index(last) :]),
        reply=next((each.text for each in reversed(messages) if isinstance(each, ChatMessageAssistant)), ""),
        random=Random(json.dumps(said, default=str)),
    )
