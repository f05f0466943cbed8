"""Puts one error into a clean score, in place, of one kind, and proves that it is the only one.

A corruption replaces one note or one command. If the next note depends on it (its octave in ``\\relative`` music, its
duration if none is written), that note is written out, so that it stays the same. LilyPond reads the corrupted text
again. It is taken only if `find_errors` finds this kind in this measure and nothing else, and if all other notes are
the same.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import Final, NamedTuple

from music_evals.datasets_builders.lilybench.rows import Corruption
from music_evals.datasets_builders.lilybench.strict.checker import Places, find_errors, find_spans, is_foreign
from music_evals.notation.lilypond.compiler import lilypond_cache
from music_evals.notation.lilypond.structure import Event, Structure, StructureError, read_structures
from music_evals.notation.lilypond.syntax.languages import language_of, name_of, pitch_of
from music_evals.notation.lilypond.syntax.lexer import Edit, apply_edits, code_tokens

_NOTE: Final = re.compile(
    r"(?P<name>[^\W\d_]+)(?P<octave>'*|,*)(?P<sign>[!?]?)"
    r"(?P<duration>(?:128|64|32|16|8|4|2|1)\.{0,2})?(?P<factor>(?:\*\d)?)"
)
# Letters that begin no note name, rest or articulation in any of LilyPond's languages.
_NONSENSE: Final = ("zq", "xj", "qz", "jx", "zv", "vz", "wq", "zk")
_WRONG_MODES: Final = ("majeur", "mayor", "minur", "dorien", "nonsense", "tonic")
_WRONG_CLEFS: Final = ("trebel", "bas", "tenner", "sopran", "highest", "violine")
_OTHER_DURATIONS: Final = {
    "1": ("2", "2."),
    "2": ("4", "2.", "4."),
    "4": ("8", "2", "4."),
    "8": ("4", "16", "8."),
    "16": ("8", "32"),
    "32": ("16", "8"),
}
_PLAIN: Final = {Fraction(1, int(name)): name for name in _OTHER_DURATIONS}
_WRITTEN: Final = _PLAIN | {duration * Fraction(3, 2): f"{name}." for duration, name in _PLAIN.items()}
"""Duration in whole notes → how LilyPond writes it, without or with one dot."""
_OCTAVES: Final = 2  # fourteen steps: the smallest number of octaves that is a leap from any note of a melody
_TRIES: Final = 12


class Corrupted(NamedTuple):
    """A corrupted score, and the number of the measure with the error."""

    text: str
    measure: int


class _Change(NamedTuple):
    """A candidate: its edits, and the note that it changes."""

    measure: int
    edits: tuple[Edit, ...]
    changed: Event | None


class _Note(NamedTuple):
    """A single note that is written and played once, with its text."""

    event: Event
    match: re.Match[str]
    following: tuple[Event, re.Match[str]] | None  # the next note in the same voice and measure
    checked: bool  # whether its span begins and ends with bar checks


def corrupt(
    scores: Sequence[tuple[str, Structure]], kind: Corruption, *, seed: int
) -> list[Corrupted | StructureError | None]:
    """Put one error into each of several scores in which `find_errors` finds none.

    Each result is None if no candidate is proven, and an error with `is_measured` false if the machine stopped
    LilyPond. The result of a score does not depend on the others, of which LilyPond reads several at a time.
    """
    candidates = {
        index: islice(_candidates(text, structure, kind, random.Random(f"{seed} {kind} {text}")), _TRIES)
        for index, (text, structure) in enumerate(scores)
    }
    results: dict[int, Corrupted | StructureError] = {}
    while changes := {index: change for index, tries in candidates.items() if (change := next(tries, None))}:
        texts = [apply_edits(scores[index][0], change.edits) for index, change in changes.items()]
        readings = read_structures(texts, cache=lilypond_cache(), together=True)
        for (index, change), text, reading in zip(changes.items(), texts, readings, strict=True):
            if isinstance(reading, StructureError):
                if not reading.is_measured:
                    results[index] = reading
            elif find_errors(text, reading) == {kind: [change.measure]} and (
                _other_events(reading, change.changed) == _other_events(scores[index][1], change.changed)
            ):
                results[index] = Corrupted(text, change.measure)
        candidates = {index: candidates[index] for index in changes if index not in results}
    return [results.get(index) for index in range(len(scores))]


def metadata_measures(text: str, structure: Structure) -> set[int]:
    """Return the measures in which a ``\\key`` or ``\\clef`` could be made invalid."""
    return {change.measure for change in _command_changes(text, structure, random.Random(0))}


def _other_events(structure: Structure, changed: Event | None) -> list[list[tuple[object, ...]]]:
    place = None if changed is None else (changed.voice, changed.offset)
    return [
        [
            (event.kind, event.grace, event.step, event.alteration, event.octave, event.duration, event.tied)
            for event in events
            if (event.voice, event.offset) != place
        ]
        for events in structure.voices.values()
    ]


def _candidates(text: str, structure: Structure, kind: Corruption, draw: random.Random) -> Iterator[_Change]:
    if kind == "invalid_metadata":
        yield from _command_changes(text, structure, draw)
        return
    notes = list(_plain_notes(text, structure))
    draw.shuffle(notes)
    language = language_of(text)
    for note in notes:
        if kind == "invalid_content":
            edit = (note.match.start(), note.match.end("sign"), draw.choice(_NONSENSE))
            yield _Change(note.event.measure, (edit,), note.event)
        elif kind == "invalid_bar_duration":
            yield from _duration_change(note, draw)
        elif kind == "melodic_leap":
            yield from _leap_changes(note, draw)
        else:
            yield from _accidental_change(note, structure, language, draw)


def _plain_notes(text: str, structure: Structure) -> Iterator[_Note]:
    uses = Counter(event.offset for event in structure.events)
    spans = [span for span in find_spans(text, structure) if span.closed and not span.shared]
    checked = {event.offset for span in spans for event in span.events}
    for events in structure.voices.values():
        onsets = Counter((event.moment, event.grace) for event in events)
        matches = [
            _NOTE.match(text, event.offset)
            if event.kind == "note"
            and event.step is not None
            and not event.grace
            and event.offset >= 0
            and uses[event.offset] == onsets[event.moment, False] == 1
            and not text[: event.offset].rstrip().endswith("<")  # a chord may hold a single note
            else None
            for event in events
        ]
        neighbours = zip((None, *events), events, matches, (*events[1:], None), (*matches[1:], None), strict=False)
        for before, event, match, after, after_match in neighbours:
            if match is None or event.measure < 1 or event.tied or (before is not None and before.tied):
                continue
            following = None
            if after is not None and after_match is not None and after.measure == event.measure:
                following = (after, after_match) if after.offset > event.offset else None
            yield _Note(event, match, following, event.offset in checked)


def _command_changes(text: str, structure: Structure, draw: random.Random) -> Iterator[_Change]:
    tokens = code_tokens(text)
    places = Places(structure)
    keys = {key.offset: key.measure for key in structure.keys}
    openings = {events[0].offset for events in structure.voices.values()}
    changes = []
    for token, first, second in zip(tokens, tokens[1:], tokens[2:], strict=False):
        event = places.next_written(token.start)
        if token.text not in ("\\key", "\\clef") or event is None or event.measure < 1:
            continue
        # With a bar check or the end of a variable between, the wrong measure would be in doubt. A bar check ahead of
        # all notes ends no measure.
        between = text[token.start : event.offset]
        if "}" in between or ("|" in between and event.offset not in openings):
            continue
        if token.text == "\\clef":
            edit = (first.start, first.end, f'"{draw.choice(_WRONG_CLEFS)}"')
            changes.append(_Change(event.measure, (edit,), None))
        elif keys.get(token.start) == event.measure:
            edit = (second.start, second.end, f"\\{draw.choice(_WRONG_MODES)}")
            changes.append(_Change(event.measure, (edit,), None))
    draw.shuffle(changes)
    # Most scores have key and clef in measure 1 and nowhere else, so other measures are preferred.
    yield from sorted(changes, key=lambda change: change.measure == 1)


def _duration_change(note: _Note, draw: random.Random) -> Iterator[_Change]:
    written = _WRITTEN.get(note.event.duration)
    # The last note of a measure is left out, since the note after it may take its duration from it.
    if not note.checked or written is None or note.match["factor"] or note.following is None:
        return
    other = draw.choice(_OTHER_DURATIONS[written.rstrip(".")])
    if other == written:
        return
    edits = [(note.match.end("sign"), _duration_end(note.match), other)]
    after, after_match = note.following
    if not after_match["duration"]:
        if after.duration != note.event.duration:
            return
        edits.append((after_match.end("sign"), _duration_end(after_match), written))
    yield _Change(note.event.measure, tuple(edits), note.event)


def _duration_end(match: re.Match[str]) -> int:
    return match.end("duration") if match["duration"] else match.end("sign")


def _leap_changes(note: _Note, draw: random.Random) -> Iterator[_Change]:
    if note.following is None:
        return
    octaves = draw.choice((-_OCTAVES, _OCTAVES))
    after, after_match = note.following
    leap, return_ = _octave_edit(note.match, octaves), _octave_edit(after_match, -octaves)
    # In relative music the next note must be brought back, in absolute music it must not. The check decides which it
    # is; the likelier one by the written marks is tried first.
    marks = [_octaves(match["octave"]) for match in (note.match, after_match)]
    is_absolute = marks == [event.octave + 1 for event in (note.event, after)]
    for edits in sorted(((leap, return_), (leap,)), key=len, reverse=not is_absolute):
        yield _Change(note.event.measure, edits, note.event)


def _octaves(marks: str) -> int:
    return len(marks) * (-1 if marks.startswith(",") else 1)


def _octave_edit(match: re.Match[str], by: int) -> Edit:
    octaves = _octaves(match["octave"]) + by
    return match.start("octave"), match.end("octave"), "'" * octaves if octaves > 0 else "," * -octaves


def _accidental_change(note: _Note, structure: Structure, language: str, draw: random.Random) -> Iterator[_Change]:
    event, match = note.event, note.match
    if event.step is None or pitch_of(match["name"], language) is None:
        return
    key = structure.key_at(event.moment, event.staff)
    foreign = [
        alteration
        for alteration in (event.alteration - 1, event.alteration + 1)
        if abs(alteration) <= 1 and is_foreign(key, event.step, alteration)
    ]
    if foreign:
        name = name_of(event.step, draw.choice(foreign), language)
        yield _Change(event.measure, ((match.start("name"), match.end("name"), name),), event)
