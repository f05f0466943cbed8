"""What a composed multiple-choice question is, before it becomes a row of a dataset."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

Language = Literal["zh", "en"]
"""Languages that questions are composed in."""

LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)


@dataclass(frozen=True, slots=True)
class Question:
    """One question in every language, with its right answer and three wrong ones; no two options may be the same."""

    name: str  # readable and stable, unique among the questions of one composer: says what is asked, not the answer
    kind: str  # the composer's kind, which becomes the sub-theme
    text: Mapping[Language, str]  # language → the question, without its options
    right: Mapping[Language, str]  # language → the text of the right option
    # Language → the texts of the three wrong options, in the same order in every language.
    wrong: Mapping[Language, tuple[str, ...]]

    def __post_init__(self) -> None:
        """Check that the options differ."""
        for language in self.text:
            options = self.options(language, 0)
            if len(set(options)) != len(options):
                raise ValueError(f"{self.name}: two of the options are the same ({language}): {', '.join(options)}")

    def options(self, language: Language, place: int) -> list[str]:
        """Return the four options, the right one at a place from 0."""
        wrong = self.wrong[language]
        return [*wrong[:place], self.right[language], *wrong[place:]]
