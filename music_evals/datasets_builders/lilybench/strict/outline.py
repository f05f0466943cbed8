r"""Six measures of a score's outer voices, which questions on composers and styles show instead of the score.

How many staves and voices there are gives these answers away: a quartet is Classical, and a chorale is by Bach. So all
scores are shown in the same form, by which only their notes can tell them apart: the first six measures on end
that have no tuplet, grace note or change of key or metre, of the first voice of the highest staff and of the lowest staff (or of the first and the
last voice of a single staff), in treble and bass clef. Of a chord the outer note is shown.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from music_evals.notation.lilypond.canonical import MeasureText, Word, read_measures

_MEASURES: Final = 6


def outline(score: str) -> str | None:
    r"""Return six measures of a canonical score's outer voices; None if it has one voice, or no such measures.

    Example:
        >>> voice = "{\n" + "".join(f"    {note}'2 <d' {note}'>4 |\n" for note in "cdefgabc") + "  }"
        >>> text = voice.replace("{\n", "{\n    \\key c \\major \\time 3/4 ")
        >>> print(outline(f"<<\n  \\new Staff {text}\n  \\new Staff {text}\n>>")[:60])
        <<
          \new Staff {
            \clef "treble" \key c \major \time
    """
    voices = [list(group) for _, group in groupby(read_measures(score), key=lambda measure: measure.voice)]
    first = {voice[0].staff: voice for voice in reversed(voices)}  # staff → its first voice
    lowest = voices[-1][0].staff
    outer = voices[0], first[lowest] if lowest else voices[-1]
    if outer[0] is outer[1]:
        return None
    shown = [_notes(voice, place) for voice, place in zip(outer, (-1, 0), strict=True)]
    for number in sorted(shown[0].keys() & shown[1].keys()):
        window = range(number, number + _MEASURES)
        if all(other in notes for notes in shown for other in window):
            break
    else:
        return None
    staves = []
    for voice, notes, clef in zip(outer, shown, ("treble", "bass"), strict=True):
        commands = [f'\\clef "{clef}"', *_commands(first[voice[0].staff], number)]
        lines = [f"{notes[other]} |" for other in window]
        text = "\n    ".join([" ".join([*commands, lines[0]]), *lines[1:]])
        staves.append(f"  \\new Staff {{\n    {text}\n  }}")
    return "\n".join(["<<", *staves, ">>", ""])


def _commands(voice: Sequence[MeasureText], number: int) -> Iterator[str]:
    """The key and the metre in force in a measure of a staff."""
    words = [word for measure in voice if measure.number <= number for word in measure.words]
    for kind in ("key", "metre"):
        yield from [word.match[0] for word in words if word.kind == kind][-1:]


def _notes(voice: Sequence[MeasureText], place: int) -> dict[int, str]:
    """Number → text of the measures that can be shown; `place` is that of the outer note of a chord."""
    texts = {}
    for measure in voice:
        commands = [word for word in measure.words if word.kind in ("clef", "key", "metre")]
        words = measure.words[len(commands) if measure.number == 1 else 0 :]
        kinds = {word.kind for word in words}
        if measure.closed and measure.number and "note" in kinds and kinds <= {"note", "rest"}:
            texts[measure.number] = " ".join(_word(word, place) for word in words)
    return texts


def _word(word: Word, place: int) -> str:
    length = f"{word.match['duration']}{word.match['tie']}"
    if word.kind == "rest":
        return f"r{length}"
    name = word.match["chord"].split()[place] if word.match["chord"] else f"{word.match['name']}{word.match['octave']}"
    return f"{name}{length}"
