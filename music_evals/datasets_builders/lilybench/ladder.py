r"""The rows of levels 2 to 5, on passages of real music that are cut, transposed, barred anew and
joined.

A bar has the notes of the first voice of each staff. Bars with tuplets or grace notes, or in which
a staff has no note, are left out, and so are ties over bar lines. Each level has more measures and
staves than the one before.

*Counts.* Passages of a piece are joined that differ in key and metre. The LilyPond of levels 4 and
5 has no bar checks.

*Key and metre* are asked at a measure. Four keys, and four metres, take turns; they are the
options, and the one that is asked for is drawn first. From level 4 on, the measure is the first or
last one of its passage.

*Errors* are up to three of a kind, in inner voices, and no word is garbage: a measure is not
filled, a voice leaps, or a note is foreign to the key. Every seventh score has no error.
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, chain, pairwise, product
from typing import Any, NamedTuple

from music_evals.datasets_builders.lilybench.rows import (
    CLEAN,
    CORRUPTIONS,
    TaskName,
    TaskRow,
    task_row,
)
from music_evals.datasets_builders.lilybench.strict.errors import corrupt, find_errors
from music_evals.datasets_builders.lilybench.strict.outline import plain_measures
from music_evals.datasets_builders.lilybench.strict.passages import moved
from music_evals.datasets_builders.lilybench.strict.survey import Usable

_PER_PIECE = 2  # rows of a task
_KEYS = [
    "A-flat",
    "E-flat",
    "B-flat",
    "F",
    "C",
    "G",
    "D",
    "A",
    "E",
]  # from four flats to four sharps
_TONICS = ["aes", "ees", "bes", "f", "c", "g", "d", "a", "e"]
_FORMS = [*product((1, 2), (1, 2))]  # bars that are joined, and what divides durations
_KINDS = (*CORRUPTIONS[2:], *CORRUPTIONS[2:], CLEAN)
_DURATION = re.compile(r"(?<=[a-z',>])\d+")


class _Passage(NamedTuple):
    """Bars of one major key and metre: the notes of each staff."""

    sharps: int
    metre: str
    bars: Sequence[Sequence[str]]


def make_rows(level: int, pieces: Sequence[Usable]) -> dict[TaskName, list[TaskRow]]:
    """Make the rows of a level in canonical form: two of each piece for each task."""
    rows: dict[TaskName, list[TaskRow]] = {task: [] for task in MAKERS}
    for turn, task in product(range(_PER_PIECE * len(pieces)), MAKERS):
        piece = pieces[turn // _PER_PIECE]
        draw = random.Random(f"{task} {level} {turn} {piece.id}")
        facts = {"measure": turn + 1, **MAKERS[task](_read(piece), level - 1, turn, draw)}
        rows[task].append(task_row(task, "strict", piece.id, **facts))
    return rows


def _read(piece: Usable) -> _Passage:
    """The bars of a piece up to a change of key or metre."""
    voices: dict[int, dict[int, str]] = {}
    for (staff, _), measures in plain_measures(piece.score).items():
        voices.setdefault(staff, measures)
    numbers = sorted(set.intersection(*map(set, voices.values())))
    columns = ([voice[number].removesuffix("~") for number in numbers] for voice in voices.values())
    bars = [*zip(*columns, strict=True)]
    sharps = int(sum(piece.structure.keys[0].scale))
    return _Passage(sharps, piece.structure.metres[0].name, bars)


def _cut(passage: _Passage, length: int, staves: int, draw: random.Random) -> _Passage:
    """Draw bars that follow one another, of the first staves."""
    start = draw.randrange(max(1, len(passage.bars) - length))
    bars = [bar[:staves] for bar in passage.bars[start : start + length]]
    return passage._replace(bars=bars)


def _rewritten(passage: _Passage, sharps: int, joined: int, divisor: int) -> _Passage:
    """Transpose to another key, join bars and divide durations."""
    steps = (4 * (sharps - passage.sharps) + 3) % 7 - 3

    def rewrite(*texts: str) -> str:
        text = _DURATION.sub(lambda number: str(int(number[0]) * divisor), " ".join(texts))
        return moved(text, steps, passage.sharps, sharps)

    groups = zip(*(passage.bars[start::joined] for start in range(joined)), strict=False)
    beats, unit = map(int, passage.metre.split("/"))
    bars = [[*map(rewrite, *group)] for group in groups]
    return _Passage(sharps, f"{beats * joined}/{unit * divisor}", bars)


def _write(*passages: _Passage) -> str:
    """Write passages one after another as a canonical score."""
    staves = []
    for column in range(len(passages[0].bars[0])):
        lines = []
        for sharps, metre, bars in passages:
            head = rf"\key {_TONICS[sharps + 4]} \major \time {metre} "
            lines += [head * (bar is bars[0]) + bar[column] for bar in bars]
        inner = " |\n    ".join(lines)
        clef = "treble" if inner.count("'") > len(lines) else "bass"
        staves.append(f'  \\new Staff {{\n    \\clef "{clef}" {inner} |\n  }}\n')
    return f"<<\n{''.join(staves)}>>\n"


def _medley(passage: _Passage, size: int, draw: random.Random) -> list[_Passage]:
    """Passages in four keys and four metres, which take turns."""
    signatures, forms = draw.sample(range(-4, 5), 4), draw.sample(_FORMS, 4)
    passages = []
    for turn in range(draw.randint(4 * size, 8 * size)):
        form = forms[turn % 4]
        new = _cut(passage, form[0] * draw.randint(size + 1, 2 * size + 4), size, draw)
        passages.append(_rewritten(new, signatures[(turn + turn // 4) % 4], *form))
    return passages


def _bar_count(passage: _Passage, size: int, _: int, draw: random.Random) -> dict[str, Any]:
    passages = _medley(passage, size, draw)
    measures = sum(len(medley.bars) for medley in passages)
    return {"answer": str(measures), "score": _write(*passages)}


def _metadata(passage: _Passage, size: int, turn: int, draw: random.Random) -> dict[str, Any]:
    passages = _medley(passage, size, draw)
    values = [metre for _, metre, _ in passages]
    if turn % 2:
        values = [f"{_KEYS[sharps + 4]} major" for sharps, _, _ in passages]
    options = draw.sample(values[:4], 4)
    place = turn // 2 % 4  # so that each place is right as often as the others
    right = options[place]
    ends = pairwise(accumulate((len(bars) for *_, bars in passages), initial=1))
    spans = [range(*span) for span, value in zip(ends, values, strict=True) if value == right]
    span = draw.choice(spans)
    return {
        "answer": str(place),
        "score": _write(*passages),
        "kind": ("metre_at", "key_at")[turn % 2],
        "options": options,
        "measure": draw.choice(span if size < 3 else (span[0], span[-1])),
    }


def _errors(passage: _Passage, size: int, turn: int, draw: random.Random) -> dict[str, Any]:
    cuts = (_cut(passage, 24, size + 2, draw).bars for _ in range(size))
    passage = passage._replace(bars=[*chain.from_iterable(cuts)])
    while numbers := set(chain(*find_errors(_write(passage)).values())):
        bars = [bar for number, bar in enumerate(passage.bars, 1) if number not in numbers]
        passage = passage._replace(bars=bars)
    text = _write(passage)
    kind = _KINDS[turn % len(_KINDS)]
    wrong: list[int] = []
    for seed in range(0 if kind == CLEAN else draw.randint(1, min(size, 3))):
        if result := corrupt(text, kind, seed=seed, wrong=wrong, is_inner=True):  # type: ignore[arg-type]
            text = result.text
            wrong.append(result.measure)
    return {"answer": " ".join(map(str, sorted(wrong))) or "none", "score": text, "kind": kind}


MAKERS: Mapping[TaskName, Callable[..., dict[str, Any]]] = {
    "bar_count": _bar_count,
    "metadata_qa": _metadata,
    "error_detection": _errors,
}
"""Task → what makes an item's answer, score and so on."""
