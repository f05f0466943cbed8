"""Training sets of the benchmarks whose default data is composed: the same composers, apart from
the test sets.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from music_evals.datasets_builders import AnyRow, builder
from music_evals.datasets_builders.dataset_io import (
    GENERATED,
    DatasetError,
    DatasetSpec,
    Provenance,
    make_provenance,
    write_dataset,
)
from music_evals.datasets_builders.dataset_io.folders import check_target
from music_evals.datasets_builders.dataset_io.rows import as_files
from music_evals.datasets_builders.training.decontamination import TestRows, lilypond_music

Messages = Mapping[str, Mapping[str, Any]]
"""Config → id of a row → messages."""
Prompts = Callable[[Path], Messages]
_CHUNK = 500  # questions whose right options are spread over the letters together
_SURPLUS = 50  # stimuli that may be composed per row


@dataclass(frozen=True, slots=True)
class Request:
    """The rows that a composer makes, and the test rows that they must differ from."""

    counts: Mapping[str, int]  # config → rows
    seed: int
    tests: TestRows
    soundfont: Path | None  # None leaves sounds out

    def apart(self, config: str, rows: Iterable[AnyRow]) -> Iterator[AnyRow]:
        """Yield the rows that no test has, as many as wanted; DatasetError if there are fewer.

        The answers of stimuli are equally frequent.
        """
        count, reason = self.counts[config], ""
        is_composed = config != "generation"  # which asks for real tunes
        answers: Counter[str] = Counter()
        try:
            for row in rows if count else ():
                answer, most = row.get("target", ""), count
                if answer:
                    most = -(-count // len(row["options"]))
                if answers[answer] >= most:
                    continue
                if self.tests.accepts(row, config, is_composed=is_composed):
                    answers[answer] += 1
                    yield row
                if answers.total() == count:
                    return
        except DatasetError as error:
            reason = f" ({error})"
        if answers.total() < count:
            equally_frequent = len(answers) * min(answers.values(), default=0)
            raise DatasetError(
                f"{config} gives {equally_frequent} rows apart from the test sets, not "
                f"{count}{reason}; ask for fewer, or choose tasks with --task"
            )


Composer = Callable[[Request], Mapping[str, Iterable[AnyRow]]]
"""Composes the rows of a training set: config → rows."""


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
    prompts: Prompts | None = None,
) -> Provenance:
    """Write a training set as a dataset folder with the split ``train``; the same seed and version
    give the same bytes.

    Args:
        name: of a dataset in `TRAINING`.
        out: the folder.
        rows: number of rows of all tasks together, spread evenly.
        seed: any integer; the test set of the same seed is another one.
        tasks: configs of the dataset, all by default.
        against: further test sets, dataset argument → its benchmark.
        audio: whether clips are rendered; otherwise the cells of sounds hold `ABSENT`.
        overwrite: whether a dataset folder is replaced.
        prompts: makes the prompts of a dataset's rows from a folder that holds them as a test
            split, config → id of a row → messages; they become the column ``prompt``. None for no
            such column.

    Raises:
        DatasetError: there is no such training set or task, or the material does not give so many
            rows.
    """
    from datasets import List, Value

    from music_evals.notation.audio.soundfont import default_soundfont

    check_target(out, overwrite=overwrite)
    if name not in TRAINING:
        raise DatasetError(
            f"{name} has no training set; accepted are {', '.join(TRAINING)}: other questions are "
            "published, stand in for published ones, or name the works they are measured against"
        )
    compose, test_sets, left_out = TRAINING[name]
    spec = builder(name).BENCHMARK
    configs = [config for config in spec.features if config not in left_out]
    if tasks:
        configs = _choose(name, configs, tasks)
    tests = TestRows()
    for test in test_sets:
        tests.add_dataset(GENERATED, builder(test).BENCHMARK)
    for dataset, benchmark in (against or {}).items():
        tests.add_dataset(dataset, benchmark)
    share, rest = divmod(rows, len(configs))
    counts = {config: share + (at < rest) for at, config in enumerate(configs)}
    # No test has this seed by accident.
    stream = int.from_bytes(sha256(f"training {seed}".encode()).digest()[:6])
    request = Request(counts, stream, tests, default_soundfont() if audio else None)
    composed = {config: list(own) for config, own in compose(request).items()}
    provenance = make_provenance(
        name, spec.version, GENERATED, seed=seed, decontamination=tests.record
    )
    columns = {config: as_files(spec.features[config]) for config in composed}
    if prompts is not None:
        message = {"role": Value("string"), "content": Value("string")}
        for config, messages in _prompts_of(composed, spec, provenance, prompts).items():
            columns[config] |= {"prompt": List(message)}
            composed[config] = [{**row, "prompt": messages[row["id"]]} for row in composed[config]]
    splits = {config: {"train": own} for config, own in composed.items()}
    return write_dataset(out, splits, features=columns, provenance=provenance, overwrite=overwrite)


def _choose(name: str, configs: Sequence[str], tasks: Sequence[str]) -> list[str]:
    """The configs that are tasks, in their order; DatasetError for any other task."""
    if unknown := {*tasks} - {*configs}:
        raise DatasetError(
            f"{name} has no task {', '.join(unknown)}; accepted are {', '.join(configs)}"
        )
    return [config for config in configs if config in tasks]


def _prompts_of(
    rows: Mapping[str, Sequence[AnyRow]],
    spec: DatasetSpec,
    provenance: Provenance,
    prompts: Prompts,
) -> Messages:
    """The prompts of rows."""
    with TemporaryDirectory() as folder:
        # Tasks look for questions and for worked examples in splits of other names.
        splits = {
            config: dict.fromkeys(("test", "strict", "dev"), own) for config, own in rows.items()
        }
        write_dataset(Path(folder) / "rows", splits, features=spec.features, provenance=provenance)
        return prompts(Path(folder) / "rows")


def _chunks(questions: Iterator[Any]) -> Iterator[tuple[int, list[Any]]]:
    return enumerate(iter(lambda: list(islice(questions, _CHUNK)), []))


def _by_config(rows: Callable[[Request, str], Iterable[AnyRow]]) -> Composer:
    """Decorate a function that composes the rows of a config: the result composes all configs."""
    return lambda request: {
        config: request.apart(config, rows(request, config)) for config in request.counts
    }


@_by_config
def _musictheorybench(request: Request, config: str) -> Iterator[AnyRow]:
    from music_evals.datasets_builders.musictheorybench import kinds_of
    from music_evals.datasets_builders.questions.question_rows import composed_rows
    from music_evals.datasets_builders.questions.theory.compose import (
        MUSICTHEORYBENCH,
        theory_questions,
    )

    questions = theory_questions(request.seed, MUSICTHEORYBENCH, kinds_of(config))
    for number, chunk in _chunks(questions):
        yield from composed_rows(chunk, f"{request.seed}/{config}/{number}")


@_by_config
def _ziqi(request: Request, config: str) -> Iterator[AnyRow]:
    from music_evals.datasets_builders.lilybench.default_pieces import first_sources
    from music_evals.datasets_builders.questions.question_rows import LANGUAGES
    from music_evals.datasets_builders.questions.theory.compose import ZIQI, theory_questions
    from music_evals.datasets_builders.ziqi.continuation import training_continuations
    from music_evals.datasets_builders.ziqi.dataset import composed_themes, rows_of

    def is_apart(abc: str) -> bool:
        return request.tests.accepts({"abc": abc}, is_composed=False)

    theme = next(theme for theme in composed_themes() if theme.config == config)
    if config == "comprehension":
        questions = theory_questions(request.seed, ZIQI)
    else:
        titles = [source.title for source in first_sources()]
        questions = training_continuations(request.seed, is_apart, titles)
    for number, chunk in _chunks(questions):
        key = f"{request.seed}/{number}"
        zh, en = (rows_of(theme, chunk, language, key) for language in LANGUAGES)
        yield from chain.from_iterable(zip(zh, en, strict=True))


@_by_config
def _stimuli(request: Request, config: str) -> Iterator[AnyRow]:
    from music_evals.datasets_builders.muse.chords import N_VARIANTS, QUALITIES, ROOTS
    from music_evals.datasets_builders.muse.dataset import COMPOSERS
    from music_evals.datasets_builders.muse_ten.dataset import compose_rows

    most = _SURPLUS * request.counts[config]
    if config == "chord_quality":
        most = (len(ROOTS) - 1) * len(QUALITIES) * N_VARIANTS
    if config in COMPOSERS:
        makers = COMPOSERS[config](request.seed, most, request.soundfont)
        composed: Iterable[AnyRow] = (make() for split, make in makers if split == "test")
    else:
        composed = compose_rows(request.seed, config, "train", most, request.soundfont)
    for row in composed:
        yield {**row, "id": f"train-{row['id'].replace('example-', '')}"}


def apart_works(works: Iterable[Any]) -> list[Any]:
    """Return the works or sources of music21's corpus that no default test set has, at no level of
    difficulty, by path and by name.
    """
    from music_evals.datasets_builders.lilybench.default_pieces import first_sources
    from music_evals.datasets_builders.msu.same_work import name_of
    from music_evals.datasets_builders.msu.works import default_works, first_works

    def marks(work: Any) -> set[object]:
        return {(work.path, work.tune or 0), name_of(work.title, work.composer or "")}

    sources = first_sources(["lilybench", "lilybench_further", "lilybench_levels"])
    levels = (default_works(f"msu_level{level}") for level in "2345")
    tested = set[object]().union(*map(marks, chain(first_works(), sources, *levels)))
    return [work for work in works if not tested & marks(work)]


def _msu(request: Request) -> Mapping[str, Iterable[AnyRow]]:
    from music_evals.datasets_builders.msu.computed import build_generated
    from music_evals.datasets_builders.msu.works import default_works

    plan = build_generated(request.seed, apart_works(default_works()))
    scores = {
        row["score_id"]: row
        for row in chain.from_iterable(plan.scores.values())
        if request.tests.accepts(row, is_composed=False)
    }
    count = request.counts["questions"]
    questions = chain.from_iterable(plan.questions.values())
    rows = [row for row in questions if row["score_id"] in scores]
    if len(rows) < count:
        raise DatasetError(
            f"{len(scores)} scores apart from the test sets give {len(rows)} questions, not {count}"
        )
    names = dict.fromkeys(row["score_id"] for row in rows[:count])
    return {"scores": [scores[name] for name in names], "questions": rows[:count]}


def _lilybench(request: Request) -> Mapping[str, Iterable[AnyRow]]:
    from music_evals.datasets_builders.lilybench.default_pieces import default_sources, make_pieces
    from music_evals.datasets_builders.lilybench.rows import stable_hash
    from music_evals.datasets_builders.lilybench.strict.survey import survey
    from music_evals.datasets_builders.lilybench.strict.tasks import make_rows

    pieces, _ = make_pieces(apart_works(default_sources()))
    music = lilypond_music(piece.text for piece in pieces)
    apart = [
        piece
        for piece, row in zip(pieces, music, strict=True)
        if request.tests.accepts(row, is_composed=False)
    ]
    usable = [piece for _, piece in survey(apart) if piece is not None]
    rows: dict[str, Sequence[AnyRow]] = {}
    for task, count in request.counts.items():
        # One in six rows has no error.
        size = 5 * -(-count // 6) if task == "error_detection" else count
        try:
            all_rows = make_rows(task, usable, request.seed, size)  # type: ignore[arg-type]
        except ValueError as error:  # it says how many rows there can be
            raise DatasetError(
                f"{len(usable)} pieces apart from the test sets are too few: {error}"
            ) from error
        rows[task] = sorted(all_rows, key=lambda row: stable_hash(request.seed, row["id"]))[:count]
    return rows


TRAINING: Mapping[str, tuple[Composer, Sequence[str], Sequence[str]]] = {
    # Works give too few genres; clips for emotions are composed by a rule that is not to be
    # learned.
    "lilybench": (
        _lilybench,
        ("lilybench", "ziqi"),
        ("corpus", "genre_recognition", "emotion_recognition"),
    ),
    "msu": (_msu, ("msu", "ziqi"), ("scores",)),
    "muse": (_stimuli, ("muse", "muse_ten"), ()),
    "muse_ten": (_stimuli, ("muse", "muse_ten"), ()),
    "musictheorybench": (_musictheorybench, ("musictheorybench", "ziqi"), ()),
    "ziqi": (_ziqi, ("musictheorybench", "ziqi"), ()),
}
"""Dataset → what composes its rows, the default test sets that these are compared with, and configs
that it lacks.
"""
