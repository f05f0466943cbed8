"""Sets of LilyPond pieces that written music is compared with, as rows and as arrays.

Source: Spanio et al., "Can LLMs understand LilyPond?" (arXiv 2606.08722), section 3.3.
"""

from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from music_evals.notation.midi.descriptors import DESCRIPTORS, Protocol

PAPER = "paper_"  # prefix of the columns with descriptors of the protocol ``paper``


class ReferenceRow(TypedDict):
    """A reference piece.

    `text` is what was compiled: self-contained and in the current syntax. `compiles` means exit
    status 0 and a MIDI file within 15 s of CPU time; `problem` says why a piece does not compile.
    Columns with ``paper_`` have descriptors of the protocol ``paper``, the others of ``strict``. An
    undefined descriptor is null, and `undefined` says why. The embedding is null if the dataset was
    built without an encoder.
    """

    id: str
    work: str
    text: str
    compiles: bool
    problem: str | None
    polyphony_rate: float | None
    groove_consistency: float | None
    scale_consistency: float | None
    paper_polyphony_rate: float | None
    paper_groove_consistency: float | None
    paper_scale_consistency: float | None
    undefined: str | None
    embedding: list[float] | None
    licence: str | None


@dataclass(frozen=True, slots=True)
class ReferenceSet:
    """A set of reference pieces."""

    name: str  # such as mutopia
    encoder: str | None  # identity of the encoder that embedded the pieces, if any
    rows: tuple[ReferenceRow, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the pieces."""
        return tuple(row["id"] for row in self.rows)

    @property
    def texts(self) -> tuple[str, ...]:
        """The pieces as LilyPond, whether they compile or not."""
        return tuple(row["text"] for row in self.rows)

    def descriptors(self, protocol: Protocol) -> npt.NDArray[np.float64]:
        """The descriptors of the pieces, shape (n, 3), columns in the order of `DESCRIPTORS`.

        An undefined descriptor is NaN; a piece that does not compile has no descriptors.
        """
        rows: tuple[Any, ...] = self.rows
        prefix = PAPER if protocol == "paper" else ""
        # None becomes NaN.
        values = [[row[prefix + name] for name in DESCRIPTORS] for row in rows]
        return np.array(values, dtype=np.float64).reshape(len(rows), len(DESCRIPTORS))

    def embeddings(self) -> npt.NDArray[np.float32] | None:
        """The embeddings of all pieces, shape (n, d); None if the dataset was built without an
        encoder.
        """
        vectors = [row["embedding"] for row in self.rows]
        if self.encoder is None or any(vector is None for vector in vectors):
            return None
        return np.array(vectors, dtype=np.float32)
