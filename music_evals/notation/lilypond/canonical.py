r"""Writes the music of a score in one canonical form, so that nothing of how a person typeset it is
left.

`write_score` writes LilyPond's own reading of a text (`structure`): notes, chords, ties, grace
notes, rests, tuplets, keys, metres and the pickup. Everything else is dropped: words, lyrics,
dynamics, articulation, tempo, repeat signs, instruments, layout, names. The form is always the
same:

- Octaves are absolute, note names Dutch, and every note has its duration.
- A staff has one voice, or several between ``<<``, ``\\`` and ``>>``. A voice is reused as soon as
  it is free.
- A measure of a voice is one line, which ends with a bar check. A note that crosses a bar line is
  tied.
- Every staff has a clef by the middle of its range, treble or bass.
- Rests fill the first voice of a staff, and skips fill its other voices.

`same_music` compares two readings: the written text has the same music if LilyPond reads it as
equal. `read_measures` reads the text back without LilyPond, measure by measure, also where it was
corrupted.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from statistics import median
from typing import Final, NamedTuple

from music_evals.notation.lilypond.structure import Event, Key, Metre, Structure
from music_evals.notation.lilypond.syntax.languages import name_of

_SHORTEST: Final = Fraction(1, 128)
_DURATIONS: Final = sorted(
    (
        (Fraction(2**dots * 2 - 1, value * 2**dots), f"{value}{'.' * dots}")
        for value in (1, 2, 4, 8, 16, 32, 64, 128)
        for dots in range(3)
    ),
    reverse=True,
)
"""Durations in whole notes, longest first, and how LilyPond writes them."""
_BEAT: Final = Fraction(1, 4)
_MAX_VOICES: Final = 8  # of a staff
_WORD: Final = re.compile(
    r"""\\clef[ ]"(?P<clef>[^"]*)"
    | \\key[ ](?P<tonic>\S+)[ ]\\(?P<mode>\S+)
    | \\time[ ](?P<metre>\d+/\d+)
    | \\partial[ ]\S+
    | \\tuplet[ ](?P<below>\d+)/(?P<above>\d+)[ ]\{
    | (?P<grace>\\grace)[ ]\{
    | (?P<close>\})
    | (?:<(?P<chord>[^<>]*)>|(?P<name>[^\W\d_]+)(?P<octave>[',]*))
      (?P<duration>\d+\.*)(?P<tie>~?)(?=\s|$)
    | (?P<unknown>\S+)""",
    re.VERBOSE,
)


class Measure(NamedTuple):
    """A measure: its number (0 for a pickup), its start and end in whole notes, and its metre."""

    number: int
    start: Fraction
    end: Fraction
    metre: Metre


@dataclass(slots=True)
class _Chord:
    """Notes of one voice that begin and end together."""

    moment: Fraction
    duration: Fraction
    voice: int
    names: list[str]
    tied: bool

    @property
    def end(self) -> Fraction:
        return self.moment + self.duration

    @property
    def text(self) -> str:
        return self.names[0] if len(self.names) == 1 else f"<{' '.join(self.names)}>"


@dataclass(slots=True)
class _Voice:
    """A written voice of a staff; no two of its chords overlap."""

    chords: list[_Chord] = field(default_factory=list)
    graces: dict[Fraction, list[_Chord]] = field(default_factory=lambda: defaultdict(list))

    @property
    def end(self) -> Fraction:
        return self.chords[-1].end if self.chords else Fraction(0)


def write_score(structure: Structure) -> str:
    r"""Write the music of a score in canonical form; ValueError says what cannot be written.

    Example:
        >>> from music_evals.notation.lilypond.structure import read_structure
        >>> signatures = r"\key f \major \time 3/4 \partial 4"
        >>> source = rf"\relative {{ {signatures} c'4-. | << {{ a'2 }} \\ {{ f4 g }} >> a4 | }}"
        >>> print(write_score(read_structure(source)), end="")
        \new Staff <<
          {
            \clef "treble" \key f \major \time 3/4 \partial 4 c'4 |
            a'2 a'4 |
          }
          \\
          {
            s4 |
            f'4 g'4 s4 |
          }
        >>
    """
    notes = [event for event in structure.events if event.kind == "note"]
    if any(note.name == "x" for note in notes):
        raise ValueError("it has notes without a pitch")
    if structure.problems:
        raise ValueError("; ".join(structure.problems))
    measures = measures_of(structure)
    staves = [
        _staff(structure, measures, staff) for staff in sorted({note.staff for note in notes})
    ]
    if len(staves) == 1:
        return staves[0] + "\n"
    return (
        "<<\n"
        + "\n".join(f"  {line}" for staff in staves for line in staff.splitlines())
        + "\n>>\n"
    )


def measures_of(structure: Structure) -> list[Measure]:
    """Return the measures of a score without `problems`; the last one ends with the music."""
    first = structure.events[0]
    end = max(event.moment + event.duration for event in structure.events)
    start = Fraction(0)
    measures = []
    if structure.pickup:
        start = -first.position
        measures.append(Measure(0, Fraction(0), start, structure.metre_at(Fraction(0))))
    for number in range(1, structure.measures + 1):
        metre = structure.metre_at(start)
        measures.append(Measure(number, start, start + metre.length, metre))
        start += metre.length
    last = measures[-1]
    measures[-1] = last._replace(end=min(last.end, max(end, last.start + _SHORTEST)))
    return measures


def same_music(structure: Structure, other: Structure) -> bool:
    """Whether two readings have the same number of measures, metres, pickup and sounding notes,
    staff by staff.
    """
    return _facts(structure) == _facts(other)


def _facts(structure: Structure) -> tuple[object, ...]:
    metres = [(metre.moment, metre.name) for metre in structure.metres]
    return structure.measures, structure.pickup, metres, sounding_notes(structure)


def sounding_notes(structure: Structure) -> set[tuple[object, ...]]:
    """Return the notes as staff, pitch, onset, end and whether it is a grace note; tied notes are
    one note.
    """
    staves = sorted({event.staff for event in structure.events if event.kind == "note"})
    notes: set[tuple[object, ...]] = set()
    open_ties: dict[
        tuple[object, ...], Fraction
    ] = {}  # staff, pitch and end of a tied note → its onset
    for event in structure.events:
        if event.kind != "note":
            continue
        pitch = (staves.index(event.staff), event.step, event.alteration, event.octave)
        end = event.moment + event.duration
        onset = event.moment
        if not event.grace:
            onset = open_ties.pop((*pitch, event.moment), event.moment)
            notes.discard((*pitch, onset, event.moment, False))
            if event.tied:
                open_ties[*pitch, end] = onset
        notes.add((*pitch, onset, end, event.grace))
    return notes


# --- reading ---


class Word(NamedTuple):
    """A word of a measure: a chord, note, rest, key, clef or metre, or one that no canonical text
    has (`unknown`).
    """

    kind: str  # note, rest, grace, key, clef, metre, other or unknown
    match: re.Match[str]  # in the whole text
    position: Fraction  # from the beginning of the measure, in whole notes
    duration: Fraction  # with the factor of its tuplet


class MeasureText(NamedTuple):
    """A measure of one voice, as it is written."""

    staff: int  # from 0
    voice: int  # from 0, through all staves
    number: int  # 0 for a pickup
    start: int  # offset of its text
    end: int  # offset after its text, without the bar check
    closed: bool  # whether a bar check ends it
    words: tuple[Word, ...]

    @property
    def length(self) -> Fraction:
        """The sum of its durations, in whole notes."""
        return sum((word.duration for word in self.words), Fraction(0))


def read_measures(text: str) -> list[MeasureText]:
    r"""Read the measures of a canonical text, voice by voice.

    Example:
        >>> [measure] = read_measures(
        ...     "\\new Staff {\n  \\clef \"bass\" c4 \\tuplet 3/2 { d8 e8 f8 }\n}\n")
        >>> measure.number, measure.length, [word.match[
        ...     0] for word in measure.words if word.kind == "note"]
        (1, Fraction(1, 2), ['c4', 'd8', 'e8', 'f8'])
    """
    first_number = 0 if "\\partial " in text else 1
    staff = voice = -1
    number = offset = 0
    measures: list[MeasureText] = []
    for line in text.splitlines(keepends=True):
        content = line.strip()
        start = offset + line.index(content)
        offset += len(line)
        staff += content.startswith("\\new Staff")
        if content.endswith("{") and content.removeprefix("\\new Staff").strip() == "{":
            voice, number = voice + 1, first_number
        elif content not in ("}", "<<", ">>", "\\\\", "\\new Staff <<", ""):
            closed = content.endswith(" |")
            end = start + len(content) - 2 * closed
            measures.append(
                MeasureText(
                    staff, voice, number, start, end, closed, tuple(_words(text, start, end))
                )
            )
            number += 1
    return measures


def _words(text: str, start: int, end: int) -> Iterator[Word]:
    factors = [Fraction(1)]  # of the open braces; 0 for grace notes
    position = Fraction(0)
    for match in _WORD.finditer(text, start, end):
        kind, duration = "other", Fraction(0)
        if match["duration"]:
            length = _length(match["duration"])
            kind = "rest" if match["name"] in ("r", "s") else "note" if factors[-1] else "grace"
            duration = length * factors[-1]
        elif match["grace"]:
            factors.append(Fraction(0))
        elif match["below"]:
            factors.append(Fraction(int(match["above"]), int(match["below"])))
        elif match["close"] and len(factors) > 1:
            factors.pop()
        elif match["unknown"] or match["close"]:
            kind = "unknown"
        else:
            kind = next(
                (name for name in ("clef", "metre") if match[name]),
                "key" if match["tonic"] else "other",
            )
        yield Word(kind, match, position, duration)
        position += duration


# --- staves and voices ---


def _staff(structure: Structure, measures: Sequence[Measure], staff: int) -> str:
    notes = [event for event in structure.events if event.kind == "note" and event.staff == staff]
    clef = "treble" if median(note.degree or 0 for note in notes) >= 0 else "bass"
    voices = _voices(notes)
    keys = _changes([key for key in structure.keys if key.staff == staff])
    texts = []
    for number, voice in enumerate(voices):
        lines = _lines(voice, measures, {}, "") if number else _lines(voice, measures, keys, clef)
        texts.append("\n".join(["{", *(f"  {line}" for line in lines), "}"]))
    if len(texts) == 1:
        return f"\\new Staff {texts[0]}"
    inner = "\n\\\\\n".join(texts)
    return "\\new Staff <<\n" + "\n".join(f"  {line}" for line in inner.splitlines()) + "\n>>"


def _voices(notes: Sequence[Event]) -> list[_Voice]:
    """Divide the notes of a staff among as few voices as it needs; a voice of the source stays
    together if it can.
    """
    voices: list[_Voice] = []
    last: dict[int, _Voice] = {}  # voice of the source → written voice of its latest chord
    for chord in _chords([note for note in notes if not note.grace]):
        free = [voice for voice in voices if voice.end <= chord.moment]
        own = last.get(chord.voice)
        if own is None or own not in free:
            own = free[0] if free else _Voice()
        if own not in voices:
            voices.append(own)
        own.chords.append(chord)
        last[chord.voice] = own
    if len(voices) > _MAX_VOICES:
        raise ValueError(f"a staff needs {len(voices)} voices; {_MAX_VOICES} are written")
    owners = {(chord.voice, chord.moment): voice for voice in voices for chord in voice.chords}
    for chord in _chords([note for note in notes if note.grace]):
        voice = owners.get((chord.voice, chord.moment)) or next(
            (
                other
                for other in voices
                if not any(held.moment < chord.moment < held.end for held in other.chords)
            ),
            None,
        )
        if voice is None:
            raise ValueError("a grace note stands before no note")
        voice.graces[chord.moment].append(chord)
    return voices


def _chords(notes: Sequence[Event]) -> list[_Chord]:
    """The chords of notes by time; grace notes stay in the order of the score."""
    groups: dict[tuple[object, ...], list[Event]] = defaultdict(list)
    for number, note in enumerate(notes):
        # Grace notes at one moment follow one another; those of a chord are written at one place in
        # the source.
        place = (note.measure, note.position) if not note.grace else number
        groups[note.moment, note.voice, note.duration, place].append(note)
    chords = []
    for group in groups.values():
        group.sort(key=lambda note: (note.degree or 0, note.alteration))
        names = dict.fromkeys(note.name for note in group)
        first = group[0]
        tied = any(note.tied for note in group)
        chords.append(_Chord(first.moment, first.duration, first.voice, list(names), tied))
    return sorted(chords, key=lambda chord: chord.moment)


def _changes(keys: Sequence[Key]) -> dict[Fraction, str]:
    """The commands of the keys of a staff that change the one before."""
    commands: dict[Fraction, str] = {}
    current: tuple[object, ...] = ()
    for key in keys:
        if key.mode is None:
            raise ValueError("it has a key signature without a name")
        if (key.step, key.alteration, key.mode) != current:
            current = (key.step, key.alteration, key.mode)
            commands[key.moment] = f"\\key {name_of(key.step, key.alteration)} \\{key.mode}"
    return commands


# --- measures ---


def _lines(
    voice: _Voice, measures: Sequence[Measure], keys: dict[Fraction, str], clef: str
) -> Iterator[str]:
    """The measures of a voice; the first voice of a staff, which has a clef, also has keys and
    metres.
    """
    metre = ""
    for number, measure in enumerate(measures):
        commands = [f'\\clef "{clef}"'] if clef and not number else []
        if measure.start in keys:
            commands.append(keys[measure.start])
        if clef and measure.metre.name != metre:
            metre = measure.metre.name
            commands.append(f"\\time {metre}")
        if clef and measure.number == 0:
            written, *more = _written(measure.end - measure.start)
            length = f"1*{measure.end - measure.start}" if more or written[1] != 1 else written[0]
            commands.append(f"\\partial {length}")
        inner = {
            moment: key for moment, key in keys.items() if measure.start < moment < measure.end
        }
        is_complete = measure.number == 0 or measure.end - measure.start == measure.metre.length
        yield (
            " ".join([*commands, *_tokens(voice, measure, inner, "r" if clef else "s")])
            + " |" * is_complete
        )


class _Piece(NamedTuple):
    """A stretch of a measure: a chord, or the filler of a gap if `chord` is None."""

    start: Fraction
    end: Fraction
    chord: _Chord | None


def _tokens(
    voice: _Voice, measure: Measure, keys: dict[Fraction, str], filler: str
) -> Iterator[str]:
    """The words of a measure, tuplets included."""
    tuplet: list[str] = []
    factor, length = Fraction(1), Fraction(0)
    for piece in _pieces(voice, measure, keys):
        before = [key for moment, key in keys.items() if moment == piece.start]
        chord = piece.chord
        if chord is None or chord.moment == piece.start:
            before += _grace_words(voice.graces.get(piece.start, []))
        durations = list(_written(piece.end - piece.start))
        for number, (duration, own_factor) in enumerate(durations):
            is_last = number == len(durations) - 1
            tie = "~" * (chord is not None and (chord.tied or not is_last or piece.end < chord.end))
            words = [*before, f"{chord.text if chord else filler}{duration}{tie}"]
            before = []
            if tuplet and own_factor != factor:
                yield _tuplet(factor, tuplet)
                tuplet, length = [], Fraction(0)
            factor = own_factor
            if factor == 1:
                yield from words
                continue
            tuplet += words
            length += _length(duration) * factor
            if _is_plain(length):  # the tuplet ends with a beat, or a part of one
                yield _tuplet(factor, tuplet)
                tuplet, length = [], Fraction(0)
    if tuplet:
        yield _tuplet(factor, tuplet)


def _tuplet(factor: Fraction, words: Sequence[str]) -> str:
    return f"\\tuplet {factor.denominator}/{factor.numerator} {{ {' '.join(words)} }}"


def _grace_words(graces: Sequence[_Chord]) -> list[str]:
    if not graces:
        return []
    words = []
    for chord in graces:
        (duration, factor), *more = _written(chord.duration)
        if more or factor != 1:
            raise ValueError("a grace note has a duration that cannot be written")
        words.append(chord.text + duration)
    return ["\\grace {", *words, "}"]


def _pieces(voice: _Voice, measure: Measure, keys: dict[Fraction, str]) -> Iterator[_Piece]:
    """The chords and gaps of a measure, cut at bar lines, at changes of key, and gaps also at grace
    notes and beats.
    """
    now = measure.start
    chords = [
        chord for chord in voice.chords if chord.moment < measure.end and chord.end > measure.start
    ]
    for chord in chords:
        yield from _gap(voice, measure, keys, now, max(chord.moment, now))
        now, end = max(chord.moment, measure.start), min(chord.end, measure.end)
        for start, stop in pairwise(
            [now, *sorted(moment for moment in keys if now < moment < end), end]
        ):
            yield _Piece(start, stop, chord)
        now = end
    yield from _gap(voice, measure, keys, now, measure.end)


def _gap(
    voice: _Voice, measure: Measure, keys: dict[Fraction, str], start: Fraction, end: Fraction
) -> Iterator[_Piece]:
    if start == end:
        return
    cuts = {moment for moment in (*keys, *voice.graces) if start < moment < end}
    if not (_is_plain(start - measure.start) and _is_plain(end - measure.start)):
        beats = int((end - measure.start) / _BEAT) + 1
        cuts |= {beat for n in range(beats) if start < (beat := measure.start + n * _BEAT) < end}
    for first, last in pairwise([start, *sorted(cuts), end]):
        yield _Piece(first, last, None)


def _is_plain(duration: Fraction) -> bool:
    """Whether a duration is a multiple of a power of two, which needs no tuplet."""
    return duration.denominator & (duration.denominator - 1) == 0


def _length(duration: str) -> Fraction:
    """The length of a written duration, such as ``4.``; 0 for one that LilyPond does not know."""
    return next((length for length, name in _DURATIONS if name == duration), Fraction(0))


def _written(duration: Fraction) -> Iterator[tuple[str, Fraction]]:
    """Durations as LilyPond writes them, with the factors of their tuplets, that make up a
    duration.
    """
    odd = duration.denominator
    while odd % 2 == 0:
        odd //= 2
    factor = Fraction(1 << (odd.bit_length() - 1), odd)
    rest = duration / factor
    while rest:
        length, name = next(
            ((length, name) for length, name in _DURATIONS if length <= rest), (rest, "")
        )
        if not name:
            raise ValueError(f"a duration of {duration} whole notes cannot be written")
        yield name, factor
        rest -= length
