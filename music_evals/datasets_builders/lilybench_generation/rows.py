"""The rows of LilyBench's generation part: prompts, demonstrations, works and reference pieces.

Source: arXiv 2606.08722, sections 3.1 and 3.3.
"""

from typing import Annotated, Literal, NamedTuple, TypedDict

from pydantic import Field

from music_evals.datasets_builders.dataset_io import Text, features_of
from music_evals.notation.reference_pieces import ReferenceRow

NAME = "lilybench_generation"
VERSION = "4.0.0"
DEFAULT_SEED = 1234  # the seed of the paper's prompt bank
ENCODER = "encoder"  # key of the encoder's identity in `Provenance.made_with`

PROMPTS = "prompts"
N_PROMPTS = 1_000
"""Prompts of a bank. The published figures are of 1,000; the first 200 are the bank that the paper
speaks of.
"""
PromptSplit = Literal["test", "paper"]
"""Prompts drawn from the entries of all works; and, as published, from files, if a source has them.
"""
FULL = "full"  # the part of a file that holds a whole piece
DEMONSTRATIONS = "demonstrations"
DemonstrationSplit = Literal["train", "ablation"]
"""Demonstrations from works of the training split; and this project's own pieces in A minor."""
N_DEMONSTRATIONS = 3
MAX_DEMONSTRATION = 8_000
"""Characters of a demonstration from the training split: three must leave room in a model's
context.
"""

WORKS = "works"
WorkSplit = Literal["train", "test"]

BMDATASET_TEST = "bmdataset-test"
MUTOPIA = "mutopia"
MUSIC21_TEST = "music21-test"
MUSIC21_OTHER = "music21-other"
REFERENCES = (BMDATASET_TEST, MUTOPIA, MUSIC21_TEST, MUSIC21_OTHER)
"""Configs of reference pieces: in-domain and out-of-domain, as published and in the default
dataset.
"""
REFERENCE_SPLIT = "reference"


class Description(TypedDict):
    """The known facts of a piece to write or to show; unknown ones are null.

    `period` is such as ``Late Baroque``, `form` such as ``concerto grosso``, `ensemble` instruments
    separated by commas, `part` such as ``2: largo``, `key` such as ``B-flat major``, `metre` such
    as ``3/4``.
    """

    composer: str | None
    period: str | None
    form: str | None
    ensemble: str | None
    part: str | None
    key: str | None
    metre: str | None


NOTHING_KNOWN = Description(
    composer=None, period=None, form=None, ensemble=None, part=None, key=None, metre=None
)


class _Prompt(TypedDict):
    id: str
    index: Annotated[int, Field(ge=0)]
    entry: str
    work: str


class _WorkPiece(TypedDict):
    id: str
    work: str


class PromptRow(_Prompt, Description):
    """A prompt: the description of an entry, which is a movement, or a work without known
    movements.

    `id` is such as ``prompt-007``, `index` its number from 0. Several prompts may have the same
    `entry` and `work`. In the split ``paper`` the entry is a file, and `part` the rest of its name
    behind the work's, or `FULL`.
    """


class DemonstrationRow(_WorkPiece, Description):
    """A piece to show, with the description that a prompt for it would have; its text compiles to
    MIDI.
    """

    text: Text


class WorkRow(TypedDict):
    """A work of the source, and the split that it is in; `movements` is the number of its
    entries.
    """

    id: str
    composer: str | None
    period: str | None
    form: str | None
    movements: int
    split: WorkSplit


FEATURES = {
    PROMPTS: features_of(PromptRow),
    DEMONSTRATIONS: features_of(DemonstrationRow),
    WORKS: features_of(WorkRow),
    **dict.fromkeys(
        REFERENCES,
        features_of(ReferenceRow, embedding="vector"),
    ),
}
"""Config → declared columns."""


class Score(NamedTuple):
    """A piece of a source in the current syntax; the licence is from its header."""

    id: str
    work: str
    text: str
    licence: str | None
