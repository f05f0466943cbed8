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

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache as cached
from itertools import chain, islice, product
from operator import itemgetter, ne
from random import Random
from typing import Any

from music_evals.datasets_builders.lilybench import facts
from music_evals.datasets_builders.lilybench.rows import (
    CLEAN,
    CORRUPTIONS,
    FIELDS,
    Corruption,
    Field,
    TaskName,
    TaskRow,
    shuffled,
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

_Pieces = Sequence[Usable]
_Rows = Iterator[TaskRow]

MASK = "?"  # replaces a masked key or metre
_MASKED: Mapping[Field, re.Pattern[str]] = {
    "key": re.compile(r"(?<=\\key )\S+ \\\S+"),
    "metre": re.compile(r"(?<=\\time )\S+"),
}
_NOTE_LENGTHS = ("2", "4", "8", "16")
_ATTEMPTS = 4  # most rows of one kind of error on one piece
_FEWER = (
    "bar_sequencing",
    "next_bar_prediction",
    "composer_recognition",
    "genre_recognition",
)
"""Tasks with fewer rows than asked for if the pieces give no more, because not every piece suits
them.
"""
_SEVERAL = ("metadata_qa", "metadata_prediction", "error_detection")
"""Tasks with several questions on a piece."""
_PER_PIECE = 2  # most rows on a piece in such a task
_COMPOSERS = 5  # a composer has at most this part of a task's rows: a fifth
_PER_OPUS = 2  # most pieces of an opus in a task; an id without an opus has two parts


def make_rows(task: TaskName, pieces: _Pieces, seed: int, size: int) -> list[TaskRow]:
    """Make the strict rows of a task on Mutopia, sorted by id.

    The draws of a task do not depend on the other tasks. For ``error_detection`` the size is the
    number of corrupted rows, a fifth of each kind; in addition there are as many clean rows as of a
    kind. ValueError if the pieces give fewer than `size` (tasks of `_FEWER` then have fewer), or if
    `refuse_leaks` refuses the rows.
    """
    salt = f"{seed} strict {task}"
    ranks = collection_ranks(pieces, salt)
    pieces = [piece for piece in pieces if piece.id.count("/") < 2 or ranks[piece.id] < _PER_OPUS]
    rows_per_piece = _PER_PIECE if task in _SEVERAL else 1
    pieces = _spread(pieces, salt, max(size // (_COMPOSERS * rows_per_piece), _PER_OPUS))
    if task == "error_detection":
        return sorted(_error_detection(pieces, salt, seed, size), key=itemgetter("id"))
    if task in ("metadata_qa", "metadata_prediction"):
        rows = _metadata_rows(task, pieces, salt, size)
    elif task in _FEWER:
        rows = [*islice(_MAKERS[task](pieces, salt), size)]
    else:
        rows = _take(task, _MAKERS[task](pieces, salt), size)
    if task not in ("bar_count", "bar_sequencing"):
        # Here, because SciPy takes a second to load.
        from music_evals.datasets_builders.questions.audit import refuse_leaks

        # Guessers learn from other folders.
        by_folder = [{**row, "piece": _folder(task, row["piece"])} for row in rows]
        refuse_leaks("lilybench", task, "text", by_folder)
    return sorted(rows, key=itemgetter("id"))


def _folder(task: TaskName, piece: str) -> str:
    """The folder of a piece, whose pieces are of one composer and often by one editor. Where a
    composer is asked for: the folder below the composer's, or the piece if there is none.
    """
    if task != "composer_recognition":
        return piece.partition("/")[0]
    return piece.rpartition("/")[0] if piece.count("/") > 1 else piece


def _spread(pieces: _Pieces, salt: str, most: int) -> list[Usable]:
    """At most so many pieces of each composer; as many as there are by nobody who is known."""
    counts: Counter[str] = Counter()
    spread = []
    for piece in sorted(pieces, key=lambda piece: stable_hash(salt, piece.id)):
        composer = facts.composer_of(piece.header, piece.id)
        name = composer.name if composer else ""
        counts[name] += 1
        if not name or counts[name] <= most:
            spread.append(piece)
    return spread


def _draw(salt: str, piece: Usable) -> Random:
    return Random(f"{salt}\0{piece.id}")


def _in_order(pieces: _Pieces, salt: str) -> list[Usable]:
    """Sort by hash: one piece of every collection first, then a second of each."""
    ranks = collection_ranks(pieces, salt)
    return sorted(pieces, key=lambda piece: (ranks[piece.id], stable_hash(salt, piece.id)))


def _take(task: str, rows: Iterable[TaskRow], size: int) -> list[TaskRow]:
    taken = list(islice(rows, size))
    if len(taken) < size:
        raise ValueError(f"{task}: {size} rows are needed, and the pieces give {len(taken)}")
    return taken


def _row(task: TaskName, piece: Usable, answer: str, score: str, **more: Any) -> TaskRow:
    return task_row(task, "strict", piece.id, answer, score=score, **more)


def _choice_rows(
    task: TaskName,
    pieces: Iterable[Usable],
    values: Mapping[str, str],
    salt: str,
    grouping: Grouping,
    *,
    kind: str = "",
    scores: Mapping[str, str] | None = None,
) -> _Rows:
    """Rows that ask for a value; `values` and `scores` are by id, and pieces without one of them
    are left out.
    """
    if scores is None:
        scores = {piece.id: piece.score for piece in pieces}
    with_value = [piece for piece in pieces if piece.id in values and piece.id in scores]
    for piece, choices, place in draw_questions(with_value, values, salt, grouping):
        right = values[piece.id]
        wrong = [value for value in choices if value != right]
        options, _ = shuffled([right, *wrong], right, _draw(salt, piece))
        options.remove(right)
        options.insert(place, right)
        yield _row(task, piece, str(place), scores[piece.id], kind=kind, options=options)


def _bar_count(pieces: _Pieces, salt: str) -> _Rows:
    for piece in _in_order(pieces, salt):
        yield _row("bar_count", piece, str(piece.structure.measures), piece.score)


# --- key, metre, note length ---


def _metadata(piece: Usable, field: Field) -> str | None:
    """A value; None if it has no name, or differs between (transposing) staves."""
    if field == "key":
        names = {key.name for key in piece.structure.keys if key.moment == 0}
        return names.pop() if len(names) == 1 else None
    metre = piece.structure.metres[0]
    if field == "metre":
        return metre.name
    length = str(metre.denominator)
    return length if length in _NOTE_LENGTHS else None


def _signature(key: str) -> int:
    tonic, _, mode = key.partition(" ")
    alteration = Fraction(tonic.endswith("-sharp") - tonic.endswith("-flat"))
    return signature_of(NoteName("CDEFGAB".index(tonic[0]), alteration), mode)


def _ratio(metre: str, other: str) -> Fraction:
    """How many times as long the longer measure is."""
    ratio = Fraction(metre) / Fraction(other)
    return max(ratio, 1 / ratio)


_GROUPINGS: Mapping[Field, Grouping] = {
    "key": near_fours(lambda key, other: abs(_signature(key) - _signature(other))),
    "metre": near_fours(_ratio, lambda metre, other: Fraction(metre) == Fraction(other)),
    "note_length": fixed_options(_NOTE_LENGTHS),
}


def _metadata_rows(task: TaskName, pieces: _Pieces, salt: str, size: int) -> list[TaskRow]:
    rows: list[TaskRow] = []
    fields = FIELDS if task == "metadata_qa" else FIELDS[:2]
    for index, field in enumerate(fields):
        scores = _without_none({piece.id: _shown(task, piece, field) for piece in pieces})
        uses = Counter(row["piece"] for row in rows)
        shown = [piece for piece in pieces if piece.id in scores and uses[piece.id] < _PER_PIECE]
        values = _without_none({piece.id: _metadata(piece, field) for piece in shown})
        choices = _choice_rows(
            task, shown, values, f"{salt} {field}", _GROUPINGS[field], kind=field, scores=scores
        )
        share = size // len(fields) + (index < size % len(fields))
        rows += _take(f"{task} ({field})", choices, share)
    return rows


def _without_none(values: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}


def _shown(task: TaskName, piece: Usable, field: Field) -> str | None:
    """The score, for one task with every key or time signature masked; None if it changes."""
    if task == "metadata_qa":
        return piece.score
    signatures = piece.structure.keys if field == "key" else piece.structure.metres
    if len({signature.name for signature in signatures}) != 1:
        return None
    return _MASKED[field].sub(MASK, piece.score)


# --- measures ---


def _sequences(piece: Usable, draw: Random) -> _Rows:
    for passages, number in orders(piece, draw):
        order = list(range(len(passages)))
        while order == sorted(order):
            draw.shuffle(order)
        answer = "".join(str(order.index(place)) for place in range(len(passages)))
        options = [passages[place] for place in order]
        yield _row("bar_sequencing", piece, answer, "", options=options, measure=number)


def _continuations(piece: Usable, draw: Random) -> _Rows:
    for kind, shown, right, wrong, number in continuations(piece, draw):
        options, answer = shuffled([right, *wrong], right, draw)
        yield _row(
            "next_bar_prediction", piece, answer, shown, kind=kind, options=options, measure=number
        )


def _per_piece(pieces: _Pieces, make: Callable[[Usable, Random], _Rows], salt: str) -> _Rows:
    """One row of each piece that gives any."""
    rows = (next(make(piece, _draw(salt, piece)), None) for piece in _in_order(pieces, salt))
    return (row for row in rows if row is not None)


# --- whole pieces ---


def _captioning(pieces: _Pieces, salt: str) -> _Rows:
    titles = _without_none({piece.id: facts.title_of(piece.header) for piece in pieces})
    titles = {name: title for name, title in titles.items() if not facts.names_a_key(title)}
    counts = Counter(title.casefold() for title in titles.values())
    unique = {name: title for name, title in titles.items() if counts[title.casefold()] == 1}
    headers = {unique[piece.id]: piece.header for piece in pieces if piece.id in unique}
    traits = {
        title: (facts.title_kind(title), facts.style_of(header), facts.instrument_of(header))
        for title, header in headers.items()
    }

    def differences(title: str, other: str) -> tuple[bool, ...]:
        return tuple(map(ne, traits[title], traits[other]))

    grouping = near_fours(differences, cached(facts.are_siblings))
    return _choice_rows("music_captioning", pieces, unique, salt, grouping)


def _composers(pieces: _Pieces, salt: str) -> _Rows:
    names = {}
    by_name = {}
    births = {}
    for piece in pieces:
        composer = facts.composer_of(piece.header, piece.id)
        if composer is not None and composer.born is not None:
            names[piece.id] = composer.name
            by_name[composer.name] = composer
            births[composer.name] = composer.born
    grouping = near_fours(
        lambda name, other: abs(births[name] - births[other]),
        lambda name, other: facts.may_be_one(by_name[name], by_name[other]),
    )
    return _choice_rows(
        "composer_recognition", pieces, names, salt, grouping, scores=_outlines(pieces)
    )


def _genres(pieces: _Pieces, salt: str) -> _Rows:
    styles = {}
    for piece in pieces:
        style = facts.style_of(piece.header) or ""
        composer = facts.composer_of(piece.header, piece.id)
        is_in_period = composer is not None and composer.born in facts.PERIODS.get(style, ())
        if is_in_period or style in facts.FORMS:
            styles[piece.id] = style
    grouping = near_fours(
        lambda *_: 0, lambda style, other: (style in facts.PERIODS) != (other in facts.PERIODS)
    )
    return _choice_rows(
        "genre_recognition", pieces, styles, salt, grouping, scores=_outlines(pieces)
    )


def _outlines(pieces: Iterable[Usable]) -> dict[str, str]:
    return _without_none({piece.id: outline(piece.score) for piece in pieces})


# --- errors ---


def _error_detection(pieces: _Pieces, salt: str, seed: int, size: int) -> list[TaskRow]:
    """Rows of each kind from all pieces that can hold it, and clean ones from the pieces of those
    rows.

    So no piece tells whether it has an error. If possible, half of the wrong keys and clefs are in
    pieces that have such commands after measure 1.
    """
    share = size // len(CORRUPTIONS)
    by_id = {piece.id: piece for piece in pieces}

    # Finding errors takes time: it is done at most once per piece, and only if the piece's turn
    # comes.
    @cached
    def is_clean(name: str) -> bool:
        score = by_id[name].score
        return not find_errors(score) and not has_false_tie(score)

    rows: list[TaskRow] = []
    for kind in CORRUPTIONS:
        order = _in_order(pieces, f"{salt} {kind}")
        kind_rows: dict[str, TaskRow] = {}
        uses = Counter(row["piece"] for row in rows)
        if kind == "invalid_metadata":
            later = [piece for piece in order if later_commands(piece.score)]
            _add_corrupted(kind_rows, kind, later, (share + 1) // 2, is_clean, seed, uses)
        _add_corrupted(kind_rows, kind, order, share, is_clean, seed, uses)
        rows += _take(f"error_detection ({kind})", kind_rows.values(), share)
    corrupted = [row["piece"] for row in sorted(rows, key=lambda row: stable_hash(salt, row["id"]))]
    rest = (piece.id for piece in _in_order(pieces, salt))
    uses = Counter(corrupted)
    free = (name for name in chain(corrupted, rest) if uses[name] < _PER_PIECE)
    clean = (
        _row("error_detection", by_id[name], "none", by_id[name].score, kind=CLEAN)
        for name in dict.fromkeys(filter(is_clean, free))
    )
    return [*rows, *_take(f"error_detection ({CLEAN})", clean, share)]


def _add_corrupted(
    rows: dict[str, TaskRow],
    kind: Corruption,
    pieces: _Pieces,
    size: int,
    is_clean: Callable[[str], bool],
    seed: int,
    uses: Counter[str],
) -> None:
    """Add rows by id, up to a number, or fewer: of pieces that have none yet, then of other places
    in any piece that has fewer than `_PER_PIECE` rows of all kinds.
    """
    used = {row["piece"] for row in rows.values()}
    for attempt, piece in product(range(_ATTEMPTS), pieces):
        if len(rows) == size:
            return
        is_due = attempt > 0 or piece.id not in used
        is_free = uses[piece.id] < _PER_PIECE
        if not (is_due and is_free) or not is_clean(piece.id):
            continue
        result = corrupt(piece.score, kind, seed=seed + attempt)
        if result is not None:
            text, number = result
            row = _row("error_detection", piece, str(number), text, kind=kind, measure=number)
            if row["id"] not in rows:
                rows[row["id"]] = row
                uses[piece.id] += 1


_MAKERS: Mapping[TaskName, Callable[[_Pieces, str], _Rows]] = {
    "bar_count": _bar_count,
    "bar_sequencing": lambda pieces, salt: _per_piece(pieces, _sequences, salt),
    "next_bar_prediction": lambda pieces, salt: _per_piece(pieces, _continuations, salt),
    "music_captioning": _captioning,
    "composer_recognition": _composers,
    "genre_recognition": _genres,
}
