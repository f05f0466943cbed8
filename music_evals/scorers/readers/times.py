"""Reading metres, clefs, numbers, measures and durations.

4/4 is common time, 2/2 cut time. Treble is the clef G2, bass F4, alto C3, tenor C4. Measures are
1-based. A duration is a value in whole notes with dots, in a triplet or not, of a note or a rest.
"""

import re
from collections.abc import Hashable
from fractions import Fraction
from functools import partial

from music_evals.scorers.readers.patterns import Match, load, pattern
from music_evals.scorers.readers.words import (
    Extraction,
    extract,
    extraction,
    rewritten,
    translated,
)

LONGEST_RANGE = 5_000  # measures
_pattern = partial(pattern, "values")


def read_metres(text: str) -> Extraction:
    """Upper and lower number of each time signature."""
    return extract(
        rewritten(text, "metres"),
        _pattern("metre"),
        lambda match: (int(match["top"]), int(match["bottom"])),
    )


_CLEFS = load("theory")["clefs"]
_CLEF = re.compile(rf"(?i)({'|'.join(_CLEFS)}) clef(?:[ -]clefs?)?")


def read_clefs(text: str) -> Extraction:
    """Sign and line of each clef."""
    return extract(
        translated(rewritten(text, "clefs"), "clef"), _CLEF, lambda match: _CLEFS[match[1].lower()]
    )


_ROMAN_ALONE = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X"]


def read_numbers(text: str) -> Extraction:
    """Each number, as a fraction; one that counts measures or places only if the text says nothing
    else.
    """
    if (alone := text.strip(" .")) in _ROMAN_ALONE:
        return extraction(text, [(0, len(text), Fraction(_ROMAN_ALONE.index(alone) + 1))])
    text = rewritten(text, "numbers")

    def number(match: Match) -> Fraction:
        return Fraction(match["top"]) / int(match["bottom"] or 1)

    counted = extract(text, _pattern("number"), number)
    plain = extract(
        text,
        _pattern("number"),
        lambda match: None if match["where"] or match["place"] else number(match),
    )
    return counted if counted.is_pure and not plain.values else plain


def read_measures(text: str) -> Extraction:
    """The set of all measures, or ``("from", 9)`` for what starts at measure 9."""
    text = rewritten(rewritten(text, "measures"), "ranges")
    if bare := _pattern("bare_measures").fullmatch(text):
        return extraction(text, [(0, len(text), measure_numbers(bare["list"]))])

    def value(match: Match) -> Hashable:
        numbers = measure_numbers(match["list"]) or ()
        is_open = match["open"] and len(numbers) == 1
        return ("from", *numbers) if is_open else numbers or None

    reading = extract(text, _pattern("measures"), value)
    if any(isinstance(value, tuple) for value in reading.values):
        return reading
    # "Measure 3, measure 4" is one set, in two pieces.
    union = frozenset().union(*reading.values)
    return extraction(reading.text, [(start, end, union) for start, end, _ in reading.spans])


def measure_numbers(text: str, least: int = 1) -> frozenset[int] | None:
    """The measures of a list with ranges; None if it has none, or a range that runs back. A pickup,
    measure 0, does not count.

    >>> sorted(measure_numbers("3, 7-9") or ())
    [3, 7, 8, 9]
    """
    numbers: set[int] = set()
    last = 0
    for match in _pattern("measure").finditer(text):
        number = int(match["number"])
        first = last if match["range"] and last else number
        if not first <= number <= first + LONGEST_RANGE:
            return None
        numbers.update(range(first, number + 1))
        last = number
    return frozenset(number for number in numbers if number >= least) or None


_NOTE_VALUES = load("theory")["note_values"]
_DURATION = re.compile(
    r"(?i)(?P<dots>(?<![a-z])(?:double[ -]|triple[ -])?dotted[ -])?(?<![A-Za-z0-9])(?<!undotted )"
    rf"(?P<name>{'|'.join(sorted(_NOTE_VALUES, key=len, reverse=True))})s?"
    r"(?:[ -](?P<noun>note|rest)s?)?(?P<triplet>[ -]triplets?)?(?![A-Za-z0-9])"
    r"(?![ "
    r"-](?:notes?|rests?|measures?|bars?|piece|tones?|steps?|movement|section|passage|cadence|a "
    r"beat|of an?)\b)"
)


def read_durations(text: str) -> Extraction:
    """Value in whole notes, number of dots, whether in a triplet, and ``note``, ``rest`` or
    None.
    """
    # British names are values alone: "quaver rest" is an eighth rest, "quaver" may be either.
    has_note = re.search(r"\bnotes?\b|音符|note\b", text, re.IGNORECASE) is not None
    text = rewritten(translated(rewritten(text, "durations"), "duration"), "durations")

    def duration(match: Match) -> Hashable:
        value = Fraction(_NOTE_VALUES[match["name"].lower()])
        dots = (match["dots"] or "").lower().replace("-", " ")
        noun = match["noun"] if match["noun"] != "note" or has_note else None
        return value, dots, match["triplet"] is not None, noun

    return extract(text, _DURATION, duration)
