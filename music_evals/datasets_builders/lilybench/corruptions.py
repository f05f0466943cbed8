"""One error put into a clean score, in place, of one kind, and proven to be that alone.

A corruption replaces what stands there: one note or one command, and where the notation makes the next note depend on
it (its octave in ``\\relative`` music, its duration where none is written) that note is written out so that it stays
what it was. LilyPond reads the corrupted text again, and it is taken only if `find_errors` then finds this kind in this
measure and nothing else anywhere, and if all other notes are what they were.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from music_evals.datasets_builders.lilybench.checker import Places, find_errors, is_foreign
from music_evals.datasets_builders.lilybench.measures import find_spans
from music_evals.datasets_builders.lilybench.rows import Corruption
from music_evals.notation.lilypond.structure import Event, Structure, StructureError, read_structures
from music_evals.notation.lilypond.syntax.languages import language_of, name_of, pitch_of
from music_evals.notation.lilypond.syntax.lexer import Token, code_tokens

_NOTE: Final = re.compile(
    r"(?P<name>[^\W\d_]+)(?P<octave>'*|,*)(?P<shown>[!?]?)"
    r"(?P<duration>(?:128|64|32|16|8|4|2|1)\.{0,2})?(?P<rest>(?:\*\d)?)"
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
_OCTAVES: Final = 2  # fourteen steps: a leap from wherever the melody is, and no more than it must be
_TRIES: Final = 12


class Corrupted(NamedTuple):
    """A corrupted score, and the number of the measure that its error is in."""

    text: str
    measure: int


class _Change(NamedTuple):
    """A candidate: edits as (start, end, replacement), and the place in its voice of the note that it is about."""

    measure: int
    edits: tuple[tuple[int, int, str], ...]
    changed: Event | None

    def apply(self, text: str) -> str:
        for start, end, replacement in sorted(self.edits, reverse=True):
            text = text[:start] + replacement + text[end:]
        return text


def corrupt(
    scores: Sequence[tuple[str, Structure]], kind: Corruption, *, seed: int, cache: Path | None = None
) -> list[Corrupted | StructureError | None]:
    """Put one error into each of some scores in which `find_errors` finds none; None where no place proves to be one.

    What becomes of a score does not depend on the others, of which LilyPond reads several at a time. It is the error,
    with `is_measured` false, where the machine let LilyPond come to no end.
    """
    tries = {
        index: islice(_candidates(text, structure, kind, random.Random(f"{seed} {kind} {text}")), _TRIES)
        for index, (text, structure) in enumerate(scores)
    }
    found: dict[int, Corrupted | StructureError] = {}
    while changes := {index: change for index, some in tries.items() if (change := next(some, None)) is not None}:
        changed = [change.apply(scores[index][0]) for index, change in changes.items()]
        readings = read_structures(changed, cache=cache, together=True)
        for (index, change), other, reading in zip(changes.items(), changed, readings, strict=True):
            if isinstance(reading, StructureError):
                if not reading.is_measured:
                    found[index] = reading
            elif find_errors(other, reading) == {kind: [change.measure]} and (
                _others(reading, change.changed) == _others(scores[index][1], change.changed)
            ):
                found[index] = Corrupted(other, change.measure)
        tries = {index: tries[index] for index in changes if index not in found}
    return [found.get(index) for index in range(len(scores))]


def metadata_measures(text: str, structure: Structure) -> set[int]:
    """Measures in which a ``\\key`` or ``\\clef`` could be made invalid."""
    return {change.measure for change in _command_changes(text, structure, random.Random(0))}


def _others(structure: Structure, gone: Event | None) -> list[list[tuple[object, ...]]]:
    """All events by voice, but for the one that a change is about."""
    about = None if gone is None else (gone.voice, gone.offset)
    return [
        [_content(event) for event in events if (event.voice, event.offset) != about]
        for events in structure.voices.values()
    ]


def _content(event: Event) -> tuple[object, ...]:
    return (event.kind, event.grace, event.step, event.alteration, event.octave, event.duration, event.tied)


class _Note(NamedTuple):
    """A single note that is written once, as a candidate, with its text."""

    event: Event
    match: re.Match[str]
    following: tuple[Event, re.Match[str]] | None  # the note after it in the same voice and measure
    checked: bool  # whether bar checks stand at both ends of what is written of its voice around it


def _candidates(text: str, structure: Structure, kind: Corruption, draw: random.Random) -> Iterator[_Change]:
    if kind == "invalid_metadata":
        yield from _command_changes(text, structure, draw)
        return
    notes = list(_plain_notes(text, structure))
    draw.shuffle(notes)
    language = language_of(text)
    for note in notes:
        if kind == "invalid_content":
            place = (note.match.start(), note.match.end("shown"))
            yield _Change(note.event.measure, ((*place, draw.choice(_NONSENSE)),), note.event)
        elif kind == "invalid_bar_duration":
            yield from _duration_change(note, draw)
        elif kind == "melodic_leap":
            yield from _leap_changes(note, draw)
        else:
            yield from _accidental_change(note, structure, language, draw)


def _plain_notes(text: str, structure: Structure) -> Iterator[_Note]:
    uses = Counter(event.offset for event in structure.events)
    checked = {
        event.offset for span in find_spans(text, structure) if span.closed and not span.shared for event in span.events
    }
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
        around = zip((None, *events), events, matches, (*events[1:], None), (*matches[1:], None), strict=False)
        for before, event, match, after, after_match in around:
            if match is None or event.measure < 1 or event.tied or (before is not None and before.tied):
                continue
            follows = after is not None and after.measure == event.measure and after.offset > event.offset
            following = (after, after_match) if after is not None and after_match is not None and follows else None
            yield _Note(event, match, following, event.offset in checked)


def _command_changes(text: str, structure: Structure, draw: random.Random) -> Iterator[_Change]:
    words = code_tokens(text)
    places = Places(structure)
    keys = {key.offset: key.measure for key in structure.keys}
    openings = {events[0].offset for events in structure.voices.values()}
    changes = []
    for token, *arguments in zip(words, words[1:], words[2:], strict=False):
        event = places.next_written(token.start)
        if token.text not in ("\\key", "\\clef") or event is None or event.measure < 1:
            continue
        # Where a bar check or the end of a variable comes in between, nobody could say which measure is wrong; but a
        # bar check ahead of all notes ends no measure.
        between = text[token.start : event.offset]
        if "}" in between or ("|" in between and event.offset not in openings):
            continue
        if token.text == "\\clef" or keys.get(token.start) == event.measure:
            changes.append(_Change(event.measure, (_wrong_argument(token, arguments, draw),), None))
    draw.shuffle(changes)
    # Most scores have their key and clef in measure 1 and nowhere else; where there is a choice, take another place.
    yield from sorted(changes, key=lambda change: change.measure == 1)


def _wrong_argument(token: Token, arguments: Sequence[Token], draw: random.Random) -> tuple[int, int, str]:
    first, second = arguments
    if token.text == "\\key":
        return second.start, second.end, f"\\{draw.choice(_WRONG_MODES)}"
    return first.start, first.end, f'"{draw.choice(_WRONG_CLEFS)}"'


def _duration_change(note: _Note, draw: random.Random) -> Iterator[_Change]:
    written = _duration_name(note.event.duration)
    # After the last note of a measure, the next one must not take its duration from it.
    if not note.checked or written is None or note.match["rest"] or note.following is None:
        return
    other = draw.choice(_OTHER_DURATIONS[written.rstrip(".")])
    if other == written:
        return
    edits = [(*_duration_place(note.match), other)]
    after, next_match = note.following
    if not next_match["duration"]:
        if after.duration != note.event.duration:
            return
        edits.append((*_duration_place(next_match), written))
    yield _Change(note.event.measure, tuple(edits), note.event)


def _duration_place(match: re.Match[str]) -> tuple[int, int]:
    return match.end("shown"), match.end("duration") if match["duration"] else match.end("shown")


def _duration_name(duration: Fraction) -> str | None:
    """How LilyPond writes a duration (in whole notes) without or with one dot; None for any other."""
    for name in _OTHER_DURATIONS:
        plain = Fraction(1, int(name))
        if duration == plain:
            return name
        if duration == plain * Fraction(3, 2):
            return f"{name}."
    return None


def _leap_changes(note: _Note, draw: random.Random) -> Iterator[_Change]:
    if note.following is None:
        return
    by = draw.choice((-_OCTAVES, _OCTAVES))
    there = note.following[1]
    here = (note.match.start("octave"), note.match.end("octave"), _octave_marks(note.match["octave"], by))
    back = (there.start("octave"), there.end("octave"), _octave_marks(there["octave"], -by))
    # In relative music the next note must be brought back, in absolute music it must not: the check tells which it is,
    # and the marks which is likelier.
    written = [_octaves(match["octave"]) for match in (note.match, there)]
    absolute = written == [event.octave + 1 for event in (note.event, note.following[0])]
    for edits in sorted(((here, back), (here,)), key=len, reverse=not absolute):
        yield _Change(note.event.measure, edits, note.event)


def _octaves(marks: str) -> int:
    return len(marks) * (-1 if marks.startswith(",") else 1)


def _octave_marks(marks: str, by: int) -> str:
    octaves = _octaves(marks) + by
    return "'" * octaves if octaves > 0 else "," * -octaves


def _accidental_change(note: _Note, structure: Structure, language: str, draw: random.Random) -> Iterator[_Change]:
    event, match = note.event, note.match
    if event.step is None or pitch_of(match["name"], language) is None:
        return
    key = structure.key_at(event.moment, event.staff)
    wrong = [
        other
        for other in (event.alteration - 1, event.alteration + 1)
        if abs(other) <= 1 and is_foreign(key, event.step, other)
    ]
    if wrong:
        name = name_of(event.step, draw.choice(wrong), language)
        yield _Change(event.measure, ((match.start("name"), match.end("name"), name),), event)
