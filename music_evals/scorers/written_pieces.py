"""What is found out about each piece that a model wrote: whether it compiles, its descriptors, pictures and embedding.

All of it is kept in the sample's store, in the log, so that scoring a log again needs neither the model nor LilyPond
nor the encoder.
"""

import base64
import hashlib
from collections.abc import Callable, Sequence
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
from music_evals.notation.lilypond.slots import cores
from music_evals.notation.lilypond.writing import LIMITS, compile_reply, complete_code
from music_evals.notation.midi.descriptors import DescriptorError, Protocol, describe
from music_evals.notation.midi.piano_roll import piano_roll
from music_evals.scorers.scores import failure

STORE: Final = "written_pieces"
"""Where a sample's store keeps its pieces."""

LEAST_EMBEDDED: Final = 40
"""Characters below which the published code drops a text before it embeds the others."""

Vector = npt.NDArray[np.float32]


class Piece(TypedDict):
    """A piece that a model wrote, as the log keeps it.

    `reply` is a digest of the reply that it was taken from, and of the protocol. `problem` says why the `code` failed
    (None where it did not), `is_measured` whether that is the piece's doing and not the machine's; `messages` are
    LilyPond's own.
    `descriptors` are MusPy's for each protocol, and `undefined` says why one has no value. In Base64 are `midi`, a
    file; `pictures`, PNG files of the engraved first `system` and the piano `roll`; and `embeddings`, little-endian
    32-bit numbers by encoder and pooling. `undrawn` says why a picture failed; older logs lack it. `has_notes` says
    whether the MIDI file can be read and holds a note, without which a piece may compile under ``paper`` alone.
    """

    reply: str
    code: str
    problem: str | None
    messages: str
    is_measured: NotRequired[bool]  # earlier logs have none
    midi: str | None
    descriptors: dict[str, dict[str, float | None]]
    undefined: dict[str, dict[str, str]]
    pictures: dict[str, str]
    embeddings: dict[str, str]
    undrawn: NotRequired[dict[str, str]]
    has_notes: NotRequired[bool]  # earlier logs have none


class Workbench:
    """Finds out about pieces, as many at a time as there are cores; texts to embed are put together in batches.

    There are pictures of samples whose metadata ``media`` is true or missing, as in logs of earlier versions.
    """

    def __init__(self, *, pictures: bool) -> None:
        self._pictures = pictures
        self._cores = anyio.CapacityLimiter(cores())
        self._waiting: list[tuple[str, list[Vector]]] = []
        self._embedding = anyio.Lock()

    async def pieces(self, state: TaskState, protocol: Protocol) -> list[Piece]:
        """Find out about the piece of each reply of a sample, in order, or recall it from the store; keep it there."""
        stored: list[Piece] = state.store.get(STORE, [])
        known = {piece["reply"]: piece for piece in stored if piece.get("is_measured", True)}
        found: list[Piece] = []
        pictures = self._pictures and bool(state.metadata.get("media", True))
        for reply in _replies(state):
            read = reply if protocol == "strict" else f"{protocol}\0{reply}"
            digest = hashlib.sha256(read.encode("utf-8", "surrogatepass")).hexdigest()[:16]
            if digest not in known:
                known[digest] = await anyio.to_thread.run_sync(
                    partial(examine, reply, digest, protocol, pictures=pictures), limiter=self._cores
                )
            found.append(known[digest])
        state.store.set(STORE, found)
        return found

    async def embed(self, state: TaskState, piece: Piece, encoder: Encoder, pooling: Pooling) -> None:
        """Embed a piece of a sample, unless that was done before; the vector is left in the sample's store."""
        name = f"{encoder.identity}, {pooling}"
        if name in piece["embeddings"] or not piece["code"]:
            return
        result: list[Vector] = []
        self._waiting.append((piece["code"], result))
        async with self._embedding:
            # Whoever comes first takes along all that have gathered while the batch before was under way.
            if not result:
                await self._embed_waiting(result, encoder, pooling)
        piece["embeddings"][name] = encoded(result[0])
        state.store.set(STORE, state.store.get(STORE))

    async def _embed_waiting(self, own: list[Vector], encoder: Encoder, pooling: Pooling) -> None:
        batch, self._waiting = self._waiting, []
        texts = [text for text, _ in batch]
        try:
            vectors = await anyio.to_thread.run_sync(partial(encoder.embed, texts, poolings=(pooling,)))
        except BaseException:
            # The others try again by themselves.
            self._waiting = [entry for entry in batch if entry[1] is not own] + self._waiting
            raise
        for (_, result), vector in zip(batch, vectors, strict=True):
            result.append(vector[pooling])


def _replies(state: TaskState) -> list[str]:
    """The replies of the model in a sample, of which demonstrations are none; an empty one where there is none."""
    given = 1 if isinstance(state.input, str) else len(state.input)
    return [message.text for message in state.messages[given:] if isinstance(message, ChatMessageAssistant)] or [""]


def examine(reply: str, digest: str, protocol: Protocol, *, pictures: bool) -> Piece:
    """Find out about the piece in a reply; it is without embeddings."""
    written = compile_reply(reply, protocol)
    piece = Piece(
        reply=digest,
        code=written.code,
        problem=written.problem,
        messages=written.messages,
        is_measured=written.is_measured,
        has_notes=written.has_notes,
        midi=None,
        descriptors={},
        undefined={},
        pictures={},
        embeddings={},
    )
    if written.midi is None:
        return piece
    piece["midi"] = base64.b64encode(written.midi).decode()
    for one in get_args(Protocol):
        try:
            described = describe(written.midi, one)
            piece["descriptors"][one] = dict(described.values)
            piece["undefined"][one] = dict(described.reasons)
        except Exception as error:
            why = str(error) if isinstance(error, DescriptorError) else failure(error)
            piece["descriptors"][one], piece["undefined"][one] = {}, {"": why}
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
        # Without a picture a piece has all its figures.
        except Exception as error:
            piece.setdefault("undrawn", {})[name] = failure(error)
    return piece


def is_embedded(text: str, protocol: Protocol) -> bool:
    """Whether a text counts for the Fréchet Music Distance: under ``paper`` only from `LEAST_EMBEDDED` characters."""
    return protocol == "strict" or len(text.strip()) >= LEAST_EMBEDDED


def encoded(vector: Sequence[float] | Vector) -> str:
    """Write a vector as text, for `decoded`."""
    return base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode()


def decoded(text: str) -> Vector:
    """Read a vector that `encoded` wrote.

    Example:
        >>> decoded(encoded([1.0, -2.0])).tolist(), encoded([1.0, -2.0])
        ([1.0, -2.0], 'AACAPwAAAMA=')
    """
    return np.frombuffer(base64.b64decode(text, validate=True), dtype="<f4")


def stored_embedding(piece: Piece, encoder: str, pooling: Pooling) -> tuple[str, str] | None:
    """Find the embedding of a piece by an encoder, given by name or folder, without loading the encoder.

    Returns the encoder's identity and the vector, for `decoded`; None where there is none.

    Example:
        >>> piece = {"embeddings": {"csc-unipd/lilybert@1a2b, layer 6, mean": "AACAPwAAAMA="}}
        >>> stored_embedding(piece, "csc-unipd/lilybert", "mean")
        ('csc-unipd/lilybert@1a2b, layer 6', 'AACAPwAAAMA=')
    """
    # An encoder's identity begins with its name on the Hub, or that of its folder, and goes on with its revision.
    begins = (f"{encoder.partition('@')[0]}@", f"{PurePath(encoder).name}@")
    for name, vector in piece["embeddings"].items():
        identity = name.removesuffix(f", {pooling}")
        if identity != name and identity.startswith(begins):
            return identity, vector
    return None
