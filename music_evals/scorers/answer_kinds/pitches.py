"""Pitches as MIDI numbers, names with octaves (C4 is 60), or frequencies in Hz.

Conventions: a reference is MIDI numbers with spaces between. ``pitch`` is right if the number is
the same, and in Hz within 1%. ``set`` is right if all of it is; a frequency counts as its nearest
note. ``sequence`` and ``voice`` are worth the F1 of their longest common subsequence with the
reference, 2·LCS / (n + m); frequencies agree within 1 Hz, or 1% in ``voice``. Spelling does not
count: C♯4 is D♭4.

Source: arXiv 2605.26176, section 3.
"""

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from music_evals.scorers.answer_kinds.kind import AnswerKind
from music_evals.scorers.answer_kinds.runs import single_run, with_points
from music_evals.scorers.metrics.transcription import note_f1
from music_evals.scorers.readers.checking import affirmed
from music_evals.scorers.readers.pitches import SEMITONES, read_pitches
from music_evals.scorers.readers.words import folded

_NAMES = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")
_MIDI = re.compile(r"(?:(?<=\d-)|(?<![A-Za-z0-9.#-]))\d{1,3}(?![A-Za-z0-9#]|\.\d)")
_HZ = re.compile(r"(?i)(?<![A-Za-z0-9.#])(\d{1,5}(?:\.\d{1,6})?)(?![\d.]*\d)( ?k?hz)?")
_COLUMNS = {"midi": "midi", "name": "note|pitch|name", "hz": "hz|freq"}
_MOST = 500  # pitches of an answer
_TOLERANCES = {
    "pitch": (0.01, 0.0),
    "voice": (0.01, 0.0),
    "sequence": (0.0, 1.0),
    "set": (1.0, 0.0),
}
"""How far a frequency may be from that of the nearest note: a share of it, and Hz."""

Span = tuple[int, int, float]


def make(name: str, argument: str, _: Sequence[str]) -> AnswerKind:
    """Make ``pitch``, ``sequence``, ``voice`` or ``set`` in a spelling."""
    return AnswerKind(
        read=partial(_read, name, argument),
        score=partial(_score, name, argument),
        write=partial(_write, argument),
        is_list=name != "pitch",
        column=_COLUMNS[argument],
    )


def frequency(midi: Any) -> Any:
    """Return the frequency of a MIDI number in Hz, in equal temperament at A4 = 440 Hz; also of an
    array of numbers.

    >>> frequency(69)
    440.0
    """
    return 440 * 2 ** ((midi - 69) / 12)


def _write(spelling: str, reference: str) -> str:
    numbers = [int(number) for number in reference.split()]
    if spelling == "name":
        return ", ".join(f"{_NAMES[midi % 12]}{midi // 12 - 1}" for midi in numbers)
    if spelling == "hz":
        return ", ".join(f"{frequency(midi):.2f}" for midi in numbers)
    return ", ".join(map(str, numbers))


# --- reading ---


def _read(name: str, spelling: str, statement: str) -> list[str]:
    text, spans = _placed(spelling, affirmed(folded(statement)))
    if name == "pitch":
        return [f"{value:g}" for value in dict.fromkeys(value for *_, value in spans)]
    values = single_run(text, spans)
    if name == "set":
        values = sorted(set(values))
    return [" ".join(f"{value:g}" for value in values)] if 0 < len(values) <= _MOST else []


def _placed(spelling: str, text: str) -> tuple[str, list[Span]]:
    """A text in plain form, with the places of its pitches."""
    if spelling == "name":
        pitches = read_pitches(re.sub(r"\d+\.\d+(?: ?s\b)?", " ", text))
        spans = [span for span in pitches.spans if span[2][2] is not None]
        return pitches.text, [
            (start, end, float(12 * (octave + 1) + SEMITONES[letter] + shift))
            for start, end, (letter, shift, octave) in spans
        ]
    text = re.sub(r"(?<![A-Za-z0-9])[A-G](?:##|#|bb|b)?\d\b", " ", text)
    if spelling == "midi":
        spans = [(*match.span(), float(match[0])) for match in _MIDI.finditer(text)]
        return text, [span for span in spans if span[2] <= 127]
    text = with_points(text)
    return text, [
        (*match.span(), float(match[1]) * (1000 if "k" in match[0].lower() else 1))
        for match in _HZ.finditer(text)
    ]


# --- scoring ---


def _score(name: str, spelling: str, answer: str, reference: str) -> float:
    expected = list(map(int, reference.split()))
    numbers = notes = np.array(answer.split(), float)
    if spelling == "hz":
        nearest = np.round(69 + 12 * np.log2(np.maximum(numbers, 1) / 440))
        is_near = np.isclose(numbers, frequency(nearest), *_TOLERANCES[name])
        notes = np.where(is_near, nearest, -1)
    given = [int(note) for note in notes]
    if name in ("pitch", "set"):
        return float({*given} == {*expected})
    return note_f1(given, expected, in_order=True)
