"""The rows of ZIQI-Eval, and the themes of the published questions."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypedDict, get_args

from music_evals.datasets_builders import read_table
from music_evals.datasets_builders.dataset_io import (
    ConfigColumns,
    FourOptions,
    Letter,
    Provenance,
    Text,
    features_of,
)
from music_evals.datasets_builders.questions.question_rows import Language

NAME = "ziqi"
VERSION = "2.2.0"
ConfigName = Literal["comprehension", "generation"]
CONFIGS: tuple[ConfigName, ...] = get_args(ConfigName)
SPLITS = ("dev", "test")


class Row(TypedDict):
    """A question; `duplicate_of` is the id of the first row with the same question and options,
    null for that row.
    """

    id: str
    question: Text
    options: FourOptions
    answer: Letter
    theme_zh: str
    theme_en: str
    subtheme_zh: str
    subtheme_en: str
    language: Language
    duplicate_of: str | None


Rows = dict[ConfigName, dict[str, list[Row]]]
"""Config → split → rows."""
# Config → columns.
FEATURES: ConfigColumns = dict.fromkeys(CONFIGS, features_of(Row))


@dataclass(frozen=True, slots=True)
class Theme:
    """A theme of ZIQI-Eval: the stem of its CSV files, its names, and its sub-themes (Chinese →
    English name).
    """

    file: str
    zh: str
    en: str
    subthemes: Mapping[str, str]

    @property
    def config(self) -> ConfigName:
        """The config of its questions."""
        return "generation" if self.file == "music_generation" else "comprehension"


@cache
def published_themes() -> tuple[Theme, ...]:
    """Return the eleven themes of ZIQI-Eval, including the continuation of tunes."""
    return tuple(Theme(file, **theme) for file, theme in read_table("names/ziqi.toml").items())


@dataclass(frozen=True, slots=True)
class Plan:
    """A dataset that can be written."""

    rows: Rows
    provenance: Provenance
