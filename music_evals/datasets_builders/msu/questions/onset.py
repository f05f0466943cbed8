"""Level 1: the beginning of a score (section 3.1 of the paper: onset information)."""

import re
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from music21 import expressions, tempo

from music_evals.datasets_builders.msu.questions.kind import Answers, Kind, varied
from music_evals.datasets_builders.msu.questions.reading import Reading
from music_evals.datasets_builders.msu.questions.tonality import certain_key, key_name

_UNKNOWN: Final = re.compile(r"(anon|unknown|composer|untitled|title|trad|none)", re.IGNORECASE)
_FILE_NAME: Final = re.compile(r"\.(mxl|xml|musicxml|abc|krn|midi?)$", re.IGNORECASE)
_TEMPO_WORDS: Final = re.compile(
    r"\b(adagi|allegr|andant|grave|langsam|largh?|lento|moderato|mäßig|prest|schnell|vivac|tempo|lebhaft|lent|vif|"
    r"modéré|maestoso|slow|fast|march)",
    re.IGNORECASE,
)
_AT_FIRST_NOTE: Final = 0.5  # quarter notes


def _composer(reading: Reading, rng: Random) -> Answers:
    if reading.composer and not _UNKNOWN.search(reading.composer):
        yield (reading.composer,)


def _title(reading: Reading, rng: Random) -> Answers:
    if reading.title and not _UNKNOWN.match(reading.title) and not _FILE_NAME.search(reading.title):
        yield (reading.title,)


def _initial_key(reading: Reading, rng: Random) -> Answers:
    if tonality := certain_key(reading):
        yield (key_name(tonality),)


def _key_signature(reading: Reading, rng: Random) -> Answers:
    fifths = {voice.cells[0].fifths for voice in reading.voices}
    if len(fifths) == 1:
        yield (str(abs(fifths.pop())),)


def _metre(reading: Reading, rng: Random) -> Answers:
    # All parts must begin with the same single time signature.
    openings = (measure.getElementsByClass("TimeSignature") for measure in _first_measures(reading))
    metres = {tuple(sign.ratioString for sign in signs) for signs in openings}
    if len(metres) == 1 and len(metres.pop()) == 1:
        yield (reading.measures[0].metre,)


def _clef(reading: Reading, rng: Random) -> Answers:
    # The name of a part, such as Bass, can give the clef away.
    clefs = [(voice, voice.cells[0].clef) for voice in reading.voices]
    askable = [(voice, clef) for voice, clef in clefs if clef and clef.split()[0].lower() not in voice.name.lower()]
    for voice, clef in varied(askable, rng, least=1):
        yield clef, voice.label or "the piece"


def _tempo_words(reading: Reading, rng: Random) -> Answers:
    words = {" ".join(text.split()).rstrip(".") for text in _opening_texts(reading)}
    if len(words) == 1:
        yield (words.pop(),)


def _opening_texts(reading: Reading) -> Iterator[str]:
    for mark in _opening(reading, (tempo.TempoText, tempo.MetronomeMark, expressions.TextExpression)):
        if isinstance(mark, tempo.MetronomeMark):
            text = mark.text if mark.text and not mark.textImplicit else None
        else:
            text = mark.text if isinstance(mark, tempo.TempoText) else mark.content
        if text and _TEMPO_WORDS.search(text):
            yield text


def _first_measures(reading: Reading) -> list[Any]:
    """The first measures of all parts, as music21 objects."""
    return [part["Measure"].first() for part in getattr(reading.source, "parts", [reading.source])]


def _opening(reading: Reading, kinds: Any) -> list[Any]:
    """Elements before or at the first note of the score, in any part."""
    return [
        element
        for measure in _first_measures(reading)
        for element in measure.recurse()
        if isinstance(element, kinds) and element.getOffsetInHierarchy(measure) == 0
    ]


def _beats_per_minute(reading: Reading, rng: Random) -> Answers:
    marks = {
        (mark.referent.quarterLength, mark.number)
        for mark in _opening(reading, (tempo.MetronomeMark,))
        if mark.number is not None and not mark.numberImplicit and not mark.style.hideObjectOnPrint
    }
    if len(marks) == 1 and (number := marks.pop()[1]) == int(number):
        yield (str(int(number)),)


def _anacrusis(reading: Reading, rng: Random) -> Answers:
    opening = reading.measures[0]
    is_short = opening.length < opening.full
    starts = reading.onsets[0]
    # Not everybody calls a measure that is filled with rests a pickup.
    if starts and (is_short or starts[0] == 0) and not (is_short and opening.number > 0):
        yield ("Yes" if is_short else "No",)


def _instruments(reading: Reading, rng: Random) -> Answers:
    names = [voice.name for voice in reading.voices]
    if all(names):
        yield (", ".join(dict.fromkeys(names)),)


def _last_measure(reading: Reading, rng: Random) -> Answers:
    yield (str(reading.measures[-1].number),)


def _opening_dynamic(reading: Reading, rng: Random) -> Answers:
    # Some files have a mark just behind the first note, for example because of a grace note; print shows it there.
    marks = [mark for voice in reading.voices for mark in voice.cells[0].dynamics]
    dynamics = {dynamic for start, dynamic in marks if start < _AT_FIRST_NOTE}
    if len(dynamics) == 1 and any(start == 0 for start, _ in marks):
        yield (dynamics.pop(),)


KINDS: Final = (
    Kind(1, "composer", "text", _composer),
    Kind(1, "title", "text", _title),
    Kind(1, "initial key", "key", _initial_key, weight=3),
    Kind(1, "key signature", "number", _key_signature, weight=0.7),
    Kind(1, "time signature", "metre", _metre),
    Kind(1, "clef", "clef", _clef),
    Kind(1, "tempo words", "text", _tempo_words, weight=2),
    Kind(1, "metronome mark", "number", _beats_per_minute, weight=2),
    Kind(1, "anacrusis", "yes_no", _anacrusis),
    Kind(1, "instruments", "text", _instruments, weight=0.7),
    Kind(1, "last measure", "number", _last_measure, weight=0.5),
    Kind(1, "opening dynamic", "text", _opening_dynamic, weight=2),
)
"""Kinds of questions of level 1."""
