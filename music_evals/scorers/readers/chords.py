"""Reading chords, numerals and cadences.

A chord is a root, a quality by music21's names, and an inversion (0 to 3) or None. It may be
spelled (D-F#-A-C) or be a degree in a key. A quality alone ("Major triad") has no root. Numerals
are degrees with figures; 6/5 is 65. Perfect cadences are authentic, imperfect ones half.
"""

import re
from collections.abc import Hashable
from functools import partial
from unicodedata import numeric

from music_evals.scorers.readers.patterns import Match, load, pattern
from music_evals.scorers.readers.pitches import SEMITONES, SHIFTS, spelled, stands_alone
from music_evals.scorers.readers.words import (
    TERMS,
    Extraction,
    extract,
    folded,
    rewritten,
    translated,
)

_pattern = partial(pattern, "values")
_SYMBOLS = {symbol: name for name, symbols in TERMS["symbols"].items() for symbol in symbols}
_SYMBOL = "|".join(re.escape(symbol) for symbol in sorted(_SYMBOLS, key=len, reverse=True))
_QUALITIES = {word: name for name, words in TERMS["qualities"].items() for word in words}
_QUALITY = "|".join(sorted(_QUALITIES, key=len, reverse=True))
_CHORD = re.compile(
    rf"(?<![A-Za-z0-9#'])(?P<letter>[A-Ga-g])(?P<sign>##|#|bb|b)?(?:(?P<symbol>{_SYMBOL})(?![A-Za-z0-9])"
    rf"|[ -]{{1,3}}(?P<words>{_QUALITY})(?![A-Za-z0-9]))?"
    r"(?P<noun>[ -]+(?:chord|triad))?(?:/(?P<bass>[A-G](?:#|b)?))?"
    r"(?:[, -]{0,3}\(?(?:in )?(?P<inversion>first|second|third|root) "
    r"(?:inversion|position))?(?![A-Za-z0-9#+]|-[a-z])"
)
_QUALITY_ALONE = re.compile(
    rf"(?<![A-Za-z])(?P<words>{_QUALITY})(?![A-Za-z0-9])(?:[ -]+(?:chord|triad))?(?! "
    r"(?:third|sixth|second|scale|key))"
)
_ON = re.compile(
    rf"\b(?P<quality>{_QUALITY})(?: chord| triad)? ?(?:on|auf|sur|su|sobre|built on) "
    r"(?P<root>[A-Ga-g](?:##|#|bb|b)?)(?![A-Za-z0-9])"
)
_SIGNS = {shift: sign for sign, shift in SHIFTS.items() if sign != "x"}
_INVERSIONS = {"root": 0, "first": 1, "second": 2, "third": 3}
_BASS = {0: 0, 2: 1, 4: 2, 6: 3}  # inversions by the steps from root to bass
_KINDS = load("theory")["chords"]


def read_chords(text: str) -> Extraction:
    """Root (letter and shift), quality by music21's name, and inversion or None."""
    text = translated(translated(rewritten(spelled(text), "chords"), "mode"), "inversion")
    text = rewritten(text, "translated_chords")
    text = _ON.sub(lambda match: f"{match['root']} {match['quality']}", text)
    # "G, B♭ and D: a G minor triad" names one chord twice; its name tells more.
    unspelled = _pattern("spelled").sub(lambda match: "_" * len(match[0]), text)
    readings = (
        extract(text, _pattern("degree_in_key"), _degree_chord),
        extract(unspelled, _CHORD, _chord),
        extract(text, _pattern("spelled"), _spelled_chord),
        extract(text, _QUALITY_ALONE, lambda match: (None, None, _QUALITIES[match["words"]], None)),
    )
    return next((reading for reading in readings if reading.values), readings[-1])


def _chord(match: Match) -> Hashable:
    is_small = match["letter"].islower() and not match["words"]
    # A small letter may be an article, "am" a verb.
    if is_small or (len(match[0]) == 1 and not stands_alone(match)):
        return None
    quality = _QUALITIES.get(match["words"]) or _SYMBOLS.get(match["symbol"], "major")
    inversion = _INVERSIONS.get(match["inversion"])
    if match["bass"]:
        inversion = _BASS.get(_steps(match["letter"].upper(), match["bass"]), -1)
    return match["letter"].upper(), SHIFTS[match["sign"] or ""], quality, inversion


_IS_CHORD = re.compile(r"[A-G](?:#|b|♯|♭|[ -](?:sharp|flat)\b)?(?:\S{0,9}|(?:[ -][\w-]+){1,3})")


def other_names(option: str) -> list[str]:
    """What an option is also called that is a chord.

    >>> "F# minor" in other_names("F#m"), other_names("hip-hop")
    (True, [])
    """
    values = read_chords(folded(option)).values if _IS_CHORD.fullmatch(option) else ()
    if len(values) != 1 or values[0][0] is None or values[0][3] is not None:
        return []
    letter, shift, quality, _ = values[0]
    symbols = [symbol for symbol in TERMS["symbols"][quality] if "M" not in symbol]
    endings = [f" {word}" for word in (*TERMS["qualities"].get(quality, ()), *symbols)]
    names = [letter + _SIGNS[shift] + ending for ending in (*endings, *symbols)]
    return [name for name in names if name not in ("Am", "A m", "A min")]


def _steps(root: str, note: str) -> int:
    """The steps of the scale from a root up to another note."""
    return ("CDEFGAB".index(note[0]) - "CDEFGAB".index(root[0])) % 7


def _degree_chord(match: Match) -> Hashable:
    from music21.exceptions21 import Music21Exception
    from music21.roman import RomanNumeral

    letter = match["key"][0]
    sign = match["key"][1:].replace("b", "-")
    if match["mode"]:
        letter = letter.lower() if match["mode"] == "minor" else letter.upper()
    try:
        numeral = RomanNumeral(match["figure"], letter + sign)
    except (Music21Exception, ValueError):
        return None
    root, *names = [pitch.name.replace("-", "b") for pitch in (numeral.root(), *numeral.pitches)]
    chord = _kind(root, names)
    return (*chord[:3], numeral.inversion()) if chord else None


def _spelled_chord(match: Match) -> Hashable:
    names = _pattern("note").findall(match[0])
    # The notes of a chord in root position are thirds above one another.
    roots = [root for root in names if {_steps(root, name) for name in names} <= set(_BASS)]
    return _kind(roots[0], names) if roots else None


def _kind(root: str, names: list[str]) -> tuple[Hashable, ...] | None:
    """The chord of a root and its notes."""
    places = [SEMITONES[name[0]] + SHIFTS[name[1:]] for name in (root, *names)]
    semitones = sorted({(place - places[0]) % 12 for place in places})
    quality = _KINDS.get(" ".join(map(str, semitones)))
    return (root[0], SHIFTS[root[1:]], quality, None) if quality else None


_DEGREES = dict(zip("1234567", ("I", "II", "III", "IV", "V", "VI", "VII"), strict=True))
_FUNCTIONS = str.maketrans({**_DEGREES, "T": "I", "S": "IV", "D": "V"})


def read_numerals(text: str) -> Extraction:
    """Progressions, each the degrees and figures of its chords."""
    text = re.sub(
        "[一二三四五六七](?=[级級])",
        lambda match: str(int(numeric(match[0]))),
        rewritten(text, "pronouns"),
    )
    if re.fullmatch("[TSD1-7](?:(?: ?[-,>→] ?| )[TSD1-7]){0,15}[. ]*", text):
        text = text.translate(_FUNCTIONS)
    if not _pattern("numerals").search(text):
        text = _pattern("numbered").sub(lambda match: _DEGREES[match[1]], text)
    if not _pattern("numerals").search(text):
        text = translated(text, "numeral")
    return extract(rewritten(text, "numerals"), _pattern("numerals"), _progression)


def _progression(match: Match) -> tuple[str, ...]:
    """The numerals of a progression in one spelling."""
    numerals = []
    for numeral in _pattern("numeral").findall(match[0]):
        degree, figures, of = re.findall(r"^(\D+?)(?: ?(\d[\d/]*))?((?:/\D+)?)$", numeral)[0]
        # The figures of one chord are the same in whatever order they stand: published answers have
        # V34 and I46.
        digits = "".join(sorted(figures.replace("/", ""), reverse=True))
        numerals.append(degree + {"2": "42", "63": "6", "53": ""}.get(digits, digits) + of)
    return tuple(numerals)


_CADENCES: dict[str, str] = load("theory")["cadences"]


def read_cadences(text: str) -> Extraction:
    """Kinds of cadence; a progression counts by its last two chords if no kind is named."""
    cadences = extract(
        rewritten(translated(text, "cadence"), "cadences"),
        _pattern("cadence"),
        lambda match: match[1].lower(),
    )
    return cadences if cadences.values else extract(text, _pattern("numerals"), _cadence_of)


def _cadence_of(match: Match) -> Hashable:
    degrees = [re.sub(r"\d.*|[øo+]", "", numeral).upper() for numeral in _progression(match)[-2:]]
    if len(degrees) < 2:
        return None
    return _CADENCES.get("-".join(degrees), "half" if degrees[-1] == "V" else None)


def read_intervals(text: str) -> Extraction:
    """Size and number of each interval."""
    text = translated(
        translated(translated(rewritten(text, "intervals"), "mode"), "size"), "interval"
    )
    return extract(
        text, _pattern("interval"), lambda match: tuple(sorted(filter(None, match.groups())))
    )


_INSTRUMENT = re.compile(
    rf"\b(?P<name>{'|'.join(TERMS['instrument'])})s?(?: (?P<number>[12]))?\b", re.IGNORECASE
)


def read_instruments(text: str) -> Extraction:
    """Name, and number or None, of each instrument."""
    text = rewritten(translated(text, "instrument"), "instruments")
    return extract(text, _INSTRUMENT, lambda match: (match["name"].lower(), match["number"]))
