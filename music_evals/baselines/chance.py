"""The floors: an answer drawn by chance, and the commonest answer."""

from fractions import Fraction
from random import Random
from typing import Final

from music_evals.baselines.asking import Asked, BaselineError
from music_evals.baselines.muse import SOLVERS
from music_evals.solvers.symbolic.music import DIFFERENT, LEVELS, QUALITIES, SAME

_MOST_MEASURES: Final = 100
_ANSWERS: Final = {"rhythm": [*LEVELS.values()], "melody": [SAME, DIFFERENT], "chord": [*QUALITIES]}


def guess(asked: Asked, seed: int | None = None) -> str:
    """Answer by chance.

    That is one of the answers, drawn uniformly; an order; a number of measures from 1 to 100; one such measure, or
    none, as likely; the answer that a task with open questions drew of its kind; symbolic lines for which the solver
    decides for such an answer; or eight measures of random notes, others for each seed.
    """
    random, keys = asked.random, asked.keys
    match keys["answer_type"]:
        case "symbols":
            return made_up(asked, random.choice(_ANSWERS[keys["functor"]]))
        case "piece":
            return _piece(Random(f"{random.random()} {seed}"))
        case "number":
            return asked.worded(str(random.randint(1, _MOST_MEASURES)))
        case "measures":
            return asked.worded(random.choice([str(random.randint(1, _MOST_MEASURES)), "none"]))
        case "order":
            return asked.worded("".join(random.sample("0123", 4)))
        case "choice":
            return asked.worded(random.choice(keys["answers"]))
    return numbered(asked, keys.get("guess") or ["Unknown"])


def commonest(asked: Asked) -> str:
    """Answer as most rows are answered, also by symbolic lines; `BaselineError` where there is no such answer."""
    answer = asked.keys.get("majority")
    if asked.keys["answer_type"] == "symbols":
        return made_up(asked, answer or asked.random.choice(_ANSWERS[asked.keys["functor"]]))
    if answer is None:
        raise BaselineError(f"baseline/majority cannot answer {asked.task}, where no answer is commoner than others")
    return numbered(asked, answer) if isinstance(answer, list) else asked.worded(answer)


def numbered(asked: Asked, answers: list[str]) -> str:
    """Word answers to several questions, a numbered line each; one alone as it is asked for."""
    if "questions" not in asked.keys:
        return asked.worded(answers[0])
    return "\n".join(f"{number}. {answer}" for number, answer in enumerate(answers, 1))


def made_up(asked: Asked, answer: str) -> str:
    """Symbolic lines for which the solver decides for an answer."""
    random, functor = asked.random, asked.keys["functor"]
    if functor == "rhythm":
        off_beats = next(count for count, letter in LEVELS.items() if letter == answer)
        lists = [sorted([*random.sample(range(1, 33, 2), 12), *random.sample(range(2, 33, 2), off_beats)])]
    elif functor == "melody":
        first = [random.randrange(55, 80) for _ in range(12)]
        lists = [first, [*(pitch + 5 for pitch in first[:-1]), first[-1] + (5 if answer == SAME else 6)]]
    else:
        root = random.randrange(48, 72)
        lists = [sorted(root + interval for interval in QUALITIES[answer][1])]
    return SOLVERS[asked.keys["task"]].schema.write(asked.keys["identifiers"], lists)


def _piece(random: Random) -> str:
    """Eight measures of random notes: four octaves around middle C, lengths from whole to sixteenth."""
    notes: list[str] = []
    left = Fraction(8)
    while left:
        length = random.choice([length for length in (1, 2, 4, 8, 16) if Fraction(1, length) <= left])
        pitch = random.choice(("c", "cis", "d", "ees", "e", "f", "fis", "g", "aes", "a", "bes", "b"))
        pitch += random.choice((",", "", "'", "''"))
        notes.append(f"{pitch}{length}")
        left -= Fraction(1, length)
    music = "\n  ".join(" ".join(notes[start : start + 12]) for start in range(0, len(notes), 12))
    return (
        '```lilypond\n\\version "2.24.3"\n\n'
        f"\\score {{\n  {{\n  {music}\n  }}\n  \\layout {{ }}\n  \\midi {{ }}\n}}\n```"
    )
