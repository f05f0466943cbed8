"""The music of a sample as pictures and sound in its log, for readers of the log and not for the
model.

`with_media` adds a message to the end of the chat, after the reply: piano rolls and sound of MIDI
files, a tune in ABC as engraved and as sound, or the first page of a LilyPond text. Inspect's
viewer shows it under *Messages*; ``--no-log-images`` leaves it out. If a picture cannot be drawn,
the message says why.
"""

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial, wraps
from typing import Any, Literal

import anyio
import anyio.to_thread
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatMessageUser,
    Content,
    ContentAudio,
    ContentDocument,
    ContentImage,
    ContentText,
)
from inspect_ai.solver import Generate, Solver, TaskState
from inspect_ai.util import sample_limits, suspend_working_limit

from music_evals.notation.abc.plain import parse_plain, plain_abc
from music_evals.notation.audio.rendering import render_mp3
from music_evals.notation.lilypond.compiler import lilypond_cache
from music_evals.notation.lilypond.pictures import opening
from music_evals.notation.lilypond.sandbox.slots import cores
from music_evals.notation.lilypond.writing import LIMITS
from music_evals.notation.midi.piano_roll import piano_roll
from music_evals.notation.scores.pages import engrave_pages

MEDIA = "media"
"""Key of a sample's metadata: the music to show, or None. ``midi`` maps names to files in Base64,
``abc`` and ``lilypond`` are texts. True means that the scorer draws the pieces that the model
writes.
"""
LONGEST = 8_000
"""Characters of ABC that is drawn and played, which takes about ten seconds."""
SHOWN = 10  # samples of a run that are shown by default
_METRE = re.compile(r"(?m)^M: *(C|\d.*)\n(?=K:)")  # at the start of a voice
NOTE = "*Shown to readers of this log. The model was not sent it.*\n\n"


def data_uri(data: bytes, kind: str) -> str:
    """Return the address of a file that is within a message.

    Example:
        >>> data_uri(b"RIFF", "audio/wav")
        'data:audio/wav;base64,UklGRg=='
    """
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


_FILES = {
    rb"\x89PNG": "image/png",
    rb"\xff\xd8": "image/jpeg",
    rb"%PDF": "application/pdf",
    rb"RIFF....WEBP": "image/webp",
    rb"RIF[FX]": "audio/wav",
}
"""How a file begins → its kind; others are MP3."""


@lru_cache(maxsize=32)  # questions on one piece share its text
def file_content(data: bytes, detail: Literal["auto", "high"] = "auto") -> Content:
    """Return a picture, a PDF, WAV or MP3 as a part of a message.

    Args:
        data: the file.
        detail: of a picture.
    """
    kinds = (kind for start, kind in _FILES.items() if re.match(start, data, re.DOTALL))
    kind = next(kinds, "audio/mpeg")
    uri = data_uri(data, kind)
    if kind == "application/pdf":
        return ContentDocument(document=uri)
    if kind.startswith("image"):
        return ContentImage(image=uri, detail=detail)
    return ContentAudio(audio=uri, format="mp3" if kind == "audio/mpeg" else "wav")


def limit_media(samples: Sequence[Sample], most: int | Literal["all"]) -> bool:
    """Leave `MEDIA` to the samples that are asked first or listed first in the viewer; return
    whether any has it.

    ValueError for a negative number.
    """
    if isinstance(most, int) and most < 0:
        raise ValueError(
            f"media={most} is not valid; valid values are: all, and whole numbers from 0"
        )
    count = len(samples) if most == "all" else most
    with_music = [sample for sample in samples if (sample.metadata or {}).get(MEDIA)]
    listed = sorted(with_music, key=lambda sample: str(sample.id))
    shown = {sample.id for sample in (*samples[:count], *listed[:count])}
    for sample in with_music:
        if sample.metadata and sample.id not in shown:
            sample.metadata[MEDIA] = None
    return any(isinstance((sample.metadata or {})[MEDIA], Mapping) for sample in with_music)


def with_media(solver: Solver) -> Solver:
    """Return a solver that adds the message to samples with media, unless a limit of messages
    forbids it.

    The message has no solver of its own, as Inspect copies and compares the state of a sample
    around every solver.
    """
    limiter = anyio.CapacityLimiter(cores())

    @wraps(solver)  # which keeps its name and arguments for the log
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state = await solver(state, generate)
        media = state.metadata.get(MEDIA)
        if not isinstance(media, Mapping):  # also outside a running sample, as `listen` asks it
            return state
        room = sample_limits().message.remaining
        if room is not None and room < 1:
            return state
        # not part of the sample's working time, which reports compare
        with suspend_working_limit():
            content = await anyio.to_thread.run_sync(render_media, media, limiter=limiter)
        if content:
            state.messages.append(ChatMessageUser(content=[ContentText(text=NOTE), *content]))
        return state

    return solve


def render_media(media: Mapping[str, Any]) -> list[Content]:
    """Draw and play the music that a sample's metadata name."""
    content: list[Content] = []
    for name, encoded in media.get("midi", {}).items():
        midi = base64.b64decode(encoded)
        content.append(ContentText(text=f"{name}:\n\n"))
        content += _rendered("picture", partial(piano_roll, midi)) + _rendered(
            "sound", partial(render_mp3, midi)
        )
    abc = media.get("abc") or ""
    if len(abc) > LONGEST:
        reason = f"{len(abc):,} characters, and at most {LONGEST:,} are drawn"
        content.append(ContentText(text=f"No picture, no sound: the score has {reason}."))
    elif abc:
        content += _rendered("picture", partial(_engraved_abc, abc)) + _rendered(
            "sound", partial(_played_abc, abc)
        )
    if text := media.get("lilypond"):
        content += _rendered(
            "picture", partial(opening, text, limits=LIMITS, cache=lilypond_cache())
        )
    return content


def _read_abc(abc: str) -> Any:
    """Read a tune in the measures of its bar lines, also if they are too long.

    What a question masks or puts in is left out: ``M:?``, ``L:?``, and ``@`` with a word.
    """
    from music21.meter import TimeSignature

    plain = plain_abc(re.sub(r"(?m)^[LM]: *\?.*\n|@[\w/]+", "", abc))
    # Without a metre at the start music21 divides no measure.
    score = parse_plain(_METRE.sub("", plain))
    metre = _METRE.search(plain)
    pickup = 0
    for measure in score["Measure"]:
        if metre and measure.number == 1:
            measure.timeSignature = TimeSignature(metre[1])
            pickup = measure.barDurationProportion() < 1
        measure.number -= pickup
    return score


def _engraved_abc(abc: str) -> bytes:
    from music21.musicxml.m21ToXml import GeneralObjectExporter

    # Not by verovio alone, which misreads tuplets in ABC.
    return engrave_pages(GeneralObjectExporter(_read_abc(abc)).parse().decode())[0]


def _played_abc(abc: str) -> bytes:
    from music21 import midi

    return render_mp3(midi.translate.music21ObjectToMidiFile(_read_abc(abc)).writestr())


def _rendered(
    kind: Literal["picture", "sound"], render: Callable[[], bytes | None]
) -> list[Content]:
    try:
        data = render()
    # LilyPond or the SoundFont may be missing, or the text may have an error on purpose.
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200].replace("`", "'")
        return [ContentText(text=f"No {kind}: `{reason}`")]
    if kind == "sound":
        return [ContentAudio(audio=data_uri(data or b"", "audio/mpeg"), format="mp3")]
    return [ContentImage(image=data_uri(data, "image/png"))] if data else []
