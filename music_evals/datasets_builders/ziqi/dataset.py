"""ZIQI-Eval: four-option questions on music, as published, or of the same form and composed on this machine.

Title: The Music Maestro or The Musically Challenged, A Massive Music Evaluation Benchmark for Large Language Models
Authors: Jiajia Li, Lu Yang, Mingni Tang, Cong Chen, Zuchao Li, Ping Wang, Hai Zhao
Paper: https://arxiv.org/abs/2406.15885
Homepage: https://github.com/zcli-charlie/ZIQI-Eval
Licence: the published questions are under CC BY-NC-SA 4.0; of the composed ones the questions of theory are under the
    licence of this project, and the tunes under what the encoders of music21's corpus allow

Two configs, `comprehension` (music knowledge) and `generation` (which continuation belongs to the opening of a tune),
each with the splits `test` (scored) and `dev` (five worked examples a theme). `Row` says what a row holds.

The composed bank is another test than ZIQI-Eval: theory questions whose answers are computed, and continuations of
tunes from music21's corpus. It is made here; `published` takes the authors' questions.
"""

import random
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal, TypedDict, get_args

from datasets import Features, List, Value

from music_evals.datasets_builders.folder.card import make_card
from music_evals.datasets_builders.ziqi.continuation import compose_continuations
from music_evals.datasets_builders.questions.question import Language, Question
from music_evals.datasets_builders.questions.theory import KINDS, compose_theory
from music_evals.datasets_builders.folder import (
    GENERATED,
    Benchmark,
    Config,
    DatasetError,
    Provenance,
    write_dataset,
)

NAME: Final = "ziqi"
VERSION: Final = "1.0.1"
"""Version of the rows: to be raised whenever the content of any row changes."""

DEFAULT_SEED: Final = 1
PUBLISHED: Final = "published"
"""`Provenance.source` of the authors' questions."""

GENERATED_LICENCE: Final = "other"
PUBLISHED_LICENCE: Final = "cc-by-nc-sa-4.0"

ConfigName = Literal["comprehension", "generation"]
CONFIGS: Final[tuple[ConfigName, ...]] = get_args(ConfigName)
SPLITS: Final = ("dev", "test")
LETTERS: Final = "ABCD"
EXAMPLES: Final = 5
"""Rows of `dev` a theme: what five-shot shows."""

_LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)


class Row(TypedDict):
    """A question; `duplicate_of` is the id of the first row with the same question and options, null for that one."""

    id: str
    question: str
    options: list[str]
    answer: str
    theme_zh: str
    theme_en: str
    subtheme_zh: str
    subtheme_en: str
    language: str
    duplicate_of: str | None


_FEATURES: Final = Features(
    {
        "id": Value("string"),
        "question": Value("string"),
        "options": List(Value("string")),
        "answer": Value("string"),
        "theme_zh": Value("string"),
        "theme_en": Value("string"),
        "subtheme_zh": Value("string"),
        "subtheme_en": Value("string"),
        "language": Value("string"),
        "duplicate_of": Value("string"),
    }
)
FEATURES: Final[Mapping[str, Features]] = dict.fromkeys(CONFIGS, _FEATURES)
"""Config → declared columns."""


@dataclass(frozen=True, slots=True)
class Theme:
    """A theme of ZIQI-Eval.

    Args:
        file: stem of its CSV files.
        zh: Chinese name.
        en: English name.
        subthemes: its sub-themes, Chinese name → English name.
    """

    file: str
    zh: str
    en: str
    subthemes: Mapping[str, str]

    @property
    def config(self) -> ConfigName:
        """The config that its questions belong to."""
        return "generation" if self.file == "music_generation" else "comprehension"


@cache
def published_themes() -> tuple[Theme, ...]:
    """Return the eleven themes of ZIQI-Eval, the continuation of tunes among them.

    >>> len(published_themes()), sum(len(theme.subthemes) for theme in published_themes())
    (11, 57)
    """
    names = tomllib.loads(files("music_evals.datasets_builders").joinpath("names/ziqi.toml").read_text(encoding="utf-8"))
    return tuple(Theme(file, **theme) for file, theme in names.items())


@dataclass(frozen=True, slots=True)
class Plan:
    """A dataset that can be written.

    Args:
        rows: config → split → rows.
        provenance: who builds it from what.
    """

    rows: Mapping[ConfigName, Mapping[str, Sequence[Row]]]
    provenance: Provenance

    @property
    def n_rows(self) -> int:
        """Number of rows of all configs and splits."""
        return sum(len(rows) for splits in self.rows.values() for rows in splits.values())


@dataclass(frozen=True, slots=True)
class Counts:
    """How many questions to compose for `test`, each in every language; `dev` has five a theme.

    Raises:
        DatasetError: a number is negative, or both are 0.

    >>> Counts(theory=-1)
    Traceback (most recent call last):
        ...
    music_evals.datasets_builders.folder.provenance.DatasetError: theory is -1; a number of questions from 0 is needed
    """

    theory: int = 240
    continuation: int = 60

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name, count in (("theory", self.theory), ("continuation", self.continuation)):
            if count < 0:
                raise DatasetError(f"{name} is {count}; a number of questions from 0 is needed")
        if not self.theory and not self.continuation:
            raise DatasetError("no questions are asked for: theory and continuation are both 0")


@dataclass(frozen=True, slots=True)
class _Bank:
    """A part of the composed bank: its config, theme and the composer of its questions."""

    config: ConfigName
    label: str
    theme: Mapping[Language, str]
    kinds: Mapping[str, Mapping[Language, str]]
    compose: Callable[[int, int], list[Question]]


_BANKS: Final = (
    _Bank(
        "comprehension",
        "theory",
        {"zh": "乐理（计算生成）", "en": "computed music theory"},
        KINDS,
        compose_theory,
    ),
    _Bank(
        "generation",
        "continuation",
        {"zh": "曲调续写（计算生成）", "en": "computed tune continuation"},
        {"continuation": {"zh": "曲调续写", "en": "tune continuation"}},
        compose_continuations,
    ),
)


def build_generated(seed: int = DEFAULT_SEED, counts: Counts | None = None) -> Plan:
    """Compose a bank of questions with computed answers.

    Args:
        seed: another seed composes other questions.
        counts: how many.

    Returns:
        The plan; every question comes in Chinese and in English, with its options in the same order.

    Raises:
        DatasetError: there are not so many tunes.

    >>> plan = build_generated(7, Counts(theory=8, continuation=0))
    >>> len(plan.rows["comprehension"]["test"]), len(plan.rows["comprehension"]["dev"])
    (16, 10)
    """
    counts = counts or Counts()
    asked = {"theory": counts.theory, "continuation": counts.continuation}
    rows: dict[ConfigName, dict[str, list[Row]]] = {}
    for bank in _BANKS:
        count = asked[bank.label]
        if not count:
            continue
        try:
            questions = bank.compose(count + EXAMPLES, seed)
        except ValueError as error:
            raise DatasetError(f"{bank.label} questions: {error} (of these, {EXAMPLES} are for dev)") from error
        random.Random(f"{seed}/{bank.label}/order").shuffle(questions)
        dev, test = questions[:EXAMPLES], questions[EXAMPLES:]
        rows[bank.config] = {
            split: [row for language in _LANGUAGES for row in _composed(bank, some, language, f"{seed}/{split}")]
            for split, some in (("dev", dev), ("test", test))
        }
    made_with = {"music21": version("music21")}
    provenance = Provenance(NAME, VERSION, GENERATED, GENERATED_LICENCE, seed=seed, made_with=made_with)
    return Plan(rows, provenance)


def _composed(bank: _Bank, questions: Sequence[Question], language: Language, key: str) -> Iterator[Row]:
    """Turn questions into rows; the right answers are spread evenly over the letters, alike in every language."""
    places = [number % len(LETTERS) for number in range(len(questions))]
    rng = random.Random(f"{key}/{bank.label}/letters")
    rng.shuffle(places)
    for question, place in zip(questions, places, strict=True):
        options = list(question.wrong[language])
        options.insert(place, question.right[language])
        yield {
            "id": f"{bank.label}-{question.name}-{language}",
            "question": question.text[language],
            "options": options,
            "answer": LETTERS[place],
            "theme_zh": bank.theme["zh"],
            "theme_en": bank.theme["en"],
            "subtheme_zh": bank.kinds[question.kind]["zh"],
            "subtheme_en": bank.kinds[question.kind]["en"],
            "language": language,
            "duplicate_of": None,
        }


def write(plan: Plan, out: Path, *, overwrite: bool = False) -> Provenance:
    """Write a planned dataset as a folder in the layout of the Hub, whole or not at all.

    Args:
        plan: from `build_generated` or `build_published`.
        out: the folder to write.
        overwrite: whether a dataset folder of ours may be replaced.

    Returns:
        What was recorded as ``provenance.json``.

    Raises:
        DatasetError: the folder may not be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(build_generated(counts=Counts(8, 0)), Path(folder) / "ziqi").counts
    {'comprehension': {'dev': 10, 'test': 16}}
    """
    configs: dict[str, Config] = {}
    for config, splits in plan.rows.items():
        configs[config] = Config(FEATURES[config], _ordered(splits))
    return write_dataset(out, configs, card=make_card, provenance=plan.provenance, overwrite=overwrite)


def _ordered(splits: Mapping[str, Iterable[Row]]) -> dict[str, Iterable[Row]]:
    return {split: splits[split] for split in SPLITS if split in splits}


def _generate(out: Path) -> None:
    write(build_generated(), out, overwrite=True)


BENCHMARK: Final = Benchmark(NAME, VERSION, DEFAULT_SEED, FEATURES, _generate)
"""ZIQI-Eval for `store.load_split` and `store.describe_dataset`."""
