"""The symbolic lines that a model writes for a deterministic solver, and their strict validation.

A formulation is one or more lines ``functor(identifier, [n1, n2, ...])``. Any other text is refused
with one of three kinds of error, which say what to repair:

- *parse*: the text is not made of such lines (commentary, code fences, broken brackets, no
  integers);
- *structural*: the lines are well formed but not the required ones (number, functor, identifier,
  length);
- *domain*: an integer lies outside the allowed range.

Source: "Evaluating Multimodal Large Language Models on Core Music Perception Tasks" (arXiv
2510.22455), Appendix C.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Lists = Sequence[Sequence[int]]
"""The integers of a formulation: a list for each identifier."""
ErrorKind = Literal["parse", "structural", "domain"]

MAX_CHARACTERS = 20_000  # a longer text is refused unread; valid formulations are far shorter

# Each part is delimited by a character that the part itself excludes, so that matching takes linear
# time.
_LINE = re.compile(r"([A-Za-z_]+)[ \t]*\(([^,()\[\]]+),[ \t]*\[([^\[\]()]*)\][ \t]*\)")
_INTEGER = re.compile(r"[+-]?[0-9]+")


class FormulationError(ValueError):
    """A formulation that a solver cannot read; the message is short enough to show to a model."""

    def __init__(self, kind: ErrorKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


@dataclass(frozen=True, slots=True)
class Schema:
    """The form of a formulation: the first word of its lines, the range of the integers, and the
    longest list.

    `in_order` says whether the order of the integers counts.
    """

    functor: str
    lowest: int
    highest: int
    longest: int
    in_order: bool = False

    def template(self, identifiers: Sequence[str]) -> str:
        """The required lines without numbers: a model takes placeholders for content."""
        return "\n".join(self._line(identifier, "") for identifier in identifiers)

    def constraints(self) -> str:
        """The rules on the integers, as a prompt shows them."""
        return (
            f"every number is an integer from {self.lowest} to {self.highest}; "
            f"a list holds 1 to {self.longest} of them, separated by commas"
        )

    def write(self, identifiers: Sequence[str], lists: Lists) -> str:
        """Write a formulation, one line per identifier and list of integers."""
        lines = zip(identifiers, lists, strict=True)
        return "\n".join(
            self._line(identifier, ", ".join(map(str, numbers))) for identifier, numbers in lines
        )

    def _line(self, identifier: str, numbers: str) -> str:
        return f"{self.functor}({identifier}, [{numbers}])"

    def parse(self, text: str, identifiers: Sequence[str]) -> list[list[int]]:
        """Read one list of integers, which may be empty, for each of the identifiers in their
        order.

        Only white space around lines and empty lines are ignored. FormulationError has the kind of
        the first error (parse before structural before domain).

        Example:
            >>> Schema("rhythm", 1, 32, 64).parse("rhythm(Excerpt1, [1, 4, 9])", ["Excerpt1"])
            [[1, 4, 9]]
        """
        required = f"Required:\n{self.template(identifiers)}"
        if len(text) > MAX_CHARACTERS:
            raise FormulationError(
                "parse", f"the output is longer than {MAX_CHARACTERS} characters. {required}"
            )
        if not text.strip():
            raise FormulationError("parse", f"the output is empty. {required}")
        lines = [self._split(line.strip()) for line in text.splitlines() if line.strip()]
        if len(lines) != len(identifiers):
            actual, exact = (
                f"{number} line{'' if number == 1 else 's'}"
                for number in (len(lines), len(identifiers))
            )
            message = f"{actual} found, exactly {exact} required"
            raise FormulationError("structural", message)
        for line, identifier in zip(lines, identifiers, strict=True):
            self._check_structure(*line, identifier)
        return [list(map(self._integer, numbers)) for _, _, numbers in lines]

    def _check_structure(
        self, functor: str, identifier: str, numbers: Sequence[str], required: str
    ) -> None:
        message = ""
        if functor != self.functor:
            message = f"the line starts with {_shown(functor)}, required is {self.functor!r}"
        elif identifier != required:
            message = f"identifier {_shown(identifier)} found, {required!r} required"
        elif len(numbers) > self.longest:
            message = f"the list holds {len(numbers)} integers, at most {self.longest} are allowed"
        if message:
            raise FormulationError("structural", message)

    def _integer(self, number: str) -> int:
        # The length is checked first: turning a very long run of digits into an integer is not
        # linear.
        if len(number) > 6 or not self.lowest <= int(number) <= self.highest:
            outside = f"{_shown(number)} lies outside the allowed range"
            raise FormulationError("domain", f"{outside} {self.lowest} to {self.highest}")
        return int(number)

    def _split(self, line: str) -> tuple[str, str, list[str]]:
        match = _LINE.fullmatch(line)
        if match is None:
            raise FormulationError(
                "parse",
                f"the line {_shown(line)} does not have the form {self.functor}(identifier, "
                "[numbers])",
            )
        functor, identifier, inside = match.groups()
        numbers = [item.strip() for item in inside.split(",")] if inside.strip() else []
        for number in numbers:
            if not _INTEGER.fullmatch(number):
                raise FormulationError(
                    "parse", f"{_shown(number)} in the list is not an integer in the digits 0 to 9"
                )
        return functor, identifier.strip(), numbers


def _shown(text: str) -> str:
    """The text in quotes; of a long text both ends, because the error is often at the second."""
    return repr(text if len(text) <= 80 else f"{text[:40]} … {text[-40:]}")
