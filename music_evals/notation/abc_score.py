"""A whole score as ABC text, voice by voice with one numbered measure a line.

The text is ABC 2.1 (https://abcnotation.com/wiki/abc:standard:v2.1; section numbers below are its own). What ABC 2.1
cannot say, or what readers take in different ways, is written so that every reader finds the same notes:

- An altered note carries its accidental however often it comes in a measure, and a step that was altered in the measure
  carries its accidental, a natural too, to the end of the measure (4.2 and 11.3 leave open how far accidentals reach).
- A second voice on a staff is a voice of its own, ``V:1b`` beside ``V:1``, joined to one staff by ``%%score``. Overlays
  with ``&`` (7.4) are lost on music21 and on verovio. Where such a voice is silent it has invisible rests, ``x``.
- Clefs with an octave sign are written without it, and notes at the pitch that sounds (4.6 leaves open who transposes).
- Lyrics are left out.
"""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from music_evals.notation.midi import KEYS
from music_evals.notation.score_file import NO_NAME

if TYPE_CHECKING:
    from music21.stream import Score

_SHARPS: Final = "FCGDAEB"

_ACCIDENTALS: Final = {-2.0: "__", -1.0: "_", -0.5: "_/", 0.0: "=", 0.5: "^/", 1.0: "^", 2.0: "^^"}
_UNITS: Final = (Fraction(1, 8), Fraction(1, 4), Fraction(1, 16))

_CLEFS: Final[dict[tuple[str, int | None], str]] = {
    **{("G", 2): "treble", ("G", 1): "treble1", ("F", 4): "bass", ("F", 3): "bass3", ("percussion", None): "perc"},
    **{("C", 1): "alto1", ("C", 2): "alto2", ("C", 3): "alto", ("C", 4): "tenor"},
}
_BARS: Final = {"final": "|]", "double": "||", "heavy-light": "[|", "dotted": ".|", "dashed": ".|"}
_DYNAMICS: Final = frozenset(("pppp", "ppp", "pp", "p", "mp", "mf", "f", "ff", "fff", "ffff", "sfz"))
# Classes of music21 by name, the more special first; all decorations are from 4.14 but marcato, which is in 2.2.
_DECORATIONS: Final = {
    **{"Staccatissimo": "!wedge!", "Spiccato": "!wedge!", "DetachedLegato": ".!tenuto!", "Staccato": "."},
    **{"StrongAccent": "!marcato!", "Accent": "!accent!", "Tenuto": "!tenuto!", "UpBow": "!upbow!"},
    **{"DownBow": "!downbow!", "OpenString": "!open!", "StringHarmonic": "!open!", "SnapPizzicato": "!snap!"},
    **{"Stopped": "!plus!", "BreathMark": "!breath!", "InvertedMordent": "!uppermordent!"},
    **{"Mordent": "!lowermordent!", "InvertedTurn": "!invertedturn!", "Turn": "!turn!", "Trill": "!trill!"},
    **{"ArpeggioMark": "!arpeggio!", "Fermata": "!fermata!"},
}


@dataclass(slots=True)
class _Item:
    """A note, chord or rest with the grace notes before it; without an element, grace notes at the end of a measure."""

    onset: Fraction
    duration: Fraction
    element: Any
    graces: list[Any] = field(default_factory=list)


@dataclass(slots=True)
class _Bar:
    """One measure of one part: its layers and what stands between the notes."""

    measure: Any
    length: Fraction
    layers: list[list[_Item]]


@dataclass(slots=True)
class _Marks:
    """What is written around notes, by the identity of the music21 object that carries it."""

    before: dict[int, str] = field(default_factory=lambda: defaultdict(str))
    decorations: dict[int, str] = field(default_factory=lambda: defaultdict(str))
    after: dict[int, str] = field(default_factory=lambda: defaultdict(str))


def score_to_abc(score: "Score") -> str:
    """Write a score from `prepare_score` as ABC 2.1; the same score gives the same text."""
    parts = [[_read_bar(measure) for measure in part.getElementsByClass("Measure")] for part in score.parts]
    # All parts' measures are as long as the longest of them, or the voices would drift apart.
    for column in zip(*parts, strict=False):
        length = max(bar.length for bar in column)
        for bar in column:
            bar.length = length
    unit = _unit(parts)
    meter, sharps, key = _signatures([bars[0] for bars in parts if bars])
    endings = _endings(score)
    tempo, tempi = _tempi(score)
    title, composer = _plain(score.metadata.title or ""), _plain(score.metadata.composer or "")
    lines = ["X:1", f"T:{title}", f"C:{composer}", f"L:{unit}"]
    lines += [f"Q:{tempo}"] if tempo else []
    layout = _layout(score, parts)
    lines += [f"%%score {layout}"] if len(parts) > 1 or "(" in layout else []
    lines += [f"M:{meter}", f"K:{key}"]
    body: list[str] = []
    for number, (part, bars) in enumerate(zip(score.parts, parts, strict=True), 1):
        marks = _marks(part, bars)
        for layer in range(_layers(bars)):
            voice = _voice_id(number, layer)
            name = "" if part.partName == NO_NAME else _quoted("", part.partName or "")
            shown = f" nm={name}" if name and not layer else ""
            lines.append(f"V:{voice} {_first_clef(bars[0].measure)}{shown}")
            body.append(f"V:{voice}")
            writer = _Writer(unit * 4, meter, key, _alterations(sharps), marks, tempi, endings)
            for index, bar in enumerate(bars):
                body.append(writer.measure(bar, layer, index, last=index == len(bars) - 1))
    return "\n".join(lines + body) + "\n"


def _voice_id(number: int, layer: int) -> str:
    return f"{number}{'' if not layer else chr(ord('a') + layer)}"


def _layers(bars: list[_Bar]) -> int:
    return max(1, min(26, max((len(bar.layers) for bar in bars), default=1)))


def _plain(text: str) -> str:
    """Text on one line that holds neither a comment's nor an escape's sign (2.2.3, 8.2)."""
    return " ".join(str(text).replace("\\", "/").replace("%", "").split())


# Some files give tuplets in ticks, so that a note of a triplet lasts 0.167 of a quarter, and the next one 0.166.
_IMPRECISION: Final = Fraction(1, 96)


def _fraction(value: Any) -> Fraction:
    return Fraction(value).limit_denominator(100_000)


def _lasting(element: Any) -> Fraction:
    """How long a note or rest lasts in quarter notes: as it is notated, where that is as good as what the file says."""
    length = _fraction(element.quarterLength)
    tuplets = element.duration.tuplets
    if tuplets:
        notated = _fraction(element.duration.quarterLengthNoTuplets)
        for tuplet in tuplets:
            notated *= _fraction(tuplet.tupletMultiplier())
        if abs(notated - length) < _IMPRECISION:
            return notated
    return length


def _read_bar(measure: Any) -> _Bar:
    """Sort a measure's notes into layers within which nothing sounds together."""
    voices = list(measure.getElementsByClass("Voice"))
    # Notes can stand beside voices in one measure.
    streams = [measure, *voices] if not voices or measure.getElementsByClass("GeneralNote") else voices
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
            onset = base + _fraction(element.offset)
            if abs(onset - end) < _IMPRECISION:
                onset = end
            if element.duration.isGrace:
                graces.append(element)
                continue
            duration = _lasting(element)
            if not duration:
                continue
            item = _Item(onset, duration, element, graces)
            graces = []
            if onset < end:
                overflow.append(item)
            else:
                layer.append(item)
                end = onset + duration
        if graces:
            layer.append(_Item(end, Fraction(0), None, graces))
        layers.append(layer)
    for item in sorted(overflow, key=lambda item: item.onset):
        for layer in layers[len(streams) :]:
            if layer[-1].onset + layer[-1].duration <= item.onset:
                layer.append(item)
                break
        else:
            layers.append([item])
    ends = [layer[-1].onset + layer[-1].duration for layer in layers if layer]
    return _Bar(measure, max(ends, default=_fraction(measure.barDuration.quarterLength)), layers)


def _unit(parts: list[list[_Bar]]) -> Fraction:
    """The unit note length that most notes have; an eighth where several do."""
    counts = Counter(
        item.duration / 4 for bars in parts for bar in bars for layer in bar.layers for item in layer if item.element
    )
    return max(_UNITS, key=lambda unit: counts[unit])


def _signatures(bars: list[_Bar]) -> tuple[str, int, str]:
    """Meter, number of sharps and key for the header: those of the topmost part that has them."""
    meters = [bar.measure.timeSignature.ratioString for bar in bars if bar.measure.timeSignature]
    keys = [bar.measure.keySignature for bar in bars if bar.measure.keySignature]
    sharps, key = _key(keys[0]) if keys else (0, "C")
    return (meters[0] if meters else "none"), sharps, key


def _key(signature: Any) -> tuple[int, str]:
    """A signature's sharps, and the key as ABC names it (3.1.14). One that no key has is written as C."""
    sharps = signature.sharps
    if sharps is None or abs(sharps) > 7 or getattr(signature, "isNonTraditional", False):
        return 0, "C"
    return sharps, KEYS[sharps + 7 + 15 * (getattr(signature, "mode", None) == "minor")]


def _alterations(sharps: int) -> dict[str, float]:
    steps = _SHARPS[:sharps] if sharps > 0 else _SHARPS[::-1][:-sharps]
    return dict.fromkeys(steps, 1.0 if sharps > 0 else -1.0)


def _clef(clef: Any) -> str:
    return _CLEFS.get((clef.sign, clef.line), "perc" if clef.sign == "percussion" else "treble")


def _first_clef(measure: Any) -> str:
    from music21 import clef

    return _clef(measure.clef or clef.bestClef(measure, recurse=True))


def _tempo(mark: Any) -> str:
    """A tempo as the Q: field has it (3.1.8), empty where it says neither text nor number."""
    text = "" if getattr(mark, "textImplicit", True) else _quoted("", mark.text or "")
    number = ""
    if getattr(mark, "number", None) and not mark.numberImplicit:
        note = _fraction(mark.referent.quarterLength) / 4
        number = f"{note.numerator}/{note.denominator}={float(mark.number):g}"
    return " ".join(piece for piece in (text, number) if piece)


def _tempi(score: Any) -> tuple[str, dict[int, str]]:
    """The tempo at the start, and the later ones by the identity of their marks: once each, in the topmost part."""
    first = ""
    later: dict[int, str] = {}
    seen: set[tuple[Any, str]] = set()
    for part in score.parts:
        for mark in part.recurse().getElementsByClass("MetronomeMark"):
            text, place = _tempo(mark), mark.getOffsetInHierarchy(part)
            if not text or (place, text) in seen:
                continue
            seen.add((place, text))
            if not place and not first:
                first = text
            elif place:
                later[id(mark)] = text
    return first, later


def _endings(score: Any) -> dict[int, str]:
    """Numbers of the repeat endings by the position of the measure that they start with."""
    found: dict[int, str] = {}
    for part in score.parts:
        positions = {id(measure): index for index, measure in enumerate(part.getElementsByClass("Measure"))}
        for bracket in part.recurse().getElementsByClass("RepeatBracket"):
            measures = [positions[id(m)] for m in bracket.getSpannedElements() if id(m) in positions]
            number = re.sub(r"\s", "", str(bracket.number))
            if measures and re.fullmatch(r"[1-9][0-9]?([,-][1-9][0-9]?)*", number):
                found.setdefault(min(measures), number)
    return found


def _layout(score: Any, parts: list[list[_Bar]]) -> str:
    """What %%score says (11.1): voices of a staff in parentheses, staves of an instrument in braces."""
    staves = []
    for number, bars in enumerate(parts, 1):
        voices = [_voice_id(number, layer) for layer in range(_layers(bars))]
        staves.append(f"({' '.join(voices)})" if len(voices) > 1 else voices[0])
    positions = {id(part): index for index, part in enumerate(score.parts)}
    for group in score.getElementsByClass("StaffGroup"):
        signs = {"brace": "{}", "bracket": "[]"}.get(group.symbol or "")
        found = sorted(positions[id(part)] for part in group.getSpannedElements() if id(part) in positions)
        if signs and len(found) > 1 and found == list(range(found[0], found[-1] + 1)):
            staves[found[0]] = f"{signs[0]}{staves[found[0]]}"
            staves[found[-1]] += signs[1]
    return " ".join(staves)


def _marks(part: Any, bars: list[_Bar]) -> _Marks:
    """Slurs, hairpins, decorations and text of a part."""
    marks = _Marks()
    place: dict[int, tuple[int, int, int]] = {}
    for index, bar in enumerate(bars):
        for number, layer in enumerate(bar.layers):
            for position, item in enumerate(layer):
                place |= {id(element): (number, index, position) for element in (*item.graces, item.element)}
    # A spanner within one part is stored there or further up.
    for spanner in part.recurse().getElementsByClass("Spanner"):
        ends = spanner.getSpannedElements()
        if len(ends) < 2 or id(ends[0]) not in place or id(ends[-1]) not in place:
            continue
        start, stop = place[id(ends[0])], place[id(ends[-1])]
        # A slur from one voice to another has no place in ABC.
        if start[0] != stop[0] or start[1:] > stop[1:] or (start == stop and not ends[0].duration.isGrace):
            continue
        if "Slur" in spanner.classes and not ends[-1].duration.isGrace:
            marks.before[id(ends[0])] += "("
            marks.after[id(ends[-1])] += ")"
        if any(end.duration.isGrace for end in (ends[0], ends[-1])):
            continue
        for kind, sign in (("Crescendo", "<"), ("Diminuendo", ">")):
            if kind in spanner.classes:
                marks.decorations[id(ends[0])] += f"!{sign}(!"
                marks.decorations[id(ends[-1])] += f"!{sign})!"
    for bar in bars:
        _mark_texts(bar, marks)
    return marks


def _mark_texts(bar: _Bar, marks: _Marks) -> None:
    """Dynamics, directions and chord symbols, each at the first note or rest of the staff that is not earlier."""
    items = [item for layer in bar.layers[:1] for item in layer if item.element is not None]
    if not items:
        return
    for element in bar.measure.recurse().getElementsByClass(["Dynamic", "TextExpression", "RehearsalMark", "Harmony"]):
        onset = _fraction(element.getOffsetInHierarchy(bar.measure))
        item = next((item for item in items if item.onset >= onset), items[-1])
        if "Dynamic" in element.classes:
            text = f"!{element.value}!" if element.value in _DYNAMICS else _quoted("_", element.value)
        elif "Harmony" in element.classes:
            text = _quoted("", re.sub("(?<=^[A-G])-", "b", element.figure or ""))
        else:
            content = element.content if "TextExpression" in element.classes else str(element.content)
            text = _quoted("^", content or "")
        # Text goes before decorations (4.20).
        old = marks.decorations[id(item.element)]
        marks.decorations[id(item.element)] = text + old if text.startswith('"') else old + text


def _quoted(place: str, text: str) -> str:
    plain = _plain(text).replace('"', "'")
    return f'"{place}{plain}"' if plain else ""


@dataclass(slots=True)
class _Writer:
    """Writes the measures of one voice in order."""

    _unit: Fraction  # in quarter notes
    _meter: str
    _key: str
    _alterations: dict[str, float]
    _marks: _Marks
    _tempi: dict[int, str]
    _endings: dict[int, str]
    _touched: set[str] = field(default_factory=set)
    _clef: str = ""

    def measure(self, bar: _Bar, layer: int, index: int, *, last: bool) -> str:
        """Write one measure of a layer with its bar line and number; `index` is its position in the part, from 0."""
        self._touched.clear()
        fields = self._fields(bar, layer, first=index == 0)
        items = bar.layers[layer] if layer < len(bar.layers) else []
        groups = _tuplets(items)
        text = ""
        now, flagged = Fraction(0), False
        beat = _beat(bar.measure)
        for position, item in enumerate(items):
            changes = self._due(fields, item.onset)
            if item.onset > now:
                text += f" x{self._length(item.onset - now)}"
                flagged = False
            short = item.element is not None and not item.element.isRest and item.element.duration.type in _FLAGGED
            joined = short and flagged and not changes and item.onset % beat
            text += ("" if joined else " ") + changes + self._item(item, groups.get(position, ("", Fraction(1))))
            flagged = short
            now = item.onset + item.duration
        changes = self._due(fields, bar.length + 1)
        if bar.length > now:
            text += f" x{self._length(bar.length - now)}"
        if changes:
            text += f" {changes}"
        start = "|: " if _is_repeat(bar.measure.leftBarline, "start") else ""
        ending = f"[{self._endings[index]} " if index in self._endings else ""
        return f"{start}{ending}{text.strip()} {_bar_line(bar.measure, last=last)} %{bar.measure.number}"

    def _fields(self, bar: _Bar, layer: int, *, first: bool) -> list[tuple[Fraction, int, Any]]:
        """What changes in a measure, by time; a clef at the start of the part stands in the header."""
        kinds = ("TimeSignature", "KeySignature", "Clef", "MetronomeMark")
        found: list[tuple[Fraction, int, Any]] = []
        for element in bar.measure.recurse().getElementsByClass(kinds):
            onset = _fraction(element.getOffsetInHierarchy(bar.measure))
            kind = next(number for number, name in enumerate(kinds) if name in element.classes)
            if kind == 2 and not self._clef and first and not onset:
                self._clef = _clef(element)
            elif kind != 3 or (id(element) in self._tempi and not layer):
                found.append((onset, kind, element))
        if not self._clef:
            self._clef = _first_clef(bar.measure)
        return sorted(found, key=lambda entry: entry[:2])

    def _due(self, fields: list[tuple[Fraction, int, Any]], now: Fraction) -> str:
        """Inline fields (3.2) for the changes that are due at a time."""
        text = ""
        while fields and fields[0][0] <= now:
            _, kind, element = fields.pop(0)
            if kind == 0 and element.ratioString != self._meter:
                self._meter = element.ratioString
                text += f"[M:{self._meter}] "
            elif kind == 1:
                sharps, key = _key(element)
                if key != self._key:
                    self._key = key
                    self._alterations = _alterations(sharps)
                    text += f"[K:{key}] "
            elif kind == 2 and _clef(element) != self._clef:
                self._clef = _clef(element)
                text += f"[K:clef={self._clef}] "
            elif kind == 3:
                text += f"[Q:{self._tempi[id(element)]}] "
        return text

    def _item(self, item: _Item, tuplet: tuple[str, Fraction]) -> str:
        """Write a note, chord or rest with all that belongs to it, in the order of 4.20."""
        prefix, ratio = tuplet
        element = item.element
        slurs = "".join(self._marks.before[id(grace)] for grace in item.graces)
        graces = "".join(self._pitches(grace, Fraction(0)) for grace in item.graces)
        if graces:
            slash = "/" if getattr(item.graces[0].duration, "slash", False) else ""
            graces = f"{{{slash}{graces}}}"
        if element is None:
            return graces
        slurs += self._marks.before[id(element)]
        after = self._marks.after[id(element)]
        decorations = self._marks.decorations[id(element)] + _decorations(element)
        duration = item.duration * ratio
        rest = "x" if element.style.hideObjectOnPrint else "z"
        note = rest + self._length(duration) if element.isRest else self._pitches(element, duration)
        return f"{slurs}{prefix}{graces}{decorations}{note}{after}"

    def _pitches(self, element: Any, duration: Fraction) -> str:
        """Write a note or chord; a duration of 0 writes no length, as grace notes have none (4.12)."""
        length = self._length(duration) if duration else ""
        notes = list(element.notes) if hasattr(element, "notes") else [element]
        tied = [note.tie is not None and note.tie.type in ("start", "continue") for note in notes]
        if not any(tied) and element.tie is not None and element.tie.type in ("start", "continue"):
            tied = [True] * len(notes)
        spelled = [(self._pitch(note), tie) for note, tie in zip(notes, tied, strict=True)]
        spelled.sort(key=lambda entry: entry[0][1])
        text = "".join(name + "-" * (tie and not all(tied)) for (name, _), tie in spelled)
        return f"{text if len(spelled) == 1 else f'[{text}]'}{length}{'-' * all(tied)}"

    def _pitch(self, note: Any) -> tuple[str, float]:
        """A note's accidental, letter and octave (4.1, 4.2), and its height for sorting."""
        pitch = note.pitch if hasattr(note, "pitch") else note.displayPitch()
        step, octave = pitch.step, pitch.octave if pitch.octave is not None else pitch.implicitOctave
        alter = float(pitch.accidental.alter) if pitch.accidental is not None else 0.0
        accidental = ""
        if alter != self._alterations.get(step, 0.0) or step in self._touched:
            accidental = _ACCIDENTALS.get(alter) or _ACCIDENTALS[float(max(-2, min(2, round(alter))))]
            self._touched.add(step)
        letter = step + "," * (4 - octave) if octave < 5 else step.lower() + "'" * (octave - 5)
        return accidental + letter, pitch.ps

    def _length(self, duration: Fraction) -> str:
        """A length in unit notes (4.3)."""
        length = duration / self._unit
        number = "" if length.numerator == 1 else str(length.numerator)
        if length.denominator == 1:
            return number
        return f"{number}/" if length == Fraction(1, 2) else f"{number}/{length.denominator}"


_FLAGGED: Final = frozenset(("eighth", "16th", "32nd", "64th", "128th"))


def _beat(measure: Any) -> Fraction:
    """Length of what beams together: a beat, or half a bar of none."""
    signature = measure.getContextByClass("TimeSignature")
    if signature is None:
        return Fraction(1)
    if signature.numerator % 3 == 0 and signature.numerator > 3:
        return Fraction(12, signature.denominator)
    return max(Fraction(1), Fraction(4, signature.denominator))


def _is_repeat(bar: Any, direction: str) -> bool:
    return bar is not None and getattr(bar, "direction", None) == direction


def _bar_line(measure: Any, *, last: bool) -> str:
    bar = measure.rightBarline
    if _is_repeat(bar, "end"):
        return ":|"
    kind = bar.type if bar is not None else ""
    return _BARS.get(kind, "|]" if last and kind in ("", "regular") else "|")


def _decorations(element: Any) -> str:
    found = []
    for mark in (*element.articulations, *element.expressions):
        name = next((name for name in _DECORATIONS if name in mark.classes), "")
        if name and _DECORATIONS[name] not in found:
            found.append(_DECORATIONS[name])
    return "".join(found)


def _tuplets(items: list[_Item]) -> dict[int, tuple[str, Fraction]]:
    """For each item in a tuplet, what is written before it and what its length is multiplied with.

    A group ends where its notes fill a plain note value (4.13 gives the form ``(p:q:r``). What has no such form, as
    nested tuplets and more than nine in the time of fewer, keeps its own length as a fraction.
    """
    found: dict[int, tuple[str, Fraction]] = {}
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
        for index in range(start, stop):
            prefix = f"({actual}:{normal}:{stop - start}" if index == start else ""
            found[index] = (prefix, Fraction(actual, normal))
        start = stop
    return found


def _ratio(item: _Item) -> tuple[int, int] | None:
    """How many notes stand in the time of how many, where ABC can say so."""
    tuplets: Any = item.element.duration.tuplets if item.element is not None else ()
    if len(tuplets) != 1:
        return None
    actual, normal = tuplets[0].numberNotesActual, tuplets[0].numberNotesNormal
    if not (2 <= actual <= 9 and 1 <= normal <= 9 and _is_plain(item.duration * actual / normal)):
        return None
    return actual, normal


def _goes_on(items: list[_Item], index: int) -> bool:
    """Whether the score draws its tuplet bracket further, as over six notes that two halves would fill, too."""
    if items[index].element.duration.tuplets[0].type in ("stop", "startStop") or index + 1 == len(items):
        return False
    following = items[index + 1].element
    tuplets: Any = following.duration.tuplets if following is not None else ()
    marked = any(i.element.duration.tuplets[0].type for i in items if i.element and i.element.duration.tuplets)
    return bool(marked and tuplets and tuplets[0].type not in ("start", "startStop"))


def _is_plain(length: Fraction) -> bool:
    return length.denominator & (length.denominator - 1) == 0


def split_voices(abc: str) -> tuple[list[str], dict[str, list[str]]]:
    """Split a tune into its header and, by the voices' names in the order of their music, the lines of every voice.

    Voice definitions and comments are left out. A tune without ``V:`` has one voice without a name.
    """
    header: list[str] = []
    voices: dict[str, list[str]] = {}
    voice, in_body = "", False
    for raw in abc.splitlines():
        line = re.sub(r"(?<!\\)%.*", "", raw).strip()
        if not line:
            continue
        if found := re.match(r"\[?V:\s*([^\s\]]+)([^\]]*)\]?", line):
            voice = found.group(1) if in_body else voice
            line = line[found.end() :].strip() if line.startswith("[") else ""
            if not line:
                continue
        if not in_body:
            header.append(line)
            in_body = line.startswith("K:")
        elif not re.match(r"[A-JN-PR-Za-z+]:(?![|:])", line):
            voices.setdefault(voice, []).append(line)
    # What stands between the header and the first voice, as a second key does, is said to all.
    if len(voices) > 1 and "" in voices:
        header += voices.pop("")
    return header, voices


_PIECES: Final = re.compile(r'"[^"\n]*"|![^!\s]{1,30}!|\[[A-Za-z]:[^\]\n]{0,300}\]')
_ANNOTATIONS: Final = ('"^', '"_', '"<', '">', '"@')


def plain_abc(abc: str) -> str:
    r"""Write a tune so that music21 10.5 reads all of it; voices are then called 1, 2 …, and slurs are left out.

    music21 passes over inline fields and invisible rests, takes every return to a voice for another part, transposes
    what stands in a bass clef, keeps a voice's last key for the next voice, takes a third ending for a chord, counts
    grace notes as notes of a tuplet, and loses the note after an ``H`` and an ``E`` before ``::``.

    Example:
        >>> print(plain_abc("X:1\nL:1/4\nK:C\nCx [M:3/4] HC3 ::"), end="")
        X:1
        L:1/4
        K:C
        Cz
        M:3/4
        !fermata!C3 :| |:
    """
    header, voices = split_voices(abc)
    lines = [_without_clef(line) for line in header]
    fields = [line for line in lines if line[:2] in ("L:", "M:", "K:")]
    for number, music in enumerate(voices.values(), 1):
        lines += [f"V:{number}", *fields] if len(voices) > 1 else []
        for line in music:
            pieces = (_without_slurs(text).strip(" \\") for text in _plain_line(line).split("\n"))
            lines += [piece for piece in pieces if piece]
    return "\n".join(lines) + "\n"


def _without_slurs(line: str) -> str:
    if re.match(r"[A-Za-z]:(?![|:])", line):
        return line
    # Hairpins have brackets in their names.
    return re.sub(r"(![^!\n]*!)|\((?!\d)|\)", lambda found: found[1] or "", line)


def _without_clef(line: str) -> str:
    if not line.startswith("K:"):
        return line
    words = re.sub(r"\b(?:clef|middle|m|octave|transpose|stafflines)=\S*", "", line[2:])
    words = re.sub(r"\b(?:treble|alto|tenor|bass|perc)\d?(?:[+-]8)?\b", "", words).strip()
    return f"K:{words}"


def _plain_line(line: str) -> str:
    if re.match(r"[A-Za-z]:(?![|:])", line):
        line = _without_clef(line)
        return "" if line == "K:" else line
    text, position = "", 0
    for found in _PIECES.finditer(line):
        text += _plain_music(line[position : found.start()])
        position = found.end()
        piece = found.group()
        if piece[0] != "[":
            # music21 fails on an annotation (4.19), which it takes for a chord symbol.
            text += "" if piece[:2] in _ANNOTATIONS else piece
        elif piece[1] in "KMLQ" and (changed := _without_clef(piece[1:-1])) != "K:":
            text += f"\n{changed}\n"
    text += _plain_music(line[position:])
    return re.sub(r"(\([2-9]:\d?:\d)(\{[^{}]*\})", r"\2\1", text)


def _plain_music(music: str) -> str:
    music = music.replace("::", ":| |:").replace("H", "!fermata!").replace("x", "z")
    return re.sub(r"\[[3-9][0-9,-]*", "", music)
