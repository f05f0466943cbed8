"""MusicTheoryBench: four-option questions of music theory, on knowledge and on reasoning.

"ChatMusician: Understanding and Generating Music Intrinsically with LLM", arXiv 2402.16153, section 4. The published
questions are on the Hub as ``m-a-p/MusicTheoryBench``: 5 in dev, 269 on knowledge and 98 on reasoning in test, some
with a score in ABC. The composed questions have the same form but are NOT the published test.
"""

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from music_evals.benchmarks import dataset_facts
from music_evals.datasets_builders.dataset_io import GENERATED, DatasetError, DatasetSpec, Provenance, download
from music_evals.datasets_builders.questions.question_rows import (
    FEATURES,
    LETTERS,
    QuestionRow,
    Rows,
    composed_rows,
    write_question_rows,
)

NAME: Final = "musictheorybench"
VERSION: Final = "2.2.0"
SEED: Final = 1
HUB = "m-a-p/MusicTheoryBench"
REVISION = dataset_facts("musictheorybench").sources["published"].hub_commit
EXAMPLES: Final = 5
COMPOSED: Final = {"knowledge": 120, "reasoning": 60}  # config → number of composed questions in test
KNOWLEDGE: Final = ("intervals", "key_signatures", "metre", "enharmonics")
"""Kinds of composed questions on facts; the other kinds need reasoning."""


def build(out: Path, *, source: str | None = None, seed: int = SEED, overwrite: bool = False) -> Provenance:
    """Build MusicTheoryBench: questions composed from a seed, or the published ones with --source.

    Args:
        out: Folder to write; must be absent or empty.
        source: Published questions: a folder with their Parquet files, or 'hub' to download them.
        seed: Seed of the composed questions.
        overwrite: Replace a dataset that is there already.
    """
    if source is None:
        rows = _composed(seed)
        return write_question_rows(NAME, VERSION, rows, out, source=GENERATED, seed=seed, overwrite=overwrite)
    revision = REVISION if source == "hub" else None
    return write_question_rows(
        NAME, VERSION, _published(source), out, source="published", revision=revision, overwrite=overwrite
    )


def _composed(seed: int) -> Rows:
    # Here, because music21 takes a second to load.
    from music_evals.datasets_builders.questions.theory.compose import (
        MUSICTHEORYBENCH,
        compose_theory,
        refuse_guessable_theory,
    )

    refuse_guessable_theory()
    questions = compose_theory(3 * sum(COMPOSED.values()), seed, MUSICTHEORYBENCH)
    configs = {}
    for config, count in COMPOSED.items():
        chosen = [question for question in questions if (question.kind in KNOWLEDGE) == (config == "knowledge")]
        chosen = chosen[: count + EXAMPLES]
        random.Random(f"{seed}/{config}").shuffle(chosen)
        rows = composed_rows(chosen, f"{seed}/{config}/letters")
        configs[config] = {"dev": rows[:EXAMPLES], "test": rows[EXAMPLES:]}
    return configs


def _published(source: str) -> Rows:
    import pyarrow.parquet as pq

    folder = download(HUB, REVISION, ["data/*"]) if source == "hub" else Path(source).expanduser()
    files = {split: sorted(folder.rglob(f"{split}-*.parquet")) for split in ("dev", "test")}
    if not all(files.values()):
        raise DatasetError(f"{source} holds no dev-*.parquet and test-*.parquet; a copy of {HUB} is needed")
    splits = {
        split: [row for path in paths for row in pq.read_table(path).to_pylist()] for split, paths in files.items()
    }
    dev = [_row(row, "dev") for row in splits["dev"]]
    return {
        config: {"dev": dev, "test": [_row(row, "test") for row in splits["test"] if row["subject"] == config]}
        for config in COMPOSED
    }


def _row(row: Mapping[str, Any], split: str) -> QuestionRow:
    return QuestionRow(
        id=f"{split}-{row['id']:03}",
        question=row["stem"],
        abc=row["abc_score"] or None,
        options=[row["options"][letter] for letter in LETTERS],
        answer=row["answer"],
        kind=None,
    )


BENCHMARK: Final = DatasetSpec(
    NAME, VERSION, SEED, dict.fromkeys(COMPOSED, FEATURES), lambda out, _: build(out, overwrite=True)
)
"""MusicTheoryBench for `load_split` and `describe_dataset`."""
