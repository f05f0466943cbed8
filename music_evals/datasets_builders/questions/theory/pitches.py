"""Forms on notes and their distances: intervals, enharmonics, transposition."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import product
from random import Random

from music21.instrument import fromString
from music21.interval import Interval

from music_evals.datasets_builders.questions.theory import terms
from music_evals.datasets_builders.questions.theory.arithmetic import (
    COMPOUND,
    PLAIN,
    SIMPLE,
    SPELLED,
    Key,
    altered_at,
    interval_up,
    key_moved,
    keys,
    line_moved,
    moved,
    pitch_class,
    semitones,
    sounds,
)
from music_evals.datasets_builders.questions.theory.form import (
    Case,
    Cases,
    Draft,
    Drafts,
    Fours,
    all_cases,
    by_block,
    dealt,
    endless,
    forms,
    fours,
)
from music_evals.datasets_builders.questions.theory.terms import (
    DOWN,
    UP,
    Term,
    article,
    tokens,
    words,
)

_INTERVALS_MOVED = tokens("m2 M2 m3 M3 P4 A4 d5 P5 m6 M6 m7 M7")


def _interval(name: str) -> Term:
    return article(terms.interval(name))


# --- intervals ---


def _between(down: bool) -> Drafts:
    @by_block(lambda: PLAIN)
    def drafts(first: str) -> Cases:
        for second in PLAIN:
            name, size = interval_up(second, first) if down else interval_up(first, second)
            # The nearest note above is only certain if it sounds above, and within the octave.
            if name in SIMPLE and 0 < size < 12:
                yield Case((terms.note(first), terms.note(second)), terms.interval(name), near=size)

    return drafts


def _lying(down: bool) -> Drafts:
    @by_block(lambda: PLAIN)
    def drafts(note: str) -> Cases:
        for name in SIMPLE[:-1]:
            if other := moved(note, name, down):
                yield Case(
                    (terms.note(note), _interval(name)), terms.note(other), near=semitones(name)
                )

    return drafts


@all_cases
def _inversion() -> Cases:
    for name in SIMPLE[:-1]:
        inverted = str(Interval(name).complement.name)
        yield Case((_interval(name),), terms.interval(inverted), near=semitones(inverted))


@all_cases
def _reduced() -> Cases:
    for name in COMPOUND[:-1]:
        reduced = str(Interval(name).simpleName)
        yield Case((_interval(name),), terms.interval(reduced), near=semitones(reduced))


@all_cases
def _semitones() -> Cases:
    for name in SIMPLE + COMPOUND:
        yield Case((_interval(name),), terms.same(semitones(name)), near=semitones(name))


# --- enharmonics ---


def _twins(note: str) -> list[str]:
    return [other for other in SPELLED if other != note and pitch_class(other) == pitch_class(note)]


def _respelled(rng: Random) -> Iterator[Draft]:
    cases = []
    for note in SPELLED:
        size = pitch_class(note)
        cases.append(Case((terms.note(note),), terms.note(rng.choice(_twins(note))), size, size))
    return dealt([cases], rng)


@all_cases
def _respelled_key() -> Cases:
    # Three pairs of major keys and three of minor keys are enharmonic: a four needs both modes.
    for key, twin in product(keys(), keys()):
        if key[1] == twin[1] and key != twin and pitch_class(key[0]) == pitch_class(twin[0]):
            yield Case((terms.key(key),), terms.key(twin), sound=(pitch_class(key[0]), key[1]))


@all_cases
def _respelled_interval() -> Cases:
    for name, twin in product(SIMPLE, SIMPLE):
        if name != twin and semitones(name) == semitones(twin):
            yield Case(
                (_interval(name),),
                terms.interval(twin),
                near=semitones(name),
                sound=semitones(name),
            )


@endless
def _respelled_line(rng: Random) -> Fours:
    line = _line(rng, rng.choice((2, 3, 3, 4)))
    first, second = rng.sample(range(len(line)), 2)
    lines = [line, altered_at(line, first, rng)]
    changed = altered_at(line, second, rng)[second]
    lines += [[*notes[:second], changed, *notes[second + 1 :]] for notes in lines]
    cases = [
        ((terms.notes(notes),), [rng.choice(_twins(note)) for note in notes]) for notes in lines
    ]
    return _four(cases, rng)


# --- transposition ---


def _line(rng: Random, length: int) -> list[str]:
    """A short line that moves by step and third within a key, without repeated notes."""
    # At most five accidentals, so that the transposed line has a spelling.
    tonic = rng.choice(("C", "G", "D", "A", "E", "F", "B-", "E-", "A-", "D-"))
    steps = [note for name in ("M2", "M3", "P4", "P5", "M6", "M7") if (note := moved(tonic, name))]
    scale, at = [tonic, *steps], rng.randrange(7)
    line = []
    for _ in range(length):
        line.append(scale[at % 7])
        at += rng.choice((-2, -1, -1, 1, 1, 2, 4))
    return line


def _with_altered(line: list[str], rng: Random) -> tuple[list[str], list[str]]:
    """A line, and the same line with one altered note."""
    return line, altered_at(line, rng.randrange(len(line)), rng)


def _four(cases: Iterable[tuple[tuple[Term, ...], Sequence[str] | None]], rng: Random) -> Fours:
    """Four lines, if all can be spelled and none sounds like another; else nothing."""
    return fours(
        [Case(blanks, terms.notes(line), sound=sounds(line)) for blanks, line in cases if line], rng
    )


@endless
def _moved_line(rng: Random) -> Fours:
    lines = _with_altered(_line(rng, rng.choice((3, 4, 5))), rng)
    # One interval in both directions, or two neighbouring intervals in one direction.
    at, direction = rng.randrange(len(_INTERVALS_MOVED) - 1), rng.choice((UP, DOWN))
    name, neighbour = _INTERVALS_MOVED[at : at + 2]
    moves = rng.choice((((name, UP), (name, DOWN)), ((name, direction), (neighbour, direction))))
    cases = [
        ((terms.notes(line), way, _interval(size)), line_moved(line, size, way is DOWN))
        for line, (size, way) in product(lines, moves)
    ]
    return _four(cases, rng)


@cache
def _instruments() -> tuple[tuple[Term, str, bool], ...]:
    """Name, interval from written to sounding pitch, and whether the instrument sounds lower than
    written.
    """
    instruments = []
    for name, term in words("instruments").items():
        transposition = fromString(name).transposition
        assert transposition is not None, name
        instruments.append((term, str(transposition.name), int(transposition.semitones) < 0))
    return tuple(instruments)


def _part(written: bool) -> Drafts:
    """Ask for the written notes of a transposing instrument, or for its sounding notes."""

    @endless
    def drafts(rng: Random) -> Fours:
        lines = _with_altered(_line(rng, rng.choice((2, 3, 4))), rng)
        cases = [
            ((instrument, terms.notes(line)), line_moved(line, name, below is not written))
            for line, (instrument, name, below) in product(lines, rng.sample(_instruments(), 2))
        ]
        return _four(cases, rng)

    return drafts


@by_block(keys)
def _moved_key(key: Key) -> Cases:
    for name, direction in product(_INTERVALS_MOVED, (UP, DOWN)):
        if right := key_moved(key, name, direction is DOWN):
            size = pitch_class(right[0])
            yield Case(
                (terms.key(key), direction, _interval(name)),
                terms.key(right),
                near=size,
                sound=size,
            )


@by_block(keys)
def _part_key(key: Key) -> Cases:
    for instrument, name, below in _instruments():
        if right := key_moved(key, name, not below):
            yield Case((instrument, terms.key(key)), terms.key(right), sound=pitch_class(right[0]))


FORMS = (
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
    *forms(
        "enharmonics",
        note=_respelled,
        key=_respelled_key,
        interval=_respelled_interval,
        line=_respelled_line,
    ),
    *forms(
        "transposition",
        line=_moved_line,
        sounding=_part(written=False),
        written=_part(written=True),
        key=_moved_key,
        part_key=_part_key,
    ),
)
