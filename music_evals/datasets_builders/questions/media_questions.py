"""Questions of text, sound, pictures and notation in any order, and their rows.

A row holds the question as text with a mark where each file is: ``<audio 1>``, ``<image 2>``,
``<abc 1>``, numbered within their columns. An option may be such a mark.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from string import ascii_uppercase
from typing import Any, Literal, TypedDict

from music_evals.datasets_builders.dataset_io import (
    DatasetError,
    FileCell,
    Text,
    features_of,
    list_names,
)

MARK = re.compile(r"<(audio|image|abc) (\d+)>")
"""Where a question or an option has a file, or notation: its kind, and its number in the row's
column.
"""
ABSENT = b"-"
"""The bytes of a file in a row that lacks files."""
NO_ANSWER = "?"
"""The answer of a question whose answer is not public; it is asked for a submission and not scored.
"""


class MediaQuestionRow(TypedDict):
    """A question; `answer` is the letter of an option or, without options, a short text; or
    `NO_ANSWER`.
    """

    id: str
    question: Text
    options: list[Text]
    answer: Text
    audio: list[FileCell]
    images: list[FileCell]
    abc: list[Text]
    theme: str | None
    subtheme: str | None
    piece: str | None  # what several questions are about
    tags: list[str]  # further groups of the question, as ``KIND: NAME``; a kind may have several
    answer_kind: str | None  # how an answer is scored; None: an option by letter, or a short text


OF_TAGS = ("labels", "list")
"""Kinds of answers whose options are a vocabulary, and whose answer is tags of it."""
_MOST_TAGS = 1_000


def _problem(
    question: str,
    options: list[str],
    answer: str,
    audio: list[Any],
    images: list[Any],
    abc: list[str],
    answer_kind: str | None,
) -> str | None:
    """Say what is wrong with a row."""
    if answer_kind in OF_TAGS:
        unknown = [tag for tag in answer.split("; ") if tag not in options]
        if unknown or len(options) > _MOST_TAGS:
            return f"its tags {unknown!r:.80} are none of its {len(options)} options"
    elif options and not 2 <= len(options) <= len(ascii_uppercase):
        return f"it has {len(options)} options; accepted are none, and 2 to {len(ascii_uppercase)}"
    elif options and answer not in [*ascii_uppercase[: len(options)], NO_ANSWER]:
        return (
            f"its answer is {answer!r:.40}; accepted is the letter of one of its {len(options)} "
            "options"
        )
    marks = MARK.findall("\n".join([question, *options]))
    columns = {"audio": audio, "image": images, "abc": abc}
    if sorted(marks) != sorted(
        (kind, str(n)) for kind, files in columns.items() for n in range(1, len(files) + 1)
    ):
        return f"its marks {marks!r:.100} do not name each of its files once"
    return None


FEATURES = features_of(MediaQuestionRow, _problem, audio="audios", images="images")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a question that is no plain text.

    Args:
        kind: what it is.
        content: notation; or of a file its path, names to try in turn, its bytes, or path and bytes
            as `datasets` has them.
    """

    kind: Literal["audio", "image", "abc"]
    content: str | tuple[str, ...] | bytes | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MediaQuestion:
    """A question of a source.

    `right` is the place of the right option; without options, or with tags (`OF_TAGS`), the text of
    the answer; None if it is not public. `answer_kind` is ``label`` for options that are shown and
    named by their texts, or a kind of `music_evals.scorers.answer_kinds`.
    """

    id: str
    parts: Sequence[str | Part]  # with a blank line between them
    options: Sequence[str | Part]
    right: int | str | None
    theme: str | None = None
    subtheme: str | None = None
    piece: str | None = None
    tags: Sequence[str] = ()
    answer_kind: str | None = None

    @classmethod
    def mixed(
        cls,
        name: str,
        parts: Sequence[str | Part],
        right: str | Part,
        wrong: Sequence[str | Part],
        **groups: Any,
    ) -> "MediaQuestion":
        """Make a question of a source that names the right option first: always in the same order
        for an id.

        >>> MediaQuestion.mixed("7", ["Which drum?"], "Bongo", ["Djembe", "Taiko"]).options
        ['Bongo', 'Taiko', 'Djembe']
        """
        place = Random(f"{name} right").randrange(len(wrong) + 1)
        wrong_options = Random(f"{name} wrong").sample(wrong, len(wrong))
        return cls(
            name, parts, [*wrong_options[:place], right, *wrong_options[place:]], place, **groups
        )


Record = Mapping[str, Any]
"""An entry of a published file: field → value."""


@dataclass(frozen=True, slots=True)
class JoinedSound:
    """Records of another file that hold the sound of the questions.

    Args:
        files: pattern of names.
        read: returns the names of a record's sound, which the questions' parts name, and the bytes.
    """

    files: str
    read: Callable[[Record], tuple[Sequence[str], bytes]]


@dataclass(frozen=True, slots=True)
class Records:
    """Where the records of a task are, and how one becomes a question, or several; None for a
    record of another task. A record gets the name of its file's folder as ``folder``, and all files
    of the source as ``files``: path within it → file.
    """

    files: Sequence[str]  # patterns of names; the first that any file matches counts
    read: Callable[[Record], MediaQuestion | Sequence[MediaQuestion] | None]
    joined: JoinedSound | None = None


def check_complete(missing: Sequence[str], dataset: str, allow_partial: str) -> None:
    """Raise DatasetError if files were missing or damaged, which names the parameter that allows
    it.
    """
    if missing:
        raise DatasetError(
            f"{len(missing)} files of {dataset} are missing or damaged: {list_names(missing)}; "
            f"complete them, or take the other questions with {allow_partial}"
        )


def row_of(question: MediaQuestion, load: Callable[[Part], bytes]) -> MediaQuestionRow:
    """Make the row of a question; `load` returns the bytes of a sound or a picture."""
    columns: dict[str, list[Any]] = {"audio": [], "image": [], "abc": []}

    def marked(part: str | Part) -> str:
        if isinstance(part, str):
            return MARK.sub(lambda mark: mark[0].replace("<", "< "), part).strip()
        files = columns[part.kind]
        files.append(part.content if part.kind == "abc" else {"bytes": load(part), "path": None})
        return f"<{part.kind} {len(files)}>"

    return MediaQuestionRow(
        id=question.id,
        question="\n\n".join(map(marked, question.parts)),
        options=[marked(option) for option in question.options],
        answer=_answer(question.right),
        audio=columns["audio"],
        images=columns["image"],
        abc=columns["abc"],
        theme=question.theme,
        subtheme=question.subtheme,
        piece=question.piece,
        tags=[*question.tags],
        answer_kind=question.answer_kind,
    )


def _answer(right: int | str | None) -> str:
    if right is None:
        return NO_ANSWER
    return ascii_uppercase[right] if isinstance(right, int) else right
