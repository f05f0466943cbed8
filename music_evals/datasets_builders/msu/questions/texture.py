"""Level 4: texture and form, as far as they can be counted (section 3.1 of the paper: texture and form)."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Final

from music_evals.datasets_builders.msu.questions.kind import PLACES, Answered, Kind, cells, evenly, of, span, where
from music_evals.datasets_builders.msu.questions.reading import Cell, Reading, Voice

# Measures that a question on texture, register, steps or repetition spans.
_SPAN: Final = 2
# A texture is named only where at least or at most these shares of the moments have a note in every part.
_TOGETHER: Final = 0.95
_APART: Final = 0.34
# The most frequent, largest or widest must lead by this much.
_LEAD: Final = 1.25
_RANGE_LEAD: Final = 3
# Registers: below, inside and above the octave from C4 to B4.
_MIDDLE: Final = range(60, 72)
_MOST_MEASURES: Final = 3


def _texture(reading: Reading, rng: Random) -> Answered | None:
    found: dict[str, list[int]] = {}
    size = len(reading.measures) - _SPAN + 1
    if len(reading.voices) < 2 or size < 1:
        return None
    for index in rng.sample(range(size), min(PLACES, size)):
        name = _texture_of(reading, index)
        if name:
            found.setdefault(name, []).append(index)
    if not found:
        return None
    name = rng.choice(sorted(found))
    text = (
        f"Which texture do {span(reading, rng.choice(found[name]), _SPAN)} have: monophonic (a single line sounds), "
        "homophonic (all parts that sound begin their notes together) or polyphonic (the parts move in rhythms of "
        "their own)?"
    )
    return text, name


def _texture_of(reading: Reading, index: int) -> str | None:
    rows = [list(voice.cells[index : index + _SPAN]) for voice in reading.voices]
    onsets = [
        {(at, event.start) for at, cell in enumerate(row) for event in cell.notes}
        for row in rows
        if any(cell.notes for cell in row)
    ]
    events = [event for row in rows for cell in row for event in cell.notes]
    if any(event.is_grace for row in rows for cell in row for event in cell.events) or len(events) < 4:
        return None
    moments = set().union(*onsets)
    if len(onsets) == 1:
        alone = len(moments) == len(events) and all(len(event.pitches) == 1 for event in events)
        return "Monophonic" if alone else None
    if any(len(each) < 2 for each in onsets):
        return None
    together = sum(all(moment in each for each in onsets) for moment in moments) / len(moments)
    if together >= _TOGETHER and len(onsets) > 2 and len(moments) > 3:
        return "Homophonic"
    lines = all(len(event.pitches) == 1 for event in events) and len(onsets) > 2
    lively = all(len(each) >= 3 for each in onsets)
    return "Polyphonic" if together <= _APART and lines and lively else None


def _rhythm(reading: Reading, rng: Random) -> Answered | None:
    counts: Counter[str] = Counter()
    for voice in reading.voices:
        for cell in voice.cells:
            counts.update(event.value or "other" for event in cell.notes)
    return _most_frequent(
        counts, "What is the most frequent note value of the piece (all parts together, ties not added up)?"
    )


def _rhythm_of_part(reading: Reading, rng: Random) -> Answered | None:
    if len(reading.voices) < 2:
        return None
    voice = rng.choice(reading.voices)
    counts = Counter(event.value or "other" for cell in voice.cells for event in cell.notes)
    return _most_frequent(counts, f"What is the most frequent note value{of(voice)} (ties not added up)?")


def _most_frequent(counts: Counter[str], text: str) -> Answered | None:
    ranked = counts.most_common(2)
    if not ranked or ranked[0][1] < 10 or ranked[0][0] == "other":
        return None
    if len(ranked) > 1 and ranked[0][1] < _LEAD * ranked[1][1]:
        return None
    return text, f"{ranked[0][0]} note"


def _register(reading: Reading, rng: Random) -> Answered | None:
    found: dict[str, list[tuple[int, Voice]]] = {}
    for index, voice, _ in cells(reading, rng):
        run = voice.cells[index : index + _SPAN]
        if not voice.is_pitched or len(run) < _SPAN or not all(cell.is_at_pitch for cell in run):
            continue
        heights = [int(each.ps) for cell in run for event in cell.events for each in event.pitches]
        if len(heights) < 3:
            continue
        if max(heights) < _MIDDLE.start:
            found.setdefault("Low", []).append((index, voice))
        elif min(heights) >= _MIDDLE.stop:
            found.setdefault("High", []).append((index, voice))
        elif min(heights) >= _MIDDLE.start and max(heights) < _MIDDLE.stop:
            found.setdefault("Middle", []).append((index, voice))
    if len(found) < 2:
        return None
    name = rng.choice(sorted(found))
    index, voice = rng.choice(found[name])
    text = (
        f"In which register do {span(reading, index, _SPAN)}{of(voice)} lie: low (all notes below C4), middle (all "
        "from C4 to B4) or high (all from C5 up)?"
    )
    return text, name


def _busiest_part(reading: Reading, rng: Random) -> Answered | None:
    if not all(voice.name for voice in reading.voices) or len(reading.voices) < 2:
        return None
    counts = Counter({voice.name: sum(len(cell.notes) for cell in voice.cells) for voice in reading.voices})
    ranked = counts.most_common(2)
    if len(counts) < len(reading.voices) or ranked[0][1] < 1.1 * ranked[1][1]:
        return None
    return "Which part has the most notes (chords counted as one, grace notes left out)?", ranked[0][0]


def _widest_part(reading: Reading, rng: Random) -> Answered | None:
    names = [voice.name for voice in reading.voices]
    if not all(names) or len(set(names)) < len(names) or len(names) < 2:
        return None
    widths = []
    for voice in reading.voices:
        if not voice.is_pitched or not all(cell.is_at_pitch for cell in voice.cells):
            return None
        heights = [each.ps for cell in voice.cells for event in cell.notes for each in event.pitches]
        widths.append((max(heights) - min(heights) if heights else 0.0, voice.name))
    widths.sort(reverse=True)
    if widths[0][0] < widths[1][0] + _RANGE_LEAD:
        return None
    return "Which part has the widest range, from its lowest to its highest note?", widths[0][1]


def _fullest_measure(reading: Reading, rng: Random) -> Answered | None:
    counts = Counter(
        {
            measure.number: sum(len(event.pitches) for voice in reading.voices for event in voice.cells[index].notes)
            for index, measure in enumerate(reading.measures)
        }
    )
    ranked = counts.most_common(2)
    if len(ranked) < 2 or ranked[0][1] < ranked[1][1] + 2:
        return None
    text = "Which measure has the most notes, all parts together (every note of a chord counts, grace notes do not)?"
    return text, str(ranked[0][0])


def _all_enter(reading: Reading, rng: Random) -> Answered | None:
    if len(reading.voices) < 2:
        return None
    entries = []
    for voice in reading.voices:
        entry = next((index for index, cell in enumerate(voice.cells) if cell.notes), None)
        if entry is None:
            return None
        entries.append(entry)
    latest = max(entries)
    if latest == min(entries):
        return None
    text = "In which measure does the last of the parts (staves) to enter have its first note?"
    return text, str(reading.measures[latest].number)


def _first_entry(reading: Reading, rng: Random) -> Answered | None:
    # By name, so that the two staves of a piano are one part.
    entries: dict[str, tuple[int, Fraction]] = {}
    for voice in reading.voices:
        entry = next(((index, cell.notes[0].start) for index, cell in enumerate(voice.cells) if cell.notes), None)
        if not voice.name:
            return None
        if entry is not None:
            entries[voice.name] = min(entries.get(voice.name, entry), entry)
    ranked = sorted((entry, name) for name, entry in entries.items())
    if len(ranked) < 2 or ranked[0][0] == ranked[1][0]:
        return None
    return "Which part begins the piece alone?", ranked[0][1]


def _is_figure(cell: Cell) -> bool:
    """Whether a measure has enough to be recognised when it comes again."""
    heights = {each.ps for event in cell.notes for each in event.pitches}
    return len(cell.notes) > 2 and len(heights) > 2 and all(event.value for event in cell.events if event.pitches)


def _repeats(reading: Reading, rng: Random) -> Answered | None:
    """Whether a measure of a part comes again at another place."""
    yes: list[str] = []
    no: list[str] = []
    for index, voice, cell in cells(reading, rng):
        if not _is_figure(cell) or not voice.is_pitched:
            continue
        others = [
            (at, _agreement(cell, other)) for at, other in enumerate(voice.cells) if at > index and _is_figure(other)
        ]
        same = [at for at, share in others if share == 1]
        alike = [at for at, share in others if share < 0.5]
        for found, texts in ((same, yes), (alike, no)):
            if found:
                at = rng.choice(found)
                texts.append(
                    f"Does measure {reading.measures[at].number}{of(voice)} repeat measure "
                    f"{reading.measures[index].number} exactly (same pitches, same note values)?"
                )
        if len(yes) > 9 and len(no) > 9:
            break
    return evenly(rng, yes, no)


def _agreement(a: Cell, b: Cell) -> float:
    """Share of the events that two measures have in common."""
    ours, theirs = set(a.outline), set(b.outline)
    return len(ours & theirs) / max(len(ours | theirs), 1)


def _return(reading: Reading, rng: Random) -> Answered | None:
    for index, voice, cell in cells(reading, rng):
        if not _is_figure(cell) or not voice.is_pitched or not cell.is_at_pitch:
            continue
        outline = cell.outline
        later = [at for at, other in enumerate(voice.cells) if at > index and other.outline == outline]
        earlier = [at for at, other in enumerate(voice.cells) if at < index and other.outline == outline]
        if later and not earlier and len(later) <= _MOST_MEASURES:
            text = (
                f"In which later measures does {where(reading, index, voice)} come again exactly, with the same "
                "pitches and note values?"
            )
            return text, ", ".join(str(reading.measures[at].number) for at in later)
    return None


def _climax(reading: Reading, rng: Random) -> Answered | None:
    voice = rng.choice(reading.voices)
    if not voice.is_pitched or not all(cell.is_at_pitch for cell in voice.cells):
        return None
    heights = [max((each.ps for event in cell.events for each in event.pitches), default=0.0) for cell in voice.cells]
    # A note that is tied into the next measure stands in both.
    found = [index for index, height in enumerate(heights) if height == max(heights)]
    if len(found) > _MOST_MEASURES or not max(heights):
        return None
    text = f"In which measures does the highest note of {voice.label or 'the piece'} stand? Name all of them."
    return text, ", ".join(str(reading.measures[index].number) for index in found)


def _stepwise(reading: Reading, rng: Random) -> Answered | None:
    yes: list[str] = []
    no: list[str] = []
    for index, voice, cell in cells(reading, rng):
        notes = cell.notes
        if not voice.is_pitched or len(notes) < 4 or len(notes) != len(cell.events):
            continue
        if any(len(event.pitches) > 1 for event in notes) or len({event.start for event in notes}) < len(notes):
            continue
        steps = [abs(a.pitches[0].diatonicNoteNum - b.pitches[0].diatonicNoteNum) for a, b in pairwise(notes)]
        text = (
            f"Does the melody of {where(reading, index, voice)} move by step alone, every note a second above or below "
            "the one before?"
        )
        if all(step == 1 for step in steps):
            yes.append(text)
        elif max(steps) > 1:
            no.append(text)
    return evenly(rng, yes, no)


def _metre_changes(reading: Reading, rng: Random) -> Answered | None:
    count = sum(measure.is_new_metre for measure in reading.measures)
    if not count:
        return None
    return "How many times does the time signature change after the beginning?", str(count)


def _silent_part(reading: Reading, rng: Random) -> Answered | None:
    """Whether all parts sound in some measures."""
    yes: list[str] = []
    no: list[str] = []
    if len(reading.voices) < 2:
        return None
    size = len(reading.measures)
    for index in rng.sample(range(size), min(PLACES, size)):
        counts = [len(voice.cells[index].notes) for voice in reading.voices]
        text = f"Does every part have at least one note in {where(reading, index)}?"
        (yes if all(counts) else no).append(text)
    return evenly(rng, yes, no)


def _crossing(reading: Reading, rng: Random) -> Answered | None:
    """Whether the two uppermost parts cross."""
    yes: list[str] = []
    no: list[str] = []
    if len(reading.voices) < 3:
        return None
    upper, lower = reading.voices[:2]
    if not (upper.is_pitched and lower.is_pitched):
        return None
    for index, (above, below) in enumerate(zip(upper.cells, lower.cells, strict=True)):
        if not (above.notes and below.notes and above.is_at_pitch and below.is_at_pitch):
            continue
        pairs = [
            (min(each.ps for each in a.pitches), max(each.ps for each in b.pitches))
            for a in above.notes
            for b in below.notes
            if a.start < b.end and b.start < a.end
        ]
        if not pairs:
            continue
        text = (
            f"In {where(reading, index)}, does {lower.label} ever sound above {upper.label} at the same time (do they "
            "cross)?"
        )
        if any(a < b for a, b in pairs):
            yes.append(text)
        elif all(a > b for a, b in pairs):
            no.append(text)
    return evenly(rng, yes, no)


KINDS: Final = (
    Kind(4, "texture", "text", _texture, weight=1.5, lists_answers=True),
    Kind(4, "predominant rhythm", "duration", _rhythm),
    Kind(4, "predominant rhythm of a part", "duration", _rhythm_of_part, weight=0.6),
    Kind(4, "register", "text", _register, lists_answers=True),
    Kind(4, "busiest part", "text", _busiest_part, weight=0.7),
    Kind(4, "widest part", "text", _widest_part),
    Kind(4, "fullest measure", "measures", _fullest_measure),
    Kind(4, "last entry", "measures", _all_enter, weight=2),
    Kind(4, "first entry", "text", _first_entry, weight=2),
    Kind(4, "exact repetition", "yes_no", _repeats),
    Kind(4, "return of a measure", "measures", _return, weight=1.5),
    Kind(4, "highest note", "measures", _climax),
    Kind(4, "stepwise motion", "yes_no", _stepwise),
    Kind(4, "crossing parts", "yes_no", _crossing, weight=1.5),
    Kind(4, "all parts present", "yes_no", _silent_part),
    Kind(4, "metre changes", "number", _metre_changes, weight=2),
)
"""Kinds of questions of level 4."""
