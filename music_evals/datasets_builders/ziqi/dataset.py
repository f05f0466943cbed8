"""ZIQI-Eval: four-option questions on music, as published or composed on this machine in the same
form.

The configs `comprehension` (music knowledge) and `generation` (which continuation belongs to the
opening of a tune) have the splits `test` (scored) and `dev` (five worked examples per theme).

The composed questions are NOT ZIQI-Eval: they are theory questions with computed answers, and
continuations of tunes from music21's corpus. `rows` defines the columns, `published` reads the
authors' questions.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from music_evals.datasets_builders.dataset_io import (
    GENERATED,
    Conversion,
    DatasetError,
    DatasetSpec,
    Provenance,
    make_provenance,
    write_dataset,
)
from music_evals.datasets_builders.progress import OnPiece
from music_evals.datasets_builders.questions.question_rows import (
    LANGUAGES,
    LETTERS,
    Kinds,
    Language,
    Question,
    placed,
)
from music_evals.datasets_builders.questions.theory.chains import compose_chains
from music_evals.datasets_builders.ziqi.published import build_published
from music_evals.datasets_builders.ziqi.rows import (
    FEATURES,
    NAME,
    VERSION,
    ConfigName,
    Plan,
    Row,
    Rows,
)
from music_evals.notation.theory_chains import TABLES

DEFAULT_SEED = 1
_THEORY = 240  # questions in `test`
LEVEL_THEORY = 100  # questions in `test` of each level from 2 to 5
_CONTINUATION = 60  # questions in `test`
EXAMPLES = 5  # rows of `dev` per theme, for five-shot prompts


class Composed(NamedTuple):
    """A composed theme: its config, its names by language, and the composer of its questions."""

    config: ConfigName
    name: str
    zh: str
    en: str
    kinds: Kinds
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

    return (
        Composed(
            "comprehension",
            "theory",
            "乐理（计算生成）",
            "computed music theory",
            compose.KINDS,
            partial(compose.compose_theory, half=compose.ZIQI),
            compose.refuse_guessable_theory,
        ),
        Composed(
            "generation",
            "continuation",
            "曲调续写（计算生成）",
            "computed tune continuation",
            {"continuation": {"zh": "曲调续写", "en": "tune continuation"}},
            compose_continuations,
            refuse_guessable_continuations,
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


def _plan(
    seed: int, theory: int, continuation: int, themes: Sequence[Composed] | None = None
) -> Plan:
    counts = {"theory": theory, "continuation": continuation}
    for name, count in counts.items():
        if count < 0:
            raise DatasetError(f"{name} is {count}; a number of questions from 0 is needed")
    if not theory and not continuation:
        raise DatasetError("no questions are asked for: theory and continuation are both 0")
    rows: Rows = {}
    for composed in themes or composed_themes():
        if not counts[composed.name]:
            continue
        try:
            questions = composed.compose(counts[composed.name] + EXAMPLES, seed)
        except ValueError as error:
            raise DatasetError(
                f"{composed.name} questions: {error} (of these, {EXAMPLES} are for dev)"
            ) from error
        random.Random(f"{seed}/{composed.name}/order").shuffle(questions)
        splits = {"dev": questions[:EXAMPLES], "test": questions[EXAMPLES:]}
        for split, group in splits.items():
            own = rows.setdefault(composed.config, {}).setdefault(split, [])
            for language in LANGUAGES:
                own += rows_of(composed, group, language, f"{seed}/{split}")
    made_with = {"music21": version("music21")}
    return Plan(rows, make_provenance(NAME, VERSION, GENERATED, seed=seed, made_with=made_with))


def rows_of(
    composed: Composed, questions: Sequence[Question], language: Language, key: str
) -> Iterator[Row]:
    """Yield rows of questions; the right answers are spread evenly over the letters, in both
    languages alike.
    """
    for question, place in placed(questions, f"{key}/{composed.name}/letters"):
        kind = composed.kinds[question.kind]
        yield {
            "id": f"{composed.name}-{question.name}-{language}",
            "question": question.text[language],
            "options": question.options(language, place),
            "answer": LETTERS[place],
            "theme_zh": composed.zh,
            "theme_en": composed.en,
            "subtheme_zh": kind["zh"],
            "subtheme_en": kind["en"],
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


def build_level(level: int, out: Path, _: OnPiece) -> Provenance:
    """Write theory questions of a level from 2 to 5 as a dataset folder."""

    def compose(count: int, seed: int) -> list[Question]:
        return compose_chains(count, f"{NAME}/{seed}", level)

    theory = composed_themes()[0]._replace(kinds=TABLES["kinds"], compose=compose)
    return write(_plan(DEFAULT_SEED, LEVEL_THEORY, 0, [theory]), out, overwrite=True)


def _convert(conversion: Conversion) -> Provenance:
    return write(
        build_published(conversion.source, revision=conversion.revision),
        conversion.out,
        overwrite=True,
    )


BENCHMARK = DatasetSpec(
    NAME,
    VERSION,
    DEFAULT_SEED,
    FEATURES,
    _generate,
    _convert,
    generate_level=build_level,
    leveled=("comprehension",),
)
"""ZIQI-Eval for `load_split` and `describe_dataset`."""
