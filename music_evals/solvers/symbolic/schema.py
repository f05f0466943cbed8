"""The symbolic lines that a model writes for a deterministic solver, and their strict validation.

A formulation is one or more lines ``functor(identifier, [n1, n2, ...])``. Anything else is refused with one of
three kinds of error, which tell a model (and a person) what to repair:

- *parse*: the text is not made of such lines (commentary, code fences, broken brackets, no integers);
- *structural*: the lines are well formed but not the ones asked for (how many, functor, identifier, length);
- *domain*: an integer lies outside the allowed range.

Calls of a tool that is named as the functor are held to the same kinds, see `Schema.lines_of_calls`.

Source: "Evaluating Multimodal Large Language Models on Core Music Perception Tasks" (arXiv 2510.22455), Appendix C.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

ErrorKind = Literal["parse", "structural", "domain"]

MAX_CHARACTERS = 20_000  # a longer text is refused unread: no formulation that fits a schema comes near it

# Each part is delimited by a character that the part itself excludes, so that matching takes linear time.
_LINE = re.compile(r"([A-Za-z_]+)[ \t]*\(([^,()\[\]]+),[ \t]*\[([^\[\]()]*)\][ \t]*\)")
_INTEGER = re.compile(r"[+-]?[0-9]+")


class FormulationError(ValueError):
    """A formulation that a solver cannot read; the message is short enough to show to a model."""

    def __init__(self, kind: ErrorKind, message: str) -> None:
        super().__init__(message)
        self.kind, self.message = kind, message


@dataclass(frozen=True, slots=True)
class Schema:
    """The form of a formulation: the word that its lines start with, the range and most integers of a list.

    As tool calls it has the same word as the tool's name, and `listed` as the name of the list.
    """

    functor: str
    lowest: int
    highest: int
    longest: int
    listed: str = "pitches"

    def template(self, identifiers: Sequence[str]) -> str:
        """The required lines with placeholders, as a prompt shows them."""
        return "\n".join(f"{self.functor}({identifier}, [n1, n2, ..., nK])" for identifier in identifiers)

    def constraints(self) -> str:
        """The rules on the integers, as a prompt shows them."""
        return (
            f"every n is an integer from {self.lowest} to {self.highest}; "
            f"a list holds 1 to {self.longest} of them, separated by commas"
        )

    def write(self, identifiers: Sequence[str], lists: Sequence[Sequence[int]]) -> str:
        """Write a formulation, one line an identifier, of as many lists of integers."""
        return "\n".join(
            f"{self.functor}({identifier}, [{', '.join(map(str, numbers))}])"
            for identifier, numbers in zip(identifiers, lists, strict=True)
        )

    def arguments(self, identifiers: Sequence[str], lists: Sequence[Sequence[int]]) -> list[dict[str, Any]]:
        """The arguments of a formulation as tool calls, one call an identifier."""
        return [
            {"identifier": identifier, self.listed: list(numbers)}
            for identifier, numbers in zip(identifiers, lists, strict=True)
        ]

    def lines_of_calls(self, calls: Sequence[tuple[str, Mapping[str, Any] | str]], identifiers: Sequence[str]) -> str:
        """Write tool calls as lines, in the order of the identifiers.

        A call is the tool's name with its arguments, or with the reason why these cannot be read. FormulationError is
        *parse* for no call and for arguments that are not a text and a list of integers, then *structural* for
        another tool, another number of calls, and other identifiers.

        Example:
            >>> Schema("chord", 0, 127, 32).lines_of_calls([("chord", {"identifier": "a", "pitches": [60, 64]})], ["a"])
            'chord(a, [60, 64])'
        """
        if not calls:
            raise FormulationError("parse", f"the tool {self.functor} was not called")
        lists: dict[str, list[int]] = {}
        others = [name for name, _ in calls if name != self.functor]
        for name, arguments in calls:
            if isinstance(arguments, str):
                raise FormulationError("parse", f"the arguments of a call cannot be read: {_shown(arguments, 200)}")
            if name == self.functor:
                self._check(arguments)
                lists[arguments["identifier"].strip()] = arguments[self.listed]
        problem: str | None = None
        if others:
            problem = f"the tool {_shown(others[0])} was called, required is {self.functor!r}"
        elif len(calls) != len(identifiers):
            problem = f"{_counted(len(calls), 'call')} found, exactly {_counted(len(identifiers), 'call')} required"
        elif set(lists) != set(identifiers):
            problem = f"identifiers {_shown(', '.join(lists))} found, one call for each of {identifiers} required"
        if problem:
            raise FormulationError("structural", problem)
        try:
            return self.write(identifiers, [lists[identifier] for identifier in identifiers])
        except ValueError:  # Python does not write integers of thousands of digits
            message = f"an integer lies outside the allowed range {self.lowest} to {self.highest}"
            raise FormulationError("domain", message) from None

    def parse(self, text: str, identifiers: Sequence[str]) -> list[list[int]]:
        """Read one list of integers, which may be empty, for each of the identifiers in their order.

        Surrounding white space and empty lines are ignored, nothing else. FormulationError has the kind of the first
        error found (parse before structural before domain).

        Example:
            >>> Schema("rhythm", 1, 32, 64).parse("rhythm(Excerpt1, [1, 4, 9])", ["Excerpt1"])
            [[1, 4, 9]]
        """
        required = f"Required:\n{self.template(identifiers)}"
        if len(text) > MAX_CHARACTERS:
            raise FormulationError("parse", f"the output is longer than {MAX_CHARACTERS} characters. {required}")
        if not text.strip():
            raise FormulationError("parse", f"the output is empty. {required}")
        parsed = [self._split(line.strip()) for line in text.splitlines() if line.strip()]
        if len(parsed) != len(identifiers):
            message = f"{_counted(len(parsed), 'line')} found, exactly {_counted(len(identifiers), 'line')} required"
            raise FormulationError("structural", message)
        for (functor, identifier, numbers), expected in zip(parsed, identifiers, strict=True):
            problem: str | None = None
            if functor != self.functor:
                problem = f"the line starts with {_shown(functor)}, required is {self.functor!r}"
            elif identifier != expected:
                problem = f"identifier {_shown(identifier)} found, {expected!r} required"
            elif len(numbers) > self.longest:
                problem = f"the list holds {len(numbers)} integers, at most {self.longest} are allowed"
            if problem:
                raise FormulationError("structural", problem)
        return [[self._in_range(number) for number in numbers] for _, _, numbers in parsed]

    def pattern(self, identifiers: Sequence[str]) -> str:
        """A regular expression for exactly the valid, non-empty formulations, to constrain decoding with.

        It has no look-around or back-references, as grammar-constrained decoders accept.
        """
        number = _range_pattern(self.lowest, self.highest)
        return "\n".join(
            rf"{self.functor}\({re.escape(identifier)}, \[{number}(, {number}){{0,{self.longest - 1}}}\]\)"
            for identifier in identifiers
        )

    def _check(self, arguments: Mapping[str, Any]) -> None:
        numbers, problem = arguments.get(self.listed), ""
        if set(arguments) != {"identifier", self.listed}:
            found = _shown(", ".join(map(str, arguments)))
            problem = f"a call has the arguments {found}, required are 'identifier' and {self.listed!r}"
        elif not isinstance(arguments["identifier"], str):
            problem = "the argument 'identifier' of a call is no text"
        elif not isinstance(numbers, list) or not all(type(number) is int for number in numbers):
            problem = f"the argument {self.listed!r} of a call is no list of integers"
        if problem:
            raise FormulationError("parse", problem)

    def _split(self, line: str) -> tuple[str, str, list[str]]:
        match = _LINE.fullmatch(line)
        if match is None:
            form = f"{self.functor}(identifier, [n1, n2, ..., nK])"
            raise FormulationError("parse", f"the line {_shown(line)} does not have the form {form}")
        functor, identifier, inside = match.groups()
        numbers = [item.strip() for item in inside.split(",")] if inside.strip() else []
        for number in numbers:
            if not _INTEGER.fullmatch(number):
                raise FormulationError("parse", f"{_shown(number)} in the list is not an integer in the digits 0 to 9")
        return functor, identifier.strip(), numbers

    def _in_range(self, number: str) -> int:
        # The length is looked at first: turning a very long run of digits into an integer is not linear.
        if len(number) <= 6 and self.lowest <= int(number) <= self.highest:
            return int(number)
        message = f"{_shown(number)} lies outside the allowed range {self.lowest} to {self.highest}"
        raise FormulationError("domain", message)


def _range_pattern(lowest: int, highest: int) -> str:
    # Longest first: a matcher that takes the first alternative then still reads "12" as twelve.
    return "(" + "|".join(str(number) for number in range(highest, lowest - 1, -1)) + ")"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _shown(text: str, most: int = 80) -> str:
    """The text in quotes; of a long one both ends, as the fault is often at the far one."""
    if len(text) <= most:
        return repr(text)
    return repr(f"{text[: most // 2]} … {text[-most // 2 :]}")
