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
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from music_evals.notation.abc.tunes import (
    key_alterations,
    letter_text,
    short_length_text,
    staff_layout,
    voice_names,
)
from music_evals.notation.midi.note_arrays import KEYS
from music_evals.notation.scores.preparing import NO_NAME

if TYPE_CHECKING:
    from music21.stream import Score

_IMPRECISION: Final = Fraction(1, 96)
"""Rounding errors of onsets and lengths, in quarter notes: files that count ticks have 0.167 and
0.166 for a sixth.
"""

_ACCIDENTALS: Final = {-2.0: "__", -1.0: "_", -0.5: "_/", 0.0: "=", 0.5: "^/", 1.0: "^", 2.0: "^^"}
_UNITS: Final = (Fraction(1, 8), Fraction(1, 4), Fraction(1, 16))
_FLAGGED: Final = frozenset(("eighth", "16th", "32nd", "64th", "128th"))
_CLEFS: Final[dict[tuple[str, int | None], str]] = {
    **{
        ("G", 2): "treble",
        ("G", 1): "treble1",
        ("F", 4): "bass",
        ("F", 3): "bass3",
        ("percussion", None): "perc",
    },
    **{("C", 1): "alto1", ("C", 2): "alto2", ("C", 3): "alto", ("C", 4): "tenor"},
}
_BARS: Final = {
    "none": "[|]",
    "final": "|]",
    "double": "||",
    "heavy-light": "[|",
    "dotted": ".|",
    "dashed": ".|",
}
_CHANGES: Final = (
    "TimeSignature",
    "KeySignature",
    "Clef",
    "MetronomeMark",
)  # in the order of their fields
_DYNAMICS: Final = frozenset(
    ("pppp", "ppp", "pp", "p", "mp", "mf", "f", "ff", "fff", "ffff", "sfz")
)
# Classes of music21 by name, subclasses first. The decorations are from 4.14, but marcato is from
# ABC 2.2.
_DECORATIONS: Final = {
    **{
        "Staccatissimo": "!wedge!",
        "Spiccato": "!wedge!",
        "DetachedLegato": ".!tenuto!",
        "Staccato": ".",
    },
    **{"StrongAccent": "!marcato!", "Accent": "!accent!", "Tenuto": "!tenuto!", "UpBow": "!upbow!"},
    **{
        "DownBow": "!downbow!",
        "OpenString": "!open!",
        "StringHarmonic": "!open!",
        "SnapPizzicato": "!snap!",
    },
    **{"Stopped": "!plus!", "BreathMark": "!breath!", "InvertedMordent": "!uppermordent!"},
    **{
        "Mordent": "!lowermordent!",
        "InvertedTurn": "!invertedturn!",
        "Turn": "!turn!",
        "Trill": "!trill!",
    },
    **{"ArpeggioMark": "!arpeggio!", "Fermata": "!fermata!"},
}


@dataclass(slots=True)
class _Item:
    """A note, chord or rest with its grace notes; grace notes at the end of a measure have no
    element.
    """

    onset: Fraction
    duration: Fraction
    element: Any
    graces: list[Any] = field(default_factory=list)

    @property
    def end(self) -> Fraction:
        return self.onset + self.duration

    @property
    def tuplets(self) -> Any:
        return self.element.duration.tuplets if self.element is not None else ()


@dataclass(slots=True)
class _Bar:
    """A measure of a part; notes of one layer do not overlap."""

    measure: Any
    length: Fraction
    layers: list[list[_Item]]


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
    # A measure is as long as it is in the part where it is longest, so that the voices stay
    # together.
    for column in zip(*parts, strict=False):
        for bar in column:
            bar.length = max(other.length for other in column)
    # The unit note length of most notes; an eighth in case of a tie.
    items = [
        item
        for bars in parts
        for bar in bars
        for layer in bar.layers
        for item in layer
        if item.element
    ]
    counts = Counter(item.duration / 4 for item in items)
    unit = max(_UNITS, key=lambda unit: counts[unit])
    firsts = [bars[0].measure for bars in parts if bars]
    meter = next(
        (first.timeSignature.ratioString for first in firsts if first.timeSignature), "none"
    )
    sharps, key = next(
        (_key(first.keySignature) for first in firsts if first.keySignature), (0, "C")
    )
    tempo, tempi = _tempi(score)
    endings = _endings(score)
    lines = [
        "X:1",
        f"T:{_plain(score.metadata.title or '')}",
        f"C:{_plain(score.metadata.composer or '')}",
    ]
    lines += [f"L:{unit}", *([f"Q:{tempo}"] if tempo else [])]
    layout = _layout(score, parts)
    lines += [f"%%score {layout}"] if len(parts) > 1 or "(" in layout else []
    lines += [f"M:{meter}", f"K:{key}"]
    body: list[str] = []
    for number, (part, bars) in enumerate(zip(score.parts, parts, strict=True), 1):
        marks = _marks(part, bars)
        name = "" if part.partName == NO_NAME else _quoted("", part.partName or "")
        for layer, voice in enumerate(_voices(number, bars)):
            lines.append(
                f"V:{voice} "
                f"{_first_clef(bars[0].measure)}{f' nm={name}' if name and not layer else ''}"
            )
            # The first voice of a part has its tempi.
            texts = (marks, {} if layer else tempi, endings)
            writer = _Writer(
                unit * 4, meter, key, key_alterations(sharps), _first_clef(bars[0].measure), *texts
            )
            texts_by_number: dict[int, list[str]] = defaultdict(list)
            for index, bar in enumerate(bars):
                texts_by_number[bar.measure.number].append(
                    writer.measure(bar, layer, index, bar is bars[-1])
                )
            body.append(f"V:{voice}")
            body += [
                f"{' '.join(pieces)} %{measure}" for measure, pieces in texts_by_number.items()
            ]
    return "\n".join(lines + body) + "\n"


def _fraction(value: Any) -> Fraction:
    """Convert a time of music21 to a fraction."""
    return Fraction(value).limit_denominator(100_000)


def _notated_length(element: Any) -> Fraction:
    """Return the length of a note or rest in quarter notes: the notated length if it agrees up to
    rounding.
    """
    length = _fraction(element.quarterLength)
    if tuplets := element.duration.tuplets:
        notated = _fraction(element.duration.quarterLengthNoTuplets)
        for tuplet in tuplets:
            notated *= _fraction(tuplet.tupletMultiplier())
        if abs(notated - length) < _IMPRECISION:
            return notated
    return length


def _voices(number: int, bars: list[_Bar]) -> list[str]:
    """Names of the voices of a part, such as 1 and 1b."""
    return voice_names(number, max((len(bar.layers) for bar in bars), default=1))


def _plain(text: str) -> str:
    """Text on one line, without the signs of comments and escapes (2.2.3, 8.2)."""
    return " ".join(str(text).replace("\\", "/").replace("%", "").split())


def _quoted(place: str, text: str) -> str:
    plain = _plain(text).replace('"', "'")
    return f'"{place}{plain}"' if plain else ""


def _read_bar(measure: Any) -> _Bar:
    """Sort the notes of a measure into layers without overlaps."""
    voices = list(measure.getElementsByClass("Voice"))
    # A measure can have notes beside its voices.
    streams = (
        [measure, *voices] if not voices or measure.getElementsByClass("GeneralNote") else voices
    )
    layers: list[list[_Item]] = []
    overflow: list[_Item] = []
    for source in streams:
        base = _fraction(source.offset) if source is not measure else Fraction(0)
        graces: list[Any] = []
        layer: list[_Item] = []
        end = Fraction(0)
        for element in source.getElementsByClass("GeneralNote"):
            if "Harmony" in element.classes:
                continue
            if element.duration.isGrace:
                graces.append(element)
                continue
            onset, duration = base + _fraction(element.offset), _notated_length(element)
            if abs(onset - end) < _IMPRECISION:
                onset = end
            if not duration:
                continue
            item = _Item(onset, duration, element, graces)
            graces = []
            if onset < end:
                overflow.append(item)
            else:
                layer.append(item)
                end = item.end
        if graces:
            layer.append(_Item(end, Fraction(0), None, graces))
        layers.append(layer)
    for item in sorted(overflow, key=lambda item: item.onset):
        free = next(
            (layer for layer in layers[len(streams) :] if layer[-1].end <= item.onset), None
        )
        if free is None:
            layers.append([item])
        else:
            free.append(item)
    ends = [layer[-1].end for layer in layers if layer]
    return _Bar(measure, max(ends, default=_fraction(measure.barDuration.quarterLength)), layers)


def _key(signature: Any) -> tuple[int, str]:
    """The sharps of a signature and its key as ABC names it (3.1.14); C for a signature that no key
    has.
    """
    sharps = signature.sharps
    if sharps is None or abs(sharps) > 7 or getattr(signature, "isNonTraditional", False):
        return 0, "C"
    return sharps, KEYS[sharps + 7 + 15 * (getattr(signature, "mode", None) == "minor")]


def _clef(clef: Any) -> str:
    return _CLEFS.get((clef.sign, clef.line), "perc" if clef.sign == "percussion" else "treble")


def _first_clef(measure: Any) -> str:
    from music21 import clef

    return _clef(measure.clef or clef.bestClef(measure, recurse=True))


def _tempi(score: Any) -> tuple[str, dict[int, str]]:
    """The tempo at the start, and later ones by the identity of their marks; a repeated mark counts
    once.
    """
    first = ""
    later: dict[int, str] = {}
    seen: set[tuple[Any, str]] = set()
    for part in score.parts:
        for mark in part.recurse().getElementsByClass("MetronomeMark"):
            # As in the Q: field (3.1.8): text, number or both.
            text = "" if getattr(mark, "textImplicit", True) else _quoted("", mark.text or "")
            if getattr(mark, "number", None) and not mark.numberImplicit:
                note = _fraction(mark.referent.quarterLength) / 4
                text = f"{text} {note.numerator}/{note.denominator}={float(mark.number):g}".strip()
            place = mark.getOffsetInHierarchy(part)
            if not text or (place, text) in seen:
                continue
            seen.add((place, text))
            if place:
                later[id(mark)] = text
            else:
                first = first or text
    return first, later


def _endings(score: Any) -> dict[int, str]:
    """Index of the first measure of a repeat ending → number of the ending."""
    endings: dict[int, str] = {}
    for part in score.parts:
        positions = {
            id(measure): index for index, measure in enumerate(part.getElementsByClass("Measure"))
        }
        for bracket in part.recurse().getElementsByClass("RepeatBracket"):
            measures = [
                positions[id(m)] for m in bracket.getSpannedElements() if id(m) in positions
            ]
            number = re.sub(r"\s", "", str(bracket.number))
            if measures and re.fullmatch(r"[1-9][0-9]?([,-][1-9][0-9]?)*", number):
                endings.setdefault(min(measures), number)
    return endings


def _layout(score: Any, parts: list[list[_Bar]]) -> str:
    """The value of %%score (11.1): voices of a staff in parentheses, staves of an instrument in
    braces.
    """
    staves = [staff_layout(_voices(number, bars)) for number, bars in enumerate(parts, 1)]
    positions = {id(part): index for index, part in enumerate(score.parts)}
    for group in score.getElementsByClass("StaffGroup"):
        signs = {"brace": "{}", "bracket": "[]"}.get(group.symbol or "")
        members = sorted(
            positions[id(part)] for part in group.getSpannedElements() if id(part) in positions
        )
        if signs and len(members) > 1 and members == list(range(members[0], members[-1] + 1)):
            staves[members[0]] = f"{signs[0]}{staves[members[0]]}"
            staves[members[-1]] += signs[1]
    return " ".join(staves)


def _marks(part: Any, bars: list[_Bar]) -> _Marks:
    """Slurs, hairpins, decorations and text of a part."""
    marks = _Marks()
    places: dict[int, tuple[int, int, int]] = {}
    for index, bar in enumerate(bars):
        for number, layer in enumerate(bar.layers):
            for position, item in enumerate(layer):
                places |= {
                    id(element): (number, index, position)
                    for element in (*item.graces, item.element)
                }
    # music21 stores a spanner within one part there or further up.
    for spanner in part.recurse().getElementsByClass("Spanner"):
        elements = spanner.getSpannedElements()
        if len(elements) < 2 or id(elements[0]) not in places or id(elements[-1]) not in places:
            continue
        first, last = elements[0], elements[-1]
        start, stop = places[id(first)], places[id(last)]
        # ABC has no slurs from one voice to another.
        if (
            start[0] != stop[0]
            or start[1:] > stop[1:]
            or (start == stop and not first.duration.isGrace)
        ):
            continue
        if "Slur" in spanner.classes and not last.duration.isGrace:
            marks.before[id(first)] += "("
            marks.after[id(last)] += ")"
        if first.duration.isGrace or last.duration.isGrace:
            continue
        for kind, sign in (("Crescendo", "<"), ("Diminuendo", ">")):
            if kind in spanner.classes:
                marks.decorations[id(first)] += f"!{sign}(!"
                marks.decorations[id(last)] += f"!{sign})!"
    for bar in bars:
        _mark_texts(bar, marks)
    return marks


def _mark_texts(bar: _Bar, marks: _Marks) -> None:
    """Put dynamics, directions and chord symbols at the first note or rest of the staff that is not
    earlier.
    """
    items = [item for layer in bar.layers[:1] for item in layer if item.element is not None]
    if not items:
        return
    for element in bar.measure.recurse().getElementsByClass(
        ["Dynamic", "TextExpression", "RehearsalMark", "Harmony"]
    ):
        onset = _fraction(element.getOffsetInHierarchy(bar.measure))
        item = next((item for item in items if item.onset >= onset), items[-1])
        if "Dynamic" in element.classes:
            text = (
                f"!{element.value}!" if element.value in _DYNAMICS else _quoted("_", element.value)
            )
        elif "Harmony" in element.classes:
            text = _quoted("", re.sub("(?<=^[A-G])-", "b", element.figure or ""))
        else:
            text = _quoted("^", str(element.content or ""))
        # Text goes before decorations (4.20).
        old = marks.decorations[id(item.element)]
        marks.decorations[id(item.element)] = text + old if text.startswith('"') else old + text


@dataclass(slots=True)
class _Writer:
    """Writes the measures of one voice in order."""

    _unit: Fraction  # in quarter notes
    _meter: str
    _key: str
    _alterations: dict[str, int]
    _clef: str
    _marks: _Marks
    _tempi: dict[int, str]
    _endings: dict[int, str]
    _altered: set[str] = field(default_factory=set)  # steps that had an accidental in the measure
    _tied: set[str] = field(
        default_factory=set
    )  # such steps of the last note or chord, if a tie follows

    def measure(self, bar: _Bar, layer: int, index: int, is_last: bool) -> str:
        """Write a measure of a layer with its bar line; `index` is its position in the part, from
        0.
        """
        # A tie can lead to another voice: the next note of the step is not tied.
        self._altered = self._altered | self._tied if bar.measure.numberSuffix else self._tied
        changes = [
            (_fraction(element.getOffsetInHierarchy(bar.measure)), kind, element)
            for kind in _CHANGES
            for element in bar.measure.recurse().getElementsByClass(kind)
        ]
        changes.sort(key=lambda change: change[0])
        items = bar.layers[layer] if layer < len(bar.layers) else []
        tuplets = _tuplets(items)
        text = ""
        now, is_beamed = Fraction(0), False
        beat = _beat(bar.measure)
        for position, item in enumerate(items):
            fields = self._due_fields(changes, item.onset)
            if item.onset > now:
                text += f" x{self._length(item.onset - now)}"
                is_beamed = False
            is_short = (
                item.element is not None
                and not item.element.isRest
                and item.element.duration.type in _FLAGGED
            )
            joins = is_short and is_beamed and not fields and item.onset % beat
            text += (
                ("" if joins else " ")
                + fields
                + self._item(item, *tuplets.get(position, ("", Fraction(1))))
            )
            is_beamed = is_short
            now = item.end
        fields = self._due_fields(changes, bar.length + 1)
        if bar.length > now:
            text += f" x{self._length(bar.length - now)}"
        if fields:
            text += f" {fields}"
        left, right = bar.measure.leftBarline, bar.measure.rightBarline
        start = "|: " if getattr(left, "direction", None) == "start" else ""
        ending = f"[{self._endings[index]} " if index in self._endings else ""
        kind = right.type if right is not None else ""
        bar_line = _BARS.get(kind, "|]" if is_last and kind in ("", "regular") else "|")
        if getattr(right, "direction", None) == "end":
            bar_line = ":|"
        return f"{start}{ending}{text.strip()} {bar_line}"

    def _due_fields(self, changes: list[tuple[Fraction, str, Any]], now: Fraction) -> str:
        """Take the changes up to a time from the list, and write them as inline fields (3.2)."""
        text = ""
        while changes and changes[0][0] <= now:
            _, kind, element = changes.pop(0)
            if kind == "TimeSignature" and element.ratioString != self._meter:
                self._meter = element.ratioString
                text += f"[M:{self._meter}] "
            elif kind == "KeySignature":
                sharps, key = _key(element)
                if key != self._key:
                    self._key, self._alterations = key, key_alterations(sharps)
                    text += f"[K:{key}] "
            elif kind == "Clef" and _clef(element) != self._clef:
                self._clef = _clef(element)
                text += f"[K:clef={self._clef}] "
            elif id(element) in self._tempi:
                text += f"[Q:{self._tempi[id(element)]}] "
        return text

    def _item(self, item: _Item, tuplet: str, ratio: Fraction) -> str:
        """Write a note, chord or rest with its grace notes and marks, in the order of 4.20."""
        element = item.element
        slurs = "".join(self._marks.before[id(grace)] for grace in item.graces)
        graces = "".join(self._pitches(grace, "") for grace in item.graces)
        if graces:
            graces = (
                f"{{{'/' if getattr(item.graces[0].duration, 'slash', False) else ''}{graces}}}"
            )
        if element is None:
            return graces
        marks = (*element.articulations, *element.expressions)
        signs = (
            next((sign for name, sign in _DECORATIONS.items() if name in mark.classes), "")
            for mark in marks
        )
        decorations = self._marks.decorations[id(element)] + "".join(dict.fromkeys(signs))
        length = self._length(item.duration * ratio)
        rest = "x" if element.style.hideObjectOnPrint else "z"
        note = rest + length if element.isRest else self._pitches(element, length)
        slurs += self._marks.before[id(element)]
        return f"{slurs}{tuplet}{graces}{decorations}{note}{self._marks.after[id(element)]}"

    def _pitches(self, element: Any, length: str) -> str:
        """Write a note or chord; grace notes have no length (4.12)."""
        notes = list(element.notes) if hasattr(element, "notes") else [element]
        ties = [_is_tied(note) for note in notes]
        if not any(ties):
            ties = [_is_tied(element)] * len(notes)
        spelled = [(self._pitch(note), tie) for note, tie in zip(notes, ties, strict=True)]
        spelled.sort(key=lambda entry: entry[0][1])
        tied = [name for (name, _), tie in spelled if tie and name[0] in "^_="]
        self._tied = {name.strip("^_=/,'").upper() for name in tied}
        text = "".join(name + "-" * (tie and not all(ties)) for (name, _), tie in spelled)
        return f"{text if len(spelled) == 1 else f'[{text}]'}{length}{'-' * all(ties)}"

    def _pitch(self, note: Any) -> tuple[str, float]:
        """The accidental, letter and octave of a note (4.1, 4.2), and its height for sorting."""
        pitch = note.pitch if hasattr(note, "pitch") else note.displayPitch()
        step, octave = (
            pitch.step,
            pitch.octave if pitch.octave is not None else pitch.implicitOctave,
        )
        alter = float(pitch.accidental.alter) if pitch.accidental is not None else 0.0
        accidental = ""
        if alter != self._alterations.get(step, 0) or step in self._altered:
            accidental = (
                _ACCIDENTALS.get(alter) or _ACCIDENTALS[float(max(-2, min(2, round(alter))))]
            )
            self._altered.add(step)
        return accidental + letter_text(step, octave - 4), pitch.ps

    def _length(self, duration: Fraction) -> str:
        """A length in unit notes (4.3)."""
        return short_length_text(duration / self._unit)


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


def _tuplets(items: list[_Item]) -> dict[int, tuple[str, Fraction]]:
    """Index of an item in a tuplet → text before it, of the form ``(p:q:r`` (4.13), and the factor
    of its length.

    A group ends where its notes fill a plain note value. Nested tuplets, and tuplets of more than
    nine notes, cannot be written so: their lengths are fractions.
    """
    tuplets: dict[int, tuple[str, Fraction]] = {}
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
            if _is_plain(total) and not _goes_on(items, stop - 1):
                break
        actual, normal = ratio
        tuplets |= dict.fromkeys(range(start, stop), ("", Fraction(actual, normal)))
        tuplets[start] = (f"({actual}:{normal}:{stop - start}", Fraction(actual, normal))
        start = stop
    return tuplets


def _ratio(item: _Item) -> tuple[int, int] | None:
    """How many notes are played in the time of how many, if ABC can express it."""
    if len(item.tuplets) != 1:
        return None
    actual, normal = item.tuplets[0].numberNotesActual, item.tuplets[0].numberNotesNormal
    if not (2 <= actual <= 9 and 1 <= normal <= 9 and _is_plain(item.duration * actual / normal)):
        return None
    return actual, normal


def _goes_on(items: list[_Item], index: int) -> bool:
    """Whether the bracket of the score goes on although a plain value is filled, as by three notes
    of six.
    """
    if items[index].tuplets[0].type in ("stop", "startStop") or index + 1 == len(items):
        return False
    following = items[index + 1].tuplets
    has_brackets = any(item.tuplets[0].type for item in items if item.tuplets)
    return bool(has_brackets and following and following[0].type not in ("start", "startStop"))


def _is_plain(length: Fraction) -> bool:
    return length.denominator & (length.denominator - 1) == 0
