"""Examines each piece that a model wrote: whether it compiles, its descriptors, pictures and embedding.

The log keeps all results in the sample's store, so scoring it again needs no model, no LilyPond and no encoder.
"""

import base64
import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import PurePath
from typing import Final, NotRequired, TypedDict, get_args

import anyio
import anyio.to_thread
import numpy as np
import numpy.typing as npt
from inspect_ai.model import ChatMessageAssistant
from inspect_ai.solver import TaskState

from music_evals.encoders.lilybert import Encoder, Pooling
from music_evals.notation.lilypond.compiler import LilyPondError, lilypond_cache
from music_evals.notation.lilypond.pictures import first_system
from music_evals.notation.lilypond.sandbox import SandboxError
from music_evals.notation.lilypond.sandbox.slots import cores
from music_evals.notation.lilypond.writing import LIMITS, compile_reply, complete_code
from music_evals.notation.midi.descriptors import DescriptorError, Protocol, describe
from music_evals.notation.midi.piano_roll import piano_roll
from music_evals.scorers.scores import format_error

STORE: Final = "written_pieces"  # key of the pieces in a sample's store
LEAST_EMBEDDED: Final = 40  # characters of a text that the published code embeds

Vector = npt.NDArray[np.float32]


class Piece(TypedDict):
    """A piece that a model wrote, as the log keeps it.

    - `reply` is a digest of the reply and of the protocol.
    - `problem` says why the `code` failed, None if it did not. `is_measured` is False if the machine is the reason, not
      the piece. `messages` are LilyPond's.
    - `has_notes` says whether the MIDI file can be read and holds a note. Under ``paper`` a piece may compile without.
    - `descriptors` are MusPy's by protocol; `undefined` says why one has no value.
    - In Base64 are `midi`, a file; `pictures`, PNG files of the engraved first `system` and the piano `roll`; and
      `embeddings`, little-endian 32-bit numbers by encoder and pooling. `undrawn` says why a picture failed.
    """

    reply: str
    code: str
    problem: str | None
    messages: str
    is_measured: NotRequired[bool]
    midi: str | None
    descriptors: dict[str, dict[str, float | None]]
    undefined: dict[str, dict[str, str]]
    pictures: dict[str, str]
    embeddings: dict[str, str]
    undrawn: NotRequired[dict[str, str]]
    has_notes: NotRequired[bool]


class Workbench:
    """Examines pieces, as many at a time as there are cores, and embeds texts in batches.

    Pictures are made for samples whose metadata ``media`` is true or missing.
    """

    def __init__(self, *, pictures: bool) -> None:
        self._pictures = pictures
        self._cores = anyio.CapacityLimiter(cores())
        self._waiting: list[tuple[str, list[Vector]]] = []
        self._embedding = anyio.Lock()

    async def pieces(self, state: TaskState, protocol: Protocol) -> list[Piece]:
        """Return the pieces of a sample's replies in order; examine and store those that are not in the store yet."""
        stored: list[Piece] = state.store.get(STORE, [])
        by_digest = {piece["reply"]: piece for piece in stored if piece.get("is_measured", True)}
        pieces: list[Piece] = []
        pictures = self._pictures and bool(state.metadata.get("media", True))
        inputs = 1 if isinstance(state.input, str) else len(state.input)  # with the replies of demonstrations
        replies = [message.text for message in state.messages[inputs:] if isinstance(message, ChatMessageAssistant)]
        for reply in replies or [""]:
            key = reply if protocol == "strict" else f"{protocol}\0{reply}"
            digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16]
            if digest not in by_digest:
                by_digest[digest] = await anyio.to_thread.run_sync(
                    partial(examine, reply, digest, protocol, pictures=pictures), limiter=self._cores
                )
            pieces.append(by_digest[digest])
        state.store.set(STORE, pieces)
        return pieces

    async def embed(self, state: TaskState, piece: Piece, encoder: Encoder, pooling: Pooling) -> None:
        """Embed a piece of a sample and store the vector in the sample, unless it has one."""
        name = f"{encoder.identity}, {pooling}"
        if name in piece["embeddings"] or not piece["code"]:
            return
        result: list[Vector] = []
        self._waiting.append((piece["code"], result))
        async with self._embedding:
            if not result:  # the first call embeds all texts that came in while the last batch was being embedded
                await self._embed_waiting(result, encoder, pooling)
        piece["embeddings"][name] = base64.b64encode(np.asarray(result[0], dtype="<f4").tobytes()).decode()
        state.store.set(STORE, state.store.get(STORE))

    async def _embed_waiting(self, own: list[Vector], encoder: Encoder, pooling: Pooling) -> None:
        batch, self._waiting = self._waiting, []
        texts = [text for text, _ in batch]
        try:
            vectors = await anyio.to_thread.run_sync(partial(encoder.embed, texts, poolings=(pooling,)))
        except BaseException:
            # The other calls try again by themselves.
            self._waiting = [entry for entry in batch if entry[1] is not own] + self._waiting
            raise
        for (_, result), vector in zip(batch, vectors, strict=True):
            result.append(vector[pooling])


def examine(reply: str, digest: str, protocol: Protocol, *, pictures: bool) -> Piece:
    """Compile, describe and draw the piece in a reply, without embeddings."""
    written = compile_reply(reply, protocol)
    piece: Piece = {
        "reply": digest, "code": written.code, "problem": written.problem, "messages": written.messages,
        "is_measured": written.is_measured, "has_notes": written.has_notes,
        "midi": None, "descriptors": {}, "undefined": {}, "pictures": {}, "embeddings": {},
    }  # fmt: skip
    if written.midi is None:
        return piece
    piece["midi"] = base64.b64encode(written.midi).decode()
    for name in get_args(Protocol):
        try:
            described = describe(written.midi, name)
            piece["descriptors"][name] = dict(described.values)
            piece["undefined"][name] = dict(described.reasons)
        except Exception as error:
            reason = str(error) if isinstance(error, DescriptorError) else format_error(error)
            piece["descriptors"][name], piece["undefined"][name] = {}, {"": reason}
    drawings: dict[str, Callable[[], bytes | None]] = {
        "system": partial(first_system, complete_code(written.code), limits=LIMITS, cache=lilypond_cache()),
        "roll": partial(piano_roll, written.midi),
    }
    for name, draw in drawings.items() if pictures else ():
        try:
            if picture := draw():
                piece["pictures"][name] = base64.b64encode(picture).decode()
        except (LilyPondError, SandboxError):
            raise
        except Exception as error:  # a piece without a picture still has all its figures
            piece.setdefault("undrawn", {})[name] = format_error(error)
    return piece


def is_embedded(text: str, protocol: Protocol) -> bool:
    """Whether a text counts for the Fréchet Music Distance; ``paper`` needs `LEAST_EMBEDDED` characters."""
    return protocol == "strict" or len(text.strip()) >= LEAST_EMBEDDED


def decoded(text: str) -> Vector:
    """Read a stored embedding.

    Example:
        >>> decoded("AACAPwAAAMA=").tolist()
        [1.0, -2.0]
    """
    return np.frombuffer(base64.b64decode(text, validate=True), dtype="<f4")


def stored_embedding(piece: Piece, encoder: str, pooling: Pooling) -> tuple[str, str] | None:
    """Return the identity of an encoder, given by name or folder, and its stored embedding of a piece, or None.

    Example:
        >>> piece = {"embeddings": {"csc-unipd/lilybert@1a2b, layer 6, mean": "AACAPwAAAMA="}}
        >>> stored_embedding(piece, "csc-unipd/lilybert", "mean")
        ('csc-unipd/lilybert@1a2b, layer 6', 'AACAPwAAAMA=')
    """
    # An encoder's identity begins with its name on the Hub, or with the name of its folder, then its revision.
    begins = (f"{encoder.partition('@')[0]}@", f"{PurePath(encoder).name}@")
    for name, vector in piece["embeddings"].items():
        identity = name.removesuffix(f", {pooling}")
        if identity != name and identity.startswith(begins):
            return identity, vector
    return None
