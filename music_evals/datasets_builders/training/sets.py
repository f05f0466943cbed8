"""Training sets of the benchmarks whose default data is composed, by the same composers, apart from default test sets."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, Final

from music_evals.benchmarks import dataset_names
from music_evals.datasets_builders import builder
from music_evals.datasets_builders.dataset_io import (
    GENERATED,
    DatasetError,
    DatasetSpec,
    Provenance,
    list_names,
    make_provenance,
    write_dataset,
)
from music_evals.datasets_builders.training.decontamination import (
    TestRows,
    abc_runs,
    lilypond_runs,
    midi_runs,
    performance_runs,
    word_runs,
)

Row = Mapping[str, Any]
Counts = Mapping[str, int]  # task → rows
_CHUNK: Final = 500  # questions whose right options are spread over the letters together


@dataclass(frozen=True, slots=True)
class _Training:
    """How a benchmark's training rows are composed, and the default test sets that they are compared with."""

    compose: Callable[[Counts, int, TestRows, bool], Mapping[str, Iterable[Row]]]  # counts, seed, tests, with sound
    tests: Sequence[str]
    material: Sequence[str] = ()  # configs that are no tasks: what the questions are on


def build_training_set(
    name: str,
    out: Path,
    *,
    rows: int,
    seed: int,
    tasks: Sequence[str] = (),
    against: Mapping[str, DatasetSpec] | None = None,
    audio: bool = False,
    overwrite: bool = False,
) -> Provenance:
    """Write a training set as a dataset folder with the split ``train``; the same seed and version give the same bytes.

    Args:
        name: of a dataset in `TRAINING`.
        out: the folder.
        rows: number of rows of all tasks together, spread evenly.
        seed: any integer; the test set of the same seed is another one.
        tasks: configs of the dataset, all by default.
        against: further test sets, dataset argument → its benchmark.
        audio: whether clips are rendered; otherwise the cells of sounds hold `ABSENT`.
        overwrite: whether a dataset folder is replaced.

    Raises:
        DatasetError: there is no such training set or task, or the material does not give so many rows.
    """
    if name not in TRAINING:
        raise DatasetError(f"{name} has no training set: {_why_not(name)}; accepted are {', '.join(TRAINING)}")
    training, spec = TRAINING[name], builder(name).BENCHMARK
    configs = [config for config in spec.features if config not in training.material]
    if unknown := [task for task in tasks if task not in configs]:
        raise DatasetError(f"{name} has no task {list_names(unknown)}; accepted are {', '.join(configs)}")
    chosen = [config for config in configs if config in (tasks or configs)]
    counts = {task: rows // len(chosen) + (at < rows % len(chosen)) for at, task in enumerate(chosen)}
    tests = TestRows()
    for test in training.tests:
        tests.add_dataset(GENERATED, builder(test).BENCHMARK)
    for dataset, benchmark in (against or {}).items():
        tests.add_dataset(dataset, benchmark)
    stream = int.from_bytes(sha256(f"training {seed}".encode()).digest()[:6])  # no test has it by accident
    splits = {
        config: {"train": _exactly(config, rows_of_config, counts[config]) if config in counts else rows_of_config}
        for config, rows_of_config in training.compose(counts, stream, tests, audio).items()
    }
    provenance = make_provenance(name, spec.version, GENERATED, seed=seed, decontamination=tests.record)
    return write_dataset(out, splits, features=spec.features, provenance=provenance, overwrite=overwrite)


def _why_not(name: str) -> str:
    if name == "lilybench_generation":
        return "its prompts describe the very works that it measures against"
    if name in dataset_names():
        return "its questions are published, or stand in for published sound"
    return "there is no such dataset"


def _exactly(task: str, rows: Iterable[Row], count: int) -> Iterator[Row]:
    number = 0
    try:
        for row in islice(rows, count):
            yield row
            number += 1
    except DatasetError as error:
        raise DatasetError(f"{task}: {error}; {number} of {count} rows were found") from error
    if number < count:
        raise DatasetError(
            f"{task} gives {number} rows apart from the test sets, not {count}; ask for fewer, or choose with --task"
        )


def _chunks(questions: Iterable[Any]) -> Iterator[tuple[int, list[Any]]]:
    questions = iter(questions)
    return enumerate(iter(lambda: list(islice(questions, _CHUNK)), []))


def _musictheorybench(counts: Counts, seed: int, tests: TestRows, _: bool) -> dict[str, Iterable[Row]]:
    from music_evals.datasets_builders.musictheorybench import KNOWLEDGE
    from music_evals.datasets_builders.questions.question_rows import composed_rows
    from music_evals.datasets_builders.questions.theory.compose import KINDS, MUSICTHEORYBENCH, theory_questions

    def rows(config: str) -> Iterator[Row]:
        kinds = [kind for kind in KINDS if (kind in KNOWLEDGE) == (config == "knowledge")]
        questions = theory_questions(seed, MUSICTHEORYBENCH, kinds)
        apart = (question for question in questions if tests.accepts(*map(word_runs, question.text.values())))
        for number, chunk in _chunks(apart):
            yield from composed_rows(chunk, f"{seed}/{config}/{number}/letters")

    return {config: rows(config) for config in counts}


def _ziqi(counts: Counts, seed: int, tests: TestRows, _: bool) -> dict[str, Iterable[Row]]:
    from music_evals.datasets_builders.lilybench.default_pieces import first_sources
    from music_evals.datasets_builders.questions.question_rows import LANGUAGES
    from music_evals.datasets_builders.questions.theory.compose import ZIQI, theory_questions
    from music_evals.datasets_builders.ziqi.continuation import training_continuations
    from music_evals.datasets_builders.ziqi.dataset import composed_themes, rows_of

    def rows(config: str) -> Iterator[Row]:
        theme = next(theme for theme in composed_themes() if theme.config == config)
        if config == "comprehension":
            questions = theory_questions(seed, ZIQI)
            apart = (question for question in questions if tests.accepts(*map(word_runs, question.text.values())))
        else:
            titles = [source.title for source in first_sources()]
            apart = training_continuations(seed, lambda abc: tests.accepts(abc_runs(abc), is_composed=False), titles)
        for number, chunk in _chunks(apart):
            by_language = [rows_of(theme, chunk, language, f"{seed}/{number}") for language in LANGUAGES]
            yield from (row for pair in zip(*by_language, strict=True) for row in pair)

    return {config: rows(config) for config in counts}


def _soundfont(audio: bool) -> Path | None:
    from music_evals.notation.audio.soundfont import default_soundfont

    return default_soundfont() if audio else None


def _accept_clips(tests: TestRows, config: str, *clips: Any) -> bool:
    return tests.accepts(*(performance_runs(clip, config) for clip in clips))


def _muse(counts: Counts, seed: int, tests: TestRows, audio: bool) -> dict[str, Iterable[Row]]:
    from music_evals.datasets_builders.muse.dataset import compose_rows

    def rows(config: str) -> Iterator[Row]:
        accepts = partial(_accept_clips, tests, config)
        for split, make in compose_rows(config, seed, counts[config], _soundfont(audio), accepts):
            if split == "test":
                row = make()
                yield {**row, "id": f"train-{row['id']}"}

    return {config: rows(config) for config in counts}


def _muse_ten(counts: Counts, seed: int, tests: TestRows, audio: bool) -> dict[str, Iterable[Row]]:
    from music_evals.datasets_builders.muse_ten.dataset import compose, rows_of

    def rows(config: str) -> Iterator[Row]:
        stimuli = compose(seed, config, "train", counts[config], partial(_accept_clips, tests, config))
        return rows_of(stimuli, config, _soundfont(audio), "train-")

    return {config: rows(config) for config in counts}


def apart_works(works: Iterable[Any]) -> list[Any]:
    """Return the works or sources of music21's corpus that no default test set has, under any title or path."""
    from music_evals.datasets_builders.lilybench.default_pieces import first_sources
    from music_evals.datasets_builders.msu.same_work import name_of
    from music_evals.datasets_builders.msu.works import first_works

    def marks(work: Any) -> set[object]:
        return {(work.path, getattr(work, "tune", None)), name_of(work.title, work.composer or "")}

    tested = set[object]().union(*map(marks, (*first_works(), *first_sources())))
    return [work for work in works if not tested & marks(work)]


def _msu(counts: Counts, seed: int, tests: TestRows, _: bool) -> dict[str, Iterable[Row]]:
    from music_evals.datasets_builders.msu.computed import build_generated
    from music_evals.datasets_builders.msu.works import default_works

    plan = build_generated(seed, apart_works(default_works()))
    scores = {row["score_id"]: row for split in plan.scores.values() for row in split}
    apart = {name for name, row in scores.items() if tests.accepts(abc_runs(row["abc"] or ""), is_composed=False)}
    questions = [row for split in plan.questions.values() for row in split if row["score_id"] in apart]
    questions = questions[: counts["questions"]]
    names = dict.fromkeys(row["score_id"] for row in questions)
    return {"scores": [scores[name] for name in names], "questions": questions}


def _lilybench(counts: Counts, seed: int, tests: TestRows, _: bool) -> dict[str, Iterable[Row]]:
    from music_evals.datasets_builders.lilybench.composed_clips import compose_clips
    from music_evals.datasets_builders.lilybench.default_pieces import default_sources, make_pieces
    from music_evals.datasets_builders.lilybench.emopia import make_rows as emotion_rows
    from music_evals.datasets_builders.lilybench.rows import stable_hash
    from music_evals.datasets_builders.lilybench.strict.survey import survey
    from music_evals.datasets_builders.lilybench.strict.tasks import make_rows

    rows: dict[str, list[Any]] = {}
    pieces = make_pieces(apart_works(default_sources()))[0] if {*counts} - {"emotion_recognition"} else []
    runs = lilypond_runs([piece.text for piece in pieces])
    pieces = [piece for piece, own in zip(pieces, runs, strict=True) if tests.accepts(*own, is_composed=False)]
    usable = [piece for _, piece in survey(pieces) if piece is not None]
    for task, count in counts.items():
        if task == "emotion_recognition":
            clips = compose_clips(seed, per_quadrant=-(-count // 4))
            clips = [clip for clip in clips if tests.accepts(*midi_runs(clip.midi), is_composed=False)]
            rows[task], _left_out = emotion_rows("strict", clips, seed, per_quadrant=-(-count // 4))
        else:
            size = 5 * -(-count // 6) if task == "error_detection" else count  # one in six rows has no error
            try:
                rows[task] = make_rows(task, usable, seed, size)
            except ValueError as error:
                raise DatasetError(f"{len(usable)} pieces apart from the test sets are too few: {error}") from error
        rows[task] = sorted(rows[task], key=lambda row: stable_hash(seed, row["id"]))
    return dict(rows)


TRAINING: Final[Mapping[str, _Training]] = {
    "lilybench": _Training(_lilybench, ("lilybench", "ziqi"), ("corpus",)),
    "msu": _Training(_msu, ("msu", "ziqi"), ("scores",)),
    "muse": _Training(_muse, ("muse", "muse_ten")),
    "muse_ten": _Training(_muse_ten, ("muse", "muse_ten")),
    "musictheorybench": _Training(_musictheorybench, ("musictheorybench", "ziqi")),
    "ziqi": _Training(_ziqi, ("musictheorybench", "ziqi")),
}
"""Dataset → its training set."""
