"""Reading pitches and keys, in letters, German names, solfège, Chinese, Japanese, Korean and
Russian.

A pitch is a letter, a shift in semitones and an octave (C4 is middle C; ``c'`` is C4 as well) or
None. A key is a tonic and a mode; a single capital letter is a major key, a small one a minor key,
Aeolian is minor, Ionian major.
"""

from collections.abc import Hashable
from itertools import cycle

from music_evals.scorers.readers.patterns import Match, load, pattern
from music_evals.scorers.readers.words import Extraction, extract, extraction, rewritten, translated

SEMITONES = dict(zip("CDEFGAB", (0, 2, 4, 5, 7, 9, 11), strict=True))
SHIFTS = {"": 0, "#": 1, "b": -1, "##": 2, "x": 2, "bb": -2}
_LETTERS = dict(zip(load("names")["order"], cycle("CDEFGAB"), strict=False))
_KOREAN = str.maketrans("다라마바사가나", "CDEFGAB")


def spelled(text: str) -> str:
    """The text with the names of notes as letter, sign and octave: ``C#5``."""
    text = pattern("names", "korean").sub(lambda match: match[0].translate(_KOREAN), text)
    text = rewritten(text, "accidentals")
    for _ in range(2):  # a name in a list may be known by the one ahead
        text = pattern("names", "name").sub(lambda match: _LETTERS[match[0].lower()], text)
    return rewritten(text, "spelling")


def read_pitches(text: str) -> Extraction:
    """Letter, shift and octave or None of each pitch."""
    text = rewritten(spelled(text), "relative")
    pitches = extract(text, pattern("values", "pitch"), _pitch)
    # "Bb, namely Bb3": the name without an octave adds nothing.
    without_octave = {(*value[:2], None) for value in pitches.values if value[2] is not None}
    return extraction(text, [span for span in pitches.spans if span[2] not in without_octave])


def stands_alone(match: Match) -> bool:
    """Whether what follows a letter lets it be a note, and no article."""
    return pattern("values", "alone").match(match.string, match.end()) is not None


def _pitch(match: Match) -> Hashable:
    is_bare = match["sign"] is None and match["octave"] is None
    # A letter on its own may be an article.
    is_article = is_bare and (match["letter"].islower() or not stands_alone(match))
    if is_article and match[0] != match.string:
        return None
    octave = int(match["octave"][-1]) if match["octave"] else None
    return match["letter"].upper(), SHIFTS[match["sign"] or ""], octave


def read_keys(text: str) -> Extraction:
    """Tonic (letter and shift) and mode of each key."""
    text = translated(rewritten(spelled(text), "keys"), "mode")
    keys = extract(text, pattern("values", "key"), _key)
    if keys.values or not (match := pattern("values", "key_alone").fullmatch(text)):
        return keys
    mode = "major" if match["letter"].isupper() else "minor"
    return extraction(
        text,
        [(0, len(text), (match["letter"].upper(), SHIFTS[(match["sign"] or "").lower()], mode))],
    )


def _key(match: Match) -> Hashable:
    if match["letter"] == "a" and match["general"]:
        return None
    return match["letter"].upper(), SHIFTS[match["sign"] or ""], match["mode"]
