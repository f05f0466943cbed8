"""Pitches as MIDI numbers, names with octaves (C4 is 60), or frequencies in Hz.

Conventions: a reference is MIDI numbers with spaces between. ``pitch`` is right if the number is
the same, and in Hz within 1%. ``set`` is right if all of it is. ``sequence`` is worth the F1 of its
longest common subsequence with the reference, 2·LCS / (n + m), where frequencies agree within 1 Hz.
Spelling does not count: C♯4 is D♭4.

Source: arXiv 2605.26176, section 3.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from math import log2

from music_evals.scorers.answer_kinds.kind import AnswerKind
from music_evals.scorers.answer_kinds.runs import single_run, with_points
from music_evals.scorers.metrics.transcription import note_f1
from music_evals.scorers.readers.checking import affirmed
from music_evals.scorers.readers.pitches import read_pitches
from music_evals.scorers.readers.words import folded

_NATURALS = dict(zip("CDEFGAB", (0, 2, 4, 5, 7, 9, 11), strict=True))
_NAMES = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")
_MIDI = re.compile(r"(?:(?<=\d-)|(?<![A-Za-z0-9.#-]))\d{1,3}(?![A-Za-z0-9#]|\.\d)")
_HZ = re.compile(r"(?i)(?<![A-Za-z0-9.#])(\d{1,5}(?:\.\d{1,6})?)(?![\d.]*\d)( ?k?hz)?")
_LABELLED = re.compile(
    r"(?i)midi(?: note)?(?: number| no\.?)?\W{0,3}(?:is |of )?(\d{1,3})(?![\d.]*\d)"
)
_MOST = 500  # pitches of an answer
_SHARE_OF_HZ = 0.01
_HZ_APART = 1.0

Span = tuple[int, int, float]


def make(name: str, argument: str, _: Sequence[str]) -> AnswerKind:
    """Make ``pitch``, ``sequence`` or ``set`` in a spelling."""
    read: Callable[[str], list[str]] = partial(_read_list, argument, name == "set")
    if name == "pitch":
        read = partial(_read_pitch, argument)
    score = partial(_SCORES[name], argument)
    return AnswerKind(
        name=f"{name}:{argument}",
        read=read,
        score=score,
        write=partial(_write, argument),
        is_list=name != "pitch",
    )


def frequency(midi: float) -> float:
    """Return the frequency of a MIDI number in Hz, in equal temperament at A4 = 440 Hz.

    >>> frequency(69)
    440.0
    """
    return float(440 * 2 ** ((midi - 69) / 12))


def _write(spelling: str, reference: str) -> str:
    return ", ".join(_spelled(spelling, int(number)) for number in reference.split())


def _spelled(spelling: str, midi: int) -> str:
    if spelling == "name":
        return f"{_NAMES[midi % 12]}{midi // 12 - 1}"
    return f"{frequency(midi):.2f}" if spelling == "hz" else str(midi)


# --- reading ---


def _read_pitch(spelling: str, statement: str) -> list[str]:
    text, spans = _placed(spelling, affirmed(folded(statement)))
    if spelling == "midi" and (labelled := _LABELLED.findall(text)):
        return [*dict.fromkeys(labelled)]
    with_unit = [span for span in spans if "hz" in text[span[0] : span[1]].lower()]
    return [f"{value:g}" for value in dict.fromkeys(value for *_, value in with_unit or spans)]


def _read_list(spelling: str, is_set: bool, statement: str) -> list[str]:
    values = single_run(*_placed(spelling, affirmed(folded(statement))))
    if not values or len(values) > _MOST:
        return []
    if is_set:
        values = sorted(set(values))
    return [" ".join(f"{value:g}" for value in values)]


def _placed(spelling: str, text: str) -> tuple[str, list[Span]]:
    """A text in plain form, with the places of its pitches."""
    if spelling == "name":
        pitches = read_pitches(text)
        places = [(start, end, _midi_of(*pitch)) for start, end, pitch in pitches.spans]
        return pitches.text, [place for place in places if place[2] >= 0]
    if spelling == "midi":
        spans = [(*match.span(), float(match[0])) for match in _MIDI.finditer(text)]
        return text, [span for span in spans if span[2] <= 127]
    text = with_points(text)
    return text, [(*match.span(), _hertz(match)) for match in _HZ.finditer(text)]


def _midi_of(letter: str, shift: int, octave: int | None) -> float:
    """The MIDI number of a name; negative without an octave."""
    return -1.0 if octave is None else float(12 * (octave + 1) + _NATURALS[letter] + shift)


def _hertz(match: re.Match[str]) -> float:
    is_kilo = "k" in (match[2] or "").lower()
    return float(match[1]) * (1000 if is_kilo else 1)


# --- scoring ---


def _score_pitch(spelling: str, answer: str, reference: str) -> float:
    if not answer:
        return 0.0
    given, expected = float(answer), float(reference)
    if spelling == "hz":
        return float(abs(given / frequency(expected) - 1) <= _SHARE_OF_HZ)
    return float(given == expected)


def _score_set(spelling: str, answer: str, reference: str) -> float:
    given = [float(number) for number in answer.split()]
    expected = sorted({float(number) for number in reference.split()})
    if len(given) != len(expected):
        return 0.0
    pairs = zip(sorted(given), expected, strict=True)
    return float(all(_score_pitch(spelling, str(one), str(other)) for one, other in pairs))


def _score_sequence(spelling: str, answer: str, reference: str) -> float:
    given = [float(number) for number in answer.split()]
    notes = [_nearest_note(hertz) for hertz in given] if spelling == "hz" else [*map(int, given)]
    return note_f1(notes, [int(number) for number in reference.split()], in_order=True)


def _nearest_note(hertz: float) -> int:
    """The MIDI number of a frequency; -1 if no note is within 1 Hz."""
    midi = round(69 + 12 * log2(hertz / 440)) if hertz > 0 else -1
    return midi if abs(frequency(midi) - hertz) <= _HZ_APART else -1


_SCORES: dict[str, Callable[[str, str, str], float]] = {
    "pitch": _score_pitch,
    "set": _score_set,
    "sequence": _score_sequence,
}
