"""What the music of a sample looks and sounds like, for who reads its log; no model is sent it.

A sample's metadata name its music under `MEDIA`; `with_media` has a solver add a message at the end of the chat, after
the reply: piano rolls and sound of MIDI files, the opening page of a LilyPond text. Inspect's viewer shows it under
*Messages*, and ``--no-log-images`` leaves it out. A picture that cannot be drawn is no error: the message says why.
"""

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, wraps
from typing import Any, Final, Literal

import anyio
import anyio.to_thread
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageUser, Content, ContentAudio, ContentImage, ContentText
from inspect_ai.solver import Generate, Solver, TaskState
from inspect_ai.util import sample_limits, suspend_working_limit

from music_evals.notation.audio.rendering import render_mp3
from music_evals.notation.lilypond.compiler import lilypond_cache
from music_evals.notation.lilypond.pictures import opening
from music_evals.notation.lilypond.sandbox.slots import cores
from music_evals.notation.lilypond.writing import LIMITS
from music_evals.notation.midi.piano_roll import piano_roll

MEDIA: Final = "media"
"""Key of a sample's metadata: what is shown of it, or None. ``midi`` is a mapping of names to files in Base64,
``lilypond`` a text; True leaves it to the scorer, which draws what the model writes."""

SHOWN: Final = 10
"""How many samples of a run are shown by default."""

NOTE: Final = "*Shown to readers of this log. The model was not sent it.*\n\n"


def choose(samples: Sequence[Sample], most: int | Literal["all"]) -> bool:
    """Leave `MEDIA` to the first samples of a run, and say whether `with_media` is needed."""
    for sample in samples if most == 0 else samples[most:] if most != "all" else ():
        if sample.metadata and MEDIA in sample.metadata:
            sample.metadata[MEDIA] = None
    return any(isinstance((sample.metadata or {}).get(MEDIA), Mapping) for sample in samples)


def with_media(solver: Solver) -> Solver:
    """Have a solver add the message to a sample that has media, unless a limit of messages leaves no room for it.

    It is no solver of its own: Inspect copies and compares the whole state of every sample at both ends of each.
    """
    one_a_core = anyio.CapacityLimiter(cores())

    @wraps(solver)  # which keeps its name and arguments for the log
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state = await solver(state, generate)
        shown = state.metadata.get(MEDIA)
        room = sample_limits().message.remaining
        if isinstance(shown, Mapping) and (room is None or room >= 1):
            with suspend_working_limit():  # which leaves it out of the sample's working time, that reports compare
                content = await anyio.to_thread.run_sync(drawn, shown, limiter=one_a_core)
            if content:
                state.messages.append(ChatMessageUser(content=[ContentText(text=NOTE), *content]))
        return state

    return solve


def drawn(shown: Mapping[str, Any]) -> list[Content]:
    """Draw and play what a sample's metadata name."""
    content: list[Content] = []
    for name, encoded in shown.get("midi", {}).items():
        midi = base64.b64decode(encoded)
        content += [ContentText(text=f"{name}:\n\n"), *_picture(partial(piano_roll, midi)), *_sound(midi)]
    if text := shown.get("lilypond"):
        content += _picture(partial(opening, text, limits=LIMITS, cache=lilypond_cache()))
    return content


def _picture(draw: Callable[[], bytes | None]) -> Iterator[Content]:
    try:
        picture = draw()
    # Without a picture a sample lacks nothing: LilyPond may be missing, or the text have an error on purpose.
    except Exception as error:
        yield ContentText(text=f"No picture: `{_worded(error)}`")
        return
    if picture:
        yield ContentImage(image=f"data:image/png;base64,{base64.b64encode(picture).decode()}")


def _sound(midi: bytes) -> Iterator[Content]:
    try:
        sound = render_mp3(midi)
    # For a missing SoundFont as for a missing LilyPond.
    except Exception as error:
        yield ContentText(text=f"No sound: `{_worded(error)}`")
        return
    yield ContentAudio(audio=f"data:audio/mpeg;base64,{base64.b64encode(sound).decode()}", format="mp3")


def _worded(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200].replace("`", "'")
