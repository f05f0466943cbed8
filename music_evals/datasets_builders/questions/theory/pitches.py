"""Forms on notes and what lies between them: intervals, enharmonics, transposition."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from random import Random
from typing import Final

from music21.instrument import fromString
from music21.interval import Interval

from music_evals.datasets_builders.questions.theory import terms
from music_evals.datasets_builders.questions.theory.arithmetic import (
    COMPOUND,
    PLAIN,
    SIMPLE,
    SPELLED,
    Key,
    interval_up,
    keys,
    line_moved,
    moved,
    near_lines,
    near_notes,
    near_numbers,
    pitch_class,
    semitones,
)
from music_evals.datasets_builders.questions.theory.form import Draft, Drafts, draft, forms, shuffled
from music_evals.datasets_builders.questions.theory.terms import DOWN, UP, Term, article, tokens, words

_INTERVALS_MOVED: Final = tokens("m2 M2 m3 M3 P4 A4 d5 P5 m6 M6 m7 M7")


def near_intervals(name: str) -> list[str]:
    """Intervals that one may take for another: of the same number, and of nearly the same size.

    >>> near_intervals("P4")
    ['M3', 'A3', 'd4', 'A4', 'd5']
    """
    size = semitones(name)
    return [o for o in SIMPLE + COMPOUND if o != name and (o[1:] == name[1:] or abs(semitones(o) - size) <= 1)]


def _interval(name: str) -> Term:
    return article(terms.interval(name))


# --- intervals ---


def _between(down: bool) -> Drafts:
    def drafts(rng: Random) -> Iterator[Draft]:
        for first, second in shuffled(product(PLAIN, PLAIN), rng):
            name, size = interval_up(second, first) if down else interval_up(first, second)
            # The nearest note above is no matter of opinion only where it sounds above, and within the octave.
            if name in SIMPLE and 0 < size < 12:
                yield draft(terms.interval, name, near_intervals(name), terms.note(first), terms.note(second))

    return drafts


def _lying(down: bool) -> Drafts:
    def drafts(rng: Random) -> Iterator[Draft]:
        for note, name in shuffled(product(PLAIN, SIMPLE[:-1]), rng):
            if other := moved(note, name, down):
                mistaken = moved(note, name, not down)
                near = [*near_notes(other), *([mistaken] if mistaken else [])]
                yield draft(terms.note, other, near, terms.note(note), _interval(name))

    return drafts


def _inversion(rng: Random) -> Iterator[Draft]:
    for name in shuffled(SIMPLE[:-1], rng):
        inverted = Interval(name).complement.name
        yield draft(terms.interval, inverted, [*near_intervals(inverted), name], _interval(name))


def _reduced(rng: Random) -> Iterator[Draft]:
    for name in shuffled(COMPOUND[:-1], rng):
        simple = Interval(name).simpleName
        yield draft(terms.interval, simple, near_intervals(simple), _interval(name))


def _semitones(rng: Random) -> Iterator[Draft]:
    for name in shuffled(SIMPLE + COMPOUND, rng):
        size = semitones(name)
        yield draft(terms.same, size, near_numbers(size), _interval(name))


# --- enharmonics ---


def _twins(note: str) -> list[str]:
    return [other for other in SPELLED if other != note and pitch_class(other) == pitch_class(note)]


def _respelled(rng: Random) -> Iterator[Draft]:
    for note in shuffled(SPELLED, rng):
        near = [other for other in near_notes(note) if pitch_class(other) != pitch_class(note)]
        yield draft(terms.note, rng.choice(_twins(note)), near, terms.note(note))


def _respelled_key(rng: Random) -> Iterator[Draft]:
    for key in shuffled(keys(), rng):
        twins = [k for k in keys() if k[1] == key[1] and k != key and pitch_class(k[0]) == pitch_class(key[0])]
        for twin in twins:
            near = [k for k in keys() if k[0] in near_notes(key[0]) and k[1] == key[1] and k not in twins]
            yield draft(terms.key, twin, near, terms.key(key))


def _respelled_interval(rng: Random) -> Iterator[Draft]:
    for name in shuffled(SIMPLE, rng):
        twins = [other for other in SIMPLE if other != name and semitones(other) == semitones(name)]
        near = [other for twin in twins for other in near_intervals(twin) if semitones(other) != semitones(name)]
        for twin in twins[:1]:
            yield draft(terms.interval, twin, near, _interval(name))


def _respelled_line(rng: Random) -> Iterator[Draft]:
    while True:
        line = _line(rng, rng.choice((2, 3, 3, 4)))
        # A semitone off in at least one note is another sound, however it is spelled. Each starts from a respelling of
        # its own: were all like the right one, what they have in common would give it away.
        wrong = [near for _ in range(3) for near in near_lines(_otherwise(line, rng), rng)]
        yield draft(terms.notes, _otherwise(line, rng), wrong, terms.notes(line))


def _otherwise(line: Sequence[str], rng: Random) -> list[str]:
    """The same sounds, each spelled in another way."""
    return [rng.choice(_twins(note)) for note in line]


# --- transposition ---


def _line(rng: Random, length: int) -> list[str]:
    """A short line that moves by step and by third within one key, no note twice in a row."""
    # Up to five accidentals: the line is to have a spelling left when it is moved.
    tonic = rng.choice(("C", "G", "D", "A", "E", "F", "B-", "E-", "A-", "D-"))
    steps = [note for name in ("M2", "M3", "P4", "P5", "M6", "M7") if (note := moved(tonic, name))]
    scale, at = [tonic, *steps], rng.randrange(7)
    line = []
    for _ in range(length):
        line.append(scale[at % 7])
        at += rng.choice((-2, -1, -1, 1, 1, 2, 4))
    return line


def _moved_line(rng: Random) -> Iterator[Draft]:
    while True:
        line, name = _line(rng, rng.choice((3, 4, 5))), rng.choice(_INTERVALS_MOVED)
        direction = rng.choice((UP, DOWN))
        if right := line_moved(line, name, direction is DOWN):
            others = [line_moved(line, name, direction is UP)]
            others += [line_moved(line, near, direction is DOWN) for near in near_intervals(name)]
            wrong = _wrong_lines(right, others, rng)
            yield draft(terms.notes, right, wrong, terms.notes(line), direction, _interval(name))


def _wrong_lines(right: Sequence[str], others: Sequence[list[str] | None], rng: Random) -> list[list[str]]:
    near = [other for other in others if other]
    return [*rng.sample(near, min(3, len(near))), *near_lines(right, rng)[:3]]


@cache
def _instruments() -> tuple[tuple[Term, str, bool], ...]:
    """Name, interval from written to sounding pitch, and whether it sounds below."""
    found = []
    for known, term in words("instruments").items():
        transposition = fromString(known).transposition
        assert transposition is not None, known
        found.append((term, str(transposition.name), int(transposition.semitones) < 0))
    return tuple(found)


def _part(written: bool) -> Drafts:
    """Drafts that ask for the written notes (or for the sounding ones, given what is written)."""

    def drafts(rng: Random) -> Iterator[Draft]:
        while True:
            line, (instrument, name, below) = _line(rng, rng.choice((1, 2, 3, 4))), rng.choice(_instruments())
            down = below is not written
            if right := line_moved(line, name, down):
                wrong = [line_moved(line, name, not down), line]
                wrong += [line_moved(line, near, down) for near in near_intervals(name)]
                yield draft(terms.notes, right, _wrong_lines(right, wrong, rng), instrument, terms.notes(line))

    return drafts


def _near_keys(right: Key) -> list[Key]:
    """Other keys, of the same mode, on notes near to its tonic."""
    return [(note, right[1]) for note in near_notes(right[0]) if (note, right[1]) in keys()]


def _moved_key(rng: Random) -> Iterator[Draft]:
    for key, name, direction in shuffled(product(keys(), _INTERVALS_MOVED, (UP, DOWN)), rng):
        tonic = moved(key[0], name, direction is DOWN)
        if tonic and (right := (tonic, key[1])) in keys():
            yield draft(terms.key, right, _near_keys(right), terms.key(key), direction, _interval(name))


def _part_key(rng: Random) -> Iterator[Draft]:
    for key, (instrument, name, below) in shuffled(product(keys(), _instruments()), rng):
        tonic, mistaken = moved(key[0], name, not below), moved(key[0], name, below)
        if tonic and (right := (tonic, key[1])) in keys():
            wrong = [*_near_keys(right), *(other for other in keys() if other == (mistaken, key[1])), key]
            yield draft(terms.key, right, wrong, instrument, terms.key(key))


FORMS: Final = (
    *forms(
        "intervals",
        up=_between(down=False),
        down=_between(down=True),
        above=_lying(down=False),
        below=_lying(down=True),
        inversion=_inversion,
        simple=_reduced,
        semitones=_semitones,
    ),
    *forms("enharmonics", note=_respelled, key=_respelled_key, interval=_respelled_interval, line=_respelled_line),
    *forms(
        "transposition",
        line=_moved_line,
        sounding=_part(written=False),
        written=_part(written=True),
        key=_moved_key,
        part_key=_part_key,
    ),
)
