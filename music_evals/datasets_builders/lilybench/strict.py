"""Strict rows of the tasks on Mutopia: no word of the score gives the answer away, and LilyPond made the ground truth.

What is shown is the piece's leak-free text.

*Options tell nothing.* Four pieces with four values (keys, metres, composers, styles, titles) share their options, and
each is asked about: whatever four options are shown, each of them is right as often as the others. The four are near
each other: keys of nearly the same signature, metres of measures about as long, composers born about the same time,
titles of the same kind of piece. Composers that may be one person under two names are no options together, nor are
titles that differ in numbers and keys alone (``Étude No. 4``, ``Étude No. 7``), or of which one holds the other. Values
take turns, or most keys would be C major. Only what no four pieces are left for is asked with the options of others.

*Note lengths* are asked of metres over 2, 4, 8 and 16, and these are the options. A lower number 1 is left out: music
that has it counts in breves or semibreves, and which of them is the beat is a matter of opinion. As hardly any music
has 16, a guesser who knows that is right in one of three of these rows.

*Draws are stable.* What is taken first is decided by a hash of the seed, the task and the piece, and a row's own
choices are drawn from these alone. A piece less takes its row with it; where it was the last of its value, the three
rows that share its options change too, and sometimes those of another four. Of 24 to 30 rows on 150 pieces of Mutopia,
one piece less changed 0.2 (number of measures) to 1.5 (style) on average, and 9 at most.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import cache as cached
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any, Final

from music_evals.datasets_builders.lilybench.checker import fills_its_measure, find_errors
from music_evals.datasets_builders.lilybench.corpus import Usable
from music_evals.datasets_builders.lilybench.corruptions import Corrupted, corrupt, metadata_measures
from music_evals.datasets_builders.lilybench.facts import (
    are_siblings,
    composer_of,
    instrument_of,
    may_be_one,
    style_of,
    title_kind,
    title_of,
)
from music_evals.datasets_builders.lilybench.measures import Span, find_spans
from music_evals.datasets_builders.lilybench.rows import (
    CLEAN,
    CORRUPTIONS,
    FIELDS,
    Corruption,
    Field,
    TaskName,
    TaskRow,
    not_measured,
    stable_hash,
    task_row,
)
from music_evals.notation.lilypond.structure import StructureError
from music_evals.notation.lilypond.syntax.lexer import Token, code_tokens

OPTIONS: Final = 4
MASK: Final = "?"  # what stands in place of a masked key or metre
_FIFTHS: Final = "FCGDAEB"
_MODES: Final = {"major": 0, "mixolydian": -1, "dorian": -2, "minor": -3, "phrygian": -4, "locrian": -5, "lydian": 1}
_NOTE_LENGTHS: Final = ("2", "4", "8", "16")
# Words by which a text tells its metre or key though every command of that name is masked.
_TELLTALE: Final = re.compile(
    r"timeSignature|measureLength|beatStructure|baseMoment|keySignature|keyAlteration|barNumber"
)
# Only 4/4 and 2/2 have two styles, numbers and a sign.
_STYLE_OF_METRE: Final = re.compile(r"\\(?:numeric|default)TimeSignature\b[ \t]*")
# What may stand in a measure shown alone: not what is about the score around it.
_ALONE: Final = re.compile(
    r"[{}%#$]|<<|>>|\\(?:repeat|alternative|bar|time|key|partial|new|context|set|unset|\\)\b|\\\\"
)
_SHOWN: Final = 4  # measures in the two tasks on measures
_ATTEMPTS: Final = 4  # places of a piece that a kind of error may have, one a row
_Sets = Callable[[Sequence[str], Iterable[str], str], Iterator[tuple[Sequence[str], Sequence[str]]]]
"""Of values by number of pieces left, all values, and a salt: values to ask about now, with their options."""


def make_rows(
    task: TaskName, pieces: Sequence[Usable], seed: int, size: int, *, cache: Path | None = None
) -> list[TaskRow]:
    """Make the strict rows of a task on Mutopia, by id; ValueError where the pieces do not give so many.

    Each task draws by itself. For ``error_detection`` the size is that of the corrupted rows, a fifth of each kind;
    besides there are as many clean controls as of a kind.
    """
    salt = f"{seed} strict {task}"
    if task == "error_detection":
        rows = _error_detection(pieces, salt, seed, size, cache)
    elif task in ("metadata_qa", "metadata_prediction"):
        rows = _metadata_rows(task, pieces, salt, size)
    else:
        rows = _enough(task, _MAKERS[task](pieces, salt), size)
    return sorted(rows, key=lambda row: row["id"])


def _draw(salt: str, piece: Usable) -> random.Random:
    return random.Random(f"{salt}\0{piece.id}")


def _turns(pieces: Iterable[Usable], salt: str) -> dict[str, int]:
    """By id, how many pieces of its collection come ahead: pieces of a series look alike in more than music."""
    seen: Counter[str] = Counter()
    turns = {}
    for piece in sorted(pieces, key=lambda piece: stable_hash(salt, piece.id)):
        collection = piece.id.rpartition("/")[0]
        turns[piece.id] = seen[collection]
        seen[collection] += 1
    return turns


def _in_order(pieces: Iterable[Usable], salt: str) -> list[Usable]:
    """By hash; one piece of every collection first, then a second of each."""
    pieces = list(pieces)
    turns = _turns(pieces, salt)
    return sorted(pieces, key=lambda piece: (turns[piece.id], stable_hash(salt, piece.id)))


def _enough(task: str, rows: Iterable[TaskRow], size: int) -> list[TaskRow]:
    taken = list(islice(rows, size))
    if len(taken) < size:
        raise ValueError(f"{task}: {size} rows are needed, and the pieces give {len(taken)}")
    return taken


def _row(task: TaskName, piece: Usable, answer: str, score: str | None = None, **more: Any) -> TaskRow:
    return task_row(task, "strict", piece.id, answer, score=piece.score if score is None else score, **more)


def _shuffled(true: str, others: Iterable[str], draw: random.Random) -> tuple[list[str], str]:
    """Options in random order, with the index of the true one."""
    options = [true, *others]
    draw.shuffle(options)
    return options, str(options.index(true))


def _choice_rows(
    task: TaskName,
    pieces: Iterable[Usable],
    values: Mapping[str, str],
    salt: str,
    sets: _Sets,
    *,
    kind: str = "",
    shown: Mapping[str, str] | None = None,
) -> Iterator[TaskRow]:
    """Rows that ask for a value; `values` and `shown` are by the pieces' ids, and pieces without a value left out."""
    for piece, asked in _asked([piece for piece in pieces if piece.id in values], values, salt, sets):
        true = values[piece.id]
        options, answer = _shuffled(true, (other for other in asked if other != true), _draw(salt, piece))
        score = None if shown is None else shown[piece.id]
        yield _row(task, piece, answer, kind=kind, score=score, options=options)


def _asked(
    pieces: Sequence[Usable], values: Mapping[str, str], salt: str, sets: _Sets
) -> Iterator[tuple[Usable, Sequence[str]]]:
    """Pieces with their options, by turns in which each value is asked for once at most."""
    turns = _turns(pieces, salt)
    left: dict[str, list[Usable]] = defaultdict(list)
    for piece in pieces:
        left[values[piece.id]].append(piece)
    pieces_of = {value: len(some) for value, some in left.items()}
    for turn in range(max(pieces_of.values(), default=0)):
        now = f"{salt} {turn}"
        # The piece of a value that had to wait stays to the end; in the next turn it would move all that follow.
        still = sorted(
            (value for value in left if pieces_of[value] > turn),
            key=lambda value: (-pieces_of[value], stable_hash(now, value)),
        )
        for asked, options in sets(still, left, now):
            for value in sorted(asked, key=lambda value: stable_hash(now, value)):
                # By a hash of the turn too, so that a piece less does not move all the later ones a turn ahead.
                piece = min(left[value], key=lambda piece: (turns[piece.id], stable_hash(now, piece.id)))
                left[value].remove(piece)
                yield piece, options
    rest = (piece for some in left.values() for piece in some)
    for piece in sorted(rest, key=lambda piece: stable_hash(salt, piece.id)):
        for _, options in sets([values[piece.id]], left, salt):
            yield piece, options


def _fours(far: Callable[[str, str], Any], alike: Callable[[str, str], bool] = lambda *_: False) -> _Sets:
    """Values by fours that are near each other, no two of them alike; one value after the other chooses its mates."""

    def sets(
        values: Sequence[str], everything: Iterable[str], salt: str
    ) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
        # Of the last few values, those of the fewest pieces wait: the more fours there will be.
        some = values[:OPTIONS] if len(values) < 2 * OPTIONS else values
        order = sorted(some, key=lambda value: stable_hash(salt, value))
        free = dict.fromkeys(order)
        fours = []
        for value in order:
            if value in free and len(four := [value, *nearest(value, free, salt)]) == OPTIONS:
                fours.append(four)
                for one in four:
                    del free[one]
        if fours:
            yield from ((four, four) for four in fours)
        else:
            options = ((value, [value, *nearest(value, everything, salt)]) for value in values)
            yield from (([value], some) for value, some in options if len(some) == OPTIONS)

    def nearest(value: str, others: Iterable[str], salt: str) -> list[str]:
        found: list[str] = []
        for other in sorted(others, key=lambda other: (far(value, other), stable_hash(salt, value, other))):
            if len(found) == OPTIONS - 1:
                break
            if other != value and not any(alike(other, one) for one in (value, *found)):
                found.append(other)
        return found

    return sets


def _alone(options: Sequence[str]) -> _Sets:
    """Each value by itself, with options that are always the same."""
    return lambda values, _, salt: (
        ([value], options) for value in sorted(values, key=lambda one: stable_hash(salt, one))
    )


def _bar_count(pieces: Sequence[Usable], salt: str) -> Iterator[TaskRow]:
    return (_row("bar_count", piece, str(piece.structure.measures)) for piece in _in_order(pieces, salt))


# --- key, metre, note length ------------------------------------------------------------------------------------------


def _metadata(piece: Usable, field: Field) -> str | None:
    """A value; None where none is written, or for a key without a name or not that of all (transposing) staves."""
    if field == "key":
        names = {key.name for key in piece.structure.keys if key.moment == 0}
        return names.pop() if len(names) == 1 else None
    if not any(token.text == "\\time" for token in code_tokens(piece.score)):
        return None
    metre = piece.structure.metres[0]
    if field == "metre":
        return metre.name
    return name if (name := str(metre.denominator)) in _NOTE_LENGTHS else None


def _signature(key: str) -> int:
    """Sharps of a key's signature; flats are negative."""
    tonic, _, mode = key.partition(" ")
    signs = 7 * (tonic.endswith("-sharp") - tonic.endswith("-flat"))
    return _FIFTHS.index(tonic[0]) - 1 + signs + _MODES[mode]


_SETS: Final[Mapping[Field, _Sets]] = {
    "key": _fours(lambda one, other: abs(_signature(one) - _signature(other))),
    "metre": _fours(lambda one, other: max(Fraction(one) / Fraction(other), Fraction(other) / Fraction(one))),
    "note_length": _alone(_NOTE_LENGTHS),
}


def _metadata_rows(task: TaskName, pieces: Sequence[Usable], salt: str, size: int) -> list[TaskRow]:
    rows: list[TaskRow] = []
    for index, field in enumerate(FIELDS):
        share = size // len(FIELDS) + (index < size % len(FIELDS))
        shown = {piece.id: piece.score if task == "metadata_qa" else _masked(piece, field) for piece in pieces}
        texts = {name: text for name, text in shown.items() if text is not None}
        values = {piece.id: value for piece in pieces if piece.id in texts and (value := _metadata(piece, field))}
        made = _choice_rows(task, pieces, values, f"{salt} {field}", _SETS[field], kind=field, shown=texts)
        rows += _enough(f"{task} ({field})", made, share)
    return rows


def _masked(piece: Usable, field: Field) -> str | None:
    """The score with every key or every time signature masked; None where it tells it otherwise, or changes it."""
    found = piece.structure.keys if field == "key" else piece.structure.metres
    if _TELLTALE.search(piece.score) or len({one.name for one in found}) != 1:
        return None
    if field == "key":
        return _mask(piece.score, "\\key", 2)
    return _mask(_STYLE_OF_METRE.sub("", piece.score), "\\time", 40)


def _mask(text: str, command: str, most: int) -> str:
    found = code_tokens(text)
    pieces, end = [], 0
    for index, token in enumerate(found):
        if token.text != command:
            continue
        following = found[index + 1 : index + 1 + most]
        arguments = _fraction(following) if command == "\\time" else following
        pieces.append(f"{text[end : token.end]} {MASK}")
        end = arguments[-1].end if arguments else token.end
    return "".join(pieces) + text[end:]


def _fraction(following: Sequence[Token]) -> Sequence[Token]:
    """The arguments of ``\\time``: all up to the number after the stroke; ahead of it a beat structure may stand."""
    for index, token in enumerate(following):
        if token.text == "/":
            return following[: index + 2]
    return following[:1]


# --- measures ---------------------------------------------------------------------------------------------------------


def _phrases(piece: Usable, measures: int) -> Iterator[list[Span]]:
    """Runs of so many complete consecutive measures of one voice that can be shown by themselves."""
    run: list[Span] = []
    for span in find_spans(piece.score, piece.structure):
        text = piece.score[span.start : span.end]
        good = (
            span.closed
            and not span.shared
            and span.measure >= 1
            and span.events[0].position == 0
            and len(span.events) > 1
            and any(event.kind == "note" for event in span.events)
            and span.length is not None
            and fills_its_measure(span, piece.structure)
            and not _ALONE.search(text)
        )
        follows = bool(run) and run[-1].voice == span.voice and run[-1].end + 1 == span.start
        run = [*run, span] if good and follows else [span] if good else []
        if len(run) >= measures:
            yield run[-measures:]


def _text(piece: Usable, span: Span) -> str:
    return " ".join(piece.score[span.start : span.end].split())


def _sequences(piece: Usable, draw: random.Random) -> Iterator[TaskRow]:
    phrases = list(_phrases(piece, _SHOWN))
    draw.shuffle(phrases)
    for phrase in phrases:
        texts = [_text(piece, span) for span in phrase]
        # Two equal measures would have two right places.
        if len(set(texts)) < _SHOWN:
            continue
        order = list(range(_SHOWN))
        while order == sorted(order):
            draw.shuffle(order)
        answer = "".join(str(order.index(place)) for place in range(_SHOWN))
        shown = [texts[place] for place in order]
        yield _row("bar_sequencing", piece, answer, "", options=shown, measure=phrase[0].measure)


def _continuations(piece: Usable, draw: random.Random) -> Iterator[TaskRow]:
    phrases = list(_phrases(piece, _SHOWN + 1))
    draw.shuffle(phrases)
    pairs = {(_text(piece, earlier), _text(piece, later)) for phrase in phrases for earlier, later in pairwise(phrase)}
    for phrase in phrases:
        *context, true = [_text(piece, span) for span in phrase]
        lengths = phrase[-1].length
        others = [
            text
            for other in phrases
            for span in other
            if span.voice == phrase[0].voice and span.length == lengths
            # What follows the same measure elsewhere in the piece is no wrong answer.
            if (text := _text(piece, span)) not in (true, *context) and (context[-1], text) not in pairs
        ]
        others = list(dict.fromkeys(others))
        if len(others) >= OPTIONS - 1 and true not in context:
            shown = " |\n".join(context) + " |"
            options, answer = _shuffled(true, draw.sample(others, OPTIONS - 1), draw)
            yield _row("next_bar_prediction", piece, answer, shown, options=options, measure=phrase[-1].measure)


def _per_piece(
    pieces: Sequence[Usable], make: Callable[[Usable, random.Random], Iterator[TaskRow]], salt: str
) -> Iterator[TaskRow]:
    """One row of each piece, then a second of each, and so on."""
    makers = [make(piece, _draw(salt, piece)) for piece in _in_order(pieces, salt)]
    seen: set[str] = set()
    while makers:
        left = []
        for maker in makers:
            row = next((row for row in maker if row["id"] not in seen), None)
            if row is not None:
                seen.add(row["id"])
                left.append(maker)
                yield row
        makers = left


# --- whole pieces -----------------------------------------------------------------------------------------------------


def _captioning(pieces: Sequence[Usable], salt: str) -> Iterator[TaskRow]:
    titles = {piece.id: title for piece in pieces if (title := title_of(piece.header)) is not None}
    counts = Counter(title.casefold() for title in titles.values())
    single = {name: title for name, title in titles.items() if counts[title.casefold()] == 1}
    about = {
        single[piece.id]: (title_kind(single[piece.id]), style_of(piece.header), instrument_of(piece.header))
        for piece in pieces
        if piece.id in single
    }

    def unlike(title: str, other: str) -> tuple[bool, ...]:
        return tuple(one != another for one, another in zip(about[title], about[other], strict=True))

    return _choice_rows("music_captioning", pieces, single, salt, _fours(unlike, cached(are_siblings)))


def _composers(pieces: Sequence[Usable], salt: str) -> Iterator[TaskRow]:
    found = ((piece.id, composer_of(piece.header, piece.id)) for piece in pieces)
    known = {name: composer for name, composer in found if composer is not None and composer.born is not None}
    by_name = {composer.name: composer for composer in known.values()}
    sets = _fours(
        lambda one, other: abs((by_name[one].born or 0) - (by_name[other].born or 0)),
        lambda one, other: may_be_one(by_name[one], by_name[other]),
    )
    names = {name: composer.name for name, composer in known.items()}
    return _choice_rows("composer_recognition", pieces, names, salt, sets)


def _genres(pieces: Sequence[Usable], salt: str) -> Iterator[TaskRow]:
    styles = {piece.id: style for piece in pieces if (style := style_of(piece.header)) is not None}
    return _choice_rows("genre_recognition", pieces, styles, salt, _fours(lambda *_: 0))


# --- errors -----------------------------------------------------------------------------------------------------------


def _error_detection(pieces: Sequence[Usable], salt: str, seed: int, size: int, cache: Path | None) -> list[TaskRow]:
    """Rows of each kind from all pieces that can hold it, clean ones from the pieces of those rows.

    So no piece tells whether it has an error. Of the wrong keys and clefs, half are in pieces that have such commands
    after measure 1, if there are so many.
    """
    share = size // len(CORRUPTIONS)
    by_id = {piece.id: piece for piece in pieces}
    is_clean = cached(lambda name: not find_errors(by_id[name].score, by_id[name].structure))

    def rows_of(kind: Corruption) -> list[TaskRow]:
        order = _in_order(pieces, f"{salt} {kind}")
        made: list[TaskRow] = []
        if kind == "invalid_metadata":
            later = [piece for piece in order if metadata_measures(piece.score, piece.structure) - {1}]
            made = _corrupted_rows(kind, later, made, (share + 1) // 2, is_clean, seed, cache)
        made = _corrupted_rows(kind, order, made, share, is_clean, seed, cache)
        return _enough(f"error_detection ({kind})", made, share)

    with ThreadPoolExecutor(len(CORRUPTIONS)) as pool:  # LilyPond has few texts at a time of each kind
        rows = [row for made in pool.map(rows_of, CORRUPTIONS) for row in made]
    drawn = [row["piece"] for row in sorted(rows, key=lambda row: stable_hash(salt, row["id"]))]
    others = (piece.id for piece in _in_order(pieces, salt))
    names = dict.fromkeys(name for name in chain(drawn, others) if is_clean(name))
    clean = (_row("error_detection", by_id[name], "none", kind=CLEAN) for name in names)
    return [*rows, *_enough(f"error_detection ({CLEAN})", clean, share)]


def _corrupted_rows(
    kind: Corruption,
    pieces: Sequence[Usable],
    rows: Sequence[TaskRow],
    size: int,
    is_clean: Callable[[str], bool],
    seed: int,
    cache: Path | None,
) -> list[TaskRow]:
    """Add rows up to so many or fewer: of pieces that have none yet, then of other places in any."""
    rows = list(rows)
    used = {row["piece"] for row in rows}
    for attempt in range(_ATTEMPTS):
        left = (piece for piece in pieces if (attempt or piece.id not in used) and is_clean(piece.id))
        # As many at a time as are missing, so that LilyPond runs on all cores and never for nothing.
        while some := list(islice(left, size - len(rows))):
            made = corrupt([(piece.score, piece.structure) for piece in some], kind, seed=seed + attempt, cache=cache)
            if unmeasured := [
                piece.id for piece, one in zip(some, made, strict=True) if isinstance(one, StructureError)
            ]:
                raise not_measured(unmeasured)
            found = (
                _row("error_detection", piece, str(one.measure), one.text, kind=kind, measure=one.measure)
                for piece, one in zip(some, made, strict=True)
                if isinstance(one, Corrupted)
            )
            taken = {row["id"] for row in rows}
            rows += [row for row in found if row["id"] not in taken]
    return rows


_MAKERS: Final[Mapping[TaskName, Callable[[Sequence[Usable], str], Iterator[TaskRow]]]] = {
    "bar_count": _bar_count,
    "bar_sequencing": lambda pieces, salt: _per_piece(pieces, _sequences, salt),
    "next_bar_prediction": lambda pieces, salt: _per_piece(pieces, _continuations, salt),
    "music_captioning": _captioning,
    "composer_recognition": _composers,
    "genre_recognition": _genres,
}
