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

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import islice
from random import Random
from typing import Any, NamedTuple

from music_evals.datasets_builders import read_table
from music_evals.datasets_builders.lilybench.rows import (
    CORRUPTIONS,
    FIELDS,
    SIZES,
    Corruption,
    Piece,
    TaskName,
    TaskRow,
    shuffled,
    stable_hash,
    task_row,
)

_Rows = Iterator[TaskRow]
_SHOWN = 4  # bars to be put in order, and bars ahead of the one to be predicted
_WRONG = 3  # wrong options
_ATTEMPTS = 8  # pieces that are tried for each row with an error
_MIN_BAR_LINES = 2  # of a text with an inserted error

# No match reaches into the beginning of another, so that all these patterns take linear time on any
# text.
_HEADER = re.compile(r"\\header\s*\{([^{}]*)\}")
_NO_BAR_LINES = (
    (_HEADER, ""),
    (re.compile(r"\\paper\s*\{[^{}]*\}"), ""),
    (re.compile(r'\\bar\s*"[^"]*"'), ""),
    (re.compile(r'"[^"\n]*"'), '""'),
)
"""Text in which ``|`` is no bar line, and what replaces it, in this order."""
_ACCIDENTAL = "(?:isis|eses|is|es|dd|d|bb|b)?"
_KEY = re.compile(rf"\\key\s+((?:[a-g]|do|re|mi|fa|sol|la|si){_ACCIDENTAL})\s+(\\[A-Za-z]+)")
_DUTCH_KEY = re.compile(rf"\\key\s+([a-g]{_ACCIDENTAL})\s+(\\\w+)")
_METRE = re.compile(r"\\time\s+(\d+)\s*/\s*(\d+)")
_TITLE = re.compile(r'(?<![A-Za-z_])title\s*=\s*"((?:[^"\\]|\\.)*)"')
_FIELDS_OF: Mapping[TaskName, Sequence[str]] = {
    "metadata_qa": FIELDS,
    "metadata_prediction": FIELDS,
    "music_captioning": ("title",),
    "composer_recognition": ("composer",),
    "genre_recognition": ("style",),
}
"""Task → the fields that it asks for."""
_BLANKED = {
    "key": (_KEY, ""),
    "metre": (_METRE, ""),
    "note_length": (_METRE, ""),
    "title": (re.compile(r'(title\s*=\s*)"[^"]*"'), r'\1""'),
    "composer": (re.compile(r'(composer\s*=\s*)"[^"]*"'), r'\1""'),
}
"""Field → what is removed from a score, and what replaces it; `metadata_qa` shows all."""

_INVALID_KEY = r"\key xx \nonsense"
_WORDS = read_table("names/lilybench_errors.toml")
_FOREIGN_TO_OTHERS = "bisis feses"


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
    return list(_MAKERS[task](_Draws(task, usable, seed, sizes.get(task, 0))))


def split_bars(text: str) -> list[str]:
    r"""Split a text into its bars, without the bar lines.

    Example:
        >>> split_bars(r'\header { title = "A | B" } c4 | \bar "|." d \mark "|" | | e')
        ['c4', 'd \\mark ""']
    """
    for pattern, replacement in _NO_BAR_LINES:
        text = pattern.sub(replacement, text)
    return [bar for passage in text.split("|")[:-1] if (bar := passage.strip())]


def corrupt(text: str, kind: Corruption, draw: Random) -> tuple[str, int] | None:
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
        inserted = draw.choice(_WORDS["foreign"].get(name, _FOREIGN_TO_OTHERS).split()) + "4"
    else:
        inserted = draw.choice(_WORDS["inserted"][kind])
    return f"{text[: places[bar]]} {inserted} {text[places[bar] :]}", bar + 1


# --- values ---


def _values(piece: Piece, fields: Sequence[str]) -> dict[str, str]:
    """The values that a piece has of these fields."""
    values = {**piece.header, "title": _title(piece.text)}
    values |= {"key": "", "metre": "", "note_length": ""}
    if key := _KEY.search(piece.text):
        values["key"] = f"{key[1]} {key[2]}"
    if metre := _METRE.search(piece.text):
        values |= {"metre": f"{metre[1]}/{metre[2]}", "note_length": metre[2]}
    return {field: values[field] for field in fields if values.get(field)}


def _title(text: str) -> str:
    header = _HEADER.search(text)
    title = _TITLE.search(header[1]) if header else None
    return title[1].strip() if title else ""


# --- tasks ---


class _Draws(NamedTuple):
    """The pieces that rows of a task are made from, in the order of their turns."""

    task: TaskName
    pieces: Sequence[Piece]
    seed: int
    size: int

    def random(self, piece: Piece) -> Random:
        return Random(stable_hash(self.seed, self.task, piece.id, "row"))

    def row(self, piece: Piece, answer: str, score: str, **more: Any) -> TaskRow:
        return task_row(self.task, "paper", piece.id, answer, score=score, **more)

    def with_bars(self, least: int) -> Iterator[tuple[Piece, list[str]]]:
        split = ((piece, split_bars(piece.text)) for piece in self.pieces)
        return ((piece, bars) for piece, bars in split if len(bars) >= least)

    def choice(
        self, piece: Piece, right: str, pool: Iterable[str], score: str, **more: Any
    ) -> _Rows:
        """A row with the right value and three others, or none if the pool has too few."""
        distractors = (value for value in pool if value != right)
        wrong = nsmallest(
            _WRONG,
            distractors,
            key=lambda value: stable_hash(self.seed, self.task, piece.id, value),
        )
        if len(wrong) == _WRONG:
            options, answer = shuffled([*wrong, right], right, self.random(piece))
            yield self.row(piece, answer, score, options=options, **more)


def _bar_count(draws: _Draws) -> _Rows:
    for piece, bars in islice(draws.with_bars(1), draws.size):
        yield draws.row(piece, str(len(bars)), piece.text)


def _bar_sequencing(draws: _Draws) -> _Rows:
    for piece, bars in islice(draws.with_bars(_SHOWN), draws.size):
        order = draws.random(piece).sample(range(_SHOWN), _SHOWN)
        answer = "".join(str(order.index(number)) for number in range(_SHOWN))
        yield draws.row(piece, answer, "", options=[bars[number] for number in order])


def _next_bar(draws: _Draws) -> _Rows:
    for piece, bars in islice(draws.with_bars(_SHOWN + 1 + _WRONG), draws.size):
        draw = draws.random(piece)
        right = bars[_SHOWN]
        wrong = draw.sample(bars[_SHOWN + 1 :], _WRONG)
        options, answer = shuffled([*wrong, right], right, draw)
        yield draws.row(piece, answer, "\n".join(bars[:_SHOWN]), options=options)


def _choices(draws: _Draws) -> _Rows:
    """Rows that ask for a value of the score or of its header."""
    fields = _FIELDS_OF[draws.task]
    values = {piece.id: _values(piece, fields) for piece in draws.pieces}
    pools = {
        field: dict.fromkeys(own[field] for own in values.values() if field in own)
        for field in fields
    }
    sample = [piece for piece in draws.pieces if values[piece.id]][: draws.size]
    for piece, turn in _turns(draws, sample, fields):
        own = values[piece.id]
        field = turn if turn in own else next(iter(own))
        score = piece.text
        if draws.task != "metadata_qa" and field in _BLANKED:
            pattern, replacement = _BLANKED[field]
            score = pattern.sub(replacement, score)
        kind = field if len(fields) > 1 else ""
        yield from draws.choice(piece, own[field], pools[field], score, kind=kind)


def _turns(
    draws: _Draws, sample: Sequence[Piece], fields: Sequence[str]
) -> Iterator[tuple[Piece, str]]:
    """Give each field to as many pieces; by hash and not by place, so that one more piece changes
    few others.
    """
    remaining = {field: len(sample[at :: len(fields)]) for at, field in enumerate(fields)}
    for piece in sample:
        hashes = {
            stable_hash(draws.seed, draws.task, piece.id, field): field
            for field in fields
            if remaining[field]
        }
        field = hashes[min(hashes)]
        remaining[field] -= 1
        yield piece, field


def _error_detection(draws: _Draws) -> _Rows:
    usable = [piece for piece, _ in draws.with_bars(_SHOWN)]
    share = max(1, min(draws.size, len(usable)) // len(CORRUPTIONS))
    remaining = iter(usable)
    for kind in CORRUPTIONS:
        yield from islice(_corrupted(draws, islice(remaining, _ATTEMPTS * share), kind), share)


def _corrupted(draws: _Draws, pieces: Iterable[Piece], kind: Corruption) -> _Rows:
    for piece in pieces:
        result = corrupt(piece.text, kind, draws.random(piece))
        if result is not None:
            text, bar = result
            yield draws.row(piece, str(bar), text, kind=kind)


_MAKERS: Mapping[TaskName, Callable[[_Draws], _Rows]] = {
    "bar_count": _bar_count,
    "metadata_qa": _choices,
    "bar_sequencing": _bar_sequencing,
    "next_bar_prediction": _next_bar,
    "metadata_prediction": _choices,
    "music_captioning": _choices,
    "composer_recognition": _choices,
    "genre_recognition": _choices,
    "error_detection": _error_detection,
}
