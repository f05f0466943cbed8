"""The errors of `error_detection`: finds them in a canonical score, and puts one into a score
without any.

The strict rows keep to these definitions:

- ``invalid_metadata``: a ``\\key`` or ``\\clef`` whose argument does not exist;
- ``invalid_content``: a word among the notes that is no LilyPond;
- ``invalid_bar_duration``: the notes ahead of a bar check do not fill the measure;
- ``melodic_leap``: a note more than ten steps of the staff above or below the note right before it
  in its voice;
- ``accidental_outside_key``: a note that is neither in the current key nor in a closely related
  one. Closely related keys have signatures that differ by at most one sharp or flat. Minor keys
  include their raised sixth and seventh degrees. In C major all black keys are foreign except F
  sharp, C sharp, G sharp, D sharp and B flat, by these names. Without related keys, hardly any
  tonal piece would be without error.

A chord counts by its lowest note, and grace notes do not count. A corruption replaces one word. It
is taken only if `find_errors` finds this kind in this measure and nothing else. Since every word of
a canonical text has its own octave and duration, no other note changes.

The scores are written as ABC, too (`music_evals.notation.abc.from_lilypond`), and there an error
has one trace as well: one word is another, or new. So a foreign note is the last on its step in its
measure, because a later one would be marked as natural. A wrong mode hardly ever replaces *minor*,
because ABC then reads a major key, in which many notes are marked.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from random import Random
from typing import NamedTuple

from music_evals.datasets_builders import read_table
from music_evals.datasets_builders.lilybench.rows import Corruption
from music_evals.notation.abc.from_lilypond import lilypond_to_abc
from music_evals.notation.lilypond.canonical import MeasureText, Word, read_measures
from music_evals.notation.lilypond.syntax.languages import NoteName, name_of, pitch_of

_Measures = Sequence[MeasureText]
_Words = Iterator[tuple[MeasureText, Word]]

MAX_LEAP = 10  # steps of the staff; a larger leap is an error
_TABLE = read_table("names/lilybench_errors.toml")
MODES: Mapping[str, int] = _TABLE["modes"]
"""Mode → how many more sharps its signature has than that of the major key on its tonic."""
_CLEFS = ("treble", "bass")
_FIFTHS = (0, 2, 4, -1, 1, 3, 5)  # step (0 = C to 6 = B) → fifths above C
_ABC_WORD = re.compile(r"\[K:[^\]]*\]|\S+")
_LEAP = 2  # octaves: the smallest number that is a leap from any note of a melody
_TRIES = 12


class Corrupted(NamedTuple):
    """A corrupted score, and the number of the measure with the error."""

    text: str
    measure: int


def corrupt(
    text: str, kind: Corruption, *, seed: int, wrong: Sequence[int] = (), is_inner: bool = False
) -> Corrupted | None:
    """Put one error into a canonical score in which `find_errors` finds none, or others of the kind
    in the measures `wrong`; None if no candidate is proven.

    With `is_inner` the error is not in the first or last voice.
    """
    draw = Random(f"{seed} {kind} {text}")
    measures = read_measures(text)
    if is_inner:
        measures = [place for place in measures if 0 < place.voice < measures[-1].voice]
    for start, end, new, number in islice(_candidates(measures, kind, draw), _TRIES):
        corrupted = f"{text[:start]}{new}{text[end:]}"
        errors = {kind: sorted([*wrong, number])}
        if find_errors(corrupted) == errors and _has_one_trace(text, corrupted):
            return Corrupted(corrupted, number)
    return None


def find_errors(text: str) -> dict[Corruption, list[int]]:
    """Find the errors in a canonical text: kind → numbers of the measures, ascending; only kinds
    that occur.
    """
    measures = read_measures(text)
    numbers: dict[Corruption, Iterable[int]] = {
        "invalid_metadata": (place.number for place, word in _words(measures) if _is_invalid(word)),
        "invalid_content": (place.number for place, word in _words(measures) if _is_nonsense(word)),
        "invalid_bar_duration": _unfilled(measures),
        "melodic_leap": _leaps(measures),
        "accidental_outside_key": _foreign_notes(measures),
    }
    errors = {kind: sorted(set(places)) for kind, places in numbers.items()}
    return {kind: places for kind, places in errors.items() if places}


def _words(measures: Iterable[MeasureText], *kinds: str) -> _Words:
    """The words of measures, or only those of these kinds, with the measures."""
    for measure in measures:
        for word in measure.words:
            if not kinds or word.kind in kinds:
                yield measure, word


def has_false_tie(text: str) -> bool:
    """Whether a tie in a canonical score leads to other pitches, as a slur does that a source has
    as a tie.
    """
    tied: set[str] = set()
    voice = 0
    for measure, word in _words(read_measures(text), "note", "rest"):
        names = set(names_in(word))
        if measure.voice == voice and tied and tied.isdisjoint(names):
            return True
        tied = names if word.match["tie"] else set()
        voice = measure.voice
    return False


def later_commands(text: str) -> bool:
    r"""Whether a ``\key`` or ``\clef`` is in a measure after the first."""
    return any(measure.number > 1 for measure, _ in _words(read_measures(text), "key", "clef"))


def is_foreign(signature: int, pitch: NoteName) -> bool:
    """Whether a note is neither in a key, given by its number of sharps or -flats, nor in closely
    related ones.
    """
    # On the line of fifths ... F C G D A E B F sharp ... the seven notes of a key are neighbours.
    # Its closely related keys add one note at each end, and their leading notes add three more
    # above.
    place = _FIFTHS[pitch.step] + 7 * pitch.alteration - signature
    return not _FIFTHS[3] - 1 <= place <= _FIFTHS[6] + 4


def signature_of(tonic: NoteName, mode: str) -> int:
    """Return the number of sharps of a key, negative for flats."""
    return int(_FIFTHS[tonic.step] + 7 * tonic.alteration) + MODES[mode]


def alteration_in(signature: int, step: int) -> int:
    """Return the alteration of a step of the staff by a signature, given by its number of sharps or
    -flats.

    Example:
        >>> [alteration_in(2, step) for step in range(7)]  # D major: C sharp to B
        [1, 0, 0, 1, 0, 0, 0]
    """
    return -((_FIFTHS[step] - signature + 1) // 7)


# --- finding ---


def _is_invalid(word: Word) -> bool:
    if word.kind == "key":
        return pitch_of(word.match["tonic"]) is None or word.match["mode"] not in MODES
    return word.kind == "clef" and word.match["clef"] not in _CLEFS


def names_in(word: Word) -> list[str]:
    """Return the names of a word's notes, without octaves."""
    written = word.match["chord"].split() if word.match["chord"] else [word.match["name"]]
    return [name.rstrip("',") for name in written]


def _is_nonsense(word: Word) -> bool:
    """Whether a word is no LilyPond, or has the name of a note that does not exist."""
    is_note = word.kind in ("note", "grace")
    return word.kind == "unknown" or (is_note and not all(map(pitch_of, names_in(word))))


def _unfilled(measures: _Measures) -> Iterator[int]:
    # Number of a measure → length of its metre, from the first voice that has it.
    metres = {}
    metre = Fraction(1)
    for measure in measures:
        if measure.voice == 0:
            signs = [word.match["metre"] for word in measure.words if word.kind == "metre"]
            metre = Fraction(signs[0]) if signs else metre
            metres[measure.number] = metre
    for measure in measures:
        if measure.closed and measure.number and measure.length != metres.get(measure.number):
            yield measure.number


def _leaps(measures: _Measures) -> Iterator[int]:
    voice = None
    last = None
    for measure, word in _words(measures, "note", "rest"):
        last = last if measure.voice == voice else None
        degree = _degree(word)
        if last is not None and degree is not None and abs(degree - last) > MAX_LEAP:
            yield measure.number
        voice, last = measure.voice, degree


def _degree(word: Word) -> int | None:
    """The height of a note in steps of the staff from middle C; None for a rest."""
    name = (word.match["chord"] or word.match["name"]).split()[0] + (word.match["octave"] or "")
    pitch = pitch_of(name.rstrip("',"))
    if word.kind == "rest" or pitch is None:
        return None
    return pitch.step + 7 * (name.count("'") - name.count(",") - 1)


def _foreign_notes(measures: _Measures) -> Iterator[int]:
    if any(_is_invalid(word) for _, word in _words(measures, "key")):
        return  # if a key cannot be read, nobody can say which notes are outside of it
    signatures = Signatures(measures)
    for measure, word in _words(measures, "note", "grace"):
        signature = signatures.at(measure, word)
        pitches = filter(None, map(pitch_of, names_in(word)))
        if any(is_foreign(signature, pitch) for pitch in pitches):
            yield measure.number


class Signatures:
    """The key signatures of each staff; they are written in its first voice."""

    def __init__(self, measures: _Measures) -> None:
        self._keys: dict[int, list[tuple[int, Fraction, int]]] = defaultdict(list)
        for measure, word in _words(measures, "key"):
            tonic = pitch_of(word.match["tonic"])
            if tonic is not None and not _is_invalid(word):
                signature = signature_of(tonic, word.match["mode"])
                self._keys[measure.staff].append((measure.number, word.position, signature))

    def at(self, measure: MeasureText, note: Word) -> int:
        """The number of sharps in force at a note."""
        keys = self._keys[measure.staff]
        place = bisect_right(keys, (measure.number, note.position), key=lambda key: key[:2])
        return keys[place - 1][2] if place else 0


# --- corrupting ---


def _has_one_trace(text: str, corrupted: str) -> bool:
    """Whether one word alone differs between two scores as ABC, or ABC cannot express them."""
    try:
        before, after = (
            Counter(_ABC_WORD.findall(lilypond_to_abc(score))) for score in (text, corrupted)
        )
    except ValueError:
        return True
    return (after - before).total() == 1 and (before - after).total() <= 1


def _candidates(
    measures: _Measures, kind: Corruption, draw: Random
) -> Iterator[tuple[int, int, str, int]]:
    """Start and end of a passage, the text that replaces it, and the number of its measure."""
    if kind == "invalid_metadata":
        commands = [place for place in _words(measures, "key", "clef") if place[0].number]
        draw.shuffle(commands)
        # Most scores have key and clef in measure 1 and nowhere else, so other measures are
        # preferred.
        for measure, word in sorted(commands, key=lambda command: command[0].number == 1):
            group = "mode" if word.kind == "key" else "clef"
            wrong = draw.choice(_TABLE["wrong"][group])
            yield (*word.match.span(group), wrong, measure.number)
        return
    notes = list(_plain_notes(measures))
    draw.shuffle(notes)
    signatures = Signatures(measures)
    for measure, word in notes:
        signature = signatures.at(measure, word)
        for group, new in _replacements(word, signature, kind, measure.closed, draw):
            start, end = word.match.span(group)
            if kind == "invalid_content":  # a word that is no note has no octave
                end = word.match.end("octave")
            yield start, end, new, measure.number


def _plain_notes(measures: _Measures) -> _Words:
    """Single notes without ties, in measures that are counted."""
    is_tied = False
    for measure, word in _words(measures, "note", "rest"):
        continues, is_tied = is_tied, bool(word.match["tie"])
        is_single = word.kind == "note" and word.match["name"]
        if is_single and measure.number and not continues and not is_tied:
            yield measure, word


def _replacements(
    note: Word, signature: int, kind: Corruption, is_closed: bool, draw: Random
) -> Iterator[tuple[str, str]]:
    """Groups of the note's match, and their new texts."""
    if kind == "invalid_content":
        yield "name", draw.choice(_TABLE["nonsense"])
    elif kind == "invalid_bar_duration":
        duration = note.match["duration"]
        near = _TABLE["durations"].get(duration.rstrip("."), ())
        choices = [other for other in near if other != duration]
        if is_closed and choices:
            yield "duration", draw.choice(choices)
    elif kind == "melodic_leap":
        written = note.match["octave"]
        octave = written.count("'") - written.count(",") + draw.choice((-_LEAP, _LEAP))
        yield "octave", "'" * octave or "," * -octave
    elif pitch := pitch_of(note.match["name"]):
        altered = (pitch._replace(alteration=pitch.alteration + change) for change in (-1, 1))
        foreign = [other for other in altered if is_foreign(signature, other)]
        foreign = [other for other in foreign if abs(other.alteration) <= 1]
        if foreign:
            yield "name", name_of(*draw.choice(foreign))
