"""The rows of MUSE, for generated stimuli and recordings.

Pitches are MIDI integers. Recordings have no MIDI: their columns for MIDI and notes are null.

Source: arXiv 2510.22455.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Any, Literal, NamedTuple, TypedDict, get_args

from pydantic import AfterValidator, Field

from music_evals.datasets_builders.dataset_io import FileCell, Provenance, Text, features_of
from music_evals.datasets_builders.dataset_io.rows import Columns, FileKind
from music_evals.datasets_builders.muse.chords import INTERVALS, QUALITIES
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


def question_features(columns: type, options: Sequence[str], targets: Sequence[str]) -> Columns:
    """Declare the columns of a question on clips, with a check of its target and options."""

    def check(target: str, options: list[str]) -> str | None:
        if options != shown:
            return f"its options are not {', '.join(shown)}"
        if target not in targets:
            return f"its target {target!r:.100} is none of {', '.join(targets)}"
        return None

    shown = list(options)
    names = (name for name in columns.__annotations__ if name.startswith("audio"))
    sounds: dict[str, FileKind] = dict.fromkeys(names, "audio")
    return features_of(columns, check, **sounds)


_CHORDS = [quality.capitalize() for quality in QUALITIES]
_FORMS: Mapping[ConfigName, tuple[type, Sequence[str], Sequence[str]]] = {
    "syncopation": (SyncopationRow, SYNCOPATION_OPTIONS, LETTERS),
    "transposition": (TranspositionRow, (SAME, DIFFERENT), (SAME, DIFFERENT)),
    "chord_quality": (ChordQualityRow, _CHORDS, LETTERS[: len(_CHORDS)]),
}
"""Config → type of its rows, the options, and the target for each of them."""
FEATURES: Mapping[str, Columns] = {
    config: question_features(*form) for config, form in _FORMS.items()
}
"""Config → declared columns."""


Maker = Callable[[], Row]
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
    instrument: str = ""
    tempo: float = 120.0
    meter: str = "4/4"
    midi: bytes | None = None
    midi_text: str | None = None


def make_row(
    config: ConfigName, name: str, clips: Sequence[Clip], place: int, source: str, **columns: Any
) -> Row:
    """Make a row; `place` is that of the right option, and `columns` are those of the config alone.

    Columns of notes that are not given are null.
    """
    _, options, targets = _FORMS[config]
    row = {**dict.fromkeys(FEATURES[config]), **columns, **cells(clips)}
    row |= {"id": name, "target": targets[place], "options": list(options), "source": source}
    for fact in ("tempo", "meter", "instrument"):
        values = {getattr(clip, fact) for clip in clips}
        row[fact] = values.pop() if len(values) == 1 else None
    return row


def reason(config: ConfigName, row: Row) -> str:
    """Explain the answer of a row in a sentence, for readers of a log; rows of recordings have
    fewer details.
    """
    return _REASONS[config](row)


def _loop_reason(row: Row) -> str:
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


def _chord_reason(row: Row) -> str:
    above = _numbers(sorted(INTERVALS[row["quality"]]))
    pitches = f"; its MIDI pitches are {_numbers(row['pitches'])}" if row["pitches"] else ""
    return f"{row['root']} {row['quality']}, {above} semitones above its root{pitches}."


def _pair_reason(row: Row) -> str:
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


_REASONS: Mapping[ConfigName, Callable[[Row], str]] = {
    "syncopation": _loop_reason,
    "transposition": _pair_reason,
    "chord_quality": _chord_reason,
}


def _numbers(values: Iterable[int]) -> str:
    return ", ".join(map(str, values)) or "none"


def cells(clips: Sequence[Clip]) -> Row:
    """Return the cells of one or two clips."""
    row: Row = {}
    for suffix, clip in zip(("_1", "_2") if len(clips) == 2 else ("",), clips, strict=True):
        row[f"audio{suffix}"] = {"bytes": clip.wav, "path": None}
        row[f"midi{suffix}"] = clip.midi
        row[f"midi_text{suffix}"] = clip.midi_text
    return row
