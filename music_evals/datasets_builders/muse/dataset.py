"""MUSE: core music perception tasks, as generated stimuli or from the authors' recordings.

Title: Evaluating Multimodal Large Language Models on Core Music Perception Tasks
Paper: https://arxiv.org/abs/2510.22455 (stimuli: The MUSE Benchmark, https://arxiv.org/abs/2510.19055)
Licence: generated stimuli are under the licence of this project; the recordings are for research and other
    non-commercial use, with their licence file (``LICENSE_DATA.md``) beside them

Three configs, `syncopation`, `transposition` and `chord_quality`, each with the splits `test` (scored) and
`fewshot` (worked examples). `rows` says what a row holds, `recordings` takes the authors' recordings.
"""

import hashlib
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeVar

from music_evals.datasets_builders.dataset_io import (
    GENERATED,
    Benchmark,
    DatasetError,
    Provenance,
    make_provenance,
    write_dataset,
)
from music_evals.datasets_builders.muse import chords, drum_loops, melodies, rows
from music_evals.notation.audio.rendering import render_wav
from music_evals.notation.audio.soundfont import default_soundfont
from music_evals.notation.midi.files import midi_to_text, read_notes, write_midi
from music_evals.notation.midi.performance import TICKS_PER_BEAT, Performance

NAME: Final = "muse"
VERSION: Final = "1.2.0"
DEFAULT_SEED: Final = 1

_SLOT: Final = TICKS_PER_BEAT // 2  # an eighth
_ATTEMPTS: Final = 500  # draws for one stimulus that is none of the earlier ones
_Stimulus = TypeVar("_Stimulus")
_Key = tuple[Any, ...]
Maker = Callable[[], Mapping[str, Any]]  # makes a row when it is written, so that no audio is held


@dataclass(frozen=True, slots=True)
class Counts:
    """How many test rows to generate; the defaults are the paper's. The few-shot examples come on top."""

    syncopation: int = 20
    transposition: int = 20
    chord_quality: int = 44

    def __post_init__(self) -> None:
        """Check the counts."""
        for config in rows.CONFIGS:
            if getattr(self, config) < 0:
                raise DatasetError(f"{config}: {getattr(self, config)} test rows asked for; a count is 0 or more")
        roots = len(chords.ROOTS) - 1  # one is kept for the examples
        most = roots * len(chords.QUALITIES) * chords.N_VARIANTS
        if self.chord_quality > most:
            raise DatasetError(
                f"chord_quality: {self.chord_quality} test rows asked for; possible are 0 to {most} "
                f"({roots} roots, {len(chords.QUALITIES)} qualities, {chords.N_VARIANTS} variants)"
            )


@dataclass(frozen=True, slots=True)
class Plan:
    """A dataset that has been decided on and checked: config → split → functions that make the rows."""

    makers: Mapping[str, Mapping[str, Sequence[Maker]]]
    provenance: Provenance
    extra_files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of rows of all configs together."""
        return sum(len(made) for splits in self.makers.values() for made in splits.values())


# --- generated stimuli ---


def build_generated(seed: int = DEFAULT_SEED, counts: Counts | None = None, *, soundfont: Path | None = None) -> Plan:
    """Compose fresh stimuli from a seed: levels, answers, instruments and kinds of foil balanced, none twice.

    Composing happens here, so that what cannot be done fails at once, with a DatasetError; the rendering happens while
    the rows are written. The same seed and version give the same bytes with the same renderer and soundfont, both of
    which the provenance names. The first rows do not depend on how many are asked for. Of the plain chords there are
    only as many as the paper uses: up to 44 of them, another seed changes their order and, below 44, the roots.

    Args:
        seed: any integer.
        counts: number of test rows a config; default the paper's.
        soundfont: soundfont to render with; default the one that comes with the suite.

    Source: arXiv 2510.22455, sections on tasks and stimuli, for the counts and the make of the stimuli.
    """
    counts = counts or Counts()
    try:
        soundfont = soundfont or default_soundfont()
        digest = hashlib.sha256(soundfont.read_bytes()).hexdigest()
    except OSError as error:
        raise DatasetError(f"the soundfont cannot be read: {error}") from error
    provenance = make_provenance(
        NAME,
        VERSION,
        GENERATED,
        seed=seed,
        made_with={
            **{package: version(package) for package in ("mido", "numpy", "symusic")},
            "soundfont": f"{soundfont.name} (SHA-256 {digest})",
        },
    )
    planned = {
        "syncopation": _loops(seed, counts.syncopation, soundfont),
        "transposition": _pairs(seed, counts.transposition, soundfont),
        "chord_quality": _chords(seed, counts.chord_quality, soundfont),
    }
    makers: dict[str, dict[str, list[Maker]]] = {config: {"test": [], "fewshot": []} for config in rows.CONFIGS}
    for config, some in planned.items():
        for split, make in some:
            makers[config][split].append(make)
    return Plan(makers, provenance)


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


def _loops(seed: int, n_test: int, soundfont: Path) -> Iterator[tuple[str, Maker]]:
    # The examples come first, so that they stay the same however many test rows are asked for.
    wanted = [("fewshot", f"syncopation-example-{level}-offbeats", level) for level in rows.EXAMPLE_OFFBEATS]
    for index in range(n_test):
        serial, place = divmod(index, len(drum_loops.OFFBEATS))
        level = drum_loops.OFFBEATS[place]
        wanted.append(("test", f"syncopation-{level}-offbeats-{serial + 1:03d}", level))
    seen: set[_Key] = set()
    for split, name, level in wanted:
        compose = partial(drum_loops.compose_drum_loop, level)
        loop = _draw(name, seed, seen, compose, lambda loop: {(loop.kick, loop.snare)})
        yield split, partial(_loop_row, name, loop, soundfont)


def _loop_row(name: str, loop: drum_loops.DrumLoop, soundfont: Path) -> rows.SyncopationRow:
    clip, midi = _clip(loop.performance, "drums", soundfont)
    _check_loop(name, midi, loop)
    return rows.syncopation_row(name, clip, loop.offbeats, GENERATED, list(loop.kick), list(loop.snare))


def _pairs(seed: int, n_test: int, soundfont: Path) -> Iterator[tuple[str, Maker]]:
    wanted: list[tuple[str, str, melodies.Foil | None, melodies.Instrument]] = [
        ("fewshot", "transposition-example-same", None, "piano"),
        ("fewshot", "transposition-example-different", "other_melody", "piano"),
    ]
    for index in range(n_test):
        # Two instruments and three foils: their cycles together run through all six pairs.
        serial, is_different = divmod(index, 2)
        instrument = melodies.INSTRUMENTS[serial % 2]
        kind = "different" if is_different else "same"
        foil = melodies.FOILS[serial % 3] if is_different else None
        wanted.append(("test", f"transposition-{kind}-{instrument}-{serial + 1:03d}", foil, instrument))
    seen: set[_Key] = set()
    for split, name, foil, instrument in wanted:
        compose = partial(melodies.compose_pair, foil=foil, instrument=instrument)
        pair = _draw(name, seed, seen, lambda rng, compose=compose: compose(rng=rng), _pair_keys)  # type: ignore[misc]
        yield split, partial(_pair_row, name, pair, soundfont)


def _pair_keys(pair: melodies.MelodyPair) -> set[_Key]:
    """The melodies without their keys: no melody may come back, transposed or not."""
    return {tuple(after - before for before, after in pairwise(melody.pitches)) for melody in (pair.first, pair.second)}


def _pair_row(name: str, pair: melodies.MelodyPair, soundfont: Path) -> rows.TranspositionRow:
    first, second = (_clip(one.performance, one.instrument, soundfont) for one in (pair.first, pair.second))
    _check_pair(name, first[1], second[1], pair)
    return rows.transposition_row(
        name,
        (first[0], second[0]),
        (pair.first.key, pair.second.key),
        pair.foil,
        GENERATED,
        pair.semitones,
        (list(pair.first.pitches), list(pair.second.pitches)),
    )


def _chords(seed: int, n_test: int, soundfont: Path) -> Iterator[tuple[str, Maker]]:
    roots = [root for root in chords.ROOTS if root != rows.EXAMPLE_ROOT]
    for index in range(n_test):
        # All roots in one variant before the next variant; each quality goes through them in its own order.
        serial, place = divmod(index, len(chords.QUALITIES))
        variant, step = divmod(serial, len(roots))
        quality = chords.QUALITIES[place]
        order = random.Random(f"{seed}/chord_quality/{quality}/{variant}").sample(roots, len(roots))
        yield "test", partial(_chord_row, chords.compose_chord(order[step], quality, variant), variant, soundfont)
    for quality in chords.QUALITIES:
        yield "fewshot", partial(_chord_row, chords.compose_chord(rows.EXAMPLE_ROOT, quality), 0, soundfont)


def _chord_row(chord: chords.Chord, variant: int, soundfont: Path) -> rows.ChordQualityRow:
    name = f"chord-{chord.root.lower()}-{chord.quality}-v{variant}"
    clip, midi = _clip(chord.performance, "piano", soundfont)
    _check_chord(name, midi, chord)
    return rows.chord_quality_row(name, clip, chord.root, chord.quality, GENERATED, variant, list(chord.pitches))


def _clip(performance: Performance, instrument: str, soundfont: Path) -> tuple[rows.Clip, bytes]:
    """A performance as it is heard, and its MIDI file."""
    midi = write_midi(performance)
    seconds = None if performance.length is None else performance.length / TICKS_PER_BEAT * 60 / performance.tempo
    try:
        wav = render_wav(midi, seconds=seconds, soundfont=soundfont)
    except ValueError as error:
        raise DatasetError(f"cannot render with {soundfont}: {error}") from error
    meter = "{}/{}".format(*performance.meter)
    return rows.Clip(wav, float(performance.tempo), meter, instrument, midi, midi_to_text(midi)), midi


def _check(name: str, what: str, found: object, expected: object) -> None:
    if found != expected:
        raise DatasetError(f"{name}: the written MIDI file has {what} {found}, the row says {expected}")


def _check_loop(name: str, midi: bytes, loop: drum_loops.DrumLoop) -> None:
    """Compare a written drum loop with its row, through a reader that shares no code with the writer."""
    notes = read_notes(midi).notes
    _check(name, "notes off the grid of eighths", [note.onset for note in notes if note.onset % _SLOT], [])
    _check(name, "pitched notes", [note.pitch for note in notes if not note.is_drum], [])
    hi_hat, kick, snare = (
        sorted(note.onset // _SLOT + 1 for note in notes if note.pitch == drum)
        for drum in (drum_loops.HI_HAT, drum_loops.KICK, drum_loops.SNARE)
    )
    _check(name, "hi-hat slots", hi_hat, list(range(1, drum_loops.SLOTS + 1)))
    _check(name, "kick slots", kick, sorted(loop.kick))
    _check(name, "snare slots", snare, sorted(loop.snare))
    offbeats = sum(slot % 2 == 0 for slot in kick + snare)
    _check(name, "off-beats", offbeats, loop.offbeats)


def _check_pair(name: str, midi_1: bytes, midi_2: bytes, pair: melodies.MelodyPair) -> None:
    pitches = []
    for midi, melody in ((midi_1, pair.first), (midi_2, pair.second)):
        read = read_notes(midi)
        pitches.append([note.pitch for note in read.notes])
        _check(name, "pitches", pitches[-1], list(melody.pitches))
        _check(name, "tempo", round(read.tempo, 2), round(melody.tempo, 2))
        ends = [note.onset + note.duration for note in read.notes]
        overlaps = [note.onset for end, note in zip(ends, read.notes[1:], strict=False) if note.onset < end]
        _check(name, "notes that overlap at ticks", overlaps, [])
    _check(name, "a transposition:", melodies.is_transposition(*pitches), pair.foil is None)
    if pair.foil is None:
        distances = {second - first for first, second in zip(*pitches, strict=True)}
        _check(name, "semitones between the melodies", distances, {pair.semitones})


def _check_chord(name: str, midi: bytes, chord: chords.Chord) -> None:
    notes = read_notes(midi).notes
    _check(name, "block chord", [note.pitch for note in notes if note.onset == 0], list(chord.pitches))
    root = (8 + chords.ROOTS.index(chord.root)) % 12  # the list starts at A flat
    _check(name, "lowest pitch class", min(note.pitch for note in notes) % 12, root)
    degrees = sorted({(note.pitch - root) % 12 for note in notes})
    _check(name, "degrees", degrees, sorted(chords.INTERVALS[chord.quality]))


# --- writing and loading ---


def write(
    plan: Plan, out: Path, *, overwrite: bool = False, on_row: Callable[[str, str], None] | None = None
) -> Provenance:
    """Write a planned dataset as a folder, whole or not at all; `on_row` gets config and split after each row.

    DatasetError where the folder may not be written, or a written MIDI file does not say what its row says.
    """

    def made(config: str, split: str) -> Iterator[Mapping[str, Any]]:
        for make in plan.makers[config][split]:
            yield make()
            if on_row is not None:
                on_row(config, split)

    return write_dataset(
        out,
        {config: {split: made(config, split) for split in splits} for config, splits in plan.makers.items()},
        features=rows.FEATURES,
        provenance=plan.provenance,
        overwrite=overwrite,
        extra_files=plan.extra_files,
    )


BENCHMARK: Final = Benchmark(
    NAME, VERSION, DEFAULT_SEED, rows.FEATURES, lambda out, _: write(build_generated(), out, overwrite=True)
)
