"""The floors: an answer by chance, and the most common answer."""

from fractions import Fraction
from random import Random

from music_evals.baselines.asking import BaselineError, Request
from music_evals.baselines.muse import SOLVERS

_MOST_MEASURES = 100


def guess(request: Request, seed: int | None = None) -> str:
    """Answer by chance.

    All answers of a closed set are equally likely, and so are all orders and all numbers from 1 to
    100. Wrong measures are one such number or, as often, none. Open questions have the answer that
    the task drew among those to the same kind of question. Symbolic lines are made for an answer by
    chance; a piece is eight measures of random notes, other ones for each seed.
    """
    random = request.random
    keys = request.keys
    match keys["answer_type"]:
        case "symbols":
            return formulation(request, None)
        case "piece":
            return _piece(Random(f"{random.random()} {seed}"))
        case "number":
            return request.worded(str(random.randint(1, _MOST_MEASURES)))
        case "measures":
            return request.worded(random.choice([str(random.randint(1, _MOST_MEASURES)), "none"]))
        case "order":
            places = "0123456789"[: len(keys.get("options") or "0123")]
            return request.worded("".join(random.sample(places, len(places))))
        case "choice":
            return request.worded(random.choice(keys["answers"]))
    return numbered(request, keys.get("guess") or ["Unknown"])


def commonest(request: Request) -> str:
    """Give the most common answer, also as symbolic lines; `BaselineError` if there is none."""
    answer = request.keys.get("majority")
    if request.keys["answer_type"] == "symbols":
        return formulation(request, answer)
    if answer is None:
        raise BaselineError(
            f"baseline/majority cannot answer {request.task}, where no answer is commoner than "
            "others"
        )
    return numbered(request, answer) if isinstance(answer, list) else request.worded(answer)


def numbered(request: Request, answers: list[str]) -> str:
    """Word answers to several questions as numbered lines, or the answer to a single question in
    its form.
    """
    if "questions" not in request.keys:
        return request.worded(answers[0])
    return "\n".join(f"{number}. {answer}" for number, answer in enumerate(answers, 1))


def formulation(request: Request, answer: str | None) -> str:
    """Symbolic lines that lead the solver to an answer, without one to any by chance."""
    solver = SOLVERS[request.keys["task"]]
    lists = solver.examples[answer or request.random.choice(list(solver.examples))]
    return solver.schema.write(request.keys["identifiers"], lists)


def _piece(random: Random) -> str:
    """Eight measures of random notes: four octaves around middle C, lengths from whole to
    sixteenth.
    """
    notes = []
    left = Fraction(8)
    while left:
        length = random.choice(
            [length for length in (1, 2, 4, 8, 16) if Fraction(1, length) <= left]
        )
        pitch = random.choice(
            ("c", "cis", "d", "ees", "e", "f", "fis", "g", "aes", "a", "bes", "b")
        )
        pitch += random.choice((",", "", "'", "''"))
        notes.append(f"{pitch}{length}")
        left -= Fraction(1, length)
    music = "\n  ".join(" ".join(notes[start : start + 12]) for start in range(0, len(notes), 12))
    return (
        '```lilypond\n\\version "2.24.3"\n\n'
        f"\\score {{\n  {{\n  {music}\n  }}\n  \\layout {{ }}\n  \\midi {{ }}\n}}\n```"
    )
