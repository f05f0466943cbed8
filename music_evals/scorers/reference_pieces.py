"""The pieces that written music is compared with: loaded, embedded and indexed once per process."""

from collections.abc import Callable, Mapping
from functools import cache
from threading import Lock

import numpy as np
import numpy.typing as npt

from music_evals.encoders.lilybert import Encoder, EncoderError, load_encoder
from music_evals.notation.cache import cache_folder
from music_evals.notation.lilypond.copies import CopyIndex
from music_evals.notation.reference_pieces import ReferenceSet
from music_evals.scorers.scores import setting_up


class ReferencePieces:
    """Reference sets and demonstrations of datasets, each loaded once.

    `references` takes a dataset and names of sets, separated by commas, or None for all;
    `demonstrations` a dataset.
    """

    def __init__(
        self,
        references: Callable[[str, str | None], tuple[ReferenceSet, ...]],
        demonstrations: Callable[[str], Mapping[str, str]],
    ) -> None:
        self.references = cache(references)
        self._demonstrations = demonstrations
        self._indices = cache(self._index)
        self._lock = Lock()

    def nearest(
        self, code: str, dataset: str, reference: str | None
    ) -> dict[str, tuple[str, float]]:
        """The demonstration, and the piece of each reference set, that contains most of a LilyPond
        code.

        Returns set → name of the piece, and the share of the code; nothing if the code is too
        short.
        """
        with self._lock, setting_up():  # only the first of many threads reads the pieces
            indices = self._indices(dataset, reference)
        nearest = {}
        for name, index in indices.items():
            if piece := index.nearest(code):
                nearest[name] = (piece.id, piece.share)
        return nearest

    def _index(self, dataset: str, reference: str | None) -> Mapping[str, CopyIndex]:
        demonstrations = self._demonstrations(dataset)
        indices = {"demonstrations": CopyIndex(demonstrations)} if demonstrations else {}
        for pieces in self.references(dataset, reference):
            indices[pieces.name] = CopyIndex(dict(zip(pieces.ids, pieces.texts, strict=True)))
        return indices


@cache
def shared_encoder(name: str) -> Encoder:
    """Load an encoder once, by its name on the Hub or its folder; its vectors are kept in the cache
    folder.
    """
    return load_encoder(name, cache=cache_folder() / "embeddings")


def embedded_reference(
    reference: ReferenceSet, encoder: str, identity: str
) -> npt.NDArray[np.float64]:
    """The embeddings of a reference set, shape (pieces, dimension), by the encoder of this
    identity.

    They come from the dataset, or are computed if it has none; EncoderError if `encoder` has
    another identity by now.
    """
    if reference.encoder == identity and (stored := reference.embeddings()) is not None:
        return np.asarray(stored, dtype=np.float64)
    loaded = shared_encoder(encoder)
    if loaded.identity != identity:
        raise EncoderError(
            f"the pieces were embedded by {identity}, and {encoder} names {loaded.identity} now"
        )
    return np.array(loaded.embed(reference.texts), dtype=np.float64)
