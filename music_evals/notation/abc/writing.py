"""Writes a score as ABC text: voice by voice, with one numbered measure per line, also if a bar
line divides it.

The text is ABC 2.1 (https://abcnotation.com/wiki/abc:standard:v2.1; section numbers below are from
it). Where ABC 2.1 cannot express something, or where readers differ, the text is written so that
all readers find the same notes:

- Every altered note of a measure has its accidental. After an alteration, its step has an
  accidental to the end of the measure, a natural too (4.2 and 11.3 leave open how far accidentals
  reach). The same holds after a tie.
- A second voice on a staff is a voice of its own, ``V:1b`` beside ``V:1``; ``%%score`` joins them
  to one staff. music21 and verovio do not read overlays with ``&`` (7.4). Where such a voice is
  silent it has invisible rests, ``x``.
- Clefs with an octave sign are written without it, and notes at their sounding pitch (4.6 leaves
  open who transposes).
- Lyrics are left out.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any

from music_evals.notation.abc.tunes import (
    alterations_in,
    is_plain_length,
    letter_text,
    short_length_text,
    staff_layout,
    voice_names,
)
from music_evals.notation.midi.note_arrays import KEYS
from music_evals.notation.scores.preparing import NO_NAME
from music_evals.notation.toml_files import read_toml

if TYPE_CHECKING:
    from music21.stream import Score

_IMPRECISION = Fraction(1, 96)
"""Rounding errors of onsets and lengths, in quarter notes: files that count ticks have 0.167 and
0.166 for a sixth.
"""

_ACCIDENTALS = {-2.0: "__", -1.0: "_", -0.5: "_/", 0.0: "=", 0.5: "^/", 1.0: "^", 2.0: "^^"}
_FLAGGED = ("eighth", "16th", "32nd", "64th", "128th")
_TABLES: Mapping[str, Mapping[str, str]] = read_toml(__package__, "writing.toml")
_DYNAMICS = ("pppp", "ppp", "pp", "p", "mp", "mf", "f", "ff", "fff", "ffff", "sfz")


@dataclass(slots=True)
class _Item:
    """A note, chord or rest with its grace notes; grace notes at the end of a measure have no
    element.
    """

    onset: Fraction
    duration: Fraction
    element: Any
    graces: list[Any]

    @property
    def end(self) -> Fraction:
        return self.onset + self.duration

    @property
    def is_flagged(self) -> bool:
        """Whether it is a note that can be beamed."""
        element = self.element
        return element is not None and not element.isRest and element.duration.type in _FLAGGED

    @property
    def tuplets(self) -> Any:
        return self.element.duration.tuplets if self.element is not None else ()


@dataclass(slots=True)
class _Bar:
    """A measure of a part; notes of one layer do not overlap."""

    measure: Any
    length: Fraction
    layers: list[list[_Item]]


_Items = list[_Item]
_Bars = list[_Bar]
_Texts = dict[int, str]


class _Marks:
    """Text around notes, by the identity of the note's music21 object."""

    def __init__(self) -> None:
        self.before, self.decorations, self.after = (defaultdict[int, str](str) for _ in range(3))


def score_to_abc(score: "Score") -> str:
    """Write a score from `prepare_score` as ABC 2.1; the same score gives the same text."""
    parts = [
        [_read_bar(measure) for measure in part.getElementsByClass("Measure")]
        for part in score.parts
    ]
    _align(parts)
    metre = _first_sign(parts, "timeSignature")
    signs = {
        "M:": metre.ratioString if metre else "none",
        "K:": _key(_first_sign(parts, "keySignature")),
    }
    unit, layout = _unit_length(parts), _layout(score, parts)
    first_tempi, later_tempi = _tempi(score)
    lines = [
        "X:1",
        f"T:{_one_line(score.metadata.title)}",
        f"C:{_one_line(score.metadata.composer)}",
        f"L:{unit}",
        *first_tempi[:1],
    ]
    if len(parts) > 1 or "(" in layout:
        lines.append(f"%%score {layout}")
    lines += [name + value for name, value in signs.items()]
    endings = _endings(score, parts)
    body: list[str] = []
    for number, (part, bars) in enumerate(zip(score.parts, parts, strict=True), 1):
        marks = _marks(part, bars)
        clef = _first_clef(bars[0].measure)
        # The first voice of a part has its name and its tempi.
        name = "" if part.partName == NO_NAME else _quoted("", part.partName)
        label, tempi = f" nm={name}" if name else "", later_tempi
        for layer, voice in enumerate(_voices(number, bars)):
            lines.append(f"V:{voice} {clef}{label}")
            writer = _Writer(unit * 4, signs | {"K:clef=": clef}, marks, tempi)
            body += [f"V:{voice}", *writer.voice(bars, layer, endings)]
            label, tempi = "", {}
    return "\n".join(lines + body) + "\n"


def _align(parts: list[_Bars]) -> None:
    """Make a measure as long as it is in the part where it is longest, so that the voices stay
    together.
    """
    for column in zip(*parts, strict=True):
        longest = max(bar.length for bar in column)
        for bar in column:
            bar.length = longest


def _first_sign(parts: list[_Bars], name: str) -> Any:
    """The first time or key signature at the beginning of a part; None if no part has one."""
    return next(filter(None, (getattr(bars[0].measure, name) for bars in parts)), None)


def _unit_length(parts: list[_Bars]) -> Fraction:
    """The unit note length of most notes and rests; an eighth in case of a tie."""
    counts: Counter[Fraction] = Counter()
    for bars in parts:
        for bar in bars:
            for layer in bar.layers:
                counts.update(item.duration / 4 for item in layer if item.element)
    return max((Fraction(1, part) for part in (8, 4, 16)), key=counts.__getitem__)


def _fraction(value: Any) -> Fraction:
    """Convert a time of music21 to a fraction."""
    return Fraction(value).limit_denominator(100_000)


def _offset(element: Any, stream: Any) -> Fraction:
    return _fraction(element.getOffsetInHierarchy(stream))


def _notated_length(element: Any) -> Fraction:
    """Return the length of a note or rest in quarter notes: the notated length if it agrees up to
    rounding.
    """
    length = _fraction(element.quarterLength)
    notated = _fraction(element.duration.quarterLengthNoTuplets)
    for tuplet in element.duration.tuplets:
        notated *= _fraction(tuplet.tupletMultiplier())
    return notated if abs(notated - length) < _IMPRECISION else length


def _voices(number: int, bars: _Bars) -> list[str]:
    """Names of the voices of a part, such as 1 and 1b."""
    return voice_names(number, max(len(bar.layers) for bar in bars))


def _one_line(text: Any) -> str:
    """Text on one line, without the signs of comments and escapes (2.2.3, 8.2)."""
    return " ".join(str(text or "").replace("\\", "/").replace("%", "").split())


def _quoted(place: str, text: Any) -> str:
    plain = _one_line(text).replace('"', "'")
    return f'"{place}{plain}"' if plain else ""


def _read_bar(measure: Any) -> _Bar:
    """Sort the notes of a measure into layers without overlaps."""
    streams = list(measure.getElementsByClass("Voice"))
    # A measure can have notes beside its voices.
    if not streams or measure.getElementsByClass("GeneralNote"):
        streams.insert(0, measure)
    overlapping: _Items = []
    layers = [_read_layer(stream, measure, overlapping) for stream in streams]
    for item in sorted(overlapping, key=attrgetter("onset")):
        for layer in layers[len(streams) :]:
            if layer[-1].end <= item.onset:
                layer.append(item)
                break
        else:
            layers.append([item])
    ends = [layer[-1].end for layer in layers if layer]
    return _Bar(measure, max(ends, default=_fraction(measure.barDuration.quarterLength)), layers)


def _read_layer(stream: Any, measure: Any, overlapping: _Items) -> _Items:
    """The notes of a voice or measure; adds those to `overlapping` that begin within another."""
    layer: _Items = []
    graces: list[Any] = []
    end = Fraction(0)
    for element in stream.getElementsByClass("GeneralNote"):
        if "Harmony" in element.classes:
            continue
        if element.duration.isGrace:
            graces.append(element)
            continue
        onset, duration = _offset(element, measure), _notated_length(element)
        if abs(onset - end) < _IMPRECISION:
            onset = end
        if not duration:
            continue
        item = _Item(onset, duration, element, graces)
        graces = []
        if onset < end:
            overlapping.append(item)
        else:
            layer.append(item)
            end = item.end
    if graces:
        layer.append(_Item(end, Fraction(0), None, graces))
    return layer


def _key(signature: Any) -> str:
    """The key of a signature as ABC names it (3.1.14); C for none, and for one that no key has."""
    if signature is None or signature.sharps is None or abs(signature.sharps) > 7:
        return "C"
    return KEYS[signature.sharps + 7 + 15 * (getattr(signature, "mode", None) == "minor")]


def _clef(clef: Any) -> str:
    default = "perc" if clef.sign == "percussion" else "treble"
    return _TABLES["clefs"].get(f"{clef.sign}{clef.line}", default)


def _first_clef(measure: Any) -> str:
    from music21 import clef

    return _clef(measure.clef or clef.bestClef(measure, recurse=True))


def _tempi(score: Any) -> tuple[list[str], _Texts]:
    """The tempi at the start, as fields, and later ones by the identity of their marks; a repeated
    mark counts once.
    """
    marks: dict[tuple[Any, str], int] = {}
    for part in score.parts:
        for mark in part.recurse().getElementsByClass("MetronomeMark"):
            marks.setdefault((mark.getOffsetInHierarchy(part), _tempo(mark)), id(mark))
    at_start = [f"Q:{text}" for place, text in marks if text and not place]
    return at_start, {mark: text for (place, text), mark in marks.items() if text and place}


def _tempo(mark: Any) -> str:
    """The value of the Q: field (3.1.8): text, number or both."""
    text = "" if mark.textImplicit else _quoted("", mark.text)
    if not mark.number or mark.numberImplicit:
        return text
    note = _fraction(mark.referent.quarterLength) / 4
    return f"{text} {note.numerator}/{note.denominator}={float(mark.number):g}".strip()


def _endings(score: Any, parts: list[_Bars]) -> _Texts:
    """Index of the first measure of a repeat ending → number of the ending."""
    endings: _Texts = {}
    for part, bars in zip(score.parts, parts, strict=True):
        positions = {id(bar.measure): index for index, bar in enumerate(bars)}
        for bracket in part.recurse().getElementsByClass("RepeatBracket"):
            first = positions.get(id(bracket.getFirst()))
            number = re.sub(r"\s", "", str(bracket.number))
            if first is not None and re.fullmatch(r"[1-9][0-9]?([,-][1-9][0-9]?)*", number):
                endings.setdefault(first, number)
    return endings


def _layout(score: Any, parts: list[_Bars]) -> str:
    """The value of %%score (11.1): voices of a staff in parentheses, staves of an instrument in
    braces.
    """
    staves = [staff_layout(_voices(number, bars)) for number, bars in enumerate(parts, 1)]
    positions = {id(part): index for index, part in enumerate(score.parts)}
    for group in score.getElementsByClass("StaffGroup"):
        signs = _TABLES["brackets"].get(group.symbol or "")
        members = sorted(positions[id(part)] for part in group.getSpannedElements())
        if signs and len(members) > 1 and members == [*range(members[0], members[-1] + 1)]:
            staves[members[0]] = signs[0] + staves[members[0]]
            staves[members[-1]] += signs[1]
    return " ".join(staves)


def _marks(part: Any, bars: _Bars) -> _Marks:
    """Slurs, hairpins, decorations and text of a part."""
    marks = _Marks()
    places: dict[int, tuple[int, int, int]] = {}  # note → layer, bar, position in the layer
    for index, bar in enumerate(bars):
        for number, layer in enumerate(bar.layers):
            for position, item in enumerate(layer):
                notes = (*item.graces, item.element)
                places |= dict.fromkeys(map(id, notes), (number, index, position))
    # music21 stores a spanner within one part there or further up.
    for spanner in part.recurse().getElementsByClass("Spanner"):
        first, last = spanner.getFirst(), spanner.getLast()
        start, stop = places.get(id(first)), places.get(id(last))
        if first is last or start is None or stop is None:
            continue
        # ABC has no slurs to another voice.
        if start[0] == stop[0] and start <= stop:
            _mark_spanner(spanner, marks)
    for bar in bars:
        _mark_texts(bar, marks)
    return marks


def _mark_spanner(spanner: Any, marks: _Marks) -> None:
    first, last = spanner.getFirst(), spanner.getLast()
    if last.duration.isGrace:
        return
    if "Slur" in spanner.classes:
        marks.before[id(first)] += "("
        marks.after[id(last)] += ")"
    for kind, sign in _TABLES["hairpins"].items():
        if kind in spanner.classes and not first.duration.isGrace:
            marks.decorations[id(first)] += f"!{sign}(!"
            marks.decorations[id(last)] += f"!{sign})!"


def _mark_texts(bar: _Bar, marks: _Marks) -> None:
    """Put dynamics, directions and chord symbols at the first note or rest of the staff that is not
    earlier.
    """
    items = [item for item in bar.layers[0] if item.element is not None]
    if not items:
        return
    for element in bar.measure.recurse().getElementsByClass(
        ["Dynamic", "TextExpression", "RehearsalMark", "Harmony"]
    ):
        onset = _offset(element, bar.measure)
        item = next((item for item in items if item.onset >= onset), items[-1])
        text, old = _text(element), marks.decorations[id(item.element)]
        # Text goes before decorations (4.20).
        marks.decorations[id(item.element)] = text + old if text.startswith('"') else old + text


def _text(element: Any) -> str:
    """A dynamic as a decoration (4.14), a chord symbol (4.18), or other text (4.19)."""
    if "Harmony" in element.classes:
        return _quoted("", re.sub("(?<=^[A-G])-", "b", element.figure or ""))
    if "Dynamic" not in element.classes:
        return _quoted("^", element.content)
    if element.value in _DYNAMICS:
        return f"!{element.value}!"
    return _quoted("_", element.value)


@dataclass(slots=True)
class _Writer:
    """Writes the measures of one voice in order."""

    _unit: Fraction  # in quarter notes
    _signs: dict[str, str]  # metre, key and clef in force, by their fields
    _marks: _Marks
    _tempi: _Texts
    _altered: set[str] = field(default_factory=set)  # steps that had an accidental in the measure
    # Such steps of the last note or chord, if a tie follows.
    _tied: set[str] = field(default_factory=set)

    def voice(self, bars: _Bars, layer: int, endings: _Texts) -> list[str]:
        """Write the measures of a layer, one per line, also if a bar line divides it."""
        lines = defaultdict[int, str](str)
        for index, bar in enumerate(bars):
            measure = bar.measure
            start = "|: " if getattr(measure.leftBarline, "direction", "") == "start" else ""
            ending = f"[{endings[index]} " if index in endings else ""
            music = self._measure(bar, bar.layers[layer] if layer < len(bar.layers) else [])
            end = _bar_line(measure.rightBarline, bar is bars[-1])
            lines[measure.number] += f"{start}{ending}{music} {end} "
        return [f"{line}%{number}" for number, line in lines.items()]

    def _measure(self, bar: _Bar, items: _Items) -> str:
        """Write a measure without its bar lines."""
        # A tie can lead to another voice: the next note of the step is not tied.
        self._altered = self._altered | self._tied if bar.measure.numberSuffix else self._tied
        changes = [
            (_offset(element, bar.measure), kind, element)
            for kind in (*_SIGNS, "MetronomeMark")
            for element in bar.measure.recurse().getElementsByClass(kind)
        ]
        changes.sort(key=itemgetter(0))
        tuplets, beat = _tuplet_marks(items), _beat(bar.measure)
        text = ""
        now, is_beamed = Fraction(0), False
        for position, item in enumerate(items):
            fields = self._due_fields(changes, item.onset)
            text += self._silence(item.onset - now)
            is_after_break = fields or item.onset > now or item.onset % beat == 0
            joins = is_beamed and item.is_flagged and not is_after_break
            text += "" if joins else " "
            text += fields + self._item(item, tuplets.get(position, ""))
            now, is_beamed = item.end, item.is_flagged
        fields = self._due_fields(changes, bar.length + 1)
        text += self._silence(bar.length - now)
        return f"{text} {fields}".strip()

    def _silence(self, duration: Fraction) -> str:
        """An invisible rest."""
        return f" x{self._length(duration)}" if duration > 0 else ""

    def _due_fields(self, changes: list[tuple[Fraction, str, Any]], now: Fraction) -> str:
        """Take the changes up to a time from the list, and write them as inline fields (3.2)."""
        text = ""
        while changes and changes[0][0] <= now:
            _, kind, element = changes.pop(0)
            if kind == "MetronomeMark":
                tempo = self._tempi.get(id(element))
                text += f"[Q:{tempo}] " if tempo else ""
                continue
            name, value_of = _SIGNS[kind]
            value = value_of(element)
            if value != self._signs[name]:
                self._signs[name] = value
                text += f"[{name}{value}] "
        return text

    def _item(self, item: _Item, tuplet: str) -> str:
        """Write a note, chord or rest with its grace notes and marks, in the order of 4.20."""
        element = item.element
        slurs = "".join(self._marks.before[id(grace)] for grace in item.graces)
        graces = "".join(self._pitches(grace, "") for grace in item.graces)
        if graces:
            slash = "/" if getattr(item.graces[0].duration, "slash", False) else ""
            graces = f"{{{slash}{graces}}}"
        if element is None:
            return graces
        slurs += self._marks.before[id(element)]
        signs = map(_decoration, (*element.articulations, *element.expressions))
        decorations = self._marks.decorations[id(element)] + "".join(dict.fromkeys(signs))
        actual, normal = _ratio(item) or (1, 1)
        length = self._length(item.duration * actual / normal)
        rest = "x" if element.style.hideObjectOnPrint else "z"
        note = rest + length if element.isRest else self._pitches(element, length)
        return f"{slurs}{tuplet}{graces}{decorations}{note}{self._marks.after[id(element)]}"

    def _pitches(self, element: Any, length: str) -> str:
        """Write a note or chord; grace notes have no length (4.12)."""
        notes = list(getattr(element, "notes", [element]))
        ties = [_is_tied(note) for note in notes]
        if not any(ties):
            ties = [_is_tied(element)] * len(notes)
        spelled = [(*self._pitch(note), tie) for note, tie in zip(notes, ties, strict=True)]
        spelled.sort(key=itemgetter(0))
        tied = [name for _, name, tie in spelled if tie and name[0] in "^_="]
        self._tied = {name.strip("^_=/,'").upper() for name in tied}
        text = "".join(name + "-" * (tie and not all(ties)) for _, name, tie in spelled)
        return f"{text if len(spelled) == 1 else f'[{text}]'}{length}{'-' * all(ties)}"

    def _pitch(self, note: Any) -> tuple[float, str]:
        """The height of a note for sorting, and its accidental, letter and octave (4.1, 4.2)."""
        pitch = note.pitch if hasattr(note, "pitch") else note.displayPitch()
        octave = pitch.implicitOctave
        alteration = float(pitch.accidental.alter) if pitch.accidental is not None else 0.0
        letter = letter_text(pitch.step, octave - 4)
        implied = alterations_in(self._signs["K:"]).get(pitch.step, 0)
        if alteration == implied and pitch.step not in self._altered:
            return pitch.ps, letter
        self._altered.add(pitch.step)
        nearest = float(max(-2, min(2, round(alteration))))
        return pitch.ps, (_ACCIDENTALS.get(alteration) or _ACCIDENTALS[nearest]) + letter

    def _length(self, duration: Fraction) -> str:
        """A length in unit notes (4.3)."""
        return short_length_text(duration / self._unit)


def _metre(signature: Any) -> str:
    return str(signature.ratioString)


_SIGNS = {
    "TimeSignature": ("M:", _metre),
    "KeySignature": ("K:", _key),
    "Clef": ("K:clef=", _clef),
}
"""Class of music21 → field and its value, in the order in which simultaneous changes are written.
"""


def _bar_line(line: Any, is_last: bool) -> str:
    """The bar line at the end of a measure (4.8); a plain one at the end of the score is thick."""
    if getattr(line, "direction", "") == "end":
        return ":|"
    kind = "regular" if line is None else line.type
    return "|]" if is_last and kind == "regular" else _TABLES["bars"].get(kind, "|")


def _decoration(mark: Any) -> str:
    return next((sign for name, sign in _TABLES["decorations"].items() if name in mark.classes), "")


def _beat(measure: Any) -> Fraction:
    """Length of the notes that are beamed together: a beat, at least a quarter note."""
    signature = measure.getContextByClass("TimeSignature")
    if signature is None:
        return Fraction(1)
    if signature.numerator % 3 == 0 and signature.numerator > 3:
        return Fraction(12, signature.denominator)
    return max(Fraction(1), Fraction(4, signature.denominator))


def _is_tied(note: Any) -> bool:
    return note.tie is not None and note.tie.type in ("start", "continue")


def _tuplet_marks(items: _Items) -> _Texts:
    """Index of the first item of a tuplet → text before it, of the form ``(p:q:r`` (4.13).

    A group ends where its notes fill a plain note value. Nested tuplets, and tuplets of more than
    nine notes, cannot be written so: their lengths are fractions.
    """
    marks: _Texts = {}
    start = 0
    while start < len(items):
        ratio = _ratio(items[start])
        if ratio is None:
            start += 1
            continue
        total, stop = Fraction(0), start
        while stop < len(items) and stop - start < 9 and _ratio(items[stop]) == ratio:
            total += items[stop].duration
            stop += 1
            if is_plain_length(total) and not _goes_on(items, stop - 1):
                break
        marks[start] = f"({ratio[0]}:{ratio[1]}:{stop - start}"
        start = stop
    return marks


def _ratio(item: _Item) -> tuple[int, int] | None:
    """How many notes are played in the time of how many, if ABC can express it."""
    if len(item.tuplets) != 1:
        return None
    actual, normal = item.tuplets[0].numberNotesActual, item.tuplets[0].numberNotesNormal
    if not (2 <= actual <= 9 and 1 <= normal <= 9):
        return None
    return (actual, normal) if is_plain_length(item.duration * actual / normal) else None


def _goes_on(items: _Items, index: int) -> bool:
    """Whether the bracket of the score goes on although a plain value is filled, as by three notes
    of six.
    """
    if items[index].tuplets[0].type in ("stop", "startStop") or index + 1 == len(items):
        return False
    following = items[index + 1].tuplets
    has_brackets = any(item.tuplets[0].type for item in items if item.tuplets)
    return bool(has_brackets and following and following[0].type not in ("start", "startStop"))
