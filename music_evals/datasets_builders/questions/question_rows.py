"""Four-option questions: a composed question in two languages, and the rows that benchmarks of this
kind share.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Literal, TypedDict, get_args

from music_evals.datasets_builders.dataset_io import (
    FourOptions,
    Letter,
    Provenance,
    Text,
    features_of,
    make_provenance,
    write_dataset,
)
from music_evals.datasets_builders.questions.items import Item

LETTERS = "ABCD"
Language = Literal["zh", "en"]  # languages that questions are composed in
LANGUAGES: tuple[Language, ...] = get_args(Language)
Kinds = Mapping[str, Mapping[Language, str]]
"""Kind of question → its name by language."""

_ABOVE = re.compile(r"(?:所有|全部)?(?:以上|上述)|.*\bthe above\b", re.IGNORECASE)
_JOINED = (
    r"(?:[Bb]oth |[Ee]ither |[Nn]either )?[{0}](?: ?(?:和|与|或|及|and|or|nor|&) "
    r"?[{0}])+(?:都是|均是|皆是)?"
)
_LETTERS = re.compile(_JOINED.format("A-D"))
_NOTES = re.compile(_JOINED.format("A-G"))


@dataclass(frozen=True, slots=True)
class Question:
    """A question by language, with its right answer and three wrong ones; all options differ."""

    name: (
        str  # readable, stable and unique for a composer; describes the question but not the answer
    )
    kind: str  # becomes the sub-theme
    text: Mapping[Language, str]  # the question, without its options
    right: Mapping[Language, str]  # the right option
    # The three wrong options, in the same order in both languages.
    wrong: Mapping[Language, tuple[str, ...]]
    form: str = ""  # form within the kind

    def __post_init__(self) -> None:
        """Check that the options differ."""
        for language in self.text:
            options = self.options(language, 0)
            if len(set(options)) != len(options):
                raise ValueError(
                    f"{self.name}: two of the options are the same ({language}): "
                    f"{', '.join(options)}"
                )

    def options(self, language: Language, place: int) -> list[str]:
        """Return the four options, with the right one at a place from 0."""
        wrong = self.wrong[language]
        return [*wrong[:place], self.right[language], *wrong[place:]]

    def blind_item(self, language: Language, place: int) -> Item:
        """Return the options for a guesser that does not see the question."""
        form = f"{self.kind}-{self.form}".rstrip("-")
        options, right = tuple(self.options(language, place)), self.right[language]
        return Item(form, "", options, right, self.name, self.name)


class QuestionRow(TypedDict):
    """A question; `abc` is its score, if any, and `kind` the kind of a composed question."""

    id: str
    question: Text
    abc: Text | None
    options: FourOptions
    answer: Letter
    kind: str | None


FEATURES = features_of(QuestionRow)
Rows = Mapping[str, Mapping[str, Sequence[QuestionRow]]]  # config → split → rows


def placed(questions: Sequence[Question], key: str) -> Iterator[tuple[Question, int]]:
    """Yield questions with the places of their right options, which are drawn, and spread evenly
    over the letters.
    """
    places = [number % len(LETTERS) for number in range(len(questions))]
    Random(key).shuffle(places)
    return zip(questions, places, strict=True)


def composed_rows(questions: Sequence[Question], key: str) -> list[QuestionRow]:
    """Turn composed questions into rows in English; the key decides the letters of the right
    answers.
    """
    return [
        QuestionRow(
            id=question.name,
            question=question.text["en"],
            abc=None,
            options=question.options("en", place),
            answer=LETTERS[place],
            kind=question.kind,
        )
        for question, place in placed(questions, key)
    ]


def write_question_rows(
    name: str,
    version: str,
    rows: Rows,
    out: Path,
    *,
    source: str,
    overwrite: bool = False,
    **entries: Any,
) -> Provenance:
    """Write question rows as a dataset folder, completely or not at all; DatasetError names a
    malformed question.

    `entries` are further entries of the provenance, such as `seed` or `source_revision`.
    """
    return write_dataset(
        out,
        rows,
        features=dict.fromkeys(rows, FEATURES),
        provenance=make_provenance(name, version, source, **entries),
        overwrite=overwrite,
    )


# --- other orders of the options ---


def rotations(options: Sequence[str]) -> list[list[int]]:
    """Return orders of options as places: the original order, then rotations by one, two and three.

    An option such as "All of the above" is last in all rotations, and the other options rotate.

    Example:
        >>> rotations(["C", "D", "E", "F"])
        [[0, 1, 2, 3], [3, 0, 1, 2], [2, 3, 0, 1], [1, 2, 3, 0]]
        >>> rotations(["C", "D", "E", "All of the above"])
        [[0, 1, 2, 3], [2, 0, 1, 3], [1, 2, 0, 3]]
    """
    last = [place for place, option in enumerate(options) if _ABOVE.match(option)]
    rest = [place for place in range(len(options)) if place not in last]
    return [
        [*range(len(options))],
        *([*rest[-by:], *rest[:-by], *last] for by in range(1, len(rest))),
    ]


def names_letters(options: Sequence[str]) -> bool:
    """Whether an option refers to other options by their letters, so that the order must not
    change.

    If all options are letters, the letters are names of notes.

    Example:
        >>> names_letters(["Mos Def", "Talib Kweli", "Both A and B", "None of the above"])
        True
        >>> names_letters(["A和B", "B和C", "C和D", "D和E"])
        False
    """
    named = any(_LETTERS.fullmatch(option) for option in options)
    return named and not all(_NOTES.fullmatch(option) for option in options)
