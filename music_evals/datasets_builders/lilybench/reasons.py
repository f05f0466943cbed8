"""Explains in a sentence why the answer of a row is right, for readers of a log."""

from collections.abc import Mapping, Sequence
from typing import Final

from music_evals.datasets_builders.lilybench.rows import CLEAN, Protocol, TaskName, TaskRow

KINDS: Final[Mapping[str, str]] = {
    "invalid_metadata": "a key or clef that does not exist",
    "invalid_content": "text that is no music",
    "invalid_bar_duration": "a measure of a wrong length",
    "melodic_leap": "a melodic leap",
    "accidental_outside_key": "an accidental that is foreign to the key",
}
MAX_CHANGE: Final = 100
"""Characters of a change that is shown. If more differs, the row was not made from this text."""


def reasons(task: TaskName, protocol: Protocol, rows: Sequence[TaskRow], texts: Mapping[str, str]) -> dict[str, str]:
    """Explain why answers are right: id of the row → Markdown.

    Args:
        task: the task of the rows; only `bar_count` and `error_detection` have explanations.
        protocol: how the rows were made.
        rows: rows of a split of the task.
        texts: id of the piece → text without the error, from the config ``corpus``; a change is shown only if the text
            is there.
    """
    if task == "bar_count":
        by_protocol = {"strict": "LilyPond's count.", "paper": "the number of parts between the text's bar lines."}
        return {row["id"]: by_protocol[protocol] for row in rows}
    if task != "error_detection":
        return {}

    return {row["id"]: _error(row, texts.get(row["piece"])) for row in rows}


def change(before: str, after: str) -> tuple[str, str]:
    r"""Return the words in which two texts differ, as they were and as they are.

    Example:
        >>> change(r"\key g \major g4 a b", r"\key g \major g4 ais b")
        ('a', 'ais')
    """
    start = _common_length(before, after)
    start = max(before.rfind(blank, 0, start) for blank in " \n\t") + 1
    old, new = before[start:][::-1], after[start:][::-1]
    end = _common_length(old, new)
    while end and not all(text[end - 1].isspace() or text[end : end + 1].strip() == "" for text in (old, new)):
        end -= 1
    return old[end:][::-1].strip(), new[end:][::-1].strip()


def _common_length(first: str, second: str) -> int:
    pairs = enumerate(zip(first, second, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(first), len(second)))


def _error(row: TaskRow, text: str | None) -> str:
    if row["kind"] == CLEAN:
        return "nothing in this score was changed."
    error = f"{KINDS[row['kind']]} in measure {row['answer']}"
    old, new = change(text, row["score"]) if text else ("", "")
    if not new or max(len(old), len(new)) > MAX_CHANGE or "`" in old + new:
        return f"{error}."
    new, old = " ".join(new.split()), " ".join(old.split())
    return f"{error}: `{old}` became `{new}`." if old else f"{error}: `{new}` was put in."
