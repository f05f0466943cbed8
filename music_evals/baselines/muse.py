"""How the reader answers the tasks of MUSE and of The MUSE Benchmark: from the notes of the MIDI
text in the prompt.
"""

import re
from collections.abc import Callable, Mapping
from itertools import pairwise

from music_evals.baselines.asking import Request
from music_evals.notation.midi.files import parse_midi_text
from music_evals.solvers.symbolic import muse_ten, music
from music_evals.solvers.symbolic.music import SymbolicSolver
from music_evals.solvers.symbolic.schema import Schema

SOLVERS: Mapping[str, SymbolicSolver] = {**music.SOLVERS, **muse_ten.SOLVERS}
"""Task → its solver."""

_INTEGER = re.compile(r"-?[0-9]{1,6}")


def read(request: Request) -> str:
    """Answer from MIDI text, or with symbolic lines.

    ValueError if a stimulus is no MIDI text, or its notes fit no option.
    """
    task = request.keys["task"]
    if task in WITHOUT_SOLVER:
        return request.worded(request.keys["answers"][WITHOUT_SOLVER[task](request.music[0])])
    solver = SOLVERS[task]
    lists = [solver.transcribe(parse_midi_text(text)) for text in request.music]
    if request.keys["answer_type"] == "symbols":
        identifiers = request.keys["identifiers"]
        refused = request.keys.get("refused")
        if refused is not None:
            lists = _repaired(refused, solver.schema, len(identifiers))
        return solver.schema.write(identifiers, lists)
    decision = solver.decide(lists)
    if decision.answer is None and task == "meter" and "stimulus" not in request.keys:
        closest = min(pairwise(lists[0]), key=lambda pair: pair[1] - pair[0])
        decision = solver.decide([closest])
    if decision.answer is None:
        raise ValueError(decision.result)
    return request.worded(decision.answer)


def _repaired(refused: str, schema: Schema, count: int) -> list[list[int]]:
    """The integers of garbled lines that lie in range."""
    lists = []
    for line in refused.splitlines():
        _, bracket, inside = line.partition("[")
        if bracket:
            numbers = map(int, _INTEGER.findall(inside))
            lists.append(
                [number for number in numbers if schema.lowest <= number <= schema.highest]
            )
    return [*lists[:count], *[[]] * (count - len(lists))]


def _instrument(text: str) -> int:
    """Read the program, counted from 0: eight General MIDI programs are a family."""
    if any(note.is_drum for note in parse_midi_text(text).notes):
        return 3
    program = re.search(r"program_change channel=\d+ program=(\d+)", text)
    families = {0: 0, 3: 1, 4: 2}  # pianos, guitars, basses
    family = int(program[1]) // 8 if program else -1
    if family not in families:
        raise ValueError("the MIDI text names no program of a piano, guitar or bass")
    return families[family]


def _key_modulation(text: str) -> int:
    """Compare the fifth chord and the last one, on which the first and the last part close."""
    chords = muse_ten.chords_of(parse_midi_text(text))
    if len(chords) < 5:
        raise ValueError("the MIDI text has fewer than five triads")
    return int(chords[4] == chords[-1])


WITHOUT_SOLVER: Mapping[str, Callable[[str], int]] = {
    "instrument": _instrument,
    "key_modulation": _key_modulation,
}
"""Task without a solver → the place of the right option, by the MIDI text."""
