"""LilyBench's emotion recognition: clips of piano music by Russell's quadrant, as LilyPond texts
made by midi2ly.

Title: EMOPIA: a multi-modal pop piano dataset for emotion recognition and emotion-based music
generation (ISMIR 2021) Paper: https://arxiv.org/abs/2108.01374; data: Zenodo 10.5281/zenodo.5090631
Used by: LilyBench (arXiv 2606.08722, section 3.2), 120 rows, 30 per quadrant

Expected layout: MIDI files ``Q<quadrant>_<song>_<number>.mid`` in a folder, or in a folder
``midis`` in it, as in EMOPIA; several clips may come from one song.

Under ``paper``, texts are the first sixteen bars of midi2ly's, by `paper.split_bars`. The first
line names the MIDI file, whose name begins with the quadrant, and the music may break off inside a
block. The options are shuffled. Under ``strict``, texts are the music alone, all of it: text events
are removed from the MIDI file, and comments from the text. No two clips are of one song.
"""

import io
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain, zip_longest
from pathlib import Path
from random import Random
from typing import NamedTuple

import mido
from mido.midifiles.meta import KeySignatureError

from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.lilybench.paper import split_bars
from music_evals.datasets_builders.lilybench.rows import (
    PER_QUADRANT,
    QUADRANT_LABELS,
    QUADRANTS,
    LeftOut,
    Protocol,
    TaskName,
    TaskRow,
    not_measured,
    shuffled,
    stable_hash,
    task_row,
)
from music_evals.notation.lilypond.converters import ConversionError, midi_to_lilypond
from music_evals.notation.midi.note_arrays import read_note_arrays

MAX_BYTES = 1 << 20  # larger MIDI files are left out; EMOPIA's have a few kilobytes
_TASK: TaskName = "emotion_recognition"
_SHOWN = 16  # bars in the paper's rows
_NAME = re.compile(r"Q([1-4])_(.+)_(\d+)", re.DOTALL)
_COMMENT = re.compile(r"[ \t]*%[^\n]*")
_KNOWN_STRINGS = re.compile(r'\\version "[\d.]{1,16}"|\\clef "(?:bass_8|violin\^8)"')
"""The only strings that midi2ly writes for music without text events."""
_TEXT_EVENTS = {
    "text",
    "copyright",
    "track_name",
    "instrument_name",
    "lyrics",
    "marker",
    "cue_marker",
    "device_name",
    "sequencer_specific",
    "unknown_meta",
    "sysex",
}


class Clip(NamedTuple):
    """A clip of piano music; its id is the name of its file, such as ``Q1_8v0MFBZoco_0``, its
    quadrant 1 to 4.
    """

    id: str
    quadrant: int
    midi: bytes

    @property
    def song(self) -> str:
        """The song of the clip: ``8v0_FBZoco`` of ``Q1_8v0_FBZoco_12``."""
        match = _NAME.fullmatch(self.id)
        return match[2] if match else self.id


def read_clips(folder: Path) -> tuple[list[Clip], LeftOut]:
    """Read EMOPIA's MIDI files: clips by id, and name → reason for the files that were left out."""
    source = folder.expanduser()
    if (source / "midis").is_dir():
        source = source / "midis"
    paths = sorted(source.glob("*.mid"))
    if not paths:
        raise DatasetError(
            f"{folder} has no MIDI files; a folder with files named Q<1-4>_<song>_<number>.mid is "
            "needed"
        )
    clips = []
    left_out = {}
    for path in paths:
        match = _NAME.fullmatch(path.stem)
        size = path.stat().st_size
        if match is None:
            problem = "the name does not say the quadrant; accepted is Q<1-4>_<song>_<number>.mid"
        elif size > MAX_BYTES:
            problem = f"{size} bytes are too many; accepted are {MAX_BYTES}"
        else:
            clip = Clip(path.stem, int(match[1]), path.read_bytes())
            problem = _problem(clip.midi)
        if problem:
            left_out[path.name] = problem
        else:
            clips.append(clip)
    return clips, left_out


def make_rows(
    protocol: Protocol,
    clips: Sequence[Clip],
    seed: int,
    *,
    per_quadrant: int = PER_QUADRANT,
    convert: Callable[[bytes], str] = midi_to_lilypond,
) -> tuple[list[TaskRow], LeftOut]:
    """Make the rows of `emotion_recognition` of a protocol; the quadrants take turns.

    Args:
        protocol: how the rows are made, as above.
        clips: clips to choose from.
        seed: decides the choice.
        per_quadrant: rows per quadrant.
        convert: converts MIDI to LilyPond, in several threads; the first line is a comment that
            ends in a file's name.

    Returns:
        The rows, and id → reason for the clips that could not be converted.

    Raises:
        ValueError: a quadrant has too few songs (strict), or no clip is usable (paper).
        DatasetError: the machine stopped a conversion.
    """
    left_out = {}
    by_quadrant = []
    with ThreadPoolExecutor() as pool:
        for quadrant in (1, 2, 3, 4):
            candidates = _candidates(protocol, clips, quadrant, seed)
            rows: list[TaskRow] = []
            while candidates and len(rows) < per_quadrant:
                missing = per_quadrant - len(rows)
                batch, candidates = candidates[:missing], candidates[missing:]
                texts = pool.map(partial(_text, protocol, convert), batch)
                for clip, text in zip(batch, texts, strict=True):
                    if isinstance(text, ValueError):
                        left_out[clip.id] = str(text)
                    else:
                        rows.append(_row(protocol, clip, text, seed))
            if protocol == "strict" and len(rows) < per_quadrant:
                raise ValueError(
                    f"{_TASK}: Q{quadrant} has {len(rows)} usable clips (1 a song at most), "
                    f"and {per_quadrant} are needed{_first_reason(left_out)}"
                )
            by_quadrant.append(rows)
    in_turns = [row for row in chain.from_iterable(zip_longest(*by_quadrant)) if row is not None]
    if not in_turns:
        raise ValueError(f"{_TASK}: none of {len(clips)} clips is usable{_first_reason(left_out)}")
    return in_turns, left_out


def _candidates(protocol: Protocol, clips: Sequence[Clip], quadrant: int, seed: int) -> list[Clip]:
    """The clips of a quadrant in the order of their turns; strict ones are of different songs."""
    candidates = [clip for clip in clips if clip.quadrant == quadrant]
    candidates.sort(key=lambda clip: stable_hash(seed, protocol, _TASK, clip.id))
    if protocol == "strict":
        return list({clip.song: clip for clip in candidates}.values())
    return candidates


def without_text(midi: bytes) -> bytes:
    """Remove text events, names, lyrics and system-exclusive data from a MIDI file; ValueError if
    it is not one.
    """
    try:
        file = mido.MidiFile(file=io.BytesIO(midi))
        for track in file.tracks:
            ticks = 0
            messages = []
            for message in track:
                ticks += message.time
                if message.type not in _TEXT_EVENTS:
                    messages.append(message.copy(time=ticks))
                    ticks = 0
            track[:] = messages
        buffer = io.BytesIO()
        file.save(file=buffer)
    except (OSError, EOFError, ValueError, LookupError, TypeError, KeySignatureError) as error:
        raise ValueError(
            f"MIDI data of {len(midi)} bytes cannot be read: {error or type(error).__name__}"
        ) from error
    return buffer.getvalue()


def _row(protocol: Protocol, clip: Clip, text: str, seed: int) -> TaskRow:
    place = clip.quadrant - 1
    options, answer = list(QUADRANTS), str(place)
    if protocol == "paper":
        draw = Random(stable_hash(seed, _TASK, clip.id))
        options, answer = shuffled(QUADRANT_LABELS, QUADRANT_LABELS[place], draw)
    return task_row(_TASK, protocol, clip.id, answer, score=text, options=options)


def _first_reason(left_out: LeftOut) -> str:
    return "".join(f"; {name}: {reason}" for name, reason in list(left_out.items())[:1])


def _problem(midi: bytes) -> str:
    """Why a MIDI file is of no use; empty if it is."""
    try:
        notes = read_note_arrays(midi, MAX_BYTES)
        without_text(midi)  # reads with mido, a second parser
    except ValueError as error:
        return str(error)
    return "" if len(notes.onset) else "the file has no notes"


def _text(protocol: Protocol, convert: Callable[[bytes], str], clip: Clip) -> str | ValueError:
    """The text to show, or the reason why there is none."""
    try:
        text = convert(clip.midi if protocol == "paper" else without_text(clip.midi))
    except ValueError as error:
        if isinstance(error, ConversionError) and not error.is_measured:
            raise not_measured([clip.id]) from error
        return error
    if protocol == "paper":
        # The converter saw bytes without a name; the published texts name the file.
        comment, newline, rest = text.partition("\n")
        text = f"{comment.rpartition(' ')[0]} {clip.id}.mid{newline}{rest}"
        bars = split_bars(text)[:_SHOWN]
        return f"{' | '.join(bars)} |\n" if bars else text
    if '"' in _KNOWN_STRINGS.sub("", text):
        return ValueError("midi2ly writes a string where the file has no text event")
    return "\n".join([_COMMENT.sub("", line).rstrip() for line in text.splitlines()]).strip() + "\n"
