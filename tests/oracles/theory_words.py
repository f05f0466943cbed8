"""What the words of music theory mean, in Chinese and English: notes, intervals, keys, chords, note
values as numbers.

Every reader takes a piece of text and returns its meaning, None where it has none. Notes are places
on the line of fifths. The words themselves stand in ``theory.toml``.
"""

import re
import tomllib
from fractions import Fraction
from importlib.resources import files

from tests.oracles.spelling import Interval, spell

BANK = tomllib.loads((files("tests.oracles") / "theory.toml").read_text(encoding="utf-8"))
"""Wordings of questions (``forms``), and ``words`` by kind of thing."""


def _tuples(value):
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _words(table):
    named = BANK["words"][table]
    return {word: _tuples(meaning) for names, meaning in named.items() for word in names.split("|")}


_ORDINALS, _QUALITIES, _SIGNS = _words("ordinal"), _words("quality"), _words("alteration")
_VALUES, _DOTS, _CHORDS = _words("value"), _words("dots"), _words("chord")
_NOTE = re.compile(
    r"(?P<zh>重升|升|重降|降|)(?P<letter>[A-G])(?P<en> (?:double )?(?:sharp|flat)|)(?P<rest>.*)"
)
_INTERVAL = re.compile(r"(?:([纯大小增减])([一二三四五六七八九十]+)度|(?:an? )?([a-z]+) ([a-z]+))")
_SIGNATURE = re.compile(r"([1-7])(?:个([升降])号| (sharp|flat)s?)")
_VALUE = re.compile(
    r"(?:(复附点|附点)?([^附复a-z ]+)|(?:an? )?(?:(double-dotted|dotted) )?([a-z-]+) notes?)"
)
_DIVISION = re.compile(r"([0-9])(?:拍，每拍分| beats of )([0-9])(?:份| parts each)")
_INSTRUMENT = re.compile(r"(?:([升降]?[A-G])调.+|英国管（([A-G])调）|[A-Za-z ]+ in (.+))")
_FIGURE = re.compile(r"([iv]+|[IV]+)([°ø]?)(6|64|7|65|43|42|)(?:/([iv]+|[IV]+))?")
ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII")
"""The degrees as Roman numerals."""


def _headed(table):
    """A reader of a note with a name after it."""
    names = _words(table)

    def headed(text):
        match = _NOTE.fullmatch(text)
        meaning = names.get(match["rest"].strip()) if match else None
        return (_spelled(match), meaning) if match and meaning is not None else None

    return headed


def _spelled(match):
    return spell(match["letter"], _SIGNS[match["en"].strip()] + _SIGNS[match["zh"]])


def _note(text):
    match = _NOTE.fullmatch(text)
    return _spelled(match) if match and not match["rest"] else None


def _several(read):
    def several(text):
        found = [read(part) for part in re.split("、|, ", text)]
        return None if None in found else tuple(found)

    return several


def _interval(text):
    match = _INTERVAL.fullmatch(text)
    if not match:
        return None
    quality = _QUALITIES.get(match[1] or match[3])
    number = _ORDINALS.get(match[2] or match[4])
    if number is None:
        return None
    octaves, letters = divmod(number - 1, 7)
    perfect = letters in (0, 3, 4)
    # By how much it differs from the perfect or major interval of its number.
    altered = {
        "augmented": 1,
        "perfect" if perfect else "major": 0,
        "diminished": -1 if perfect else -2,
    }
    if not perfect:
        altered["minor"] = -1
    if quality not in altered:
        return None
    return Interval(number - 1, 12 * octaves + (0, 2, 4, 5, 7, 9, 11)[letters] + altered[quality])


def _ordinal(text):
    return _ORDINALS.get(text.removeprefix("第").removesuffix("级").removesuffix(" degree"))


def _number(text):
    return int(text) if re.fullmatch("[0-9]{1,4}", text) else None


def _fraction(text):
    """A metre, or a part of something."""
    return Fraction(text) if re.fullmatch("[0-9]{1,4}/[1-9][0-9]{0,3}", text) else None


def _metre(text):
    return (
        None
        if _fraction(text) is None
        else (int(text.partition("/")[0]), int(text.partition("/")[2]))
    )


def _signature(text):
    if text in ("无升降号", "no sharps or flats"):
        return 0
    match = _SIGNATURE.fullmatch(text)
    return (
        int(match[1]) * (1 if "升" in match.groups() or "sharp" in match.groups() else -1)
        if match
        else None
    )


def _value(text):
    match = _VALUE.fullmatch(text)
    parts = _VALUES.get(match[2] or match[4]) if match else None
    return Fraction(*_DOTS[match[1] or match[3] or ""]) / parts if match and parts else None


def _division(text):
    match = _DIVISION.fullmatch(text)
    return (int(match[1]), int(match[2])) if match else None


def _instrument(text):
    """The note that sounds where C is written."""
    match = _INSTRUMENT.fullmatch(text)
    return _note(match[1] or match[2] or match[3]) if match else None


def _chord_and_position(text):
    chord, _, position = text.replace("，", ", ").partition(", ")
    found = READERS["chord"](chord), READERS["position"](position)
    return None if None in found else found


def _chord(text):
    return _CHORDS.get(text.removeprefix("a ").removeprefix("an "))


def _figure(text):
    match = _FIGURE.fullmatch(text)
    known = match and all(part is None or part.upper() in ROMAN for part in (match[1], match[4]))
    return match if known else None


READERS = {
    **{
        name: _words(name).get
        for name in ("mode", "sign", "function", "position", "member", "direction")
    },
    "function_chord": _words("function_chord").get,
    "note": _note,
    "notes": _several(_note),
    "interval": _interval,
    "ordinal": _ordinal,
    "number": _number,
    "fraction": _fraction,
    "metre": _metre,
    "signature": _signature,
    "key": _headed("key"),
    "scale": _headed("scale"),
    "chord": _chord,
    "chord_and_position": _chord_and_position,
    "value": _value,
    "values": _several(_value),
    "division": _division,
    "instrument": _instrument,
    "figure": _figure,
}
"""Kind of thing → its reader."""
