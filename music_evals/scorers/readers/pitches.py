"""Reading pitches and keys, in letters, German names, solfège, Chinese, Japanese, Korean and Russian.

A pitch is a letter, a shift in semitones and an octave (C4 is middle C; ``c'`` is C4 as well) or None. A key is a tonic
and a mode; a single capital letter is a major key, a small one a minor key, Aeolian is minor, Ionian major.
"""

import re
from collections.abc import Hashable
from itertools import cycle
from typing import Final

from music_evals.scorers.readers.tables import load, pattern
from music_evals.scorers.readers.words import Extraction, Span, extract, extraction, rewritten, translated

SHIFTS: Final = {"": 0, "#": 1, "b": -1, "##": 2, "x": 2, "bb": -2}
_LETTERS: Final = dict(zip(load("names")["order"], cycle("CDEFGAB"), strict=False))
_KOREAN: Final = str.maketrans("다라마바사가나", "CDEFGAB")
_ABC: Final = re.compile(r"(?<![\w^_=])([\^_]{1,2}|=)([A-Ga-g])(,*|'*)(?![\w'])")
_PITCH: Final = re.compile(
    r"(?<![A-Za-z0-9#'])(?P<letter>[A-Ga-g])(?P<sign>##|#|bb|b|x)?(?P<octave>[ -]?-?\d(?!\d))?(?![A-Za-z0-9#'])"
)
STANDS_ALONE: Final = re.compile(
    r"\s{0,3}(?:$|[,;.:)\n/\u3040-\u9fff]|-(?= ?[A-G](?:[#b]|\b))|(?:and|or|then|et|und|y|e|и)\b)"
)
SEMITONES: Final = {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}


def _abc(match: re.Match[str]) -> str:
    """A note of ABC with its accidental: ``^f`` is F#5, ``_B,`` Bb3."""
    sign = match[1].replace("^", "#").replace("_", "b").replace("=", "")
    octave = 4 + match[2].islower() + match[3].count("'") - match[3].count(",")
    return f"{match[2].upper()}{sign}{octave}"


def spelled(text: str) -> str:
    """The text with the names of notes as letter, sign and octave: ``C#5``."""
    text = pattern("names", "korean").sub(lambda match: match[0].translate(_KOREAN), _ABC.sub(_abc, text))
    text = rewritten(text, "accidentals")
    for _ in range(2):  # a name in a list may be known by the one ahead
        text = pattern("names", "name").sub(lambda match: _LETTERS[match[0].lower()], text)
    return rewritten(text, "spelling")


def read_pitches(text: str) -> Extraction:
    """Letter, shift and octave or None of each pitch."""
    text = rewritten(spelled(text), "relative")
    spans: list[Span] = []
    for match in _PITCH.finditer(text):
        pitch = _pitch(match)
        # "B♭3 (A♯3)" names one pitch twice.
        is_aside = text[: match.start()].rstrip().endswith(("(", "=", "or enharmonically"))
        if pitch and not (is_aside and spans and _sounding(spans[-1][2]) == _sounding(pitch)):
            spans.append((match.start(), match.end(), pitch))
    # "Bb, namely Bb3": the name without an octave adds nothing.
    without_octave = {(*value[:2], None) for *_, value in spans if value[2] is not None}
    return extraction(text, [span for span in spans if span[2] not in without_octave])


def _pitch(match: re.Match[str]) -> tuple[str, int, int | None] | None:
    is_bare = match["sign"] is None and match["octave"] is None
    # A letter on its own may be an article.
    is_article = is_bare and (match["letter"].islower() or not STANDS_ALONE.match(match.string, match.end()))
    if is_article and match[0] != match.string:
        return None
    octave = int(match["octave"][-1]) if match["octave"] else None
    return match["letter"].upper(), SHIFTS[match["sign"] or ""], octave


def _sounding(pitch: tuple[str, int, int | None]) -> tuple[int | None, int]:
    """The octave, and semitones above its C: equal for enharmonic pitches."""
    letter, shift, octave = pitch
    return octave, SEMITONES[letter] + shift


_KEY: Final = re.compile(
    r"(?<![A-Za-z0-9#])(?P<letter>[A-Ga-g])(?P<sign>##|#|bb|b|x)?[ -]{0,3}"
    r"(?P<mode>major|minor|dorian|phrygian|lydian|mixolydian|locrian)\b(?P<general> {1,2}(?:key|mode|scale)\b)?"
)
_KEY_ALONE: Final = re.compile(
    r"(?i)(?:(?:it is |it's )?(?:in )?(?:the )?(?:key (?:of|is|:)? ?)?|K: ?)?(?P<letter>[A-Ga-g])(?P<sign>##|#|bb|b"
    r"|x)?[.! ]*"
)


def read_keys(text: str) -> Extraction:
    """Tonic (letter and shift) and mode of each key."""
    text = translated(rewritten(spelled(text), "keys"), "mode")
    keys = extract(text, _KEY, _key)
    if keys.values or not (match := _KEY_ALONE.fullmatch(text)):
        return keys
    mode = "major" if match["letter"].isupper() else "minor"
    return extraction(text, [(0, len(text), (match["letter"].upper(), SHIFTS[(match["sign"] or "").lower()], mode))])


def _key(match: re.Match[str]) -> Hashable:
    if match["letter"] == "a" and match["general"]:
        return None
    return match["letter"].upper(), SHIFTS[match["sign"] or ""], match["mode"]
