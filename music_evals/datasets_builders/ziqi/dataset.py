"""ZIQI-Eval: four-option questions on music, as published or composed on this machine in the same
form.

The configs `comprehension` (music knowledge) and `generation` (which continuation belongs to the
opening of a tune) have the splits `test` (scored) and `dev` (five worked examples per theme).

The composed questions are NOT ZIQI-Eval: they are theory questions with computed answers, and
continuations of tunes from music21's corpus. `published` reads the authors' questions.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypedDict, get_args

from music_evals.datasets_builders import read_table
from music_evals.datasets_builders.dataset_io import (
    GENERATED,
    Conversion,
    DatasetError,
    DatasetSpec,
    FourOptions,
    Letter,
    Provenance,
    Text,
    features_of,
    make_provenance,
    write_dataset,
)
from music_evals.datasets_builders.progress import OnPiece
from music_evals.datasets_builders.questions.question_rows import (
    LANGUAGES,
    LETTERS,
    Language,
    Question,
    places,
)

NAME: Final = "ziqi"
VERSION: Final = "2.2.0"
DEFAULT_SEED: Final = 1
ConfigName = Literal["comprehension", "generation"]
CONFIGS: Final[tuple[ConfigName, ...]] = get_args(ConfigName)
SPLITS: Final = ("dev", "test")
_THEORY: Final = 240  # questions in `test`
_CONTINUATION: Final = 60  # questions in `test`
EXAMPLES: Final = 5  # rows of `dev` per theme, for five-shot prompts


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


FEATURES: Final[Mapping[str, Mapping[str, Any]]] = dict.fromkeys(
    CONFIGS, features_of(Row)
)  # config → columns


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
    """A dataset that can be written: config → split → rows, and its provenance."""

    rows: Mapping[ConfigName, Mapping[str, Sequence[Row]]]
    provenance: Provenance


class Composed(NamedTuple):
    """A composed theme: its config, its names by language, and the composer of its questions."""

    config: ConfigName
    name: str
    zh: str
    en: str
    kinds: Mapping[str, Mapping[Language, str]]
    compose: Callable[[int, int], list[Question]]
    check: Callable[[], None]  # raises DatasetError if the questions can be guessed


def composed_themes() -> tuple[Composed, ...]:
    """Return the themes of composed questions."""
    # Here, because tasks import this module and music21 takes a second to load.
    from music_evals.datasets_builders.questions.theory import compose
    from music_evals.datasets_builders.ziqi.continuation import (
        compose_continuations,
        refuse_guessable_continuations,
    )

    theory = partial(compose.compose_theory, half=compose.ZIQI), compose.refuse_guessable_theory
    tunes = compose_continuations, refuse_guessable_continuations
    kinds: Mapping[str, Mapping[Language, str]] = {
        "continuation": {"zh": "曲调续写", "en": "tune continuation"}
    }
    return (
        Composed(
            "comprehension",
            "theory",
            "乐理（计算生成）",
            "computed music theory",
            compose.KINDS,
            *theory,
        ),
        Composed(
            "generation",
            "continuation",
            "曲调续写（计算生成）",
            "computed tune continuation",
            kinds,
            *tunes,
        ),
    )


def build_generated(
    seed: int = DEFAULT_SEED, *, theory: int = _THEORY, continuation: int = _CONTINUATION
) -> Plan:
    """Compose questions with computed answers, in Chinese and in English with the same order of
    options.

    Args:
        seed: any integer.
        theory: number of theory questions in `test`; `dev` has `EXAMPLES` more.
        continuation: number of questions on continuations of tunes, likewise.

    Raises:
        DatasetError: there are not so many questions, or their options give the answers away.
    """
    plan = _plan(seed, theory, continuation)
    for composed in composed_themes():
        if composed.config in plan.rows:
            composed.check()
    return plan


def _plan(seed: int, theory: int, continuation: int) -> Plan:
    counts = {"theory": theory, "continuation": continuation}
    for name, count in counts.items():
        if count < 0:
            raise DatasetError(f"{name} is {count}; a number of questions from 0 is needed")
    if not theory and not continuation:
        raise DatasetError("no questions are asked for: theory and continuation are both 0")
    rows: dict[ConfigName, dict[str, list[Row]]] = {}
    for composed in composed_themes():
        if not counts[composed.name]:
            continue
        try:
            questions = composed.compose(counts[composed.name] + EXAMPLES, seed)
        except ValueError as error:
            raise DatasetError(
                f"{composed.name} questions: {error} (of these, {EXAMPLES} are for dev)"
            ) from error
        random.Random(f"{seed}/{composed.name}/order").shuffle(questions)
        rows[composed.config] = {
            split: [
                row
                for language in LANGUAGES
                for row in rows_of(composed, group, language, f"{seed}/{split}")
            ]
            for split, group in (("dev", questions[:EXAMPLES]), ("test", questions[EXAMPLES:]))
        }
    return Plan(
        rows,
        make_provenance(
            NAME, VERSION, GENERATED, seed=seed, made_with={"music21": version("music21")}
        ),
    )


def rows_of(
    composed: Composed, questions: Sequence[Question], language: Language, key: str
) -> Iterator[Row]:
    """Yield rows of questions; the right answers are spread evenly over the letters, in both
    languages alike.
    """
    drawn = places(len(questions), f"{key}/{composed.name}/letters")
    for question, place in zip(questions, drawn, strict=True):
        yield {
            "id": f"{composed.name}-{question.name}-{language}",
            "question": question.text[language],
            "options": question.options(language, place),
            "answer": LETTERS[place],
            "theme_zh": composed.zh,
            "theme_en": composed.en,
            "subtheme_zh": composed.kinds[question.kind]["zh"],
            "subtheme_en": composed.kinds[question.kind]["en"],
            "language": language,
            "duplicate_of": None,
        }


def write(plan: Plan, out: Path, *, overwrite: bool = False) -> Provenance:
    """Write a planned dataset as a folder, completely or not at all."""
    return write_dataset(
        out, plan.rows, features=FEATURES, provenance=plan.provenance, overwrite=overwrite
    )


def _generate(out: Path, _: OnPiece) -> None:
    # Without the check for guessable questions, which does not depend on the seed: `build` and the
    # tests run it.
    write(_plan(DEFAULT_SEED, _THEORY, _CONTINUATION), out, overwrite=True)


def _convert(conversion: Conversion) -> Provenance:
    from music_evals.datasets_builders.ziqi.published import build_published

    plan = build_published(conversion.source, revision=conversion.revision)
    return write(plan, conversion.out, overwrite=True)


BENCHMARK: Final = DatasetSpec(NAME, VERSION, DEFAULT_SEED, FEATURES, _generate, _convert)
"""ZIQI-Eval for `load_split` and `describe_dataset`."""
