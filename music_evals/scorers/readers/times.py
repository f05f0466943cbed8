"""Reading metres, clefs, numbers, measures and durations.

4/4 is common time, 2/2 cut time. Treble is the clef G2, bass F4, alto C3, tenor C4. Measures are 1-based. A
duration is a value in whole notes with dots, in a triplet or not, of a note or a rest."""

import re
from collections.abc import Hashable
from fractions import Fraction
from typing import Final

from music_evals.scorers.readers.pitches import STANDS_ALONE
from music_evals.scorers.readers.words import Extraction, Span, extract, extraction, rewritten, translated

LONGEST_RANGE: Final = 5_000  # measures

_METRE: Final = re.compile(
    r"(?i)(?<![\d/.])(?P<top>\d{1,2}) ?(?:(?:/|:|-| over | by | por | su | sur )(?P<mark>) ?|(?<=\d) |)"
    r"(?P<bottom>1|2|4|8|16|32)(?![\d/])(?:th|º|°)?"
    r"|\\frac ?\{(?P<t>\d{1,2})\} ?\{?(?P<b>\d{1,2})\}?|(?P<common>\bcommon time\b|\bc ?time\b|𝄴)"
    r"|(?P<cut>\bcut(?:[ -](?:common|time))+\b|\balla ?breve(?:-takt)?\b|𝄵|¢|(?<![A-Za-z])C\|)"
)


def read_metres(text: str) -> Extraction:
    """Upper and lower number of each time signature."""
    if re.sub("^M: ?", "", text).strip(" .").upper() == "C":
        return extraction(text, [(0, len(text), (4, 4))])
    text = re.sub(r"(?<![\d/])(\d{1,2}?)(\d)拍", _chinese_metre, rewritten(text, "metres"))

    def value(match: re.Match[str]) -> Hashable:
        if match["common"] or match["cut"]:
            return (4, 4) if match["common"] else (2, 2)
        if match["t"]:
            return int(match["t"]), int(match["b"])
        # "3 4" says a metre only on its own.
        is_alone = len(text) <= len(match[0]) + 6 and " " in match[0]
        is_metre = match["mark"] is not None or is_alone
        return (int(match["top"]), int(match["bottom"])) if is_metre else None

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


def read_clefs(text: str) -> Extraction:
    """Sign and line of each clef."""
    text = rewritten(translated(rewritten(text, "clefs"), "clef"), "translated_clefs")
    return extract(text, _CLEF, lambda match: _CLEFS[match[1].lower()])


_NUMBER: Final = re.compile(
    r"(?i)(?P<where>\b(?:measures?|bars?|mm?\.?|takt|mesure|compas(?:so)?|battuta|misura|такт\w*) ?|第 ?)?"
    r"(?<![A-Za-z0-9_./,])(?P<top>-?\d{1,9}(?:\.\d{1,6})?)(?:/(?P<bottom>[1-9]\d{0,5}))?(?![\d/])"
    r"(?P<place>st\b|nd\b|rd\b|th\b|e(?:r|me)?\b|[oaº]\b|\.(?= ?[A-Za-z])|级|度)?"
)
_ROMAN_ALONE: Final = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")


def read_numbers(text: str) -> Extraction:
    """Each number, as a fraction; one that counts measures or places only if the text says nothing else."""
    if (alone := text.strip(" .")) in _ROMAN_ALONE:
        return extraction(text, [(0, len(text), Fraction(_ROMAN_ALONE.index(alone) + 1))])
    text = rewritten(text, "numbers")
    spans = [(match, _number(match)) for match in _NUMBER.finditer(text)]
    plain = extraction(text, [span for match, span in spans if match["where"] is None and match["place"] is None])
    counted = extraction(text, [span for _, span in spans])
    return counted if counted.is_pure and not plain.values else plain


def _number(match: re.Match[str]) -> Span:
    return match.start(), match.end(), Fraction(match["top"]) / int(match["bottom"] or 1)


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
    """The set of all measures, or ``("from", 9)`` for what starts at measure 9."""
    text = rewritten(rewritten(text, "measures"), "ranges")
    if bare := _BARE_MEASURES.fullmatch(text):
        return extraction(text, [(0, len(text), _measures(bare["list"]))])

    def value(match: re.Match[str]) -> Hashable:
        numbers = _measures(match["list"], between=match["between"] is not None)
        is_open = match["open"] is not None or match["onwards"] is not None
        return ("from", *numbers) if numbers and len(numbers) == 1 and is_open else numbers

    reading = extract(text, _MEASURES, value)
    if any(isinstance(value, tuple) for value in reading.values):
        return reading
    # "Measure 3, measure 4" is one set, in two pieces.
    union = frozenset().union(*reading.values)
    return extraction(reading.text, [(start, end, union) for start, end, _ in reading.spans])


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
    spans = [(match.start(), match.end(), _duration(match, has_note)) for match in _DURATION.finditer(text)]
    nouns = {value[3] for *_, value in spans if value and value[3]}
    noun = nouns.pop() if len(nouns) == 1 else None
    return extraction(text, [(start, end, value and (*value[:3], value[3] or noun)) for start, end, value in spans])


def _duration(match: re.Match[str], has_note: bool) -> tuple[Fraction, str, bool, str | None] | None:
    name, dots = match["name"].lower(), (match["dots"] or "").lower().replace("-", " ")
    is_bare = not match["noun"] and not dots
    if name == "half" and is_bare and not STANDS_ALONE.match(match.string, match.end()):
        return None
    noun = match["noun"] if match["noun"] != "note" or has_note else None
    return Fraction(_NOTE_VALUES[name]), dots, match["triplet"] is not None, noun
