r"""Reading musical values from text: pitches, keys, metres, clefs, chords, numerals, durations, measures and numbers.

A value is read whatever its spelling: in English (British and American), Chinese, German, French, Italian and Spanish,
in symbols or words. `terms.toml` holds the words; they become one English name, which the pattern of a type then finds.

Conventions. Pitches are a letter, a shift in semitones and an octave (C4 is middle C; ``c'`` is C4 as well) or None. A
key is a tonic and a mode; a single capital letter is a major key, a small one a minor key, Aeolian is minor. 4/4 is common
time, 2/2 cut time. Treble is the clef G2, bass F4, alto C3, tenor C4. Measures are 1-based. A chord is a root, a quality
by music21's names, and an inversion (0 to 3) or None; it may be spelled (D-F#-A-C) or told by its degree in a key.
Numerals are degrees with figures, of which 6/5 is 65. A perfect cadence is an authentic one, an imperfect one a half one.
"""

import re
import tomllib
import unicodedata
from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from text_to_num import alpha2digit

from music_evals.scorers.readers.refusals import unaccented

MAX_ANSWER: Final = 4_000
"""Characters of an answer that are read."""
LONGEST_RANGE: Final = 5_000
"""Measures that a range may hold."""

Values = list[tuple[int, int, Hashable]]
"""Values with the places where they begin and end."""


class Found(NamedTuple):
    """The values of a text in their order, the text that they were read in, and where in it each stands."""

    values: tuple[Hashable, ...]
    text: str
    spans: tuple[tuple[int, int], ...]

    @property
    def rest(self) -> str:
        """The text without the values."""
        starts, ends = [start for start, _ in self.spans], [0, *(end for _, end in self.spans)]
        return " ".join(self.text[end:start] for end, start in zip(ends, [*starts, len(self.text)], strict=True))


TERMS: Final[dict[str, dict[str, list[str]]]] = tomllib.loads(
    files("music_evals.scorers.readers").joinpath("terms.toml").read_text(encoding="utf-8")
)
_SIGNS: Final = str.maketrans(
    {
        **dict.fromkeys("–—−‐‑‒―", "-"),
        **dict.fromkeys("′", "'"),
        **dict.fromkeys('“”„«»$`"', " "),
        **{"♯": "#", "♭": "b", "𝄪": "##", "𝄫": "bb", "♮": "", "°": "o", "⁄": "/", "″": "''"},
        **dict.fromkeys("，、", ","),
        **{"。": ".", "；": ";", "：": ":", "（": "(", "）": ")"},
    }
)
_LATEX: Final = (
    (re.compile(r"\\sharp(?![a-z])"), "#"),
    (re.compile(r"\\flat(?![a-z])"), "b"),
    (re.compile(r"\\natural(?![a-z])"), ""),
    (re.compile(r"\^\{?\\circ\}?|\\circ(?![a-z])"), "o"),
    (re.compile(r"\\(?:boxed|text(?:bf|rm|it)?|mathrm|mathbf|[()\[\],;])\s?\{?|(?<!\d)\}"), " "),
    (re.compile(r"\^\{?(\d)\}?_\{?(\d)\}?"), r"\1/\2"),
    (re.compile(r"[\^_]\{?(#|b|o|\d{1,2})\}?"), r"\1"),
    (re.compile(r"(?<=[A-G]) (?=[#b](?![a-z]))"), ""),
)
_QUESTION: Final = re.compile(r"(?:^|(?<=[.;!\n]))[^.;!?\n]{0,300}\?(?=.)", re.DOTALL)


def folded(text: str, *, numbers: bool = False) -> str:
    """The text with plain signs, without accents, emphasis and questions; with `numbers` in digits where in words."""
    plain = re.sub("(?<=[a-hs])[¹²³]", lambda match: "'" * ("¹²³".index(match[0]) + 1), text[:MAX_ANSWER])
    plain = unicodedata.normalize("NFKC", plain.replace("°", "o").replace("º", "o"))
    plain = unaccented(in_digits(plain) if numbers else plain).translate(_SIGNS)
    plain = re.sub("[Δ△]7?", "maj7", plain)
    for pattern, replacement in _LATEX:
        plain = pattern.sub(replacement, plain)
    return re.sub(r"[ \t]+", " ", _QUESTION.sub(" ", plain[: 2 * MAX_ANSWER]).replace("*", " ")).strip()


@cache
def _translation(table: str) -> tuple[re.Pattern[str], tuple[str, ...]]:
    words = [(re.escape(name.strip()), name) for name in TERMS[table]]
    words += [(word, name) for name, some in TERMS[table].items() for word in some]
    # The longest first, optional parts aside: "dominant seventh" before "dominant(?: chord)?".
    words.sort(key=lambda one: len(re.sub(r"\(\?[:=!].*?\)\??|\\?.\?|\\w\*", "", one[0])), reverse=True)
    parts = [f"({word})" if _is_cjk(word) else rf"((?<![A-Za-z])(?:{word})(?![A-Za-z]))" for word, _ in words]
    names = tuple(f" {name} " if _is_cjk(word) else name for word, name in words)
    return re.compile("|".join(parts), re.IGNORECASE), names


def _is_cjk(text: str) -> bool:
    return re.search("[\u3040-\u9fff]", text) is not None


def translated(text: str, table: str) -> str:
    """The text with the words of a table of `terms.toml` in the English that the table gives."""
    pattern, names = _translation(table)
    english = pattern.sub(lambda match: names[(match.lastindex or 1) - 1], text)
    return re.sub(r" (?=[,.;:)])", "", re.sub(r" {2,}", " ", english)).strip()


def find_terms(text: str, table: str) -> Found:
    """The terms of a table that a text names."""
    pattern, names = _translation(table)
    return _found(text, _values(pattern.finditer(text), lambda match: names[(match.lastindex or 1) - 1].strip()))


_NOT_TERMS: Final = ("duration", "mode", "clef", "cadence", "numeral", "absence", "yes", "no")


def term_tables(text: str) -> list[str]:
    """The tables of closed terms of which a text is one: an inversion, a texture, a dynamic, …"""
    plain = re.sub(r"^with |[ .;]+$", "", text, flags=re.IGNORECASE)
    return [
        table
        for table in TERMS
        if table not in _NOT_TERMS and any(end - start == len(plain) for start, end in find_terms(plain, table).spans)
    ]


# --- numbers in words ---

_CHINESE: Final = re.compile("[零〇一二两三四五六七八九十百]{1,9}")
_DIGITS: Final = {**{sign: place for place, sign in enumerate("零一二三四五六七八九")}, "〇": 0, "两": 2}


def _chinese_number(text: str) -> str:
    if not set(text) & {"十", "百"}:
        return "".join(str(_DIGITS[sign]) for sign in text)
    total = digit = 0
    for sign in text:
        if sign in _DIGITS:
            digit = _DIGITS[sign]
        else:
            total += (digit or 1) * (10 if sign == "十" else 100)
            digit = 0
    return str(total + digit)


_TIMES: Final = {
    "once": "1", "twice": "2", "thrice": "3", "einmal": "1", "zweimal": "2", "dreimal": "3", "a dozen": "12", "a pair": "2",
}  # fmt: skip
_TIMES_WORD: Final = re.compile(rf"\b(?:{'|'.join(_TIMES)})\b", re.IGNORECASE)


def in_digits(text: str) -> str:
    """The text with its numbers in digits, as far as they are words of one of the languages."""
    text = _TIMES_WORD.sub(lambda match: _TIMES[match[0].lower()], text)
    text = _CHINESE.sub(lambda match: _chinese_number(match[0]), text)
    text = re.sub(r"(?<=[a-z])-(?=[a-z])", " ", text)
    for language in ("en", "de", "fr", "es", "it"):
        if re.search(r"\d", text):
            break
        # Italian has "none" for ninths.
        text = (
            text
            if language == "it" and re.search(r"\bnone\b", text, re.IGNORECASE)
            else alpha2digit(text, language, 0.0)
        )
    return str(text)


# --- pitches ---

_SHIFTS: Final = {"": 0, "#": 1, "b": -1, "##": 2, "x": 2, "bb": -2}
_SOLFEGE: Final = {"do": "C", "ut": "C", "re": "D", "mi": "E", "fa": "F", "sol": "G", "la": "A", "si": "B"}
_MODE_WORD: Final = r"(?:majeur|mineur|mayor|menor|maggiore|minore|major|minor)"
_SOLFEGE_NAME: Final = re.compile(
    r"(?<![A-Za-z])(do|ut|re|mi|fa|sol|la|si)(?:[ -]?(dieses?|diesis|sostenido|bemol(?:le)?|bequadro|becarre|natural|sharp|flat|#|b))?"
    rf"(?P<next>[ -]?\d|[ -]{_MODE_WORD}|\W*$|[,;/-] ?(?:do|re|mi|fa|sol|la|si)\b)?(?![A-Za-z])",
    re.IGNORECASE,
)
_GERMAN_END: Final = r"[ -]?(?:dur|moll|(?:halb)?vermindert|uberm)|-?\d|'|\W*$|[,;]"
_GERMAN_NAME: Final = re.compile(
    rf"(?<![A-Za-z])([a-g])(isis|eses|is|es)(?={_GERMAN_END}|-?\d|[ -]?(?:major|minor))|(?<![A-Za-z])(e|a)(s)(?={_GERMAN_END})"
    rf"|(?<![A-Za-z])(h)(is|)(?={_GERMAN_END})|(?<![A-Za-z])(b)(es|)(?=[ -]?(?:dur|moll)|(?<=es)-?\d)|(?<=auf )(B)()(?![a-z])",
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
    r"(?<![A-Za-z])([A-Ga-g](?:##|#|bb|b|x)?),? ?(?:\(|(?:in |of )?(?:the )?octave |(?:in |of )(?:the )?)(\d)(?:st|nd|rd|th)?(?: octave|\)|(?= ?$))"
)
_HELMHOLTZ: Final = re.compile(r"(?<![A-Za-z'])([A-Ga-g])(##|#|bb|b)?('{1,5})(##|#|bb|b)?(?![A-Za-z'])")
_PITCH: Final = re.compile(
    r"(?<![A-Za-z0-9#'])(?P<letter>[A-Ga-g])(?P<sign>##|#|bb|b|x)?(?P<octave>[ -]?-?\d(?!\d))?(?![A-Za-z0-9#'])"
)
_MIDDLE_C: Final = re.compile(r"\bmiddle[ -]c(?![a-z0-9])", re.IGNORECASE)
_STANDS_ALONE: Final = re.compile(r"\s{0,3}(?:$|[,;.:)\n/]|and\b|or\b|then\b|et\b|und\b|y\b|e\b|和)")
_RELATIVE: Final = re.compile(
    r"\b(?:above|below|over|under|than|from) (?:the )?(?:middle c\b|[A-G](?:#|b)?\d?\b(?:(?:,| and| or) [A-G](?:#|b)?\d\b)*+)",
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
    text = re.sub(r"(?<![A-Za-z0-9#])(##|#|bb|b) ?([A-Ga-g])(?![a-z]{2})(?=[^b#]|$)", r"\2\1", text)
    text = re.sub(r"(?<![A-Za-z])([A-G])(\d)(#|b)(?![A-Za-z0-9])", r"\1\3\2", text)
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
    found: Values = [(match.start(), match.end(), ("C", 0, 4)) for match in _MIDDLE_C.finditer(text)]
    within = {position for start, end, _ in found for position in range(start, end)}
    for match in _PITCH.finditer(text):
        bare = match["sign"] is None and match["octave"] is None
        # A letter on its own may be an article.
        if match.start() in within or (
            bare and (match["letter"].islower() or not _STANDS_ALONE.match(text, match.end())) and match[0] != text
        ):
            continue
        octave = int(match["octave"][-1]) if match["octave"] else None
        pitch = (match["letter"].upper(), _SHIFTS[match["sign"] or ""], octave)
        # "B♭3 (A♯3)" and "Bb (Bb3)" name one pitch twice.
        if (
            found
            and text[: match.start()].rstrip().endswith(("(", "=", "or enharmonically"))
            and _sounds_alike(found[-1][2], pitch)
        ):
            continue
        found.append((match.start(), match.end(), pitch))
    found.sort(key=lambda one: one[:2])
    with_octave = {value[:2] for *_, value in found if isinstance(value, tuple) and value[2] is not None}
    kept = [one for one in found if not (isinstance(one[2], tuple) and one[2][2] is None and one[2][:2] in with_octave)]
    return _found(text, kept)


def _sounds_alike(first: Hashable, second: Hashable) -> bool:
    if not (isinstance(first, tuple) and isinstance(second, tuple)):
        return False
    keys = [12 * (octave or 0) + {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}[letter] + shift
            for letter, shift, octave in (first, second)]  # fmt: skip
    return first[2] == second[2] and keys[0] == keys[1]


# --- keys, metres and clefs ---

_KEY: Final = re.compile(
    r"(?<![A-Za-z0-9#])(?P<letter>[A-Ga-g])(?P<sign>##|#|bb|b|x)?(?:[ -]{0,3}"
    r"(?P<mode>major|minor|dorian|phrygian|lydian|mixolydian|locrian)\b|(?P<short>[mM])(?![A-Za-z0-9]))"
    r"(?P<general> {1,2}(?:key|mode|scale)\b)?"
)
_KEY_ALONE: Final = re.compile(
    r"(?:(?:it is |it's )?(?:in )?(?:the )?(?:key (?:of|is|:)? ?)?|K: ?)?(?P<letter>[A-Ga-g])(?P<sign>##|#|bb|b|x)?[.! ]*",
    re.IGNORECASE,
)


def read_keys(text: str) -> Found:
    """Tonic (letter and shift) and mode of each key."""
    text = re.sub(
        r"(\b[A-Ga-g][#b]?)(?:maj|M)(?![a-zA-Z])",
        r"\1 major",
        re.sub(r"(\b[A-Ga-g][#b]?)min\b", r"\1 minor", spelled(text)),
    )
    text = re.sub(r" {2,}", " ", translated(text, "mode"))
    text = re.sub(r"\b(Major|Minor|MAJOR|MINOR)\b", lambda match: match[0].lower(), text)

    def key(match: re.Match[str]) -> Hashable:
        article = match["letter"] in "aA" and match["sign"] is None and match["general"]
        mode = "minor" if match["short"] == "m" else "major" if match["short"] else match["mode"]
        return None if article else (match["letter"].upper(), _SHIFTS[match["sign"] or ""], mode)

    values = _values(_KEY.finditer(text), key)
    if not values and (match := _KEY_ALONE.fullmatch(text)):
        mode = "major" if match["letter"].isupper() else "minor"
        values = [(0, len(text), (match["letter"].upper(), _SHIFTS[match["sign"] or ""], mode))]
    return _found(text, values)


_METRE: Final = re.compile(
    r"(?<![\d/.])(?P<top>\d{1,2}) ?(?:/|:|-| over | by | por | su | sur )? ?(?P<bottom>1|2|4|8|16|32)(?![\d/])(?:th|º|°)?"
    r"|\\frac ?\{(?P<t>\d{1,2})\} ?\{?(?P<b>\d{1,2})\}?"
    r"|(?P<common>\bcommon time\b|\bc ?time\b|𝄴)|(?P<cut>\bcut(?:[ -](?:common|time))+\b|\balla ?breve(?:-takt)?\b|𝄵|¢|(?<![A-Za-z])C\|)",
    re.IGNORECASE,
)
_UNITS: Final = {
    "4": r"quarters?|quarti|viertel\w*|cuartos|quarts|quatre|four|vierteltakt|fourths?|cuatro|crotchets?",
    "8": r"eighths?|ottavi|achtel\w*|octavos|huitiemes|huit|eight|ocho|quavers?",
    "2": r"halves|half|mezzi|halbe\w*|medios|two|dos|zweitel",
    "16": r"sixteenths?|sixteen|sechzehntel\w*|sedicesimi|dieciseisavos",
}
_COUNTS: Final = {
    "2": r"two|zwei|deux|due|dos", "3": r"three|drei|trois|tre|tres", "4": r"four|vier|quatre|quattro|cuatro",
    "5": r"five|funf|cinq|cinque|cinco", "6": r"six|sechs|sei|seis", "7": r"seven|sieben|sept|sette|siete",
    "9": r"nine|neun|neuf|nove|nueve", "12": r"twelve|zwolf|douze|dodici|doce",
}  # fmt: skip
_METRE_WORDS: Final = [
    (
        re.compile(
            rf"(?<![a-z])(?:{top}|{count}) ?-?(?:por |-?per |over )?-?(?:{bottom_words})(?![a-z])(?! notes?)(?:[ -]?takt\w*)?",
            re.IGNORECASE,
        ),
        f" {count}/{bottom} ",
    )
    for count, top in _COUNTS.items()
    for bottom, bottom_words in _UNITS.items()
]


def read_metres(text: str) -> Found:
    """Upper and lower number of each time signature."""
    if re.sub("^M: ?", "", text).strip(" .").upper() == "C":
        return Found(((4, 4),), text, ((0, len(text)),))
    text = re.sub(
        r"\b\d{1,4} ?(?:bpm|measures|bars)\b|\b(?:measures?|bars?|mm?\.?) ?\d{1,4}(?: ?- ?\d{1,4})?",
        " ",
        text,
        flags=re.IGNORECASE,
    )
    text = re.sub(r"\b(\d{1,2}) ([248])o\b", r"\1/\2", text)  # tre quarti
    text = re.sub(
        r"([248]|16)分之(\d{1,2})",
        r"\2/\1",
        text,
    )
    text = re.sub(r"(?<![\d/])(\d{1,2}?)(\d)拍", _chinese_metre, text)
    for pattern, metre in _METRE_WORDS:
        text = pattern.sub(metre, text)

    def value(match: re.Match[str]) -> Hashable:
        if match["common"] or match["cut"]:
            return (4, 4) if match["common"] else (2, 2)
        top, bottom = int(match["top"] or match["t"]), int(match["bottom"] or match["b"])
        # "3 4" says a metre only on its own.
        if match["top"] and re.fullmatch(r"\d+ ?\d+", match[0]) and len(text) > len(match[0]) + 6:
            return None
        return (top, bottom) if match["t"] or not re.fullmatch(r"\d+", match[0]) else None

    return _found(text, _values(_METRE.finditer(text), value))


def _chinese_metre(match: re.Match[str]) -> str:
    first, second = int(match[1]), int(match[2])
    # The lower number comes first; some say it last.
    first_is_lower = first in (2, 4, 8) and (second not in (2, 4, 8) or first > second or first == second)
    return f"{second}/{first}拍" if first_is_lower or (first, second) == (8, 6) else f"{first}/{second}拍"


_CLEF: Final = re.compile(
    r"(?P<name>octave treble|treble|bass|alto|tenor|mezzo-soprano|soprano|baritone|percussion) clef(?P<noun>(?:[ -]clefs?)?)",
    re.IGNORECASE,
)
_CLEFS: Final = {
    "treble": "G2", "bass": "F4", "alto": "C3", "tenor": "C4", "soprano": "C1", "mezzo-soprano": "C2", "baritone": "F3",
    "percussion": "percussion", "octave treble": "G2-8",
}  # fmt: skip


def read_clefs(text: str) -> Found:
    """Sign and line of each clef."""
    # "The bass part has a treble clef" names one clef.
    text = re.sub(
        r"\b(?:bass|treble|alto|tenor|soprano|baritone|viola|violin) (?:parts?|lines?|voices?|staff|stave|hand|melody|notes?)\b",
        " ", text, flags=re.IGNORECASE,
    )  # fmt: skip
    said = re.sub(r"\b(clef|schlussel)s?\b", r"\1", text, flags=re.IGNORECASE)
    marked = re.sub(
        r"(?<=[a-z]) clef\b",
        " clef clef",
        translated(re.sub(r"([a-z]) ?clef\b", r"\1 clef", said, flags=re.IGNORECASE), "clef"),
    )
    marked = re.sub(r"(?:clef ){2,}clef", "clef clef", marked)
    matches = list(_CLEF.finditer(marked))
    return _found(marked, _values(matches, lambda match: _CLEFS[match["name"].lower()]))


# --- numbers and measures ---

_NUMBER: Final = re.compile(
    r"(?P<where>\b(?:measures?|bars?|mm?\.?) ?)?(?<![A-Za-z0-9_./,])(?P<digits>-?\d{1,9}(?:\.\d{1,6}|/\d{1,6})?)"
    r"(?![\d/]|st\b|nd\b|rd\b|th\b|º|ª)",
    re.IGNORECASE,
)
_ROMAN_ALONE: Final = {"I": 1, "II": 2, "III": 3, "IV": 4, "V": 5, "VI": 6, "VII": 7, "VIII": 8, "IX": 9, "X": 10}


def read_numbers(text: str) -> Found:
    """Each number, as a fraction; none that counts measures."""
    if number := _ROMAN_ALONE.get(text.strip(" .")):
        return Found((Fraction(number),), text, ((0, len(text)),))
    text = re.sub(r"M\.?M\.? ?=?|\d{1,2}/\d{1,2} ?=|[QqCc]: ?|\b1/\d{1,2}\b(?= note)", " ", text)
    text = re.sub(r"\d[\d +x-]{1,30}= ?(?=\d)", " ", text)

    def number(match: re.Match[str]) -> Hashable:
        if match["where"]:
            return None
        top, _, bottom = match["digits"].partition("/")
        return None if bottom and int(bottom) == 0 else Fraction(top) / int(bottom or 1)

    return _found(text, _values(_NUMBER.finditer(text), number))


_BAR: Final = r"(?:(?:measure?e?s?|bars?|mm?\.?|b\.)[ ]?(?:(?:number|no\.?|#)[ ]?)?)"
_SPAN: Final = rf"\d{{1,5}}(?: ?(?:-|to|through|,|;|&|, ?and|and|until) ?{_BAR}?\d{{1,5}})*+"
_MEASURES: Final = re.compile(
    rf"(?P<open>\b(?:starting|starts|begins|beginning|from|onwards? from|ab|a partir d[e']|depuis|desde|da)"
    rf" ?(?:at|in|from|with|dem|el|la|l[ae'])? ?)?(?P<between>\bbetween )?"
    rf"(?<![a-z]){_BAR}(?P<list>{_SPAN})(?![\d/])(?P<onwards> (?:onwards?|on)\b)?",
    re.IGNORECASE,
)
_BARE_MEASURES: Final = re.compile(rf"(?:in|at|on|the)? ?(?P<list>{_SPAN})\.?", re.IGNORECASE)
_SPAN_PART: Final = re.compile(
    rf"(?P<sign>-|to|through|until|,|;|&|and)?[ ]?{_BAR}?(?P<number>\d{{1,5}})", re.IGNORECASE
)
_MEASURE_WORD: Final = (
    (
        re.compile(r"\b(?:the |die |les |los )?(?:first|1st|ersten|premieres|primeros) (\d{1,3}|beiden) (?:measures|bars|takte|mesures)", re.IGNORECASE),
        lambda match: "measures 1-" + match[1].replace("beiden", "2"),
    ),
    (re.compile(r"\bT\. ?(?=\d)"), "measure "),
    (re.compile(r"(?<=\d) ?~ ?(?=\d)"), "-"),
    (re.compile(r"第? ?(\d{1,5}) ?(?:-|至|到|~) ?第? ?(\d{1,5}) ?小节"), r"measures \1-\2"),
    (re.compile(r"第? ?((?:\d{1,5} ?(?:和|、|,|与) ?(?:第 ?)?){1,30}\d{1,5}) ?小节"), lambda match: "measures " + re.sub(r"\D+", ", ", match[1])),
    (re.compile(r"第? ?(\d{1,5}) ?小节"), r"measure \1"),
    (re.compile(r"\b(\d{1,5})(?:st|nd|rd|th|\.|º|ª|e|er|eme|re)? (?=(?:measure|bar|takt|mesure|battuta|compas|misura)\b)(?:\w+)", re.IGNORECASE), r"measure \1"),
    (re.compile(r"\b(?:takte?n?|mesures?|battut[ae]|misur[ae]|compas(?:es)?) (?:numero |n\.? ?o?\.? ?|nr\.? )?(?=\d)", re.IGNORECASE), "measure "),
    (re.compile(r"(?<=\d) ?(?:bis|a|al|hasta(?: el)?|jusqu'a) (?=(?:la |el )?(?:measure )?\d)", re.IGNORECASE), " to "),
    (re.compile(r"(?<=\d) ?(?:und|et|y|e|和) (?=\d)", re.IGNORECASE), " and "),
)  # fmt: skip
_LAST_WORD: Final = re.compile(r"\b(?:measures?|bars?) (?=\d)", re.IGNORECASE)


def read_measures(text: str) -> Found:
    """Sets of measure numbers, or ``("from", 9)`` for what starts at measure 9."""
    for pattern, words in _MEASURE_WORD:
        text = pattern.sub(words, text)
    found: Values = []
    whole = _BARE_MEASURES.fullmatch(text)
    for match in [whole] if whole else _MEASURES.finditer(text):
        numbers = _span(match["list"], between=not whole and match["between"] is not None)
        if numbers is not None:
            start = not whole and (match["open"] or match["onwards"]) is not None and len(numbers) == 1
            found.append((match.start(), match.end(), ("from", min(numbers)) if start else numbers))
    closed = [value for *_, value in found if isinstance(value, frozenset)]
    reading = _found(text, found)
    # "Measure 3, measure 4" is one set, in two pieces.
    if len(closed) == len(found) > 1 and is_pure(reading):
        union: Hashable = frozenset().union(*closed)
        return reading._replace(values=(union,), spans=((found[0][0], found[-1][1]),))
    return reading


def _span(text: str, between: bool) -> frozenset[int] | None:
    numbers: set[int] = set()
    last: int | None = None
    for match in _SPAN_PART.finditer(text):
        number, sign = int(match["number"]), (match["sign"] or "").lower()
        if last is not None and (sign in ("-", "to", "through", "until") or (between and sign == "and")):
            if not last <= number <= last + LONGEST_RANGE:
                return None
            numbers.update(range(last, number + 1))
        numbers.add(number)
        last = number
    return frozenset(numbers) or None


# --- durations ---

_NOTE_VALUES: Final = {
    "longa": "4", "double whole": "2", "whole": "1", "half": "1/2", "quarter": "1/4", "eighth": "1/8", "sixteenth": "1/16",
    "thirty-second": "1/32", "sixty-fourth": "1/64",
}  # fmt: skip
_DURATION: Final = re.compile(
    rf"(?P<dots>(?<![a-z])(?:double[ -]|triple[ -])?dotted[ -])?(?<![A-Za-z0-9])(?<!undotted )(?P<name>{'|'.join(sorted(_NOTE_VALUES, key=len, reverse=True))})s?"
    r"(?:[ -](?P<noun>note|rest)s?)?(?P<triplet>[ -]triplets?)?(?![A-Za-z0-9])(?![ -](?:notes?|rests?|measures?|bars?|piece|tones?|steps?|movement|section|passage|of an?)\b)",
    re.IGNORECASE,
)
_NTH: Final = {
    "4th": "quarter",
    "8th": "eighth",
    "16th": "sixteenth",
    "32nd": "thirty-second",
    "64th": "sixty-fourth",
    "2nd": "half",
}


def read_durations(text: str) -> Found:
    """Value in whole notes, number of dots, whether in a triplet, and ``note``, ``rest`` or None."""
    text = re.sub(r"1/(2|4|8|16|32|64)(?:th|nd)?s?(?= ?(?:note|rest|$|[.,]))", r"1/\1", text)
    marked = re.sub(
        r"(pause|rest|silencio|soupir)s\b", r"\1", re.sub(r"(?<=[a-z])-(?=note|rest)", " ", text, flags=re.IGNORECASE)
    )
    # British names are values alone: "quaver rest" is an eighth rest, "quaver" may be either.
    marked = translated(marked, "duration")
    marked = re.sub(r"\b(" + "|".join(_NTH) + r")\b", lambda match: _NTH[match[0].lower()], marked, flags=re.IGNORECASE)
    marked = re.sub(r" notes?[ -](?=notes?\b|rests?\b|triplets?\b)", " ", marked, flags=re.IGNORECASE)
    marked = re.sub(
        rf"\b((?:double[ -]?)?)({'|'.join(_NOTE_VALUES)})((?: note| rest)?) (?:double-)?dotted(?: (note|rest))?\b",
        lambda match: (
            f"{'double-' if 'double-' in match[0] else match[1]}dotted {match[2]}{match[3] or ''} {match[4] or ''}"
        ),
        marked,
        flags=re.IGNORECASE,
    )
    said_note = re.search(r"\bnotes?\b|音符|note\b", text, re.IGNORECASE) is not None
    found: list[tuple[int, int, tuple[Hashable, ...]]] = []
    for match in _DURATION.finditer(marked):
        name = match["name"].lower()
        if name == "half" and not match["noun"] and not match["dots"] and not _STANDS_ALONE.match(marked, match.end()):
            continue
        dots = (match["dots"] or "").lower()
        count = 0 if not dots else 2 if dots.startswith("double") else 3 if dots.startswith("triple") else 1
        noun = match["noun"] if match["noun"] != "note" or said_note else None
        found.append(
            (match.start(), match.end(), (Fraction(_NOTE_VALUES[name]), count, match["triplet"] is not None, noun))
        )
    nouns = {value[3] for *_, value in found if value[3]}
    noun = nouns.pop() if len(nouns) == 1 else None
    return _found(marked, [(start, end, (*value[:3], value[3] or noun)) for start, end, value in found])


# --- chords, numerals and cadences ---

_SYMBOLS: Final = (
    r"(?:min7b5|m7\(b5\)|sus[24]|-7|maj7|min7|dim7|dom7|aug7|m7b5|mM7|M7|m7|ø7?|o7|7|6|maj|min|dim|aug|m|o|\+)"
)
_QUALITY_WORDS: Final = {
    "dominant seventh": "dominant-seventh", "dominant 7th": "dominant-seventh", "dominant 7": "dominant-seventh",
    "major seventh": "major-seventh", "major 7th": "major-seventh", "minor seventh": "minor-seventh", "minor 7th": "minor-seventh",
    "half-diminished seventh": "half-diminished-seventh", "half-diminished 7th": "half-diminished-seventh",
    "half-diminished": "half-diminished-seventh", "half diminished": "half-diminished-seventh",
    "half diminished seventh": "half-diminished-seventh", "fully diminished seventh": "diminished-seventh",
    "fully diminished": "diminished-seventh", "diminished seventh": "diminished-seventh", "diminished 7th": "diminished-seventh",
    "minor seventh flat five": "half-diminished-seventh", "half dim 7": "half-diminished-seventh",
    "minormajor seventh": "minor-major-seventh", "majorminor seventh": "dominant-seventh", "minor 7": "minor-seventh",
    "diminished 7": "diminished-seventh", "minor 7b5": "half-diminished-seventh", "augmented 7": "augmented-seventh",
    "major 7": "major-seventh", "dim": "diminished", "aug": "augmented", "dim7": "diminished-seventh",
    "dom7": "dominant-seventh", "maj7": "major-seventh", "7": "dominant-seventh",
    "seventh": "dominant-seventh", "7th": "dominant-seventh",
    "diminished": "diminished", "augmented": "augmented", "major": "major", "minor": "minor",
}  # fmt: skip
_WORDS_LONGEST: Final = "|".join(sorted(_QUALITY_WORDS, key=len, reverse=True))
_CHORD: Final = re.compile(
    rf"(?<![A-Za-z0-9#'])(?P<letter>[A-Ga-g])(?P<sign>##|#|bb|b)?(?:(?P<symbol>{_SYMBOLS})(?![A-Za-z0-9])|[ -]{{1,3}}(?P<words>{_WORDS_LONGEST})(?![A-Za-z0-9]))?"
    r"(?P<noun>[ -]+(?:chord|triad))?(?:/(?P<bass>[A-G](?:#|b)?))?"
    r"(?:[, -]{0,3}\(?(?:in )?(?P<inversion>first|second|third|root) (?:inversion|position))?(?![A-Za-z0-9#+]|-[a-z])"
)
_INVERSIONS: Final = {"root": 0, "first": 1, "second": 2, "third": 3}
_SPELLED: Final = re.compile(
    r"(?<![A-Za-z0-9#])[A-G](?:##|#|bb|b)?\d?(?:(?:-|, and |, | - | and | )[A-G](?:##|#|bb|b)?\d?(?![A-Za-z#])){2,5}(?![A-Za-z0-9#])"
)
_DEGREE_IN_KEY: Final = re.compile(
    r"(?<![A-Za-z])(?P<figure>[#b]?[ivIV]{1,3}(?:o|ø|\+)?(?:7|65|43|42|64|6)?)(?: chord)? (?:in|of) (?P<key>[A-Ga-g][#b]?)(?: (?P<mode>major|minor))?\b"
)


@cache
def _symbols() -> dict[str, str]:
    """Abbreviations of chord qualities, as music21 has them."""
    from music21.harmony import CHORD_TYPES

    known = {symbol: name for name, (_, symbols) in CHORD_TYPES.items() for symbol in symbols}
    half = dict.fromkeys(("ø", "min7b5", "m7(b5)"), "half-diminished-seventh")
    return {**known, **half, "-7": "minor-seventh"}


_ON: Final = re.compile(
    rf"\b(?P<quality>{_WORDS_LONGEST})(?: chord| triad)? ?(?:on|auf|sur|su|sobre|built on) (?P<root>[A-Ga-g](?:##|#|bb|b)?)(?![A-Za-z0-9])"
)
_CHORD_WORDS: Final = re.compile(
    r"\b(?:major|minor|dominant|diminished|augmented|half|fully|seventh|root|first|second|third|triad|chord|inversion)\b",
    re.IGNORECASE,
)


def read_chords(text: str) -> Found:
    """Root (letter and shift), quality by music21's name, and inversion or None."""
    text = re.sub(r"-?(?:sept(?:im)?akkord|septieme|settima|septima)", " seventh", spelled(text), flags=re.IGNORECASE)
    text = _CHORD_WORDS.sub(lambda match: match[0].lower(), re.sub(r"\(b5\)", "b5", text))
    text = re.sub(r"\b(minor-major|major-minor)\b", lambda match: match[0].replace("-", ""), text)
    text = translated(translated(text, "mode"), "inversion")
    text = re.sub(r"七和弦", " seventh", text)
    text = re.sub(r"和弦|-?akkord|-?dreiklang", " chord", text, flags=re.IGNORECASE)
    text = re.sub(r" (?=[,.;)])", "", re.sub(r" {2,}", " ", text))
    text = re.sub(r"(?<=[a-z]) (?:over|with) (?:an? )?([A-G][#b]?)(?: in the bass)?(?![a-z])", r"/\1", text)
    text = re.sub(
        r"\b((?:first|second|third) inversion|root position) of (?:an? |the )?([A-G](?:#|b)? (?:major|minor)(?: seventh)?)",
        r"\2 \1",
        text,
    )
    text = re.sub(r"\b(half)[ -](diminished)", r"\1-\2", text)
    text = _ON.sub(lambda match: f"{match['root']} {match['quality']}", text)
    if values := _values(_DEGREE_IN_KEY.finditer(text), _degree_chord):
        return _found(text, values)

    def chord(match: re.Match[str]) -> Hashable:
        bare = not any(match[name] for name in ("sign", "words", "symbol", "noun", "bass", "inversion"))
        # A small letter may be an article, "am" a verb.
        if (match["letter"].islower() and not match["words"]) or (bare and not _STANDS_ALONE.match(text, match.end())):
            return None
        quality = _QUALITY_WORDS[match["words"]] if match["words"] else _symbols()[match["symbol"] or ""]
        inversion: int | None = _INVERSIONS.get(match["inversion"] or "")
        if match["bass"]:
            steps = ("CDEFGAB".index(match["bass"][0]) - "CDEFGAB".index(match["letter"].upper())) % 7
            inversion = {0: 0, 2: 1, 4: 2, 6: 3}.get(steps, -1)
        return match["letter"].upper(), _SHIFTS[match["sign"] or ""], quality, inversion

    # "G, B♭ and D: a G minor triad" names one chord twice; its name tells more.
    unspelled = _SPELLED.sub(lambda match: "_" * len(match[0]), text)
    if values := _values(_CHORD.finditer(unspelled), chord):
        return _found(unspelled, values)
    return _found(text, _values(_SPELLED.finditer(text), _spelled_chord))


def _named(chord: object) -> Hashable:
    from music21.chord import Chord

    assert isinstance(chord, Chord)
    root, names = (
        chord.root(),
        {"major": "major", "minor": "minor", "diminished": "diminished", "augmented": "augmented"},
    )
    quality = next(
        (
            name
            for holds, name in (
                (chord.isDominantSeventh, "dominant-seventh"),
                (chord.isDiminishedSeventh, "diminished-seventh"),
                (chord.isHalfDiminishedSeventh, "half-diminished-seventh"),
                (chord.isSeventhOfType((0, 4, 7, 11)).__bool__, "major-seventh"),
                (chord.isSeventhOfType((0, 3, 7, 10)).__bool__, "minor-seventh"),
            )
            if holds()
        ),
        names.get(chord.quality) if chord.isTriad() else None,
    )
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
    rf"(?<![A-Za-z0-9'])(?:{_ROMAN})(?: ?(?:-+>?|→|>|,|,? and|to|then|resolving to|going to|followed by|\.\.\.|) ?(?:{_ROMAN}))*+"
)
_NUMERAL: Final = re.compile(_ROMAN)
_PRONOUN: Final = re.compile(
    r"\bI(?='|,? (?:think|believe|would|too|can|am|see|do|cannot|could|have|need|will|count|find|read|say|guess|was|don't|hear)\b)"
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
    text = re.sub(r"([一二三四五六七])级", lambda match: f"{_DEGREES[_DIGITS[match[1]] - 1]} ", text)
    if re.fullmatch(r"[TSD](?:[ >-]{1,3}[TSD]){1,9}", text):
        text = re.sub("[TSD]", lambda match: {"T": "I", "S": "IV", "D": "V"}[match[0]], text)
    if _ARABIC.fullmatch(text):
        text = re.sub("[1-7]", lambda match: _DEGREES[int(match[0]) - 1], text)
    text = _PRONOUN.sub("_", text)
    if not _NUMERALS.search(text):
        text = re.sub(r" {2,}", " ", translated(text, "numeral"))
    text = re.sub(r"(?<![A-Za-z])([ivIV]{1,3}7?) of (?:the )?(?=[ivIV]{1,3}\b)", r"\1/", text)
    text = re.sub(r"(?<![A-Za-z])([ivIV]{1,3})[ -]?(?:dim|diminished)\b", r"\1o", text)
    text = _INVERTED.sub(lambda match: match[1] + _FIGURES.get((match[2], match[3]), match[2]), text)
    return _found(
        text, _values(_NUMERALS.finditer(text), lambda match: tuple(map(_numeral, _NUMERAL.findall(match[0]))))
    )


def _numeral(text: str) -> str:
    degree, figures, of = re.fullmatch(r"(\D+?)(?: ?(\d[\d/]*))?((?:/\D+)?)", text).groups()  # type: ignore[union-attr]
    # The figures of one chord are the same in whatever order they stand: published answers have V34 and I46.
    digits = "".join(sorted((figures or "").replace("/", ""), reverse=True))
    digits = {"2": "42", "63": "6", "53": ""}.get(digits, digits)
    return f"{degree}{digits}{of}"


_CADENCE: Final = re.compile(
    r"\b(imperfect authentic|authentic|half|plagal|deceptive)\b(?=\W*$|[,.;:!()]| cadence| close| and\b| or\b| in\b| at\b|终止| ?\(|(?i:-cadence| schluss| kadenz| cadenz))"
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
    values = _values(_CADENCE.finditer(marked), lambda match: match[1])
    return _found(marked, values) if values else _found(text, _values(_NUMERALS.finditer(text), progression))


# --- what is left ---

_NEUTRAL: Final = frozenset(
    re.findall(
        r"\w+",
        "a an and answer are at bar bars beats bpm by chord chords clef clefs final followed from full hand in initial is it its"
        " key left lower m major measure measures meter metre minute mm music note notes number of on per pitch pitches piece"
        " quarter rest rests right signature staff staves the then there this time to triad upper with yes scale mode highest"
        " lowest shortest longest value opening starts starting begins takt tonart mesure cle voice part quality type bis und et e y"
        " der die das ein eine le la les un une il el los las est ist degree degrees progression position equals grand clave"
        " schlussel pitched tempo marking total staves beat equal exactly was written pulse",
    )
)


def is_pure(found: Found) -> bool:
    """Whether nothing stands beside the values that says anything."""
    return all(word in _NEUTRAL for word in re.findall(r"[A-Za-z]+|\d+", found.rest.lower()))


def _values(matches: Iterable[re.Match[str]], value_of: Callable[[re.Match[str]], Hashable]) -> Values:
    """The matches that have a value, with it."""
    values = ((match.start(), match.end(), value_of(match)) for match in matches)
    return [found for found in values if found[2] is not None]


def _found(text: str, values: Values) -> Found:
    return Found(tuple(value for *_, value in values), text, tuple((start, end) for start, end, _ in values))


READERS: Final[dict[str, Callable[[str], Found]]] = {
    "pitch": read_pitches,
    "pitches": read_pitches,
    "key": read_keys,
    "metre": read_metres,
    "clef": read_clefs,
    "number": read_numbers,
    "measures": read_measures,
    "duration": read_durations,
    "chord": read_chords,
    "numeral": read_numerals,
    "cadence": read_cadences,
}
"""By type of answer; each reads folded text."""
