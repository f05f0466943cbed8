"""Reading chords, numerals and cadences.

A chord is a root, a quality by music21's names, and an inversion (0 to 3) or None; it may be spelled (D-F#-A-C)
or told by its degree in a key. Numerals are degrees with figures, of which 6/5 is 65. A perfect cadence is an
authentic one, an imperfect one a half one."""

import re
from collections.abc import Hashable
from functools import cache
from typing import TYPE_CHECKING, Final

from music_evals.scorers.readers.pitches import SHIFTS, STANDS_ALONE, spelled
from music_evals.scorers.readers.words import DIGITS, TERMS, Found, found, matched, rewritten, translated

if TYPE_CHECKING:
    from music21.chord import Chord

_SYMBOLS: Final = (
    r"(?:min7b5|m7\(b5\)|sus[24]|-7|maj7|min7|dim7|dom7|aug7|m7b5|mM7|M7|m7|ø7?|o7|7|6|maj|min|dim|aug|m|o|\+)"
)
_QUALITY_WORDS: Final = {word: name for name, words in TERMS["qualities"].items() for word in words}
_WORDS_LONGEST: Final = "|".join(sorted(_QUALITY_WORDS, key=len, reverse=True))
_CHORD: Final = re.compile(
    rf"(?<![A-Za-z0-9#'])(?P<letter>[A-Ga-g])(?P<sign>##|#|bb|b)?(?:(?P<symbol>{_SYMBOLS})(?![A-Za-z0-9])|["
    rf" -]{{1,3}}(?P<words>{_WORDS_LONGEST})(?![A-Za-z0-9]))?"
    r"(?P<noun>[ -]+(?:chord|triad))?(?:/(?P<bass>[A-G](?:#|b)?))?"
    r"(?:[, -]{0,3}\(?(?:in )?(?P<inversion>first|second|third|root) (?:inversion|position))?(?![A-Za-z0-9#+]|-[a-z])"
)
_INVERSIONS: Final = {"root": 0, "first": 1, "second": 2, "third": 3}
_SPELLED: Final = re.compile(
    r"(?<![A-Za-z0-9#])[A-G](?:##|#|bb|b)?\d?(?:(?:-|, and |, | - | and | )[A-G](?:##|#|bb"
    r"|b)?\d?(?![A-Za-z#])){2,5}(?![A-Za-z0-9#])"
)
_DEGREE_IN_KEY: Final = re.compile(
    r"(?<![A-Za-z])(?P<figure>[#b]?[ivIV]{1,3}(?:o|ø|\+)?(?:7|65|43|42|64|6)?)(?: chord)? (?:in|of)"
    r" (?P<key>[A-Ga-g][#b]?)(?: (?P<mode>major|minor))?\b"
)


@cache
def _symbols() -> dict[str, str]:
    """Abbreviations of chord qualities, as music21 has them."""
    from music21.harmony import CHORD_TYPES

    known = {symbol: name for name, (_, symbols) in CHORD_TYPES.items() for symbol in symbols}
    half = dict.fromkeys(("ø", "min7b5", "m7(b5)"), "half-diminished-seventh")
    return {**known, **half, "-7": "minor-seventh"}


_ON: Final = re.compile(
    rf"\b(?P<quality>{_WORDS_LONGEST})(?: chord| triad)? ?(?:on|auf|sur|su|sobre|built on) (?P<root>[A-Ga-g](?:##|#"
    rf"|bb|b)?)(?![A-Za-z0-9])"
)
_CHORD_WORDS: Final = re.compile(
    r"\b(?:major|minor|dominant|diminished|augmented|half|fully|seventh|root|first|second|third|triad|chord"
    r"|inversion)\b",
    re.IGNORECASE,
)


def read_chords(text: str) -> Found:
    """Root (letter and shift), quality by music21's name, and inversion or None."""
    text = _CHORD_WORDS.sub(lambda match: match[0].lower(), rewritten(spelled(text), "chords"))
    text = rewritten(translated(translated(text, "mode"), "inversion"), "translated_chords")
    text = _ON.sub(lambda match: f"{match['root']} {match['quality']}", text)
    if values := matched(_DEGREE_IN_KEY.finditer(text), _degree_chord):
        return found(text, values)

    def chord(match: re.Match[str]) -> Hashable:
        bare = not any(match[name] for name in ("sign", "words", "symbol", "noun", "bass", "inversion"))
        # A small letter may be an article, "am" a verb.
        if (match["letter"].islower() and not match["words"]) or (bare and not STANDS_ALONE.match(text, match.end())):
            return None
        quality = _QUALITY_WORDS[match["words"]] if match["words"] else _symbols()[match["symbol"] or ""]
        inversion: int | None = _INVERSIONS.get(match["inversion"] or "")
        if match["bass"]:
            steps = ("CDEFGAB".index(match["bass"][0]) - "CDEFGAB".index(match["letter"].upper())) % 7
            inversion = {0: 0, 2: 1, 4: 2, 6: 3}.get(steps, -1)
        return match["letter"].upper(), SHIFTS[match["sign"] or ""], quality, inversion

    # "G, B♭ and D: a G minor triad" names one chord twice; its name tells more.
    unspelled = _SPELLED.sub(lambda match: "_" * len(match[0]), text)
    if values := matched(_CHORD.finditer(unspelled), chord):
        return found(unspelled, values)
    return found(text, matched(_SPELLED.finditer(text), _spelled_chord))


_KINDS: Final = {
    (0, 4, 7): "major", (0, 3, 7): "minor", (0, 3, 6): "diminished", (0, 4, 8): "augmented",
    (0, 4, 7, 10): "dominant-seventh", (0, 4, 7, 11): "major-seventh", (0, 3, 7, 10): "minor-seventh",
    (0, 3, 6, 10): "half-diminished-seventh", (0, 3, 6, 9): "diminished-seventh",
}  # fmt: skip
"""Semitones above the root."""


def _named(chord: "Chord") -> Hashable:
    root = chord.root()
    quality = _KINDS.get(tuple(sorted({(note.pitchClass - root.pitchClass) % 12 for note in chord.pitches})))
    return (root.step, int(root.alter), quality, None) if quality else None


def _degree_chord(match: re.Match[str]) -> Hashable:
    from music21.exceptions21 import Music21Exception
    from music21.roman import RomanNumeral

    letter = match["key"].replace("b", "-") if len(match["key"]) > 1 else match["key"]
    key = letter.lower() if match["mode"] == "minor" else letter[0].upper() + letter[1:] if match["mode"] else letter
    try:
        numeral = RomanNumeral(match["figure"], key)
        named = _named(numeral)
        return (*named[:3], numeral.inversion()) if isinstance(named, tuple) else None
    except (Music21Exception, ValueError):
        return None


def _spelled_chord(match: re.Match[str]) -> Hashable:
    from music21.chord import Chord

    names = re.findall(r"[A-G](?:##|#|bb|b)?", match[0])
    return _named(Chord([name[0] + name[1:].replace("b", "-") for name in names]))


_ROMAN: Final = (
    r"(?:K(?:64|46|6/4)|[#b]?(?:VII|VI|IV|V|III|II|I|vii|vi|iv|v|iii|ii|i)(?:ø|o|\+)?"
    r"(?: ?(?:6/5|6/4|4/3|4/2|6/3|5/3|\d{1,2}))?"
    r"(?:/[#b]?(?:VII|VI|IV|V|III|II|I|vii|vi|iv|v|iii|ii|i))?)(?![A-Za-z0-9])"
)
_NUMERALS: Final = re.compile(
    rf"(?<![A-Za-z0-9'])(?:{_ROMAN})(?: ?(?:-+>?|→|>|,|,? and|to|then|resolving to|going to|followed by|\.\.\.|)"
    rf" ?(?:{_ROMAN}))*+"
)
_NUMERAL: Final = re.compile(_ROMAN)
_PRONOUN: Final = re.compile(
    r"\bI(?='|,? (?:think|believe|would|too|can|am|see|do|cannot|could|have|need|will|count|find|read|say|guess|was"
    r"|don't|hear)\b)"
)
_ARABIC: Final = re.compile(r"[1-7](?:(?: ?[-,>→] ?| )[1-7]){0,15}[. ]*")
_INVERTED: Final = re.compile(
    r"(?<![A-Za-z])([ivIV]{1,3}o?)(7?)(?: seventh)?(?: chord)? in (first|second|third|root) (?:inversion|position)"
)


_DEGREES: Final = ("I", "II", "III", "IV", "V", "VI", "VII")
_FIGURES: Final = {
    ("", "first"): "6", ("", "second"): "64", ("7", "first"): "65", ("7", "second"): "43", ("7", "third"): "42",
}  # fmt: skip


def read_numerals(text: str) -> Found:
    """Progressions, each the degrees and figures of its chords."""
    text = re.sub(r"([一二三四五六七])级", lambda match: f"{_DEGREES[DIGITS[match[1]] - 1]} ", text)
    if re.fullmatch(r"[TSD](?:[ >-]{1,3}[TSD]){1,9}", text):
        text = re.sub("[TSD]", lambda match: {"T": "I", "S": "IV", "D": "V"}[match[0]], text)
    if _ARABIC.fullmatch(text):
        text = re.sub("[1-7]", lambda match: _DEGREES[int(match[0]) - 1], text)
    text = _PRONOUN.sub("_", text)
    if not _NUMERALS.search(text):
        text = translated(text, "numeral")
    text = rewritten(text, "numerals")
    text = _INVERTED.sub(lambda match: match[1] + _FIGURES.get((match[2], match[3]), match[2]), text)
    return found(
        text, matched(_NUMERALS.finditer(text), lambda match: tuple(map(_numeral, _NUMERAL.findall(match[0]))))
    )


def _numeral(text: str) -> str:
    degree, figures, of = re.fullmatch(r"(\D+?)(?: ?(\d[\d/]*))?((?:/\D+)?)", text).groups()  # type: ignore[union-attr]
    # The figures of one chord are the same in whatever order they stand: published answers have V34 and I46.
    digits = "".join(sorted((figures or "").replace("/", ""), reverse=True))
    digits = {"2": "42", "63": "6", "53": ""}.get(digits, digits)
    return f"{degree}{digits}{of}"


_CADENCE: Final = re.compile(
    r"\b(imperfect authentic|authentic|half|plagal|deceptive)\b(?=\W*$|[,.;:!()]| cadence| close| and\b| or\b| in\b|"
    r" at\b|终止| ?\(|(?i:-cadence| schluss| kadenz| cadenz))"
)
_PROGRESSIONS: Final = {"V-I": "authentic", "IV-I": "plagal", "V-VI": "deceptive"}


def read_cadences(text: str) -> Found:
    """Kinds of cadence; chords that end on one count where no kind is named."""

    def progression(match: re.Match[str]) -> Hashable:
        ends = [re.sub(r"\d.*|[øo+]", "", _numeral(one)) for one in _NUMERAL.findall(match[0])[-2:]]
        kind = _PROGRESSIONS.get("-".join(ends).upper(), "half" if ends[-1] == "V" else None)
        return kind if len(ends) == 2 else None

    marked = re.sub(r"(authentic)(?: authentic)+", r"\1", translated(text, "cadence"))
    marked = re.sub(r"\bperfect\b", "", marked)
    values = matched(_CADENCE.finditer(marked), lambda match: match[1])
    return found(marked, values) if values else found(text, matched(_NUMERALS.finditer(text), progression))
