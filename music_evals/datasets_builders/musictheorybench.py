"""MusicTheoryBench: four-option questions of music theory, on knowledge and on reasoning.

"ChatMusician: Understanding and Generating Music Intrinsically with LLM", arXiv 2402.16153, section
4. The published questions are on the Hub as ``m-a-p/MusicTheoryBench``: 5 in dev, 269 on knowledge
and 98 on reasoning in test, some with a score in ABC. The composed questions have the same form but
are NOT the published test.
"""

import random
from functools import partial
from itertools import islice
from pathlib import Path
from zlib import crc32

from music_evals.datasets_builders.dataset_io import (
    GENERATED,
    PUBLISHED,
    Conversion,
    DatasetError,
    DatasetSpec,
    Provenance,
)
from music_evals.datasets_builders.progress import OnPiece
from music_evals.datasets_builders.questions.question_rows import (
    FEATURES,
    LETTERS,
    QuestionRow,
    Rows,
    composed_rows,
    write_question_rows,
)
from music_evals.datasets_builders.questions.theory.chains import compose_chains
from music_evals.notation.subprocesses import read_in_subprocess

NAME = "musictheorybench"
VERSION = "2.3.0"
SEED = 1
EXAMPLES = 5
# Config → number of composed questions in test.
COMPOSED = {
    "knowledge": 120,
    "reasoning": 60,
}
LEVEL_ROWS = 105
"""Rows of a level from 2 to 5, of which `EXAMPLES` are in dev."""
SLICES = 16
"""Into so many slices a hash divides all questions; a seed asks those of one slice."""
KNOWLEDGE = ("intervals", "key_signatures", "metre", "enharmonics")
"""Kinds of composed questions on facts; the other kinds need reasoning."""


def build(out: Path, *, seed: int = SEED, overwrite: bool = False) -> Provenance:
    """Write questions that are composed from a seed as a dataset folder."""
    return write_question_rows(
        NAME, VERSION, compose_rows(seed), out, source=GENERATED, seed=seed, overwrite=overwrite
    )


def build_level(level: int, out: Path, _: OnPiece) -> Provenance:
    """Write questions of a level from 2 to 5, of reasoning, as a dataset folder."""
    rows = composed_rows(compose_chains(LEVEL_ROWS, f"{NAME}/{SEED}", level), f"{SEED}/{level}")
    configs = {"reasoning": {"dev": rows[:EXAMPLES], "test": rows[EXAMPLES:]}}
    return write_question_rows(
        NAME, VERSION, configs, out, source=GENERATED, seed=SEED, overwrite=True
    )


def _convert(conversion: Conversion) -> Provenance:
    return write_question_rows(
        NAME,
        VERSION,
        _published(conversion.source),
        conversion.out,
        source=PUBLISHED,
        source_revision=conversion.revision,
        overwrite=True,
    )


def kinds_of(config: str) -> list[str]:
    """Return the kinds of composed questions of a config."""
    # Here, because music21 takes a second to load.
    from music_evals.datasets_builders.questions.theory.compose import KINDS

    return [kind for kind in KINDS if (kind in KNOWLEDGE) == (config == "knowledge")]


def compose_rows(seed: int) -> Rows:
    """Compose the rows of a seed; seeds that differ by less than `SLICES` have no question in
    common.
    """
    # Here, because music21 takes a second to load.
    from music_evals.datasets_builders.questions.theory import compose

    compose.refuse_guessable_theory()
    configs = {}
    for config, count in COMPOSED.items():
        # The lowest bit of the checksum says which of two benchmarks asks the question.
        own = (
            question
            for question in compose.theory_questions(
                seed, compose.MUSICTHEORYBENCH, kinds_of(config)
            )
            if crc32(question.name.encode()) // 2 % SLICES == seed % SLICES
        )
        chosen = list(islice(own, count + EXAMPLES))
        random.Random(f"{seed}/{config}").shuffle(chosen)
        rows = composed_rows(chosen, f"{seed}/{config}/letters")
        configs[config] = {"dev": rows[:EXAMPLES], "test": rows[EXAMPLES:]}
    return configs


def _published(folder: Path) -> Rows:
    files = {split: sorted(folder.rglob(f"{split}-*.parquet")) for split in ("dev", "test")}
    if not all(files.values()):
        raise DatasetError(
            f"{folder} holds no dev-*.parquet and test-*.parquet; a copy of m-a-p/MusicTheoryBench "
            "is needed"
        )
    rows: dict[str, dict[str, list[QuestionRow]]] = {
        config: {"dev": [], "test": []} for config in COMPOSED
    }
    for split, paths in files.items():
        for path in paths:
            try:
                for row, subject in read_in_subprocess(partial(_read, split=split), path):
                    for config in COMPOSED if split == "dev" else (subject,):
                        rows[config][split].append(row)
            except KeyError as error:
                raise DatasetError(
                    f"{path} has no {error}, which a copy of m-a-p/MusicTheoryBench has"
                ) from error
            except (OSError, TypeError, ValueError) as error:
                raise DatasetError(f"{path} cannot be read: {error}") from error
    return rows


def _read(path: Path, split: str) -> list[tuple[QuestionRow, str]]:
    """The questions of a file, with their subjects."""
    import pyarrow.parquet as pq

    rows = []
    for record in pq.read_table(path, use_threads=False).to_pylist():
        row = QuestionRow(
            id=f"{split}-{record['id']:03}",
            question=record["stem"],
            abc=record["abc_score"] or None,
            options=[record["options"][letter] for letter in LETTERS],
            answer=record["answer"],
            kind=None,
        )
        rows.append((row, record["subject"]))
    return rows


BENCHMARK = DatasetSpec(
    NAME,
    VERSION,
    SEED,
    dict.fromkeys(COMPOSED, FEATURES),
    lambda out, _: build(out, overwrite=True),
    _convert,
    generate_level=build_level,
    leveled=("reasoning",),
)
"""MusicTheoryBench for `load_split` and `describe_dataset`."""
