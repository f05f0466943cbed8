"""The errors of a score by measure: the five kinds of error of `error_detection`.

The strict rows keep to these definitions:

- ``invalid_metadata``: a ``\\key`` or ``\\clef`` whose argument does not exist;
- ``invalid_content``: a word among the notes that is no LilyPond;
- ``invalid_bar_duration``: the music between two bar checks of a voice does not fill its measure;
- ``melodic_leap``: a note more than ten steps of the staff above or below the note right before it in its voice;
- ``accidental_outside_key``: a note that is neither in the current key nor in a closely related one. Closely related
  keys have signatures that differ by at most one sharp or flat. Minor keys include their raised sixth and seventh
  degrees. In C major all black keys are foreign except F sharp, C sharp, G sharp, D sharp and B flat, by these names.
  Without related keys, hardly any tonal piece would be without error.

Measures are found by the spans of text between bar checks. The content of a span is LilyPond's events, not its text. So
a bar check at a wrong place appears as a span whose events do not fill a measure.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final, NamedTuple

from music_evals.datasets_builders.lilybench.rows import Corruption
from music_evals.notation.lilypond.structure import Event, Key, Structure
from music_evals.notation.lilypond.syntax.languages import language_of, pitch_of
from music_evals.notation.lilypond.syntax.lexer import Kind, Lines, Token, code_tokens, string_value

MAX_LEAP: Final = 10  # steps of the staff; a larger leap is an error
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


class Span(NamedTuple):
    """The passage between two bar checks of a voice, ahead of the first, or after the last."""

    voice: int
    start: int  # offset in the text
    end: int
    closed: bool  # whether it begins and ends with a bar check of the same voice
    events: tuple[Event, ...]  # at least one
    length: Fraction | None  # whole notes until the next span of the voice; None if none follows directly
    shared: bool  # whether other voices are written in it too, or it is played more than once

    @property
    def measure(self) -> int:
        """Number of the measure in which it begins."""
        return self.events[0].measure


def find_spans(text: str, structure: Structure) -> list[Span]:
    """Find the spans between bar checks, by voice and then by time; `structure` was read from the text."""
    checks = [token.start for token in code_tokens(text) if token.kind is Kind.SIGN and token.text == "|"]
    uses: Counter[int] = Counter()
    groups: dict[int, list[tuple[int, list[Event]]]] = {}  # voice → number of bar checks ahead, and events
    for voice, voice_events in sorted(structure.voices.items()):
        group = groups[voice] = []
        for event in voice_events:
            place = bisect_right(checks, event.offset)
            if group and group[-1][0] == place and event.offset >= group[-1][1][-1].offset:
                group[-1][1].append(event)
            else:
                uses[place] += 1
                group.append((place, [event]))
    spans: list[Span] = []
    for voice, group in groups.items():
        for index, (place, events) in enumerate(group):
            following = group[index + 1] if index + 1 < len(group) and group[index + 1][0] == place + 1 else None
            spans.append(
                Span(
                    voice=voice,
                    start=checks[place - 1] + 1 if place else 0,
                    end=checks[place] if place < len(checks) else len(text),
                    closed=index > 0 and group[index - 1][0] == place - 1 and following is not None,
                    events=tuple(events),
                    length=following[1][0].moment - events[0].moment if following else None,
                    shared=uses[place] > 1,
                )
            )
    return spans


def find_errors(text: str, structure: Structure) -> dict[Corruption, list[int]]:
    """Find the errors: kind → numbers of the measures, ascending; only kinds that occur."""
    spans = find_spans(text, structure)
    places = Places(structure)
    invalid = _invalid_commands(text)
    errors: dict[Corruption, list[int]] = {
        "invalid_metadata": places.of_commands([token.start for token in invalid]),
        "invalid_content": places.of_words(_unknown_words(text, structure, invalid)),
        "invalid_bar_duration": sorted({span.measure for span in spans if not fills_its_measure(span, structure)}),
        "melodic_leap": sorted({note.measure for note in _leaps(structure)}),
        # If a key cannot be read, nobody can say which notes are outside of it.
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
    return {kind: measures for kind, measures in errors.items() if measures}


def _invalid_commands(text: str) -> list[Token]:
    """The ``\\key`` and ``\\clef`` commands whose arguments do not exist."""
    language = language_of(text)
    tokens = code_tokens(text)
    invalid = []
    for token, first, second in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if token.text == "\\key":
            if pitch_of(first.text, language) is None or second.text.removeprefix("\\") not in _MODES:
                invalid.append(token)
        elif token.text == "\\clef":
            # A clef may be written without quotes.
            name = string_value(first.text) if first.text.startswith('"') else first.text
            if _TRANSPOSED_CLEF.sub("", name) not in _CLEFS:
                invalid.append(token)
    return invalid


def _unknown_words(text: str, structure: Structure, invalid: Sequence[Token]) -> list[int]:
    """Offsets of the words that LilyPond reported as no notes, except in invalid commands."""
    places = _NOT_A_NOTE.findall(structure.messages)
    if not places:
        return []
    lines = Lines(text)
    offsets = [lines.offset_of_column(int(line), int(column) - 1) for line, column in places]
    passages = [(token.start, token.start + 40) for token in invalid]
    return [offset for offset in offsets if not any(start <= offset < end for start, end in passages)]


class Places:
    """Finds the measures of places in the text, by the notes, rests and skips written around them."""

    def __init__(self, structure: Structure) -> None:
        written = sorted((event for event in structure.events if event.offset >= 0), key=lambda event: event.offset)
        self._structure = structure
        self._events = written
        self._offsets = [event.offset for event in written]

    def of_commands(self, offsets: list[int]) -> list[int]:
        """Return the measures in which commands take effect: those of the next written events."""
        return sorted({event.measure for offset in offsets if (event := self.next_written(offset)) is not None})

    def next_written(self, offset: int) -> Event | None:
        """Return the next note, rest or skip that is written after an offset."""
        place = bisect_right(self._offsets, offset)
        return self._events[place] if place < len(self._events) else None

    def of_words(self, offsets: list[int]) -> list[int]:
        """Return the measures of words that LilyPond could not read: where the event written ahead of them ends."""
        measures = set()
        for offset in offsets:
            place = bisect_right(self._offsets, offset)
            if place:
                before = self._events[place - 1]
                end = before.position + (Fraction(0) if before.grace else before.duration)
                measures.add(before.measure + int(end // self._structure.metre_at(before.moment).length))
            elif self._events:
                measures.add(self._events[0].measure)
        return sorted(measures)


def fills_its_measure(span: Span, structure: Structure) -> bool:
    """Whether the next span of the voice begins a measure later; the last span always passes."""
    if span.length is None:
        return True
    first = span.events[0]
    measure = structure.metre_at(first.moment).length
    if first.position < 0 and first.measure == 0:
        return span.length == -first.position
    if all(event.kind != "note" for event in span.events):
        return span.length > 0 and span.length % measure == 0
    return span.length == measure


def _leaps(structure: Structure) -> Iterator[Event]:
    """Notes more than `MAX_LEAP` steps away from the note right before them in their voices."""
    for events in structure.voices.values():
        melody: list[Event] = []
        for event in events:
            # A chord counts by its first written note.
            if not event.grace and (not melody or event.moment != melody[-1].moment):
                melody.append(event)
        for earlier, later in pairwise(melody):
            if earlier.degree is None or later.degree is None:
                continue
            if earlier.moment + earlier.duration == later.moment and abs(earlier.degree - later.degree) > MAX_LEAP:
                yield later


def is_foreign(key: Key | None, step: int, alteration: Fraction) -> bool:
    """Whether a note (step 0 = C to 6 = B, alteration in semitones) is neither in a key nor in closely related ones."""
    signature = sum(key.scale, Fraction(0)) if key is not None else 0
    # On the line of fifths ... F C G D A E B F sharp ... the seven notes of a key are neighbours. Its closely related
    # keys add one note at each end, and their leading notes add three more above.
    place = _FIFTHS[step] + 7 * alteration - signature
    return not _FIFTHS[3] - 1 <= place <= _FIFTHS[6] + 4
