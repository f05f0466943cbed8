"""How the baselines answer MUSE: by reading the MIDI text in the prompt, or by chance.

Both return what a model would write. The reader goes by the notes alone, never by a label; chance never looks at them.
"""

import re
from collections.abc import Sequence
from random import Random

from music_evals.baselines.conversation import Conversation, final_line
from music_evals.notation.midi import MidiText, parse_midi_text
from music_evals.solvers.symbolic.music import (
    CHORD_QUALITY,
    DIFFERENT,
    LEVELS,
    QUALITIES,
    SAME,
    SYNCOPATION,
    TRANSPOSITION,
    SymbolicSolver,
)

KICK, SNARE, PERCUSSION = 36, 38, 9
CANNOT_HEAR = "There is no MIDI text here, and reading is all that this baseline can do."

_MIDI = re.compile(r"^ticks_per_beat=.*?^[^\n]*\bend_of_track\b[^\n]*$", re.MULTILINE | re.DOTALL)
_INTEGER = re.compile(r"-?[0-9]{1,6}")
_SOLVERS = {solver.schema.functor: solver for solver in (SYNCOPATION, TRANSPOSITION, CHORD_QUALITY)}


def read(conversation: Conversation, error_rate: float, random: Random) -> str:
    """Answer from the MIDI text in the prompt.

    Args:
        conversation: the conversation up to the turn to be answered.
        error_rate: share of symbolic lines to garble on purpose, from 0 to 1.
        random: decides which lines are garbled, and how.

    Returns:
        The symbolic lines where they are asked for, else the answer in the form asked for; where the prompt holds no
        MIDI text, a sentence that says so and answers nothing.
    """
    refused = conversation.refused
    if refused is not None:
        functor, identifiers = conversation.required_lines()
        if functor not in _SOLVERS:
            return CANNOT_HEAR
        lines = _repaired(refused, _SOLVERS[functor], identifiers)
        return _garbled(lines, random) if random.random() < error_rate else lines
    performances = [parse_midi_text(text) for text in _MIDI.findall(conversation.trial.text)]
    if not performances:
        return CANNOT_HEAR
    solver, lists = _transcribed(performances)
    if conversation.wants_formulation([solver.schema.functor]):
        lines = solver.schema.write(conversation.identifiers(), lists)
        return _garbled(lines, random) if random.random() < error_rate else lines
    answer = solver.decide(lists).answer
    return final_line(conversation, answer) if answer is not None else CANNOT_HEAR


def guess(conversation: Conversation, random: Random) -> str:
    """Answer with an option drawn uniformly; a symbolic line is made up so that the solver decides for that option.

    Args:
        conversation: the conversation up to the turn to be answered.
        random: the source of chance.

    Returns:
        The symbolic lines where they are asked for, else the answer in the form asked for.
    """
    functor, identifiers = conversation.wants_formulation(list(_SOLVERS)), conversation.identifiers()
    if conversation.refused is not None:
        functor, identifiers = conversation.required_lines()
    if functor in _SOLVERS:
        return _SOLVERS[functor].schema.write(identifiers, _made_up(functor, random))
    if options := conversation.options():
        return final_line(conversation, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[random.randrange(len(options))])
    if sentences := conversation.sentences():
        return final_line(conversation, random.choice(sentences))
    return "No options were given."


def _transcribed(performances: Sequence[MidiText]) -> tuple[SymbolicSolver, list[list[int]]]:
    """The task that the notes belong to, and the integers of its formulation."""
    if len(performances) == 2:
        return TRANSPOSITION, [[note.pitch for note in sorted(p.notes, key=_onset)] for p in performances]
    (performance,) = performances[:1]
    if any(note.channel == PERCUSSION for note in performance.notes):
        slots = [
            1 + round(2 * note.onset / performance.ticks_per_beat)
            for note in performance.notes
            if note.channel == PERCUSSION and note.pitch in (KICK, SNARE)
        ]
        return SYNCOPATION, [sorted(slots)]
    return CHORD_QUALITY, [sorted({note.pitch for note in performance.notes})]


def _onset(note: object) -> int:
    onset: int = note.onset  # type: ignore[attr-defined]
    return onset


def _garbled(lines: str, random: Random) -> str:
    """Break the lines in one of the ways that models do, such that the numbers can still be made out."""
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


def _repaired(refused: str, solver: SymbolicSolver, identifiers: list[str]) -> str:
    """Rewrite garbled lines from the integers that lie in range."""
    schema = solver.schema
    lists = []
    for line in refused.splitlines():
        inside = line.partition("[")[2]
        numbers = [int(number) for number in _INTEGER.findall(inside)]
        if inside:
            lists.append([number for number in numbers if schema.lowest <= number <= schema.highest])
    lists += [[] for _ in identifiers]
    return schema.write(identifiers, lists[: len(identifiers)])


def _made_up(functor: str, random: Random) -> list[list[int]]:
    if functor == SYNCOPATION.schema.functor:
        off_beats = random.sample(range(2, 33, 2), random.choice(list(LEVELS)))
        return [sorted([*random.sample(range(1, 33, 2), 12), *off_beats])]
    if functor == TRANSPOSITION.schema.functor:
        first = [random.randrange(55, 80) for _ in range(12)]
        second = [pitch + 5 for pitch in first]
        if random.choice([SAME, DIFFERENT]) == DIFFERENT:
            second[-1] += 1
        return [first, second]
    root = random.randrange(48, 72)
    _, intervals = QUALITIES[random.choice(list(QUALITIES))]
    return [sorted(root + interval for interval in intervals)]
