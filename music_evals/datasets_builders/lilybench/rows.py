"""The rows of LilyBench: the tasks, their sizes and columns, and the pieces that rows are made
from.

Source: arXiv 2606.08722, section 3.2 and Table 1.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Annotated, Any, Literal, NamedTuple, TypedDict, get_args

import pydantic

from music_evals.datasets_builders.dataset_io import DatasetError, features_of
from music_evals.datasets_builders.dataset_io.rows import Columns
from music_evals.datasets_builders.lilybench.facts import Header

NAME = "lilybench"
VERSION = "3.5.0"
DEFAULT_SEED = 1234

TaskName = Literal[
    "bar_count",
    "metadata_qa",
    "bar_sequencing",
    "next_bar_prediction",
    "metadata_prediction",
    "music_captioning",
    "composer_recognition",
    "genre_recognition",
    "emotion_recognition",
    "error_detection",
]
TASKS: tuple[TaskName, ...] = get_args(TaskName)

Protocol = Literal["strict", "paper"]
# How rows are made; the splits of every task's config.
PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)
SIZES: Mapping[TaskName, int] = {
    "bar_count": 100,
    "metadata_qa": 60,
    "bar_sequencing": 119,
    "next_bar_prediction": 119,
    "metadata_prediction": 60,
    "music_captioning": 60,
    "composer_recognition": 96,
    "genre_recognition": 132,
    "emotion_recognition": 120,
    "error_detection": 220,
}
"""Task → rows in the paper's Table 1; strict `error_detection` has a fifth more, without errors."""

Field = Literal["key", "metre", "note_length"]
FIELDS: tuple[Field, ...] = get_args(Field)
"""The questions of `metadata_qa` and `metadata_prediction`; the note length is the denominator of
the metre.
"""

FIELDS_AT = ("key_at", "metre_at")  # the questions of `metadata_qa` at levels 2 to 5

Continuation = Literal["tie", "repeat", "final"]
CONTINUATIONS: tuple[Continuation, ...] = get_args(Continuation)
"""What decides on the next measure in strict rows, see `strict.passages`."""

Corruption = Literal[
    "invalid_metadata",
    "invalid_content",
    "invalid_bar_duration",
    "melodic_leap",
    "accidental_outside_key",
]
CORRUPTIONS: tuple[Corruption, ...] = get_args(Corruption)
CLEAN = "clean"  # `TaskRow.kind` of a score in `error_detection` without errors
QUADRANTS = (
    "Q1: high arousal, positive valence",
    "Q2: high arousal, negative valence",
    "Q3: low arousal, negative valence",
    "Q4: low arousal, positive valence",
)
"""The strict options of `emotion_recognition`, always in this order: Russell's quadrants as EMOPIA
numbers them.
"""
# Its options as published, shuffled; the prompt explains them.
QUADRANT_LABELS = ("Q1", "Q2", "Q3", "Q4")
PER_QUADRANT = 30


class TaskRow(TypedDict):
    """A question on a score.

    - `id` is ``TASK.PROTOCOL.PIECE``. If a task asks several questions on a piece, ``.KIND`` and
      the number of a measure, ``.m12``, follow.
    - `piece` is the id of the piece in the corpus.
    - `kind` is a `Field` for the two tasks on metadata, or one of `FIELDS_AT`, a `Corruption` or
      `CLEAN` for `error_detection`, a `Continuation` for strict `next_bar_prediction`, else empty.
    - `score` is the LilyPond text to show: for `next_bar_prediction` the measures ahead, for
      `bar_sequencing` nothing.
    - `options` holds four texts to choose from, for `bar_sequencing` the four measures or passages
      in shuffled order. It is empty for `bar_count` and `error_detection`.
    - `answer` is a number of measures; the index of an option, 0 to 3; the indices of the options
      in playing order as four digits; or the numbers of the wrong measures, ascending, separated by
      spaces, or ``none``.
    """

    id: str
    piece: str
    kind: str
    score: Annotated[str, pydantic.Field(max_length=2_000_000)]
    options: list[str]
    answer: str


def task_row(
    task: TaskName,
    protocol: Protocol,
    piece: str,
    answer: str,
    *,
    score: str,
    kind: str = "",
    options: Sequence[str] = (),
    measure: int | None = None,
) -> TaskRow:
    """Make a row with its id, which includes the measure if one is given."""
    place = "" if measure is None else f"m{measure}"
    name = ".".join(filter(None, (task, protocol, piece, kind, place)))
    return TaskRow(
        id=name, piece=piece, kind=kind, score=score, options=list(options), answer=answer
    )


def shuffled(options: Iterable[str], right: str, draw: Random) -> tuple[list[str], str]:
    """Shuffle options; also return the index of the right one, as an answer."""
    in_order = list(options)
    draw.shuffle(in_order)
    return in_order, str(in_order.index(right))


def stable_hash(*parts: object) -> str:
    """Hash values for sorting: adding or removing one item does not reorder the others.

    Example:
        >>> sorted(["Air", "Gigue", "Minuet"], key=lambda title: stable_hash(7, title))
        ['Minuet', 'Air', 'Gigue']
    """
    return hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "surrogatepass")).hexdigest()


class CorpusRow(TypedDict):
    """A piece of the source; unknown facts are null.

    `text` is the piece's main file in the current syntax, and `score` its canonical form; null if
    strict tasks cannot use the piece. `measures` is counted by LilyPond; it is null if the count is
    in doubt (`reason` says why). `compiles` means exit status 0; `messages` are LilyPond's.
    `usable` says whether strict tasks may use the piece, and `reason` why not.
    """

    id: str
    text: str
    score: str | None
    composer: str | None
    title: str | None
    style: str | None
    instrument: str | None
    key: str | None
    metre: str | None
    measures: int | None
    licence: str | None
    compiles: bool
    messages: str
    usable: bool
    reason: str | None


class _Form(NamedTuple):
    kinds: Sequence[str] = ("",)
    n_options: Sequence[int] = (4,)
    answer: str = "[0-3]"


_FORMS: Mapping[TaskName, _Form] = {
    "bar_count": _Form(n_options=[0], answer=r"[1-9]\d{0,8}"),
    "metadata_qa": _Form((*FIELDS, *FIELDS_AT)),
    "next_bar_prediction": _Form(("", *CONTINUATIONS)),
    "metadata_prediction": _Form(FIELDS),
    "error_detection": _Form((*CORRUPTIONS, CLEAN), [0], r"none|(0|[1-9]\d{0,8})( [1-9]\d{0,8})*"),
}
"""Task → what kind, options and answer of its rows must be, as `TaskRow` describes them."""


def task_features(task: TaskName, columns: type = TaskRow, **form: Any) -> Any:
    """Declare the columns of a task, and check kind, options and answer of its rows.

    `form` replaces what LilyBench's rows may have: `kinds`, or `n_options`, numbers of options.
    """
    kinds, n_options, answer_form = _FORMS.get(task, _Form())._replace(**form)
    pattern = re.compile(answer_form, re.ASCII)
    is_order = task == "bar_sequencing"

    def check(kind: str, score: str, options: list[str], answer: str) -> str | None:
        if kind not in kinds:
            return f"its kind {kind!r:.100} is none of {', '.join(map(repr, kinds))}"
        if len(options) not in n_options:
            needed = "four are" if max(n_options) else "none are"
            return f"it has {len(options)} options; {needed} needed"
        has_form = pattern.fullmatch(answer) is not None
        if is_order:
            has_form = sorted(answer) == [str(place) for place in range(len(options))]
        if not has_form:
            return f"its answer {answer!r:.100} has not the form that {task} needs"
        return None if is_order or score.strip() else "its score is blank"

    return features_of(columns, check)


FEATURES: Mapping[str, Columns] = {
    **{task: task_features(task) for task in TASKS},
    "corpus": features_of(CorpusRow),
}
"""Config → declared columns."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of the source.

    Its id is a path such as ``BachJS/BWV846/wtk1-prelude1``. `text` is the piece's main file after
    ``convert-ly``, or as published if that fails. `header` has the fields of `read_header`.
    """

    id: str
    text: str
    header: Header


LeftOut = Mapping[str, str]
"""A piece, clip or file that is not used → the reason."""


def not_measured(pieces: Sequence[str]) -> DatasetError:
    """Make the error for pieces that LilyPond could not finish because of the machine; no build
    leaves them out.
    """
    named = ", ".join(pieces[:10]) + f" and {len(pieces) - 10} more" * (len(pieces) > 10)
    return DatasetError(
        f"not measured: {named}; the machine was too busy for LilyPond to come to an end. Run it "
        "again: what was read is kept"
    )
