r"""LilyBench's emotion recognition: clips of piano music by Russell's quadrant, as LilyPond texts made by midi2ly.

Title: EMOPIA: a multi-modal pop piano dataset for emotion recognition and emotion-based music generation (ISMIR 2021)
Paper: https://arxiv.org/abs/2108.01374; data: Zenodo 10.5281/zenodo.5090631
Used by: LilyBench (arXiv 2606.08722, section 3.2), 120 rows, 30 a quadrant

Expected layout: MIDI files ``Q<quadrant>_<song>_<number>.mid`` in a folder, or in a folder ``midis`` in it, as EMOPIA
has them; several clips may come from one song.

The two protocols differ in what a text tells besides its music. The published texts are the first sixteen bars of
midi2ly's, bars as `paper.split_bars` has them: the first line names the MIDI file, whose name begins with the quadrant,
and the music may break off inside a block. Their options are shuffled. Strict texts are made of the music alone, all of
it: text events are taken out of the MIDI file and comments out of the text, and no two clips are of one song.

`compose_clips` writes a stand-in that needs no download: short pieces composed by rule, after what Russell's
circumplex model and the studies on music and emotion agree on (arousal: tempo, density, loudness and register;
valence: mode and consonance). The text keeps no loudness, because midi2ly drops it.
"""

import io
import random
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path
from typing import Final, NamedTuple

import mido
from mido.midifiles.meta import KeySignatureError

from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.lilybench.paper import split_bars
from music_evals.datasets_builders.lilybench.rows import (
    PER_QUADRANT,
    QUADRANT_LABELS,
    QUADRANTS,
    Protocol,
    TaskName,
    TaskRow,
    not_measured,
    stable_hash,
    task_row,
)
from music_evals.notation.lilypond.compiler import ConversionError, midi_to_lilypond
from music_evals.notation.midi.files import write_midi
from music_evals.notation.midi.note_arrays import read_note_arrays
from music_evals.notation.midi.performance import TICKS_PER_BEAT, Note, Performance

_FIRST_BARS: Final = 16  # of a text that the paper's rows show
MAX_BYTES: Final = 1 << 20  # larger MIDI files are left out; EMOPIA's are of a few kilobytes
_NAME: Final = re.compile(r"Q([1-4])_(.+)_(\d+)", re.DOTALL)
_COMMENT: Final = re.compile(r"[ \t]*%[^\n]*")
_KNOWN_STRINGS: Final = re.compile(r'\\version "[\d.]{1,16}"|\\clef "(?:bass_8|violin\^8)"')
"""The only strings that midi2ly writes of music alone."""
_TEXT_EVENTS: Final = {
    *("text", "copyright", "track_name", "instrument_name", "lyrics", "marker", "cue_marker", "device_name"),
    *("sequencer_specific", "unknown_meta", "sysex"),
}


class Clip(NamedTuple):
    """A clip of piano music; its id is the name of its file, such as ``Q1_8v0MFBZoco_0``, the quadrant 1 to 4."""

    id: str
    quadrant: int
    midi: bytes

    @property
    def song(self) -> str:
        """The song that the clip is cut from: ``8v0_FBZoco`` of ``Q1_8v0_FBZoco_12``."""
        found = _NAME.fullmatch(self.id)
        return found[2] if found else self.id


def read_clips(folder: Path) -> tuple[list[Clip], dict[str, str]]:
    """Read the MIDI files of EMOPIA in a folder, or its folder `midis`: clips by id, and files left out → why."""
    where = folder.expanduser()
    if (where / "midis").is_dir():
        where = where / "midis"
    paths = sorted(path for path in where.glob("*") if path.suffix.lower() in (".mid", ".midi") and path.is_file())
    if not paths:
        raise DatasetError(
            f"{folder} has no MIDI files; a folder with files named Q<1-4>_<song>_<number>.mid is needed"
        )
    clips: dict[str, Clip] = {}
    left_out: dict[str, str] = {}
    for path in paths:
        named = _NAME.fullmatch(path.stem)
        if named is None:
            left_out[path.name] = "the name does not say the quadrant; accepted is Q<1-4>_<song>_<number>.mid"
        elif path.stem in clips:
            left_out[path.name] = "there is a file of this name with another ending"
        elif path.stat().st_size > MAX_BYTES:
            left_out[path.name] = f"{path.stat().st_size} bytes are too many; accepted are {MAX_BYTES}"
        elif problem := _problem(midi := path.read_bytes()):
            left_out[path.name] = problem
        else:
            clips[path.stem] = Clip(path.stem, int(named[1]), midi)
    return list(clips.values()), left_out


def make_rows(
    protocol: Protocol,
    clips: Sequence[Clip],
    seed: int,
    *,
    per_quadrant: int = PER_QUADRANT,
    convert: Callable[[bytes], str] = midi_to_lilypond,
) -> tuple[list[TaskRow], dict[str, str]]:
    """Make the rows of `emotion_recognition`; the quadrants take turns. Also: ids of clips not converted → why.

    `convert` writes a MIDI file as LilyPond text, as midi2ly does: its first line is a comment that ends in the name of
    the file. It is called from several threads. ValueError where a quadrant has too few songs (strict), or where no
    quadrant has any clip (paper); DatasetError where the machine kept a clip from being converted.
    """
    task: TaskName = "emotion_recognition"
    left_out: dict[str, str] = {}
    by_quadrant: list[list[TaskRow]] = []
    with ThreadPoolExecutor() as pool:
        for index, option in enumerate(QUADRANTS):
            drawn = sorted(
                (clip for clip in clips if clip.quadrant == index + 1),
                key=lambda clip: stable_hash(seed, protocol, task, clip.id),
            )
            if protocol == "strict":
                drawn = list({clip.song: clip for clip in drawn}.values())
            rows: list[TaskRow] = []
            while len(rows) < per_quadrant and (protocol == "strict" or drawn):
                batch, drawn = drawn[: per_quadrant - len(rows)], drawn[per_quadrant - len(rows) :]
                if protocol == "strict" and len(rows) + len(batch) < per_quadrant:
                    raise ValueError(
                        f"{task}: {option[:2]} has {len(rows) + len(batch)} usable clips (1 a song at most), "
                        f"and {per_quadrant} are needed{_first_reason(left_out)}"
                    )
                texts = pool.map(lambda clip: _text(protocol, clip, convert), batch)
                for clip, (text, problem) in zip(batch, texts, strict=True):
                    if problem:
                        left_out[clip.id] = problem
                    else:
                        options, answer = list(QUADRANTS), str(index)
                        if protocol == "paper":
                            options = list(QUADRANT_LABELS)
                            random.Random(stable_hash(seed, task, clip.id)).shuffle(options)
                            answer = str(options.index(QUADRANT_LABELS[index]))
                        rows.append(task_row(task, protocol, clip.id, answer, score=text, options=options))
            by_quadrant.append(rows)
    made = [row for turn in zip_longest(*by_quadrant) for row in turn if row is not None]
    if not made:
        raise ValueError(f"{task}: none of {len(clips)} clips is usable{_first_reason(left_out)}")
    return made, left_out


def _first_reason(left_out: Mapping[str, str]) -> str:
    return "".join(f"; {name}: {reason}" for name, reason in list(left_out.items())[:1])


def without_text(midi: bytes) -> bytes:
    """Take text events, names, lyrics and system-exclusive data out of a MIDI file; ValueError if it is none."""
    try:
        file = mido.MidiFile(file=io.BytesIO(midi))
        for track in file.tracks:
            waited = 0
            kept = []
            for message in track:
                waited += message.time
                if message.type not in _TEXT_EVENTS:
                    kept.append(message.copy(time=waited))
                    waited = 0
            track[:] = kept
        buffer = io.BytesIO()
        file.save(file=buffer)
    except (OSError, EOFError, ValueError, LookupError, TypeError, KeySignatureError) as error:
        raise ValueError(f"MIDI data of {len(midi)} bytes cannot be read: {error or type(error).__name__}") from error
    return buffer.getvalue()


def _problem(midi: bytes) -> str | None:
    try:
        notes = read_note_arrays(midi, MAX_BYTES)
        without_text(midi)  # reads with mido, a second parser
    except ValueError as error:
        return str(error)
    return None if len(notes.onset) else "the file has no notes"


def _text(protocol: Protocol, clip: Clip, convert: Callable[[bytes], str]) -> tuple[str, str | None]:
    """Return the text to be shown and no problem, or no text and the problem."""
    try:
        if protocol == "paper":
            first, newline, rest = convert(clip.midi).partition("\n")
            # The converter saw bytes without a name; the published texts name the file.
            whole = f"{first.rpartition(' ')[0]} {clip.id}.mid{newline}{rest}"
            bars = split_bars(whole)[:_FIRST_BARS]
            return f"{' | '.join(bars)} |\n" if bars else whole, None
        text = convert(without_text(clip.midi))
    except ValueError as error:
        if isinstance(error, ConversionError) and not error.is_measured:
            raise not_measured([clip.id]) from error
        return "", str(error)
    if '"' in _KNOWN_STRINGS.sub("", text):
        return "", "midi2ly writes a string where the file has no text event"
    lines = [_COMMENT.sub("", line).rstrip() for line in text.splitlines()]
    return "\n".join(lines).strip() + "\n", None


# --- the stand-in ---


class _Arousal(NamedTuple):
    """Ranges of what tells high from low arousal; the two overlap in each."""

    tempo: tuple[int, int]  # quarter notes a minute
    notes_a_beat: Mapping[int, float]  # melody notes in a beat → how often
    velocity: tuple[int, int]
    melody: tuple[int, int]  # lowest MIDI pitch of the melody, which spans an octave and a fifth
    patterns: Sequence[str]  # of the left hand


_HIGH: Final = _Arousal(
    tempo=(92, 168),
    notes_a_beat={1: 0.45, 2: 0.4, 4: 0.15},
    velocity=(72, 108),
    melody=(62, 70),
    patterns=("eighths", "oom-pah", "broken", "broken"),
)
_LOW: Final = _Arousal(
    tempo=(54, 108),
    notes_a_beat={0: 0.2, 1: 0.45, 2: 0.35},
    velocity=(40, 78),
    melody=(59, 66),
    patterns=("held", "halves", "halves", "broken"),
)

_SCALES: Final = {"major": (0, 2, 4, 5, 7, 9, 11), "minor": (0, 2, 3, 5, 7, 8, 10)}
# Degrees of the scale, from 0; each line is four measures and is played twice, closing on the tonic.
_PROGRESSIONS: Final = {
    "major": ((0, 3, 4, 0), (0, 5, 3, 4), (0, 4, 5, 3), (0, 1, 4, 0)),
    "minor": ((0, 3, 4, 0), (0, 5, 3, 4), (0, 1, 4, 0), (0, 3, 1, 4)),
}
_TENSION: Final = {"major": 0.05, "minor": 0.35}  # how often a chord of the left hand gets a semitone against its root
_LOWEST_BASS: Final = 36


def compose_clips(seed: int, per_quadrant: int = PER_QUADRANT) -> list[Clip]:
    """Compose short piano pieces whose arousal and valence are those of a quadrant, each a song of its own.

    Tempo, density, register and loudness overlap between high and low arousal, so that no single figure decides; the
    mode is major where the valence is positive, minor with more semitone clashes where it is negative.

    Source: J. A. Russell, "A circumplex model of affect", Journal of Personality and Social Psychology 39 (1980).
    """
    return [
        Clip(
            f"Q{quadrant}_composed-{number:03d}_0",
            quadrant,
            write_midi(_compose(quadrant, random.Random(f"emopia.{seed}.{quadrant}.{number}"))),
        )
        for quadrant in (1, 2, 3, 4)
        for number in range(per_quadrant)
    ]


def _compose(quadrant: int, rng: random.Random) -> Performance:
    arousal = _HIGH if quadrant in (1, 2) else _LOW
    mode = "major" if quadrant in (1, 4) else "minor"
    tonic = rng.randrange(12)
    beats = rng.choice((3, 4))
    lowest = rng.randint(*arousal.melody)
    loudness = rng.randint(*arousal.velocity)
    pattern = rng.choice(arousal.patterns)
    degrees = rng.choice(_PROGRESSIONS[mode])
    # A piece keeps to its own mix of rhythms.
    weights = {notes: share * rng.uniform(0.25, 1.75) for notes, share in arousal.notes_a_beat.items()}
    place = lowest + 9
    notes: list[Note] = []
    for measure, degree in enumerate((*degrees, *degrees[:-1], 0)):
        start = measure * beats * TICKS_PER_BEAT
        # The dominant of a minor key has the leading note.
        scale = [*_SCALES[mode][:6], 11] if degree == 4 else _SCALES[mode]
        chord = [(tonic + scale[(degree + third) % 7]) % 12 for third in (0, 2, 4)]
        clash = rng.random() < _TENSION[mode]
        notes += _left_hand(pattern, chord, clash, start, beats, loudness)
        held = sorted((tonic + step) % 12 for step in scale)
        beat = 0
        while beat < beats:
            many = rng.choices(list(weights), list(weights.values()))[0]
            many, length = (1, 2) if many == 0 and beat + 2 <= beats else (max(many, 1), 1)
            duration = length * TICKS_PER_BEAT // many
            for number in range(many):
                place = _next_pitch(place, chord if number == 0 else held, lowest, rng)
                onset = start + beat * TICKS_PER_BEAT + number * duration
                notes.append(Note(onset, place, duration, min(127, loudness + rng.randint(0, 12))))
            beat += length
    return Performance(tuple(notes), tempo=rng.randint(*arousal.tempo), meter=(beats, 4), key=None)


def _next_pitch(place: int, pitch_classes: Sequence[int], lowest: int, rng: random.Random) -> int:
    """Choose one of the pitches nearest to the last, but not the last itself."""
    near = [pitch for pitch in range(lowest, lowest + 20) if pitch % 12 in pitch_classes and pitch != place]
    near.sort(key=lambda pitch: (abs(pitch - place), pitch))
    return rng.choice(near[:3])


def _left_hand(pattern: str, chord: Sequence[int], clash: bool, start: int, beats: int, loudness: int) -> list[Note]:
    """Accompany a measure; all pitches lie below the lowest melody."""
    root = _LOWEST_BASS + (chord[0] - _LOWEST_BASS) % 12
    upper = [root + (pitch_class - root) % 12 for pitch_class in chord[1:]]
    if clash:
        upper[0] = root + 1
    measure = beats * TICKS_PER_BEAT
    half = TICKS_PER_BEAT // 2
    match pattern:
        case "held":
            events = [(pitch, 0, measure) for pitch in (root, *upper)]
        case "halves":
            events = [(root, 0, measure)]
            events += [(pitch, TICKS_PER_BEAT, measure - TICKS_PER_BEAT) for pitch in upper]
        case "oom-pah":
            events = [(root, 0, TICKS_PER_BEAT)]
            events += [(pitch, beat * TICKS_PER_BEAT, TICKS_PER_BEAT) for beat in range(1, beats) for pitch in upper]
        case "eighths":
            events = [(root, place, half) for place in range(0, measure, TICKS_PER_BEAT)]
            events += [(pitch, place + half, half) for place in range(0, measure, TICKS_PER_BEAT) for pitch in upper]
        case _:
            turn = (root, upper[1], upper[0], upper[1])
            events = [(turn[number % 4], number * half, half) for number in range(2 * beats)]
    return [Note(start + onset, pitch, duration, max(1, loudness - 15)) for pitch, onset, duration in events]
