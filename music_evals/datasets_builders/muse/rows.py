"""The rows of MUSE, for generated stimuli and recordings.

Pitches are MIDI integers. Recordings have no MIDI: their columns for MIDI and notes are null.

Source: arXiv 2510.22455.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Any, Literal, NamedTuple, TypedDict, get_args

from pydantic import AfterValidator, Field

from music_evals.datasets_builders.dataset_io import (
    FileCell,
    Provenance,
    Text,
    features_of,
)
from music_evals.datasets_builders.muse.chords import INTERVALS, QUALITIES
from music_evals.datasets_builders.muse.drum_loops import OFFBEATS
from music_evals.notation.midi.files import parse_midi_text

NAME = "muse"
VERSION = "1.5.0"
DEFAULT_SEED = 1
ConfigName = Literal["syncopation", "transposition", "chord_quality"]
CONFIGS: tuple[ConfigName, ...] = get_args(ConfigName)

LETTERS = "ABCDE"
SYNCOPATION_OPTIONS = (
    "0 (No Syncopation)",
    "2 (Low Syncopation)",
    "4 (Medium-Low Syncopation)",
    "6 (Medium-High Syncopation)",
    "8 (High Syncopation)",
)
SAME = "Yes, these are the same melody."
DIFFERENT = "No, these are not the same melody."

EXAMPLE_ROOT = "Ab"
EXAMPLE_OFFBEATS = (0, 6)


def _check_midi_text(text: str) -> str:
    parse_midi_text(text)
    return text


_Pitch = Annotated[int, Field(ge=0, le=127)]
_Slot = Annotated[int, Field(ge=1, le=128)]
_MidiText = Annotated[Text, AfterValidator(_check_midi_text)]


Row = dict[str, Any]
"""A row as it is made; its columns are those of a class below, and are checked as it is written."""


class ClipColumns(TypedDict):
    """The columns of a clip."""

    audio: FileCell
    midi: bytes | None
    midi_text: _MidiText | None


class PairColumns(TypedDict):
    """The columns of two clips."""

    audio_1: FileCell
    audio_2: FileCell
    midi_1: bytes | None
    midi_2: bytes | None
    midi_text_1: _MidiText | None
    midi_text_2: _MidiText | None


class _Id(TypedDict):
    id: str


class _Question(TypedDict):
    tempo: Annotated[float, Field(gt=0)] | None
    meter: str | None
    instrument: str | None
    target: str
    options: list[str]
    source: str


class _Loop(_Id, ClipColumns):
    kick: list[_Slot] | None
    snare: list[_Slot] | None
    offbeats: int


class _Pair(_Id, PairColumns):
    pitches_1: list[_Pitch] | None
    pitches_2: list[_Pitch] | None
    same: bool
    foil: str
    semitones: int | None
    key_1: str
    key_2: str


class _Chord(_Id, ClipColumns):
    pitches: list[_Pitch] | None
    root: str
    quality: str
    variant: int


class SyncopationRow(_Loop, _Question):
    """A drum loop; `kick` and `snare` are 1-based slots of a grid of eighths, 32 at level 1."""


class TranspositionRow(_Pair, _Question):
    """A pair of melodies; tempo, metre and instrument are null where two recordings differ."""


class ChordQualityRow(_Chord, _Question):
    """A chord, struck and then arpeggiated; pitches are ascending."""


def check_row(
    shown: Sequence[str], targets: Sequence[str]
) -> Callable[[str, list[str]], str | None]:
    """Return a check of a row's target and options."""

    def check(target: str, options: list[str]) -> str | None:
        if options != list(shown):
            return f"its options are not {', '.join(shown)}"
        if target not in targets:
            return f"its target {target!r:.100} is none of {', '.join(targets)}"
        return None

    return check


_CHORDS = [quality.capitalize() for quality in QUALITIES]
_SAME_OR_NOT = (SAME, DIFFERENT)

FEATURES = {
    "syncopation": features_of(
        SyncopationRow, check_row(SYNCOPATION_OPTIONS, LETTERS), audio="audio"
    ),
    "transposition": features_of(
        TranspositionRow, check_row(_SAME_OR_NOT, _SAME_OR_NOT), audio_1="audio", audio_2="audio"
    ),
    "chord_quality": features_of(
        ChordQualityRow, check_row(_CHORDS, LETTERS[: len(_CHORDS)]), audio="audio"
    ),
}
"""Config → declared columns."""


Maker = Callable[[], Mapping[str, Any]]
"""Makes a row when it is written, so that no audio is held in memory."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A dataset that was checked and can be written: config → split → functions that make the
    rows.
    """

    makers: Mapping[str, Mapping[str, Sequence[Maker]]]
    provenance: Provenance
    extra_files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of rows of all configs."""
        return sum(len(makers) for splits in self.makers.values() for makers in splits.values())


def group_makers(entries: Iterable[tuple[str, str, Maker]]) -> dict[str, dict[str, list[Maker]]]:
    """Group config, split and maker of rows, for `Plan.makers`."""
    makers: dict[str, dict[str, list[Maker]]] = {}
    for config, split, make in entries:
        makers.setdefault(config, {"test": [], "fewshot": []})[split].append(make)
    return makers


class Clip(NamedTuple):
    """A WAV file with its tempo in quarter notes a minute, its metre such as ``3/4``, its
    instrument and its MIDI.
    """

    wav: bytes
    tempo: float
    meter: str
    instrument: str
    midi: bytes | None = None
    midi_text: str | None = None


def syncopation_row(
    name: str,
    clip: Clip,
    offbeats: int,
    source: str,
    kick: list[int] | None = None,
    snare: list[int] | None = None,
) -> Row:
    """Make a row of `syncopation`; `offbeats` is one of `OFFBEATS`."""
    target = LETTERS[OFFBEATS.index(offbeats)]
    notes = {"kick": kick, "snare": snare, "offbeats": offbeats}
    return _row(name, [clip], target, SYNCOPATION_OPTIONS, source) | notes


def transposition_row(
    name: str,
    clips: Sequence[Clip],
    keys: Sequence[str],
    foil: str | None,
    source: str,
    semitones: int | None = None,
    pitches: Sequence[list[int] | None] = (None, None),
) -> Row:
    """Make a row of `transposition`; `foil` is None if the melodies are the same."""
    target = SAME if foil is None else DIFFERENT
    return _row(name, clips, target, _SAME_OR_NOT, source) | {
        "pitches_1": pitches[0],
        "pitches_2": pitches[1],
        "same": foil is None,
        "foil": foil or "none",
        "semitones": semitones,
        "key_1": keys[0],
        "key_2": keys[1],
    }


def chord_quality_row(
    name: str,
    clip: Clip,
    root: str,
    quality: str,
    source: str,
    variant: int = 0,
    pitches: list[int] | None = None,
) -> Row:
    """Make a row of `chord_quality`; `quality` is one of `QUALITIES`."""
    target = LETTERS[_CHORDS.index(quality.capitalize())]
    notes = {"pitches": pitches, "root": root, "quality": quality, "variant": variant}
    return _row(name, [clip], target, _CHORDS, source) | notes


def reason(config: ConfigName, row: Mapping[str, Any]) -> str:
    """Explain the answer of a row in a sentence, for readers of a log; rows of recordings have
    fewer details.
    """
    return _REASONS[config](row)


def _loop_reason(row: Mapping[str, Any]) -> str:
    if row["kick"] is None:
        return f"the recording is keyed with {row['offbeats']} off-beat hits."
    hits = []
    for name in ("kick", "snare"):
        slots = row[name]
        even = _numbers(slot for slot in slots if slot % 2 == 0)
        hits.append(f"{name} {_numbers(slots)} (even: {even})")
    return (
        f"off-beats are the even slots of a grid of eighth notes. {'; '.join(hits).capitalize()}."
    )


def _chord_reason(row: Mapping[str, Any]) -> str:
    above = _numbers(sorted(INTERVALS[row["quality"]]))
    pitches = f"; its MIDI pitches are {_numbers(row['pitches'])}" if row["pitches"] else ""
    return f"{row['root']} {row['quality']}, {above} semitones above its root{pitches}."


def _pair_reason(row: Mapping[str, Any]) -> str:
    keys = f"the first is in {row['key_1']}, the second in {row['key_2']}"
    if row["same"]:
        distance = row["semitones"]
        return f"{keys}." if distance is None else f"{keys}, {distance:+} semitones throughout."
    foil = row["foil"].replace("_", " ")
    melodies = (pairwise(row[name] or ()) for name in ("pitches_1", "pitches_2"))
    intervals = ([after - before for before, after in melody] for melody in melodies)
    for note, (first, second) in enumerate(zip(*intervals, strict=False), 1):
        if first != second:
            return (
                f"{keys} ({foil}); the first interval that differs is that from note {note}, "
                f"{first:+} semitones against {second:+}."
            )
    return f"{keys} ({foil})."


_REASONS: Mapping[ConfigName, Callable[[Mapping[str, Any]], str]] = {
    "syncopation": _loop_reason,
    "transposition": _pair_reason,
    "chord_quality": _chord_reason,
}


def _numbers(values: Iterable[int]) -> str:
    return ", ".join(map(str, values)) or "none"


def cells(suffix: str, wav: bytes, midi: bytes | None = None, midi_text: str | None = None) -> Row:
    """Return the cells of a clip; `suffix` is what the names of their columns end with."""
    audio = {"bytes": wav, "path": None}
    return {f"audio{suffix}": audio, f"midi{suffix}": midi, f"midi_text{suffix}": midi_text}


def _row(name: str, clips: Sequence[Clip], target: str, options: Sequence[str], source: str) -> Row:
    row: Row = {"id": name, "target": target, "options": list(options), "source": source}
    for suffix, clip in zip(("_1", "_2") if len(clips) == 2 else ("",), clips, strict=True):
        row |= cells(suffix, clip.wav, clip.midi, clip.midi_text)
    for fact in ("tempo", "meter", "instrument"):
        values = {getattr(clip, fact) for clip in clips}
        row[fact] = values.pop() if len(values) == 1 else None
    return row
