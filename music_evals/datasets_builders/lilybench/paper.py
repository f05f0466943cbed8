r"""LilyBench's nine tasks on Mutopia by the published procedure, including its flaws.

Title: Can LLMs understand LilyPond? A benchmark for symbolic music generation and understanding
Paper: https://arxiv.org/abs/2606.08722 (section 3.2 and Table 1); code:
https://github.com/CSCPadova/lilybench

The rows are made as by the authors' code, even where it leaks or misleads:

- *Pieces* are those whose header names a composer and a style. The score is the main file after
  ``convert-ly``. Each task samples from the pieces that it can use, each at most once, so fewer
  pieces give fewer rows. A piece without the value that is asked for gives no row, nor does a value
  with fewer than three other values to choose from.
- *Bars* are the texts ahead of each ``|`` outside of ``\header`` and ``\paper`` blocks without
  inner braces, of ``\bar "…"`` and of strings. Bars without any character do not count. So the bars
  of all voices add up, and a ``|`` in a comment counts. `bar_sequencing` has bars 1 to 4,
  `next_bar_prediction` asks for bar 5.
- *Values* are the first ``\key``, the first ``\time`` and the title of the first header without
  inner braces. For `metadata_prediction` every ``\key`` or ``\time`` is removed. For
  `music_captioning` and `composer_recognition` every string is blanked that is set to a name ending
  in ``title`` or ``composer``. For `genre_recognition` nothing is removed.
- *Wrong options* are drawn evenly from all values of the corpus, so that rare values are mostly
  wrong ones. Wrong bars are from the rest of the piece, so options may be alike; the right answer
  is the first with the right bar's text.
- *Corruptions* are inserted ahead of a ``|``. The exception is ``invalid_metadata``: it replaces
  the first ``\key`` and is always said to be in bar 1. Here empty bars do count.

The authors' pattern of a block, ``{[^{}]*}``, knows no braces within it. Most headers of Mutopia
have a footer in braces, so they are not removed: bar 1 then holds the whole header, and
`music_captioning` has few pieces with a title (31 rows in the paper's Table 3).

The published draws cannot be repeated. The draws here go by `stable_hash`, so that one piece more
or less changes few rows.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import islice
from typing import Any, Final

from music_evals.datasets_builders.lilybench.rows import (
    CORRUPTIONS,
    FIELDS,
    SIZES,
    Corruption,
    Field,
    Piece,
    TaskName,
    TaskRow,
    stable_hash,
    task_row,
)

_SHOWN: Final = 4  # bars to be put in order, and bars ahead of the one to be predicted
_WRONG: Final = 3  # wrong options
_ATTEMPTS: Final = 8  # pieces that are tried for each row with an error
_MIN_BAR_LINES: Final = 2  # of a text with an inserted error

# No match reaches into the beginning of another, so that all these patterns take linear time on any
# text.
_HEADER: Final = re.compile(r"\\header\s*\{([^{}]*)\}")
_NO_BAR_LINES: Final = (
    (_HEADER, ""),
    (re.compile(r"\\paper\s*\{[^{}]*\}"), ""),
    (re.compile(r'\\bar\s*"[^"]*"'), ""),
    (re.compile(r'"[^"\n]*"'), '""'),
)
"""Text in which ``|`` is no bar line, and what replaces it, in this order."""
_ACCIDENTAL: Final = "(?:isis|eses|is|es|dd|d|bb|b)?"
_KEY: Final = re.compile(rf"\\key\s+((?:[a-g]|do|re|mi|fa|sol|la|si){_ACCIDENTAL})\s+(\\[A-Za-z]+)")
_DUTCH_KEY: Final = re.compile(rf"\\key\s+([a-g]{_ACCIDENTAL})\s+(\\\w+)")
_METRE: Final = re.compile(r"\\time\s+(\d+)\s*/\s*(\d+)")
_TITLE: Final = re.compile(r'(?<![A-Za-z_])title\s*=\s*"((?:[^"\\]|\\.)*)"')
_HEADER_FIELDS: Final[Mapping[TaskName, str]] = {
    "music_captioning": "title",
    "composer_recognition": "composer",
    "genre_recognition": "style",
}
_BLANKED: Final = {name: re.compile(rf'({name}\s*=\s*)"[^"]*"') for name in ("title", "composer")}

_INVALID_KEY: Final = r"\key xx \nonsense"
_INSERTED: Final[Mapping[Corruption, Sequence[str]]] = {
    "invalid_content": ("@#$%", "???", "%%%bogus%%%", "<<garbled>>"),
    "invalid_bar_duration": ("c4 d4 e4 f4 g4 a4 b4 c'4",),
    "melodic_leap": ("c,,,4 c''''4", "c''''4 c,,,4", "c,,,8 c''''8"),
}
_FOREIGN: Final[Mapping[str, str]] = {
    r"c \major": "fis cis gis dis ais",
    r"a \minor": "fis cis gis dis ais",
    r"g \major": "cis gis dis ais",
    r"f \major": "fis cis gis dis",
    r"d \major": "gis dis ais bes",
}
_FOREIGN_TO_OTHERS: Final = "bisis feses"


def make_rows(
    task: TaskName, pieces: Sequence[Piece], seed: int, sizes: Mapping[TaskName, int] = SIZES
) -> list[TaskRow]:
    """Make at most as many rows of a task as its size, by the published procedure, from the pieces'
    texts.

    The draws of a task do not depend on the other tasks, nor on the order of the pieces. ValueError
    for `emotion_recognition`.
    """
    if task not in _MAKERS:
        raise ValueError(f"{task} is not made from pieces of Mutopia; its rows come from EMOPIA")
    usable = [piece for piece in pieces if {"composer", "style"} <= piece.header.keys()]
    usable.sort(key=lambda piece: stable_hash(seed, task, piece.id))
    return _MAKERS[task](task, usable, seed, sizes.get(task, 0))


def split_bars(text: str) -> list[str]:
    r"""Split a text into its bars, without the bar lines.

    Example:
        >>> split_bars(r'\header { title = "A | B" } c4 | \bar "|." d \mark "|" | | e')
        ['c4', 'd \\mark ""']
    """
    for pattern, replacement in _NO_BAR_LINES:
        text = pattern.sub(replacement, text)
    return [bar for passage in text.split("|")[:-1] if (bar := passage.strip())]


def corrupt(text: str, kind: Corruption, draw: random.Random) -> tuple[str, int] | None:
    """Return a corrupted text and the number of the bar that is called wrong; None if the text
    cannot be corrupted.
    """
    if kind == "invalid_metadata":
        corrupted, count = _KEY.subn(lambda _: _INVALID_KEY, text, count=1)
        return (corrupted, 1) if count else None
    without = text
    for pattern, _ in _NO_BAR_LINES:
        without = pattern.sub(lambda match: " " * len(match[0]), without)
    places = [at for at, character in enumerate(without) if character == "|"]
    has_no_metre = kind == "invalid_bar_duration" and not _METRE.search(text)
    if len(places) < _MIN_BAR_LINES or has_no_metre:
        return None
    bar = draw.randrange(len(places))
    if kind == "accidental_outside_key":
        key = _DUTCH_KEY.search(text)
        name = f"{key[1]} {key[2]}" if key else ""
        inserted = f"{draw.choice(_FOREIGN.get(name, _FOREIGN_TO_OTHERS).split())}4"
    else:
        inserted = draw.choice(_INSERTED[kind])
    return f"{text[: places[bar]]} {inserted} {text[places[bar] :]}", bar + 1


# --- values ---


def _fields(text: str) -> dict[Field, str]:
    """The values that a text has."""
    fields: dict[Field, str] = {}
    if key := _KEY.search(text):
        fields["key"] = f"{key[1]} {key[2]}"
    if metre := _METRE.search(text):
        fields["metre"] = f"{metre[1]}/{metre[2]}"
        fields["note_length"] = metre[2]
    return fields


def _title(text: str) -> str:
    header = _HEADER.search(text)
    title = _TITLE.search(header[1]) if header else None
    return title[1].strip() if title else ""


# --- tasks ---


def _draw(task: TaskName, piece: Piece, seed: int) -> random.Random:
    return random.Random(stable_hash(seed, task, piece.id, "row"))


def _row(task: TaskName, piece: Piece, answer: str, score: str, **more: Any) -> TaskRow:
    return task_row(task, "paper", piece.id, answer, score=score, **more)


def _choice(
    task: TaskName, piece: Piece, seed: int, right: str, pool: Sequence[str]
) -> tuple[list[str], str] | None:
    """The right value and three others, shuffled, and its index; None if the pool has too few."""
    distractors = (value for value in pool if value != right)
    wrong = nsmallest(
        _WRONG, distractors, key=lambda value: stable_hash(seed, task, piece.id, value)
    )
    return None if len(wrong) < _WRONG else _shuffled(right, wrong, _draw(task, piece, seed))


def _shuffled(right: str, wrong: Sequence[str], draw: random.Random) -> tuple[list[str], str]:
    options = [*wrong, right]
    draw.shuffle(options)
    return options, str(options.index(right))


def _bar_count(task: TaskName, pieces: Sequence[Piece], seed: int, size: int) -> list[TaskRow]:
    with_bars = islice(_with_bars(pieces, 1), size)
    return [_row(task, piece, str(len(bars)), piece.text) for piece, bars in with_bars]


def _bar_sequencing(task: TaskName, pieces: Sequence[Piece], seed: int, size: int) -> list[TaskRow]:
    rows = []
    for piece, bars in islice(_with_bars(pieces, _SHOWN), size):
        order = _draw(task, piece, seed).sample(range(_SHOWN), _SHOWN)
        answer = "".join(str(order.index(number)) for number in range(_SHOWN))
        rows.append(_row(task, piece, answer, "", options=[bars[number] for number in order]))
    return rows


def _next_bar(task: TaskName, pieces: Sequence[Piece], seed: int, size: int) -> list[TaskRow]:
    rows = []
    for piece, bars in islice(_with_bars(pieces, _SHOWN + 1 + _WRONG), size):
        draw = _draw(task, piece, seed)
        options, answer = _shuffled(bars[_SHOWN], draw.sample(bars[_SHOWN + 1 :], _WRONG), draw)
        rows.append(_row(task, piece, answer, "\n".join(bars[:_SHOWN]), options=options))
    return rows


def _with_bars(pieces: Sequence[Piece], least: int) -> Iterator[tuple[Piece, list[str]]]:
    split = ((piece, split_bars(piece.text)) for piece in pieces)
    return ((piece, bars) for piece, bars in split if len(bars) >= least)


def _metadata(task: TaskName, pieces: Sequence[Piece], seed: int, size: int) -> list[TaskRow]:
    values = {piece.id: _fields(piece.text) for piece in pieces}
    pools = {
        field: list(dict.fromkeys(own[field] for own in values.values() if field in own))
        for field in FIELDS
    }
    sample = [piece for piece in pieces if values[piece.id]][:size]
    rows = []
    for piece, turn in _turns(task, sample, seed):
        own = values[piece.id]
        field = turn if turn in own else next(iter(own))
        choice = _choice(task, piece, seed, own[field], pools[field])
        if choice is not None:
            options, answer = choice
            pattern = _KEY if field == "key" else _METRE
            score = piece.text if task == "metadata_qa" else pattern.sub("", piece.text)
            rows.append(_row(task, piece, answer, score, kind=field, options=options))
    return rows


def _turns(task: TaskName, sample: Sequence[Piece], seed: int) -> Iterator[tuple[Piece, Field]]:
    """Give each field to as many pieces; by hash and not by place, so that one more piece changes
    few others.
    """
    sizes = (len(sample[place :: len(FIELDS)]) for place in range(len(FIELDS)))
    remaining = dict(zip(FIELDS, sizes, strict=True))
    for piece in sample:
        open_fields = (field for field in FIELDS if remaining[field])
        field = min(open_fields, key=lambda field: stable_hash(seed, task, piece.id, field))
        remaining[field] -= 1
        yield piece, field


def _from_header(task: TaskName, pieces: Sequence[Piece], seed: int, size: int) -> list[TaskRow]:
    name = _HEADER_FIELDS[task]
    values = {
        piece.id: _title(piece.text) if name == "title" else piece.header[name] for piece in pieces
    }
    pool = list(dict.fromkeys(filter(None, values.values())))
    usable = [piece for piece in pieces if values[piece.id]]
    rows = []
    for piece in usable[:size]:
        choice = _choice(task, piece, seed, values[piece.id], pool)
        if choice is not None:
            options, answer = choice
            score = piece.text if name == "style" else _BLANKED[name].sub(r'\1""', piece.text)
            rows.append(_row(task, piece, answer, score, options=options))
    return rows


def _error_detection(
    task: TaskName, pieces: Sequence[Piece], seed: int, size: int
) -> list[TaskRow]:
    usable = [piece for piece, _ in _with_bars(pieces, _SHOWN)]
    share = max(1, min(size, len(usable)) // len(CORRUPTIONS))
    remaining = iter(usable)
    rows: list[TaskRow] = []
    for kind in CORRUPTIONS:
        most = len(rows) + share
        for piece in islice(remaining, _ATTEMPTS * share):
            result = corrupt(piece.text, kind, _draw(task, piece, seed))
            if result is not None:
                text, bar = result
                rows.append(_row(task, piece, str(bar), text, kind=kind))
            if len(rows) == most:
                break
    return rows


_MAKERS: Final[
    Mapping[TaskName, Callable[[TaskName, Sequence[Piece], int, int], list[TaskRow]]]
] = {
    "bar_count": _bar_count,
    "metadata_qa": _metadata,
    "bar_sequencing": _bar_sequencing,
    "next_bar_prediction": _next_bar,
    "metadata_prediction": _metadata,
    "music_captioning": _from_header,
    "composer_recognition": _from_header,
    "genre_recognition": _from_header,
    "error_detection": _error_detection,
}
