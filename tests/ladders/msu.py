"""Twelve solvers of graded skill for MSU-Bench's levels of difficulty.

``python -m tests.ladders.msu FOLDER…`` prints their scores on dataset folders of levels 2 to 5. Each
solver changes what it sees of the score or of the question, and then reads correctly.
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pyarrow.parquet as pq
from scipy.stats import kendalltau

from music_evals.baselines.msu import answer
from music_evals.notation.scores.chains import TARGET
from music_evals.scorers.readers.checking import check

Solver = Callable[[str, str, str], str]
_STEP = re.compile(r"Among the \d+ measures after .*?\. (?=Among|In|How|Which|What)")
_START = re.compile(r"after (measure \d+)")
_LINE = re.compile(r"^(.*)% ?(\d+)$", re.MULTILINE)


def _without_steps(text, place):
    return _STEP.sub("", text).replace(TARGET, place)


def noisy(rate):
    """Confuse the measure with another one, once per sentence and fact with this probability."""

    def solve(abc, text, kind):
        rng = Random(f"{rate}{text}")
        chances = len(_STEP.findall(text)) + 1
        if rng.random() < (1 - rate) ** chances:
            return answer(abc, text, kind)
        last = max(int(number) for _, number in _LINE.findall(abc))
        other = f"measure {rng.randint(1, last)}"
        return answer(abc, re.sub(r"measure \d+", other, _without_steps(text, other)), kind)

    return solve


def comparing(most):
    """Compare no more than the first measures of each sentence."""

    def solve(abc, text, kind):
        def shorter(match):
            return f"Among the {min(int(match[1]), most)} measures"

        return answer(abc, re.sub(r"Among the (\d+) measures", shorter, text), kind)

    return solve


def seeing(most):
    """See the first measures of the score alone."""

    def solve(abc, text, kind):
        lines = abc.splitlines()
        kept = [line for line in lines if not (m := _LINE.match(line)) or int(m[2]) <= most]
        return answer("\n".join(kept), text, kind)

    return solve


def without_accidentals(abc, text, kind):
    """Read no accidentals."""
    return answer(_LINE.sub(lambda m: re.sub(r"[_^=]+(?=[A-Ga-g])", "", m[0]), abc), text, kind)


def one_staff(abc, text, kind):
    """Look at the uppermost staff, whatever part is named."""
    part = r"the part “[^”]*”|staff \d+ from the top"
    return answer(abc, re.sub(part, "staff 1 from the top", text), kind)


def last_step(abc, text, kind):
    """Follow the last sentence alone, from the measure that the first one names."""
    steps = _STEP.findall(text)
    if len(steps) < 2:
        return answer(abc, text, kind)
    start = _START.search(steps[0])
    assert start
    return answer(abc, text.replace("".join(steps), steps[-1].replace("it,", f"{start[1]},")), kind)


def no_step(abc, text, kind):
    """Take the measure that the question names for the one that it asks for."""
    start = _START.search(text)
    return answer(abc, _without_steps(text, start[1]) if start else text, kind)


SOLVERS = {
    "reader": noisy(0),
    "noise 3%": noisy(0.03),
    "noise 7%": noisy(0.07),
    "noise 12%": noisy(0.12),
    "first 128 measures": seeing(128),
    "noise 20%": noisy(0.20),
    "no accidentals": without_accidentals,
    "noise 35%": noisy(0.35),
    "compares 8 measures": comparing(8),
    "uppermost staff": one_staff,
    "last step alone": last_step,
    "no step": no_step,
}
"""Name → solver, roughly from the best to the worst."""


def rows(folder, config):
    """Rows of all splits."""
    files = sorted(folder.glob(f"{config}/*.parquet"))
    columns = ["score_id", "abc"] if config == "scores" else None
    return [row for file in files for row in pq.read_table(file, columns=columns).to_pylist()]


def shares(folder):
    """The share of questions of a dataset that each solver answers."""
    scores = {row["score_id"]: row["abc"] for row in rows(folder, "scores")}
    questions = rows(folder, "questions")
    right = dict.fromkeys(SOLVERS, 0)
    for row in questions:
        for name, solve in SOLVERS.items():
            reply = solve(scores[row["score_id"]], row["question"], row["kind"])
            right[name] += check(reply, row["answer"], row["answer_type"]).is_right is True
    return {name: count / len(questions) for name, count in right.items()}


def main():
    """Print a table: solvers by level, and the agreement of each level with the mean of all."""
    tables = [shares(Path(folder)) for folder in sys.argv[1:]]
    means = {name: sum(table[name] for table in tables) for name in SOLVERS}
    for name in sorted(SOLVERS, key=lambda name: -means[name]):
        print(f"| {name} |", " | ".join(f"{table[name]:.2f}" for table in tables), "|")
    for table in tables:
        print(kendalltau([means[name] for name in SOLVERS], [table[name] for name in SOLVERS])[0])


if __name__ == "__main__":
    main()
