"""Level 4: countable properties of texture and form (section 3.1 of the paper: texture and
form).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations, pairwise, product, starmap
from random import Random
from typing import Any

from music_evals.datasets_builders.msu.questions.kind import (
    Answers,
    Cases,
    Draw,
    cells,
    evenly,
    of_cells,
    sampled,
    varied,
)
from music_evals.datasets_builders.msu.questions.reading import Cell, Reading, Voice

_SPAN = 2  # measures that a question on texture spans
_TOGETHER = 0.95  # least share of moments in homophony at which all parts have a note
_MELODY = 5  # least number of notes of a melody
_STEPS = 0.6  # least share of steps among the intervals of a melody
_LEAD = 1.25  # the most frequent value must be so many times as frequent as the next
_RANGE_LEAD = 3  # semitones by which the widest part must lead
_MOST_MEASURES = 3
_ENOUGH_CASES = 9


def _texture(reading: Reading, rng: Random) -> Answers:
    size = len(reading.measures) - _SPAN + 1
    if len(reading.voices) < 2 or size < 1:
        return
    textures = {index: _texture_of(reading, index) for index in sampled(size, rng)}
    certain = [(index, name) for index, name in textures.items() if name]
    for index, name in varied(certain, rng, least=1):
        yield name, reading.span(index, _SPAN)


def _texture_of(reading: Reading, index: int) -> str | None:
    """The texture from a measure on; None if it is disputable, such as a melody over chords."""
    rows = [voice.cells[index : index + _SPAN] for voice in reading.voices]
    if any(cell.has_grace or not cell.is_clear for cell in chain.from_iterable(rows)):
        return None
    parts = [line for line in map(_Line, rows) if line.notes]
    if sum(len(part.notes) for part in parts) < 4:
        return None
    if len(parts) == 1:
        return "Monophonic" if parts[0].is_line else None
    if _is_homophonic(parts):
        return "Homophonic"
    return "Polyphonic" if reading.is_harmonic and _is_polyphonic(parts) else None


class _Line:
    """The notes of a part in consecutive measures."""

    def __init__(self, row: Sequence[Cell]) -> None:
        self.notes = [(at, event) for at, cell in enumerate(row) for event in cell.notes]
        self.onsets = {(at, event.start) for at, event in self.notes}
        self.rests = [
            (at, event.start)
            for at, cell in enumerate(row)
            for event in cell.events
            if not event.pitches
        ]
        self.is_line = all(cell.is_line for cell in row)
        self.heights = [event.pitches[0].diatonicNoteNum for _, event in self.notes]
        moves = [b - a for a, b in pairwise(self.heights)]
        self.moves = dict(zip(sorted(self.onsets)[1:], moves, strict=False))

    @property
    def is_melody(self) -> bool:
        """Whether it moves mostly by step in all measures, with few rests, repeated notes and
        leaps.
        """
        # Rests before the first and after the last note do not count.
        begin, end = min(self.onsets), max(self.onsets)
        gaps = [rest for rest in self.rests if begin < rest < end]
        if not self.is_line or len({at for at, _ in self.notes}) < _SPAN or len(gaps) > 1:
            return False
        if len(self.notes) < _MELODY or len(set(self.heights)) < _MELODY - 1:
            return False
        moves = [abs(move) for move in self.moves.values()]
        return moves.count(1) >= _STEPS * len(moves) and moves.count(0) <= len(moves) / 4


def _is_homophonic(parts: Sequence[_Line]) -> bool:
    """Whether at least three parts move together."""
    onsets = [part.onsets for part in parts]
    moments = set().union(*onsets)
    together = moments.intersection(*onsets)
    return len(parts) > 2 and len(moments) > 3 and len(together) / len(moments) >= _TOGETHER


def _is_polyphonic(parts: Sequence[_Line]) -> bool:
    """Whether the parts are independent melodies."""
    are_melodies = all(part.is_melody for part in parts)
    return are_melodies and all(starmap(_are_independent, combinations(parts, 2)))


def _are_independent(a: _Line, b: _Line) -> bool:
    """Whether two melodies have different rhythms and do not move in parallel."""
    shared = a.onsets & b.onsets
    own = min(len(a.onsets - shared), len(b.onsets - shared))
    if own < 2 or len(shared) > len(a.onsets | b.onsets) / 2:
        return False
    moves = [a.moves[at] * b.moves[at] for at in a.moves.keys() & b.moves.keys()]
    return sum(move > 0 for move in moves) <= len(moves) / 2


# --- the most frequent, the widest, the fullest ---


def _leader(counts: Counter[Any]) -> tuple[Any, int, int]:
    """The most frequent entry, its count, and the count of the next."""
    (first, count), (_, next_count) = [*counts.most_common(2), ("", 0)][:2]
    return first, count, next_count


def _values(*voices: Voice) -> Counter[str]:
    notes = chain.from_iterable(voice.notes for voice in voices)
    return Counter(event.value or "other" for event in notes)


def _most_frequent(counts: Counter[str], *blanks: str) -> Answers:
    if counts:
        value, count, next_count = _leader(counts)
        if value != "other" and count >= max(10, _LEAD * next_count):
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
        counts = Counter({voice.name: len(voice.notes) for voice in reading.voices})
        name, count, next_count = _leader(counts)
        if count >= 1.1 * next_count:
            yield (name,)


def _widest_part(reading: Reading, rng: Random) -> Answers:
    if _have_names(reading) and all(voice.is_at_pitch for voice in reading.voices):
        widths: Counter[str] = Counter()
        for voice in reading.voices:
            pitches = chain.from_iterable(cell.pitches for cell in voice.cells)
            heights = [note.ps for note in pitches]
            widths[voice.name] = max(heights, default=0) - min(heights, default=0)
        name, width, next_width = _leader(widths)
        if width >= next_width + _RANGE_LEAD:
            yield (name,)


def _fullest_measure(reading: Reading, rng: Random) -> Answers:
    measures = chain.from_iterable(voice.cells for voice in reading.voices)
    if any(cell.has_unison for cell in measures):
        return
    numbers = [measure.number for measure in reading.measures]
    counts: Counter[int] = Counter()
    for voice in reading.voices:
        counts.update(dict(zip(numbers, (len(cell.pitches) for cell in voice.cells), strict=True)))
    number, count, next_count = _leader(counts)
    if len(counts) > 1 and count >= next_count + 2:
        yield (str(number),)


def _climax(reading: Reading, rng: Random) -> Answers:
    for voice in rng.sample(reading.voices, len(reading.voices)):
        # A note that is tied into the next measure counts in both.
        highest: dict[float, list[int]] = {}
        for index, cell in enumerate(voice.cells):
            heights = [event.pitches[-1].ps for event in cell.events if event.pitches]
            highest.setdefault(max(heights, default=0.0), []).append(index)
        height = max(highest)
        if voice.is_at_pitch and height and len(highest[height]) <= _MOST_MEASURES:
            yield reading.numbers(highest[height]), voice.label or "the piece"


# --- entries and parts ---


def _entry(voice: Voice) -> tuple[int, Fraction] | None:
    """Index of the measure of the first note of a part, and the start of the note in it."""
    entries = ((index, cell.notes[0].start) for index, cell in enumerate(voice.cells) if cell.notes)
    return next(entries, None)


def _last_entry(reading: Reading, rng: Random) -> Answers:
    entries = [entry[0] for entry in map(_entry, reading.voices) if entry]
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
    if len(reading.voices) < 3:
        return
    upper, lower = reading.voices[:2]
    if not upper.is_pitched or not lower.is_pitched:
        return
    for index, (above, below) in enumerate(zip(upper.cells, lower.cells, strict=True)):
        if not (above.is_at_pitch and below.is_at_pitch):
            continue
        pairs = product(above.notes, below.notes)
        gaps = [a.pitches[0].ps - b.pitches[-1].ps for a, b in pairs if a.overlaps(b)]
        gap = min(gaps, default=0)
        # In unison they neither cross nor stay apart.
        if gap != 0:
            yield gap < 0, reading.where(index), lower.label, upper.label


# --- repetition and motion ---


def _is_figure(cell: Cell) -> bool:
    """Whether a measure has enough notes to be recognised when it comes again."""
    if len(cell.notes) < 3 or len({note.ps for note in cell.pitches}) < 3:
        return False
    return all(event.value for event in cell.events if event.pitches)


def _figures(reading: Reading, rng: Random) -> Iterator[tuple[int, Voice, Cell]]:
    for index, voice, cell in cells(reading, rng):
        if voice.is_pitched and _is_figure(cell):
            yield index, voice, cell


def _is_repeated(reading: Reading, rng: Random) -> Cases:
    """Whether a measure of a part comes again in another measure."""
    counts = {True: 0, False: 0}
    for index, voice, cell in _figures(reading, rng):
        likeness = {
            at: _likeness(cell, later)
            for at, later in enumerate(voice.cells)
            if at > index and _is_figure(later)
        }
        same = [at for at, share in likeness.items() if share == 1]
        unlike = [at for at, share in likeness.items() if share < 0.5]
        for is_same, indices in ((True, same), (False, unlike)):
            if indices:
                number = reading.numbers([rng.choice(indices)])
                counts[is_same] += 1
                yield is_same, number, voice.in_part, reading.numbers([index])
        if min(counts.values()) > _ENOUGH_CASES:
            return


def _likeness(cell: Cell, other: Cell) -> float:
    """Share of the notes and rests of two measures that both have."""
    events, other_events = set(cell.outline), set(other.outline)
    return len(events & other_events) / len(events | other_events)


def _return(reading: Reading, rng: Random) -> Answers:
    for index, voice, cell in _figures(reading, rng):
        same = [at for at, other in enumerate(voice.cells) if other.outline == cell.outline]
        later = same[1:]
        if cell.is_at_pitch and same[0] == index and later and len(later) <= _MOST_MEASURES:
            yield reading.numbers(later), reading.where(index, voice)


def _is_stepwise(voice: Voice, cell: Cell) -> bool | None:
    if not (voice.is_pitched and cell.is_line and 4 <= len(cell.notes) == len(cell.events)):
        return None
    steps = {abs(a.diatonicNoteNum - b.diatonicNoteNum) for a, b in pairwise(cell.pitches)}
    # Repeated notes beside steps are uncertain.
    return None if steps <= {0, 1} and 0 in steps else steps == {1}


def _metre_changes(reading: Reading, rng: Random) -> Answers:
    if count := sum(measure.is_new_metre for measure in reading.measures):
        yield (str(count),)


DRAWS: Mapping[str, Draw] = {
    "texture": _texture,
    "predominant rhythm": lambda reading, _: _most_frequent(_values(*reading.voices)),
    "predominant rhythm of a part": _rhythm_of_part,
    "busiest part": _busiest_part,
    "widest part": _widest_part,
    "fullest measure": _fullest_measure,
    "last entry": _last_entry,
    "first entry": _first_entry,
    "exact repetition": evenly(_is_repeated),
    "return of a measure": _return,
    "highest note": _climax,
    "stepwise motion": evenly(of_cells(_is_stepwise)),
    "crossing parts": evenly(_are_crossing),
    "all parts present": evenly(_are_all_present),
    "metre changes": _metre_changes,
}
"""Kind of question of level 4 → what draws its questions."""
