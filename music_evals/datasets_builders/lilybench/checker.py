"""What is wrong with a score, and in which measure: the five kinds of error of `error_detection`.

The definitions, which the strict rows keep to:

- ``invalid_metadata``: a ``\\key`` or ``\\clef`` whose argument does not exist;
- ``invalid_content``: a word among the notes that is no LilyPond;
- ``invalid_bar_duration``: what is written between two bar checks of a voice does not fill its measure;
- ``melodic_leap``: a note more than ten steps of the staff above or below the note right before it in its voice;
- ``accidental_outside_key``: a note that neither the key in force has nor a closely related one, which is a key whose
  signature differs by at most one sharp or flat; minor keys with their raised sixth and seventh degrees. In C major
  that is any black key but F sharp, C sharp, G sharp, D sharp and B flat by these very names. Without related keys,
  hardly any tonal piece would be without error.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final

from music_evals.datasets_builders.lilybench.measures import Span, find_spans
from music_evals.datasets_builders.lilybench.rows import Corruption
from music_evals.notation.lilypond.structure import Event, Key, Structure
from music_evals.notation.lilypond.syntax.languages import language_of, pitch_of
from music_evals.notation.lilypond.syntax.lexer import Lines, Token, code_tokens, string_value

MAX_LEAP: Final = 10  # steps of the staff; more is an error
_MODES: Final = frozenset(
    ["major", "minor", "ionian", "dorian", "phrygian", "lydian", "mixolydian", "aeolian", "locrian"]
)
_CLEFS: Final = frozenset(
    [
        *["treble", "violin", "G", "G2", "GG", "tenorG", "french", "soprano", "mezzosoprano", "alto", "C", "tenor"],
        *["baritone", "bass", "F", "subbass", "varbaritone", "baritonevarC", "baritonevarF", "altovarC", "tenorvarC"],
        *["varC", "percussion", "varpercussion", "tab", "moderntab"],
    ]
)
_FIFTHS: Final = (0, 2, 4, -1, 1, 3, 5)  # step (0 = C to 6 = B) → fifths above C
_TRANSPOSED_CLEF: Final = re.compile(r"[_^](?:[0-9]{1,2}|\([0-9]{1,2}\)|\[[0-9]{1,2}\])$")
_NOT_A_NOTE: Final = re.compile(r"^[^:\n]*:(\d+):(\d+): error: (?:not a note name|unrecognized string)", re.MULTILINE)


def find_errors(text: str, structure: Structure) -> dict[Corruption, list[int]]:
    """Find the errors of the five kinds: kind → numbers of the measures, ascending; only kinds that occur."""
    spans = find_spans(text, structure)
    places = Places(structure)
    invalid = _invalid_commands(text)
    found: dict[Corruption, list[int]] = {
        "invalid_metadata": places.of_commands([token.start for token in invalid]),
        "invalid_content": places.of_words(_unknown_words(text, structure, invalid)),
        "invalid_bar_duration": sorted({span.measure for span in spans if not fills_its_measure(span, structure)}),
        "melodic_leap": sorted({note.measure for note in _leaps(structure)}),
        # Of a key that cannot be read nobody can say what lies outside of it.
        "accidental_outside_key": []
        if any(token.text == "\\key" for token in invalid)
        else sorted(
            {
                event.measure
                for event in structure.events
                if event.step is not None
                and is_foreign(structure.key_at(event.moment, event.staff), event.step, event.alteration)
            }
        ),
    }
    return {kind: measures for kind, measures in found.items() if measures}


def _invalid_commands(text: str) -> list[Token]:
    """The ``\\key`` and ``\\clef`` commands whose arguments do not exist."""
    language = language_of(text)
    # A clef may be written without quotes, so what follows the command is taken as it stands.
    words = code_tokens(text)
    found = []
    for token, *arguments in zip(words, words[1:], words[2:], strict=False):
        first, second = (argument.text for argument in arguments)
        if token.text == "\\key":
            if pitch_of(first, language) is None or second.removeprefix("\\") not in _MODES:
                found.append(token)
        elif token.text == "\\clef":
            name = _TRANSPOSED_CLEF.sub("", string_value(first) if first.startswith('"') else first)
            if name not in _CLEFS:
                found.append(token)
    return found


def _unknown_words(text: str, structure: Structure, invalid: Sequence[Token]) -> list[int]:
    """Offsets of the words that LilyPond took for no note, save in commands that are wrong themselves."""
    reported = _NOT_A_NOTE.findall(structure.messages)
    if not reported:
        return []
    lines = Lines(text)
    offsets = [lines.offset_of_column(int(line), int(column) - 1) for line, column in reported]
    inside = [(token.start, token.start + 40) for token in invalid]
    return [offset for offset in offsets if not any(start <= offset < end for start, end in inside)]


class Places:
    """Tells the measures of places in the text from the notes, rests and skips written around them."""

    def __init__(self, structure: Structure) -> None:
        written = sorted((event for event in structure.events if event.offset >= 0), key=lambda event: event.offset)
        self._structure = structure
        self._events = written
        self._offsets = [event.offset for event in written]

    def of_commands(self, offsets: list[int]) -> list[int]:
        """Measures in which commands take effect: those of what is written next."""
        return sorted({event.measure for offset in offsets if (event := self.next_written(offset)) is not None})

    def next_written(self, offset: int) -> Event | None:
        """The note, rest or skip that is written next after an offset."""
        place = bisect_right(self._offsets, offset)
        return self._events[place] if place < len(self._events) else None

    def of_words(self, offsets: list[int]) -> list[int]:
        """Measures of words that LilyPond could not read: those of the moments at which what is written ahead ends."""
        measures = set()
        for offset in offsets:
            place = bisect_right(self._offsets, offset)
            if place:
                before = self._events[place - 1]
                metre = self._structure.metre_at(before.moment)
                end = before.position + (Fraction(0) if before.grace else before.duration)
                measures.add(before.measure + int(end // Fraction(metre.numerator, metre.denominator)))
            elif self._events:
                measures.add(self._events[0].measure)
        return sorted(measures)


def fills_its_measure(span: Span, structure: Structure) -> bool:
    """Whether the next stretch of the voice begins a measure later; unknown of the last one, which passes."""
    if span.length is None:
        return True
    first = span.events[0]
    metre = structure.metre_at(first.moment)
    measure = Fraction(metre.numerator, metre.denominator)
    if first.position < 0 and first.measure == 0:
        return span.length == -first.position
    if all(event.kind != "note" for event in span.events):
        return span.length > 0 and span.length % measure == 0
    return span.length == measure


def _leaps(structure: Structure) -> Iterator[Event]:
    """Notes more than `MAX_LEAP` steps away from the note that they follow at once in their voices."""
    for events in structure.voices.values():
        melody: list[Event] = []
        for event in events:
            # Of a chord, the note that is written first.
            if not event.grace and (not melody or event.moment != melody[-1].moment):
                melody.append(event)
        for earlier, later in pairwise(melody):
            follows = earlier.moment + earlier.duration == later.moment
            if earlier.degree is None or later.degree is None or not follows:
                continue
            if abs(earlier.degree - later.degree) > MAX_LEAP:
                yield later


def is_foreign(key: Key | None, step: int, alteration: Fraction) -> bool:
    """Whether a note (step 0 = C to 6 = B, alteration in semitones) is in neither a key nor closely related ones."""
    signature = sum(key.scale, Fraction(0)) if key is not None else 0
    # On the line of fifths ... F C G D A E B F sharp ... a key's seven notes stand in a row, its closely related keys
    # add one at each end, and their leading notes three more above.
    place = _FIFTHS[step] + 7 * alteration - signature
    return not _FIFTHS[3] - 1 <= place <= _FIFTHS[6] + 4
