"""MUSE: core music perception tasks, as generated stimuli or from the authors' recordings.

Title: Evaluating Multimodal Large Language Models on Core Music Perception Tasks
Authors: Brandon James Carone, Iran R. Roman, Pablo Ripollés
Paper: https://arxiv.org/abs/2510.22455 (stimuli: The MUSE Benchmark, https://arxiv.org/abs/2510.19055)
Homepage: https://github.com/brandoncarone/MUSE_music_benchmark
Licence: generated stimuli are under the licence of this project; the recordings are for research and other
    non-commercial use, with their licence file (``LICENSE_DATA.md``) beside them

Three configs, `syncopation`, `transposition` and `chord_quality`, each with the splits `test` (scored) and
`fewshot` (worked examples). The typed dictionaries below say what a row holds.

The generated stimuli are made here; `muse_recordings` takes the authors' recordings.
"""

import dataclasses
import hashlib
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal, TypedDict, TypeVar, get_args

from datasets import Audio, Features, List, Value

from music_evals.datasets_builders.folder.card import make_card
from music_evals.datasets_builders.stimuli.chords import INTERVALS, N_VARIANTS, QUALITIES, ROOTS, Chord, compose_chord
from music_evals.datasets_builders.stimuli.drum_loops import DrumLoop, compose_drum_loop
from music_evals.datasets_builders.stimuli.melodies import MelodyPair, compose_pair, is_transposition
from music_evals.datasets_builders.folder import (
    GENERATED,
    Benchmark,
    Config,
    DatasetError,
    Provenance,
    write_dataset,
)
from music_evals.notation.audio import render_wav
from music_evals.notation.midi import midi_to_text, read_notes, write_midi
from music_evals.notation.performance import TICKS_PER_BEAT, Performance
from music_evals.notation.soundfont import default_soundfont

NAME: Final = "muse"
VERSION: Final = "1.0.0"
"""Version of the rows: to be raised whenever the content of any row changes."""

DEFAULT_SEED: Final = 1
RECORDINGS: Final = "recordings"
"""`Provenance.source` of the authors' recordings."""

GENERATED_LICENCE: Final = "mit"
RECORDINGS_LICENCE: Final = "other"
LICENCE_FILE: Final = "LICENSE_DATA.md"

ConfigName = Literal["syncopation", "transposition", "chord_quality"]
CONFIGS: Final[tuple[ConfigName, ...]] = get_args(ConfigName)

LETTERS: Final = "ABCDE"
OFFBEATS: Final = (0, 2, 4, 6, 8)
SYNCOPATION_OPTIONS: Final = (
    "0 (No Syncopation)",
    "2 (Low Syncopation)",
    "4 (Medium-Low Syncopation)",
    "6 (Medium-High Syncopation)",
    "8 (High Syncopation)",
)
SAME: Final = "Yes, these are the same melody."
DIFFERENT: Final = "No, these are not the same melody."
CHORD_OPTIONS: Final = tuple(quality.capitalize() for quality in QUALITIES)

EXAMPLE_ROOT: Final = "Ab"
EXAMPLE_OFFBEATS: Final = (0, 6)

_Instrument = Literal["guitar", "piano"]
_Foil = Literal["other_melody", "changed_interval", "reordered"]
_INSTRUMENTS: Final[tuple[_Instrument, ...]] = get_args(_Instrument)
_FOILS: Final[tuple[_Foil, ...]] = get_args(_Foil)
_SLOT: Final = TICKS_PER_BEAT // 2  # an eighth
_SLOTS: Final = 32
_KICK, _SNARE, _HIHAT = 36, 38, 42  # General MIDI percussion
_ATTEMPTS: Final = 500  # draws for one stimulus that is none of the earlier ones


_Stimulus = TypeVar("_Stimulus")
_Key = tuple[Any, ...]
Maker = Callable[[], Mapping[str, Any]]


class AudioCell(TypedDict):
    """An audio file as `datasets.Audio` stores it: its bytes, and no path."""

    bytes: bytes
    path: None


class SyncopationRow(TypedDict):
    """A drum loop of four bars; onsets are 1-based slots of a grid of 32 eighths."""

    id: str
    audio: AudioCell
    midi: bytes | None
    midi_text: str | None
    kick: list[int] | None
    snare: list[int] | None
    offbeats: int
    tempo: float
    meter: str
    instrument: str
    target: str
    options: list[str]
    source: str


class TranspositionRow(TypedDict):
    """A pair of melodies; pitches are MIDI integers; what differs between recordings is null where it is one column."""

    id: str
    audio_1: AudioCell
    audio_2: AudioCell
    midi_1: bytes | None
    midi_2: bytes | None
    midi_text_1: str | None
    midi_text_2: str | None
    pitches_1: list[int] | None
    pitches_2: list[int] | None
    same: bool
    foil: str
    semitones: int | None
    key_1: str
    key_2: str
    tempo: float | None
    meter: str | None
    instrument: str | None
    target: str
    options: list[str]
    source: str


class ChordQualityRow(TypedDict):
    """A chord, struck and then arpeggiated; pitches are MIDI integers, ascending."""

    id: str
    audio: AudioCell
    midi: bytes | None
    midi_text: str | None
    pitches: list[int] | None
    root: str
    quality: str
    variant: int
    tempo: float
    meter: str
    instrument: str
    target: str
    options: list[str]
    source: str


_INTS: Final = List(Value("int64"))
_COMMON: Final = {
    "tempo": Value("float64"),
    "meter": Value("string"),
    "instrument": Value("string"),
    "target": Value("string"),
    "options": List(Value("string")),
    "source": Value("string"),
}
# Encoded audio: `datasets` would need torchcodec to decode it, and no evaluation wants samples.
_AUDIO: Final = Audio(decode=False)

FEATURES: Final[Mapping[str, Features]] = {
    "syncopation": Features(
        {
            "id": Value("string"),
            "audio": _AUDIO,
            "midi": Value("binary"),
            "midi_text": Value("string"),
            "kick": _INTS,
            "snare": _INTS,
            "offbeats": Value("int64"),
            **_COMMON,
        }
    ),
    "transposition": Features(
        {
            "id": Value("string"),
            "audio_1": _AUDIO,
            "audio_2": _AUDIO,
            "midi_1": Value("binary"),
            "midi_2": Value("binary"),
            "midi_text_1": Value("string"),
            "midi_text_2": Value("string"),
            "pitches_1": _INTS,
            "pitches_2": _INTS,
            "same": Value("bool"),
            "foil": Value("string"),
            "semitones": Value("int64"),
            "key_1": Value("string"),
            "key_2": Value("string"),
            **_COMMON,
        }
    ),
    "chord_quality": Features(
        {
            "id": Value("string"),
            "audio": _AUDIO,
            "midi": Value("binary"),
            "midi_text": Value("string"),
            "pitches": _INTS,
            "root": Value("string"),
            "quality": Value("string"),
            "variant": Value("int64"),
            **_COMMON,
        }
    ),
}
"""Config → declared columns, in the order of the typed rows."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many test rows to generate; the defaults are the paper's. The few-shot examples come on top.

    Raises:
        DatasetError: a count is negative, or there are fewer chords than asked for.

    >>> Counts(chord_quality=2000)
    Traceback (most recent call last):
        ...
    music_evals.datasets_builders.folder.provenance.DatasetError: chord_quality: 2000 test rows asked for; possible are 0 to 1584 \
(11 roots, 4 qualities, 36 variants)
    """

    syncopation: int = 20
    transposition: int = 20
    chord_quality: int = 44

    def __post_init__(self) -> None:
        """Check the counts."""
        for config in CONFIGS:
            if getattr(self, config) < 0:
                raise DatasetError(f"{config}: {getattr(self, config)} test rows asked for; a count is 0 or more")
        roots = len(ROOTS) - 1  # one is kept for the examples
        most = roots * len(QUALITIES) * N_VARIANTS
        if self.chord_quality > most:
            raise DatasetError(
                f"chord_quality: {self.chord_quality} test rows asked for; possible are 0 to {most} "
                f"({roots} roots, {len(QUALITIES)} qualities, {N_VARIANTS} variants)"
            )


@dataclass(frozen=True, slots=True)
class Plan:
    """A dataset that has been decided on and checked but not yet written.

    Args:
        configs: columns and rows; the rows are made while they are written.
        n_rows: number of rows of all configs together.
        provenance: what will be recorded.
        extra_files: further files of the dataset folder.
    """

    configs: Mapping[str, Config]
    n_rows: int
    provenance: Provenance
    extra_files: Mapping[str, bytes] = dataclasses.field(default_factory=dict)


class _Rows:
    """Rows that are made each time they are read, so that no audio is held."""

    def __init__(self, makers: Sequence[Maker]) -> None:
        self._makers = makers

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return (make() for make in self._makers)


# --- generated stimuli ---


def build_generated(seed: int = DEFAULT_SEED, counts: Counts | None = None, *, soundfont: Path | None = None) -> Plan:
    """Compose fresh stimuli from a seed: levels, answers, instruments and kinds of foil balanced, none twice.

    Composing happens here, so that what cannot be done fails at once; the rendering happens while the rows are
    written. The same seed and version give the same bytes with the same renderer and soundfont, both of which the
    provenance names. The first rows do not depend on how many are asked for. Of the plain chords there are only as
    many as the paper uses: up to 44 of them, another seed changes their order and, below 44, which roots are taken.

    Args:
        seed: any integer.
        counts: number of test rows a config; default the paper's.
        soundfont: soundfont to render with; default the one that comes with the suite.

    Returns:
        What to write with `write`.

    Raises:
        DatasetError: the soundfont cannot be used, or there are not as many different stimuli as asked for.

    Source: arXiv 2510.22455, sections on tasks and stimuli, for the counts and the make of the stimuli.

    >>> plan = build_generated(seed=7, counts=Counts(2, 2, 4))
    >>> plan.n_rows  # with the eight examples
    16
    >>> next(iter(plan.configs["chord_quality"].splits["test"]))["target"]
    'A'
    """
    counts = counts or Counts()
    try:
        soundfont = soundfont or default_soundfont()
        digest = hashlib.sha256(soundfont.read_bytes()).hexdigest()
    except OSError as error:
        raise DatasetError(f"the soundfont cannot be read: {error}") from error
    makers: dict[str, dict[str, list[Maker]]] = {
        "syncopation": _plan_syncopation(seed, counts.syncopation, soundfont),
        "transposition": _plan_transposition(seed, counts.transposition, soundfont),
        "chord_quality": _plan_chords(seed, counts.chord_quality, soundfont),
    }
    provenance = Provenance(
        benchmark=NAME,
        builder_version=VERSION,
        source=GENERATED,
        licence=GENERATED_LICENCE,
        seed=seed,
        made_with={
            **{package: version(package) for package in ("mido", "numpy", "symusic")},
            "soundfont": f"{soundfont.name} (SHA-256 {digest})",
        },
    )
    return plan_rows(makers, provenance)


def plan_rows(
    makers: Mapping[str, Mapping[str, Sequence[Maker]]],
    provenance: Provenance,
    extra_files: Mapping[str, bytes] | None = None,
) -> Plan:
    """Plan a dataset from functions that make its rows.

    Args:
        makers: config → split → a function a row, called when the row is written.
        provenance: what will be recorded.
        extra_files: further files of the dataset folder.
    """
    configs = {
        config: Config(FEATURES[config], {split: _Rows(rows) for split, rows in splits.items()})
        for config, splits in makers.items()
    }
    n_rows = sum(len(rows) for splits in makers.values() for rows in splits.values())
    return Plan(configs, n_rows, provenance, extra_files or {})


def _draw(
    where: str,
    seed: int,
    seen: set[_Key],
    compose: Callable[[random.Random], _Stimulus],
    keys_of: Callable[[_Stimulus], set[_Key]],
) -> _Stimulus:
    """Compose a stimulus none of whose keys has been seen; its randomness depends on the seed and `where` only."""
    for attempt in range(_ATTEMPTS):
        stimulus = compose(random.Random(f"{seed}/{where}/{attempt}"))
        keys = keys_of(stimulus)
        if not keys & seen:
            seen |= keys
            return stimulus
    raise DatasetError(f"{where}: no new stimulus in {_ATTEMPTS} draws, {len(seen)} are taken; ask for fewer rows")


def _plan_syncopation(seed: int, n_test: int, soundfont: Path) -> dict[str, list[Maker]]:
    seen: set[_Key] = set()
    splits: dict[str, list[Maker]] = {"fewshot": [], "test": []}
    # The examples come first, so that they stay the same however many test rows are asked for.
    wanted = [("fewshot", f"syncopation-example-{level}-offbeats", level) for level in EXAMPLE_OFFBEATS]
    for index in range(n_test):
        serial, place = divmod(index, len(OFFBEATS))
        level = OFFBEATS[place]
        wanted.append(("test", f"syncopation-{level}-offbeats-{serial + 1:03d}", level))
    for split, name, level in wanted:
        loop = _draw(name, seed, seen, partial(compose_drum_loop, level), _loop_keys)
        splits[split].append(partial(_syncopation_row, name, loop, soundfont))
    return {"test": splits["test"], "fewshot": splits["fewshot"]}


def _loop_keys(loop: DrumLoop) -> set[_Key]:
    return {(tuple(loop.kick), tuple(loop.snare))}


def _syncopation_row(name: str, loop: DrumLoop, soundfont: Path) -> SyncopationRow:
    midi, midi_text, audio = _render(loop.performance, soundfont)
    _check_loop(name, midi, loop)
    return {
        "id": name,
        "audio": audio,
        "midi": midi,
        "midi_text": midi_text,
        "kick": list(loop.kick),
        "snare": list(loop.snare),
        "offbeats": loop.offbeats,
        **_performed(loop.performance),
        "instrument": "drums",
        "target": LETTERS[OFFBEATS.index(loop.offbeats)],
        "options": list(SYNCOPATION_OPTIONS),
        "source": GENERATED,
    }


def _plan_transposition(seed: int, n_test: int, soundfont: Path) -> dict[str, list[Maker]]:
    seen: set[_Key] = set()
    splits: dict[str, list[Maker]] = {"fewshot": [], "test": []}
    wanted: list[tuple[str, str, _Foil | None, _Instrument]] = [
        ("fewshot", "transposition-example-same", None, "piano"),
        ("fewshot", "transposition-example-different", "other_melody", "piano"),
    ]
    for index in range(n_test):
        # Two instruments and three foils: their cycles together run through all six pairs.
        serial, is_different = divmod(index, 2)
        instrument = _INSTRUMENTS[serial % 2]
        kind = "different" if is_different else "same"
        foil = _FOILS[serial % 3] if is_different else None
        wanted.append(("test", f"transposition-{kind}-{instrument}-{serial + 1:03d}", foil, instrument))
    for split, name, foil, instrument in wanted:
        pair = _draw(name, seed, seen, partial(_compose_pair, foil, instrument), _pair_keys)
        splits[split].append(partial(_transposition_row, name, pair, soundfont))
    return {"test": splits["test"], "fewshot": splits["fewshot"]}


def _compose_pair(foil: _Foil | None, instrument: _Instrument, rng: random.Random) -> MelodyPair:
    return compose_pair(foil=foil, instrument=instrument, rng=rng)


def _pair_keys(pair: MelodyPair) -> set[_Key]:
    """The melodies without their keys: no melody may come back, transposed or not."""
    return {_intervals(pair.first.pitches), _intervals(pair.second.pitches)}


def _intervals(pitches: Sequence[int]) -> tuple[int, ...]:
    return tuple(after - before for before, after in pairwise(pitches))


def _transposition_row(name: str, pair: MelodyPair, soundfont: Path) -> TranspositionRow:
    first, second = pair.first, pair.second
    played_1, played_2 = _performed(first.performance), _performed(second.performance)
    midi_1, midi_text_1, audio_1 = _render(first.performance, soundfont)
    midi_2, midi_text_2, audio_2 = _render(second.performance, soundfont)
    same = pair.foil is None
    _check_pair(name, midi_1, midi_2, pair)
    return {
        "id": name,
        "audio_1": audio_1,
        "audio_2": audio_2,
        "midi_1": midi_1,
        "midi_2": midi_2,
        "midi_text_1": midi_text_1,
        "midi_text_2": midi_text_2,
        "pitches_1": list(first.pitches),
        "pitches_2": list(second.pitches),
        "same": same,
        "foil": pair.foil or "none",
        "semitones": pair.semitones,
        "key_1": first.key,
        "key_2": second.key,
        "tempo": shared(played_1["tempo"], played_2["tempo"]),
        "meter": shared(played_1["meter"], played_2["meter"]),
        "instrument": shared(first.instrument, second.instrument),
        "target": SAME if same else DIFFERENT,
        "options": [SAME, DIFFERENT],
        "source": GENERATED,
    }


def _plan_chords(seed: int, n_test: int, soundfont: Path) -> dict[str, list[Maker]]:
    roots = [root for root in ROOTS if root != EXAMPLE_ROOT]
    test: list[Maker] = []
    for index in range(n_test):
        # All roots in one variant before the next variant; each quality goes through them in its own order.
        serial, place = divmod(index, len(QUALITIES))
        variant, step = divmod(serial, len(roots))
        quality = QUALITIES[place]
        order = random.Random(f"{seed}/chord_quality/{quality}/{variant}").sample(roots, len(roots))
        chord = compose_chord(order[step], quality, variant)
        test.append(partial(_chord_row, _chord_name(chord, variant), chord, variant, soundfont))
    fewshot: list[Maker] = []
    for quality in QUALITIES:
        chord = compose_chord(EXAMPLE_ROOT, quality)
        fewshot.append(partial(_chord_row, _chord_name(chord, 0), chord, 0, soundfont))
    return {"test": test, "fewshot": fewshot}


def _chord_name(chord: Chord, variant: int) -> str:
    return f"chord-{chord.root.lower()}-{chord.quality}-v{variant}"


def _chord_row(name: str, chord: Chord, variant: int, soundfont: Path) -> ChordQualityRow:
    midi, midi_text, audio = _render(chord.performance, soundfont)
    _check_chord(name, midi, chord)
    return {
        "id": name,
        "audio": audio,
        "midi": midi,
        "midi_text": midi_text,
        "pitches": list(chord.pitches),
        "root": chord.root,
        "quality": chord.quality,
        "variant": variant,
        **_performed(chord.performance),
        "instrument": "piano",
        "target": LETTERS[QUALITIES.index(chord.quality)],
        "options": list(CHORD_OPTIONS),
        "source": GENERATED,
    }


class _Performed(TypedDict):
    tempo: float
    meter: str


def _performed(performance: Performance) -> _Performed:
    numerator, denominator = performance.meter
    return {"tempo": float(performance.tempo), "meter": f"{numerator}/{denominator}"}


def _render(performance: Performance, soundfont: Path) -> tuple[bytes, str, AudioCell]:
    """Return a performance as MIDI file, MIDI text and WAV."""
    midi = write_midi(performance)
    seconds = None if performance.length is None else performance.length / TICKS_PER_BEAT * 60 / performance.tempo
    try:
        wav = render_wav(midi, seconds=seconds, soundfont=soundfont)
    except ValueError as error:
        raise DatasetError(f"cannot render with {soundfont}: {error}") from error
    return midi, midi_to_text(midi), {"bytes": wav, "path": None}


def _check(name: str, what: str, found: object, expected: object) -> None:
    if found != expected:
        raise DatasetError(f"{name}: the written MIDI file has {what} {found}, the row says {expected}")


def _check_loop(name: str, midi: bytes, loop: DrumLoop) -> None:
    """Compare a written drum loop with its row, through a reader that shares no code with the writer."""
    notes = read_notes(midi).notes
    _check(name, "notes off the grid of eighths", [note.onset for note in notes if note.onset % _SLOT], [])
    _check(name, "pitched notes", [note.pitch for note in notes if not note.is_drum], [])
    slots = {
        drum: sorted(note.onset // _SLOT + 1 for note in notes if note.pitch == drum)
        for drum in (_KICK, _SNARE, _HIHAT)
    }
    _check(name, "hi-hat slots", slots[_HIHAT], list(range(1, _SLOTS + 1)))
    _check(name, "kick slots", slots[_KICK], sorted(loop.kick))
    _check(name, "snare slots", slots[_SNARE], sorted(loop.snare))
    offbeats = sum(slot % 2 == 0 for slot in slots[_KICK] + slots[_SNARE])
    _check(name, "off-beats", offbeats, loop.offbeats)


def _check_pair(name: str, midi_1: bytes, midi_2: bytes, pair: MelodyPair) -> None:
    pitches = []
    for midi, melody in ((midi_1, pair.first), (midi_2, pair.second)):
        read = read_notes(midi)
        pitches.append([note.pitch for note in read.notes])
        _check(name, "pitches", pitches[-1], list(melody.pitches))
        _check(name, "tempo", round(read.tempo, 2), round(melody.tempo, 2))
        ends = [note.onset + note.duration for note in read.notes]
        overlaps = [note.onset for end, note in zip(ends, read.notes[1:], strict=False) if note.onset < end]
        _check(name, "notes that overlap at ticks", overlaps, [])
    _check(name, "a transposition:", is_transposition(*pitches), pair.foil is None)
    if pair.foil is None:
        distances = {second - first for first, second in zip(*pitches, strict=True)}
        _check(name, "semitones between the melodies", distances, {pair.semitones})


def _check_chord(name: str, midi: bytes, chord: Chord) -> None:
    notes = read_notes(midi).notes
    _check(name, "block chord", [note.pitch for note in notes if note.onset == 0], list(chord.pitches))
    root = (8 + ROOTS.index(chord.root)) % 12  # the list starts at A flat
    _check(name, "lowest pitch class", min(note.pitch for note in notes) % 12, root)
    degrees = sorted({(note.pitch - root) % 12 for note in notes})
    _check(name, "degrees", degrees, sorted(INTERVALS[chord.quality]))


_Value = TypeVar("_Value")


def shared(first: _Value, second: _Value) -> _Value | None:
    """What two clips have in common, or None where they differ."""
    return first if first == second else None


# --- writing and loading ---


def write(
    plan: Plan, out: Path, *, overwrite: bool = False, on_row: Callable[[str, str], None] | None = None
) -> Provenance:
    """Write a planned dataset as a folder in the layout of the Hub, whole or not at all.

    Args:
        plan: from `build_generated` or `build_recordings`.
        out: the folder to write.
        overwrite: whether a dataset folder of ours may be replaced.
        on_row: called with config and split after each row, for a progress bar.

    Returns:
        What was recorded as ``provenance.json``.

    Raises:
        DatasetError: the folder may not be written, or a written MIDI file does not say what its row says.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(build_generated(counts=Counts(0, 0, 4)), Path(folder) / "muse").counts["chord_quality"]
    {'test': 4, 'fewshot': 4}
    """
    configs = {
        name: Config(
            config.features, {split: _reported(rows, name, split, on_row) for split, rows in config.splits.items()}
        )
        for name, config in plan.configs.items()
    }
    return write_dataset(
        out, configs, card=make_card, provenance=plan.provenance, overwrite=overwrite, extra_files=plan.extra_files
    )


def _reported(
    rows: Iterable[Mapping[str, Any]], config: str, split: str, on_row: Callable[[str, str], None] | None
) -> Iterator[Mapping[str, Any]]:
    for row in rows:
        yield row
        if on_row is not None:
            on_row(config, split)


def _generate(out: Path) -> None:
    write(build_generated(), out, overwrite=True)


BENCHMARK: Final = Benchmark(NAME, VERSION, DEFAULT_SEED, FEATURES, _generate)
"""MUSE for `store.load_split` and `store.describe_dataset`."""
