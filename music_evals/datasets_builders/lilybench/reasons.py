"""Explains in a sentence why the answer of a row is right, for readers of a log."""

from collections.abc import Mapping, Sequence
from itertools import takewhile

from music_evals.datasets_builders.lilybench.rows import CLEAN, Protocol, TaskName, TaskRow

KINDS: Mapping[str, str] = {
    "invalid_metadata": "a key or clef that does not exist",
    "invalid_content": "text that is no music",
    "invalid_bar_duration": "a measure of a wrong length",
    "melodic_leap": "a melodic leap",
    "accidental_outside_key": "an accidental that is foreign to the key",
}
# characters of a change that is shown; if more differs, the row was not made from this text
MAX_CHANGE = 100


def reasons(
    task: TaskName, protocol: Protocol, rows: Sequence[TaskRow], texts: Mapping[str, str]
) -> dict[str, str]:
    """Explain why answers are right: id of the row → Markdown.

    Args:
        task: the task of the rows; only `bar_count` and `error_detection` have explanations.
        protocol: how the rows were made.
        rows: rows of a split of the task.
        texts: id of the piece → text without the error, from the config ``corpus``; a change is
            shown only if the text is there.
    """
    if task == "bar_count":
        by_protocol = {
            "strict": "LilyPond's count.",
            "paper": "the number of parts between the text's bar lines.",
        }
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
    old, new = before.split(), after.split()
    for _ in takewhile(lambda two: two[0] == two[1], list(zip(old, new, strict=False))):
        del old[0], new[0]
    for _ in takewhile(lambda two: two[0] == two[1], list(zip(old[::-1], new[::-1], strict=False))):
        del old[-1], new[-1]
    return " ".join(old), " ".join(new)


def _error(row: TaskRow, text: str | None) -> str:
    if row["kind"] == CLEAN:
        return "nothing in this score was changed."
    error = f"{KINDS.get(row['kind'], 'errors')} in measure {row['answer']}"
    old, new = change(text, row["score"]) if text else ("", "")
    if not new or max(len(old), len(new)) > MAX_CHANGE or "`" in old + new:
        return f"{error}."
    return f"{error}: `{old}` became `{new}`." if old else f"{error}: `{new}` was put in."
