"""Explanations of scores: the question, the expected answer and why, the answer that was read and
by which rule.

They are Markdown for Inspect's viewer. All text of datasets and models is cut to a length and set
as code, so that nothing in it counts as markup.
"""

from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from inspect_ai.scorer import CORRECT, INCORRECT, NOANSWER, Score
from inspect_ai.solver import TaskState

from music_evals.scorers.readers import ERROR, Reading
from music_evals.scorers.readers.verdicts import Verdict
from music_evals.scorers.scores import READ_AS, fence

WHY = "why"  # the key of a sample's metadata that says why its right answer is right
MOST = 600  # characters of a text that are shown
MOST_OF_OPTION = 160
_REPLY_END = 200


def make_score(
    state: TaskState,
    options: Sequence[str],
    verdict: Verdict,
    expected: str = "",
    worth: str = "",
    value: float | None = None,
    **metadata: Any,
) -> Score:
    """Score an answer as right, wrong or missing, or by a value; the metadata say how the reply was
    read.

    Args:
        state: of the sample.
        options: as for `explained`, like `worth`.
        verdict: on the reply.
        expected: the right answer as the explanation has it, if not as the verdict has it.
        worth: what the answer is worth, in words.
        value: the score of an answer that may be right in part.
        metadata: of the score.
    """
    reading = verdict.reading
    if reading.error:
        metadata[ERROR] = reading.error
    score = Score(
        value=CORRECT if reading.answer == verdict.right else INCORRECT,
        answer=reading.answer,
        explanation=explained(state, options, expected or verdict.right, reading, worth),
        metadata={"reading": reading.status, **metadata},
    )
    if reading.answer is None:
        score.value = NOANSWER
        score.reason = "no_response" if reading.status == "empty" else "invalid_response_format"
    if value is not None:
        score.value = value
    return score


def explained(
    state: TaskState, options: Sequence[str], expected: str, reading: Reading, worth: str = ""
) -> str:
    """Explain the score of one answer.

    `expected` is a letter, an index, the text of an option, or any other answer. `worth` names the
    points of the answer, if they are neither all nor none.
    """
    parts = [asked_and_expected(state, options, expected, reading.answer)]
    by = f", from {reading.rule}" if reading.rule else ""
    if reading.answer is not None:
        parts.append(f"**Read:** {named(reading.answer, options)}{by}.")
    else:
        parts.append(f"**Read:** no answer; the reply {READ_AS[reading.status]}{by}.")
        if reading.error:
            parts[-1] += f" The reader failed: {code(reading.error, MOST)}."
        end = state.output.completion[-_REPLY_END:].strip()
        if end and reading.status != "empty":
            parts[-1] += f" It ends in {code(end, _REPLY_END)}."
    if worth:
        parts.append(f"**Worth:** {worth}")
    return "\n\n".join(parts)


def asked_and_expected(
    state: TaskState, options: Sequence[str], expected: str, answer: str | None
) -> str:
    """Word the question, its options with marks at the expected and the given answer, and the
    expected answer.
    """
    question = asks_of(state).get("question")
    why = state.metadata.get(WHY)
    parts = [f"**Asked:** {code(question, MOST)}"] if question else []
    parts += [_listed(options, expected, answer)] if options else []
    parts.append(f"**Expected:** {named(expected, options)}")
    parts += [f"**Why:** {why}"] if why else []
    return "\n\n".join(parts)


def asks_of(state: TaskState) -> Mapping[str, Any]:
    """Return the facts of the question in the metadata of the input's last message."""
    if not state.input or isinstance(state.input, str):
        return {}
    asks: Mapping[str, Any] = (state.input[-1].metadata or {}).get("asks", {})
    return asks


def code(text: str | None, most: int = MOST_OF_OPTION) -> str:
    """Set text as a span of code in one line, cut to a number of characters; no backtick in it can
    end the span.

    Example:
        >>> code("c4  d"), code("a `b`"), code("Allegro vivace", 8)
        ('`c4 d`', '`` a `b` ``', '`Allegro…`')
    """
    shown = shortened(text, most)
    ends = fence(shown)
    return f"{ends} {shown} {ends}" if "`" in shown else f"{ends}{shown}{ends}"


def shortened(text: str | None, most: int) -> str:
    """Return a text in one line, cut to a number of characters; a dash if there is none."""
    whole = " ".join((text or "").split()) or "–"
    return whole if len(whole) <= most else f"{whole[: most - 1]}…"


def named(answer: str, options: Sequence[str]) -> str:
    """Set an answer as code; if it is a letter or an index, add its option."""
    place = -1
    if len(answer) == 1:
        place = int(answer) if answer in "0123456789" else ascii_uppercase.find(answer)
    return f"{code(answer)} {code(options[place])}" if 0 <= place < len(options) else code(answer)


def _listed(options: Sequence[str], expected: str, answer: str | None) -> str:
    """The options, with letters or indices if the expected answer is one, and marks at the
    answers.
    """
    names = options
    if expected.isdigit():
        names = "0123456789"[: len(options)]
    elif len(expected) == 1:
        names = ascii_uppercase[: len(options)]
    lines = []
    for name, option in zip(names, options, strict=True):
        label = "" if name == option else f"{code(name)} "
        marks = [
            mark
            for mark, marked in {"expected": expected, "read": answer}.items()
            if marked == name
        ]
        pointer = f" ← {' and '.join(marks)}" if marks else ""
        lines.append(f"- {label}{code(option)}{pointer}")
    return "\n".join(lines)
