"""The notes of a score, and what music21 and verovio find in the ABC that `abc_score.score_to_abc` writes of it."""

import re
from fractions import Fraction
from typing import Any, NamedTuple

import verovio
from defusedxml.ElementTree import fromstring
from music21 import converter, stream

from music_evals.notation.abc.plain import plain_abc, split_voices
from music_evals.notation.abc.writing import IMPRECISION, fraction, notated_length


class AbcNote(NamedTuple):
    """One note of a score; tied notes are several."""

    part: int  # from 0 at the top
    measure: int  # position in its part, from 0
    onset: Fraction  # quarter notes from the start of the measure, on a grid as fine as files with ticks are precise
    duration: Fraction  # quarter notes; 0 for a grace note
    pitch: str  # step, alteration in semitones and octave, such as "F+1/4" for F sharp above middle C


def score_notes(score: Any) -> list[AbcNote]:
    """The notes of a score from `prepare_score`, sorted; unpitched notes are where they are written."""
    found = []
    for number, part in enumerate(score.parts):
        for index, measure in enumerate(part.getElementsByClass(stream.Measure)):
            for element in measure.recurse().notes:
                if "Harmony" in element.classes:
                    continue
                onset = _on_grid(fraction(element.getOffsetInHierarchy(measure)))
                duration = Fraction(0) if element.duration.isGrace else notated_length(element)
                for note in element.notes if hasattr(element, "notes") else [element]:
                    pitch = note.pitch if hasattr(note, "pitch") else note.displayPitch()
                    name = f"{pitch.step}{round(pitch.alter):+d}/{pitch.implicitOctave}"
                    found.append(AbcNote(number, index, onset, duration, name))
    return sorted(found)


def abc_notes(abc: str) -> list[AbcNote]:
    """The notes that music21 reads, sorted."""
    header, voices = split_voices(abc)
    # music21 makes measures only of voices with several bar lines: rests at the end see to that.
    longer = [line for name, lines in voices.items() for line in (f"V:{name}", *lines, "z | z | z |")]
    # Without meters music21 takes the measures as the bar lines say, and does not bar anew what it finds too long.
    plain = re.sub(r"^M:.*\n", "", plain_abc("\n".join([*header, *longer])), flags=re.MULTILINE)
    score: Any = converter.parseData(plain, format="abc")
    found = []
    for voice, part in zip(voices, score.parts, strict=True):
        single = stream.Score()
        single.insert(0, part)
        found += [note._replace(part=_part(voice)) for note in score_notes(single)]
    return sorted(found)


def verovio_notes(abc: str) -> list[AbcNote]:
    """The notes that verovio reads, sorted.

    verovio 6.4 reads one voice in one key, so that it is given every voice by itself, in pieces where the key changes,
    and with chords' lengths at their notes. It loses notes in tuplets of quarter notes and longer and of mixed lengths.
    """
    verovio.enableLog(verovio.LOG_OFF)
    header, voices = split_voices(abc)
    fields = [line for line in header if line[:2] in ("L:", "M:")]
    key = next(line for line in header if line.startswith("K:"))
    found = []
    for voice, lines in voices.items():
        first = 0
        music = re.sub(r"\[K:clef=[^\]]*\]", "", "\n".join(lines))
        pieces = re.split(r"\[(K:[^\]]*)\]", music)
        for current, piece in zip([key, *pieces[1::2]], pieces[::2], strict=True):
            # An ending or a repeat can stand between a bar line and a key.
            piece = re.sub(r"(\n|^)\s*(\|:|\[\d[\d,-]*|\s)+$", "", piece).strip()
            if not piece:
                continue
            piece = re.sub(r"\[([^\[\]|:\"]+)\](\d*(?:/\d*)?)", _inner_lengths, piece)
            tool = verovio.toolkit()
            tool.setOptions({"inputFrom": "abc"})
            if tool.loadData("\n".join(["X:1", "T:", *fields, current, piece, ""])):
                notes, measures = _mei_notes(tool.getMEI(), keyless=current in ("K:C", "K:Am"))
                found += [note._replace(part=_part(voice), measure=note.measure + first) for note in notes]
                first += measures
    return sorted(found)


def _part(voice: str) -> int:
    return int(voice.rstrip("abcdefghijklmnopqrstuvwxyz") or 1) - 1


def _on_grid(onset: Fraction) -> Fraction:
    return round(onset / IMPRECISION) * IMPRECISION


def _inner_lengths(chord: re.Match[str]) -> str:
    return "[" + re.sub(r"(?:\^\^?|__?|=)?/?[A-Ga-g][,']*", rf"\g<0>{chord[2]}", chord[1]) + "]"


def _mei_notes(mei: str, *, keyless: bool) -> tuple[list[AbcNote], int]:
    """The notes of an MEI document with one staff, and how many measures it has.

    In a key without accidentals verovio can write those of the key that it read before; there they are passed over.
    """
    name = "{http://www.music-encoding.org/ns/mei}"
    found: list[AbcNote] = []
    measures = list(fromstring(mei).iter(f"{name}measure"))
    alterations = {"s": 1, "f": -1, "n": 0, "x": 2, "ss": 2, "ff": -2, "": 0}

    def walk(element: Any, index: int, onset: Fraction, ratio: Fraction) -> Fraction:
        for child in element:
            kind = child.tag.removeprefix(name)
            if kind == "tuplet":
                onset = walk(child, index, onset, ratio * Fraction(int(child.get("numbase")), int(child.get("num"))))
            elif kind == "beam":
                onset = walk(child, index, onset, ratio)
            elif kind in ("note", "chord", "rest", "space"):
                value = child.get("dur", "")
                plain = Fraction(8) if value == "breve" else Fraction(4, int(value)) if value.isdigit() else Fraction(0)
                duration = plain * (2 - Fraction(1, 2 ** int(child.get("dots", "0")))) * ratio
                if child.get("grace") or any(note.get("grace") for note in child):
                    duration = Fraction(0)
                for note in [child] if kind == "note" else child.iter(f"{name}note"):
                    accid = note.find(f"{name}accid")
                    sign = accid.get("accid") if accid is not None else note.get("accid.ges", "") * (not keyless)
                    pitch = f"{note.get('pname').upper()}{alterations[sign]:+d}/{note.get('oct')}"
                    found.append(AbcNote(0, index, _on_grid(onset), duration, pitch))
                onset += duration
        return onset

    for index, measure in enumerate(measures):
        for layer in measure.iter(f"{name}layer"):
            walk(layer, index, Fraction(0), Fraction(1))
    return found, len(measures)
