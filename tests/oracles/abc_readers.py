"""The notes of a score, and the notes that music21 finds in its ABC."""

import re
from fractions import Fraction
from typing import Any, NamedTuple

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


def _part(voice: str) -> int:
    return int(voice.rstrip("abcdefghijklmnopqrstuvwxyz") or 1) - 1


def _on_grid(onset: Fraction) -> Fraction:
    return round(onset / IMPRECISION) * IMPRECISION
