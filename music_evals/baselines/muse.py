"""How the reader answers MUSE: from the notes of the MIDI text in the prompt."""

import re
from random import Random
from typing import Any, Final

from music_evals.baselines.asking import Request
from music_evals.notation.midi.files import parse_midi_text
from music_evals.solvers.symbolic.music import CHORD_QUALITY, SYNCOPATION, TRANSPOSITION
from music_evals.solvers.symbolic.schema import FormulationError, Schema

SOLVERS: Final = {"syncopation": SYNCOPATION, "transposition": TRANSPOSITION, "chord_quality": CHORD_QUALITY}
"""Task → its solver."""

_KICK, _SNARE = 36, 38
_INTEGER: Final = re.compile(r"-?[0-9]{1,6}")


def read(request: Request, error_rate: float) -> str:
    """Answer from MIDI text, with a letter or with symbolic lines; the share `error_rate` of these lines is garbled.

    ValueError if a stimulus is no MIDI text, or its notes fit no option.
    """
    solver = SOLVERS[request.keys["task"]]
    if request.keys["answer_type"] == "symbols":
        identifiers = request.keys["identifiers"]
        refused = request.keys.get("refused")
        lists = _transcribed(request) if refused is None else _repaired(refused, solver.schema, len(identifiers))
        lines = solver.schema.write(identifiers, lists)
        return _garbled(lines, request.random) if request.random.random() < error_rate else lines
    decision = solver.decide(_transcribed(request))
    if decision.answer is None:
        raise ValueError(decision.result)
    return request.worded(decision.answer)


def arguments_of(request: Request, lines: str) -> list[dict[str, Any]]:
    """The arguments of the tool calls for symbolic lines; garbled lines become a malformed call."""
    schema, identifiers = SOLVERS[request.keys["task"]].schema, request.keys["identifiers"]
    try:
        return schema.arguments(identifiers, schema.parse(lines, identifiers))
    except FormulationError:
        return [{schema.listed: lines}]


def _transcribed(request: Request) -> list[list[int]]:
    """The integers of a formulation."""
    task, lists = request.keys["task"], []
    for text in map(parse_midi_text, request.music):
        notes = sorted(text.notes, key=lambda note: note.onset)
        if task == "syncopation":
            hits = [note for note in notes if note.is_drum and note.pitch in (_KICK, _SNARE)]
            lists.append([1 + round(2 * note.onset / text.ticks_per_beat) for note in hits])
        else:
            pitches = [note.pitch for note in notes]
            lists.append(sorted(set(pitches)) if task == "chord_quality" else pitches)
    return lists


def _garbled(lines: str, random: Random) -> str:
    """Break the lines as models do, in a way that leaves the numbers readable."""
    ways = {
        "commentary": lambda: f"Here is my transcription:\n{lines}",
        "code fence": lambda: f"```\n{lines}\n```",
        "broken bracket": lambda: lines.replace("])", ")", 1),
        "line twice": lambda: f"{lines}\n{lines.splitlines()[0]}",
        "wrong functor": lambda: "notes" + lines[lines.index("(") :],
        "wrong identifier": lambda: re.sub(r"\(([^,]+),", r"(\1.wav,", lines, count=1),
        "out of range": lambda: lines.replace("])", ", 999])", 1),
    }
    return ways[random.choice(list(ways))]()


def _repaired(refused: str, schema: Schema, count: int) -> list[list[int]]:
    """The integers of garbled lines that lie in range."""
    insides = [line.partition("[")[2] for line in refused.splitlines() if "[" in line]
    lists = [[int(number) for number in _INTEGER.findall(inside)] for inside in insides] + [[] for _ in range(count)]
    return [[number for number in numbers if schema.lowest <= number <= schema.highest] for numbers in lists[:count]]
