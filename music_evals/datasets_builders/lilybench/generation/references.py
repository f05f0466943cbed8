"""Reading the sets of pieces that written music is compared with, and the demonstrations."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from music_evals.datasets_builders.lilybench.generation.dataset import BENCHMARK, ENCODER
from music_evals.datasets_builders.lilybench.generation.rows import (
    DEMONSTRATIONS,
    PAPER,
    REFERENCE_SPLIT,
    REFERENCES,
    ReferenceRow,
)
from music_evals.datasets_builders.folder import DatasetError, describe_dataset, load_split
from music_evals.encoders.lilybert import Pooling
from music_evals.notation.descriptors import DESCRIPTORS, Protocol

_EMBEDDINGS: Final[dict[Pooling, str]] = {"first_token": "embedding_first_token", "mean": "embedding_mean"}


@dataclass(frozen=True, slots=True)
class ReferenceSet:
    """A set of reference pieces.

    Args:
        name: of the set, one of `REFERENCES`.
        label: which dataset it is of, with its revision where it has one.
        encoder: identity of the encoder that embedded the pieces; None where none did.
        rows: the pieces.
    """

    name: str
    label: str
    encoder: str | None
    rows: tuple[ReferenceRow, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """The pieces' ids."""
        return tuple(row["id"] for row in self.rows)

    @property
    def works(self) -> tuple[str, ...]:
        """The work of each piece."""
        return tuple(row["work"] for row in self.rows)

    @property
    def texts(self) -> tuple[str, ...]:
        """The pieces as LilyPond, compiled or not."""
        return tuple(row["text"] for row in self.rows)

    @property
    def compiles(self) -> npt.NDArray[np.bool_]:
        """Whether each piece gives MIDI within the time that a written piece has, shape (n,)."""
        return np.array([row["compiles"] for row in self.rows], dtype=np.bool_)

    def descriptors(self, protocol: Protocol) -> npt.NDArray[np.float64]:
        """The descriptors of each piece.

        Args:
            protocol: ``strict`` or ``paper``.

        Returns:
            Shape (n, 3), columns in the order of `DESCRIPTORS`; NaN where one is undefined, as for all three of a piece
            that does not compile.
        """
        rows: tuple[Any, ...] = self.rows
        columns = [f"{PAPER if protocol == 'paper' else ''}{name}" for name in DESCRIPTORS]
        values = [[np.nan if row[name] is None else row[name] for name in columns] for row in rows]
        return np.array(values, dtype=np.float64).reshape(len(rows), len(columns))

    def embeddings(self, pooling: Pooling) -> npt.NDArray[np.float32] | None:
        """The embeddings of each piece, compiled or not.

        Args:
            pooling: how the vectors of a text's tokens became one.

        Returns:
            Shape (n, d), or None where the dataset was built without an encoder.
        """
        rows: tuple[Any, ...] = self.rows
        vectors = [row[_EMBEDDINGS[pooling]] for row in rows]
        if self.encoder is None or any(vector is None for vector in vectors):
            return None
        return np.array(vectors, dtype=np.float32)


def reference_names(dataset: str) -> tuple[str, ...]:
    """The reference sets that a dataset has, the in-domain one first.

    Args:
        dataset: ``generated``, a folder, or ``hf://datasets/ORG/NAME[@REVISION]``.

    Raises:
        DatasetError: there is no such dataset, or it belongs to another benchmark.
    """
    counts = describe_dataset(dataset, benchmark=BENCHMARK).provenance.counts
    return tuple(name for name in REFERENCES if name in counts)


def load_reference(dataset: str, name: str) -> ReferenceSet:
    """Load a reference set.

    Args:
        dataset: as for `reference_names`.
        name: of the set.

    Raises:
        DatasetError: there is no such dataset, or no such set in it; those that there are are listed.
    """
    origin = describe_dataset(dataset, benchmark=BENCHMARK)
    available = reference_names(dataset)
    if name not in available:
        lacks = "; it lacks " + "; ".join(origin.provenance.missing) if origin.provenance.missing else ""
        raise DatasetError(f"{dataset} has no reference set '{name}'; it has: {', '.join(available) or 'none'}{lacks}")
    rows = load_split(dataset, name, REFERENCE_SPLIT, benchmark=BENCHMARK).to_list()
    label = f"{origin.label}@{origin.revision}" if origin.revision else origin.label
    return ReferenceSet(name, label, origin.provenance.made_with.get(ENCODER), tuple(rows))


def load_demonstrations(dataset: str) -> dict[str, str]:
    """The texts of a dataset's demonstrations, of all regimes.

    Args:
        dataset: as for `reference_names`.

    Returns:
        ``SPLIT/ID`` → LilyPond.

    Raises:
        DatasetError: there is no such dataset, or it belongs to another benchmark.
    """
    splits = describe_dataset(dataset, benchmark=BENCHMARK).provenance.counts.get(DEMONSTRATIONS, {})
    return {
        f"{split}/{row['id']}": row["text"]
        for split in splits
        for row in load_split(dataset, DEMONSTRATIONS, split, benchmark=BENCHMARK, columns=["id", "text"])
    }
