"""Why the answer of a row is right, in a sentence, for who reads a log: the row's score against the piece it is of."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from music_evals.datasets_builders.lilybench.rows import CLEAN, Protocol, TaskName, TaskRow
from music_evals.notation.lilypond.anonymous import anonymise

KINDS: Final[Mapping[str, str]] = {
    "invalid_metadata": "a key or clef that there is not",
    "invalid_content": "text that is no music",
    "invalid_bar_duration": "a measure of a wrong length",
    "melodic_leap": "a melodic leap",
    "accidental_outside_key": "an accidental that is foreign to the key",
}
MAX_CHANGE: Final = 100
"""Characters of a change that is told; where more differs, the texts are not those that the row was made from."""
MAX_TEXT: Final = 60_000
"""Characters of a text that is made anonymous again, which takes some 4 µs each."""


def reasons(task: TaskName, protocol: Protocol, rows: Sequence[TaskRow], texts: Mapping[str, str]) -> dict[str, str]:
    """Tell why answers are right: by id of the row, Markdown.

    Args:
        task: of the rows; there are reasons for `bar_count` and `error_detection` alone.
        protocol: how they were made.
        rows: of a split of the task.
        texts: of the pieces, by id, as the config ``corpus`` has them; without one its changes are not told.
    """
    if task == "bar_count":
        counted = "LilyPond's count." if protocol == "strict" else "the number of parts between the text's bar lines."
        return {row["id"]: counted for row in rows}
    if task != "error_detection":
        return {}

    @cache
    def text_of(piece: str) -> str | None:
        text = texts.get(piece)
        if text is None or protocol == "paper":
            return text
        try:
            return anonymise(text) if len(text) <= MAX_TEXT else None
        except ValueError:  # a text of another version, of which nothing was shown
            return None

    return {row["id"]: _error(row, text_of(row["piece"])) for row in rows}


def change(before: str, after: str) -> tuple[str, str]:
    r"""Return the words in which two texts differ, as they were and as they are.

    Example:
        >>> change(r"\key g \major g4 a b", r"\key g \major g4 ais b")
        ('a', 'ais')
    """
    start = _shared(before, after)
    start = max(before.rfind(blank, 0, start) for blank in " \n\t") + 1
    old, new = before[start:][::-1], after[start:][::-1]
    end = _shared(old, new)
    while end and not all(text[end - 1].isspace() or text[end : end + 1].strip() == "" for text in (old, new)):
        end -= 1
    return old[end:][::-1].strip(), new[end:][::-1].strip()


def _shared(first: str, second: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(first), len(second)))


def _error(row: TaskRow, text: str | None) -> str:
    if row["kind"] == CLEAN:
        return "nothing in this score was changed."
    told = f"{KINDS[row['kind']]} in measure {row['answer']}"
    was, now = change(text, row["score"]) if text else ("", "")
    if not now or max(len(was), len(now)) > MAX_CHANGE or "`" in was + now:
        return f"{told}."
    now, was = " ".join(now.split()), " ".join(was.split())
    return f"{told}: `{was}` became `{now}`." if was else f"{told}: `{now}` was put in."
