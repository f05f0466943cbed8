"""MusicTheoryBench: four-option questions of music theory, on knowledge and on reasoning.

"ChatMusician: Understanding and Generating Music Intrinsically with LLM", arXiv 2402.16153, section 4. The published
questions are on the Hub as ``m-a-p/MusicTheoryBench``: 5 in dev, 269 on knowledge and 98 on reasoning in test, some
with a score in ABC. The composed questions have the same form but are NOT the published test.
"""

import random
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
    entries: dict[str, Any] = {"source": GENERATED, "seed": seed, "overwrite": overwrite}
    if source is None:
        return write_question_rows(NAME, VERSION, _composed(seed), out, **entries)
    entries |= {"source": "published", "seed": None, "source_revision": REVISION if source == "hub" else None}
    return write_question_rows(NAME, VERSION, _published(source), out, **entries)


def _composed(seed: int) -> Rows:
    # Here, because music21 takes a second to load.
    from music_evals.datasets_builders.questions.theory import compose

    compose.refuse_guessable_theory()
    questions = compose.compose_theory(3 * sum(COMPOSED.values()), seed, compose.MUSICTHEORYBENCH)
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
    rows: dict[str, dict[str, list[QuestionRow]]] = {config: {"dev": [], "test": []} for config in COMPOSED}
    for split, paths in files.items():
        for record in (record for path in paths for record in pq.read_table(path).to_pylist()):
            row = QuestionRow(
                id=f"{split}-{record['id']:03}",
                question=record["stem"],
                abc=record["abc_score"] or None,
                options=[record["options"][letter] for letter in LETTERS],
                answer=record["answer"],
                kind=None,
            )
            for config in COMPOSED if split == "dev" else (record["subject"],):
                rows[config][split].append(row)
    return rows


BENCHMARK: Final = DatasetSpec(
    NAME, VERSION, SEED, dict.fromkeys(COMPOSED, FEATURES), lambda out, _: build(out, overwrite=True)
)
"""MusicTheoryBench for `load_split` and `describe_dataset`."""
