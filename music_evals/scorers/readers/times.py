"""Reading metres, clefs, numbers, measures and durations.

4/4 is common time, 2/2 cut time. Treble is the clef G2, bass F4, alto C3, tenor C4. Measures are 1-based. A
duration is a value in whole notes with dots, in a triplet or not, of a note or a rest."""

import re
from collections.abc import Hashable
from fractions import Fraction
from typing import Final

from music_evals.scorers.readers.pitches import STANDS_ALONE
from music_evals.scorers.readers.words import PHRASES, Extraction, extract, extraction, rewritten, translated

LONGEST_RANGE: Final = 5_000  # measures

_METRE: Final = re.compile(
    r"(?i)(?<![\d/.])(?P<top>\d{1,2}) ?(?:/|:|-| over | by | por | su | sur )? ?(?P<bottom>1|2|4|8|16|32)(?![\d/])"
    r"(?:th|º|°)?"
    r"|\\frac ?\{(?P<t>\d{1,2})\} ?\{?(?P<b>\d{1,2})\}?|(?P<common>\bcommon time\b|\bc ?time\b|𝄴)"
    r"|(?P<cut>\bcut(?:[ -](?:common|time))+\b|\balla ?breve(?:-takt)?\b|𝄵|¢|(?<![A-Za-z])C\|)"
)
_METRE_WORDS: Final = {
    rf"(?<![a-z])(?:{counts}|{count}) ?-?(?:por |-?per |over )?-?(?:{units})(?![a-z])(?! notes?)(?:[ -]?takt\w*)?": (
        f" {count}/{unit} "
    )
    for count, counts in PHRASES["counts"].items()
    for unit, units in PHRASES["units"].items()
}


def read_metres(text: str) -> Extraction:
    """Upper and lower number of each time signature."""
    if re.sub("^M: ?", "", text).strip(" .").upper() == "C":
        return extraction(text, [(0, len(text), (4, 4))])
    text = rewritten(text, "metres")
    text = re.sub(r"(?<![\d/])(\d{1,2}?)(\d)拍", _chinese_metre, text)
    for pattern, metre in _METRE_WORDS.items():
        text = re.sub(pattern, metre, text, flags=re.IGNORECASE)

    def value(match: re.Match[str]) -> Hashable:
        if match["common"] or match["cut"]:
            return (4, 4) if match["common"] else (2, 2)
        top, bottom = int(match["top"] or match["t"]), int(match["bottom"] or match["b"])
        # "3 4" says a metre only on its own.
        if match["top"] and re.fullmatch(r"\d+ ?\d+", match[0]) and len(text) > len(match[0]) + 6:
            return None
        return (top, bottom) if match["t"] or not re.fullmatch(r"\d+", match[0]) else None

    return extract(text, _METRE, value)


def _chinese_metre(match: re.Match[str]) -> str:
    first, second = int(match[1]), int(match[2])
    # The lower number comes first; some say it last.
    first_is_lower = first in (2, 4, 8) and (second not in (2, 4, 8) or first >= second)
    return f"{second}/{first}拍" if first_is_lower or (first, second) == (8, 6) else f"{first}/{second}拍"


_CLEFS: Final = {
    "octave treble": "G2-8", "treble": "G2", "bass": "F4", "alto": "C3", "tenor": "C4", "mezzo-soprano": "C2",
    "soprano": "C1", "baritone": "F3", "percussion": "percussion",
}  # fmt: skip
_CLEF: Final = re.compile(rf"(?i)({'|'.join(_CLEFS)}) clef(?:[ -]clefs?)?")
# "The bass part has a treble clef" names one clef.
_PART: Final = re.compile(
    r"(?i)\b(?:bass|treble|alto|tenor|soprano|baritone|viola|violin)"
    r" (?:parts?|lines?|voices?|staff|stave|hand|melody|notes?)\b"
)


def read_clefs(text: str) -> Extraction:
    """Sign and line of each clef."""
    singular = re.sub(r"\b(clef|schlussel)s?\b", r"\1", _PART.sub(" ", text), flags=re.IGNORECASE)
    text = translated(re.sub(r"([a-z]) ?clef\b", r"\1 clef", singular, flags=re.IGNORECASE), "clef")
    text = re.sub(r"(?:clef ){2,}clef", "clef clef", re.sub(r"(?<=[a-z]) clef\b", " clef clef", text))
    return extract(text, _CLEF, lambda match: _CLEFS[match[1].lower()])


_NUMBER: Final = re.compile(
    r"(?i)(?P<where>\b(?:measures?|bars?|mm?\.?|takt|mesure|compas|battuta|misura|такт\w*) ?|第 ?)?"
    r"(?<![A-Za-z0-9_./,])(?P<digits>-?\d{1,9}(?:\.\d{1,6}|/\d{1,6})?)"
    r"(?![\d/]|st\b|nd\b|rd\b|th\b|º|ª)"
)
_ROMAN_ALONE: Final = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")


def read_numbers(text: str) -> Extraction:
    """Each number, as a fraction; none that counts measures."""
    if (alone := text.strip(" .")) in _ROMAN_ALONE:
        return extraction(text, [(0, len(text), Fraction(_ROMAN_ALONE.index(alone) + 1))])
    text = re.sub(r"\bin \d{1,2}/\d{1,2}\b|M\.?M\.? ?=?|\d{1,2}/\d{1,2} ?=|[QqCc]: ?|\b1/\d{1,2}\b(?= note)", " ", text)
    text = re.sub(r"\d[\d +x-]{1,30}= ?(?=\d)", " ", text)

    def number(match: re.Match[str]) -> Hashable:
        if match["where"]:
            return None
        top, _, bottom = match["digits"].partition("/")
        return None if bottom and int(bottom) == 0 else Fraction(top) / int(bottom or 1)

    return extract(text, _NUMBER, number)


_BAR: Final = r"(?:(?:measure?e?s?|bars?|mm?\.?|b\.)[ ]?(?:(?:number|no\.?|#)[ ]?)?)"
_SPAN: Final = rf"\d{{1,5}}(?: ?(?:-|to|through|,|;|&|, ?and|and|until) ?{_BAR}?\d{{1,5}})*+"
_MEASURES: Final = re.compile(
    r"(?i)(?P<open>\b(?:starting|starts|begins|beginning|from|onwards? from|ab|a partir d[e']|depuis|desde|da)"
    r" ?(?:at|in|from|with|dem|el|la|l[ae'])? ?)?(?P<between>\bbetween )?"
    rf"(?<![a-z]){_BAR}(?P<list>{_SPAN})(?![\d/])(?P<onwards> (?:onwards?|on)\b)?"
)
_BARE_MEASURES: Final = re.compile(rf"(?:in|at|on|the)? ?(?P<list>{_SPAN})\.?", re.IGNORECASE)
_SPAN_PART: Final = re.compile(
    rf"(?P<sign>-|to|through|until|,|;|&|and)?[ ]?{_BAR}?(?P<number>\d{{1,5}})", re.IGNORECASE
)


def read_measures(text: str) -> Extraction:
    """Sets of measure numbers, or ``("from", 9)`` for what starts at measure 9."""
    text = rewritten(rewritten(text, "measures"), "ranges")
    if bare := _BARE_MEASURES.fullmatch(text):
        return extraction(text, [(0, len(text), _measures(bare["list"]))])

    def value(match: re.Match[str]) -> Hashable:
        numbers = _measures(match["list"], between=match["between"] is not None)
        is_open = match["open"] is not None or match["onwards"] is not None
        return ("from", *numbers) if numbers and len(numbers) == 1 and is_open else numbers

    reading = extract(text, _MEASURES, value)
    sets = [value for value in reading.values if isinstance(value, frozenset)]
    # "Measure 3, measure 4" is one set, in two pieces.
    if len(sets) == len(reading.values) > 1 and reading.is_pure:
        return extraction(text, [(reading.spans[0][0], reading.spans[-1][1], frozenset().union(*sets))])
    return reading


def _measures(text: str, *, between: bool = False) -> frozenset[int] | None:
    numbers: set[int] = set()
    last: int | None = None
    for match in _SPAN_PART.finditer(text):
        number, sign = int(match["number"]), (match["sign"] or "").lower()
        if number == 0:  # a pickup
            continue
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
    r"(?i)(?P<dots>(?<![a-z])(?:double[ -]|triple[ -])?dotted[ -])?(?<![A-Za-z0-9])(?<!undotted )"
    rf"(?P<name>{'|'.join(sorted(_NOTE_VALUES, key=len, reverse=True))})s?"
    r"(?:[ -](?P<noun>note|rest)s?)?(?P<triplet>[ -]triplets?)?(?![A-Za-z0-9])"
    r"(?![ -](?:notes?|rests?|measures?|bars?|piece|tones?|steps?|movement|section|passage|of an?)\b)"
)


def read_durations(text: str) -> Extraction:
    """Value in whole notes, number of dots, whether in a triplet, and ``note``, ``rest`` or None."""
    # British names are values alone: "quaver rest" is an eighth rest, "quaver" may be either.
    has_note = re.search(r"\bnotes?\b|音符|note\b", text, re.IGNORECASE) is not None
    text = rewritten(translated(rewritten(text, "durations"), "duration"), "durations")
    values: list[tuple[int, int, tuple[Hashable, ...]]] = []
    for match in _DURATION.finditer(text):
        name, dots = match["name"].lower(), (match["dots"] or "").lower()
        if name == "half" and not match["noun"] and not dots and not STANDS_ALONE.match(text, match.end()):
            continue
        count = 2 if dots.startswith("double") else 3 if dots.startswith("triple") else int(bool(dots))
        noun = match["noun"] if match["noun"] != "note" or has_note else None
        value = Fraction(_NOTE_VALUES[name]), count, match["triplet"] is not None, noun
        values.append((match.start(), match.end(), value))
    nouns = {value[3] for *_, value in values if value[3]}
    noun = nouns.pop() if len(nouns) == 1 else None
    return extraction(text, [(start, end, (*value[:3], value[3] or noun)) for start, end, value in values])
