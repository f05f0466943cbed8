"""Times in seconds: ``times`` and ``beats`` by their F-measure, ``all_times`` right or wrong.

Conventions: a time is ``3.25`` or ``MM:SS.cc``. The argument is the tolerance in seconds. ``beats``
are ±70 ms, and no time at the beginning is left out. ``all_times`` asks for as many times as the
reference has, each within the tolerance.

Source: mir_eval.onset, mir_eval.beat.
"""

import re
from collections.abc import Sequence

import numpy as np

from music_evals.scorers.answer_kinds.kind import AnswerKind, commonest
from music_evals.scorers.answer_kinds.runs import single_run, with_points
from music_evals.scorers.readers.words import folded

_BEAT_WINDOW = 0.07  # seconds
_TIME = re.compile(
    r"(?<![A-Za-z0-9.])(?<!\d:)((?:\d{1,3}:){0,2})(\d{1,5}(?:\.\d{1,6})?)(?![\d:])( ?ms\b)?"
)
_MOST = 2_000  # times of an answer
_GRIDS = (0.4, 0.5, 0.6)  # seconds between the beats of a guess


def make(name: str, argument: str, _: Sequence[str]) -> AnswerKind:
    """Make a kind of times with a tolerance in seconds."""
    tolerance = float(argument or _BEAT_WINDOW)

    def score(answer: str, reference: str) -> float:
        given = _seconds(answer)
        expected = _seconds(reference)
        if name == "all_times":
            is_complete = len(given) == len(expected) > 0
            return float(is_complete and np.all(np.abs(given - expected) <= tolerance + 1e-9))
        if not answer:
            return 0.0
        from mir_eval.onset import f_measure

        return float(f_measure(expected, given, tolerance)[0])

    return AnswerKind(
        read=read,
        score=score,
        guesses=_with_grids if name == "beats" else commonest,
        is_list=True,
        column="time|onset|start|beat|second",
    )


def read(statement: str) -> list[str]:
    """Return the times of a statement as one list; nothing if they are not all in one.

    >>> read("at 00:01.50 and 00:03.25"), read("5 notes, one at 1.5")
    (['1.5 3.25'], [])
    """
    text = with_points(folded(statement))
    matches = list(_TIME.finditer(text))
    clock = [match for match in matches if match[1]]
    times = single_run(text, [(*match.span(), _time(match)) for match in clock or matches])
    return [" ".join(f"{time:g}" for time in sorted(times))] if 0 < len(times) <= _MOST else []


def _time(match: re.Match[str]) -> float:
    whole = 0
    for number in match[1].split(":")[:-1]:
        whole = 60 * (whole + int(number))
    return (whole + float(match[2])) / (1000 if match[3] else 1)


def _seconds(text: str) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    return np.array([float(time) for time in text.split()])


def _with_grids(references: Sequence[str]) -> list[str]:
    """The commonest references, and steady beats up to the longest one."""
    end = max(_seconds(reference)[-1] for reference in references)
    grids = [np.arange(step, end + step, step) for step in _GRIDS]
    return [" ".join(f"{time:.2f}" for time in grid) for grid in grids] + commonest(references)
