"""A score in every form in which a model can be given it, read back by another program.

Each rendering is written from the MusicXML of the score. A second program reads it, to check that
it has the same notes (`note_places` says when notes are the same):

| rendering | written by | read by |
|---|---|---|
| ``abc`` | `abc.writing` | music21 |
| ``musicxml`` | music21; it is the text of the dataset | verovio |
| ``midi`` | music21, then as text by mido | `midi.note_arrays` |
| ``lilypond`` | musicxml2ly | LilyPond, by its MIDI |
| ``pages`` | verovio, resvg | verovio, by its MIDI |
| ``audio`` | the MIDI and a SoundFont | `midi.note_arrays`, from the MIDI |

Programs differ in how they play grace notes, ornaments and articulations: ``midi`` and ``audio``
leave them out. Pitches are as written, for transposing instruments too, so that an answer is the
same in every rendering. Repeats are not played.
"""

import base64
import hashlib
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial
from importlib.metadata import version
from itertools import pairwise
from typing import Literal, TypedDict
from xml.etree import ElementTree

import mido

from music_evals.notation.abc.plain import parse_plain, plain_abc, split_voices
from music_evals.notation.abc.writing import score_to_abc
from music_evals.notation.audio.rendering import render_mp3
from music_evals.notation.cache import cache_folder, cache_get, cache_put
from music_evals.notation.extras import MissingLibraryError, require
from music_evals.notation.lilypond.compiler import LilyPondError, compile_text, lilypond_version
from music_evals.notation.lilypond.converters import ConversionError, musicxml_to_lilypond
from music_evals.notation.lilypond.sandbox import SandboxError
from music_evals.notation.midi.files import midi_to_text
from music_evals.notation.midi.note_arrays import PERCUSSION_CHANNEL
from music_evals.notation.midi.performance import TICKS_PER_BEAT
from music_evals.notation.scores.note_places import (
    GRID,
    Notes,
    align_measures,
    describe_difference,
    sounding_notes,
    written_notes,
)
from music_evals.notation.scores.pages import engrave_pages, open_verovio, shown_text
from music_evals.notation.scores.preparing import ScoreError, failure
from music_evals.notation.scores.reading import allowance_of_score, parse_musicxml
from music_evals.notation.subprocesses import Allowance, LimitError, map_in_subprocess

Rendering = Literal["abc", "musicxml", "midi", "lilypond", "pages", "audio"]
_LIBRARIES = {
    "musicxml": ("verovio",),
    "pages": ("verovio", "resvg_py"),
}
_RENDERED = 100_000  # bytes of a score that would need as much as pages and sound need
_MAX_ENTRY = 64 << 20  # bytes of an entry in the cache
_NOT_PLAYED = (
    (".//notations", "ornaments"),
    (".//notations", "articulations"),
    (".//notations", "technical"),
    (".//notations", "fermata"),
    (".//notations", "arpeggiate"),
    (".", "note[grace]"),
    ("attributes", "transpose"),
)
"""Elements of measures that `_bare` leaves out: the paths of their parents, and of them."""
_NO_MIDI = "% To create MIDI output, uncomment the following line:\n"


class Rendered(TypedDict):
    """A rendering of a score, or the reason why there is none."""

    text: str  # empty for pages and sound
    files: list[bytes]  # pages as PNG, or sound as MP3
    words: str  # text that a model can read: all of `text`, or the text on the first page
    # whether the first measure has the number 1 and all measures are as long as their metre
    is_regular: bool
    problem: str  # empty if the rendering was read back with the same notes


def render(
    scores: Sequence[str],
    rendering: Rendering,
    announce: Callable[[int], AbstractContextManager[Callable[[], None]]] = lambda _: nullcontext(
        lambda: None
    ),
) -> list[Rendered]:
    """Render scores and read each rendering back; earlier results come from the cache.

    Args:
        scores: MusicXML.
        rendering: the form.
        announce: called with the number of scores that are not in the cache, if any. Its context
            gives a function that is called after each of these scores.

    Raises:
        MissingLibraryError, LilyPondError, SandboxError: a program is not installed or cannot run.

    Example:
        >>> from music21 import converter
        >>> from music_evals.notation.scores.preparing import prepare_score, score_to_musicxml
        >>> tune = score_to_musicxml(prepare_score(converter.parse("tinyNotation: 3/4 g4 c'2")))
        >>> [rendered["text"].splitlines()[6] for rendered in render([tune], "midi")]
        ['tick=480 beat=1 note_off channel=0 note=67 velocity=0']
    """
    for library in _LIBRARIES.get(rendering, ()):
        require(library, "scores")
    folder = cache_folder() / "renderings"
    names = {}
    for score in scores:
        key = json.dumps([rendering, *_versions(rendering), score]).encode()
        names[score] = f"{hashlib.sha256(key).hexdigest()}.{rendering}"
    results: dict[str, Rendered] = {}
    for score, name in names.items():
        if entry := cache_get(folder, name, _MAX_ENTRY):
            results[score] = _unpack(entry)
    new = [score for score in names if score not in results]
    with announce(len(new)) if new else nullcontext(lambda: None) as advance:
        rendered = map_in_subprocess(partial(_try_to_render, rendering=rendering), new, _allowance)
        for score, result in zip(new, rendered, strict=True):
            advance()
            if isinstance(result, LimitError):
                results[score] = _failed(f"rendering it {result}")
            else:
                results[score] = result
                cache_put(folder, names[score], _pack(result))
    return [results[score] for score in scores]


def _allowance(score: str) -> Allowance:
    return allowance_of_score(len(score) + _RENDERED)


def as_it_stands(*, text: str = "", files: Sequence[bytes] = ()) -> Rendered:
    """Return a form of a score that the dataset has already; it is not read back."""
    return Rendered(text=text, files=[*files], words=text, is_regular=True, problem="")


def _failed(problem: str) -> Rendered:
    return Rendered(text="", files=[], words="", is_regular=False, problem=problem)


def _try_to_render(musicxml: str, rendering: Rendering) -> Rendered:
    if not musicxml:
        return _failed("the dataset has no MusicXML of it")
    try:
        return _render(musicxml, rendering)
    except (ScoreError, ConversionError) as error:
        return _failed(str(error))
    except (MemoryError, MissingLibraryError, LilyPondError, SandboxError):
        raise
    # Converters raise exceptions of any class, and one score must not stop the others.
    except Exception as error:
        return _failed(f"a converter fails on it ({failure(error)})")


def _render(musicxml: str, rendering: Rendering) -> Rendered:
    score, bare = parse_musicxml(musicxml), _bare(musicxml)
    starts, is_regular = align_measures(score)
    expected = written_notes(score.parts, starts)
    text, files = "", []
    match rendering:
        case "abc":
            text = score_to_abc(score)
            actual = _abc_notes(text, starts)
        case "musicxml":
            text = musicxml
            actual = _verovio_notes(bare)
        case "midi" | "audio":
            midi = _midi(bare)
            actual = sounding_notes(midi)
            if rendering == "midi":
                text = midi_to_text(midi)
            else:
                files = [render_mp3(midi)]
        case "lilypond":
            text = _lilypond(musicxml, starts)
            actual = _lilypond_notes(_lilypond(bare, starts))
        case "pages":
            files = engrave_pages(musicxml)
            actual = _verovio_notes(bare)
    words = shown_text(musicxml) if rendering == "pages" else text
    problem = describe_difference(expected, actual)
    return Rendered(text=text, files=files, words=words, is_regular=is_regular, problem=problem)


# --- writing ---


def _bare(musicxml: str) -> str:
    """Leave out grace notes, marks that programs play differently, and transposition."""
    from defusedxml.ElementTree import fromstring

    root = fromstring(musicxml)
    for measure in root.iter("measure"):
        for path, name in _NOT_PLAYED:
            for parent in measure.findall(path):
                for child in parent.findall(name):
                    parent.remove(child)
    return ElementTree.tostring(root, encoding="unicode")


def _midi(musicxml: str) -> bytes:
    """Play a score as it is written, without repeats and chord symbols."""
    from music21 import bar
    from music21.midi.translate import streamToMidiFile

    score = parse_musicxml(musicxml)
    align_measures(score)
    for measure in list(score.recurse().getElementsByClass("Measure")):
        for side in ("leftBarline", "rightBarline"):
            if isinstance(getattr(measure, side), bar.Repeat):
                setattr(measure, side, None)
    for element in list(
        score.recurse().getElementsByClass(["RepeatExpression", "RepeatBracket", "Harmony"])
    ):
        if element.activeSite is not None:
            element.activeSite.remove(element)
    file = mido.MidiFile(file=io.BytesIO(streamToMidiFile(score).writestr()))
    channels = [channel for channel in range(16) if channel != PERCUSSION_CHANNEL]
    file.tracks = [
        # The first track holds no notes.
        _one_at_a_time(track, channels[(number - 1) % len(channels)], file.ticks_per_beat)
        for number, track in enumerate(file.tracks)
    ]
    file.ticks_per_beat = TICKS_PER_BEAT
    buffer = io.BytesIO()
    file.save(file=buffer)
    return buffer.getvalue()


def _one_at_a_time(track: mido.MidiTrack, channel: int, ticks_per_beat: int) -> mido.MidiTrack:
    """Put a track on a channel, with ticks of `TICKS_PER_BEAT`; a note ends where its pitch begins
    again.
    """
    written = mido.MidiTrack()
    sounding: Counter[int] = Counter()
    began: dict[int, int] = {}
    ticks = last = 0
    for message in track:
        ticks += message.time
        now = round(ticks * TICKS_PER_BEAT / ticks_per_beat)
        if getattr(message, "channel", PERCUSSION_CHANNEL) != PERCUSSION_CHANNEL:
            message = message.copy(channel=channel)
        if message.type == "note_on" and message.velocity:
            sounding[message.note] += 1
            if sounding[message.note] > 1:
                if began[message.note] == now:
                    continue
                written.append(message.copy(velocity=0, time=now - last))
                last = now
            began[message.note] = now
        elif message.type in ("note_on", "note_off"):
            sounding[message.note] -= 1
            if sounding[message.note]:
                continue
        written.append(message.copy(time=now - last))
        last = now
    return written


def _lilypond(musicxml: str, starts: Sequence[int]) -> str:
    """Write a score as LilyPond, with measures that begin at `starts`: musicxml2ly goes by the last
    voice's end.
    """
    from defusedxml.ElementTree import fromstring

    root = fromstring(musicxml)
    for part in root.iter("part"):
        divisions = 1
        measures = list(part.iter("measure"))
        for measure in measures:
            measure.set("implicit", "yes")
        for measure, (start, end) in zip(measures, pairwise(starts), strict=False):
            now = 0
            for element in measure:
                divisions = int(element.findtext("divisions") or divisions)
                duration = int(element.findtext("duration") or 0)
                if element.tag == "backup":
                    now -= duration
                elif element.find("chord") is None:
                    now += duration
            missing = (end - start) * divisions // GRID - now
            if missing > 0:
                forward = ElementTree.SubElement(measure, "forward")
                ElementTree.SubElement(forward, "duration").text = str(missing)
    return musicxml_to_lilypond(ElementTree.tostring(root, encoding="unicode"))


# --- reading ---


def _abc_notes(abc: str, starts: Sequence[int]) -> Notes:
    header, voices = split_voices(abc)
    # music21 makes measures only for voices with several bar lines. Without metres it measures by
    # the bar lines.
    for name, lines in voices.items():
        header += [f"V:{name}", *lines, "z | z | z |"]
    plain = re.sub("(?m)^M:.*\n", "", plain_abc("\n".join(header)))
    return written_notes(parse_plain(plain).parts, [*starts, *[starts[-1]] * 4])


def _verovio_notes(musicxml: str) -> Notes:
    midi = open_verovio(musicxml, {"expandNever": True}).renderToMIDI()
    return sounding_notes(base64.b64decode(midi))


def _lilypond_notes(text: str) -> Notes:
    compiled = compile_text(text.replace(_NO_MIDI, "\\midi {}\n"))
    if not compiled.midi:
        raise ScoreError(f"LilyPond makes no MIDI of it: {compiled.problem or 'it succeeds'}")
    return sounding_notes(compiled.midi[0])


# --- cache ---


@cache
def _versions(rendering: Rendering) -> list[str]:
    libraries = ("music-evals", "music21", "mido", *_LIBRARIES.get(rendering, ()))
    versions = list(map(version, libraries))
    return [*versions, lilypond_version()] if rendering == "lilypond" else versions


def _pack(rendered: Rendered) -> bytes:
    files = [base64.b64encode(file).decode("ascii") for file in rendered["files"]]
    return json.dumps({**rendered, "files": files}).encode()


def _unpack(entry: bytes) -> Rendered:
    rendered: Rendered = json.loads(entry)
    return {**rendered, "files": [base64.b64decode(file) for file in rendered["files"]]}
