"""ZIQI-Eval: four-option questions on music, as published, or of the same form and composed on this machine.

Two configs, `comprehension` (music knowledge) and `generation` (which continuation belongs to the opening of a tune),
each with the splits `test` (scored) and `dev` (five worked examples a theme). `Row` says what a row holds.

The composed bank is another test than ZIQI-Eval: theory questions whose answers are computed, and continuations of
tunes from music21's corpus. It is made here; `published` takes the authors' questions.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypedDict, get_args

from datasets import Features

from music_evals.datasets_builders import read_table
from music_evals.datasets_builders.dataset_io import (
    GENERATED,
    Benchmark,
    DatasetError,
    FourOptions,
    Letter,
    Provenance,
    Text,
    features_of,
    make_provenance,
    write_dataset,
)
from music_evals.datasets_builders.progress import OnPiece
from music_evals.datasets_builders.questions.question_rows import LANGUAGES, LETTERS, Language, Question, places

NAME: Final = "ziqi"
VERSION: Final = "2.1.0"
DEFAULT_SEED: Final = 1
PUBLISHED: Final = "published"  # `Provenance.source` of the authors' questions
ConfigName = Literal["comprehension", "generation"]
CONFIGS: Final[tuple[ConfigName, ...]] = get_args(ConfigName)
SPLITS: Final = ("dev", "test")
_THEORY: Final = 240  # questions of `test`
_CONTINUATION: Final = 60  # likewise
EXAMPLES: Final = 5  # rows of `dev` a theme: what five-shot shows


class Row(TypedDict):
    """A question; `duplicate_of` is the id of the first row with the same question and options, null for that one."""

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


FEATURES: Final[Mapping[str, Features]] = dict.fromkeys(CONFIGS, features_of(Row))  # config → declared columns


@dataclass(frozen=True, slots=True)
class Theme:
    """A theme of ZIQI-Eval: stem of its CSV files, its names, and its sub-themes, Chinese name → English name."""

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
    """Return the eleven themes of ZIQI-Eval, the continuation of tunes among them."""
    return tuple(Theme(file, **theme) for file, theme in read_table("names/ziqi.toml").items())


@dataclass(frozen=True, slots=True)
class Plan:
    """A dataset that can be written: config → split → rows, and who builds it from what."""

    rows: Mapping[ConfigName, Mapping[str, Sequence[Row]]]
    provenance: Provenance


class _Bank(NamedTuple):
    """A part of the composed bank: its config, theme and the composer of its questions."""

    config: ConfigName
    label: str
    theme: Mapping[Language, str]
    kinds: Mapping[str, Mapping[Language, str]]
    compose: Callable[[int, int], list[Question]]
    check: Callable[[], None]  # raises DatasetError where what it composes can be guessed


def _banks() -> tuple[_Bank, ...]:
    # Here, because tasks import this module and music21 takes a second to load.
    from music_evals.datasets_builders.questions.theory.compose import KINDS, compose_theory, refuse_guessable_theory
    from music_evals.datasets_builders.ziqi.continuation import compose_continuations, refuse_guessable_continuations

    theory: Mapping[Language, str] = {"zh": "乐理（计算生成）", "en": "computed music theory"}
    tunes: Mapping[Language, str] = {"zh": "曲调续写（计算生成）", "en": "computed tune continuation"}
    kinds: Mapping[str, Mapping[Language, str]] = {"continuation": {"zh": "曲调续写", "en": "tune continuation"}}
    return (
        _Bank("comprehension", "theory", theory, KINDS, compose_theory, refuse_guessable_theory),
        _Bank("generation", "continuation", tunes, kinds, compose_continuations, refuse_guessable_continuations),
    )


def build_generated(seed: int = DEFAULT_SEED, *, theory: int = _THEORY, continuation: int = _CONTINUATION) -> Plan:
    """Compose a bank of questions with computed answers, each in Chinese and in English, with its options in one order.

    `theory` and `continuation` count the questions in `test`; `dev` has five a theme. DatasetError where there are not
    so many questions, or where they can be guessed from their options.
    """
    plan = _plan(seed, theory, continuation)
    for bank in _banks():
        if bank.config in plan.rows:
            bank.check()
    return plan


def _plan(seed: int, theory: int, continuation: int) -> Plan:
    asked = {"theory": theory, "continuation": continuation}
    for name, count in asked.items():
        if count < 0:
            raise DatasetError(f"{name} is {count}; a number of questions from 0 is needed")
    if not theory and not continuation:
        raise DatasetError("no questions are asked for: theory and continuation are both 0")
    rows: dict[ConfigName, dict[str, list[Row]]] = {}
    for bank in _banks():
        if not asked[bank.label]:
            continue
        try:
            questions = bank.compose(asked[bank.label] + EXAMPLES, seed)
        except ValueError as error:
            raise DatasetError(f"{bank.label} questions: {error} (of these, {EXAMPLES} are for dev)") from error
        random.Random(f"{seed}/{bank.label}/order").shuffle(questions)
        rows[bank.config] = {
            split: [row for language in LANGUAGES for row in _composed(bank, some, language, f"{seed}/{split}")]
            for split, some in (("dev", questions[:EXAMPLES]), ("test", questions[EXAMPLES:]))
        }
    return Plan(rows, make_provenance(NAME, VERSION, GENERATED, seed=seed, made_with={"music21": version("music21")}))


def _composed(bank: _Bank, questions: Sequence[Question], language: Language, key: str) -> Iterator[Row]:
    """Turn questions into rows; the right answers are spread evenly over the letters, alike in every language."""
    drawn = places(len(questions), f"{key}/{bank.label}/letters")
    for question, place in zip(questions, drawn, strict=True):
        yield {
            "id": f"{bank.label}-{question.name}-{language}",
            "question": question.text[language],
            "options": question.options(language, place),
            "answer": LETTERS[place],
            "theme_zh": bank.theme["zh"],
            "theme_en": bank.theme["en"],
            "subtheme_zh": bank.kinds[question.kind]["zh"],
            "subtheme_en": bank.kinds[question.kind]["en"],
            "language": language,
            "duplicate_of": None,
        }


def write(plan: Plan, out: Path, *, overwrite: bool = False) -> Provenance:
    """Write a planned dataset as a folder in the layout of the Hub, whole or not at all."""
    return write_dataset(out, plan.rows, features=FEATURES, provenance=plan.provenance, overwrite=overwrite)


def _generate(out: Path, _: OnPiece) -> None:
    # Whether questions can be guessed depends on the composer and not on the seed; `build` tries it, and so do tests.
    write(_plan(DEFAULT_SEED, _THEORY, _CONTINUATION), out, overwrite=True)


BENCHMARK: Final = Benchmark(NAME, VERSION, DEFAULT_SEED, FEATURES, _generate)
"""ZIQI-Eval for `load_split` and `describe_dataset`."""
