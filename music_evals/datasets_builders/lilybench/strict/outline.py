r"""Six measures of a score's outer voices, which questions on composers and styles show instead of the score.

How many staves and voices there are gives these answers away: a quartet is Classical, and a chorale is by Bach. So all
scores are shown in the same form, by which only their notes can tell them apart: the first six measures on end that
have no tuplet or grace note, of the first voice of the first staff and of the last staff (or of the first and the last
voice of a single staff), in treble and bass clef. Of a chord the outer note is shown. Nothing is shown
after a change of key or metre. Pieces with one voice are left out.
"""

import re
from typing import Final

from music_evals.datasets_builders.lilybench.strict.passages import runs
from music_evals.notation.lilypond.canonical import read_measures

_MEASURES: Final = 6
_HEAD: Final = re.compile(r"\\(?:key \S+ \\\w+|time \S+)")


def outline(score: str) -> str | None:
    r"""Return six measures of a canonical score's outer voices; None if it has one voice, or no such measures."""
    head = _HEAD.findall(next(line for line in score.splitlines() if "\\time " in line))
    changes = [
        measure.number
        for measure in read_measures(score)
        if measure.number > 1 and _HEAD.search(score, measure.start, measure.end)
    ]
    voices: dict[tuple[int, int], dict[int, str]] = {}
    for run in runs(score):
        for measure, text in run:
            if measure.closed and "\\" not in text and measure.number < min(changes, default=measure.number + 1):
                voices.setdefault((measure.staff, measure.voice), {})[measure.number] = text
    last_staff = max(voices, default=(0, 0))[0]
    upper = voices.pop(min(voices), {}) if voices else {}
    last = [voice for voice in voices if voice[0] == last_staff]
    lower = voices[min(last) if last_staff else max(last)] if last else {}
    shown = upper.keys() & lower.keys()
    numbers = next((range(n, n + _MEASURES) for n in sorted(shown) if shown >= {*range(n, n + _MEASURES)}), None)
    if numbers is None:
        return None
    staves = []
    for voice, clef, outer in ((upper, "treble", r"<[^>]*?(\S+)>"), (lower, "bass", r"<(\S+)[^>]*>")):
        lines = [re.sub(outer, r"\1", voice[number]) + " |" for number in numbers]
        text = "\n    ".join([" ".join([f'\\clef "{clef}"', *head, lines[0]]), *lines[1:]])
        staves.append(f"  \\new Staff {{\n    {text}\n  }}")
    return "\n".join(["<<", *staves, ">>", ""])
