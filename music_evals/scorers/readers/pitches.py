"""Reading pitches and keys, in letters, German names, solfège and Chinese.

A pitch is a letter, a shift in semitones and an octave (C4 is middle C; ``c'`` is C4 as well) or None. A key is a tonic
and a mode; a single capital letter is a major key, a small one a minor key, Aeolian is minor, Ionian major.
"""

import re
from collections.abc import Hashable
from typing import Final

from music_evals.scorers.readers.words import Extraction, Span, extract, extraction, rewritten, translated

SHIFTS: Final = {"": 0, "#": 1, "b": -1, "##": 2, "x": 2, "bb": -2}
_SOLFEGE: Final = {"do": "C", "ut": "C", "re": "D", "mi": "E", "fa": "F", "sol": "G", "la": "A", "si": "B"}
_SOLFEGE_NAME: Final = re.compile(
    r"(?i)(?<![A-Za-z])(do|ut|re|mi|fa|sol|la|si)(?:[ -]?(dieses?|diesis|sostenido|bemol(?:le)?|bequadro|becarre"
    r"|natural|sharp|flat|#|b))?(?=(?P<next>[ -]?\d|[ -](?:majeur|mineur|mayor|menor|maggiore|minore|major|minor)|\W*$"
    r"|(?:\s?[,;/-]| et| e| y| and) ?(?:do|re|mi|fa|sol|la|si)\b)|)(?![A-Za-z])"
)
_LISTED: Final = re.compile(r"\b[A-G](?:#|b)?\d?(?:\s?[,;/-] ?| (?:et|e|y|and) )$")
_GERMAN_END: Final = r"(?= - [A-H]| und )|[ -]?(?:dur|moll|(?:halb)?vermindert|uberm)|-?\d|'|\W*$|[,;]"
_GERMAN_NAME: Final = re.compile(
    rf"(?i)(?<![A-Za-z])([a-g])(isis|eses|is|es)(?={_GERMAN_END}|-?\d|[ -]?(?:major|minor))"
    rf"|(?<![A-Za-z])(e|a)(s)(?={_GERMAN_END})|(?<![A-Za-z])(h)(is|)(?={_GERMAN_END})"
    r"|(?<![A-Za-z])(b)(es|)(?=[ -]?(?:dur|moll)|(?<=es)-?\d)|(?<=auf )(B)()(?![a-z])"
)
_STROKES: Final = re.compile(
    r"(?i)\b(?P<de>ein|zwei|drei)gestrichene[ns]? (?P<a>[a-h](?:is|es)?)\b|小字(?P<zh>[一二三])组的?\s?(?P<b>[A-Ga-g])"
)
_STROKE_MARKS: Final = {"ein": "'", "zwei": "''", "drei": "'''", "一": "'", "二": "''", "三": "'''"}
_CHINESE_SIGN: Final = re.compile(r"(重升|重降|升|降|还原)\s?([A-Ga-g])(?![A-Za-z])|(?<![A-Za-z])([A-Ga-g])\s?(升|降)")
_SIGNS: Final = {
    "升": "#", "降": "b", "重升": "##", "重降": "bb", "还原": "",
    "sharp": "#", "flat": "b", "natural": "", "doublesharp": "##", "doubleflat": "bb",
    "is": "#", "isis": "##", "es": "b", "eses": "bb", "s": "b",
}  # fmt: skip
# Names in Japanese, Korean and Russian, in the order of C to B, and their signs.
_NAMES: Final = {
    **dict(zip("ハニホヘトイロ", "CDEFGAB", strict=True)),
    **dict(zip(("до", "ре", "ми", "фа", "соль", "ля", "си"), "CDEFGAB", strict=True)),
    **dict(zip(("도", "레", "미", "파", "솔", "라", "시"), "CDEFGAB", strict=True)),
    **dict(zip(("ド", "レ", "ミ", "ファ", "ソ", "ラ", "シ"), "CDEFGAB", strict=True)),
}
_KOREAN: Final = "다라마바사가나"  # names of notes by letter; 라 is A in solfège
_SIGNED: Final = {
    **dict.fromkeys(("嬰", "올림", "диез", "シャープ", "샵", "#"), "#"),
    **dict.fromkeys(("変", "내림", "бемоль", "フラット", "플랫", "b"), "b"),
}
_EASTERN: Final = re.compile(
    r"(?i)(?:(?P<before>嬰|変|올림|내림) ?)?(?P<name>[ハニホヘトイロ](?=[長短]調|音|,)|(?<=,)[ハニホヘトイロ](?!\w)"
    r"|[다라마바사가나](?= ?(?:장|단|음))|(?<!\w)(?:до|ре|ми|фа|соль|ля|си)(?!\w)"
    r"|[도레미파솔라시](?=[ #b,와과]|올림|내림|샵|플랫|\d|$)|ファ"
    r"|[ドレミソラシ](?=[ #bの,]|シャープ|フラット|です|\d|$)"
    r"|(?<=[嬰変])[ハニホヘトイロ]|(?<=올림|내림)[다라마바사가나])"
    r"(?:[ の-]?(?P<after>диез|бемоль|シャープ|フラット|샵|플랫|#|b))?(?P<next> ?\d)?"
)
_ABC: Final = re.compile(r"(?<![\w^_=])([\^_]{1,2}|=)([A-Ga-g])(,*|'*)(?![\w'])")
_OCTAVE_ORDINAL: Final = re.compile(r"(?i),? (?:in|of) the (first|second|third|fourth|fifth|sixth|seventh) octave")
_ORDINALS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")
_COUNTS: Final = ("one", "two", "three", "four", "five", "six", "seven")
_SPOKEN: Final = re.compile(rf"(?i)\b([a-g][ -](?:sharp|flat|natural)) ({'|'.join(_COUNTS)})\b")
_SIGN_WORD: Final = re.compile(
    r"(?i)(?<![A-Za-z])([A-Ga-g])[ -]{0,2}(double[ -]?sharp|double[ -]?flat|sharp|flat|natural)(?![a-z])(?! ?keys)"
)
_OCTAVE_WORDS: Final = re.compile(
    r"(?<![A-Za-z])([A-Ga-g](?:##|#|bb|b|x)?),? ?(?:\(|(?:in |of )?(?:the )?octave |(?:in |of )(?:the )?)(\d)"
    r"(?:st|nd|rd|th)?(?: octave|\)|(?= ?$))"
)
_HELMHOLTZ: Final = re.compile(r"(?<![A-Za-z'])([A-Ga-g])(##|#|bb|b)?('{1,5})(##|#|bb|b)?(?![A-Za-z'])")
_PITCH: Final = re.compile(
    r"(?<![A-Za-z0-9#'])(?P<letter>[A-Ga-g])(?P<sign>##|#|bb|b|x)?(?P<octave>[ -]?-?\d(?!\d))?(?![A-Za-z0-9#'])"
)
STANDS_ALONE: Final = re.compile(
    r"\s{0,3}(?:$|[,;.:)\n/\u3040-\u9fff]|-(?= ?[A-G](?:[#b]|\b))|and\b|or\b|then\b|et\b|und\b|y\b|e\b|и\b|和)"
)
_RELATIVE: Final = re.compile(
    r"(?i)\b(?:above|below|over|under|than|from) (?:the )?"
    r"(?:middle c\b|[A-G](?:#|b)?\d?\b(?:(?:,| and| or) [A-G](?:#|b)?\d\b)*+)"
)


def _german(match: re.Match[str]) -> str:
    letter, ending = next((match[place], match[place + 1]) for place in (1, 3, 5, 7, 9) if match[place])
    if letter in "Hh":
        return ("B" if letter == "H" else "b") + ("#" if ending else "")
    return letter + (_SIGNS[ending.lower()] if ending else "b")


def _solfege(match: re.Match[str]) -> str:
    name, sign, after = match[1].lower(), (match[2] or "").lower(), match["next"] or ""
    # Most names are words besides.
    is_listed = _LISTED.search(match.string, 0, match.start()) is not None
    is_word = not is_listed and (name in ("do", "mi", "la", "si") or match["next"] is None)
    if not sign and not after.strip(" .") and match.start() > 0 and is_word:
        return match[0]
    is_flat = sign.startswith(("bemol", "flat")) or sign == "b"
    shift = "#" if sign.startswith(("dies", "sost", "sharp", "#")) else "b" if is_flat else ""
    return _SOLFEGE[name] + shift


def _eastern(match: re.Match[str]) -> str:
    sign = _SIGNED.get((match["before"] or match["after"] or "").lower(), "")
    is_letter = match["name"] in _KOREAN and (
        match["before"] or match.string[match.end("name") :].lstrip()[:1] in "장단음"
    )
    name = "CDEFGAB"[_KOREAN.index(match["name"])] if is_letter else _NAMES[match["name"].lower()]
    return name + sign + (match["next"] or "").strip()


def _abc(match: re.Match[str]) -> str:
    """A note of ABC with its accidental: ``^f`` is F#5, ``_B,`` Bb3."""
    octave = 4 + match[2].islower() + len(match[3]) * (-1 if "," in match[3] else 1)
    return match[2].upper() + match[1].replace("^", "#").replace("_", "b").replace("=", "") + str(octave)


def spelled(text: str) -> str:
    """The text with the names of notes as letter, sign and octave: ``C#5``."""
    text = _STROKES.sub(
        lambda match: (match["a"] or match["b"]).lower() + _STROKE_MARKS[(match["de"] or match["zh"]).lower()],
        re.sub(r"(?i)\b(?:do centrale?|mittleres c)(?![a-z0-9])|中央c", "C4", text),
    )
    text = _SPOKEN.sub(lambda match: match[1] + str(_COUNTS.index(match[2].lower()) + 1), text)
    text = _EASTERN.sub(_eastern, _ABC.sub(_abc, text))
    text = _OCTAVE_ORDINAL.sub(lambda match: str(_ORDINALS.index(match[1].lower()) + 1), text)
    text = rewritten(text, "spelling")
    text = _CHINESE_SIGN.sub(lambda match: (match[2] or match[3]) + _SIGNS[match[1] or match[4]], text)
    text = _GERMAN_NAME.sub(_german, text)
    text = _SOLFEGE_NAME.sub(_solfege, _SOLFEGE_NAME.sub(_solfege, text))
    text = _SIGN_WORD.sub(lambda match: match[1] + _SIGNS[re.sub("[ -]", "", match[2].lower())], text)
    text = _HELMHOLTZ.sub(lambda match: f"{match[1].upper()}{match[2] or match[4] or ''}{3 + len(match[3])}", text)
    return _OCTAVE_WORDS.sub(r"\1\2", text)


def read_pitches(text: str) -> Extraction:
    """Letter, shift and octave or None of each pitch."""
    text = _RELATIVE.sub(" ", spelled(text))
    matches = re.finditer(r"(?i)\bmiddle[ -]c(?![a-z0-9])", text)
    spans: list[Span] = [(match.start(), match.end(), ("C", 0, 4)) for match in matches]
    middle_c = {position for start, end, _ in spans for position in range(start, end)}
    for match in _PITCH.finditer(text):
        is_bare = match["sign"] is None and match["octave"] is None
        # A letter on its own may be an article.
        is_article = is_bare and (match["letter"].islower() or not STANDS_ALONE.match(text, match.end()))
        if match.start() in middle_c or (is_article and match[0] != text):
            continue
        octave = int(match["octave"][-1]) if match["octave"] else None
        pitch = (match["letter"].upper(), SHIFTS[match["sign"] or ""], octave)
        # "B♭3 (A♯3)" and "Bb (Bb3)" name one pitch twice.
        is_aside = text[: match.start()].rstrip().endswith(("(", "=", "or enharmonically"))
        if not (spans and is_aside and _sounding(spans[-1][2]) == _sounding(pitch)):
            spans.append((match.start(), match.end(), pitch))
    spans.sort(key=lambda span: span[:2])
    # "Bb, namely Bb3": the name without an octave adds nothing.
    without_octave = {(*value[:2], None) for *_, value in spans if value[2] is not None}
    return extraction(text, [span for span in spans if span[2] not in without_octave])


def _sounding(pitch: tuple[str, int, int | None]) -> tuple[int | None, int]:
    """The octave, and semitones above its C: equal for enharmonic pitches."""
    letter, shift, octave = pitch
    return octave, {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}[letter] + shift


_KEY: Final = re.compile(
    r"(?<![A-Za-z0-9#])(?P<letter>[A-Ga-g])(?P<sign>##|#|bb|b|x)?(?:[ -]{0,3}"
    r"(?P<mode>major|minor|dorian|phrygian|lydian|mixolydian|locrian)\b| ?(?P<short>m)(?![A-Za-z0-9])"
    r"|(?P<short_major>M)(?![A-Za-z0-9]))"
    r"(?P<general> {1,2}(?:key|mode|scale)\b)?"
)
_KEY_ALONE: Final = re.compile(
    r"(?i)(?:(?:it is |it's )?(?:in )?(?:the )?(?:key (?:of|is|:)? ?)?|K: ?)?(?P<letter>[A-Ga-g])(?P<sign>##|#|bb|b"
    r"|x)?[.! ]*"
)


def read_keys(text: str) -> Extraction:
    """Tonic (letter and shift) and mode of each key."""
    text = translated(rewritten(spelled(text), "keys"), "mode")
    text = re.sub(r"\b(Major|Minor|MAJOR|MINOR)\b", lambda match: match[0].lower(), text)

    def key(match: re.Match[str]) -> Hashable:
        is_article = match["letter"] in "aA" and match["sign"] is None and match["general"]
        mode = "minor" if match["short"] else "major" if match["short_major"] else match["mode"]
        return None if is_article else (match["letter"].upper(), SHIFTS[match["sign"] or ""], mode)

    keys = extract(text, _KEY, key)
    if not keys.values and (match := _KEY_ALONE.fullmatch(text)):
        mode = "major" if match["letter"].isupper() else "minor"
        sign = (match["sign"] or "").lower()
        return extraction(text, [(0, len(text), (match["letter"].upper(), SHIFTS[sign], mode))])
    return keys
