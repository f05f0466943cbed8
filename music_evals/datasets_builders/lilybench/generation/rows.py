"""What a row of LilyBench's generation part holds: prompts, demonstrations, works and reference pieces.

Title: Can LLMs understand LilyPond? A benchmark for symbolic music generation and understanding
Paper: https://arxiv.org/abs/2606.08722 (sections 3.1 and 3.3)
Homepage: https://github.com/CSCPadova/lilybench
"""

from dataclasses import dataclass
from typing import Final, Literal, TypedDict, get_args

from datasets import Features, List, Value

from music_evals.notation.descriptors import DESCRIPTORS
from music_evals.notation.reference_pieces import PAPER

PROMPTS: Final = "prompts"
PROMPTS_SPLIT: Final = "test"
N_PROMPTS: Final = 200
"""Prompts of the paper's bank."""

DEMONSTRATIONS: Final = "demonstrations"
DemonstrationSplit = Literal["train", "ablation"]
"""Where demonstrations come from: works of the training split, or this project's own pieces in A minor."""
DEMONSTRATION_SPLITS: Final[tuple[DemonstrationSplit, ...]] = get_args(DemonstrationSplit)
N_DEMONSTRATIONS: Final = 3
MAX_DEMONSTRATION: Final = 8_000
"""Characters that a demonstration from the training split may have: three must leave room in a model's context."""

WORKS: Final = "works"
WORKS_SPLIT: Final = "full"
WorkSplit = Literal["train", "test"]

BMDATASET_TEST: Final = "bmdataset-test"
MUTOPIA: Final = "mutopia"
MUSIC21_TEST: Final = "music21-test"
MUSIC21_OTHER: Final = "music21-other"
REFERENCES: Final = (BMDATASET_TEST, MUTOPIA, MUSIC21_TEST, MUSIC21_OTHER)
"""Configs of reference pieces: in-domain and out-of-domain, as published and in the default dataset."""
REFERENCE_SPLIT: Final = "reference"


class Description(TypedDict):
    """What is known of a piece that is to be written, or that is shown; null where nothing is.

    `period` is such as ``Late Baroque``, `form` such as ``concerto grosso``, `ensemble` instruments separated by
    commas, `part` such as ``2: largo``, `key` such as ``B-flat major``, `metre` such as ``3/4``.
    """

    composer: str | None
    period: str | None
    form: str | None
    ensemble: str | None
    part: str | None
    key: str | None
    metre: str | None


class PromptRow(Description):
    """A prompt: the description of an entry, which is a movement of a work, or a work of which no movements are known.

    `id` is such as ``prompt-007`` and `index` its number from 0; `entry` and `work` may be the same in several prompts.
    """

    id: str
    index: int
    entry: str
    work: str


class DemonstrationRow(Description):
    """A piece to show, with the description that a prompt for it would have; its text compiles to MIDI."""

    id: str
    work: str
    text: str


class WorkRow(TypedDict):
    """A work of the source, and the split that all of it is in; `movements` is how many entries it has."""

    id: str
    composer: str | None
    period: str | None
    form: str | None
    movements: int
    split: WorkSplit


_DESCRIPTION: Final = {name: Value("string") for name in Description.__annotations__}

PROMPT_FEATURES: Final = Features(
    {
        "id": Value("string"),
        "index": Value("int64"),
        "entry": Value("string"),
        "work": Value("string"),
        **_DESCRIPTION,
    }
)
DEMONSTRATION_FEATURES: Final = Features(
    {"id": Value("string"), "work": Value("string"), **_DESCRIPTION, "text": Value("string")}
)
WORK_FEATURES: Final = Features(
    {
        **{name: Value("string") for name in ("id", "composer", "period", "form")},
        "movements": Value("int64"),
        "split": Value("string"),
    }
)
REFERENCE_FEATURES: Final = Features(
    {
        "id": Value("string"),
        "work": Value("string"),
        "text": Value("string"),
        "compiles": Value("bool"),
        "problem": Value("string"),
        **{f"{protocol}{name}": Value("float64") for protocol in ("", PAPER) for name in DESCRIPTORS},
        "undefined": Value("string"),
        "embedding_first_token": List(Value("float32")),
        "embedding_mean": List(Value("float32")),
        "licence": Value("string"),
    }
)


@dataclass(frozen=True, slots=True)
class Score:
    """A piece of a source, as LilyPond.

    Args:
        id: readable and stable.
        work: the work that it is of, or a part of.
        text: self-contained, in the current syntax.
        licence: as its header says; None where it does not.
    """

    id: str
    work: str
    text: str
    licence: str | None
