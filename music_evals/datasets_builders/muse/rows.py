"""The rows of MUSE, for generated stimuli and recordings.

Pitches are MIDI integers. Recordings have no MIDI: their columns for MIDI and notes are null.

Source: arXiv 2510.22455.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, TypedDict, get_args

from pydantic import AfterValidator, Field

from music_evals.datasets_builders.dataset_io import (
    Conversion,
    DatasetSpec,
    FileCell,
    Provenance,
    Text,
    features_of,
)
from music_evals.datasets_builders.muse.chords import INTERVALS, QUALITIES
from music_evals.datasets_builders.muse.drum_loops import OFFBEATS
from music_evals.notation.midi.files import parse_midi_text

NAME: Final = "muse"
VERSION: Final = "1.5.0"
DEFAULT_SEED: Final = 1
ConfigName = Literal["syncopation", "transposition", "chord_quality"]
CONFIGS: Final[tuple[ConfigName, ...]] = get_args(ConfigName)

LETTERS: Final = "ABCDE"
SYNCOPATION_OPTIONS: Final = (
    "0 (No Syncopation)",
    "2 (Low Syncopation)",
    "4 (Medium-Low Syncopation)",
    "6 (Medium-High Syncopation)",
    "8 (High Syncopation)",
)
SAME: Final = "Yes, these are the same melody."
DIFFERENT: Final = "No, these are not the same melody."

EXAMPLE_ROOT: Final = "Ab"
EXAMPLE_OFFBEATS: Final = (0, 6)


def check_midi_text(text: str) -> str:
    """Return MIDI text; ValueError if it is none."""
    parse_midi_text(text)
    return text


_Pitch = Annotated[int, Field(ge=0, le=127)]
_Slot = Annotated[int, Field(ge=1, le=32)]
_MidiText = Annotated[Text, AfterValidator(check_midi_text)]


class _Clip(TypedDict):
    id: str
    audio: FileCell
    midi: bytes | None
    midi_text: _MidiText | None


class _Question(TypedDict):
    tempo: Annotated[float, Field(gt=0)] | None
    meter: str | None
    instrument: str | None
    target: str
    options: list[str]
    source: str


class _Loop(_Clip):
    kick: list[_Slot] | None
    snare: list[_Slot] | None
    offbeats: int


class _Pair(TypedDict):
    id: str
    audio_1: FileCell
    audio_2: FileCell
    midi_1: bytes | None
    midi_2: bytes | None
    midi_text_1: _MidiText | None
    midi_text_2: _MidiText | None
    pitches_1: list[_Pitch] | None
    pitches_2: list[_Pitch] | None
    same: bool
    foil: str
    semitones: int | None
    key_1: str
    key_2: str


class _Chord(_Clip):
    pitches: list[_Pitch] | None
    root: str
    quality: str
    variant: int


class SyncopationRow(_Loop, _Question):
    """A drum loop of four bars; `kick` and `snare` are 1-based slots of a grid of 32 eighths."""


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
        return (
            None
            if target in targets
            else f"its target {target!r:.100} is none of {', '.join(targets)}"
        )

    return check


_CHORDS: Final = [quality.capitalize() for quality in QUALITIES]
_SAME_OR_NOT: Final = (SAME, DIFFERENT)

FEATURES: Final = {
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


def _generate(out: Path, _: object) -> None:
    from music_evals.datasets_builders.muse.dataset import build_generated, write

    write(build_generated(), out, overwrite=True)


def _convert(conversion: Conversion) -> Provenance:
    from music_evals.datasets_builders.muse import dataset
    from music_evals.datasets_builders.muse.recordings import build_recordings

    plan = build_recordings(
        conversion.source, allow_partial=conversion.allow_partial, revision=conversion.revision
    )
    return dataset.write(plan, conversion.out, overwrite=True, on_piece=conversion.on_piece)


BENCHMARK: Final = DatasetSpec(NAME, VERSION, DEFAULT_SEED, FEATURES, _generate, _convert)
"""MUSE for `load_split` and `describe_dataset`."""


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

    @property
    def audio(self) -> FileCell:
        """The file as a cell."""
        return {"bytes": self.wav, "path": None}


def syncopation_row(
    name: str,
    clip: Clip,
    offbeats: int,
    source: str,
    kick: list[int] | None = None,
    snare: list[int] | None = None,
) -> SyncopationRow:
    """Make a row of `syncopation`; `offbeats` is one of `OFFBEATS`."""
    return {
        **_clip(name, clip),
        "kick": kick,
        "snare": snare,
        "offbeats": offbeats,
        **_question([clip], LETTERS[OFFBEATS.index(offbeats)], SYNCOPATION_OPTIONS, source),
    }


def transposition_row(
    name: str,
    clips: tuple[Clip, Clip],
    keys: tuple[str, str],
    foil: str | None,
    source: str,
    semitones: int | None = None,
    pitches: tuple[list[int] | None, list[int] | None] = (None, None),
) -> TranspositionRow:
    """Make a row of `transposition`; `foil` is None if the melodies are the same."""
    first, second = clips
    return {
        "id": name,
        "audio_1": first.audio,
        "audio_2": second.audio,
        "midi_1": first.midi,
        "midi_2": second.midi,
        "midi_text_1": first.midi_text,
        "midi_text_2": second.midi_text,
        "pitches_1": pitches[0],
        "pitches_2": pitches[1],
        "same": foil is None,
        "foil": foil or "none",
        "semitones": semitones,
        "key_1": keys[0],
        "key_2": keys[1],
        **_question(clips, SAME if foil is None else DIFFERENT, _SAME_OR_NOT, source),
    }


def chord_quality_row(
    name: str,
    clip: Clip,
    root: str,
    quality: str,
    source: str,
    variant: int = 0,
    pitches: list[int] | None = None,
) -> ChordQualityRow:
    """Make a row of `chord_quality`; `quality` is one of `QUALITIES`."""
    return {
        **_clip(name, clip),
        "pitches": pitches,
        "root": root,
        "quality": quality,
        "variant": variant,
        **_question([clip], LETTERS[_CHORDS.index(quality.capitalize())], _CHORDS, source),
    }


def reason(config: ConfigName, row: Mapping[str, Any]) -> str:
    """Explain the answer of a row in a sentence, for readers of a log; rows of recordings have
    fewer details.
    """
    if config == "syncopation":
        if row["kick"] is None:
            return f"the recording is keyed with {row['offbeats']} off-beat hits."
        drums = ((name, row[name] or ()) for name in ("kick", "snare"))
        hits = [
            f"{name} {_numbers(hit)} (even: {_numbers(n for n in hit if n % 2 == 0)})"
            for name, hit in drums
        ]
        return (
            "off-beats are the even slots of a grid of 32 eighth notes. "
            f"{'; '.join(hits).capitalize()}."
        )
    if config == "chord_quality":
        above = _numbers(sorted(INTERVALS[row["quality"]]))
        pitches = f"; its MIDI pitches are {_numbers(row['pitches'])}" if row["pitches"] else ""
        return f"{row['root']} {row['quality']}, {above} semitones above its root{pitches}."
    keys = f"the first is in {row['key_1']}, the second in {row['key_2']}"
    if row["same"]:
        return f"{keys}" + (
            f", {row['semitones']:+} semitones throughout." if row["semitones"] is not None else "."
        )
    first, second = (
        [b - a for a, b in pairwise(row[name] or ())] for name in ("pitches_1", "pitches_2")
    )
    foil = row["foil"].replace("_", " ")
    unlike = next(
        (place for place, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), None
    )
    if unlike is None:
        return f"{keys} ({foil})."
    return (
        f"{keys} ({foil}); the first interval that differs is that from note {unlike + 1}, "
        f"{first[unlike]:+} semitones against {second[unlike]:+}."
    )


def _numbers(values: Iterable[int]) -> str:
    return ", ".join(map(str, values)) or "none"


def _clip(name: str, clip: Clip) -> _Clip:
    return {"id": name, "audio": clip.audio, "midi": clip.midi, "midi_text": clip.midi_text}


def _question(clips: Sequence[Clip], target: str, options: Sequence[str], source: str) -> _Question:
    first, last = clips[0], clips[-1]
    return {
        "tempo": first.tempo if first.tempo == last.tempo else None,
        "meter": first.meter if first.meter == last.meter else None,
        "instrument": first.instrument if first.instrument == last.instrument else None,
        "target": target,
        "options": list(options),
        "source": source,
    }
