"""Strict rows of the tasks on Mutopia: no word of the score gives the answer away, and LilyPond made the ground truth.

What is shown is the piece's leak-free text. Distractors are near the truth: keys with nearly the same signature, metres
of the same kind, composers born about the same time, titles of the same kind of piece, other measures of the voice.
Nor do the options tell the answer by themselves: keys, metres, composers and styles take turns, each of them is a wrong
option as often as a right one (thrice over), and the right one is not the one in the middle.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Final

from music_evals.datasets_builders.lilybench.checker import fills_its_measure, find_errors
from music_evals.datasets_builders.lilybench.corpus import Usable
from music_evals.datasets_builders.lilybench.corruptions import corrupt
from music_evals.datasets_builders.lilybench.facts import composer_of, instrument_of, style_of, title_kind, title_of
from music_evals.datasets_builders.lilybench.measures import Span, find_spans
from music_evals.datasets_builders.lilybench.rows import (
    CLEAN,
    CORRUPTIONS,
    FIELDS,
    Corruption,
    Field,
    TaskName,
    TaskRow,
    task_row,
)
from music_evals.notation.lilypond.syntax import Token, code_tokens

OPTIONS: Final = 4
MASK: Final = "?"  # what stands in place of a masked key or metre
_LINE_OF_FIFTHS: Final = [f"{letter}{sign}" for sign in ("-flat", "", "-sharp") for letter in "FCGDAEB"]
# Neighbours are easily taken for one another; a key and its relative share a signature.
_KEYS: Final = [
    name
    for place in range(1, 16)
    for name in (f"{_LINE_OF_FIFTHS[place]} major", f"{_LINE_OF_FIFTHS[place + 3]} minor")
]
_METRES: Final = ("5/4", "4/2", "2/2", "4/4", "2/4", "4/8", "12/8", "6/8", "9/8", "3/8", "3/4", "6/4", "3/2")
_NOTE_LENGTHS: Final = ("1", "2", "4", "8", "16", "32")
_NEIGHBOURS: Final[Mapping[Field, tuple[Sequence[str], int]]] = {
    "key": (_KEYS, 8),
    "metre": (_METRES, 6),
    "note_length": (_NOTE_LENGTHS, OPTIONS),
}
"""Values in order, and how many of them come into question."""
# Words by which a text tells its metre or key though every command of that name is masked.
_TELLTALE: Final = re.compile(
    r"timeSignature|measureLength|beatStructure|baseMoment|keySignature|keyAlteration|barNumber"
)
# What may stand in a measure shown alone: not what is about the score around it.
_ALONE: Final = re.compile(
    r"[{}%#$]|<<|>>|\\(?:repeat|alternative|bar|time|key|partial|new|context|set|unset|\\)\b|\\\\"
)
_SHOWN: Final = 4  # measures in the two tasks on measures
# Not every score has bar checks, or a key or clef among its notes; the other kinds nearly always find a place.
_RAREST_FIRST: Final[tuple[Corruption, ...]] = (
    *("invalid_metadata", "invalid_bar_duration", "melodic_leap"),
    *("accidental_outside_key", "invalid_content"),
)
_CLOSE: Final = 7  # a true value and its distractors are drawn from so many neighbours


def make_rows(
    task: TaskName, pieces: Sequence[Usable], seed: int, size: int, *, cache: Path | None = None
) -> list[TaskRow]:
    """Make the strict rows of a task on Mutopia, by id; ValueError where the pieces do not give so many.

    Each task draws by itself. For ``error_detection`` the size is that of the corrupted rows, a fifth of each kind;
    besides there are as many clean controls as of a kind.
    """
    draw = random.Random(f"{seed} strict {task}")
    shuffled = list(pieces)
    draw.shuffle(shuffled)
    shuffled = _spread(shuffled)
    if task == "error_detection":
        rows = _error_detection(shuffled, seed, size, cache)
    elif task in ("metadata_qa", "metadata_prediction"):
        rows = _metadata_rows(task, shuffled, draw, size)
    else:
        rows = _enough(task, _MAKERS[task](shuffled, draw, size), size)
    return sorted(rows, key=lambda row: row["id"])


def _spread(pieces: Sequence[Usable]) -> list[Usable]:
    """One piece of every collection first, then a second of each: pieces of a series look alike in more than music."""
    seen: Counter[str] = Counter()
    turns = []
    for piece in pieces:
        collection = piece.id.rpartition("/")[0]
        turns.append(seen[collection])
        seen[collection] += 1
    return [pieces[place] for place in sorted(range(len(pieces)), key=lambda place: turns[place])]


def _enough(task: str, rows: Iterable[TaskRow], size: int) -> list[TaskRow]:
    taken = list(islice(rows, size))
    if len(taken) < size:
        raise ValueError(f"{task}: {size} rows are needed, and the pieces give {len(taken)}")
    return taken


def _row(task: TaskName, piece: Usable, answer: str, score: str | None = None, **more: Any) -> TaskRow:
    return task_row(task, "strict", piece.id, answer, score=piece.score if score is None else score, **more)


def _choice(true: str, distractors: Iterable[str], draw: random.Random) -> tuple[list[str], str] | None:
    """Options in random order with the index of the true one; None where there are too few."""
    others = [other for other in dict.fromkeys(distractors) if other != true][: OPTIONS - 1]
    if len(others) < OPTIONS - 1:
        return None
    options = [true, *others]
    draw.shuffle(options)
    return options, str(options.index(true))


def _choice_rows(
    task: TaskName,
    pieces: Iterable[Usable],
    values: Mapping[str, str],
    size: int,
    draw: random.Random,
    plausible: Callable[[str, Iterable[str]], Sequence[str]],
    *,
    kind: str = "",
    shown: Mapping[str, str] | None = None,
) -> Iterator[TaskRow]:
    """Rows whose options tell nothing by themselves: each value is a wrong option as often as it is right, thrice over.

    `values` and `shown` are by the pieces' ids; `plausible` tells what could be taken for a value, given all values.
    """
    asked = list(islice(_in_turn(pieces, values), size))
    right = Counter(values[piece.id] for piece in asked)
    wrong: Counter[str] = Counter()
    for piece in asked:
        true = values[piece.id]
        others = [other for other in dict.fromkeys(plausible(true, right)) if other != true]
        draw.shuffle(others)
        # A value that is never right comes last: whoever knew that could strike it out.
        others.sort(key=lambda other: wrong[other] / right[other] if right[other] else float("inf"))
        choice = _choice(true, others, draw)
        if choice is not None:
            wrong.update(option for option in choice[0] if option != true)
            score = None if shown is None else shown[piece.id]
            yield _row(task, piece, choice[1], kind=kind, score=score, options=choice[0])


def _window(ordered: Sequence[str], true: str, width: int, draw: random.Random) -> Sequence[str]:
    """So many neighbours in an order; the true value stands anywhere among them, so that the middle tells nothing."""
    place = ordered.index(true)
    first = min(max(place - draw.randrange(width), 0), max(len(ordered) - width, 0))
    return ordered[first : first + width]


def _bar_count(pieces: Sequence[Usable], draw: random.Random, size: int) -> Iterator[TaskRow]:
    return (_row("bar_count", piece, str(piece.structure.measures)) for piece in pieces)


# --- key, metre, note length ------------------------------------------------------------------------------------------


def _metadata(piece: Usable, field: Field) -> str | None:
    """A value; None where none is written, or for a key without a name or not that of all (transposing) staves."""
    if field == "key":
        names = {key.name for key in piece.structure.keys if key.moment == 0}
        return names.pop() if len(names) == 1 else None
    if not any(token.text == "\\time" for token in code_tokens(piece.score)):
        return None
    metre = piece.structure.metres[0]
    return metre.name if field == "metre" else str(metre.denominator)


def near_metadata(field: Field, true: str, draw: random.Random) -> Sequence[str]:
    """The true key, metre or note length among others, so that it is not told by being in the middle."""
    ordered, width = _NEIGHBOURS[field]
    if true in ordered:
        return _window(ordered, true, width, draw)
    tonic = true.partition(" ")[0]
    modes = [f"{tonic} {mode}" for mode in ("major", "minor", "dorian", "mixolydian", "phrygian")]
    return [true, *(modes if field == "key" else ordered)]


def _metadata_rows(task: TaskName, pieces: Sequence[Usable], draw: random.Random, size: int) -> list[TaskRow]:
    rows: list[TaskRow] = []
    for index, field in enumerate(FIELDS):
        share = size // len(FIELDS) + (index < size % len(FIELDS))
        shown = {piece.id: piece.score if task == "metadata_qa" else _masked(piece, field) for piece in pieces}
        texts = {name: text for name, text in shown.items() if text is not None}
        # Values take turns, or most keys would be C major and most metres 4/4.
        made = _choice_rows(
            task,
            (piece for piece in pieces if piece.id in texts),
            {piece.id: value for piece in pieces if (value := _metadata(piece, field)) is not None},
            share,
            draw,
            lambda true, _, field=field: near_metadata(field, true, draw),  # type: ignore[misc]
            kind=field,
            shown=texts,
        )
        rows += _enough(f"{task} ({field})", made, share)
    return rows


def _masked(piece: Usable, field: Field) -> str | None:
    """The score with every key or every time signature masked; None where it tells it otherwise, or changes it."""
    found = piece.structure.keys if field == "key" else piece.structure.metres
    if _TELLTALE.search(piece.score) or len({one.name for one in found}) != 1:
        return None
    return _mask(piece.score, "\\key", 2) if field == "key" else _mask(piece.score, "\\time", 40)


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
        draw.shuffle(others)
        choice = _choice(true, others, draw)
        if choice is not None and true not in context:
            shown = " |\n".join(context) + " |"
            options, answer = choice
            yield _row("next_bar_prediction", piece, answer, shown, options=options, measure=phrase[-1].measure)


def _per_piece(
    pieces: Sequence[Usable], make: Callable[[Usable, random.Random], Iterator[TaskRow]], draw: random.Random
) -> Iterator[TaskRow]:
    """One row of each piece, then a second of each, and so on."""
    makers = [make(piece, draw) for piece in pieces]
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


def _in_turn(pieces: Iterable[Usable], values: Mapping[str, str]) -> Iterator[Usable]:
    """Pieces so that their values (by id) take turns, the rarer ones ending first; those without a value left out."""
    groups: dict[str, list[Usable]] = defaultdict(list)
    for piece in pieces:
        if piece.id in values:
            groups[values[piece.id]].append(piece)
    while groups:
        for known in list(groups):
            yield groups[known].pop(0)
            if not groups[known]:
                del groups[known]


def _captioning(pieces: Sequence[Usable], draw: random.Random, size: int) -> Iterator[TaskRow]:
    titles = {piece.id: title for piece in pieces if (title := title_of(piece.header)) is not None}
    counts = Counter(title.casefold() for title in titles.values())
    for piece in pieces:
        title = titles.get(piece.id)
        if title is None or counts[title.casefold()] > 1:
            continue
        near = sorted(
            (other for other in pieces if other.id in titles and other is not piece),
            key=lambda other: _likeness(piece, other, titles),
            reverse=True,
        )[: 2 * _CLOSE]
        draw.shuffle(near)
        choice = _choice(title, (titles[other.id] for other in near), draw)
        if choice is not None:
            yield _row("music_captioning", piece, choice[1], options=choice[0])


def _likeness(piece: Usable, other: Usable, titles: Mapping[str, str]) -> tuple[bool, bool, bool]:
    header, others = piece.header, other.header
    return (
        title_kind(titles[piece.id]) == title_kind(titles[other.id]),
        style_of(header) == style_of(others),
        instrument_of(header) == instrument_of(others),
    )


def _composers(pieces: Sequence[Usable], draw: random.Random, size: int) -> Iterator[TaskRow]:
    known = {piece.id: composer_of(piece.header, piece.id) for piece in pieces}
    names = {name: one.name for name, one in known.items() if one is not None and one.born is not None}
    born = {one.name: one.born for one in known.values() if one is not None and one.born is not None}
    return _choice_rows(
        "composer_recognition",
        pieces,
        names,
        size,
        draw,
        lambda true, all_names: _window(sorted(all_names, key=lambda name: (born[name], name)), true, _CLOSE, draw),
    )


def _genres(pieces: Sequence[Usable], draw: random.Random, size: int) -> Iterator[TaskRow]:
    styles = {piece.id: style for piece in pieces if (style := style_of(piece.header)) is not None}
    return _choice_rows("genre_recognition", pieces, styles, size, draw, lambda _, all_styles: sorted(all_styles))


# --- errors -----------------------------------------------------------------------------------------------------------


def _error_detection(pieces: Sequence[Usable], seed: int, size: int, cache: Path | None) -> list[TaskRow]:
    """Rows of each kind and clean ones from the same pieces as far as possible, so that no piece tells its kind."""
    share = size // len(CORRUPTIONS)
    rows: dict[str, list[TaskRow]] = {kind: [] for kind in (*CORRUPTIONS, CLEAN)}
    spare: dict[str, list[TaskRow]] = {kind: [] for kind in rows}
    for piece in pieces:
        if len(rows[CLEAN]) == share:
            break
        if find_errors(piece.score, piece.structure):
            continue
        made: dict[str, TaskRow] = {CLEAN: _row("error_detection", piece, "none", kind=CLEAN)}
        for kind in _RAREST_FIRST:
            row = _corrupted_row(piece, kind, seed, cache)
            if row is None:
                break
            made[kind] = row
        for name, row in made.items():
            (rows if len(made) == len(rows) else spare)[name].append(row)
    for name, found in rows.items():
        found += spare[name][: share - len(found)]
    for kind in CORRUPTIONS:
        # Another place in a piece that has one already, where there are not enough pieces.
        for attempt in range(1, 4):
            rows[kind] += _elsewhere(pieces, kind, rows[kind], seed + attempt, share - len(rows[kind]), cache)
    return [row for name, found in rows.items() for row in _enough(f"error_detection ({name})", found, share)]


def _corrupted_row(piece: Usable, kind: Corruption, seed: int, cache: Path | None) -> TaskRow | None:
    corrupted = corrupt(piece.score, piece.structure, kind, seed=seed, cache=cache)
    if corrupted is None:
        return None
    measure = corrupted.measure
    return _row("error_detection", piece, str(measure), corrupted.text, kind=kind, measure=measure)


def _elsewhere(
    pieces: Sequence[Usable], kind: Corruption, found: Sequence[TaskRow], seed: int, missing: int, cache: Path | None
) -> list[TaskRow]:
    used, ids = {row["piece"] for row in found}, {row["id"] for row in found}
    made: list[TaskRow] = []
    for piece in pieces:
        if len(made) >= missing:
            break
        if piece.id in used:
            row = _corrupted_row(piece, kind, seed, cache)
            if row is not None and row["id"] not in ids:
                made.append(row)
    return made


_MAKERS: Final[Mapping[TaskName, Callable[[Sequence[Usable], random.Random, int], Iterator[TaskRow]]]] = {
    "bar_count": _bar_count,
    "bar_sequencing": lambda pieces, draw, _: _per_piece(pieces, _sequences, draw),
    "next_bar_prediction": lambda pieces, draw, _: _per_piece(pieces, _continuations, draw),
    "music_captioning": _captioning,
    "composer_recognition": _composers,
    "genre_recognition": _genres,
}
