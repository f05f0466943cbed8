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
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from statistics import median
from textwrap import indent
from typing import NamedTuple

from music_evals.notation.abc.tunes import is_plain_length
from music_evals.notation.lilypond.structure import Event, Key, Metre, Structure
from music_evals.notation.lilypond.syntax.languages import name_of

_SHORTEST = Fraction(1, 128)
LENGTHS = {
    f"{value}{'.' * dots}": Fraction(2**dots * 2 - 1, value * 2**dots)
    for value in (1, 2, 4, 8, 16, 32, 64, 128)
    for dots in range(3)
}
"""Durations as LilyPond writes them → whole notes."""
_LONGEST_FIRST = sorted(LENGTHS, key=LENGTHS.__getitem__, reverse=True)
_BEAT = Fraction(1, 4)
_MAX_VOICES = 8  # of a staff
_Keys = dict[Fraction, str]  # commands of changes of key, by their moments
_WORD = re.compile(
    r"""(?x)\\clef[ ]"(?P<clef>[^"]*)"
    | \\key[ ](?P<tonic>\S+)[ ]\\(?P<mode>\S+)
    | \\time[ ](?P<metre>\d+/\d+)
    | \\partial[ ]\S+
    | \\tuplet[ ](?P<below>\d+)/(?P<above>\d+)[ ]\{
    | (?P<grace>\\grace)[ ]\{
    | (?P<close>\})
    | (?:<(?P<chord>[^<>]*)>|(?P<name>[^\W\d_]+)(?P<octave>[',]*))
      (?P<duration>\d+\.*)(?P<tie>~?)(?=\s|$)
    | (?P<unknown>\S+)""",
)


class Measure(NamedTuple):
    """A measure: its number (0 for a pickup), its start and end in whole notes, and its metre."""

    number: int
    start: Fraction
    end: Fraction
    metre: Metre

    @property
    def length(self) -> Fraction:
        """The length in whole notes."""
        return self.end - self.start


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


@dataclass(slots=True, eq=False)
class _Voice:
    """A written voice of a staff; no two of its chords overlap."""

    chords: list[_Chord] = field(default_factory=list)
    graces: dict[Fraction, list[_Chord]] = field(default_factory=lambda: defaultdict(list))

    @property
    def end(self) -> Fraction:
        return self.chords[-1].end if self.chords else Fraction(0)

    def is_within_chord(self, moment: Fraction) -> bool:
        return any(chord.moment < moment < chord.end for chord in self.chords)


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
    numbers = sorted({note.staff for note in notes})
    staves = "\n".join(_staff(structure, measures, number) for number in numbers)
    if len(numbers) == 1:
        return staves + "\n"
    return f"<<\n{indent(staves, '  ')}\n>>\n"


def measures_of(structure: Structure) -> list[Measure]:
    """Return the measures of a score without `problems`; the last one ends with the music."""
    end = max(event.moment + event.duration for event in structure.events)
    start = Fraction(0)
    measures = []
    if structure.pickup:
        start = -structure.events[0].position
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
    notes = [event for event in structure.events if event.kind == "note"]
    staves = sorted({note.staff for note in notes})
    sounding: set[tuple[object, ...]] = set()
    open_ties: dict[tuple[object, ...], Fraction] = {}  # pitch and end of a tied note → its onset
    for note in notes:
        pitch = (staves.index(note.staff), note.step, note.alteration, note.octave)
        end = note.moment + note.duration
        onset = note.moment
        if not note.grace:
            onset = open_ties.pop((*pitch, onset), onset)
            sounding.discard((*pitch, onset, note.moment, False))
            if note.tied:
                open_ties[*pitch, end] = onset
        sounding.add((*pitch, onset, end, note.grace))
    return sounding


# --- reading ---


class Word(NamedTuple):
    """A word of a measure: a chord, note, rest, key, clef or metre, or one that no canonical text
    has (`unknown`).
    """

    kind: str  # note, rest, grace, key, clef, metre, other or unknown
    match: re.Match[str]  # in the whole text
    position: Fraction  # from the beginning of the measure, in whole notes
    duration: Fraction  # with the factor of its tuplet
    factor: Fraction  # of its tuplet; 0 for grace notes


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
        if content in ("{", "\\new Staff {"):
            voice, number = voice + 1, first_number
        elif content not in ("}", "<<", ">>", "\\\\", "\\new Staff <<", ""):
            closed = content.endswith(" |")
            end = start + len(content) - 2 * closed
            words = tuple(_words(text, start, end))
            measures.append(MeasureText(staff, voice, number, start, end, closed, words))
            number += 1
    return measures


def _words(text: str, start: int, end: int) -> Iterator[Word]:
    factors = [Fraction(1)]  # of the open braces; 0 for grace notes
    position = Fraction(0)
    for match in _WORD.finditer(text, start, end):
        factor = factors[-1]
        duration = LENGTHS.get(match["duration"], 0) * factor
        kind = _kind(match, is_grace=not factor)
        if match["close"]:
            factors.pop()
            # A brace that closes nothing.
            if not factors:
                kind, factors = "unknown", [Fraction(1)]
        elif match["grace"]:
            factors.append(Fraction(0))
        elif match["below"]:
            factors.append(Fraction(int(match["above"]), int(match["below"])))
        yield Word(kind, match, position, duration, factor)
        position += duration


def _kind(match: re.Match[str], *, is_grace: bool) -> str:
    if match["name"] in ("r", "s"):
        return "rest"
    if match["duration"]:
        return "grace" if is_grace else "note"
    if match["tonic"]:
        return "key"
    return next((kind for kind in ("clef", "metre", "unknown") if match[kind]), "other")


# --- staves and voices ---


def _staff(structure: Structure, measures: Sequence[Measure], staff: int) -> str:
    notes = [event for event in structure.events if event.kind == "note" and event.staff == staff]
    middle = median(note.degree or 0 for note in notes)
    clef = "treble" if middle >= 0 else "bass"
    keys = _changes([key for key in structure.keys if key.staff == staff])
    first, *further = _voices(notes)
    texts = [_braces(_lines(first, measures, keys, clef))]
    texts += [_braces(_lines(voice, measures, {}, "")) for voice in further]
    if not further:
        return f"\\new Staff {texts[0]}"
    inner = "\n\\\\\n".join(texts)
    return f"\\new Staff <<\n{indent(inner, '  ')}\n>>"


def _braces(lines: Iterable[str]) -> str:
    inner = "\n".join(lines)
    return f"{{\n{indent(inner, '  ')}\n}}"


def _voices(notes: Sequence[Event]) -> list[_Voice]:
    """Divide the notes of a staff among as few voices as it needs; a voice of the source stays
    together if it can.
    """
    voices: list[_Voice] = []
    last: dict[int, _Voice] = {}  # voice of the source → written voice of its latest chord
    for chord in _chords([note for note in notes if not note.grace]):
        free = [voice for voice in voices if voice.end <= chord.moment]
        if not free:
            free.append(_Voice())
            voices += free
        own = last.get(chord.voice)
        voice = own if own in free else free[0]
        voice.chords.append(chord)
        last[chord.voice] = voice
    if len(voices) > _MAX_VOICES:
        raise ValueError(f"a staff needs {len(voices)} voices; {_MAX_VOICES} are written")
    _add_graces(voices, [note for note in notes if note.grace])
    return voices


def _add_graces(voices: Sequence[_Voice], notes: Sequence[Event]) -> None:
    """Add grace notes to the voice of the chord that they precede, or else to a silent one."""
    owners: dict[tuple[int, Fraction], _Voice] = {}
    for voice in voices:
        owners |= {(chord.voice, chord.moment): voice for chord in voice.chords}
    for chord in _chords(notes):
        own = owners.get((chord.voice, chord.moment))
        silent = [voice for voice in voices if not voice.is_within_chord(chord.moment)]
        if own is None and not silent:
            raise ValueError("a grace note stands before no note")
        (own or silent[0]).graces[chord.moment].append(chord)


def _chords(notes: Sequence[Event]) -> list[_Chord]:
    """The chords of notes by time; grace notes stay in the order of the score."""
    groups = defaultdict(list)
    for number, note in enumerate(notes):
        # Grace notes at one moment follow one another; those of a chord are written at one place in
        # the source.
        place = (note.measure, note.position) if not note.grace else number
        groups[note.moment, note.voice, note.duration, place].append(note)
    chords = []
    for group in groups.values():
        group.sort(key=lambda note: (note.degree or 0, note.alteration))
        first = group[0]
        names = [*dict.fromkeys(note.name for note in group)]
        tied = any(note.tied for note in group)
        chords.append(_Chord(first.moment, first.duration, first.voice, names, tied))
    return sorted(chords, key=lambda chord: chord.moment)


def _changes(keys: Sequence[Key]) -> _Keys:
    """The commands of the keys of a staff that change the one before."""
    commands: _Keys = {}
    current = ""
    for key in keys:
        if key.mode is None:
            raise ValueError("it has a key signature without a name")
        command = f"\\key {name_of(key.step, key.alteration)} \\{key.mode}"
        if command != current:
            commands[key.moment] = current = command
    return commands


# --- measures ---


def _lines(voice: _Voice, measures: Sequence[Measure], keys: _Keys, clef: str) -> Iterator[str]:
    """The measures of a voice; the first voice of a staff, which has a clef, also has keys and
    metres.
    """
    for before, measure in zip([None, *measures], measures, strict=False):
        inner = {
            moment: key for moment, key in keys.items() if measure.start < moment < measure.end
        }
        tokens = _tokens(voice, measure, inner, "r" if clef else "s")
        is_complete = measure.number == 0 or measure.length == measure.metre.length
        yield " ".join([*_signs(before, measure, keys, clef), *tokens]) + " |" * is_complete


def _signs(before: Measure | None, measure: Measure, keys: _Keys, clef: str) -> Iterator[str]:
    """What is written ahead of the notes of a measure."""
    if clef and before is None:
        yield f'\\clef "{clef}"'
    if measure.start in keys:
        yield keys[measure.start]
    if not clef:
        return
    if before is None or measure.metre.name != before.metre.name:
        yield f"\\time {measure.metre.name}"
    if measure.number == 0:
        (name, factor), *more = _written(measure.length)
        yield f"\\partial {f'1*{measure.length}' if more or factor != 1 else name}"


class _Piece(NamedTuple):
    """A stretch of a measure: a chord, or the filler of a gap if `chord` is None."""

    start: Fraction
    end: Fraction
    chord: _Chord | None


class _Note(NamedTuple):
    """A written note or rest, with the words ahead of it."""

    words: list[str]
    duration: Fraction  # with the factor of its tuplet
    factor: Fraction


def _tokens(voice: _Voice, measure: Measure, keys: _Keys, filler: str) -> Iterator[str]:
    """The words of a measure, tuplets included."""
    tuplet: list[_Note] = []
    for note in _notes(voice, measure, keys, filler):
        # A tuplet ends with a beat, or half a beat and so on.
        length = sum((note.duration for note in tuplet), Fraction(0))
        if tuplet and (note.factor != tuplet[0].factor or is_plain_length(length)):
            yield _tuplet(tuplet)
            tuplet = []
        if note.factor == 1:
            yield from note.words
        else:
            tuplet.append(note)
    if tuplet:
        yield _tuplet(tuplet)


def _notes(voice: _Voice, measure: Measure, keys: _Keys, filler: str) -> Iterator[_Note]:
    for start, end, chord in _pieces(voice, measure, keys):
        words = [keys[start]] if start in keys else []
        if chord is None or chord.moment == start:
            words += _grace_words(voice.graces.get(start, []))
        written = list(_written(end - start))
        for number, (name, factor) in enumerate(written, 1):
            text = filler + name
            if chord is not None:
                is_tied = chord.tied or number < len(written) or end < chord.end
                text = chord.text + name + "~" * is_tied
            words.append(text)
            yield _Note(words, LENGTHS[name] * factor, factor)
            words = []


def _tuplet(notes: Sequence[_Note]) -> str:
    factor = notes[0].factor
    words = " ".join(word for note in notes for word in note.words)
    return f"\\tuplet {factor.denominator}/{factor.numerator} {{ {words} }}"


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


def _pieces(voice: _Voice, measure: Measure, keys: _Keys) -> Iterator[_Piece]:
    """The chords and gaps of a measure, cut at bar lines, at changes of key, and gaps also at grace
    notes and beats.
    """
    now = measure.start
    places = {*keys, *voice.graces}
    for chord in voice.chords:
        if chord.moment >= measure.end or chord.end <= measure.start:
            continue
        start, end = max(chord.moment, now), min(chord.end, measure.end)
        yield from _gap(measure, places, now, start)
        yield from _cut(start, end, keys, chord)
        now = end
    yield from _gap(measure, places, now, measure.end)


def _gap(
    measure: Measure, places: Set[Fraction], start: Fraction, end: Fraction
) -> Iterator[_Piece]:
    is_on_beats = is_plain_length(start - measure.start) and is_plain_length(end - measure.start)
    if not is_on_beats:
        beats = range(int((end - measure.start) / _BEAT) + 1)
        places = places | {measure.start + number * _BEAT for number in beats}
    return _cut(start, end, places, None)


def _cut(
    start: Fraction, end: Fraction, places: Iterable[Fraction], chord: _Chord | None
) -> Iterator[_Piece]:
    inside = sorted(place for place in places if start < place < end)
    for first, last in pairwise([start, *inside, end]):
        if first < last:
            yield _Piece(first, last, chord)


def _written(duration: Fraction) -> Iterator[tuple[str, Fraction]]:
    """Durations as LilyPond writes them, with the factors of their tuplets, that make up a
    duration.
    """
    odd = duration.denominator // (duration.denominator & -duration.denominator)
    factor = Fraction(1 << (odd.bit_length() - 1), odd)
    rest = duration / factor
    while rest:
        name = next((name for name in _LONGEST_FIRST if LENGTHS[name] <= rest), "")
        if not name:
            raise ValueError(f"a duration of {duration} whole notes cannot be written")
        yield name, factor
        rest -= LENGTHS[name]
