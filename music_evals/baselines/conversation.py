"""What a baseline sees of a conversation: plain text by turns, and the marks by which it finds its way in it."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

_OPTION = re.compile(r"^([A-Z])[.)][ \t]+(.+)$", re.MULTILINE)
_SENTENCE = re.compile(r"^(?:Final Answer: )?((?:Yes|No),[^\n]*\.)[ \t]*$", re.MULTILINE)
_REQUIRED = re.compile(r"^([a-z]+)\(([^,()\n]+), \[n1, ", re.MULTILINE)
_OUTPUT = re.compile(r"<output>\n(.*)\n</output>", re.DOTALL)
_IDENTIFIER = re.compile(r"^([A-Za-z]+[0-9]+):[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation.

    Args:
        role: system, user, assistant or tool.
        text: its text.
        media: the addresses or data of its audio and images.
    """

    role: str
    text: str
    media: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages that a model is given, with the names of the tools that it may call.

    Args:
        turns: the messages in order; the last one is to be answered.
        tools: names of the tools on offer, empty where none may be called.
    """

    turns: tuple[Turn, ...]
    tools: tuple[str, ...] = ()

    @property
    def system(self) -> str:
        """The system message, or nothing."""
        return self.turns[0].text if self.turns and self.turns[0].role == "system" else ""

    @property
    def last(self) -> Turn:
        """The message to be answered."""
        return self.turns[-1]

    @property
    def refused(self) -> str | None:
        """The output that a refinement request shows again, or None if the last turn is no such request."""
        match = _OUTPUT.search(self.last.text)
        return match[1] if match else None

    def required_lines(self) -> tuple[str, list[str]]:
        """The functor and the identifiers of the lines that a refinement request asks for."""
        found: list[tuple[str, str]] = _REQUIRED.findall(self.last.text[self.last.text.rfind("</output>") :])
        return (found[0][0], [identifier for _, identifier in found]) if found else ("", [])

    def identifiers(self) -> list[str]:
        """The identifiers of the trial, each on a line of its own before its stimulus."""
        return _IDENTIFIER.findall(self.trial.text)

    @property
    def trial(self) -> Turn:
        """The latest user turn that names a stimulus; the last turn where none does."""
        for turn in reversed(self.turns):
            if turn.role == "user" and _IDENTIFIER.search(turn.text):
                return turn
        return self.last

    def options(self) -> list[str]:
        """The texts of the lettered options, from the latest turn that lists any; empty where none does."""
        for turn in reversed(self.turns):
            if found := _OPTION.findall(turn.text):
                return [text for _, text in found]
        return []

    def sentences(self) -> list[str]:
        """The answers that are to be given as whole sentences, from the latest turn that lists any."""
        for turn in reversed(self.turns):
            if turn.role in ("system", "user") and (found := _SENTENCE.findall(turn.text)):
                return list(dict.fromkeys(found))
        return []

    def wants_formulation(self, functors: Sequence[str]) -> str | None:
        """The functor of the symbolic lines that the system message asks for, while they are still to be written."""
        if self.last is not self.trial and not self.tools:
            return None
        return next((functor for functor in functors if f"\n{functor}(" in self.system), None)

    def digest(self) -> bytes:
        """A hash of everything in the conversation, to draw from deterministically."""
        state = hashlib.sha256()
        for turn in self.turns:
            for part in (turn.role, turn.text, *turn.media):
                state.update(part.encode("utf-8", "surrogatepass"))
                state.update(b"\0")
        return state.digest()


def final_line(conversation: Conversation, answer: str) -> str:
    """Word an answer in the form that the conversation asks for.

    Args:
        conversation: the conversation; a bare sentence is given only where no "Final Answer" line is asked for.
        answer: letter or sentence.

    Example:
        >>> final_line(Conversation((Turn("system", "Close with\\nFinal Answer: X"),)), "B")
        'Final Answer: B'
    """
    asked = any("Final Answer" in turn.text for turn in conversation.turns if turn.role in ("system", "user"))
    return f"Final Answer: {answer}" if asked else answer
