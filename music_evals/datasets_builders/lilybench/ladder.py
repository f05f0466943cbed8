r"""The rows of levels 2 to 5, on passages of real music that are cut, transposed, barred anew and
joined.

A bar has the notes of the first voice of each part, of a chord the highest one, without ties. Bars
with tuplets or grace notes are left out. Each level has more measures and staves than the one
before.

*Counts.* Passages of a piece are joined that differ in key and metre. The LilyPond of levels 4 and
5 has no bar checks.

*Key signature and metre* are asked at a measure. Four of them take turns; they are the options, and
the one that is asked for is drawn first, then one of its later passages. From level 4 on, the
measure is the first or last one of its passage.

*Errors* are up to three of a kind, in inner voices, and no word is garbage: a measure is not
filled, a voice leaps, or a note is foreign to the key. Every seventh score has no error. Passages
are of several pieces, in different keys, and no measure is like another one but for a word, in a
staff or in all, whatever the key: an error is not found by comparing measures.
"""

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, count, pairwise, product
from random import Random
from typing import Any, NamedTuple

from music_evals.datasets_builders.lilybench.default_pieces import Source, read_source
from music_evals.datasets_builders.lilybench.rows import (
    CLEAN,
    CORRUPTIONS,
    TaskName,
    TaskRow,
    task_row,
)
from music_evals.datasets_builders.lilybench.strict.errors import corrupt, find_errors
from music_evals.datasets_builders.lilybench.strict.passages import moved
from music_evals.notation.abc.tunes import signature_name
from music_evals.notation.lilypond.canonical import LENGTHS

_TONICS = ["aes", "ees", "bes", "f", "c", "g", "d", "a", "e"]
_FORMS = [*product((1, 2), (1, 2))]  # bars that are joined, and what divides durations
_METRES = {"2/2", "3/2", "2/4", "3/4", "4/4", "6/4", "3/8", "4/8", "6/8", "12/8"}
_KINDS = (*CORRUPTIONS[2:], *CORRUPTIONS[2:], CLEAN)
_DURATIONS = {4 * length: name for name, length in LENGTHS.items()}  # by quarter notes
_FEWEST_PIECES = 5  # with as many staves as a score
_FEWEST_WORDS = 4  # of a bar that others must not be like
_WORD = re.compile(r"(?:([a-g])(?:is|es|s)*|r)([',]*)(\d+\.*)")
_DURATION = re.compile(r"(?<=[a-z',>])\d+")


class Passage(NamedTuple):
    """Bars of one key signature and metre: the notes of each staff."""

    sharps: int
    metre: str
    bars: Sequence[Sequence[str]]


_Pieces = Mapping[str, Passage]  # by id


def make_rows(level: int, passages: _Pieces) -> dict[TaskName, list[TaskRow]]:
    """Make the rows of a level in canonical form: two of each piece for each task.

    Args:
        level: from 2 to 5.
        passages: id of a piece → its passage.
    """
    rows: dict[TaskName, list[TaskRow]] = {task: [] for task in MAKERS}
    for (turn, piece), task in product(enumerate(sorted([*passages] * 2)), MAKERS):
        draw = Random(f"{task} {level} {turn} {piece}")
        facts = MAKERS[task](passages, piece, level - 1, turn, draw)
        rows[task].append(task_row(task, "strict", piece, **{"measure": turn + 1, **facts}))
    return rows


def read_passage(source: Source) -> Passage:
    """Read the bars of a score up to a change of key or metre, without errors."""
    measures = [list(part.getElementsByClass("Measure")) for part in read_source(source).parts]
    signs = measures[0][0]
    sharps = signs.keySignature.sharps if signs.keySignature else 0
    bars: list[Sequence[str]] = []
    for column in zip(*measures, strict=False):
        if bars and any(bar.keySignature or bar.timeSignature for bar in column):
            break
        bars.append(
            [" ".join(map(_note_word, next(iter(bar.voices), bar).notesAndRests)) for bar in column]
        )
    return _without_errors([Passage(sharps, signs.timeSignature.ratioString, bars)])[0]


def _note_word(note: Any) -> str:
    """A rest or the highest note; in a tuplet no word of LilyPond."""
    duration = _DURATIONS.get(note.quarterLength, "?")
    if note.isRest:
        return f"r{duration}"
    pitch = max(note.pitches)
    octave = pitch.implicitOctave - 3
    name = pitch.name.lower().replace("#", "is").replace("-", "es")
    marks = "'" * octave or "," * -octave
    return f"{name}{marks}{duration}"


def _cut(passage: Passage, length: int, staves: int, draw: Random) -> Passage:
    """Draw bars that follow one another, of the first staves."""
    start = draw.randrange(max(1, len(passage.bars) - length))
    bars = [bar[:staves] for bar in passage.bars[start : start + length]]
    return passage._replace(bars=bars)


def _rewritten(passage: Passage, sharps: int, joined: int, divisor: int) -> Passage:
    """Transpose to another key, join bars and divide durations."""
    steps = (4 * (sharps - passage.sharps) + 3) % 7 - 3

    def rewrite(*texts: str) -> str:
        text = _DURATION.sub(lambda number: str(int(number[0]) * divisor), " ".join(texts))
        return moved(text, steps, passage.sharps, sharps)

    groups = zip(*(passage.bars[start::joined] for start in range(joined)), strict=False)
    bars = [[*map(rewrite, *group)] for group in groups]
    return Passage(sharps, _metre(passage.metre, joined, divisor), bars)


def _write(*passages: Passage) -> str:
    """Write passages one after another as a canonical score."""
    staves = []
    for column in range(len(passages[0].bars[0])):
        lines = []
        for sharps, metre, bars in passages:
            head = rf"\key {_TONICS[sharps + 4]} \major \time {metre} "
            lines += [head * (not place) + bar[column] for place, bar in enumerate(bars)]
        inner = " |\n    ".join(lines)
        clef = "treble" if inner.count("'") > len(lines) else "bass"
        staves.append(f'  \\new Staff {{\n    \\clef "{clef}" {inner} |\n  }}\n')
    return f"<<\n{''.join(staves)}>>\n"


def _medley(pieces: _Pieces, own: str, size: int, draw: Random) -> list[Passage]:
    """Passages in four keys and four metres, which take turns: of a piece, and of others for the
    metres that it does not give.
    """
    staves = min(len(pieces[own].bars[0]), size)
    metres: dict[str, tuple[Passage, tuple[int, int]]] = {}
    for piece, form in product(_shuffled(pieces, own, staves, draw), draw.sample(_FORMS, 4)):
        if (metre := _metre(piece.metre, *form)) in _METRES:
            metres.setdefault(metre, (piece, form))
    signatures, forms = draw.sample(range(-4, 5), 4), [*metres.values()][:4]
    passages = []
    for turn in range(draw.randint(4 * size, 8 * size)):
        piece, form = forms[turn % 4]
        new = _cut(piece, form[0] * draw.randint(size + 1, 2 * size + 4), staves, draw)
        passages.append(_rewritten(new, signatures[(turn + turn // 4) % 4], *form))
    return passages


def _shuffled(pieces: _Pieces, own: str, staves: int, draw: Random) -> list[Passage]:
    """A piece, and in a random order the others with so many staves or more."""
    others = [
        pieces[name] for name in pieces if name != own and len(pieces[name].bars[0]) >= staves
    ]
    return [pieces[own], *draw.sample(others, len(others))]


def _metre(metre: str, joined: int, divisor: int) -> str:
    beats, unit = map(int, metre.split("/"))
    return f"{beats * joined}/{unit * divisor}"


def _bar_count(pieces: _Pieces, own: str, size: int, _: int, draw: Random) -> dict[str, Any]:
    passages = _medley(pieces, own, size, draw)
    return {"answer": str(sum(len(medley.bars) for medley in passages)), "score": _write(*passages)}


def _metadata(pieces: _Pieces, own: str, size: int, turn: int, draw: Random) -> dict[str, Any]:
    passages = _medley(pieces, own, size, draw)
    values = [medley.metre for medley in passages]
    if turn % 2:
        values = [signature_name(medley.sharps) for medley in passages]
    options = draw.sample(values[:4], 4)
    place = turn // 2 % 4  # so that each place is right as often as the others
    right = options[place]
    ends = pairwise(accumulate((len(medley.bars) for medley in passages), initial=1))
    spans = [range(*span) for span, value in zip(ends, values, strict=True) if value == right]
    span = draw.choice(spans[len(spans) // 2 :])
    return {
        "answer": str(place),
        "score": _write(*passages),
        "kind": ("metre_at", "key_at")[turn % 2],
        "options": options,
        "measure": draw.choice(span if size < 3 else (span[0], span[-1])),
    }


def _errors(pieces: _Pieces, own: str, size: int, turn: int, draw: Random) -> dict[str, Any]:
    text = _write(*_without_errors(_unlike(pieces, own, size, draw)))
    kind = _KINDS[turn % len(_KINDS)]
    wrong: list[int] = []
    for seed in range(0 if kind == CLEAN else draw.randint(1, min(size, 3))):
        if result := corrupt(text, kind, seed=turn + seed, wrong=wrong, is_inner=True):  # type: ignore[arg-type]
            text = result.text
            wrong.append(result.measure)
    return {"answer": " ".join(map(str, sorted(wrong))) or "none", "score": text, "kind": kind}


def _unlike(pieces: _Pieces, own: str, size: int, draw: Random) -> list[Passage]:
    """Passages of a piece and of others with as many staves, in different keys, in which no bar is
    like another.
    """
    # As many staves as the piece and some others have.
    most = sorted(len(piece.bars[0]) for piece in pieces.values())[-_FEWEST_PIECES]
    staves = min(len(pieces[own].bars[0]), size + 2, most)
    wanted = 24 * size
    seen: set[Hashable] = set()
    passages = []
    keys = draw.sample(range(-4, 5), 9)
    for piece, sharps in zip(_shuffled(pieces, own, staves, draw), keys, strict=False):
        cut = _cut(piece, 24, staves, draw)
        bars = []
        for bar in cut.bars[:wanted]:
            traits = {*_traits(bar), *chain.from_iterable(_traits([staff]) for staff in bar)}
            if seen.isdisjoint(traits):
                bars.append(bar)
                seen |= traits
        wanted -= len(bars)
        passages += [_rewritten(cut._replace(bars=bars), sharps, 1, 1)] * bool(bars)
    return passages


def _traits(staves: Sequence[str]) -> Iterator[Hashable]:
    """For each word of a bar, the others: durations, and steps above the first note of their staff.

    Bars of few words are like many others, and have no traits.
    """
    words = [
        (number, name and "cdefgab".index(name) + 7 * (marks.count("'") - marks.count(",")), length)
        for number, staff in enumerate(staves)
        for name, marks, length in _WORD.findall(staff)
    ]
    for place in range(len(words) if len(words) >= _FEWEST_WORDS else 0):
        rest = words[:place] + words[place + 1 :]
        firsts = {number: step for number, step, _ in reversed(rest) if step != ""}
        yield (
            place,
            tuple(
                (number, step if step == "" else step - firsts[number], length)
                for number, step, length in rest
            ),
        )


def _without_errors(passages: Sequence[Passage]) -> Sequence[Passage]:
    """Leave out measures with errors, until there is none."""
    while numbers := set(chain(*find_errors(_write(*passages)).values())):
        places = count(1)
        passages = [
            passage._replace(bars=[bar for bar in passage.bars if next(places) not in numbers])
            for passage in passages
        ]
    return passages


MAKERS: Mapping[TaskName, Callable[..., dict[str, Any]]] = {
    "bar_count": _bar_count,
    "metadata_qa": _metadata,
    "error_detection": _errors,
}
"""Task → what makes an item's answer, score and so on."""
