"""Reading chords, numerals and cadences.

A chord is a root, a quality by music21's names, and an inversion (0 to 3) or None. It may be spelled (D-F#-A-C) or be a
degree in a key. A quality alone ("Major triad") has no root. Numerals are degrees with figures; 6/5 is 65. Perfect
cadences are authentic, imperfect ones half.
"""

import re
from collections.abc import Hashable
from functools import cache
from typing import TYPE_CHECKING, Final

from music_evals.scorers.readers.pitches import SHIFTS, STANDS_ALONE, spelled
from music_evals.scorers.readers.words import DIGITS, TERMS, Extraction, extract, rewritten, translated

if TYPE_CHECKING:
    from music21.chord import Chord

_SYMBOLS: Final = (
    r"(?:min7b5|m7\(b5\)|sus[24]|-7|maj7|min7|dim7|dom7|aug7|m7b5|mM7|M7|m7|ø7?|o7|7|6|maj|min|dim|aug|m|o|\+)"
)
_QUALITY_WORDS: Final = {word: name for name, words in TERMS["qualities"].items() for word in words}
_QUALITY: Final = "|".join(sorted(_QUALITY_WORDS, key=len, reverse=True))
_CHORD: Final = re.compile(
    rf"(?<![A-Za-z0-9#'])(?P<letter>[A-Ga-g])(?P<sign>##|#|bb|b)?(?:(?P<symbol>{_SYMBOLS})(?![A-Za-z0-9])"
    rf"|[ -]{{1,3}}(?P<words>{_QUALITY})(?![A-Za-z0-9]))?"
    r"(?P<noun>[ -]+(?:chord|triad))?(?:/(?P<bass>[A-G](?:#|b)?))?"
    r"(?:[, -]{0,3}\(?(?:in )?(?P<inversion>first|second|third|root) (?:inversion|position))?(?![A-Za-z0-9#+]|-[a-z])"
)
_QUALITY_ALONE: Final = re.compile(
    rf"(?<![A-Za-z])(?P<words>{_QUALITY})(?![A-Za-z0-9])(?:[ -]+(?:chord|triad))?(?! (?:third|sixth|second|scale|key))"
)
_SPELLED: Final = re.compile(
    r"(?<![A-Za-z0-9#])[A-G](?:##|#|bb|b)?\d?"
    r"(?:(?:-|, and |, | - | and | )[A-G](?:##|#|bb|b)?\d?(?![A-Za-z#])){2,5}(?![A-Za-z0-9#])"
)
_DEGREE_IN_KEY: Final = re.compile(
    r"(?<![A-Za-z])(?P<figure>[#b]?[ivIV]{1,3}(?:o|ø|\+)?(?:7|65|43|42|64|6)?)(?: chord)?"
    r" (?:in|of) (?P<key>[A-Ga-g][#b]?)(?: (?P<mode>major|minor))?\b"
)


@cache
def _symbols() -> dict[str, str]:
    """Abbreviations of chord qualities, with music21's names of the qualities."""
    from music21.harmony import CHORD_TYPES

    symbols = {symbol: name for name, (_, abbreviations) in CHORD_TYPES.items() for symbol in abbreviations}
    half_diminished = dict.fromkeys(("ø", "min7b5", "m7(b5)"), "half-diminished-seventh")
    return {**symbols, **half_diminished, "-7": "minor-seventh"}


_ON: Final = re.compile(
    rf"\b(?P<quality>{_QUALITY})(?: chord| triad)? ?(?:on|auf|sur|su|sobre|built on)"
    r" (?P<root>[A-Ga-g](?:##|#|bb|b)?)(?![A-Za-z0-9])"
)
_CHORD_WORDS: Final = re.compile(
    r"(?i)\b(?:major|minor|dominant|diminished|augmented|half|fully|seventh|root|first|second|third|triad|chord"
    r"|inversion)\b"
)


def read_chords(text: str) -> Extraction:
    """Root (letter and shift), quality by music21's name, and inversion or None."""
    text = _CHORD_WORDS.sub(lambda match: match[0].lower(), rewritten(spelled(text), "chords"))
    text = rewritten(translated(translated(text, "mode"), "inversion"), "translated_chords")
    text = _ON.sub(lambda match: f"{match['root']} {match['quality']}", text)
    if (degrees := extract(text, _DEGREE_IN_KEY, _degree_chord)).values:
        return degrees
    # "G, B♭ and D: a G minor triad" names one chord twice; its name tells more.
    unspelled = _SPELLED.sub(lambda match: "_" * len(match[0]), text)
    chords = extract(unspelled, _CHORD, _chord)
    spelled_chords = chords if chords.values else extract(text, _SPELLED, _spelled_chord)
    return spelled_chords if spelled_chords.values else extract(text, _QUALITY_ALONE, _quality)


def _quality(match: re.Match[str]) -> Hashable:
    return None, None, _QUALITY_WORDS[match["words"]], None


def _chord(match: re.Match[str]) -> Hashable:
    is_bare = not any(match[name] for name in ("sign", "words", "symbol", "noun", "bass", "inversion"))
    is_small = match["letter"].islower() and not match["words"]
    # A small letter may be an article, "am" a verb.
    if is_small or (is_bare and not STANDS_ALONE.match(match.string, match.end())):
        return None
    quality = _QUALITY_WORDS[match["words"]] if match["words"] else _symbols()[match["symbol"] or ""]
    inversion = ("root", "first", "second", "third").index(match["inversion"]) if match["inversion"] else None
    if match["bass"]:
        steps = ("CDEFGAB".index(match["bass"][0]) - "CDEFGAB".index(match["letter"].upper())) % 7
        inversion = {0: 0, 2: 1, 4: 2, 6: 3}.get(steps, -1)
    return match["letter"].upper(), SHIFTS[match["sign"] or ""], quality, inversion


# By semitones above the root.
_KINDS: Final = {
    (0, 4, 7): "major", (0, 3, 7): "minor", (0, 3, 6): "diminished", (0, 4, 8): "augmented",
    (0, 4, 7, 10): "dominant-seventh", (0, 4, 7, 11): "major-seventh", (0, 3, 7, 10): "minor-seventh",
    (0, 3, 6, 10): "half-diminished-seventh", (0, 3, 6, 9): "diminished-seventh",
}  # fmt: skip


def _root_and_quality(chord: "Chord") -> tuple[Hashable, ...] | None:
    root = chord.root()
    quality = _KINDS.get(tuple(sorted({(note.pitchClass - root.pitchClass) % 12 for note in chord.pitches})))
    return (root.step, int(root.alter), quality) if quality else None


def _degree_chord(match: re.Match[str]) -> Hashable:
    from music21.exceptions21 import Music21Exception
    from music21.roman import RomanNumeral

    key = match["key"].replace("b", "-") if len(match["key"]) > 1 else match["key"]
    if match["mode"]:
        key = key.lower() if match["mode"] == "minor" else key[0].upper() + key[1:]
    try:
        numeral = RomanNumeral(match["figure"], key)
        chord = _root_and_quality(numeral)
    except (Music21Exception, ValueError):
        return None
    return (*chord, numeral.inversion()) if chord else None


def _spelled_chord(match: re.Match[str]) -> Hashable:
    from music21.chord import Chord

    names = re.findall(r"[A-G](?:##|#|bb|b)?", match[0])
    chord = _root_and_quality(Chord([name[0] + name[1:].replace("b", "-") for name in names]))
    return (*chord, None) if chord else None


_DEGREE: Final = "[#b]?(?:VII|VI|IV|V|III|II|I|vii|vi|iv|v|iii|ii|i)"
_FIGURED: Final = r"(?:6/5|6/4|4/3|4/2|6/3|5/3|\d{1,2})"
_ROMAN: Final = rf"(?:K(?:64|46|6/4)|{_DEGREE}(?:ø|o|\+)?(?: ?{_FIGURED})?(?:/{_DEGREE})?)(?![A-Za-z0-9])"
_NUMERALS: Final = re.compile(
    rf"(?<![A-Za-z0-9'])(?:{_ROMAN})(?: ?(?:-+>?|→|>|,|,? and|to|then|resolving to|going to|followed by|\.\.\.|)"
    rf" ?(?:{_ROMAN}))*+"
)
_PRONOUN: Final = re.compile(
    r"\bI(?='|,? (?:think|believe|would|too|can|am|see|do|cannot|could|have|need|will|count|find|read|say|guess|was"
    r"|don't|hear)\b)"
)
_INVERTED: Final = re.compile(
    r"(?<![A-Za-z])([ivIV]{1,3}o?)(7?)(?: seventh)?(?: chord)? in (first|second|third|root) (?:inversion|position)"
)
_DEGREES: Final = ("I", "II", "III", "IV", "V", "VI", "VII")
_FIGURES: Final = {"first": "6", "second": "64", "7first": "65", "7second": "43", "7third": "42"}


def read_numerals(text: str) -> Extraction:
    """Progressions, each the degrees and figures of its chords."""
    text = re.sub(r"([一二三四五六七])级", lambda match: f"{_DEGREES[DIGITS[match[1]] - 1]} ", text)
    if re.fullmatch(r"[TSD](?:[ >-]{1,3}[TSD]){1,9}", text):
        text = re.sub("[TSD]", lambda match: {"T": "I", "S": "IV", "D": "V"}[match[0]], text)
    if re.fullmatch(r"[1-7](?:(?: ?[-,>→] ?| )[1-7]){0,15}[. ]*", text):
        text = re.sub("[1-7]", lambda match: _DEGREES[int(match[0]) - 1], text)
    text = _PRONOUN.sub("_", text)
    if not _NUMERALS.search(text):
        text = translated(text, "numeral")
    text = rewritten(text, "numerals")
    text = _INVERTED.sub(lambda match: match[1] + _FIGURES.get(match[2] + match[3], match[2]), text)
    return extract(text, _NUMERALS, _progression)


def _progression(match: re.Match[str]) -> tuple[str, ...]:
    """The numerals of a progression in one spelling."""
    numerals = []
    for numeral in re.findall(_ROMAN, match[0]):
        degree, figures, of = re.findall(r"^(\D+?)(?: ?(\d[\d/]*))?((?:/\D+)?)$", numeral)[0]
        # The figures of one chord are the same in whatever order they stand: published answers have V34 and I46.
        digits = "".join(sorted(figures.replace("/", ""), reverse=True))
        numerals.append(degree + {"2": "42", "63": "6", "53": ""}.get(digits, digits) + of)
    return tuple(numerals)


_CADENCE: Final = re.compile(
    r"(?i)\b(imperfect authentic|authentic|half|plagal|deceptive)\b(?=\W*$|[,.;:!()]| cadence| close| vor\b| and\b"
    r"| or\b| in\b| at\b|终止| ?\(| -| ?[\u0400-\u04ff\u3040-\ud7a3]|(?i:-cadence| schluss| kadenz| cadenz))"
)


def read_cadences(text: str) -> Extraction:
    """Kinds of cadence; a progression counts by its last two chords if no kind is named."""
    english = re.sub(r"(authentic)(?: authentic)+", r"\1", translated(text, "cadence"))
    cadences = extract(re.sub(r"\bperfect\b", "", english), _CADENCE, lambda match: match[1].lower())
    return cadences if cadences.values else extract(text, _NUMERALS, _cadence_of)


def _cadence_of(match: re.Match[str]) -> Hashable:
    degrees = [re.sub(r"\d.*|[øo+]", "", numeral) for numeral in _progression(match)[-2:]]
    if len(degrees) < 2:
        return None
    kinds = {"V-I": "authentic", "IV-I": "plagal", "V-VI": "deceptive"}
    return kinds.get("-".join(degrees).upper(), "half" if degrees[-1] == "V" else None)
