"""MUSE: core music perception tasks, as generated stimuli or from the authors' recordings.

Title: Evaluating Multimodal Large Language Models on Core Music Perception Tasks
Paper: https://arxiv.org/abs/2510.22455 (stimuli: The MUSE Benchmark,
https://arxiv.org/abs/2510.19055) Licence: generated stimuli have the licence of this project. The
recordings are for research and other non-commercial
    use; their licence file (``LICENSE_DATA.md``) is part of the dataset.

Three configs, `syncopation`, `transposition` and `chord_quality`, have the splits `test` (scored)
and `fewshot` (worked examples). `rows` defines the columns, `recordings` builds from the authors'
recordings.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from music_evals.datasets_builders.dataset_io import (
    GENERATED,
    Conversion,
    DatasetError,
    DatasetSpec,
    Provenance,
    make_provenance,
    write_dataset,
)
from music_evals.datasets_builders.dataset_io.rows import Columns
from music_evals.datasets_builders.muse import chords, drum_loops, melodies, rows
from music_evals.datasets_builders.muse.rows import (
    DEFAULT_SEED,
    FEATURES,
    NAME,
    VERSION,
    Maker,
    Plan,
    group_makers,
)
from music_evals.datasets_builders.progress import OnPiece
from music_evals.datasets_builders.questions.media_questions import ABSENT
from music_evals.notation.audio.rendering import render_wav
from music_evals.notation.audio.soundfont import default_soundfont
from music_evals.notation.midi.files import midi_to_text, write_midi
from music_evals.notation.midi.performance import TICKS_PER_BEAT, Performance

_TRIED = 200  # stimuli of each task that guessers are tried on
_ATTEMPTS = 500  # draws for a stimulus that differs from all earlier ones
_Stimulus = TypeVar("_Stimulus")
Key = tuple[Any, ...]
Makers = Iterator[tuple[str, Maker]]
"""Splits of rows, and what makes them."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many test rows to generate, by default as in the paper; few-shot examples are extra."""

    syncopation: int = 20
    transposition: int = 20
    chord_quality: int = 44

    def __post_init__(self) -> None:
        """Check that there are so many chords."""
        roots = len(chords.ROOTS) - 1  # one root is reserved for the examples
        most = roots * len(chords.QUALITIES) * chords.N_VARIANTS
        if self.chord_quality > most:
            raise DatasetError(
                f"chord_quality: {self.chord_quality} test rows asked for; possible are 0 to {most}"
                f" ({roots} roots, {len(chords.QUALITIES)} qualities, {chords.N_VARIANTS} variants)"
            )


def build_generated(
    seed: int = DEFAULT_SEED,
    counts: Counts | None = None,
    *,
    soundfont: Path | None = None,
    level: int = 1,
) -> Plan:
    """Compose stimuli from a seed: levels, answers, instruments and kinds of foil are balanced, and
    all stimuli differ.

    Stimuli are composed here, so that errors come before any work is lost. They are rendered when
    the rows are written. The provenance names the libraries and the soundfont: with the same ones,
    a seed and version give the same bytes. A larger count keeps the first rows. The paper uses all
    44 plain chords: another seed changes their order, and with fewer chords their roots.

    Args:
        seed: any integer.
        counts: number of test rows of each config; by default as in the paper.
        soundfont: SoundFont 2 file; by default `default_soundfont`.
        level: 1, or 2 to 5 for harder stimuli.

    Raises:
        DatasetError: the soundfont cannot be read, there are not so many stimuli, or they give
            answers away (`refuse_leaks`).

    Source: arXiv 2510.22455, sections on tasks and stimuli.
    """
    counts = counts or Counts()
    try:
        soundfont = soundfont or default_soundfont()
        digest = hashlib.sha256(soundfont.read_bytes()).hexdigest()
    except OSError as error:
        raise DatasetError(f"the soundfont cannot be read: {error}") from error
    made_with = {package: version(package) for package in ("mido", "numpy")}
    made_with["soundfont"] = f"{soundfont.name} (SHA-256 {digest})"
    planned = (
        (config, compose(seed, getattr(counts, config), soundfont, level))
        for config, compose in COMPOSERS.items()
    )
    makers = group_makers(
        (config, split, make) for config, entries in planned for split, make in entries
    )
    if level == 1:
        _refuse_leaks()
    return Plan(makers, make_provenance(NAME, VERSION, GENERATED, seed=seed, made_with=made_with))


@cache
def _refuse_leaks() -> None:
    """Try guessers on stimuli of a fixed seed, which this code alone decides: once per process,
    for seconds.
    """
    # Here, because SciPy takes a second to load.
    from music_evals.datasets_builders.questions.audit import refuse_leaks

    for config, compose in COMPOSERS.items():
        tried = (make() for split, make in compose(DEFAULT_SEED, _TRIED, None) if split == "test")
        refuse_leaks(NAME, config, "midi", tried)


def draw(
    name: str,
    seed: int,
    seen: set[Key],
    compose: Callable[..., _Stimulus],
    keys_of: Callable[[_Stimulus], set[Key]],
) -> _Stimulus:
    """Compose a stimulus without any key that was seen; the randomness depends only on seed and
    name.
    """
    for attempt in range(_ATTEMPTS):
        stimulus = compose(rng=Random(f"{seed}/{name}/{attempt}"))
        keys = keys_of(stimulus)
        if not keys & seen:
            seen |= keys
            return stimulus
    raise DatasetError(
        f"{name}: no new stimulus in {_ATTEMPTS} draws, {len(seen)} are taken; ask for fewer rows"
    )


def _loops(seed: int, n_test: int, soundfont: Path | None, level: int = 1) -> Makers:
    def row(name: str, loop: drum_loops.DrumLoop) -> rows.Row:
        clip = render_clip(loop.performance, "drums", soundfont)
        notes = {"kick": list(loop.kick), "snare": list(loop.snare), "offbeats": loop.offbeats}
        place = drum_loops.OFFBEATS.index(loop.offbeats)
        return rows.make_row("syncopation", name, [clip], place, GENERATED, **notes)

    # The examples come first, so that they do not depend on the number of test rows.
    wanted = [("fewshot", f"example-{count}-offbeats", count) for count in rows.EXAMPLE_OFFBEATS]
    for index in range(n_test):
        serial, place = divmod(index, len(drum_loops.OFFBEATS))
        count = drum_loops.OFFBEATS[place]
        wanted.append(("test", f"{count}-offbeats-{serial + 1:03d}", count))
    seen: set[Key] = set()
    for split, suffix, count in wanted:
        name = f"syncopation-{suffix}"
        compose = partial(drum_loops.compose_loop, count, level)
        loop = draw(name, seed, seen, compose, lambda loop: {(loop.kick, loop.snare)})
        yield split, partial(row, name, loop)


def _pairs(seed: int, n_test: int, soundfont: Path | None, level: int = 1) -> Makers:
    def row(name: str, pair: melodies.MelodyPair) -> rows.Row:
        clips = []
        columns: dict[str, Any] = {"same": pair.foil is None, "foil": pair.foil or "none"}
        for number, tune in enumerate((pair.first, pair.second), 1):
            clips.append(render_clip(tune.performance, tune.instrument, soundfont))
            columns |= {f"pitches_{number}": list(tune.pitches), f"key_{number}": tune.key}
        columns["semitones"] = pair.semitones
        return rows.make_row("transposition", name, clips, bool(pair.foil), GENERATED, **columns)

    wanted: list[tuple[str, str, melodies.Foil | None, melodies.Instrument]] = [
        ("fewshot", "example-same", None, "piano"),
        ("fewshot", "example-different", "other_melody", "piano"),
    ]
    for index in range(n_test):
        # Two instruments and three foils: their cycles combine to all six pairs.
        serial, is_different = divmod(index, 2)
        instrument = melodies.INSTRUMENTS[serial % 2]
        kind = "different" if is_different else "same"
        foil = melodies.FOILS[serial % 3] if is_different else None
        wanted.append(("test", f"{kind}-{instrument}-{serial + 1:03d}", foil, instrument))
    seen: set[Key] = set()
    for split, suffix, foil, instrument in wanted:
        name = f"transposition-{suffix}"
        compose = partial(melodies.compose_pair, foil=foil, instrument=instrument, level=level)
        yield split, partial(row, name, draw(name, seed, seen, compose, _pair_keys))


def _pair_keys(pair: melodies.MelodyPair) -> set[Key]:
    """The intervals of both melodies: no melody comes twice, transposed or not."""
    return {
        tuple(after - before for before, after in pairwise(melody.pitches))
        for melody in (pair.first, pair.second)
    }


def _chords(seed: int, n_test: int, soundfont: Path | None, level: int = 1) -> Makers:
    def row(chord: chords.Chord, variant: int) -> rows.Row:
        name = f"chord-{chord.root.lower()}-{chord.quality}-v{variant}"
        clip = render_clip(chord.performance, "piano", soundfont)
        place = chords.QUALITIES.index(chord.quality)
        facts = {"root": chord.root, "quality": chord.quality, "pitches": list(chord.pitches)}
        return rows.make_row(
            "chord_quality", name, [clip], place, GENERATED, variant=variant, **facts
        )

    roots = [root for root in chords.ROOTS if root != rows.EXAMPLE_ROOT]
    for index in range(n_test):
        # All roots in one variant before the next variant; every quality has its own order of
        # roots.
        serial, place = divmod(index, len(chords.QUALITIES))
        variant, step = divmod(serial, len(roots))
        quality = chords.QUALITIES[place]
        order = Random(f"{seed}/chord_quality/{quality}/{variant}").sample(roots, len(roots))
        chord = chords.compose_chord(order[step], quality, variant, level)
        yield "test", partial(row, chord, variant)
    for quality in chords.QUALITIES:
        chord = chords.compose_chord(rows.EXAMPLE_ROOT, quality, 0, level)
        yield "fewshot", partial(row, chord, 0)


COMPOSERS: Mapping[str, Callable[..., Makers]] = {
    "syncopation": _loops,
    "transposition": _pairs,
    "chord_quality": _chords,
}
"""Config → composes rows from a seed, a number of test rows, a soundfont and a level: their splits,
and what makes them.
"""


def render_clip(performance: Performance, instrument: str, soundfont: Path | None) -> rows.Clip:
    """Play a performance as WAV, MIDI and MIDI text; DatasetError if the soundfont cannot be read.

    Without a soundfont the WAV is `ABSENT`.
    """
    midi = write_midi(performance)
    seconds = (
        None
        if performance.length is None
        else performance.length / TICKS_PER_BEAT * 60 / performance.tempo
    )
    try:
        wav = render_wav(midi, seconds=seconds, soundfont=soundfont) if soundfont else ABSENT
    except ValueError as error:
        raise DatasetError(f"cannot render with {soundfont}: {error}") from error
    meter = "{}/{}".format(*performance.meter)
    return rows.Clip(wav, instrument, float(performance.tempo), meter, midi, midi_to_text(midi))


def write(
    plan: Plan,
    out: Path,
    *,
    features: Mapping[str, Columns] = FEATURES,
    overwrite: bool = False,
    on_piece: OnPiece = lambda *_: None,
) -> Provenance:
    """Write a planned dataset with these declared columns as a folder, completely or not at all.

    DatasetError if a row cannot be made or the folder cannot be written.
    """

    def make_rows(config: str, split: str) -> Iterator[rows.Row]:
        for make in plan.makers[config][split]:
            yield make()
            on_piece("making rows", plan.n_rows)

    return write_dataset(
        out,
        {
            config: {split: make_rows(config, split) for split in splits}
            for config, splits in plan.makers.items()
        },
        features=features,
        provenance=plan.provenance,
        overwrite=overwrite,
        extra_files=plan.extra_files,
    )


def write_recordings(
    conversion: Conversion,
    build: Callable[..., Plan],
    features: Mapping[str, Columns] = FEATURES,
) -> Provenance:
    """Write the rows that a function plans from a copy of the authors' recordings."""
    plan = build(
        conversion.source, allow_partial=conversion.allow_partial, revision=conversion.revision
    )
    return write(
        plan, conversion.out, features=features, overwrite=True, on_piece=conversion.on_piece
    )


def _convert(conversion: Conversion) -> Provenance:
    # Here, because generated stimuli do not need the analysis of sound.
    from music_evals.datasets_builders.muse.recordings import build_recordings

    return write_recordings(conversion, build_recordings)


def _generate_level(level: int, out: Path, _: object) -> Provenance:
    return write(build_generated(counts=Counts(40, 40, 40), level=level), out, overwrite=True)


BENCHMARK = DatasetSpec(
    NAME,
    VERSION,
    DEFAULT_SEED,
    FEATURES,
    lambda out, _: write(build_generated(), out, overwrite=True),
    _convert,
    generate_level=_generate_level,
    leveled=rows.CONFIGS,
)
"""MUSE for `load_split` and `describe_dataset`."""
