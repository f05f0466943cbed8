r"""Six measures of a score's outer voices, which questions on composers and styles show instead of
the score.

How many staves and voices there are gives these answers away: a quartet is Classical, and a chorale
is by Bach. So all scores are shown in the same form, by which only their notes can tell them apart:
the first six measures on end that have no tuplet or grace note, of the first voice of the first
staff and of the last staff (or of the first and the last voice of a single staff), in treble and
bass clef. Of a chord the outer note is shown. Nothing is shown after a change of key or metre.
Pieces with one voice are left out.
"""

import re
from math import inf

from music_evals.datasets_builders.lilybench.strict.passages import runs
from music_evals.notation.lilypond.canonical import read_measures

_MEASURES = 6
_HIGHEST = re.compile(r"<[^>]*?(\S+)>")  # note of a chord
_LOWEST = re.compile(r"<(\S+)[^>]*>")
_HEAD = re.compile(r"\\(?:key \S+ \\\w+|time \S+)")


def outline(score: str) -> str | None:
    r"""Return six measures of a canonical score's outer voices; None if it has one voice, or no
    such measures.
    """
    upper, lower = _outer_voices(plain_measures(score))
    shown = upper.keys() & lower.keys()
    spans = (range(number, number + _MEASURES) for number in sorted(shown))
    numbers = next(filter(shown.issuperset, spans), None)
    if numbers is None:
        return None
    head = _HEAD.findall(next(line for line in score.splitlines() if "\\time " in line))
    staves = []
    for voice, clef, outer in ((upper, "treble", _HIGHEST), (lower, "bass", _LOWEST)):
        lines = [outer.sub(r"\1", voice[number]) + " |" for number in numbers]
        first = " ".join([f'\\clef "{clef}"', *head, lines[0]])
        text = "\n    ".join([first, *lines[1:]])
        staves.append(f"  \\new Staff {{\n    {text}\n  }}")
    return "\n".join(["<<", *staves, ">>", ""])


def plain_measures(score: str) -> dict[tuple[int, int], dict[int, str]]:
    """Staff and voice → numbers and texts of its complete measures without commands, up to a change
    of key or metre.
    """
    later = (measure for measure in read_measures(score) if measure.number > 1)
    end = min((m.number for m in later if _HEAD.search(score, m.start, m.end)), default=inf)
    voices: dict[tuple[int, int], dict[int, str]] = {}
    for run in runs(score):
        for measure, text in run:
            if measure.closed and measure.number < end and "\\" not in text:
                voices.setdefault((measure.staff, measure.voice), {})[measure.number] = text
    return voices


def _outer_voices(
    voices: dict[tuple[int, int], dict[int, str]],
) -> tuple[dict[int, str], dict[int, str]]:
    """The first voice of the first staff, and of the last one; the last voice of a single staff."""
    if len(voices) < 2:
        return {}, {}
    first, last = min(voices), max(voices)
    if first[0] == last[0]:
        return voices[first], voices[last]
    return voices[first], voices[min(place for place in voices if place[0] == last[0])]
