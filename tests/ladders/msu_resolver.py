"""A second answer to MSU-Bench's questions with levels, from music21's score and the wording."""

import re
from collections import defaultdict
from typing import Any

from music21 import key

STEP = re.compile(
    r"Among the (\d+) measures after (?:measure (\d+)|it), take the one with the (\w+) note of "
    r"(.+?)\. (?=Among the|In that|How many|Which chord)"
)
LABEL = re.compile(r"that measure of (the part “[^”]*”|staff \d+ from the top)")
SIGNS = {-2: "𝄫", -1: "♭", 0: "", 1: "♯", 2: "𝄪"}
VALUES = {"16th": "sixteenth", "32nd": "thirty-second", "64th": "sixty-fourth"}
CHORDS = {
    (0, 4, 7): "major triad", (0, 3, 7): "minor triad", (0, 3, 6): "diminished triad",
    (0, 4, 8): "augmented triad", (0, 4, 7, 10): "dominant seventh chord",
    (0, 4, 7, 11): "major seventh chord", (0, 3, 7, 10): "minor seventh chord",
    (0, 3, 6, 10): "half-diminished seventh chord", (0, 3, 6, 9): "diminished seventh chord",
}  # fmt: skip

Notes = dict[str, dict[int, list[Any]]]  # part → measure → (start, note)


def notes_of(score):
    """All notes and chords, with grace notes, by the names that questions give to parts; its
    measures are numbered as in print.
    """
    notes = {}
    for place, part in enumerate(score.parts, 1):
        by_measure, starts = defaultdict[int, list[Any]](list), dict[int, float]()
        for measure in part.getElementsByClass("Measure"):
            begin = starts.setdefault(measure.number, measure.offset)  # a repeat can divide it
            for note in measure.recurse().notes:
                start = measure.offset - begin + note.getOffsetInHierarchy(measure)
                by_measure[measure.number].append((start, note))
        notes[f"staff {place} from the top"] = notes[f"the part “{part.partName}”"] = by_measure
    return notes


def name(pitch):
    return f"{pitch.step}{SIGNS[int(pitch.alter)]}"


def solve(notes, text, kind):
    """The answer; grace notes count in the sentences, and as accidentals."""
    place = 0
    for span, start, end, part in STEP.findall(text):
        place = int(start or place)
        bars = [bar for bar in range(place + 1, place + int(span) + 1) if notes[part][bar]]
        ps = {bar: [p.ps for _, n in notes[part][bar] for p in n.pitches] for bar in bars}
        extreme = max if end == "highest" else min
        (place,) = [bar for bar in bars if extreme(ps[bar]) == extreme(map(extreme, ps.values()))]
    if kind == "chord name":
        voices = {id(v): v for v in notes.values()}.values()
        sounding = [n for v in voices for start, n in v[place] if start == 0]
        pitches = [p for n in sounding if not n.duration.isGrace for p in n.pitches]
        for root in pitches:
            shape = tuple(sorted({(p.midi - root.midi) % 12 for p in pitches}))
            if shape in CHORDS and is_third_chord(root, pitches):
                return f"{name(root)} {CHORDS[shape]}"
    label = LABEL.search(text)
    inside = sorted(notes[label[1]][place], key=lambda pair: pair[0]) if label else []
    if kind == "accidentals":
        return ", ".join(outside(n for _, n in inside))
    plain = [n for _, n in inside if not n.duration.isGrace]
    if kind in ("shortest note", "longest note"):
        choose = min if kind.startswith("shortest") else max
        value = choose((n.duration for n in plain), key=lambda d: d.quarterLength)
        dots = ("", "Dotted ", "Double-dotted ")[value.dots]
        return f"{dots}{VALUES.get(value.type, value.type)} note".capitalize()
    pitches = [p for n in plain for p in n.pitches]
    if kind == "number of notes":
        return str(len(pitches))
    if kind == "last pitch":
        return f"{name(pitches[-1])}{pitches[-1].octave}"
    pitch = (max if kind.startswith("highest") else min)(pitches, key=lambda p: p.ps)
    return f"{name(pitch)}{pitch.octave}"


def is_third_chord(root, pitches):
    steps = {(p.diatonicNoteNum - root.diatonicNoteNum) % 7 for p in pitches}
    return steps in ({0, 2, 4}, {0, 2, 4, 6})


def outside(notes):
    names = {}
    for note in notes:
        sign = note.getContextByClass(key.KeySignature)
        for p in note.pitches:
            expected = sign and sign.accidentalByStep(p.step)
            if p.alter != (expected.alter if expected else 0):
                names[f"{name(p)}{p.octave}"] = p.ps
    return sorted(names, key=lambda spelling: names[spelling])
