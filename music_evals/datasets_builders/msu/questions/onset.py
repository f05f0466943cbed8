"""Level 1: what stands at the beginning of a score (section 3.1 of the paper: onset information)."""

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
_AT_FIRST_NOTE: Final = 0.5  # of a quarter


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
    # All parts must begin with one and the same time signature.
    signs = (first.getElementsByClass("TimeSignature") for first in _firsts(reading))
    found = {tuple(sign.ratioString for sign in some) for some in signs}
    if len(found) == 1 and len(found.pop()) == 1:
        yield (reading.measures[0].metre,)


def _clef(reading: Reading, rng: Random) -> Answers:
    # The name of a bass may say its clef.
    clefs = [(voice, voice.cells[0].clef) for voice in reading.voices]
    known = [(voice, name) for voice, name in clefs if name and name.split()[0].lower() not in voice.name.lower()]
    for voice, name in varied(known, rng, least=1):
        yield name, voice.label or "the piece"


def _tempo_words(reading: Reading, rng: Random) -> Answers:
    found = {" ".join(words.split()).rstrip(".") for words in _opening_words(reading)}
    if len(found) == 1:
        yield (found.pop(),)


def _opening_words(reading: Reading) -> Iterator[str]:
    for each in _opening(reading, (tempo.TempoText, tempo.MetronomeMark, expressions.TextExpression)):
        if isinstance(each, tempo.MetronomeMark):
            text = each.text if each.text and not each.textImplicit else None
        else:
            text = each.text if isinstance(each, tempo.TempoText) else each.content
        if text and _TEMPO_WORDS.search(text):
            yield text


def _firsts(reading: Reading) -> list[Any]:
    """The first measure of each part, as music21 has it."""
    return [part["Measure"].first() for part in getattr(reading.source, "parts", [reading.source])]


def _opening(reading: Reading, kinds: Any) -> list[Any]:
    """What stands before or at the first note of the score, in any part."""
    return [
        each
        for first in _firsts(reading)
        for each in first.recurse()
        if isinstance(each, kinds) and each.getOffsetInHierarchy(first) == 0
    ]


def _beats_per_minute(reading: Reading, rng: Random) -> Answers:
    marks = {
        (each.referent.quarterLength, each.number)
        for each in _opening(reading, (tempo.MetronomeMark,))
        if each.number is not None and not each.numberImplicit and not each.style.hideObjectOnPrint
    }
    if len(marks) == 1 and (number := marks.pop()[1]) == int(number):
        yield (str(int(number)),)


def _anacrusis(reading: Reading, rng: Random) -> Answers:
    opening = reading.measures[0]
    is_short = opening.length < opening.full
    starts = reading.onsets[0]
    # A measure that is padded with rests is a pickup to some and none to others.
    if starts and (is_short or starts[0] == 0) and not (is_short and opening.number > 0):
        yield ("Yes" if is_short else "No",)


def _instruments(reading: Reading, rng: Random) -> Answers:
    names = [voice.name for voice in reading.voices]
    if all(names):
        yield (", ".join(dict.fromkeys(names)),)


def _last_measure(reading: Reading, rng: Random) -> Answers:
    yield (str(reading.measures[-1].number),)


def _opening_dynamic(reading: Reading, rng: Random) -> Answers:
    # A mark that a file places just behind the first note, as for a grace note, is printed at it.
    marks = [mark for voice in reading.voices for mark in voice.cells[0].dynamics]
    found = {value for start, value in marks if start < _AT_FIRST_NOTE}
    if len(found) == 1 and any(start == 0 for start, _ in marks):
        yield (found.pop(),)


KINDS: Final = (
    Kind(1, "composer", "text", _composer, is_text=True),
    Kind(1, "title", "text", _title, is_text=True),
    Kind(1, "initial key", "key", _initial_key, weight=3),
    Kind(1, "key signature", "number", _key_signature, weight=0.7),
    Kind(1, "time signature", "metre", _metre),
    Kind(1, "clef", "clef", _clef),
    Kind(1, "tempo words", "text", _tempo_words, weight=2, is_text=True),
    Kind(1, "metronome mark", "number", _beats_per_minute, weight=2, is_text=True),
    Kind(1, "anacrusis", "yes_no", _anacrusis),
    Kind(1, "instruments", "text", _instruments, weight=0.7, is_text=True),
    Kind(1, "last measure", "number", _last_measure, weight=0.5),
    Kind(1, "opening dynamic", "text", _opening_dynamic, weight=2),
)
"""Kinds of questions of level 1."""
