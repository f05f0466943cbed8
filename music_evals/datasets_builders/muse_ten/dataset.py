"""The MUSE Benchmark: ten listening tasks, as generated stimuli or from the authors' recordings.

Title: The MUSE Benchmark: Probing Music Perception and Auditory Relational Reasoning in Audio LLMs
Paper: https://arxiv.org/abs/2510.19055
Licence: generated stimuli have the licence of this project. The recordings are for research and
    other non-commercial use; their licence file (``LICENSE_DATA.md``) is part of the dataset.

Every config has the splits `test` (20 rows) and `fewshot` (a worked example of each option).
Options of generated rows take turns.
"""

from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import TypedDict

from music_evals.datasets_builders.dataset_io import (
    GENERATED,
    Conversion,
    DatasetSpec,
    Provenance,
    make_provenance,
    write_dataset,
)
from music_evals.datasets_builders.muse.dataset import Key, draw, render_clip, write_recordings
from music_evals.datasets_builders.muse.rows import (
    ClipColumns,
    PairColumns,
    Row,
    cells,
    question_features,
)
from music_evals.datasets_builders.muse_ten.stimuli import FORMS, NAME, VERSION, Stimulus
from music_evals.notation.audio.soundfont import default_soundfont

DEFAULT_SEED = 1
PER_TASK = 20
LEVELED = tuple(name for name in FORMS if name not in ("instrument", "major_or_minor"))
_TRIED = 200  # stimuli of each task that guessers are tried on


class _Question(TypedDict):
    id: str
    variant: str  # kind of stimulus, such as the kind of foil
    why: str
    target: str
    options: list[str]
    source: str


class ClipRow(_Question, ClipColumns):
    """A question on one clip."""


class PairRow(_Question, PairColumns):
    """A question on two clips."""


FEATURES = {
    name: question_features(
        ClipRow if len(form.clips) == 1 else PairRow, form.options, form.targets
    )
    for name, form in FORMS.items()
}
"""Config → declared columns."""


def compose(
    seed: int, name: str, split: str, count: int, level: int = 1
) -> Iterator[tuple[str, Stimulus]]:
    """Compose stimuli of a task with their answers; the options take turns, and all stimuli of a
    split differ.
    """
    form, seen = FORMS[name], set[Key]()
    for number in range(count):
        serial, place = divmod(number, len(form.options))
        compose_one = partial(form.compose, place, serial, level)
        yield form.targets[place], draw(f"{name}/{split}/{number}", seed, seen, compose_one, _key)


def _key(stimulus: Stimulus) -> set[Key]:
    return {tuple(performance.notes for performance, _ in stimulus.clips)}


def build(
    out: Path,
    *,
    seed: int = DEFAULT_SEED,
    per_task: int = PER_TASK,
    overwrite: bool = False,
    level: int = 1,
) -> Provenance:
    """Write generated stimuli as a dataset folder; the same seed gives the same bytes.

    DatasetError if the folder cannot be written.
    """
    forms = {name: FORMS[name] for name in (FORMS if level == 1 else LEVELED)}
    compose_split = partial(compose_rows, seed, soundfont=default_soundfont(), level=level)
    rows = {
        name: {
            "test": compose_split(name, "test", per_task),
            "fewshot": compose_split(name, "fewshot", len(form.options)),
        }
        for name, form in forms.items()
    }
    if level == 1:
        _refuse_leaks()
    # Equality of bytes gives no answer away, because the clips of a pair always differ.
    floors = {
        name: {"test": {"all": {"bytes": 0.5}}}
        for name, form in forms.items()
        if len(form.clips) == 2
    }
    provenance = make_provenance(NAME, VERSION, GENERATED, seed=seed, floors=floors)
    return write_dataset(out, rows, features=FEATURES, provenance=provenance, overwrite=overwrite)


@cache
def _refuse_leaks() -> None:
    """Try guessers on stimuli of a fixed seed, which this code alone decides: once per process,
    for seconds.
    """
    # Here, because SciPy takes a second to load.
    from music_evals.datasets_builders.questions.audit import refuse_leaks

    for name in FORMS:
        refuse_leaks(NAME, name, "midi", compose_rows(DEFAULT_SEED, name, "leaks", _TRIED, None))


def _convert(conversion: Conversion) -> Provenance:
    # Here, because the analysis of sound is not needed for generated stimuli.
    from music_evals.datasets_builders.muse_ten.recordings import build_recordings

    return write_recordings(conversion, build_recordings, FEATURES)


BENCHMARK = DatasetSpec(
    NAME,
    VERSION,
    DEFAULT_SEED,
    FEATURES,
    lambda out, _: build(out, overwrite=True),
    _convert,
    generate_level=lambda level, out, _: build(
        out, per_task=2 * PER_TASK, overwrite=True, level=level
    ),
    leveled=LEVELED,
)


def compose_rows(
    seed: int, name: str, split: str, count: int, soundfont: Path | None, level: int = 1
) -> Iterator[Row]:
    """Compose the rows of a task; without a soundfont there are no sounds."""
    form = FORMS[name]
    for number, (target, stimulus) in enumerate(compose(seed, name, split, count, level), 1):
        row = form.row(name, split, number, target)
        row |= {"variant": stimulus.variant, "why": stimulus.why, "source": GENERATED}
        yield {**row, **cells([render_clip(*clip, soundfont) for clip in stimulus.clips])}
