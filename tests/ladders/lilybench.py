"""Twelve graded solvers of LilyBench's levels: `python -m tests.ladders.lilybench`.

A solver works from the shown score. What it lacks: it misses a measure now and then (slips), sees
the beginning only (window, in characters), sees the first staves only, hears no accidentals, or
counts bar checks in the place of durations.
"""

import random
import re
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import chain, combinations
from statistics import fmean

from scipy.stats import kendalltau

from music_evals.datasets_builders.dataset_io import GENERATED, load_split
from music_evals.datasets_builders.lilybench.dataset import BENCHMARK
from music_evals.datasets_builders.lilybench.strict.errors import find_errors
from music_evals.scorers.metrics.measures import measure_f1
from music_evals.scorers.readers.written import measures_of

LEVELS = (2, 3, 4, 5)
REPEATS = 3
_WORD = re.compile(r"\\key (\S+) \\major|\\time (\S+)|[a-gr>][a-z]*[',]*(\d+)(\.*)")
_SIGNATURES = {
    **dict(
        zip(("aes", "ees", "bes", "f"), ("4 flats", "3 flats", "2 flats", "1 flat"), strict=True)
    ),
    **dict(zip(("e", "a", "d", "g"), ("4 sharps", "3 sharps", "2 sharps", "1 sharp"), strict=True)),
}
_TONICS = ["aes", "ees", "bes", "f", "c", "g", "d", "a", "e"]
_NOTE = re.compile(r"(?<![\\a-z])([a-g])(is|es|s|)([',]*)(\d+\.*)")
_COMMAND = re.compile(r'\\clef "\w+"|\\key \S+ \\\w+|\\time \S+')
_errors_of = cache(find_errors)


@dataclass(frozen=True)
class Solver:
    """What a solver lacks."""

    name: str
    slips: float = 0.0  # chance of missing a measure
    window: int = 10**9
    staves: int = 99
    accidentals: bool = True
    durations: bool = True

    def measures(self, score, draw):
        """Key and metre of each measure of the first staff, as the solver reads them."""
        staff = score[: self.window].split("\\new Staff")[1]
        key = metre = ""
        length = Fraction(0)
        read = []
        for new_key, new_metre, value, dots in _WORD.findall(staff):
            key = new_key or key
            metre = new_metre or metre
            if value:
                length += Fraction(1, int(value)) * (2 - Fraction(1, 2 ** len(dots)))
            if length and metre and length >= Fraction(metre):
                length -= Fraction(metre)
                read.append((_SIGNATURES.get(key, "no sharps or flats"), metre))
        if not self.durations:
            read = read[: staff.count("|")]
        return [sign for sign in read if draw.random() >= self.slips]

    def answer(self, row, draw):
        """Answer from the score, the options and the number of the measure in the question."""
        if row["kind"].endswith("_at"):
            number = int(row["id"].rpartition(".m")[2])
            read = self.measures(row["score"], draw)
            sign = read[min(number, len(read)) - 1][row["kind"] == "metre_at"] if read else ""
            options = row["options"]
            return str(options.index(sign)) if sign in options else str(draw.randrange(4))
        if not row["options"] and row["id"].startswith("bar_count"):
            return str(len(self.measures(row["score"], draw)))
        return self.errors(row["score"], draw)

    def errors(self, score, draw):
        """The measures with errors, of the complete lines of the staves that the solver sees."""
        shown = score[: self.window].rpartition("\n")[0] + "\n"
        parts = shown.split("  \\new Staff")
        shown = "  \\new Staff".join(parts[: self.staves + 1])
        ignored = {"accidental_outside_key"} if not self.accidentals else set()
        ignored |= {"invalid_bar_duration"} if not self.durations else set()
        places = [own for kind, own in _errors_of(shown).items() if kind not in ignored]
        lines = shown.count("\n")
        numbers = set(chain(*places))
        numbers = {number for number in numbers if draw.random() >= 20 * self.slips}
        if draw.random() < 1 - (1 - self.slips / 4) ** lines:  # a false alarm
            numbers.add(draw.randint(1, 60))
        return " ".join(map(str, sorted(numbers))) or "none"


SOLVERS = (
    Solver("reader"),
    Solver("slips 0.1%", slips=0.001),
    Solver("slips 0.3%", slips=0.003),
    Solver("window 24,000", window=24_000),
    Solver("slips 1%", slips=0.01),
    Solver("window 8,000", window=8_000),
    Solver("window 3,000, slips 0.3%", slips=0.003, window=3_000),
    Solver("slips 3%", slips=0.03),
    Solver("bar checks, no accidentals", durations=False, accidentals=False),
    Solver("window 1,200, two staves", window=1_200, staves=2),
    Solver("slips 10%", slips=0.1),
    Solver("first line", window=150, staves=1, accidentals=False),
)
"""From the strongest to the weakest, as intended."""


def compare(score):
    """The measures that differ by one word from another measure in whatever key, and from none by
    none; without knowledge of metre, key or intervals.
    """
    columns = measures_by_number(score)
    near = Counter()
    equal = set()
    for (one, first), (other, second) in combinations(enumerate(columns, 1), 2):
        if [*map(len, first)] == [*map(len, second)] and sum(map(len, first)) >= 5:
            differing = sum(map(differences, first, second))
            if differing == 0:
                equal |= {one, other}
            elif differing == 1:
                near.update((one, other))
    return " ".join(map(str, sorted(near.keys() - equal))) or "none"


def measures_by_number(score):
    """Of each measure and staff the words: step from C, accidental beyond the key signature, and
    duration.
    """
    staves = []
    for staff in score.split("\\new Staff")[1:]:
        signature = {}
        bars = []
        for bar in staff.split("|")[:-1]:
            for tonic in re.findall(r"\\key (\S+)", bar):
                sharps = _TONICS.index(tonic) - 4
                signature = dict.fromkeys("fcgdaeb"[: max(sharps, 0)], 1)
                signature |= dict.fromkeys("beadgcf"[: max(-sharps, 0)], -1)
            words = []
            for name, suffix, marks, length in _NOTE.findall(_COMMAND.sub("", bar)):
                altered = suffix.count("is") - suffix.count("es") - (suffix == "s")
                step = "cdefgab".index(name) + 7 * (marks.count("'") - marks.count(","))
                words.append((step, altered - signature.get(name, 0), length))
            bars.append(words)
        staves.append(bars)
    return [*zip(*staves, strict=True)]


def differences(first, second):
    """In how many words two measures of a staff differ, moved by the commonest distance."""
    distances = [one[0] - other[0] for one, other in zip(first, second, strict=True)]
    moved = max(distances, key=distances.count, default=0)
    return sum(
        distance != moved or one[1:] != other[1:]
        for distance, one, other in zip(distances, first, second, strict=True)
    )


def score_of(solver, rows, seed):
    """The mean score: exact answers, or F1 on scores with errors."""
    values = []
    for row in rows:
        if row["kind"] == "clean":
            continue
        answer = solver.answer(row, random.Random(f"{seed} {solver.name} {row['id']}"))
        if row["kind"] in ("", "key_at", "metre_at"):
            values.append(float(answer == row["answer"]))
        else:
            values.append(measure_f1(measures_of(answer), measures_of(row["answer"])))
    return fmean(values)


def main():
    """Print a table per task: scores by level, the level below 50%, and Kendall's tau by level."""
    for level in LEVELS:
        spec = replace(BENCHMARK, level=level)
        rows = load_split(GENERATED, "error_detection", "strict", benchmark=spec).to_list()
        wrong = [row for row in rows if row["kind"] != "clean"]
        pairs = [(measures_of(compare(row["score"])), measures_of(row["answer"])) for row in wrong]
        print(
            f"level {level}: comparing measures, F1 {fmean(measure_f1(*pair) for pair in pairs):.2f}"
        )
    for task in BENCHMARK.leveled:
        table = {}
        for level in LEVELS:
            spec = replace(BENCHMARK, level=level)
            rows = load_split(GENERATED, task, "strict", benchmark=spec).to_list()
            for solver in SOLVERS:
                runs = [score_of(solver, rows, seed) for seed in range(REPEATS)]
                table.setdefault(solver.name, []).append(runs)
        print(f"\n| {task} | 2 | 3 | 4 | 5 | below 50% from |\n|---|---|---|---|---|---|")
        for name, levels in table.items():
            first = [runs[0] for runs in levels]
            lost = next((str(n) for n, value in zip(LEVELS, first, strict=True) if value < 0.5), "")
            cells = " | ".join(f"{value:.2f}" for value in first)
            print(f"| {name} | {cells} | {lost or 'never'} |")
        long = [fmean(fmean(runs) for runs in levels) for levels in table.values()]
        for place, level in enumerate(LEVELS):
            single = [levels[place][0] for levels in table.values()]
            tau = kendalltau(long, single).statistic
            intended = kendalltau(range(len(SOLVERS), 0, -1), single).statistic
            print(
                f"level {level}: tau to the long test {tau:.2f}, to the intended order {intended:.2f}"
            )


if __name__ == "__main__":
    main()
