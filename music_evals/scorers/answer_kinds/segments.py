"""The structure of a song: ``segments``, the times in seconds at which its sections begin, a label
each, and its end.

Conventions: an answer is ``0 intro; 12.4 verse; 33.2 end``. Labels are the eight of SongFormBench,
and ``other``. The argument is what pre-chorus counts as, ``verse`` or ``chorus``; without it,
pre-chorus is a label of its own. Times may be shares of the song, as in ``12.5%``. An answer
without an end goes on to the end of the song.

Source: C. Hao and others, "SongFormer" (arXiv 2510.02797), `eval_infer_results.py` of its
repository; mir_eval.segment.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from music_evals.scorers.answer_kinds.kind import AnswerKind
from music_evals.scorers.readers.patterns import load
from music_evals.scorers.readers.words import Vocabulary, folded

_BETWEEN = "; "
_END, _OTHER, _INST, _MERGED = "end", "other", "inst", "pre-chorus"
_PARTS = (1, 2, 4, 8, 16, 32)  # equal parts of the songs, of guesses
_MOST = 500  # sections of an answer
_LINES = 2_000
_GAP = 1.0  # seconds between the end of a section and the next one that are the same boundary

_SIGN = "[\ue000-\uf8ff]"  # a label, see `Vocabulary.marked`
_FIELD = re.compile(
    r"(?i)\b(?:duration|length|confidence|tempo|bpm)\w{0,9}'? ?[:=] ?[\d.:]{1,12}"
    r"|\b(?:start|end|begin|from|to|time|timestamp|label|section|segment|type|name)"
    r"(?:[_ ]?(?:time|label|name|sec(?:onds)?|s))?'? ?[:=]"
)
_MINUTES = re.compile(
    r"(?i)\b(\d{1,3}) ?(?:m|mins?|minutes?|分) ?(?:and )?(\d{1,2}(?:\.\d{1,3})?) ?"
    r"(?:s\b|sec\w{0,4}|秒)"
)
_COMMA = re.compile(r"(?<![\d.,:])(\d{1,4}),(\d{1,3})(?= ?-| [^\W\d]| \W?[\ue000-\uf8ff])")
_ORDINAL = re.compile(  # "Verse 1: 12.4", "Verse 1 - 12.4 to 33.2"
    rf"({_SIGN}) ?#?[1-9](?= ?[^\w\s.\ue000-\uf8ff-][^\n\ue000-\uf8ff]{{0,40}}?\d"
    r"|(?: ?- ?| )\d[\d.]{0,8} ?(?:-|to) ?\d)"
)
_ASIDE = re.compile(rf"({_SIGN}[\w ]{{0,40}})\([^()\n]{{0,200}}\)")
_ITEMS = re.compile(r"[\n;]|(?<=[)\]]) ?, ?(?=[(\[])")
_HEAD = re.compile(r"[(\[,:.|]| - ")
_EDGES = " -:,|()[]{}'=>.#~"
_CLOCK = r"(?<![\w.:])(?:\d{1,2}:)?\d{1,3}:\d{1,2}(?:[.,]\d{1,9})?(?!\d|:\d)"
_NUMBER = r"(?<![\w.:/#])\d{1,5}(?:\.\d{1,9})?(?!\d|[:/]\d|\.\d|-[a-z]|(?!s\b|sec)[a-z])%?"
_UNIT = r"(?: ?(?:s|secs?|seconds?|秒)(?![^\W_]))?"
_TO = (
    _UNIT + r"[^\w\n\ue000-\uf8ff]{0,6}(?:to|until|till|bis|a|至|到)?"
    r"[^\w\n\ue000-\uf8ff]{0,3}"
)


class _Item(NamedTuple):
    start: float
    end: float | None
    label: str  # nothing for a time alone


class _Structure(NamedTuple):
    times: list[float]
    labels: list[str]

    def label_at(self, time: float) -> str:
        """The label of a moment; nothing ahead of the first."""
        place = bisect_right(self.times, time)
        return self.labels[place - 1] if place else ""


def make(_: str, merged: str, __: object) -> AnswerKind:
    """Make ``segments``, with the label that pre-chorus counts as."""
    return AnswerKind(
        read=read,
        score=partial(label_accuracy, merged=merged),
        write=lambda reference: reference.replace(_BETWEEN, "\n"),
        guesses=partial(_constants, merged=merged),
        is_long=True,
    )


def label_accuracy(
    answer: str, reference: str, merged: str = "", *, is_common: bool = False
) -> float:
    """Return the share of time with the right label, from 0 to 1.

    Args:
        answer: a structure; an empty one is no answer.
        reference: the structure.
        merged: the label that pre-chorus counts as, in both.
        is_common: whether only the time that both cover counts, as by the authors' script; else the
            whole time of the reference, so that what an answer leaves out is wrong.

    >>> label_accuracy("0 intro; 10 verse; 15 end", "0 intro; 5 verse; 20 end")
    0.5
    """
    if not answer:
        return 0.0
    expected = _structure(reference, merged=merged)
    start, end = expected.times[0], expected.times[-1]
    given = _structure(answer, end, merged)
    if is_common:
        start = max(start, given.times[0])
        end = min(end, given.times[-1]) if given.labels[-1] == _END else end
    if end <= start:
        return 0.0
    inner = [time for time in (*given.times, *expected.times) if start < time < end]
    right = 0.0
    for time, following in pairwise(sorted({start, *inner, end})):
        if given.label_at(time) == expected.label_at(time):
            right += following - time
    return right / (end - start)


def hit_rate(answer: str, reference: str, window: float) -> float:
    """Return the F-measure of boundaries within a window in seconds, the first and the last one
    included.

    >>> hit_rate("0 intro; 10 verse; 20 end", "0 intro; 12 verse; 20 end", 0.5)
    0.6666666666666666
    """
    if not answer:
        return 0.0
    from mir_eval.segment import detection

    expected = _structure(reference).times
    given = _structure(answer, expected[-1]).times
    sides = (np.column_stack([times[:-1], times[1:]]) for times in (expected, given))
    return float(detection(*sides, window, trim=False)[2])


def _structure(text: str, length: float = 0.0, merged: str = "") -> _Structure:
    """The structure of a text, and of a song of so many seconds."""
    structure = _Structure([], [])
    for entry in text.split(_BETWEEN):
        time, label = entry.split(" ")
        seconds = float(time.rstrip("%"))
        structure.times.append(seconds * length / 100 if "%" in time else seconds)
        structure.labels.append(merged if merged and label == _MERGED else label)
    return structure


def _constants(references: Sequence[str], merged: str) -> list[str]:
    """Structures that have in each of so many equal parts the label that is commonest there."""
    songs = [_structure(reference, merged=merged) for reference in references]
    guesses = []
    for parts in _PARTS:
        entries = []
        for part in range(parts):
            place = (part + 0.5) / parts
            counts = Counter(song.label_at(place * song.times[-1]) for song in songs)
            entries.append(f"{100 * part / parts:g}% {counts.most_common(1)[0][0] or _OTHER}")
        guesses.append(_BETWEEN.join([*entries, f"100% {_END}"]))
    return guesses


# --- reading ---


@cache
def _vocabulary() -> Vocabulary:
    names = []
    for labels in load("segments").values():
        for label, others in labels.items():
            names += [(name, label) for name in (label, *others)]
    return Vocabulary(names)


def read(statement: str) -> list[str]:
    """Return the structure that a statement gives, the one with most sections if there are several.

    >>> read("0:00 - 0:12 Intro\\n0:12 - 0:33 Verse 1 (piano)")
    ['0 intro; 12 verse; 33 end']
    >>> read("an intro from 0 to 12.4, then a chorus from 12.4 to 20 s")
    ['0 intro; 12.4 chorus; 20 end']
    """
    lines = statement.splitlines()[:_LINES]
    text = _FIELD.sub(" ", "\n".join(map(folded, lines)))
    text = _COMMA.sub(r"\1.\2", _MINUTES.sub(r"\1:\2", text))
    text = _ORDINAL.sub(r"\1 ", _vocabulary().marked(text))
    time = _CLOCK if re.search(_CLOCK, text) else _NUMBER
    shares = [number.endswith("%") for number in re.findall(time, text)]
    if not all(shares):
        text = re.sub(r"\d{1,3}(?:\.\d{1,9})?%", " ", text)
    unit = "%" if shares and all(shares) else ""
    structures = [_join(run, unit) for run in _runs(_items(text, time))]
    most = max((structure.count(_BETWEEN) for structure in structures), default=0)
    if not 0 < most <= _MOST:
        return []
    longest = [structure for structure in structures if structure.count(_BETWEEN) == most]
    return list(dict.fromkeys(longest))


def _items(text: str, time: str) -> Iterator[_Item]:
    """The sections that a text names, each with one time or two, ahead of its label or behind."""
    times = re.compile(rf"({time})(?:{_TO}({time}))?{_UNIT}")
    for piece in _ITEMS.split(text):
        first = times.search(piece)
        if first is None:
            continue
        is_ahead = not re.search(_SIGN, piece[: first.start()])
        if is_ahead:
            piece = _ASIDE.sub(r"\1", piece)
        places = [match.span() for match in times.finditer(piece)]
        gaps = list(pairwise([0, *(edge for place in places for edge in place), len(piece)]))
        gaps = gaps[2::2] if is_ahead else gaps[:-1:2]
        for number, (match, gap) in enumerate(zip(times.finditer(piece), gaps, strict=True)):
            label = piece[slice(*gap)]
            if number and not re.search(_SIGN, label):
                continue
            start = _seconds(match[1])
            end = _seconds(match[2] or "0")
            yield _Item(start, end if end > start else None, _label(label))


def _label(text: str) -> str:
    """The label that a text names; `_OTHER` if it is none or several, nothing without a word."""
    tags = _vocabulary().tags_of_signs
    text = text.strip(_EDGES)
    head = _HEAD.split(text)[0]
    for part in (head, text):
        labels = {sign.translate(tags) for sign in re.findall(_SIGN, part)}
        # "Instrumental outro", "3:40 - end: outro".
        labels = labels - {_INST, _END} or labels - {_END} or labels
        if labels:
            return labels.pop() if len(labels) == 1 else _OTHER
        if len(part.split()) <= 3:
            break
    return _OTHER if re.search(r"[^\W\d_]", text) else ""


def _seconds(time: str) -> float:
    seconds = 0.0
    for number in time.replace(",", ".").rstrip("%").split(":"):
        seconds = 60 * seconds + float(number)
    return seconds


def _runs(items: Iterator[_Item]) -> list[list[_Item]]:
    """Sections in the order of their times, up to an end."""
    runs: list[list[_Item]] = []
    for item in items:
        last = runs[-1][-1] if runs else None
        if last and last.label != _END and last.start < item.start:
            runs[-1].append(item)
        else:
            runs.append([item])
    return runs


def _join(run: Sequence[_Item], unit: str) -> str:
    """Write sections in the form of a reference."""
    entries = []
    end = None
    for start, following, label in run:
        if end is not None and start - end > _GAP:
            entries.append((end, _OTHER))
        entries.append((start, label or _OTHER))
        end = following
    last, label = entries[-1]
    if end is not None and label != _END:
        entries.append((end, _END))
    elif not run[-1].label:
        entries[-1] = (last, _END)
    return _BETWEEN.join(f"{time:g}{unit} {label}" for time, label in entries)
