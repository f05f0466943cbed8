"""One score in every form in which a model may be given it, each read back by another program.

What is written of a score's MusicXML, and by which program it is read to see that it has the same notes:

| rendering | written by | read by |
|---|---|---|
| ``abc`` | `abc_score` | music21 |
| ``musicxml`` | music21, as it stands in the dataset | verovio |
| ``midi`` | music21, then as text by mido | symusic |
| ``lilypond`` | musicxml2ly | LilyPond, by its MIDI |
| ``kern`` | converter21 | music21 |
| ``pages`` | verovio, resvg | verovio's reading of what it engraves |
| ``audio`` | the MIDI, on a SoundFont | symusic's reading of the MIDI |

Two notes are the same if onset, pitch and duration are, ties joined, to 1/96 of a quarter note; where a pitch sounds in
two voices of a part at once, the duration is not compared. Grace notes, ornaments and articulations, which programs
play as they please, are no part of what sounds (``midi``, ``audio``), nor of what is compared. Pitches are as written,
for transposing instruments too, so that an answer is the same in every rendering; and no repeat is played.
"""

import base64
import hashlib
import io
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stderr
from fractions import Fraction
from functools import cache, partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, cast, get_args
from xml.etree import ElementTree

import mido

from music_evals.notation.abc_score import plain_abc, score_to_abc, split_voices
from music_evals.notation.audio import render_mp3
from music_evals.notation.cache import cache_folder, cache_get, cache_put
from music_evals.notation.lilypond.compiler import LilyPondError, compile_text, lilypond_version
from music_evals.notation.lilypond.converters import ConversionError, musicxml_to_lilypond
from music_evals.notation.lilypond.sandbox import SandboxError
from music_evals.notation.limited import LimitError, map_in_subprocess
from music_evals.notation.midi import PERCUSSION_CHANNEL, load_score, midi_to_text
from music_evals.notation.pages import engrave_pages, shown_text
from music_evals.notation.performance import TICKS_PER_BEAT
from music_evals.notation.score_file import ScoreError, parse_musicxml

if TYPE_CHECKING:
    from music21.stream import Score

Rendering = Literal["abc", "musicxml", "midi", "lilypond", "kern", "pages", "audio"]
RENDERINGS: Final[tuple[Rendering, ...]] = get_args(Rendering)
_GRID: Final = 96  # of a quarter note
_SHOWN: Final = 3  # differences that a reason names
_ENTRY: Final = 64 << 20  # bytes of an entry in the cache
_PLAYED: Final = ("ornaments", "articulations", "technical", "fermata", "arpeggiate")
_TRANSPOSITION: Final = ("attributes", "transpose")
_NO_MIDI: Final = "% To create MIDI output, uncomment the following line:\n"

_Place = tuple[int, int]  # onset in 1/96 of a quarter note, and pitch


class Rendered(TypedDict):
    """A score in a rendering, or why it has none."""

    text: str  # empty for pages and sound
    files: list[bytes]  # pages as PNG, or sound as MP3
    words: str  # that can be read there: all of the text, or what the first page shows
    is_regular: bool  # whether measure 1 is the first, and each as long as its metre says
    problem: str  # empty where it was read back with the same notes


_Notes = Mapping[_Place, int | None]
"""Where notes begin, and how long they are where that is sure."""


@contextmanager
def _silent(count: int) -> Iterator[Callable[[], None]]:
    yield lambda: None


def render(
    scores: Sequence[str],
    rendering: Rendering,
    announce: Callable[[int], AbstractContextManager[Callable[[], None]]] = _silent,
) -> list[Rendered]:
    """Render scores given as MusicXML, and read each back; what was done before is taken from the cache.

    Where some are new, `announce` is entered with their number, and what it gives is called after each.

    Example:
        >>> from music21 import converter
        >>> from music_evals.notation.score_file import prepare_score, score_to_musicxml
        >>> tune = score_to_musicxml(prepare_score(converter.parse("tinyNotation: 3/4 g4 c'2")))
        >>> [one["text"].splitlines()[6] for one in render([tune], "midi")]
        ['tick=480 beat=1 note_off channel=0 note=67 velocity=0']
    """
    folder = cache_folder() / "renderings"
    names = {score: _entry(score, rendering) for score in scores}
    known = {score: entry for score, name in names.items() if (entry := _unpacked(cache_get(folder, name, _ENTRY)))}
    new = [score for score in names if score not in known]
    with announce(len(new)) if new else nullcontext(lambda: None) as advance:
        checked = map_in_subprocess(partial(_checked, rendering=rendering), new, few=1)
        for score, found in zip(new, checked, strict=True):
            advance()
            if isinstance(found, LimitError):
                known[score] = _failed(f"rendering it {found}")
            else:
                known[score] = found
                cache_put(folder, names[score], _packed(found))
    return [known[score] for score in scores]


def _checked(musicxml: str, rendering: Rendering) -> Rendered:
    """A score in a rendering, as it was read back."""
    if not musicxml:
        return _failed("the dataset has no MusicXML of it")
    try:
        return _rendered(musicxml, rendering)
    except (ScoreError, ConversionError) as error:
        return _failed(str(error))
    except (MemoryError, LilyPondError, SandboxError):
        raise
    # Converters let out whatever their code runs into, and one score must not stop the others.
    except Exception as error:
        return _failed(f"a converter fails on it ({type(error).__name__}: {str(error)[:200]})")


def as_it_stands(*, text: str = "", files: Sequence[bytes] = ()) -> Rendered:
    """Return a score in the form that a dataset has it in, which nothing is read back from."""
    return Rendered(text=text, files=[*files], words=text, is_regular=True, problem="")


def _failed(problem: str) -> Rendered:
    return Rendered(text="", files=[], words="", is_regular=False, problem=problem)


def _rendered(musicxml: str, rendering: Rendering) -> Rendered:
    score, bare = parse_musicxml(musicxml), _bare(musicxml)
    starts, is_regular = _aligned(score)
    wanted = _written_notes(score.parts, starts)
    text, files = "", []
    match rendering:
        case "abc":
            text = score_to_abc(score)
            found = _abc_notes(text, starts)
        case "musicxml":
            text = musicxml
            found = _verovio_notes(bare)
        case "midi" | "audio":
            midi = _midi(bare)
            found = _sounding_notes(midi)
            if rendering == "midi":
                text = midi_to_text(midi)
            else:
                files = [render_mp3(midi)]
        case "lilypond":
            text = _lilypond(musicxml, starts)
            found = _lilypond_notes(_lilypond(bare, starts))
        case "kern":
            text = _kern(_without(musicxml, _TRANSPOSITION))
            found = _written_notes(_parsed(text, "humdrum").parts, starts)
        case "pages":
            files = engrave_pages(musicxml)
            found = _verovio_notes(bare)
    words = shown_text(musicxml) if rendering == "pages" else text
    problem = _difference(wanted, found)
    return Rendered(text=text, files=files, words=words, is_regular=is_regular, problem=problem)


# --- writing ---


def _bare(musicxml: str) -> str:
    """Leave out what has no time of its own, or is played as a program pleases, and transposition."""
    return _without(musicxml, *((".//notations", name) for name in _PLAYED), ("note", "grace"), _TRANSPOSITION)


def _without(musicxml: str, *names: tuple[str, str]) -> str:
    """Leave out elements of measures by path and name of their parents; of grace notes, the whole note."""
    from defusedxml.ElementTree import fromstring

    root = fromstring(musicxml)
    for measure in root.iter("measure"):
        for path, name in names:
            for parent in measure.findall(path):
                for child in parent.findall(name):
                    if name == "grace":
                        measure.remove(parent)
                    else:
                        parent.remove(child)
    return ElementTree.tostring(root, encoding="unicode")


def _midi(musicxml: str) -> bytes:
    """Play a score as it is written: no repeats, no chord symbols."""
    from music21 import bar
    from music21.midi.translate import streamToMidiFile

    score = parse_musicxml(musicxml)
    _aligned(score)
    for part in score.parts:
        for measure in part.getElementsByClass("Measure"):
            for side in ("leftBarline", "rightBarline"):
                if isinstance(getattr(measure, side), bar.Repeat):
                    setattr(measure, side, None)
    for element in list(score.recurse().getElementsByClass(["RepeatExpression", "RepeatBracket", "Harmony"])):
        if element.activeSite is not None:
            element.activeSite.remove(element)
    made = mido.MidiFile(file=io.BytesIO(streamToMidiFile(score).writestr()))
    channels = [channel for channel in range(16) if channel != PERCUSSION_CHANNEL]
    made.tracks = [
        # The first track holds no notes.
        _one_at_a_time(track, channels[(number - 1) % len(channels)], made.ticks_per_beat)
        for number, track in enumerate(made.tracks)
    ]
    made.ticks_per_beat = TICKS_PER_BEAT
    written = io.BytesIO()
    made.save(file=written)
    return written.getvalue()


def _one_at_a_time(track: mido.MidiTrack, channel: int, ticks_per_beat: int) -> mido.MidiTrack:
    """A track on a channel of its own, where a pitch that sounds already begins anew, in ticks that need few digits."""
    found = mido.MidiTrack()
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
                found.append(message.copy(velocity=0, time=now - last))
                last = now
            began[message.note] = now
        elif message.type in ("note_on", "note_off"):
            sounding[message.note] -= 1
            if sounding[message.note]:
                continue
        found.append(message.copy(time=now - last))
        last = now
    return found


def _kern(musicxml: str) -> str:
    from converter21.humdrum.humdrumwriter import HumdrumWriter

    writer, out = HumdrumWriter(parse_musicxml(musicxml)), io.StringIO()
    writer.makeNotation = True
    with redirect_stderr(io.StringIO()):  # it tells of every gap that it fills
        writer.write(out)
    return out.getvalue()


def _lilypond(musicxml: str, starts: Sequence[int]) -> str:
    """LilyPond's text of a score, whose measures begin at these times.

    musicxml2ly fills short measures, and lets the next begin where the last voice ends, unless told otherwise.
    """
    from defusedxml.ElementTree import fromstring

    root = fromstring(musicxml)
    for part in root.iter("part"):
        divisions = 1
        for measure, start, end in zip(part.iter("measure"), starts, [*starts[1:], None], strict=True):
            measure.set("implicit", "yes")
            now = 0
            for each in measure:
                divisions = int(each.findtext("divisions") or divisions)
                duration = int(each.findtext("duration") or 0)
                if each.tag == "backup":
                    now -= duration
                elif each.find("chord") is None:
                    now += duration
            if end is not None and (missing := (end - start) * divisions // _GRID - now) > 0:
                ElementTree.SubElement(ElementTree.SubElement(measure, "forward"), "duration").text = str(missing)
    return musicxml_to_lilypond(ElementTree.tostring(root, encoding="unicode"))


# --- reading ---


def _parsed(text: str, kind: str) -> "Score":
    from music21 import converter

    return cast("Score", converter.parseData(text, format=kind))


def _aligned(score: "Score") -> tuple[list[int], bool]:
    """Let the measures of all parts begin together; return when, and whether they are as long as their metres say."""
    starts, is_regular, now = [], True, Fraction(0)
    metre = None
    for index, measures in enumerate(zip(*(part.getElementsByClass("Measure") for part in score.parts), strict=True)):
        for part, measure in zip(score.parts, measures, strict=True):
            part.setElementOffset(measure, now)
        starts.append(_at(now))
        metre = measures[0].timeSignature or metre
        length = Fraction(max(measure.highestTime for measure in measures))
        is_regular &= (
            measures[0].number == index + 1 and metre is not None and length == metre.barDuration.quarterLength
        )
        now += length
    return starts, is_regular


def _written_notes(parts: Iterable[Any], starts: Sequence[int]) -> _Notes:
    """The notes of parts whose measures begin at these times, with ties joined."""
    found: dict[_Place, list[int | None]] = defaultdict(list)
    for part in parts:
        heard: list[tuple[int, int, int, bool]] = []  # onset, pitch, end, whether tied on
        for index, measure in enumerate(part.getElementsByClass("Measure")):
            for element in measure.recurse().notes:
                if "Harmony" in element.classes or element.duration.isGrace:
                    continue
                if not element.pitches:
                    raise ScoreError("it has notes without pitch")
                onset = starts[index] + _at(element.getOffsetInHierarchy(measure))
                end = onset + _at(element.duration.quarterLength)
                for note in getattr(element, "notes", [element]):
                    tie = note.tie or element.tie
                    heard.append((onset, round(note.pitch.ps), end, tie is not None and tie.type != "stop"))
        for onset, pitch, duration in _joined(heard):
            found[onset, pitch].append(duration)
    return {place: some[0] if len(set(some)) == 1 else None for place, some in found.items()}


def _joined(heard: list[tuple[int, int, int, bool]]) -> Iterator[tuple[int, int, int | None]]:
    """Onset, pitch and duration of a part's notes; no duration where it is not sure."""
    sounding: dict[int, list[list[Any]]] = defaultdict(list)  # pitch → onset, end, whether tied on, whether sure
    for onset, pitch, end, is_tied in sorted(heard):
        before = [one for one in sounding[pitch] if one[1] == onset and one[2]]
        if before:
            before[0][1:3] = end, is_tied
            continue
        overlapping = [one for one in sounding[pitch] if one[1] > onset]
        for one in overlapping:
            one[3] = False
        sounding[pitch].append([onset, end, is_tied, not overlapping])
    for pitch, some in sounding.items():
        for onset, end, _, is_sure in some:
            yield onset, pitch, end - onset if is_sure else None


def _sounding_notes(midi: bytes) -> _Notes:
    score = load_score(midi)
    found: dict[_Place, set[int]] = defaultdict(set)
    for track in score.tracks:
        for note in track.notes:
            onset, end = (_at(Fraction(time, score.ticks_per_quarter)) for time in (note.time, note.end))
            found[onset, note.pitch].add(end - onset)
    return {place: max(some) if len(some) == 1 else None for place, some in found.items()}


def _abc_notes(abc: str, starts: Sequence[int]) -> _Notes:
    header, voices = split_voices(abc)
    # music21 makes measures only of voices with several bar lines, and without metres takes them as the lines say.
    longer = [line for name, lines in voices.items() for line in (f"V:{name}", *lines, "z | z | z |")]
    lines = [line for line in plain_abc("\n".join([*header, *longer])).splitlines() if not line.startswith("M:")]
    return _written_notes(_parsed("\n".join(lines), "abc").parts, [*starts, *[starts[-1]] * 4])


def _verovio_notes(musicxml: str) -> _Notes:
    import verovio

    verovio.enableLog(verovio.LOG_OFF)
    tool = verovio.toolkit()
    tool.setOptions({"expandNever": True})
    if not tool.loadData(musicxml):
        raise ScoreError("verovio reads no music from the score")
    return _sounding_notes(base64.b64decode(tool.renderToMIDI()))


def _lilypond_notes(text: str) -> _Notes:
    compiled = compile_text(text.replace(_NO_MIDI, "\\midi {}\n"))
    if not compiled.midi:
        raise ScoreError(f"LilyPond makes no MIDI of it: {compiled.problem or 'it succeeds'}")
    return _sounding_notes(compiled.midi[0])


def _at(time: Any) -> int:
    return round(Fraction(time).limit_denominator(1 << 16) * _GRID)


def _difference(wanted: _Notes, found: _Notes) -> str:
    """What a reader found otherwise, in words; nothing where the notes are the same."""
    near = {(onset + step, pitch): (onset, pitch) for onset, pitch in wanted for step in (-1, 1, 0)}
    found = {near.get(place, place): duration for place, duration in found.items()}
    lost = sorted(wanted.keys() - found.keys())
    more = sorted(found.keys() - wanted.keys())
    other = [
        place
        for place, duration in wanted.items()
        if duration is not None and (read := found.get(place)) is not None and abs(read - duration) > 2
    ]
    told = [
        f"{len(some)} {what} ({', '.join(map(_told, some[:_SHOWN]))})"
        for some, what in ((lost, "lost"), (more, "added"), (other, "of another duration"))
        if some
    ]
    return f"read back, of {len(wanted)} notes " + ", ".join(told) if told else ""


def _told(place: _Place) -> str:
    return f"pitch {place[1]} at quarter {place[0] / _GRID:g}"


# --- cache ---


def _entry(musicxml: str, rendering: Rendering) -> str:
    digest = hashlib.sha256(json.dumps([rendering, *_versions(rendering), musicxml]).encode()).hexdigest()
    return f"{digest}.{rendering}"


@cache
def _versions(rendering: Rendering) -> list[str]:
    found = [version(name) for name in ("music-evals", "music21", "verovio", "converter21", "symusic")]
    return [*found, lilypond_version()] if rendering == "lilypond" else found


def _packed(rendered: Rendered) -> bytes:
    files = [base64.b64encode(file).decode("ascii") for file in rendered["files"]]
    return json.dumps({**rendered, "files": files}).encode()


def _unpacked(content: bytes | None) -> Rendered | None:
    if content is None:
        return None
    try:
        found: Rendered = json.loads(content)
        return {**found, "files": [base64.b64decode(file) for file in found["files"]]}
    except (ValueError, TypeError, KeyError):  # cut off: it is made anew
        return None
