"""Reading metres, clefs, numbers, measures and durations.

4/4 is common time, 2/2 cut time. Treble is the clef G2, bass F4, alto C3, tenor C4. Measures are 1-based. A
duration is a value in whole notes with dots, in a triplet or not, of a note or a rest."""

import re
from collections.abc import Hashable
from fractions import Fraction
from typing import Final

from music_evals.scorers.readers.pitches import STANDS_ALONE
from music_evals.scorers.readers.words import TERMS, Found, Values, found, is_pure, matched, rewritten, translated

LONGEST_RANGE: Final = 5_000
"""Measures that a range may hold."""

_METRE: Final = re.compile(
    r"(?<![\d/.])(?P<top>\d{1,2}) ?(?:/|:|-| over | by | por | su | sur )? ?(?P<bottom>1|2|4|8|16|32)(?![\d/])(?:th|º"
    r"|°)?"
    r"|\\frac ?\{(?P<t>\d{1,2})\} ?\{?(?P<b>\d{1,2})\}?"
    r"|(?P<common>\bcommon time\b|\bc ?time\b|𝄴)|(?P<cut>\bcut(?:[ -](?:common|time))+\b|\balla ?breve(?:-takt)?\b|𝄵"
    r"|¢|(?<![A-Za-z])C\|)",
    re.IGNORECASE,
)
_METRE_WORDS: Final = [
    (
        re.compile(
            rf"(?<![a-z])(?:{counted}|{count}) ?-?(?:por |-?per |over )?-?(?:{unit})(?![a-z])(?! notes?)(?:["
            rf" -]?takt\w*)?",
            re.IGNORECASE,
        ),
        f" {count}/{bottom} ",
    )
    for count, counted in TERMS["counts"].items()
    for bottom, unit in TERMS["units"].items()
]


def read_metres(text: str) -> Found:
    """Upper and lower number of each time signature."""
    if re.sub("^M: ?", "", text).strip(" .").upper() == "C":
        return Found(((4, 4),), text, ((0, len(text)),))
    text = rewritten(text, "metres")
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

    return found(text, matched(_METRE.finditer(text), value))


def _chinese_metre(match: re.Match[str]) -> str:
    first, second = int(match[1]), int(match[2])
    # The lower number comes first; some say it last.
    first_is_lower = first in (2, 4, 8) and (second not in (2, 4, 8) or first > second or first == second)
    return f"{second}/{first}拍" if first_is_lower or (first, second) == (8, 6) else f"{first}/{second}拍"


_CLEF: Final = re.compile(
    r"(?P<name>octave treble|treble|bass|alto|tenor|mezzo-soprano|soprano|baritone|percussion) clef(?P<noun>(?:["
    r" -]clefs?)?)",
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
        r"\b(?:bass|treble|alto|tenor|soprano|baritone|viola|violin) (?:parts?|lines?|voices?|staff|stave|hand|melody"
        r"|notes?)\b",
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
    return found(marked, matched(matches, lambda match: _CLEFS[match["name"].lower()]))


_NUMBER: Final = re.compile(
    r"(?P<where>\b(?:measures?|bars?|mm?\.?) ?)?(?<![A-Za-z0-9_./,])(?P<digits>-?\d{1,9}(?:\.\d{1,6}|/\d{1,6})?)"
    r"(?![\d/]|st\b|nd\b|rd\b|th\b|º|ª)",
    re.IGNORECASE,
)
_ROMAN_ALONE: Final = {"I": 1, "II": 2, "III": 3, "IV": 4, "V": 5, "VI": 6, "VII": 7, "VIII": 8, "IX": 9, "X": 10}


def read_numbers(text: str) -> Found:
    """Each number, as a fraction; none that counts measures."""
    if alone := _ROMAN_ALONE.get(text.strip(" .")):
        return Found((Fraction(alone),), text, ((0, len(text)),))
    text = re.sub(r"M\.?M\.? ?=?|\d{1,2}/\d{1,2} ?=|[QqCc]: ?|\b1/\d{1,2}\b(?= note)", " ", text)
    text = re.sub(r"\d[\d +x-]{1,30}= ?(?=\d)", " ", text)

    def number(match: re.Match[str]) -> Hashable:
        if match["where"]:
            return None
        top, _, bottom = match["digits"].partition("/")
        return None if bottom and int(bottom) == 0 else Fraction(top) / int(bottom or 1)

    return found(text, matched(_NUMBER.finditer(text), number))


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


def read_measures(text: str) -> Found:
    """Sets of measure numbers, or ``("from", 9)`` for what starts at measure 9."""
    text = rewritten(text, "measures")
    spans: Values = []
    whole = _BARE_MEASURES.fullmatch(text)
    for match in [whole] if whole else _MEASURES.finditer(text):
        numbers = _span(match["list"], between=not whole and match["between"] is not None)
        if numbers is not None:
            start = not whole and (match["open"] or match["onwards"]) is not None and len(numbers) == 1
            spans.append((match.start(), match.end(), ("from", min(numbers)) if start else numbers))
    closed = [value for *_, value in spans if isinstance(value, frozenset)]
    reading = found(text, spans)
    # "Measure 3, measure 4" is one set, in two pieces.
    if len(closed) == len(spans) > 1 and is_pure(reading):
        union: Hashable = frozenset().union(*closed)
        return reading._replace(values=(union,), spans=((spans[0][0], spans[-1][1]),))
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


_NOTE_VALUES: Final = {
    "longa": "4", "double whole": "2", "whole": "1", "half": "1/2", "quarter": "1/4", "eighth": "1/8",
    "sixteenth": "1/16", "thirty-second": "1/32", "sixty-fourth": "1/64",
}  # fmt: skip
_DURATION: Final = re.compile(
    rf"(?P<dots>(?<![a-z])(?:double[ -]|triple[ -])?dotted[ -])?(?<![A-Za-z0-9])(?<!undotted"
    rf" )(?P<name>{'|'.join(sorted(_NOTE_VALUES, key=len, reverse=True))})s?"
    r"(?:[ -](?P<noun>note|rest)s?)?(?P<triplet>[ -]triplets?)?(?![A-Za-z0-9])(?![ -](?:notes?|rests?|measures?|bars?"
    r"|piece|tones?|steps?|movement|section|passage|of an?)\b)",
    re.IGNORECASE,
)


def read_durations(text: str) -> Found:
    """Value in whole notes, number of dots, whether in a triplet, and ``note``, ``rest`` or None."""
    # British names are values alone: "quaver rest" is an eighth rest, "quaver" may be either.
    marked = rewritten(translated(rewritten(text, "durations"), "duration"), "durations")
    said_note = re.search(r"\bnotes?\b|音符|note\b", text, re.IGNORECASE) is not None
    values: list[tuple[int, int, tuple[Hashable, ...]]] = []
    for match in _DURATION.finditer(marked):
        name = match["name"].lower()
        if name == "half" and not match["noun"] and not match["dots"] and not STANDS_ALONE.match(marked, match.end()):
            continue
        dots = (match["dots"] or "").lower()
        count = 0 if not dots else 2 if dots.startswith("double") else 3 if dots.startswith("triple") else 1
        noun = match["noun"] if match["noun"] != "note" or said_note else None
        values.append(
            (match.start(), match.end(), (Fraction(_NOTE_VALUES[name]), count, match["triplet"] is not None, noun))
        )
    nouns = {value[3] for *_, value in values if value[3]}
    noun = nouns.pop() if len(nouns) == 1 else None
    return found(marked, [(start, end, (*value[:3], value[3] or noun)) for start, end, value in values])
