"""The music of a LilyPond text as LilyPond itself understands it: measures, keys, metres, and the
time of each note.

LilyPond interprets the score with listeners instead of engravers (`settings/structure.ly`). So its
own timing numbers the measures, and no `|` is counted: bar checks may be missing or wrong, there
may be any number of voices, and variables and repeats are resolved.

Moments, positions and durations are in whole notes. Alterations are in semitones (1 is a sharp),
steps from 0 = C to 6 = B. Staves and voices are numbered from 1 in the order in which they first
sound. Measures are numbered as LilyPond does: the first complete measure is 1. A pickup is measure
0 here (LilyPond gives it the number 1 and a negative position). Repeats count once, as written;
each alternative ending counts.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter
from typing import Literal, Unpack, cast, get_args

from music_evals.notation.lilypond.compiler import (
    Compiled,
    LilyPondError,
    Running,
    TextError,
    compile_texts,
)
from music_evals.notation.lilypond.syntax.languages import name_of
from music_evals.notation.toml_files import read_resource

_OUTPUT = "score-structure.tsv"
_STEPS = "CDEFGAB"
_KEY_SIGNS = {Fraction(-1): "-flat", Fraction(0): "", Fraction(1): "-sharp"}
_MAJOR = (0, 2, 4, 5, 7, 9, 11)

_MODES = {  # semitones from the tonic → name
    "0 2 4 5 7 9 11": "major",
    "0 2 3 5 7 8 10": "minor",
    "0 2 3 5 7 9 10": "dorian",
    "0 1 3 5 7 8 10": "phrygian",
    "0 2 4 6 7 9 11": "lydian",
    "0 2 4 5 7 9 10": "mixolydian",
    "0 1 3 5 6 8 10": "locrian",
}

Kind = Literal["note", "rest", "skip"]
_KINDS = get_args(Kind)


class StructureError(TextError, LilyPondError):
    """LilyPond read no score in a text; `is_measured` is False if that is the machine's doing, not
    the text's.
    """


@dataclass(frozen=True, slots=True)
class Key:
    """A key signature of one staff, in force from `moment` on."""

    moment: Fraction
    measure: int
    staff: int
    step: int  # of the tonic
    alteration: Fraction  # of the tonic
    scale: tuple[Fraction, ...]  # alterations of the steps 0 to 6

    @property
    def mode(self) -> str | None:
        """``major``, ``minor``, or a church mode; None for any other scale."""
        tonic = _MAJOR[self.step] + self.alteration
        steps = [(self.step + degree) % 7 for degree in range(7)]
        return _MODES.get(
            " ".join(str((_MAJOR[step] + self.scale[step] - tonic) % 12) for step in steps)
        )

    @property
    def name(self) -> str | None:
        """A name such as ``B-flat major``; None if the scale has no name or the tonic is a
        microtone.
        """
        sign = _KEY_SIGNS.get(self.alteration)
        if self.mode is None or sign is None:
            return None
        return f"{_STEPS[self.step]}{sign} {self.mode}"


@dataclass(frozen=True, slots=True)
class Metre:
    """A time signature, in force from `moment` on."""

    moment: Fraction
    measure: int
    numerator: int
    denominator: int

    @property
    def name(self) -> str:
        """A name such as ``3/4``."""
        return f"{self.numerator}/{self.denominator}"

    @property
    def length(self) -> Fraction:
        """Whole notes in a measure."""
        return Fraction(self.numerator, self.denominator)


@dataclass(frozen=True, slots=True)
class Event:
    """A note, rest or skip."""

    kind: Kind
    moment: Fraction
    grace: bool
    measure: int  # in which it begins; 0 for a pickup
    position: Fraction  # onset from the beginning of the measure; negative in a pickup
    staff: int
    voice: int
    step: int | None  # None for rests, skips and drums
    alteration: Fraction
    octave: int  # 0 begins at middle C
    duration: Fraction
    tied: bool = False  # whether a tie begins at it

    @property
    def degree(self) -> int | None:
        """The height of a note in steps of the staff from middle C; None for rests, skips and
        drums.
        """
        return None if self.step is None else self.step + 7 * self.octave

    @property
    def name(self) -> str:
        """LilyPond's Dutch name of a note, with its octave, such as ``fis''``; ``r`` for a rest,
        ``s`` for a skip.

        It is ``x`` for drums, and for pitches without a name.
        """
        if self.kind != "note":
            return "r" if self.kind == "rest" else "s"
        marks = self.octave + 1
        try:
            return name_of(self.step, self.alteration) + "'" * marks + "," * -marks
        except ValueError:
            return "x"


@dataclass(frozen=True)
class Structure:
    """LilyPond's reading of the first score with layout in a text, or of the first score."""

    measures: int  # number of measures, without a pickup, with an incomplete last measure
    pickup: bool
    keys: tuple[Key, ...]
    metres: tuple[Metre, ...]
    events: tuple[Event, ...]  # of all voices, by time
    scores: int  # number of such scores in the text
    problems: tuple[str, ...]  # why the number of measures is in doubt; empty if it is not

    def metre_at(self, moment: Fraction) -> Metre:
        """Return the time signature in force at a moment."""
        place = bisect_right(self.metres, moment, key=attrgetter("moment"))
        return self.metres[max(place - 1, 0)]


def read_structure(text: str, **options: Unpack[Running]) -> Structure:
    r"""Have LilyPond interpret a text, in the sandbox, and return its first score with layout, or
    its first score.

    StructureError if LilyPond found no score, or was stopped before it had read one.

    Example:
        >>> score = read_structure(r"{ \time 3/4 \partial 4 d'4 | g'2. | g'2 }")
        >>> score.measures, score.pickup, [metre.name for metre in score.metres]
        (2, True, ['3/4'])
        >>> [(event.name, event.measure) for event in score.events]
        [("d'", 0), ("g'", 1), ("g'", 2)]
    """
    (result,) = read_structures([text], **options)
    if isinstance(result, StructureError):
        raise result
    return result


def read_structures(
    texts: Iterable[str], **options: Unpack[Running]
) -> Iterator[Structure | StructureError]:
    """Read several texts at a time, as `read_structure` does; the result of a text that cannot be
    read is its error.
    """
    settings = read_resource(__package__, "settings/structure.ly")
    for compiled in compile_texts(texts, settings=settings, collect=(_OUTPUT,), **options):
        try:
            yield _interpret(compiled)
        except StructureError as error:
            yield error
        # A text can make LilyPond write anything; the other texts are still read.
        except Exception as error:
            yield StructureError(
                f"what LilyPond wrote of it cannot be read: {type(error).__name__}: {error}"
            )


# Lines of LilyPond's output on a score, split into fields; see `settings/structure.ly`.
_Table = list[list[str]]
_Clock = dict[tuple[Fraction, bool], tuple[int, Fraction]]
"""Moment and whether it is of grace notes → bar number and position in the bar, both as LilyPond
counts.
"""


def _interpret(compiled: Compiled) -> Structure:
    tables: list[tuple[str, _Table]] = []  # the kinds of output and the table of every score
    for line in compiled.files.get(_OUTPUT, b"").decode("utf-8", "replace").splitlines():
        fields = line.split("\t")
        if fields[0] == "score":
            tables.append((fields[2], []))
        elif tables:
            tables[-1][1].append(fields)
    # A score without music, such as one of lyrics alone, has no measures.
    tables = [(kinds, table) for kinds, table in tables if {"note", "rest"} & _kinds(table)]
    if not tables:
        raise StructureError(
            f"LilyPond read no score: {compiled.problem or 'there is no music in the text'}",
            is_measured=compiled.is_measured,
        )
    with_layout = [table for kinds, table in tables if kinds != "midi"]
    scores = with_layout or [table for _, table in tables]
    return _structure(scores[0], len(scores), compiled)


def _kinds(table: _Table) -> set[str]:
    return {line[0] for line in table}


def _structure(table: _Table, scores: int, compiled: Compiled) -> Structure:
    clock: _Clock = {}
    for kind, moment, grace, *fields in table:
        if kind in ("time", "end"):
            clock[_fraction(moment), grace == "1"] = (int(fields[0]), _fraction(fields[1]))
    kinds = _kinds(table)
    if "full" in kinds:
        raise StructureError("the score has more notes than are read")
    if "end" not in kinds:
        raise StructureError(
            f"LilyPond did not come to the end: {compiled.problem or 'nothing says why'}",
            is_measured=compiled.is_measured,
        )
    last = [line for line in table if line[0] == "end"][-1]
    bar, position = int(last[3]), _fraction(last[4])
    keys, metres, events = _signs_and_events(table, clock)
    return Structure(
        measures=bar if position > 0 else bar - 1,
        pickup=clock[min(clock)][1] < 0,
        keys=tuple(sorted(keys, key=attrgetter("moment"))),
        metres=tuple(sorted(metres, key=attrgetter("moment"))),
        events=tuple(sorted(events, key=lambda event: (event.moment, not event.grace))),
        scores=scores,
        problems=_problems(table, metres, clock, scores),
    )


def _problems(
    table: _Table, metres: Iterable[Metre], clock: _Clock, scores: int
) -> tuple[str, ...]:
    bars = [bar for _, (bar, _) in sorted(clock.items())]
    is_unmeasured = any(line[0] == "timing" and line[3] == "0" for line in table)
    problems = {
        "it has unmeasured music": is_unmeasured,
        "it has an incomplete measure inside": not _is_regular(metres, clock),
        "it numbers its measures otherwise": bars[0] != 1 or bars != sorted(bars),
        f"it holds {scores} scores": scores > 1,
    }
    return tuple(problem for problem, is_present in problems.items() if is_present)


def _is_regular(metres: Iterable[Metre], clock: _Clock) -> bool:
    """Whether from each moment to the next bar numbers go on as the metre says."""
    lengths = {metre.moment: metre.length for metre in metres}
    length = Fraction(1)
    times = [(moment, time) for (moment, is_grace), time in sorted(clock.items()) if not is_grace]
    for (moment, (bar, position)), (later, (later_bar, later_position)) in pairwise(times):
        length = lengths.get(moment, length)
        if (later_bar - bar) * length + later_position - position != later - moment:
            return False
    return True


def _signs_and_events(table: _Table, clock: _Clock) -> tuple[list[Key], list[Metre], list[Event]]:
    """The keys, metres and events of a score, in the order of LilyPond's output."""
    keys: list[Key] = []
    metres: list[Metre] = []
    events: list[Event] = []
    # Moment, grace and voice of notes from which a tie goes on.
    ties = {("note", *line[1:4]) for line in table if line[0] == "tie"}
    for kind, moment, grace, *fields in table:
        if kind not in ("key", "metre", *_KINDS):
            continue
        now = _fraction(moment)
        measure, position = _place(clock, now, grace == "1")
        if kind == "key":
            keys += _key(now, measure, *fields)
        elif kind == "metre":
            numerator, denominator = map(int, fields)
            metres.append(Metre(now, measure, numerator, denominator))
        else:
            staff, voice, step, alteration, octave, duration = fields
            number = int(step) if step else None
            events.append(
                Event(
                    kind=cast(Kind, kind),
                    moment=now,
                    grace=grace == "1",
                    measure=measure,
                    position=position,
                    staff=int(staff),
                    voice=int(voice),
                    step=number,
                    alteration=2 * _fraction(alteration or "0"),
                    octave=int(octave or "0"),
                    duration=_fraction(duration),
                    tied=(kind, moment, grace, voice) in ties,
                )
            )
    return keys, metres, events


def _place(clock: _Clock, now: Fraction, is_grace: bool) -> tuple[int, Fraction]:
    """The measure of a moment, and the position in it."""
    bar, position = clock.get((now, is_grace)) or clock[now, not is_grace]
    return (0 if position < 0 and bar == 1 else bar), position


def _key(
    now: Fraction, measure: int, staff: str, step: str, alteration: str, scale: str
) -> Iterator[Key]:
    """A key; none if it lacks a tonic, or alters a step in one octave alone."""
    signs = dict(pair.split(":") for pair in scale.split(",") if pair)
    if step and set(signs) == set("0123456"):
        # LilyPond counts in whole tones.
        scale_signs = tuple(2 * _fraction(signs[str(number)]) for number in range(7))
        yield Key(now, measure, int(staff), int(step), 2 * _fraction(alteration), scale_signs)


# A score has thousands of moments and durations, and few different ones.
@lru_cache(maxsize=1 << 14)
def _fraction(text: str) -> Fraction:
    return Fraction(text)
