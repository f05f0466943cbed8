"""Level 4: countable properties of texture and form (section 3.1 of the paper: texture and
form).
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise, starmap
from random import Random
from typing import Any, Final

from music_evals.datasets_builders.msu.questions.kind import (
    Answers,
    Cases,
    Kind,
    cells,
    evenly,
    of_cells,
    sampled,
    varied,
)
from music_evals.datasets_builders.msu.questions.reading import Cell, Reading, Voice

_SPAN: Final = 2  # measures that a question on texture spans
_TOGETHER: Final = 0.95  # least share of moments in homophony at which all parts have a note
_MELODY: Final = 5  # least number of notes of a melody
_STEPS: Final = 0.6  # least share of steps among the intervals of a melody
_LEAD: Final = 1.25  # the most frequent value must be so many times as frequent as the next
_RANGE_LEAD: Final = 3  # semitones by which the widest part must lead
_MOST_MEASURES: Final = 3
_ENOUGH_CASES: Final = 9


def _texture(reading: Reading, rng: Random) -> Answers:
    size = len(reading.measures) - _SPAN + 1
    if len(reading.voices) < 2 or size < 1:
        return
    textures = [
        (index, name) for index in sampled(size, rng) if (name := _texture_of(reading, index))
    ]
    for index, name in varied(textures, rng, least=1):
        yield name, reading.span(index, _SPAN)


def _texture_of(reading: Reading, index: int) -> str | None:
    """The texture from a measure on; None if it is disputable, such as a melody over chords."""
    rows = [list(voice.cells[index : index + _SPAN]) for voice in reading.voices]
    if any(cell.has_grace or not cell.is_clear for row in rows for cell in row):
        return None
    parts = [_Line(row) for row in rows if any(cell.notes for cell in row)]
    if sum(len(part.events) for part in parts) < 4:
        return None
    moments = set().union(*(part.onsets for part in parts))
    together = sum(all(moment in part.onsets for part in parts) for moment in moments) / len(
        moments
    )
    if len(parts) == 1:
        return "Monophonic" if parts[0].is_line else None
    if together >= _TOGETHER and len(parts) > 2 and len(moments) > 3:
        return "Homophonic"
    are_melodies = all(voice.is_pitched for voice in reading.voices) and all(
        part.is_melody for part in parts
    )
    return (
        "Polyphonic"
        if are_melodies and all(starmap(_are_independent, combinations(parts, 2)))
        else None
    )


class _Line:
    """The notes of a part in consecutive measures; it has at least one note."""

    def __init__(self, row: Sequence[Cell]) -> None:
        self.events = [(at, event) for at, cell in enumerate(row) for event in cell.notes]
        self.onsets = {(at, event.start) for at, event in self.events}
        self.is_line = all(cell.is_line for cell in row)
        rests = [
            (at, event.start)
            for at, cell in enumerate(row)
            for event in cell.events
            if not event.pitches
        ]
        # Rests between notes, without rests before the first and after the last note.
        self.gaps = sum(min(self.onsets) < rest < max(self.onsets) for rest in rests)
        self.heights = [event.pitches[0].diatonicNoteNum for _, event in self.events]
        self.moves = dict(
            zip(sorted(self.onsets)[1:], (b - a for a, b in pairwise(self.heights)), strict=False)
        )

    @property
    def is_melody(self) -> bool:
        """Whether it moves mostly by step in all measures, with few rests, repeated notes and
        leaps.
        """
        fills_span = len({at for at, _ in self.events}) == _SPAN and self.gaps < 2
        is_varied = len(self.events) >= _MELODY and len(set(self.heights)) >= _MELODY - 1
        if not (self.is_line and fills_span and is_varied):
            return False
        moves = [abs(move) for move in self.moves.values()]
        return moves.count(1) >= _STEPS * len(moves) and moves.count(0) <= len(moves) / 4


def _are_independent(a: _Line, b: _Line) -> bool:
    """Whether two melodies have different rhythms and do not move in parallel."""
    shared = a.onsets & b.onsets
    both = [(a.moves[at], b.moves[at]) for at in shared if at in a.moves and at in b.moves]
    parallel = sum(move_a * move_b > 0 for move_a, move_b in both)
    own = min(len(a.onsets - shared), len(b.onsets - shared))
    return own > 1 and len(shared) <= len(a.onsets | b.onsets) / 2 and parallel <= len(both) / 2


# --- the most frequent, the widest, the fullest ---


def _leader(counts: Counter[Any]) -> tuple[Any, int, int]:
    """The most frequent entry, its count, and the count of the next."""
    (first, count), *rest = counts.most_common(2)
    return first, count, rest[0][1] if rest else 0


def _values(*voices: Voice) -> Counter[str]:
    return Counter(
        event.value or "other" for voice in voices for cell in voice.cells for event in cell.notes
    )


def _most_frequent(counts: Counter[str], *blanks: str) -> Answers:
    if counts:
        value, count, next_count = _leader(counts)
        if value != "other" and count >= 10 and count >= _LEAD * next_count:
            yield f"{value} note", *blanks


def _rhythm_of_part(reading: Reading, rng: Random) -> Answers:
    if len(reading.voices) > 1:
        for voice in rng.sample(reading.voices, len(reading.voices)):
            yield from _most_frequent(_values(voice), voice.in_part)


def _have_names(reading: Reading) -> bool:
    """Whether there are several parts with different names."""
    names = {voice.name for voice in reading.voices}
    return all(names) and len(names) == len(reading.voices) > 1


def _busiest_part(reading: Reading, rng: Random) -> Answers:
    if _have_names(reading):
        counts = Counter(
            {voice.name: sum(len(cell.notes) for cell in voice.cells) for voice in reading.voices}
        )
        name, count, next_count = _leader(counts)
        if count >= 1.1 * next_count:
            yield (name,)


def _widest_part(reading: Reading, rng: Random) -> Answers:
    if _have_names(reading) and all(voice.is_at_pitch for voice in reading.voices):
        widths = []
        for voice in reading.voices:
            heights = [note.ps for cell in voice.cells for note in cell.pitches]
            widths.append((max(heights) - min(heights) if heights else 0.0, voice.name))
        widths.sort(reverse=True)
        if widths[0][0] >= widths[1][0] + _RANGE_LEAD:
            yield (widths[0][1],)


def _fullest_measure(reading: Reading, rng: Random) -> Answers:
    if any(cell.has_unison for voice in reading.voices for cell in voice.cells):
        return
    counts: Counter[int] = Counter()
    for voice in reading.voices:
        counts.update(
            {
                m.number: len(cell.pitches)
                for m, cell in zip(reading.measures, voice.cells, strict=True)
            }
        )
    number, count, next_count = _leader(counts)
    if len(counts) > 1 and count >= next_count + 2:
        yield (str(number),)


def _climax(reading: Reading, rng: Random) -> Answers:
    for voice in rng.sample(reading.voices, len(reading.voices)):
        heights = [
            max((note.ps for event in cell.events for note in event.pitches), default=0.0)
            for cell in voice.cells
        ]
        # A note that is tied into the next measure counts in both.
        highest = [index for index, height in enumerate(heights) if height == max(heights)]
        if voice.is_at_pitch and len(highest) <= _MOST_MEASURES and max(heights):
            yield reading.numbers(highest), voice.label or "the piece"


# --- entries and parts ---


def _entry(voice: Voice) -> tuple[int, Fraction] | None:
    """Index of the measure of the first note of a part, and the start of the note in it."""
    return next(
        ((index, cell.notes[0].start) for index, cell in enumerate(voice.cells) if cell.notes), None
    )


def _last_entry(reading: Reading, rng: Random) -> Answers:
    entries = [entry[0] for voice in reading.voices if (entry := _entry(voice))]
    if len(entries) == len(reading.voices) and len(set(entries)) > 1:
        yield (reading.numbers([max(entries)]),)


def _first_entry(reading: Reading, rng: Random) -> Answers:
    # By name: the two staves of a piano are one part.
    entries: dict[str, tuple[int, Fraction]] = {}
    for voice in reading.voices:
        if not voice.name:
            return
        if entry := _entry(voice):
            entries[voice.name] = min(entries.get(voice.name, entry), entry)
    ranked = sorted((entry, name) for name, entry in entries.items())
    if len(ranked) > 1 and ranked[0][0] != ranked[1][0]:
        yield (ranked[0][1],)


def _are_all_present(reading: Reading, rng: Random) -> Cases:
    if len(reading.voices) > 1:
        for index in sampled(len(reading.measures), rng):
            yield all(voice.cells[index].notes for voice in reading.voices), reading.where(index)


def _are_crossing(reading: Reading, rng: Random) -> Cases:
    """Whether the two uppermost parts cross."""
    if len(reading.voices) < 3 or not (
        reading.voices[0].is_pitched and reading.voices[1].is_pitched
    ):
        return
    upper, lower = reading.voices[:2]
    for index, (above, below) in enumerate(zip(upper.cells, lower.cells, strict=True)):
        if not (above.is_at_pitch and below.is_at_pitch):
            continue
        pairs = [
            (min(note.ps for note in a.pitches), max(note.ps for note in b.pitches))
            for a in above.notes
            for b in below.notes
            if a.start < b.end and b.start < a.end
        ]
        is_crossing = any(a < b for a, b in pairs)
        if pairs and (is_crossing or all(a > b for a, b in pairs)):
            yield is_crossing, reading.where(index), lower.label, upper.label


# --- repetition and motion ---


def _is_figure(cell: Cell) -> bool:
    """Whether a measure has enough notes to be recognised when it comes again."""
    is_plain = all(event.value for event in cell.events if event.pitches)
    return len(cell.notes) > 2 and len({note.ps for note in cell.pitches}) > 2 and is_plain


def _is_repeated(reading: Reading, rng: Random) -> Cases:
    """Whether a measure of a part comes again in another measure."""
    counts = {True: 0, False: 0}
    for index, voice, cell in cells(reading, rng):
        if not _is_figure(cell) or not voice.is_pitched:
            continue
        later = [
            (at, other) for at, other in enumerate(voice.cells) if at > index and _is_figure(other)
        ]
        events = {
            at: ({*cell.outline} & {*other.outline}, {*cell.outline} | {*other.outline})
            for at, other in later
        }
        same = [at for at, (common, either) in events.items() if common == either]
        unlike = [at for at, (common, either) in events.items() if len(common) / len(either) < 0.5]
        for is_same, indices in ((True, same), (False, unlike)):
            if indices:
                number = reading.numbers([rng.choice(indices)])
                counts[is_same] += 1
                yield is_same, number, voice.in_part, reading.numbers([index])
        if min(counts.values()) > _ENOUGH_CASES:
            return


def _return(reading: Reading, rng: Random) -> Answers:
    for index, voice, cell in cells(reading, rng):
        if not _is_figure(cell) or not voice.is_pitched or not cell.is_at_pitch:
            continue
        same = [
            at
            for at, other in enumerate(voice.cells)
            if at != index and other.outline == cell.outline
        ]
        if same and index < min(same) and len(same) <= _MOST_MEASURES:
            yield reading.numbers(same), reading.where(index, voice)


def _is_stepwise(voice: Voice, cell: Cell) -> bool | None:
    if (
        not voice.is_pitched
        or len(cell.notes) < 4
        or len(cell.notes) != len(cell.events)
        or not cell.is_line
    ):
        return None
    steps = {abs(a.diatonicNoteNum - b.diatonicNoteNum) for a, b in pairwise(cell.pitches)}
    return steps == {1} if steps == {1} or max(steps) > 1 else None


def _metre_changes(reading: Reading, rng: Random) -> Answers:
    if count := sum(measure.is_new_metre for measure in reading.measures):
        yield (str(count),)


KINDS: Final = (
    Kind(4, "texture", "text", _texture, weight=1.5, lists_answers=True),
    Kind(
        4,
        "predominant rhythm",
        "duration",
        lambda reading, _: _most_frequent(_values(*reading.voices)),
    ),
    Kind(4, "predominant rhythm of a part", "duration", _rhythm_of_part, weight=0.6),
    Kind(4, "busiest part", "text", _busiest_part, weight=0.7),
    Kind(4, "widest part", "text", _widest_part),
    Kind(4, "fullest measure", "measures", _fullest_measure),
    Kind(4, "last entry", "measures", _last_entry, weight=2),
    Kind(4, "first entry", "text", _first_entry, weight=2),
    Kind(4, "exact repetition", "yes_no", evenly(_is_repeated)),
    Kind(4, "return of a measure", "measures", _return, weight=1.5),
    Kind(4, "highest note", "measures", _climax),
    Kind(4, "stepwise motion", "yes_no", evenly(of_cells(_is_stepwise))),
    Kind(4, "crossing parts", "yes_no", evenly(_are_crossing), weight=1.5),
    Kind(4, "all parts present", "yes_no", evenly(_are_all_present)),
    Kind(4, "metre changes", "number", _metre_changes, weight=2),
)
"""Kinds of questions of level 4."""
