"""Examines the pieces of a sample, each once, and embeds them.

The log keeps all results in the sample's store, so scoring it again needs no model, no LilyPond and
no encoder.
"""

import base64
import hashlib
from functools import partial
from pathlib import PurePath

import anyio
import anyio.to_thread
import numpy as np
from inspect_ai.model import ChatMessageAssistant
from inspect_ai.solver import TaskState

from music_evals.encoders.lilybert import Vector
from music_evals.notation.lilypond.sandbox.slots import cores
from music_evals.notation.midi.descriptors import Protocol
from music_evals.scorers.readers.pieces import Piece, examine
from music_evals.scorers.reference_pieces import shared_encoder
from music_evals.scorers.scores import setting_up

STORE = "written_pieces"  # key of the pieces in a sample's store
LEAST_EMBEDDED = 40  # characters of a text that the published code embeds


class Workbench:
    """Examines pieces, as many at a time as there are cores, and embeds one at a time.

    Pictures are made for samples whose metadata ``media`` is true or missing.
    """

    def __init__(self, *, pictures: bool) -> None:
        self._pictures = pictures
        self._cores = anyio.CapacityLimiter(cores())
        self._embedding = anyio.CapacityLimiter(1)

    async def pieces(self, state: TaskState, protocol: Protocol) -> list[Piece]:
        """Return the pieces of a sample's replies in order; examine and store those that are not in
        the store yet.
        """
        stored: list[Piece] = state.store.get(STORE, [])
        by_digest = {piece["reply"]: piece for piece in stored if piece["is_measured"]}
        pieces = []
        pictures = self._pictures and bool(state.metadata.get("media", True))
        # The input may hold the replies of demonstrations.
        inputs = 1 if isinstance(state.input, str) else len(state.input)
        messages = state.messages[inputs:]
        replies = [one.text for one in messages if isinstance(one, ChatMessageAssistant)]
        for reply in replies or [""]:
            key = reply if protocol == "strict" else f"{protocol}\0{reply}"
            digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16]
            if digest not in by_digest:
                by_digest[digest] = await anyio.to_thread.run_sync(
                    partial(examine, reply, digest, protocol, pictures=pictures),
                    limiter=self._cores,
                )
            pieces.append(by_digest[digest])
        state.store.set(STORE, pieces)
        return pieces

    async def vector_of(self, state: TaskState, piece: Piece, encoder: str) -> tuple[str, str]:
        """Return the identity of an encoder and its vector of a piece of a sample, which is stored
        in the sample.

        A vector in the log is used as it is, so that scoring again needs no encoder.
        """
        if stored := stored_embedding(piece, encoder):
            return stored
        with setting_up():
            loaded = await anyio.to_thread.run_sync(shared_encoder, encoder)
        (vector,) = await anyio.to_thread.run_sync(
            loaded.embed, [piece["code"]], limiter=self._embedding
        )
        text = base64.b64encode(vector.astype("<f4").tobytes()).decode()
        piece["embeddings"][loaded.identity] = text
        state.store.set(STORE, state.store.get(STORE))
        return loaded.identity, text


def is_embedded(text: str, protocol: Protocol) -> bool:
    """Whether a text counts for the Fréchet Music Distance; ``paper`` needs `LEAST_EMBEDDED`
    characters.
    """
    return protocol == "strict" or len(text.strip()) >= LEAST_EMBEDDED


def decoded(text: str) -> Vector:
    """Read a stored embedding.

    Example:
        >>> decoded("AACAPwAAAMA=").tolist()
        [1.0, -2.0]
    """
    return np.frombuffer(base64.b64decode(text, validate=True), dtype="<f4")


def stored_embedding(piece: Piece, encoder: str) -> tuple[str, str] | None:
    """Return the identity of an encoder, given by name or folder, and its stored embedding of a
    piece, or None.

    Example:
        >>> piece = {"embeddings": {"csc-unipd/lilybert@1a2b, layer 6": "AACAPwAAAMA="}}
        >>> stored_embedding(piece, "csc-unipd/lilybert")
        ('csc-unipd/lilybert@1a2b, layer 6', 'AACAPwAAAMA=')
    """
    # An encoder's identity begins with its name on the Hub, or with the name of its folder, then
    # its revision.
    begins = (f"{encoder.partition('@')[0]}@", f"{PurePath(encoder).name}@")
    for identity, vector in piece["embeddings"].items():
        if identity.startswith(begins):
            return identity, vector
    return None
