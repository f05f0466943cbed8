"""Questions computed on scores of music21's corpus, or on scores in files."""

from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from itertools import chain, starmap
from pathlib import Path

from music_evals.datasets_builders.dataset_io import (
    GENERATED,
    DatasetError,
    make_provenance,
    refusals,
)
from music_evals.datasets_builders.msu.questions.answerability import shows_words
from music_evals.datasets_builders.msu.questions.compose import (
    Candidates,
    Composer,
    UnsuitableScoreError,
    candidates,
    compose_evenly,
)
from music_evals.datasets_builders.msu.questions.kind import ScoreQuestion
from music_evals.datasets_builders.msu.rows import (
    DEFAULT_SEED,
    NAME,
    SPLITS,
    VERSION,
    Plan,
    QuestionRow,
    ScoreRow,
    by_split,
    split_works,
)
from music_evals.datasets_builders.msu.works import Work, default_works
from music_evals.datasets_builders.progress import OnPiece
from music_evals.notation.abc.writing import score_to_abc
from music_evals.notation.extras import MissingLibraryError
from music_evals.notation.scores.pages import shown_text
from music_evals.notation.scores.preparing import SUFFIXES, ScoreError, score_to_musicxml
from music_evals.notation.scores.reading import allowance_of_score, count_tunes
from music_evals.notation.subprocesses import Allowance, LimitError, map_in_subprocess

OWN_SCORES = "own-scores"
"""`Provenance.source` of questions on the user's own scores."""


def build_generated(
    seed: int = DEFAULT_SEED,
    works: Sequence[Work] | None = None,
    *,
    on_score: OnPiece = lambda *_: None,
) -> Plan:
    """Compute questions on public-domain scores of music21's corpus.

    Args:
        seed: any integer.
        works: the scores; by default all `default_works`.
        on_score: called with "reading" and the number of works after every work.
    """
    return _compute(default_works() if works is None else works, seed, GENERATED, on_score)


def build_own(
    folder: Path, seed: int = DEFAULT_SEED, *, on_score: OnPiece = lambda *_: None
) -> Plan:
    """Compute questions on the scores of a folder: MusicXML, MXL, MIDI, ABC or kern files, at any
    depth.

    Every tune of an ABC file is a score. `Plan.left_out` names the scores that cannot be read or do
    not give twelve questions. DatasetError if none is left.
    """
    folder = folder.expanduser()
    if not folder.is_dir():
        raise DatasetError(f"{folder} is not a folder; a folder of scores is needed")
    files = filter(Path.is_file, folder.rglob("*"))
    paths = sorted(path for path in files if path.suffix.lower() in SUFFIXES)
    if not paths:
        raise DatasetError(
            f"{folder} holds no scores; files are read that end in {', '.join(sorted(SUFFIXES))}"
        )
    named = ((path, path.relative_to(folder).as_posix()) for path in paths)
    return _compute(list(chain.from_iterable(starmap(_works, named))), seed, OWN_SCORES, on_score)


def _works(path: Path, name: str) -> list[Work]:
    """The score of a file, or the tunes of an ABC file of several."""
    count = count_tunes(path)
    if count < 2:
        return [Work(name, str(path))]
    return [Work(f"{name}#{tune}", str(path), tune=tune) for tune in range(1, count + 1)]


def _allowance(work: Work) -> Allowance:
    """The limits for the score of a user; works of music21's corpus have more."""
    return Allowance() if work.title else allowance_of_score(Path(work.path).stat().st_size)


def _compute(works: Sequence[Work], seed: int, source: str, on_score: OnPiece) -> Plan:
    scores = {}
    pools = {}
    left_out = {}
    results = map_in_subprocess(partial(_read, seed=seed), works, _allowance)
    for work, result in zip(works, results, strict=True):
        if isinstance(result, LimitError):
            left_out[work.name] = f"reading it {result}"
        elif isinstance(result, str):
            left_out[work.name] = result
        else:
            scores[work.name], pools[work.name] = result
        on_score("reading", len(works))
    splits = split_works(list(scores.values()), seed, by_composer=True)
    composers = {
        split: Composer((pools[name] for name in pools if splits[name] == split), seed)
        for split in SPLITS
    }
    leveled = compose_evenly(pools) if works and works[0].difficulty > 1 else {}
    questions = []
    for name, pool in pools.items():
        try:
            composed = leveled.get(name) or composers[splits[name]].compose(name, pool)
        except UnsuitableScoreError as error:
            left_out[name] = str(error)
            del scores[name]
        else:
            questions += _question_rows(name, composed)
    if not scores:
        name, reason = next(iter(left_out.items()), ("", "there are no works"))
        raise DatasetError(f"none of {len(works)} scores gives questions; {name}: {reason}")
    provenance = make_provenance(
        NAME,
        VERSION,
        source,
        seed=seed,
        made_with={"music21": version("music21"), "verovio": version("verovio")},
        anomalies=refusals(left_out),
    )
    by_score = by_split(list(scores.values()), splits)
    return Plan(by_score, by_split(questions, splits), provenance, engrave=True, left_out=left_out)


def _question_rows(name: str, questions: Sequence[ScoreQuestion]) -> list[QuestionRow]:
    levels = [question.level for question in questions]
    return [
        QuestionRow(
            id=f"{name}-level{question.level}-{levels[:number].count(question.level) + 1}",
            score_id=name,
            level=question.level,
            kind=question.kind,
            question=question.text,
            answer=question.answer,
            answer_type=question.answer_type,
        )
        for number, question in enumerate(questions)
    ]


def _read(work: Work, seed: int) -> tuple[ScoreRow, Candidates] | str:
    """Return a score without pages and the possible questions, or the reason to leave it out."""
    try:
        score = work.load()
        pool = candidates(score, seed=seed, name=work.name, difficulty=work.difficulty)
        abc = score_to_abc(score)
        musicxml = score_to_musicxml(score)
        # Answers in words, and names of parts, must be readable on the pages.
        text = shown_text(musicxml)
        shown: dict[str, list[ScoreQuestion]] = {}
        for kind, questions in pool.items():
            shown[kind] = [
                question
                for question in questions
                if shows_words(text, kind, question.text, question.answer)
            ]
    except (ScoreError, UnsuitableScoreError) as error:
        return str(error)
    except (MemoryError, MissingLibraryError):
        raise
    # music21 raises exceptions of any class, and one score must not stop the others.
    except Exception as error:
        return f"music21 fails on it ({type(error).__name__}: {str(error)[:200]})"
    row = ScoreRow(
        score_id=work.name,
        title=score.metadata.title or "",
        composer=score.metadata.composer or "",
        abc=abc,
        images=[],
        pdf=None,
        musicxml=musicxml,
        source=work.source,
    )
    return row, shown
