"""The pieces that written music is measured against: loaded, embedded and indexed once a process."""

from collections.abc import Mapping
from functools import cache
from threading import Lock
from typing import Final

import numpy as np
import numpy.typing as npt

from music_evals.datasets_builders.lilybench.generation.references import (
    ReferenceSet,
    load_demonstrations,
    load_reference,
    reference_names,
)
from music_evals.encoders.lilybert import Encoder, EncoderError, Pooling, load_encoder
from music_evals.notation.cache import cache_folder
from music_evals.notation.lilypond.copies import CopyIndex

DEMONSTRATIONS: Final = "demonstrations"
"""Name of the demonstrations among the sets that pieces may be copied from."""

_once: Final = Lock()


@cache
def chosen_references(dataset: str, reference: str | None) -> tuple[ReferenceSet, ...]:
    """Load reference sets.

    Args:
        dataset: the dataset, as for a task.
        reference: their names, separated by commas; None for all that there are.

    Returns:
        The sets, in that order.

    Raises:
        DatasetError: there is no such dataset or set.
    """
    names = reference_names(dataset) if reference is None else [name.strip() for name in reference.split(",")]
    return tuple(load_reference(dataset, name) for name in names)


@cache
def shared_encoder(name: str) -> Encoder:
    """Load an encoder, once.

    Args:
        name: on the Hub, or a folder.

    Returns:
        The encoder; what it makes of texts is kept in the cache folder.

    Raises:
        EncoderError: it cannot be had.
    """
    return load_encoder(name, cache=cache_folder() / "embeddings")


def embedded_reference(
    reference: ReferenceSet, encoder: str, identity: str, pooling: Pooling
) -> npt.NDArray[np.float64]:
    """The embeddings of a reference set: those of the dataset, where they are by the same encoder, else made here.

    Args:
        reference: the set.
        encoder: name or folder of the encoder.
        identity: of the encoder that embedded what the set is compared with.
        pooling: how the vectors of a text's tokens become one.

    Returns:
        Shape (pieces, dimension).

    Raises:
        EncoderError: the encoder cannot be had, or is another by now.
    """
    if reference.encoder == identity and (held := reference.embeddings(pooling)) is not None:
        return np.asarray(held, dtype=np.float64)
    loaded = shared_encoder(encoder)
    if loaded.identity != identity:
        raise EncoderError(f"the pieces were embedded by {identity}, and {encoder} names {loaded.identity} now")
    vectors = loaded.embed(reference.texts, poolings=(pooling,))
    return np.array([vector[pooling] for vector in vectors], dtype=np.float64)


def nearest_pieces(code: str, dataset: str, reference: str | None) -> dict[str, tuple[str, float]]:
    """Find which demonstration and which reference piece stand in a piece most.

    Args:
        code: LilyPond.
        dataset: the dataset.
        reference: names of reference sets, as for `chosen_references`.

    Returns:
        Set → name of the piece, and the share of the code that stands in it too; nothing for a code too short to tell.
    """
    with _once:  # of many threads that ask at first, one reads the pieces
        indices = _indices(dataset, reference)
    found = {name: index.nearest(code) for name, index in indices.items()}
    return {name: (nearest.id, nearest.share) for name, nearest in found.items() if nearest is not None}


@cache
def _indices(dataset: str, reference: str | None) -> Mapping[str, CopyIndex]:
    shown = load_demonstrations(dataset)
    return {
        **({DEMONSTRATIONS: CopyIndex(shown)} if shown else {}),
        **{
            found.name: CopyIndex(dict(zip(found.ids, found.texts, strict=True)))
            for found in chosen_references(dataset, reference)
        },
    }
