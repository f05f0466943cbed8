"""What the words of music theory mean, in Chinese and English: notes, intervals, keys, chords, note values as numbers.

Every reader takes a piece of text and returns its meaning, None where it has none. Notes are places on the line of
fifths.
"""

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

from music_evals.notation.spelling import Interval, spell

_ORDINALS: Final = {
    word: number
    for table in (
        "一 二 三 四 五 六 七 八 九 十 十一 十二 十三 十四 十五",
        "first second third fourth fifth sixth seventh octave ninth tenth eleventh twelfth thirteenth fourteenth "
        "fifteenth",
        "unison",
    )
    for number, word in enumerate(table.split(), 1)
}
_SHARPS: Final = {"": 0, "sharp": 1, "flat": -1, "double sharp": 2, "double flat": -2}
_SHARPS_ZH: Final = {"": 0, "升": 1, "降": -1, "重升": 2, "重降": -2}
_QUALITIES: Final = dict(zip("纯大小增减", ("perfect", "major", "minor", "augmented", "diminished"), strict=True))
MINOR: Final = (0, 2, -3, -1, 1, -4, -2)
"""The notes of natural minor above its tonic, in fifths."""

MAJOR: Final = (0, 2, 4, -1, 1, 3, 5)
"""The notes of major above its tonic, in fifths."""

_SCALES: Final = {
    ("自然大调", "major"): MAJOR,
    ("自然小调", "natural minor"): MINOR,
    ("和声小调", "harmonic minor"): (0, 2, -3, -1, 1, -4, 5),
    ("旋律小调（上行）", "melodic minor (ascending)"): (0, 2, -3, -1, 1, 3, 5),
    ("多利亚调式", "Dorian"): (0, 2, -3, -1, 1, 3, -2),
    ("弗里几亚调式", "Phrygian"): (0, -5, -3, -1, 1, -4, -2),
    ("利底亚调式", "Lydian"): (0, 2, 4, 6, 1, 3, 5),
    ("混合利底亚调式", "Mixolydian"): (0, 2, 4, -1, 1, 3, -2),
    ("洛克里亚调式", "Locrian"): (0, -5, -3, -1, -6, -4, -2),
    ("五声宫调式", "pentatonic gong mode"): (0, 2, 4, 1, 3),
    ("五声商调式", "pentatonic shang mode"): (0, 2, -1, 1, -2),
    ("五声角调式", "pentatonic jue mode"): (0, -3, -1, -4, -2),
    ("五声徵调式", "pentatonic zhi mode"): (0, 2, -1, 1, 3),
    ("五声羽调式", "pentatonic yu mode"): (0, -3, -1, 1, -2),
}
_CHORDS: Final = {
    ("大三和弦", "major triad"): (0, 4, 1),
    ("小三和弦", "minor triad"): (0, -3, 1),
    ("减三和弦", "diminished triad"): (0, -3, -6),
    ("增三和弦", "augmented triad"): (0, 4, 8),
    ("大大七和弦", "major seventh chord"): (0, 4, 1, 5),
    ("大小七和弦", "dominant seventh chord"): (0, 4, 1, -2),
    ("小小七和弦", "minor seventh chord"): (0, -3, 1, -2),
    ("小大七和弦", "minor-major seventh chord"): (0, -3, 1, 5),
    ("半减七和弦", "half-diminished seventh chord"): (0, -3, -6, -2),
    ("减七和弦", "diminished seventh chord"): (0, -3, -6, -9),
}
_POSITIONS: Final = {
    ("原位", "root position"): 0,
    ("第一转位", "first inversion"): 1,
    ("第二转位", "second inversion"): 2,
    ("第三转位", "third inversion"): 3,
}
_FUNCTIONS: Final = {
    ("主音", "tonic"): 0,
    ("上主音", "supertonic"): 1,
    ("中音", "mediant"): 2,
    ("下属音", "subdominant"): 3,
    ("属音", "dominant"): 4,
    ("下中音", "submediant"): 5,
    ("导音", "leading note"): 6,
}
# Degree of the root, and the notes above it: in major, and in harmonic minor.
_FUNCTION_CHORDS: Final = {
    ("主三和弦", "tonic triad"): (0, (0, 4, 1), (0, -3, 1)),
    ("下属三和弦", "subdominant triad"): (3, (0, 4, 1), (0, -3, 1)),
    ("属三和弦", "dominant triad"): (4, (0, 4, 1), (0, 4, 1)),
    ("属七和弦", "dominant seventh chord"): (4, (0, 4, 1, -2), (0, 4, 1, -2)),
    ("导三和弦", "leading-note triad"): (6, (0, -3, -6), (0, -3, -6)),
}
_VALUES: Final = {
    word: Fraction(1, 2**power)
    for table in (
        "全音符 二分音符 四分音符 八分音符 十六分音符 三十二分音符",
        "whole half quarter eighth sixteenth thirty-second",
    )
    for power, word in enumerate(table.split())
}
_DOTS: Final = {
    "附点": Fraction(3, 2),
    "复附点": Fraction(7, 4),
    "dotted": Fraction(3, 2),
    "double-dotted": Fraction(7, 4),
}
_MODES: Final = {("大调", "major"): 0, ("小调", "minor"): 1}
_SIGNS: Final = {("升号", "sharp"): 1, ("降号", "flat"): -1}
_MEMBERS: Final = {("三音", "third"): 1, ("五音", "fifth"): 2, ("七音", "seventh"): 3}
_DIRECTIONS: Final = {("向上", "up"): 1, ("向下", "down"): -1}

_NOTE: Final = re.compile(r"(?P<zh>重升|升|重降|降|)(?P<letter>[A-G])(?P<en> (?:double )?(?:sharp|flat)|)(?P<rest>.*)")
_INTERVAL: Final = re.compile(r"(?:([纯大小增减])([一二三四五六七八九十]+)度|(?:an? )?([a-z]+) ([a-z]+))")
_SIGNATURE: Final = re.compile(r"([1-7])(?:个([升降])号| (sharp|flat)s?)")
_VALUE: Final = re.compile(r"(?:(复附点|附点)?([^附复a-z ]+)|(?:an? )?(?:(double-dotted|dotted) )?([a-z-]+) notes?)")
_DIVISION: Final = re.compile(r"([0-9])(?:拍，每拍分| beats of )([0-9])(?:份| parts each)")
_INSTRUMENT: Final = re.compile(r"(?:([升降]?[A-G])调.+|英国管（([A-G])调）|[A-Za-z ]+ in (.+))")
_FIGURE: Final = re.compile(r"([iv]+|[IV]+)([°ø]?)(6|64|7|65|43|42|)(?:/([iv]+|[IV]+))?")
ROMAN: Final = ("I", "II", "III", "IV", "V", "VI", "VII")
"""The degrees as Roman numerals."""


def _named(table: Mapping[tuple[str, str], Any]) -> Callable[[str], Any]:
    words = {word: meaning for names, meaning in table.items() for word in names}
    return words.get


def _headed(table: Mapping[tuple[str, str], Any]) -> Callable[[str], Any]:
    """A reader of a note followed by one of the table's names."""
    read = _named(table)

    def headed(text: str) -> Any:
        match = _NOTE.fullmatch(text)
        meaning = read(match["rest"].strip()) if match else None
        return (_spelled(match), meaning) if match and meaning is not None else None

    return headed


def _spelled(match: re.Match[str]) -> int:
    return spell(match["letter"], _SHARPS[match["en"].strip()] + _SHARPS_ZH[match["zh"]])


def _note(text: str) -> int | None:
    match = _NOTE.fullmatch(text)
    return _spelled(match) if match and not match["rest"] else None


def _several(read: Callable[[str], Any]) -> Callable[[str], Any]:
    def several(text: str) -> Any:
        found = [read(part) for part in re.split("、|, ", text)]
        return None if None in found else tuple(found)

    return several


def _interval(text: str) -> Interval | None:
    match = _INTERVAL.fullmatch(text)
    if not match:
        return None
    quality = _QUALITIES.get(match[1], match[3])
    number = _ORDINALS.get(match[2] or match[4])
    if number is None:
        return None
    octaves, letters = divmod(number - 1, 7)
    perfect = letters in (0, 3, 4)
    # By how much it differs from the perfect or major interval of its number.
    altered = {"augmented": 1, "perfect" if perfect else "major": 0, "diminished": -1 if perfect else -2}
    if not perfect:
        altered["minor"] = -1
    if quality not in altered:
        return None
    return Interval(number - 1, 12 * octaves + (0, 2, 4, 5, 7, 9, 11)[letters] + altered[quality])


def _ordinal(text: str) -> int | None:
    return _ORDINALS.get(text.removeprefix("第").removesuffix("级").removesuffix(" degree"))


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch("[0-9]{1,4}", text) else None


def _fraction(text: str) -> Fraction | None:
    """A metre, or a part of something."""
    return Fraction(text) if re.fullmatch("[0-9]{1,4}/[1-9][0-9]{0,3}", text) else None


def _metre(text: str) -> tuple[int, int] | None:
    return None if _fraction(text) is None else (int(text.partition("/")[0]), int(text.partition("/")[2]))


def _signature(text: str) -> int | None:
    if text in ("无升降号", "no sharps or flats"):
        return 0
    match = _SIGNATURE.fullmatch(text)
    return int(match[1]) * (1 if "升" in match.groups() or "sharp" in match.groups() else -1) if match else None


def _value(text: str) -> Fraction | None:
    match = _VALUE.fullmatch(text)
    length = _VALUES.get(match[2] or match[4]) if match else None
    return length * _DOTS.get(match[1] or match[3], Fraction(1)) if match and length is not None else None


def _division(text: str) -> tuple[int, int] | None:
    match = _DIVISION.fullmatch(text)
    return (int(match[1]), int(match[2])) if match else None


def _instrument(text: str) -> int | None:
    """The note that sounds where C is written."""
    match = _INSTRUMENT.fullmatch(text)
    return _note(match[1] or match[2] or match[3]) if match else None


def _chord_and_position(text: str) -> tuple[tuple[int, ...], int] | None:
    chord, _, position = text.replace("，", ", ").partition(", ")
    found = READERS["chord"](chord), READERS["position"](position)
    return None if None in found else found


def _chord(text: str) -> Any:
    return _named(_CHORDS)(text.removeprefix("a ").removeprefix("an "))


def _figure(text: str) -> re.Match[str] | None:
    match = _FIGURE.fullmatch(text)
    known = match and all(part is None or part.upper() in ROMAN for part in (match[1], match[4]))
    return match if known else None


READERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "note": _note,
    "notes": _several(_note),
    "interval": _interval,
    "ordinal": _ordinal,
    "number": _number,
    "fraction": _fraction,
    "metre": _metre,
    "signature": _signature,
    "key": _headed({**_MODES, ("和声小调", "harmonic minor"): 1}),
    "mode": _named(_MODES),
    "sign": _named(_SIGNS),
    "scale": _headed(_SCALES),
    "function": _named(_FUNCTIONS),
    "chord": _chord,
    "position": _named(_POSITIONS),
    "chord_and_position": _chord_and_position,
    "member": _named(_MEMBERS),
    "direction": _named(_DIRECTIONS),
    "function_chord": _named(_FUNCTION_CHORDS),
    "value": _value,
    "values": _several(_value),
    "division": _division,
    "instrument": _instrument,
    "figure": _figure,
}
"""Kind of thing → its reader."""
