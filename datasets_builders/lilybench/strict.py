"""Strict rows of the tasks on Mutopia: no word of the score gives the answer away, and LilyPond made the ground truth.

What is shown is the piece's leak-free text. Distractors are near the truth: keys a fifth away, the relative and the
parallel key; metres of the same kind; composers born about the same time; titles of the same kind of piece; other
measures of the same voice. Answers stand under each index equally often but for chance. Composers and styles take
turns, so that always naming the commonest one does not help.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from music_evals.datasets_builders.lilybench.checker import fills_its_measure, find_errors
from music_evals.datasets_builders.lilybench.corpus import Usable
from music_evals.datasets_builders.lilybench.corruptions import corrupt
from music_evals.datasets_builders.lilybench.facts import composer_of, instrument_of, style_of, title_kind, title_of
from music_evals.datasets_builders.lilybench.measures import Span, find_spans
from music_evals.datasets_builders.lilybench.rows import (
    CLEAN,
    CORRUPTIONS,
    FIELDS,
    Field,
    TaskName,
    TaskRow,
)
from music_evals.notation.lilypond.structure import Key
from music_evals.notation.lilypond.syntax import Token, code_tokens

OPTIONS: Final = 4
MASK: Final = "?"
"""What stands in place of a masked key or metre."""

_METRES: Final = ("2/2", "3/2", "4/2", "2/4", "3/4", "4/4", "5/4", "6/4", "3/8", "4/8", "6/8", "9/8", "12/8")
_NOTE_LENGTHS: Final = ("1", "2", "4", "8", "16", "32")
_STYLES: Final = ("Renaissance", "Baroque", "Classical", "Romantic", "Modern")  # by time; the others belong to none
# Words by which a text tells its metre or key though every command of that name is masked.
_TELLTALE: Final = re.compile(
    r"timeSignature|measureLength|beatStructure|baseMoment|keySignature|keyAlteration|barNumber"
)
# What may stand in a measure shown alone: not what is about the score around it.
_ALONE: Final = re.compile(
    r"[{}%#$]|<<|>>|\\(?:repeat|alternative|bar|time|key|partial|new|context|set|unset|\\)\b|\\\\"
)
_SHOWN: Final = 4  # measures in the two tasks on measures
_CLOSE: Final = 6  # distractors are drawn from so many nearest

_CIRCLE: Final = ("F", "C", "G", "D", "A", "E", "B")


class TooFewError(ValueError):
    """The pieces do not give as many rows as a task has."""

    def __init__(self, task: str, found: int, needed: int) -> None:
        super().__init__(f"{task}: {needed} rows are needed, and the pieces give {found}")


def make_rows(
    task: TaskName, pieces: Sequence[Usable], seed: int, size: int, *, cache: Path | None = None
) -> list[TaskRow]:
    """Make the strict rows of a task on Mutopia.

    Args:
        task: any but ``emotion_recognition``.
        pieces: what may be used.
        seed: chooses pieces, places and distractors; each task draws by itself.
        size: rows to make; for ``error_detection`` corrupted ones, a fifth of each kind, besides as many clean
            controls as there are of a kind.
        cache: a folder to keep LilyPond's readings in.

    Returns:
        The rows, by id.

    Raises:
        TooFewError: the pieces do not give so many rows.
    """
    draw = random.Random(f"{seed} strict {task}")
    shuffled = list(pieces)
    draw.shuffle(shuffled)
    if task == "error_detection":
        rows = _error_detection(shuffled, seed, size, cache)
    else:
        rows = _MAKERS[task](shuffled, draw, size)
    return sorted(rows, key=lambda row: row["id"])


def _enough(task: str, rows: Iterable[TaskRow], size: int) -> list[TaskRow]:
    taken: list[TaskRow] = []
    for row in rows:
        if len(taken) == size:
            break
        taken.append(row)
    if len(taken) < size:
        raise TooFewError(task, len(taken), size)
    return taken


def _row(
    task: TaskName, piece: Usable, answer: str, *, kind: str = "", score: str | None = None, options: Sequence[str] = ()
) -> TaskRow:
    return {
        "id": f"{task}.strict.{piece.piece.id}" + (f".{kind}" if kind else ""),
        "piece": piece.piece.id,
        "kind": kind,
        "score": piece.score if score is None else score,
        "options": list(options),
        "answer": answer,
    }


def _choice(true: str, distractors: Iterable[str], draw: random.Random) -> tuple[list[str], str] | None:
    """Options in random order with the index of the true one; None where there are too few."""
    others = [other for other in dict.fromkeys(distractors) if other != true][: OPTIONS - 1]
    if len(others) < OPTIONS - 1:
        return None
    options = [true, *others]
    draw.shuffle(options)
    return options, str(options.index(true))


def _bar_count(pieces: Sequence[Usable], draw: random.Random, size: int) -> list[TaskRow]:
    return _enough("bar_count", (_row("bar_count", piece, str(piece.structure.measures)) for piece in pieces), size)


# --- key, metre, note length ------------------------------------------------------------------------------------------


def _first_key(piece: Usable) -> Key | None:
    """The key of the beginning; None where none is written, it has no name, or staves differ (in transposition)."""
    first = [key for key in piece.structure.keys if key.moment == 0]
    names = {key.name for key in first}
    return first[0] if first and len(names) == 1 and first[0].name is not None else None


def _metadata(piece: Usable, field: Field) -> str | None:
    if field == "key":
        key = _first_key(piece)
        return None if key is None else key.name
    if not any(token.text == "\\time" for token in code_tokens(piece.score)):
        return None
    metre = piece.structure.metres[0]
    return metre.name if field == "metre" else str(metre.denominator)


def near_metadata(field: Field, true: str, draw: random.Random) -> list[str]:
    """Values that could stand for a key, metre or note length, the likeliest confusions first among the nearest.

    Args:
        field: which.
        true: the true value, such as ``G major``, ``3/4`` or ``4``.
        draw: orders the nearest.

    Example:
        >>> sorted(near_metadata("key", "G major", random.Random(1)))
        ['C major', 'D major', 'E minor', 'G minor']
    """
    if field == "key":
        nearest = _near_keys(true)
    elif field == "metre":
        beats, _, unit = true.partition("/")
        others = [metre for metre in _METRES if metre != true]
        nearest = sorted(others, key=lambda metre: _distance(metre, int(beats), int(unit)))[:_CLOSE]
    else:
        nearest = [length for length in _NOTE_LENGTHS if length != true]
    draw.shuffle(nearest)
    return nearest


def _distance(metre: str, beats: int, unit: int) -> float:
    other_beats, _, other_unit = metre.partition("/")
    return (
        abs(int(other_beats) - beats) * 0.5
        + (int(other_unit) != unit)
        - (int(other_beats) * unit == beats * int(other_unit))
    )


def _near_keys(name: str) -> list[str]:
    tonic, _, mode = name.partition(" ")
    place = _fifths(tonic)
    parallel = {"major": "minor", "minor": "major"}.get(mode, "major")
    relative = place + 3 if mode == "major" else place - 3
    return [
        f"{_tonic(place + 1)} {mode}",
        f"{_tonic(place - 1)} {mode}",
        f"{_tonic(relative)} {parallel}",
        f"{tonic} {parallel}",
    ]


def _fifths(tonic: str) -> int:
    letter, _, sign = tonic.partition("-")
    return _CIRCLE.index(letter) + {"": 0, "sharp": 7, "flat": -7}[sign]


def _tonic(fifths: int) -> str:
    # Beyond two rounds of the circle keys are written otherwise.
    sign, letter = divmod(fifths if -7 <= fifths < 14 else fifths - 12 * (1 if fifths > 0 else -1), 7)
    return _CIRCLE[letter] + {0: "", 1: "-sharp", -1: "-flat"}[sign]


def _metadata_qa(pieces: Sequence[Usable], draw: random.Random, size: int) -> list[TaskRow]:
    return _metadata_rows("metadata_qa", pieces, draw, size, lambda piece, _: piece.score)


def _metadata_prediction(pieces: Sequence[Usable], draw: random.Random, size: int) -> list[TaskRow]:
    return _metadata_rows("metadata_prediction", pieces, draw, size, _masked)


def _metadata_rows(
    task: TaskName,
    pieces: Sequence[Usable],
    draw: random.Random,
    size: int,
    shown: Callable[[Usable, Field], str | None],
) -> list[TaskRow]:
    def rows(field: Field) -> Iterator[TaskRow]:
        # Values take turns, or most keys would be C major and most metres 4/4.
        for piece in _in_turn(pieces, lambda piece: _metadata(piece, field)):
            true, score = _metadata(piece, field), shown(piece, field)
            choice = None if true is None else _choice(true, near_metadata(field, true, draw), draw)
            if choice is not None and score is not None:
                yield _row(task, piece, choice[1], kind=field, score=score, options=choice[0])

    shares = [size // len(FIELDS) + (index < size % len(FIELDS)) for index in range(len(FIELDS))]
    return [row for field, share in zip(FIELDS, shares, strict=True) for row in _enough(task, rows(field), share)]


def _masked(piece: Usable, field: Field) -> str | None:
    """The score with every key or every time signature masked; None where it tells it otherwise, or changes it."""
    structure = piece.structure
    if _TELLTALE.search(piece.score):
        return None
    if field == "key":
        if len({key.name for key in structure.keys}) != 1:
            return None
        return _mask(piece.score, "\\key", 2)
    if len({metre.name for metre in structure.metres}) != 1:
        return None
    return _mask(piece.score, "\\time", 40)


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


def _bar_sequencing(pieces: Sequence[Usable], draw: random.Random, size: int) -> list[TaskRow]:
    return _enough("bar_sequencing", _per_piece(pieces, _sequences, draw), size)


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
        row = _row("bar_sequencing", piece, answer, score="", options=[texts[place] for place in order])
        row["id"] += f".m{phrase[0].measure}"
        yield row


def _next_bar(pieces: Sequence[Usable], draw: random.Random, size: int) -> list[TaskRow]:
    return _enough("next_bar_prediction", _per_piece(pieces, _continuations, draw), size)


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
            row = _row("next_bar_prediction", piece, choice[1], score=" |\n".join(context) + " |", options=choice[0])
            row["id"] += f".m{phrase[-1].measure}"
            yield row


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


def _in_turn(pieces: Iterable[Usable], value: Callable[[Usable], str | None]) -> Iterator[Usable]:
    """Pieces so that their values take turns, the rarer ones ending first; those without a value left out."""
    groups: dict[str, list[Usable]] = defaultdict(list)
    for piece in pieces:
        if (known := value(piece)) is not None:
            groups[known].append(piece)
    while groups:
        for known in list(groups):
            yield groups[known].pop(0)
            if not groups[known]:
                del groups[known]


def _captioning(pieces: Sequence[Usable], draw: random.Random, size: int) -> list[TaskRow]:
    titles = {piece.piece.id: title for piece in pieces if (title := title_of(piece.piece.header)) is not None}
    counts = Counter(title.casefold() for title in titles.values())

    def rows() -> Iterator[TaskRow]:
        for piece in pieces:
            title = titles.get(piece.piece.id)
            if title is None or counts[title.casefold()] > 1:
                continue
            near = sorted(
                (other for other in pieces if other.piece.id in titles and other is not piece),
                key=lambda other: _likeness(piece, title, other, titles[other.piece.id]),
                reverse=True,
            )[: 2 * _CLOSE]
            draw.shuffle(near)
            choice = _choice(title, (titles[other.piece.id] for other in near), draw)
            if choice is not None:
                yield _row("music_captioning", piece, choice[1], options=choice[0])

    return _enough("music_captioning", rows(), size)


def _likeness(piece: Usable, title: str, other: Usable, other_title: str) -> tuple[bool, bool, bool]:
    kind = title_kind(title)
    return (
        kind == title_kind(other_title),
        style_of(piece.piece.header) == style_of(other.piece.header),
        instrument_of(piece.piece.header) == instrument_of(other.piece.header),
    )


def _composers(pieces: Sequence[Usable], draw: random.Random, size: int) -> list[TaskRow]:
    known = {
        piece.piece.id: composer
        for piece in pieces
        if (composer := composer_of(piece.piece.header, piece.piece.id)) is not None and composer.born is not None
    }
    born = {composer.name: composer.born or 0 for composer in known.values()}
    used: Counter[str] = Counter()

    def rows() -> Iterator[TaskRow]:
        in_turn = _in_turn(pieces, lambda piece: known[piece.piece.id].name if piece.piece.id in known else None)
        for piece in in_turn:
            true = known[piece.piece.id].name
            near = sorted(born, key=lambda name: (abs(born[name] - born[true]), name))[1 : _CLOSE + 1]
            draw.shuffle(near)
            # Whoever has been an option least comes first, so that no name is right more often than others.
            choice = _choice(true, sorted(near, key=lambda name: used[name]), draw)
            if choice is not None:
                used.update(choice[0])
                yield _row("composer_recognition", piece, choice[1], options=choice[0])

    return _enough("composer_recognition", rows(), size)


def _genres(pieces: Sequence[Usable], draw: random.Random, size: int) -> list[TaskRow]:
    styles = {piece.piece.id: style for piece in pieces if (style := style_of(piece.piece.header)) is not None}
    there = sorted(set(styles.values()))

    def rows() -> Iterator[TaskRow]:
        for piece in _in_turn(pieces, lambda piece: styles.get(piece.piece.id)):
            true = styles[piece.piece.id]
            others = [style for style in there if style != true]
            draw.shuffle(others)
            # The styles next to it in time are the hardest to tell from it: two of them are always there.
            adjacent = [style for style in others if _years_apart(true, style) == 1][:2]
            choice = _choice(true, [*adjacent, *others], draw)
            if choice is not None:
                yield _row("genre_recognition", piece, choice[1], options=choice[0])

    return _enough("genre_recognition", rows(), size)


def _years_apart(style: str, other: str) -> int | None:
    return abs(_STYLES.index(style) - _STYLES.index(other)) if style in _STYLES and other in _STYLES else None


# --- errors -----------------------------------------------------------------------------------------------------------


def _error_detection(pieces: Sequence[Usable], seed: int, size: int, cache: Path | None) -> list[TaskRow]:
    clean = [piece for piece in pieces if not find_errors(piece.score, piece.structure)]
    share = size // len(CORRUPTIONS)
    rows: list[TaskRow] = []
    controls = (_row("error_detection", piece, "none", kind=CLEAN) for piece in clean)
    rows += _enough(f"error_detection ({CLEAN})", controls, min(share, len(clean)))
    for kind in CORRUPTIONS:
        made: dict[str, TaskRow] = {}
        # A second and third place in a piece only where there are not enough pieces.
        for attempt in range(4):
            asked = [(piece.score, piece.structure, kind) for piece in clean]
            for piece, corrupted in zip(clean, corrupt(asked, seed=seed + attempt, cache=cache), strict=True):
                if corrupted is None:
                    continue
                row = _row("error_detection", piece, str(corrupted.measure), kind=kind, score=corrupted.text)
                row["id"] += f".m{corrupted.measure}"
                made[row["id"]] = row
                if len(made) == share:
                    break
            if len(made) == share:
                break
        rows += _enough(f"error_detection ({kind})", made.values(), share)
    return rows


_MAKERS: Final[Mapping[TaskName, Callable[[Sequence[Usable], random.Random, int], list[TaskRow]]]] = {
    "bar_count": _bar_count,
    "metadata_qa": _metadata_qa,
    "bar_sequencing": _bar_sequencing,
    "next_bar_prediction": _next_bar,
    "metadata_prediction": _metadata_prediction,
    "music_captioning": _captioning,
    "composer_recognition": _composers,
    "genre_recognition": _genres,
}
