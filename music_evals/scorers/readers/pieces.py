"""Reads a piece that a model wrote: whether it compiles, its descriptors and its pictures."""

import base64
from collections.abc import Callable
from functools import partial
from typing import NotRequired, TypedDict, get_args

from music_evals.notation.lilypond.compiler import LilyPondError, lilypond_cache
from music_evals.notation.lilypond.pictures import first_system
from music_evals.notation.lilypond.sandbox import SandboxError
from music_evals.notation.lilypond.writing import LIMITS, compile_reply, complete_code
from music_evals.notation.midi.descriptors import DescriptorError, Protocol, describe
from music_evals.notation.midi.piano_roll import piano_roll
from music_evals.scorers.readers import format_error
from music_evals.scorers.readers.cleaning import visible_reply


class Piece(TypedDict):
    """A piece that a model wrote, as the log keeps it.

    - `reply` is a digest of the reply and of the protocol.
    - `problem` says why the `code` failed, None if it did not. `is_measured` is False if the
      machine is the reason, not the piece. `messages` are LilyPond's.
    - `has_notes` says whether the MIDI file can be read and holds a note. Under ``paper`` a piece
      may compile without.
    - `descriptors` are MusPy's by protocol; `undefined` says why one has no value.
    - In Base64 are `midi`, a file; `pictures`, PNG files of the engraved first `system` and the
      piano `roll`; and `embeddings`, little-endian 32-bit numbers by encoder. `undrawn`
      says why a picture failed.
    """

    reply: str
    code: str
    problem: str | None
    messages: str
    is_measured: bool
    midi: str | None
    descriptors: dict[str, dict[str, float | None]]
    undefined: dict[str, dict[str, str]]
    pictures: dict[str, str]
    embeddings: dict[str, str]
    undrawn: NotRequired[dict[str, str]]
    has_notes: bool


def examine(reply: str, digest: str, protocol: Protocol, *, pictures: bool) -> Piece:
    """Compile, describe and draw the piece in a reply, without embeddings."""
    # Published code reads thinking too.
    stated = visible_reply(reply) if protocol == "strict" else reply
    written = compile_reply(stated, protocol)
    piece: Piece = {
        "reply": digest,
        "code": written.code,
        "problem": written.problem,
        "messages": written.messages,
        "is_measured": written.is_measured,
        "has_notes": written.has_notes,
        "midi": None,
        "descriptors": {},
        "undefined": {},
        "pictures": {},
        "embeddings": {},
    }
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
            piece["descriptors"][name] = {}
            piece["undefined"][name] = {"": reason}
    drawings: dict[str, Callable[[], bytes | None]] = {
        "system": partial(
            first_system, complete_code(written.code), limits=LIMITS, cache=lilypond_cache()
        ),
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
