"""How ABC-Eval's published procedure reads ABC, and whether music21 finds a piece's notes in its ABC.

The procedure takes the parts between bar lines as bars, a pickup too, and the header's fields as answers. It puts an
error into a bar by a token that is no note, an accidental behind a note, a doubled bar or a note two octaves off.

Source: arXiv 2509.23350, its README and its files.
"""

import random
import re
from collections import Counter
from fractions import Fraction
from typing import Any, Final

from music_evals.datasets_builders.lilybench.paper import Texts
from music_evals.datasets_builders.lilybench.rows import Corruption, Field
from music_evals.notation.abc.plain import plain_abc
from music_evals.notation.lilypond.canonical import read_measures
from music_evals.notation.lilypond.syntax.languages import pitch_of

_LETTERS: Final[dict[str, str]] = {"key": "K", "metre": "M", "note_length": "L"}
_HEADER: Final = re.compile(r"(?:(?:[A-Za-z]:(?![|:])|%%)[^\n]*\n)*")
_BAR_LINE: Final = re.compile(r"[|\]\[:]*\|[|\]\[:]*")
_NOTE: Final = re.compile(r"[A-Ga-g][,']*")
_NO_NOTES: Final = ("O#", "H", "T'''", "Y#", "U#2", "J")
_FOREIGN: Final = ("D##", "Fb", "E#", "B#")
_MOST_BARS: Final = 9  # an answer names a bar by one digit
_STEPS: Final = (0, 2, 4, 5, 7, 9, 11)


def split_bars(text: str) -> list[str]:
    """Split a tune into what stands between its bar lines.

    Example:
        >>> split_bars("M:3/4\\nK:G\\nD |: G2 A | B3 :|\\n")
        ['D', 'G2 A', 'B3']
    """
    return [bar.strip() for bar in _BAR_LINE.split(_music(text)) if bar.strip()]


def corrupt(text: str, kind: Corruption, draw: random.Random) -> tuple[str, int] | None:
    """Put an error into a tune, and return the number of its bar; None if it has no bar with a note for that."""
    music = _music(text)
    if kind == "invalid_metadata":
        changed, count = re.subn(r"(?m)^K:.*$", "K:X", text, count=1)
        return (changed, 1) if count else None
    parts = re.split(f"({_BAR_LINE.pattern})", music)
    bars = [place for place in range(0, len(parts), 2) if parts[place].strip()]
    number = draw.randrange(min(len(bars), _MOST_BARS))
    bar = parts[bars[number]]
    notes = list(_NOTE.finditer(bar))
    if not notes:
        return None
    note = draw.choice(notes)
    other = {
        "invalid_content": draw.choice(_NO_NOTES),
        "accidental_outside_key": draw.choice(_FOREIGN),
        "melodic_leap": f"{note[0]}''" if note[0][0].islower() else f"{note[0]},,",
        "invalid_bar_duration": note[0],
    }[kind]
    changed = bar[: note.start()] + other + bar[note.end() :]
    parts[bars[number]] = f"{bar} {bar}" if kind == "invalid_bar_duration" else changed
    return text.removesuffix(music) + "".join(parts), number + 1


def has_notes(abc: str, lilypond: str) -> bool:
    """Whether music21 reads the onsets, pitches and lengths of a canonical LilyPond score in its ABC."""
    from music21 import converter

    # music21 divides measures that are longer than the metre, so it reads no metres.
    bare = re.sub(r"(?m)^M:.*\n|\[M:[^\]\n]*\]", "", plain_abc(abc))
    try:
        score: Any = converter.parseData(bare, format="abc")
    except Exception:  # music21 passes on all errors of its code
        return False
    notes = Counter(
        (_fraction(note.getOffsetInHierarchy(score)), pitch.midi, _fraction(note.quarterLength))
        for part in score.parts
        for note in part.recurse().notes
        if not note.duration.isGrace
        for pitch in note.pitches
    )
    return notes == _lilypond_notes(lilypond)


def _lilypond_notes(text: str) -> Counter[tuple[Fraction, int, Fraction]]:
    notes: Counter[tuple[Fraction, int, Fraction]] = Counter()
    starts: dict[tuple[int, int], Fraction] = {}
    for measure in read_measures(text):
        voice = (measure.staff, measure.voice)
        start = starts.get(voice, Fraction(0))
        for word in measure.words:
            written = (word.match["chord"] or f"{word.match['name']}{word.match['octave']}").split()
            for name in written if word.kind == "note" else ():
                pitch = pitch_of(name.rstrip("',"))
                if pitch is not None:
                    octave = 12 * (name.count("'") - name.count(",") + 4)
                    height = octave + _STEPS[pitch.step] + int(pitch.alteration)
                    notes[4 * (start + word.position), height, 4 * word.duration] += 1
        starts[voice] = start + measure.length
    return notes


def _fraction(value: Any) -> Fraction:
    return Fraction(value).limit_denominator(1000)


def _music(text: str) -> str:
    header = _HEADER.match(text)
    return text[header.end() :] if header else text


def _field(text: str, field: Field) -> str | None:
    match = re.search(rf"(?m)^{_LETTERS[field]}:[ ]*([^\s%]+)", text)
    return match[1] if match else None


def _without(text: str, what: str) -> str:
    return re.sub(rf"(?m)^{_LETTERS[what]}:.*\n?", "", text) if what in _LETTERS else text


ABC: Final = Texts(split_bars, _field, lambda piece: piece.header.get("title"), _without, corrupt, ahead=3, shown=3)
