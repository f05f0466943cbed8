r"""LilyBench's nine tasks on Mutopia by the published procedure, with what is wrong with it.

Title: Can LLMs understand LilyPond? A benchmark for symbolic music generation and understanding
Paper: https://arxiv.org/abs/2606.08722 (section 3.2 and Table 1)

What is published, and kept here although it leaks or misleads:

- The text shown is the main file as published, whole. Only the literal ``title = "…"`` is blanked for
  `music_captioning` and ``composer = "…"`` for `composer_recognition`; nothing is for `genre_recognition`. The first
  ``\key`` or ``\time`` alone is masked for `metadata_prediction`.
- A bar is what stands ahead of a ``|`` outside of ``\header``, ``\paper`` and quotes: the voices add up, a ``|`` in a
  comment counts, and the first bar holds all that comes ahead of the music.
- Wrong options are drawn evenly from all values in the corpus, so that rare values are mostly wrong ones.
- A corruption is inserted and replaces nothing, without a look at the language or octaves of the piece.

Where the paper is silent, this is what is done:

- *Pieces.* A task samples evenly among the pieces that it can use, each at most once a kind. The kinds of a task
  (three fields, five corruptions) take turns.
- *Bars.* Their number is the number of ``|``. Bars without any character are left out of the tasks on segments, and
  segments that are alike cannot be options of one question.
- *Options.* Values that differ only in case or white space are one value. Names and titles are taken as written, so
  two spellings of one composer are two options. A key is written as ``bes minor``, in the language of the file.
  The note lengths 2, 4, 8 and 16 are always in the pool, since a small corpus has no four metres' worth of them.
- *Corruptions.* They stand right ahead of the ``|`` that ends the bar. Extra notes are three quarter notes, a leap is
  one note five octaves up or three down, and the accidental is foreign to the first key of the text (C major where
  that is not read), also as raised sixth or seventh degree in minor.
"""

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from music_evals.datasets_builders.lilybench.rows import (
    CORRUPTIONS,
    FIELDS,
    SIZES,
    Corruption,
    Field,
    Piece,
    TaskName,
    TaskRow,
    task_row,
)

CONTEXT: Final = 4  # bars shown in `next_bar_prediction`, and bars to be ordered in `bar_sequencing`
MASK: Final = "[MASK]"  # what stands for the arguments of the masked ``\key`` or ``\time``
_STRING: Final = r'"(?:[^"\\\n]|\\[^\n])*"'
# Without its second quote a string ends with its line, so that no text takes more than linear time.
_BAR_OR_BLOCK: Final = re.compile(rf"\\(?:header|paper)\b\s*\{{|{_STRING}?|\|")
# Within a block a brace in a comment is none; outside, comments are read like music.
_IN_BLOCK: Final = re.compile(rf"{_STRING}?|%[^\n]*|[{{}}]")
_KEY: Final = re.compile(r"(\\key\s+)([a-z]{1,16})\s*\\([a-z]{1,16})")
_METRE: Final = re.compile(r"(\\time\s+)(\d{1,3})\s*/\s*(\d{1,3})")
_HEADER_FIELD: Final = {name: re.compile(rf"(\b{name}\s*=\s*)({_STRING})") for name in ("title", "composer", "style")}
_ASKED_FIELD: Final[Mapping[TaskName, str]] = {
    "music_captioning": "title",
    "composer_recognition": "composer",
    "genre_recognition": "style",
}
_COMMON_NOTE_LENGTHS: Final = ("2", "4", "8", "16")

_PITCH_CLASSES: Final = {"c": 0, "d": 2, "e": 4, "f": 5, "g": 7, "a": 9, "b": 11}
_SCALES: Final = {"major": (0, 2, 4, 5, 7, 9, 11), "minor": (0, 2, 3, 5, 7, 8, 9, 10, 11)}
_SHARPS_AND_FLATS: Final = tuple(step + suffix for step in _PITCH_CLASSES for suffix in ("is", "es"))
_LEAPS: Final = ("c'''''4", "c,,,4")
_INSERTED: Final[Mapping[Corruption, str]] = {
    "invalid_metadata": r"\key xx \nonsense",
    "invalid_content": "%%%bogus%%%",
    "invalid_bar_duration": "c4 c4 c4",
}


class Bar(NamedTuple):
    """A bar as the published procedure sees it: what stands ahead of a ``|``, and the offset of that in the text."""

    text: str
    end: int


def make_rows(
    task: TaskName, pieces: Sequence[Piece], seed: int, sizes: Mapping[TaskName, int] = SIZES
) -> list[TaskRow]:
    """Make the rows of a task by the published procedure, from the pieces' raw texts, whose order does not matter.

    Each task draws by itself. ValueError where the corpus is too small for it.
    """
    rng = random.Random(f"lilybench.paper.{task}.{seed}")
    ordered = sorted(pieces, key=lambda piece: piece.id)
    size = sizes.get(task, 0)
    match task:
        case "bar_count":
            return _bar_count(ordered, rng, size)
        case "metadata_qa" | "metadata_prediction":
            return _metadata(task, ordered, rng, size)
        case "bar_sequencing":
            return _bar_sequencing(ordered, rng, size)
        case "next_bar_prediction":
            return _next_bar(ordered, rng, size)
        case "music_captioning" | "composer_recognition" | "genre_recognition":
            return _from_header(task, ordered, rng, size)
        case "error_detection":
            return _error_detection(ordered, rng, size)
        case _:
            raise ValueError(f"{task} is not made from pieces of Mutopia; its rows come from EMOPIA")


def split_bars(text: str) -> list[Bar]:
    r"""Split a text at every ``|`` outside of ``\header``, ``\paper`` and quotes; what follows the last is no bar."""
    bars: list[Bar] = []
    parts: list[str] = []
    start = position = 0
    while found := _BAR_OR_BLOCK.search(text, position):
        position = found.end()
        if found[0] == "|":
            parts.append(text[start : found.start()])
            bars.append(Bar("".join(parts).strip(), found.start()))
            parts, start = [], position
        elif found[0].startswith("\\"):
            parts.append(text[start : found.start()])
            start = position = _end_of_block(text, position)
    return bars


def _end_of_block(text: str, position: int) -> int:
    """Return the offset behind the brace that closes a block whose first brace ends at `position`."""
    depth = 1
    for found in _IN_BLOCK.finditer(text, position):
        depth += (found[0] == "{") - (found[0] == "}")
        if not depth:
            return found.end()
    return len(text)


# --- tasks ---


def _bar_count(pieces: Sequence[Piece], rng: random.Random, size: int) -> list[TaskRow]:
    bars = {piece.id: len(split_bars(piece.raw)) for piece in pieces}
    usable = [piece for piece in pieces if bars[piece.id]]
    chosen = _sample("bar_count", usable, rng, size, "pieces with a bar line")
    return [task_row("bar_count", "paper", piece.id, str(bars[piece.id]), score=piece.raw) for piece in chosen]


def _metadata(task: TaskName, pieces: Sequence[Piece], rng: random.Random, size: int) -> list[TaskRow]:
    by_kind = []
    for number, field in enumerate(FIELDS):
        values = {piece.id: value for piece in pieces if (value := _field(piece.raw, field)) is not None}
        common = _COMMON_NOTE_LENGTHS if field == "note_length" else ()
        pool = _pool(task, [*values.values(), *common], f"values of {field}")
        usable = [piece for piece in pieces if piece.id in values]
        rows = []
        for piece in _sample(task, usable, rng, _share(size, number, len(FIELDS)), f"pieces with a {field}"):
            options, answer = _choice(values[piece.id], pool, rng)
            score = _masked(piece.raw, field) if task == "metadata_prediction" else piece.raw
            rows.append(task_row(task, "paper", piece.id, answer, kind=field, score=score, options=options))
        by_kind.append(rows)
    return _in_turns(by_kind)


def _from_header(task: TaskName, pieces: Sequence[Piece], rng: random.Random, size: int) -> list[TaskRow]:
    name = _ASKED_FIELD[task]
    values = {piece.id: value for piece in pieces if (value := _written(piece.raw, name))}
    pool = _pool(task, values.values(), f"values of {name}")
    usable = [piece for piece in pieces if piece.id in values]
    rows = []
    for piece in _sample(task, usable, rng, size, f"pieces with a {name} in quotes"):
        options, answer = _choice(values[piece.id], pool, rng)
        blanked = piece.raw if name == "style" else _HEADER_FIELD[name].sub(r'\1""', piece.raw)
        rows.append(task_row(task, "paper", piece.id, answer, score=blanked, options=options))
    return rows


def _next_bar(pieces: Sequence[Piece], rng: random.Random, size: int) -> list[TaskRow]:
    segments = {piece.id: _segments(piece.raw) for piece in pieces}
    usable = [
        piece
        for piece in pieces
        if len(segments[piece.id]) > CONTEXT and len({_plain(bar) for bar in segments[piece.id]}) >= 4
    ]
    rows = []
    for piece in _sample("next_bar_prediction", usable, rng, size, "pieces with five bars, four of them unlike"):
        bars = segments[piece.id]
        place = rng.randrange(CONTEXT, len(bars))
        options, answer = _choice(bars[place], _distinct(bars), rng)
        context = "".join(f"{bar} |\n" for bar in bars[place - CONTEXT : place])
        rows.append(task_row("next_bar_prediction", "paper", piece.id, answer, score=context, options=options))
    return rows


def _bar_sequencing(pieces: Sequence[Piece], rng: random.Random, size: int) -> list[TaskRow]:
    runs: dict[str, list[list[str]]] = {}
    for piece in pieces:
        bars = _segments(piece.raw)
        windows = [bars[start : start + CONTEXT] for start in range(len(bars) - CONTEXT + 1)]
        runs[piece.id] = [window for window in windows if len({_plain(bar) for bar in window}) == CONTEXT]
    usable = [piece for piece in pieces if runs[piece.id]]
    rows = []
    for piece in _sample("bar_sequencing", usable, rng, size, "pieces with four unlike bars in a row"):
        bars = rng.choice(runs[piece.id])
        shown = rng.sample(range(CONTEXT), CONTEXT)
        answer = "".join(str(shown.index(number)) for number in range(CONTEXT))
        options = [bars[number] for number in shown]
        rows.append(task_row("bar_sequencing", "paper", piece.id, answer, score="", options=options))
    return rows


def _error_detection(pieces: Sequence[Piece], rng: random.Random, size: int) -> list[TaskRow]:
    bars = {piece.id: split_bars(piece.raw) for piece in pieces}
    usable = [piece for piece in pieces if bars[piece.id]]
    by_kind = []
    for number, kind in enumerate(CORRUPTIONS):
        share = _share(size, number, len(CORRUPTIONS))
        rows = []
        for piece in _sample("error_detection", usable, rng, share, "pieces with a bar line"):
            wrong = rng.randrange(len(bars[piece.id]))
            end = bars[piece.id][wrong].end
            score = f"{piece.raw[:end]} {_inserted(kind, piece.raw, rng)} {piece.raw[end:]}"
            rows.append(task_row("error_detection", "paper", piece.id, str(wrong + 1), kind=kind, score=score))
        by_kind.append(rows)
    return _in_turns(by_kind)


def _inserted(kind: Corruption, text: str, rng: random.Random) -> str:
    if kind == "melodic_leap":
        return rng.choice(_LEAPS)
    if kind == "accidental_outside_key":
        return f"{rng.choice(_foreign_notes(text))}4"
    return _INSERTED[kind]


# --- what a text says ---


def _field(text: str, field: Field) -> str | None:
    if field == "key":
        found = _KEY.search(text)
        return f"{found[2]} {found[3]}" if found else None
    found = _METRE.search(text)
    if found is None:
        return None
    return f"{found[2]}/{found[3]}" if field == "metre" else found[3]


def _masked(text: str, field: Field) -> str:
    return (_KEY if field == "key" else _METRE).sub(rf"\1{MASK}", text, count=1)


def _written(text: str, name: str) -> str | None:
    """Return the first value that a field of the header is given in quotes, if it holds any character."""
    found = _HEADER_FIELD[name].search(text)
    return " ".join(found[2][1:-1].replace('\\"', '"').split()) or None if found else None


def _segments(text: str) -> list[str]:
    return [bar.text for bar in split_bars(text) if bar.text]


def _foreign_notes(text: str) -> list[str]:
    """Return the notes with an accidental that the first key of the text does not hold."""
    found = _KEY.search(text)
    tonic = _pitch_class(found[2]) if found else 0
    scale = _SCALES.get(found[3]) if found else None
    if tonic is None or scale is None:
        tonic, scale = 0, _SCALES["major"]
    held = {(tonic + degree) % 12 for degree in scale}
    return [name for name in _SHARPS_AND_FLATS if _pitch_class(name) not in held]


def _pitch_class(name: str) -> int | None:
    """Read a Dutch note name with at most one accidental; None if it is not one."""
    alterations = {"": 0, "is": 1, "es": -1, **({"s": -1} if name[0] in "ae" else {})}
    step, alteration = _PITCH_CLASSES.get(name[0]), alterations.get(name[1:])
    return None if step is None or alteration is None else (step + alteration) % 12


# --- drawing ---


def _plain(value: str) -> str:
    """What two values must share to count as one."""
    return " ".join(value.split()).casefold()


def _distinct(values: Iterable[str]) -> list[str]:
    """Keep the first of the values that are alike; in the order of their plain forms."""
    first: dict[str, str] = {}
    for value in values:
        first.setdefault(_plain(value), value)
    return [first[plain] for plain in sorted(first)]


def _pool(task: TaskName, values: Iterable[str], what: str) -> list[str]:
    pool = _distinct(values)
    if len(pool) < 4:
        raise ValueError(f"{task}: the corpus has {len(pool)} different {what}, and 4 are needed")
    return pool


def _choice(right: str, pool: Sequence[str], rng: random.Random) -> tuple[list[str], str]:
    """Draw three wrong options, and shuffle; return the options and the index of the right one."""
    wrong = rng.sample([value for value in pool if _plain(value) != _plain(right)], 3)
    options = [right, *wrong]
    rng.shuffle(options)
    return options, str(options.index(right))


def _sample(task: TaskName, usable: Sequence[Piece], rng: random.Random, size: int, what: str) -> list[Piece]:
    if len(usable) < size:
        raise ValueError(f"{task}: the corpus has {len(usable)} {what}, and {size} are needed")
    return rng.sample(usable, size)


def _share(size: int, number: int, kinds: int) -> int:
    """Rows of a kind where `size` rows go to the kinds in turns."""
    return (size - number + kinds - 1) // kinds


def _in_turns(by_kind: Sequence[Sequence[TaskRow]]) -> list[TaskRow]:
    longest = max(len(rows) for rows in by_kind)
    return [rows[place] for place in range(longest) for rows in by_kind if place < len(rows)]
