"""The music of a LilyPond text as LilyPond itself understands it: measures, keys, metres, and which note stands where.

LilyPond is made to interpret the score with listeners instead of engravers (`settings/structure.ly`), so that measures
are numbered by its own timing and no `|` is counted: bar checks may be missing or wrong, voices may be any number, and
variables and repeats are resolved.

Moments, positions and durations are in whole notes, alterations in semitones (1 is a sharp), letters from 0 = C to
6 = B; staves and voices are numbered from 1 in the order in which they sound first; an offset is where something stands
in the text, -1 where it does not stand there. Measures are numbered as LilyPond does: the first complete measure is 1,
and a pickup ahead of it is 0 here (LilyPond gives it the number 1 and a negative position). Repeats count once, as
written; each alternative ending counts.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from importlib.resources import files
from itertools import pairwise, tee
from typing import Final, Literal, Unpack, cast, get_args

from music_evals.notation.lilypond.compiler import Compiled, LilyPondError, Running, compile_texts
from music_evals.notation.lilypond.syntax import Lines

_SETTINGS: Final = files("music_evals.notation.lilypond").joinpath("settings/structure.ly")
_OUTPUT: Final = "score-structure.tsv"
_STEPS: Final = "CDEFGAB"
_SIGNS: Final = dict(zip(map(Fraction, range(-2, 3)), ("eses", "es", "", "is", "isis"), strict=True))
_KEY_SIGNS: Final = {Fraction(-1): "-flat", Fraction(0): "", Fraction(1): "-sharp"}
_MAJOR: Final = (0, 2, 4, 5, 7, 9, 11)

# In semitones from the tonic.
_MODES: Final[Mapping[tuple[Fraction | int, ...], str]] = {
    _MAJOR: "major",
    (0, 2, 3, 5, 7, 8, 10): "minor",
    (0, 2, 3, 5, 7, 9, 10): "dorian",
    (0, 1, 3, 5, 7, 8, 10): "phrygian",
    (0, 2, 4, 6, 7, 9, 11): "lydian",
    (0, 2, 4, 5, 7, 9, 10): "mixolydian",
    (0, 1, 3, 5, 6, 8, 10): "locrian",
}

Kind = Literal["note", "rest", "skip"]
_KINDS: Final = get_args(Kind)


class StructureError(LilyPondError):
    """LilyPond understood no score in a text; `is_measured` says whether that is the text's doing."""

    def __init__(self, message: str, *, is_measured: bool = True) -> None:
        super().__init__(message)
        self.is_measured = is_measured


@dataclass(frozen=True, slots=True)
class Key:
    """A key signature, from `moment` on in one staff."""

    moment: Fraction
    measure: int
    staff: int
    step: int  # of the tonic
    alteration: Fraction  # of the tonic
    scale: tuple[Fraction, ...]  # alteration of each of the steps 0 to 6
    offset: int

    @property
    def mode(self) -> str | None:
        """``major``, ``minor``, or a church mode; None for any other scale."""
        tonic = _MAJOR[self.step] + self.alteration
        steps = [(self.step + degree) % 7 for degree in range(7)]
        return _MODES.get(tuple((_MAJOR[step] + self.scale[step] - tonic) % 12 for step in steps))

    @property
    def name(self) -> str | None:
        """Such as ``B-flat major``; None where the scale has no name or the tonic a microtone."""
        sign = _KEY_SIGNS.get(self.alteration)
        return None if self.mode is None or sign is None else f"{_STEPS[self.step]}{sign} {self.mode}"


@dataclass(frozen=True, slots=True)
class Metre:
    """A time signature, from `moment` on."""

    moment: Fraction
    measure: int
    numerator: int
    denominator: int

    @property
    def name(self) -> str:
        """Such as ``3/4``."""
        return f"{self.numerator}/{self.denominator}"


@dataclass(frozen=True, slots=True)
class Event:
    """A note, rest or skip."""

    kind: Kind
    moment: Fraction
    grace: bool
    measure: int  # that it begins in; 0 for a pickup
    position: Fraction  # onset from the measure's beginning; negative in a pickup
    staff: int
    voice: int
    step: int | None  # None for rests, skips and drums
    alteration: Fraction
    octave: int  # 0 is that of middle C
    duration: Fraction
    offset: int
    tied: bool = False  # whether a tie leads on from it

    @property
    def degree(self) -> int | None:
        """The height of a note in steps of the staff, middle C being 0; None for what is no note."""
        return None if self.step is None else self.step + 7 * self.octave

    @property
    def name(self) -> str:
        """LilyPond's own name of a note in absolute octaves, such as ``fis''``; ``r`` for a rest, ``s`` for a skip."""
        if self.kind != "note":
            return "r" if self.kind == "rest" else "s"
        if self.step is None:
            return "x"
        marks = self.octave + 1
        sign = _SIGNS.get(self.alteration, f"({self.alteration})")
        return _STEPS[self.step].lower() + sign + ("'" * marks if marks > 0 else "," * -marks)


@dataclass(frozen=True)
class Structure:
    """What LilyPond makes of a score: the first written one that a text holds."""

    measures: int  # a pickup not counted, an incomplete last one counted
    pickup: bool
    keys: tuple[Key, ...]
    metres: tuple[Metre, ...]
    events: tuple[Event, ...]  # of all voices by time
    scores: int  # how many written scores the text holds
    problems: tuple[str, ...]  # why the measures are no plain count, in words; empty where they are
    messages: str  # LilyPond's own

    @cached_property
    def voices(self) -> Mapping[int, tuple[Event, ...]]:
        """Voice → its events by time."""
        voices = dict.fromkeys(event.voice for event in self.events)
        return {voice: tuple(event for event in self.events if event.voice == voice) for voice in voices}

    def key_at(self, moment: Fraction, staff: int) -> Key | None:
        """The key signature in force in a staff at a moment, or None where none was given."""
        keys = [key for key in self.keys if key.staff == staff]
        place = bisect_right(keys, moment, key=lambda key: key.moment)
        return keys[place - 1] if place else None

    def metre_at(self, moment: Fraction) -> Metre:
        """The time signature in force at a moment."""
        place = bisect_right(self.metres, moment, key=lambda metre: metre.moment)
        return self.metres[max(place - 1, 0)]


def read_structure(text: str, **how: Unpack[Running]) -> Structure:
    r"""Let LilyPond interpret a text, in a sandbox, and tell what it understood of the first score with layout, or any.

    StructureError if LilyPond found no score, or was stopped before it had read one.

    Example:
        >>> read = read_structure(r"{ \time 3/4 \partial 4 d'4 | g'2. | g'2 }")
        >>> read.measures, read.pickup, [metre.name for metre in read.metres]
        (2, True, ['3/4'])
        >>> [(event.name, event.measure) for event in read.events]
        [("d'", 0), ("g'", 1), ("g'", 2)]
    """
    (read,) = read_structures([text], **how)
    if isinstance(read, StructureError):
        raise read
    return read


def read_structures(texts: Iterable[str], **how: Unpack[Running]) -> Iterator[Structure | StructureError]:
    """Read many texts at once, as `read_structure` reads one; a text that cannot be read gives its error."""
    to_compile, to_interpret = tee(texts)
    results = compile_texts(to_compile, settings=_SETTINGS.read_text(encoding="utf-8"), collect=(_OUTPUT,), **how)
    for compiled, text in zip(results, to_interpret, strict=True):
        read: Structure | StructureError
        try:
            read = _interpret(text, compiled)
        except StructureError as error:
            read = error
        except Exception as error:  # a text may make LilyPond write anything, and ends the reading of no other
            read = StructureError(f"what LilyPond wrote of it cannot be read: {type(error).__name__}: {error}")
        yield read


def _interpret(text: str, compiled: Compiled) -> Structure:
    scores = _scores(compiled.files.get(_OUTPUT, b"").decode("utf-8", "replace"))
    if not scores:
        why = compiled.problem or "there is no music in the text"
        raise StructureError(f"LilyPond read no score: {why}", is_measured=compiled.is_measured)
    written = [lines for kinds, lines in scores if kinds != {"midi"}] or [lines for _, lines in scores]
    return _structure(written[0], len(written), Lines(text), compiled)


def _scores(table: str) -> list[tuple[set[str], list[list[str]]]]:
    scores: list[tuple[set[str], list[list[str]]]] = []
    for line in table.splitlines():
        fields = line.split("\t")
        if fields[0] == "score":
            scores.append((set(fields[2].split(",")), []))
        elif scores:
            scores[-1][1].append(fields)
    # A score of no music at all, such as one of lyrics alone, has no measures to speak of.
    return [(kinds, lines) for kinds, lines in scores if any(line[0] in ("note", "rest") for line in lines)]


def _structure(lines: list[list[str]], scores: int, where: Lines, compiled: Compiled) -> Structure:
    clock: dict[tuple[Fraction, bool], tuple[int, Fraction]] = {}
    problems: dict[str, None] = {}
    end: tuple[int, Fraction] | None = None
    for kind, moment, grace, *rest in lines:
        if kind in ("time", "end"):
            bar, position = int(rest[0]), _fraction(rest[1])
            clock[_fraction(moment), grace == "1"] = (bar, position)
            if kind == "end":
                end = (bar, position)
        elif kind == "timing" and rest[0] == "0":
            problems["it has unmeasured music"] = None
        elif kind == "full":
            raise StructureError("the score has more notes than are read")
    if end is None:
        why = compiled.problem or "nothing says why"
        raise StructureError(f"LilyPond did not come to the end: {why}", is_measured=compiled.is_measured)
    numbers = [clock[key] for key in sorted(clock)]
    if any(not regular for regular in _regular(clock, lines)):
        problems["it has an incomplete measure inside"] = None
    bars = [bar for bar, _ in numbers]
    if bars[0] != 1 or any(later < earlier for earlier, later in pairwise(bars)):
        problems["it numbers its measures otherwise"] = None
    if scores > 1:
        problems[f"it holds {scores} scores"] = None

    def place(moment: str, grace: str) -> tuple[Fraction, int, Fraction]:
        now = _fraction(moment)
        bar, position = clock.get((now, grace == "1")) or clock[now, grace != "1"]
        return now, (0 if position < 0 and bar == 1 else bar), position

    ties = {(rest[0], moment, grace) for kind, moment, grace, *rest in lines if kind == "tie"}
    keys: list[Key] = []
    metres: list[Metre] = []
    events: list[Event] = []
    for kind, moment, grace, *rest in lines:
        if kind == "metre":
            now, measure, _ = place(moment, grace)
            metres.append(Metre(now, measure, int(rest[0]), int(rest[1])))
        elif kind == "key":
            now, measure, _ = place(moment, grace)
            scale = dict(pair.split(":") for pair in rest[3].split(",") if pair)
            # A key signature may also alter a step in one octave alone; that is no key of ours.
            if rest[1] and set(scale) == set("0123456"):
                alterations = tuple(_semitones(scale[str(step)]) for step in range(7))
                tonic = (int(rest[1]), _semitones(rest[2]))
                keys.append(Key(now, measure, int(rest[0]), *tonic, alterations, _offset(where, *rest[4:6])))
        elif kind in _KINDS:
            now, measure, position = place(moment, grace)
            staff, voice, step, alteration, octave, duration, line, character = rest
            events.append(
                Event(
                    kind=cast(Kind, kind),
                    moment=now,
                    grace=grace == "1",
                    measure=measure,
                    position=position,
                    staff=int(staff),
                    voice=int(voice),
                    step=int(step) if step else None,
                    alteration=_semitones(alteration) if step else Fraction(0),
                    octave=int(octave) if step else 0,
                    duration=_fraction(duration),
                    offset=_offset(where, line, character),
                    tied=kind == "note" and (voice, moment, grace) in ties,
                )
            )
    bar, position = end
    return Structure(
        measures=bar if position > 0 else bar - 1,
        pickup=numbers[0][1] < 0,
        keys=tuple(sorted(keys, key=lambda key: key.moment)),
        metres=tuple(sorted(metres, key=lambda metre: metre.moment)),
        events=tuple(sorted(events, key=lambda event: (event.moment, not event.grace))),
        scores=scores,
        problems=tuple(problems),
        messages=compiled.messages,
    )


def _semitones(alteration: str) -> Fraction:
    return 2 * _fraction(alteration)  # LilyPond counts in whole tones


def _regular(clock: Mapping[tuple[Fraction, bool], tuple[int, Fraction]], lines: list[list[str]]) -> Iterator[bool]:
    """Whether from each moment to the next bar numbers go on as the metre says."""
    lengths = {
        _fraction(moment): Fraction(int(rest[0]), int(rest[1])) for kind, moment, _, *rest in lines if kind == "metre"
    }
    length = Fraction(1)
    for (earlier, (bar, position)), (later, (next_bar, next_position)) in pairwise(
        [(moment, place) for (moment, grace), place in sorted(clock.items()) if not grace]
    ):
        length = lengths.get(earlier, length)
        yield (next_bar - bar) * length + next_position - position == later - earlier


def _offset(lines: Lines, line: str, character: str) -> int:
    # What LilyPond's own files or Scheme put into the music stands nowhere in the text.
    return lines.offset(int(line), int(character)) if int(line) > 0 else -1


@lru_cache(maxsize=1 << 14)
def _fraction(text: str) -> Fraction:
    return Fraction(text)  # a score has thousands of moments and durations, and few different ones
