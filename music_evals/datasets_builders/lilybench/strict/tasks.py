"""Strict rows of the tasks on Mutopia: no word of the score gives the answer away, and LilyPond
made the ground truth.

The score is the piece's canonical text (`music_evals.notation.lilypond.canonical`). At most two
pieces of an opus are asked about per task, since they have more in common than their music.

*Options tell nothing*, see `options`. The options are keys of nearly the same signature, metres of
measures about as long, composers born about the same time, or titles of the same kind of piece.
Composers that may be one person under two names are not options together. Neither are titles that
differ only in numbers and keys (``Étude No. 4``, ``Étude No. 7``), or of which one contains the
other. Titles that name a key are left out.

*Metres* among the options have measures of different lengths, because beams are not written:
nothing but taste decides between 3/4 and 6/8, or 4/4 and 2/2. For the same reason note lengths are
not asked of scores with a masked metre.

*Measures* in order, and the next one, see `passages`.

*Genres* are periods with periods, and forms with forms, so that one option alone is right. A period
is asked for only if the composer was born in its years (`PERIODS`).

*Note lengths* are asked of metres over 2, 4, 8 and 16, and these are the options. A lower number 1
is left out: such music counts in breves or semibreves, and which of them is the beat is a matter of
opinion. As hardly any music has 16, a guesser who knows that is right in one of three of these
rows.

*Draws are stable.* A hash of the seed, the task and the piece decides which pieces are taken first,
and a row's own choices are drawn from these alone. One piece less takes its row with it. If it was
the last of its value, the three rows that share its options change too, and sometimes those of
another four.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache as cached
from itertools import chain, islice
from typing import Any, Final

from music_evals.datasets_builders.lilybench import facts
from music_evals.datasets_builders.lilybench.rows import (
    CLEAN,
    CORRUPTIONS,
    FIELDS,
    Corruption,
    Field,
    TaskName,
    TaskRow,
    stable_hash,
    task_row,
)
from music_evals.datasets_builders.lilybench.strict.errors import (
    corrupt,
    find_errors,
    has_false_tie,
    later_commands,
    signature_of,
)
from music_evals.datasets_builders.lilybench.strict.looks import check_looks
from music_evals.datasets_builders.lilybench.strict.options import (
    Grouping,
    collection_ranks,
    draw_questions,
    fixed_options,
    near_fours,
)
from music_evals.datasets_builders.lilybench.strict.outline import outline
from music_evals.datasets_builders.lilybench.strict.passages import continuations, orders
from music_evals.datasets_builders.lilybench.strict.survey import Usable
from music_evals.notation.lilypond.syntax.languages import NoteName

MASK: Final = "?"  # replaces a masked key or metre
_MASKED: Final[Mapping[str, re.Pattern[str]]] = {
    "\\key": re.compile(r"(?<=\\key )\S+ \\\S+"),
    "\\time": re.compile(r"(?<=\\time )\S+"),
}
_NOTE_LENGTHS: Final = ("2", "4", "8", "16")
_ATTEMPTS: Final = 4  # most rows of one kind of error on one piece
_FEWER: Final = (
    "bar_sequencing",
    "next_bar_prediction",
    "composer_recognition",
    "genre_recognition",
)
"""Tasks with fewer rows than asked for if the pieces give no more, because not every piece suits
them.
"""
_PER_OPUS: Final = 2  # most pieces of an opus in a task; an id without an opus has two parts


def make_rows(task: TaskName, pieces: Sequence[Usable], seed: int, size: int) -> list[TaskRow]:
    """Make the strict rows of a task on Mutopia, sorted by id.

    The draws of a task do not depend on the other tasks. For ``error_detection`` the size is the
    number of corrupted rows, a fifth of each kind; in addition there are as many clean rows as of a
    kind. ValueError if the pieces give fewer than `size` (tasks of `_FEWER` then have fewer), or if
    `check_looks` refuses the rows.
    """
    salt = f"{seed} strict {task}"
    ranks = collection_ranks(pieces, salt)
    pieces = [piece for piece in pieces if piece.id.count("/") < 2 or ranks[piece.id] < _PER_OPUS]
    if task == "error_detection":
        return sorted(_error_detection(pieces, salt, seed, size), key=lambda row: row["id"])
    if task in ("metadata_qa", "metadata_prediction"):
        rows = _metadata_rows(task, pieces, salt, size)
    elif task in _FEWER:
        rows = [*islice(_MAKERS[task](pieces, salt), size)]
    else:
        rows = _take(task, _MAKERS[task](pieces, salt), size)
    if task not in ("bar_count", "bar_sequencing"):
        check_looks(task, rows)
    return sorted(rows, key=lambda row: row["id"])


def _draw(salt: str, piece: Usable) -> random.Random:
    return random.Random(f"{salt}\0{piece.id}")


def _in_order(pieces: Sequence[Usable], salt: str) -> list[Usable]:
    """Sort by hash: one piece of every collection first, then a second of each."""
    ranks = collection_ranks(pieces, salt)
    return sorted(pieces, key=lambda piece: (ranks[piece.id], stable_hash(salt, piece.id)))


def _take(task: str, rows: Iterable[TaskRow], size: int) -> list[TaskRow]:
    taken = list(islice(rows, size))
    if len(taken) < size:
        raise ValueError(f"{task}: {size} rows are needed, and the pieces give {len(taken)}")
    return taken


def _row(
    task: TaskName, piece: Usable, answer: str, score: str | None = None, **more: Any
) -> TaskRow:
    return task_row(
        task, "strict", piece.id, answer, score=piece.score if score is None else score, **more
    )


def _shuffled(right: str, wrong: Iterable[str], draw: random.Random) -> tuple[list[str], str]:
    options = [right, *wrong]
    draw.shuffle(options)
    return options, str(options.index(right))


def _choice_rows(
    task: TaskName,
    pieces: Iterable[Usable],
    values: Mapping[str, str],
    salt: str,
    grouping: Grouping,
    *,
    kind: str = "",
    scores: Mapping[str, str] | None = None,
) -> Iterator[TaskRow]:
    """Rows that ask for a value; `values` and `scores` are by id, and pieces without one of them
    are left out.
    """
    with_value = [
        piece for piece in pieces if piece.id in values and (scores is None or piece.id in scores)
    ]
    for piece, choices, place in draw_questions(with_value, values, salt, grouping):
        right = values[piece.id]
        options, _ = _shuffled(
            right, (value for value in choices if value != right), _draw(salt, piece)
        )
        options.remove(right)
        options.insert(place, right)
        score = None if scores is None else scores[piece.id]
        yield _row(task, piece, str(place), score, kind=kind, options=options)


def _bar_count(pieces: Sequence[Usable], salt: str) -> Iterator[TaskRow]:
    return (
        _row("bar_count", piece, str(piece.structure.measures)) for piece in _in_order(pieces, salt)
    )


# --- key, metre, note length
# ------------------------------------------------------------------------------------------


def _metadata(piece: Usable, field: Field) -> str | None:
    """A value; None if it has no name, or differs between (transposing) staves."""
    if field == "key":
        names = {key.name for key in piece.structure.keys if key.moment == 0}
        return names.pop() if len(names) == 1 else None
    metre = piece.structure.metres[0]
    if field == "metre":
        return metre.name
    return name if (name := str(metre.denominator)) in _NOTE_LENGTHS else None


def _signature(key: str) -> int:
    tonic, _, mode = key.partition(" ")
    alteration = Fraction(tonic.endswith("-sharp") - tonic.endswith("-flat"))
    return signature_of(NoteName("CDEFGAB".index(tonic[0]), alteration), mode)


_GROUPINGS: Final[Mapping[Field, Grouping]] = {
    "key": near_fours(lambda key, other: abs(_signature(key) - _signature(other))),
    "metre": near_fours(
        lambda metre, other: max(
            Fraction(metre) / Fraction(other), Fraction(other) / Fraction(metre)
        ),
        lambda metre, other: Fraction(metre) == Fraction(other),
    ),
    "note_length": fixed_options(_NOTE_LENGTHS),
}


def _metadata_rows(task: TaskName, pieces: Sequence[Usable], salt: str, size: int) -> list[TaskRow]:
    rows: list[TaskRow] = []
    fields = FIELDS if task == "metadata_qa" else FIELDS[:2]
    for index, field in enumerate(fields):
        share = size // len(fields) + (index < size % len(fields))
        shown = {
            piece.id: piece.score if task == "metadata_qa" else _masked(piece, field)
            for piece in pieces
        }
        scores = {name: text for name, text in shown.items() if text is not None}
        values = {
            piece.id: value
            for piece in pieces
            if piece.id in scores and (value := _metadata(piece, field))
        }
        choices = _choice_rows(
            task, pieces, values, f"{salt} {field}", _GROUPINGS[field], kind=field, scores=scores
        )
        rows += _take(f"{task} ({field})", choices, share)
    return rows


def _masked(piece: Usable, field: Field) -> str | None:
    """The score with every key or time signature masked; None if it changes."""
    signatures = piece.structure.keys if field == "key" else piece.structure.metres
    if len({signature.name for signature in signatures}) != 1:
        return None
    return _MASKED["\\key" if field == "key" else "\\time"].sub(MASK, piece.score)


# --- measures
# --------------------------------------------------------------------------------------------------


def _sequences(piece: Usable, draw: random.Random) -> Iterator[TaskRow]:
    for passages, number in orders(piece, draw):
        order = list(range(len(passages)))
        while order == sorted(order):
            draw.shuffle(order)
        answer = "".join(str(order.index(place)) for place in range(len(passages)))
        options = [passages[place] for place in order]
        yield _row("bar_sequencing", piece, answer, "", options=options, measure=number)


def _continuations(piece: Usable, draw: random.Random) -> Iterator[TaskRow]:
    for kind, shown, right, wrong, number in continuations(piece, draw):
        options, answer = _shuffled(right, wrong, draw)
        yield _row(
            "next_bar_prediction", piece, answer, shown, kind=kind, options=options, measure=number
        )


def _per_piece(
    pieces: Sequence[Usable], make: Callable[[Usable, random.Random], Iterator[TaskRow]], salt: str
) -> Iterator[TaskRow]:
    """One row of each piece that gives any."""
    rows = (next(make(piece, _draw(salt, piece)), None) for piece in _in_order(pieces, salt))
    return (row for row in rows if row is not None)


# --- whole pieces
# --------------------------------------------------------------------------------------------------


def _captioning(pieces: Sequence[Usable], salt: str) -> Iterator[TaskRow]:
    titles = {
        piece.id: title
        for piece in pieces
        if (title := facts.title_of(piece.header)) is not None and not facts.names_a_key(title)
    }
    counts = Counter(title.casefold() for title in titles.values())
    unique = {name: title for name, title in titles.items() if counts[title.casefold()] == 1}
    traits = {
        unique[piece.id]: (
            facts.title_kind(unique[piece.id]),
            facts.style_of(piece.header),
            facts.instrument_of(piece.header),
        )
        for piece in pieces
        if piece.id in unique
    }

    def differences(title: str, other: str) -> tuple[bool, ...]:
        return tuple(
            trait != other_trait
            for trait, other_trait in zip(traits[title], traits[other], strict=True)
        )

    return _choice_rows(
        "music_captioning",
        pieces,
        unique,
        salt,
        near_fours(differences, cached(facts.are_siblings)),
    )


def _composers(pieces: Sequence[Usable], salt: str) -> Iterator[TaskRow]:
    composers = ((piece.id, facts.composer_of(piece.header, piece.id)) for piece in pieces)
    dated = {
        name: composer
        for name, composer in composers
        if composer is not None and composer.born is not None
    }
    by_name = {composer.name: composer for composer in dated.values()}
    grouping = near_fours(
        lambda name, other: abs((by_name[name].born or 0) - (by_name[other].born or 0)),
        lambda name, other: facts.may_be_one(by_name[name], by_name[other]),
    )
    names = {name: composer.name for name, composer in dated.items()}
    return _choice_rows(
        "composer_recognition", pieces, names, salt, grouping, scores=_outlines(pieces)
    )


def _genres(pieces: Sequence[Usable], salt: str) -> Iterator[TaskRow]:
    styles: dict[str, str] = {}
    for piece in pieces:
        style, composer = (
            facts.style_of(piece.header) or "",
            facts.composer_of(piece.header, piece.id),
        )
        if style in facts.FORMS or (
            composer is not None and composer.born in facts.PERIODS.get(style, ())
        ):
            styles[piece.id] = style
    grouping = near_fours(
        lambda *_: 0, lambda style, other: (style in facts.PERIODS) != (other in facts.PERIODS)
    )
    return _choice_rows(
        "genre_recognition", pieces, styles, salt, grouping, scores=_outlines(pieces)
    )


def _outlines(pieces: Iterable[Usable]) -> dict[str, str]:
    return {piece.id: text for piece in pieces if (text := outline(piece.score)) is not None}


# --- errors
# --------------------------------------------------------------------------------------------------


def _error_detection(pieces: Sequence[Usable], salt: str, seed: int, size: int) -> list[TaskRow]:
    """Rows of each kind from all pieces that can hold it, and clean ones from the pieces of those
    rows.

    So no piece tells whether it has an error. If possible, half of the wrong keys and clefs are in
    pieces that have such commands after measure 1.
    """
    share = size // len(CORRUPTIONS)
    by_id = {piece.id: piece for piece in pieces}
    is_clean = cached(
        lambda name: not find_errors(by_id[name].score) and not has_false_tie(by_id[name].score)
    )

    rows: list[TaskRow] = []
    for kind in CORRUPTIONS:
        order = _in_order(pieces, f"{salt} {kind}")
        kind_rows: list[TaskRow] = []
        if kind == "invalid_metadata":
            later = [piece for piece in order if later_commands(piece.score)]
            kind_rows = _corrupted_rows(kind, later, kind_rows, (share + 1) // 2, is_clean, seed)
        kind_rows = _corrupted_rows(kind, order, kind_rows, share, is_clean, seed)
        rows += _take(f"error_detection ({kind})", kind_rows, share)
    corrupted = [row["piece"] for row in sorted(rows, key=lambda row: stable_hash(salt, row["id"]))]
    rest = (piece.id for piece in _in_order(pieces, salt))
    names = dict.fromkeys(name for name in chain(corrupted, rest) if is_clean(name))
    clean = (_row("error_detection", by_id[name], "none", kind=CLEAN) for name in names)
    return [*rows, *_take(f"error_detection ({CLEAN})", clean, share)]


def _corrupted_rows(
    kind: Corruption,
    pieces: Sequence[Usable],
    rows: Sequence[TaskRow],
    size: int,
    is_clean: Callable[[str], bool],
    seed: int,
) -> list[TaskRow]:
    """Add rows up to a number, or fewer: of pieces that have none yet, then of other places in any
    piece.
    """
    by_id = {row["id"]: row for row in rows}
    used = {row["piece"] for row in rows}
    for attempt in range(_ATTEMPTS):
        for piece in pieces:
            if len(by_id) < size and (attempt or piece.id not in used) and is_clean(piece.id):
                result = corrupt(piece.score, kind, seed=seed + attempt)
                if result is not None:
                    text, number = result
                    row = _row(
                        "error_detection", piece, str(number), text, kind=kind, measure=number
                    )
                    by_id.setdefault(row["id"], row)
    return list(by_id.values())


_MAKERS: Final[Mapping[TaskName, Callable[[Sequence[Usable], str], Iterator[TaskRow]]]] = {
    "bar_count": _bar_count,
    "bar_sequencing": lambda pieces, salt: _per_piece(pieces, _sequences, salt),
    "next_bar_prediction": lambda pieces, salt: _per_piece(pieces, _continuations, salt),
    "music_captioning": _captioning,
    "composer_recognition": _composers,
    "genre_recognition": _genres,
}
