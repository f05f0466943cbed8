"""Reading pitches and keys, in letters, German names, solfège and Chinese.

A pitch is a letter, a shift in semitones and an octave (C4 is middle C; ``c'`` is C4 as well) or None. A key is a tonic
and a mode; a single capital letter is a major key, a small one a minor key, Aeolian is minor, Ionian major.
"""

import re
from collections.abc import Hashable
from typing import Final

from music_evals.scorers.readers.words import Found, Values, found, matched, rewritten, translated

SHIFTS: Final = {"": 0, "#": 1, "b": -1, "##": 2, "x": 2, "bb": -2}
_SOLFEGE: Final = {"do": "C", "ut": "C", "re": "D", "mi": "E", "fa": "F", "sol": "G", "la": "A", "si": "B"}
_MODE_WORD: Final = r"(?:majeur|mineur|mayor|menor|maggiore|minore|major|minor)"
_SOLFEGE_NAME: Final = re.compile(
    r"(?<![A-Za-z])(do|ut|re|mi|fa|sol|la|si)(?:[ -]?(dieses?|diesis|sostenido|bemol(?:le)?|bequadro|becarre|natural"
    r"|sharp|flat|#|b))?"
    rf"(?P<next>[ -]?\d|[ -]{_MODE_WORD}|\W*$|[,;/-] ?(?:do|re|mi|fa|sol|la|si)\b)?(?![A-Za-z])",
    re.IGNORECASE,
)
_GERMAN_END: Final = r"[ -]?(?:dur|moll|(?:halb)?vermindert|uberm)|-?\d|'|\W*$|[,;]"
_GERMAN_NAME: Final = re.compile(
    rf"(?<![A-Za-z])([a-g])(isis|eses|is|es)(?={_GERMAN_END}|-?\d|[ -]?(?:major|minor))|(?<![A-Za-z])(e"
    rf"|a)(s)(?={_GERMAN_END})"
    rf"|(?<![A-Za-z])(h)(is|)(?={_GERMAN_END})|(?<![A-Za-z])(b)(es|)(?=[ -]?(?:dur|moll)|(?<=es)-?\d)|(?<=auf"
    rf" )(B)()(?![a-z])",
    re.IGNORECASE,
)
_MIDDLE: Final = re.compile(r"\b(?:do centrale?|mittleres c)(?![a-z0-9])|中央c", re.IGNORECASE)
_STROKES: Final = re.compile(
    r"\b(?P<de>ein|zwei|drei)gestrichene[ns]? (?P<a>[a-h](?:is|es)?)\b|小字(?P<zh>[一二三])组的?\s?(?P<b>[A-Ga-g])",
    re.IGNORECASE,
)
_STROKE_NUMBERS: Final = {"ein": 1, "zwei": 2, "drei": 3, "一": 1, "二": 2, "三": 3}
_CHINESE_SIGN: Final = re.compile(r"(重升|重降|升|降|还原)\s?([A-Ga-g])(?![A-Za-z])|(?<![A-Za-z])([A-Ga-g])\s?(升|降)")
_CHINESE_SIGNS: Final = {"升": "#", "降": "b", "重升": "##", "重降": "bb", "还原": ""}
_SIGN_WORD: Final = re.compile(
    r"(?<![A-Za-z])([A-Ga-g])[ -]{0,2}(double[ -]?sharp|double[ -]?flat|sharp|flat|natural)(?![a-z])(?! ?keys)",
    re.IGNORECASE,
)
_OCTAVE_WORDS: Final = re.compile(
    r"(?<![A-Za-z])([A-Ga-g](?:##|#|bb|b|x)?),? ?(?:\(|(?:in |of )?(?:the )?octave |(?:in |of )(?:the )?)(\d)(?:st|nd"
    r"|rd|th)?(?: octave|\)|(?= ?$))"
)
_HELMHOLTZ: Final = re.compile(r"(?<![A-Za-z'])([A-Ga-g])(##|#|bb|b)?('{1,5})(##|#|bb|b)?(?![A-Za-z'])")
_PITCH: Final = re.compile(
    r"(?<![A-Za-z0-9#'])(?P<letter>[A-Ga-g])(?P<sign>##|#|bb|b|x)?(?P<octave>[ -]?-?\d(?!\d))?(?![A-Za-z0-9#'])"
)
_MIDDLE_C: Final = re.compile(r"\bmiddle[ -]c(?![a-z0-9])", re.IGNORECASE)
STANDS_ALONE: Final = re.compile(r"\s{0,3}(?:$|[,;.:)\n/]|and\b|or\b|then\b|et\b|und\b|y\b|e\b|和)")
_RELATIVE: Final = re.compile(
    r"\b(?:above|below|over|under|than|from) (?:the )?(?:middle c\b|[A-G](?:#|b)?\d?\b(?:(?:,| and| or) [A-G](?:#"
    r"|b)?\d\b)*+)",
    re.IGNORECASE,
)


def _german(match: re.Match[str]) -> str:
    letter, ending = next((match[place], match[place + 1]) for place in (1, 3, 5, 7, 9) if match[place])
    if letter in "Hh":
        return ("B" if letter == "H" else "b") + ("#" if ending else "")
    shift = {"is": "#", "isis": "##", "es": "b", "eses": "bb", "s": "b", "": "b"}[ending.lower()]
    return letter + shift


def _solfege(match: re.Match[str]) -> str:
    name, sign, after = match[1], (match[2] or "").lower(), match["next"] or ""
    # Most of them are words besides.
    alone = name.lower() in ("do", "mi", "la", "si") or match["next"] is None
    if not sign and not after.strip(" .") and match.start() > 0 and alone:
        return match[0]
    letter = _SOLFEGE[name.lower()]
    shift = (
        "#"
        if sign.startswith(("dies", "sost", "sharp", "#"))
        else "b"
        if sign.startswith(("bemol", "flat", "b"))
        else ""
    )
    shift = "" if sign.startswith(("becarre", "bequadro")) else shift
    return letter + shift + after


def spelled(text: str) -> str:
    """The text with the names of notes as letter, sign and octave: ``C#5``."""
    text = _STROKES.sub(
        lambda match: (match["a"] or match["b"]).lower() + "'" * _STROKE_NUMBERS[(match["de"] or match["zh"]).lower()],
        _MIDDLE.sub("C4", text),
    )
    text = rewritten(text, "spelling")
    text = _CHINESE_SIGN.sub(lambda match: (match[2] or match[3]) + _CHINESE_SIGNS[match[1] or match[4]], text)
    text = _GERMAN_NAME.sub(_german, text)
    text = _SOLFEGE_NAME.sub(_solfege, _SOLFEGE_NAME.sub(_solfege, text))
    signs = {"sharp": "#", "flat": "b", "natural": "", "doublesharp": "##", "doubleflat": "bb"}
    text = _SIGN_WORD.sub(lambda match: match[1] + signs[re.sub("[ -]", "", match[2].lower())], text)
    text = _HELMHOLTZ.sub(lambda match: f"{match[1].upper()}{match[2] or match[4] or ''}{3 + len(match[3])}", text)
    return _OCTAVE_WORDS.sub(r"\1\2", text)


def read_pitches(text: str) -> Found:
    """Letter, shift and octave or None of each pitch."""
    text = _RELATIVE.sub(" ", spelled(text))
    pitches: Values = [(match.start(), match.end(), ("C", 0, 4)) for match in _MIDDLE_C.finditer(text)]
    within = {position for start, end, _ in pitches for position in range(start, end)}
    for match in _PITCH.finditer(text):
        bare = match["sign"] is None and match["octave"] is None
        # A letter on its own may be an article.
        if match.start() in within or (
            bare and (match["letter"].islower() or not STANDS_ALONE.match(text, match.end())) and match[0] != text
        ):
            continue
        octave = int(match["octave"][-1]) if match["octave"] else None
        pitch = (match["letter"].upper(), SHIFTS[match["sign"] or ""], octave)
        # "B♭3 (A♯3)" and "Bb (Bb3)" name one pitch twice.
        if (
            pitches
            and text[: match.start()].rstrip().endswith(("(", "=", "or enharmonically"))
            and _sounds_alike(pitches[-1][2], pitch)
        ):
            continue
        pitches.append((match.start(), match.end(), pitch))
    pitches.sort(key=lambda one: one[:2])
    with_octave = {value[:2] for *_, value in pitches if isinstance(value, tuple) and value[2] is not None}
    kept = [
        one for one in pitches if not (isinstance(one[2], tuple) and one[2][2] is None and one[2][:2] in with_octave)
    ]
    return found(text, kept)


def _sounds_alike(first: Hashable, second: Hashable) -> bool:
    if not (isinstance(first, tuple) and isinstance(second, tuple)):
        return False
    keys = [12 * (octave or 0) + {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}[letter] + shift
            for letter, shift, octave in (first, second)]  # fmt: skip
    return bool(first[2] == second[2] and keys[0] == keys[1])


_KEY: Final = re.compile(
    r"(?<![A-Za-z0-9#])(?P<letter>[A-Ga-g])(?P<sign>##|#|bb|b|x)?(?:[ -]{0,3}"
    r"(?P<mode>major|minor|dorian|phrygian|lydian|mixolydian|locrian)\b|(?P<short>[mM])(?![A-Za-z0-9]))"
    r"(?P<general> {1,2}(?:key|mode|scale)\b)?"
)
_KEY_ALONE: Final = re.compile(
    r"(?:(?:it is |it's )?(?:in )?(?:the )?(?:key (?:of|is|:)? ?)?|K: ?)?(?P<letter>[A-Ga-g])(?P<sign>##|#|bb|b"
    r"|x)?[.! ]*",
    re.IGNORECASE,
)


def read_keys(text: str) -> Found:
    """Tonic (letter and shift) and mode of each key."""
    text = translated(rewritten(spelled(text), "keys"), "mode")
    text = re.sub(r"\b(Major|Minor|MAJOR|MINOR)\b", lambda match: match[0].lower(), text)

    def key(match: re.Match[str]) -> Hashable:
        article = match["letter"] in "aA" and match["sign"] is None and match["general"]
        mode = "minor" if match["short"] == "m" else "major" if match["short"] else match["mode"]
        return None if article else (match["letter"].upper(), SHIFTS[match["sign"] or ""], mode)

    values = matched(_KEY.finditer(text), key)
    if not values and (match := _KEY_ALONE.fullmatch(text)):
        mode = "major" if match["letter"].isupper() else "minor"
        values = [(0, len(text), (match["letter"].upper(), SHIFTS[match["sign"] or ""], mode))]
    return found(text, values)
