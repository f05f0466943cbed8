"""How often 95% intervals hold the true value, in simulations with the questions of real logs.

    python perf/coverage.py logs

takes logs of any runs, for instance of ``music-evals run NAME --model baseline/chance``. For each
task it draws answers for the same questions, on the same pieces and in the same strata, and counts
how often the suite's interval holds the true score. Pieces have probabilities of their own with an
intraclass correlation of 0.2. The true score is drawn anew for each simulation, evenly from 0.2 to
0.9. Three further tables show how intervals were made before: chats of 20 questions, unanimous
judges, and a suite mean in which four benchmarks ask the same questions.
"""

import argparse
from collections.abc import Callable, Hashable, Sequence
from functools import partial

import numpy as np

from music_evals.reports.records import read_records
from music_evals.scorers.metrics.estimates import Estimate, average, estimate
from music_evals.scorers.metrics.resampling import Floats

CORRELATION = 0.2
RANGE = (0.2, 0.9)
LEAST, MOST = 93.0, 97.0
QUESTIONS = 20  # of a chat
Names = Sequence[Hashable] | None
Simulate = Callable[[np.random.Generator], bool | None]


def probabilities(
    rng: np.random.Generator, mean: float, count: int, correlation: float = CORRELATION
) -> Floats:
    """Draw the probability of a right answer for each cluster: a beta distribution with this
    correlation.
    """
    scale = 1 / correlation - 1
    return rng.beta(mean * scale, (1 - mean) * scale, count)


def holds(found: Estimate | None, truth: float) -> bool | None:
    """Whether an interval holds the truth; None without an interval."""
    if found is None or found.low is None or found.high is None:
        return None
    return found.low <= truth <= found.high


def coverage(simulate: Simulate, runs: int) -> str:
    """The share of simulations whose interval holds the truth, in percent, and what that is
    called.
    """
    rng = np.random.default_rng(0)
    outcomes = [outcome for _ in range(runs) if (outcome := simulate(rng)) is not None]
    if not outcomes:
        return "no interval"
    share = 100 * float(np.mean(outcomes))
    remark = " (too low)" if share < LEAST else " (conservative)" if share > MOST else ""
    return f"{share:.1f}{remark}"


def of_questions(
    clusters: Sequence[Hashable], strata: Names = None, *, is_known: bool = True
) -> Simulate:
    """Simulate answers to questions on these pieces; the interval may know of them or not."""
    names = {name: place for place, name in enumerate(dict.fromkeys(clusters))}
    place = np.array([names[name] for name in clusters])
    correlation = 1e-6 if len(names) == len(clusters) else CORRELATION

    def simulate(rng: np.random.Generator) -> bool | None:
        truth = rng.uniform(*RANGE)
        values = rng.random(len(place)) < probabilities(rng, truth, len(names), correlation)[place]
        return holds(
            estimate(values.astype(float).tolist(), None, clusters if is_known else None, strata),
            truth,
        )

    return simulate


def of_chats(chats: int, *, is_known: bool) -> Simulate:
    """Simulate chats about the same questions; both questions and chats differ in how easy they
    are.
    """
    items = [*range(QUESTIONS)] * chats
    clusters = np.repeat(range(chats), QUESTIONS).tolist()

    def simulate(rng: np.random.Generator) -> bool | None:
        truth = rng.uniform(*RANGE)
        of_question, of_chat = (probabilities(rng, truth, count) for count in (QUESTIONS, chats))
        values = rng.random((chats, QUESTIONS)) < of_question + of_chat[:, None] - truth
        return holds(
            estimate(values.astype(float).ravel().tolist(), items, clusters if is_known else items),
            truth,
        )

    return simulate


def of_suite(copies: int, *, is_known: bool) -> Simulate:
    """Simulate a suite of two tests, of which one is counted once or several times."""
    counts = [1, 1] if is_known else [copies, 1]

    def simulate(rng: np.random.Generator) -> bool | None:
        truths = rng.uniform(*RANGE, 2)
        tests = [estimate((rng.random(120) < truth).astype(float).tolist()) for truth in truths]
        found = [
            test for test, count in zip(tests, counts, strict=True) for _ in range(count) if test
        ]
        return holds(average(found), float(np.average(truths, weights=counts)))

    return simulate


COMPARED: dict[str, Callable[..., Simulate]] = {
    **{
        f"{chats} chats of {QUESTIONS} questions": partial(of_chats, chats)
        for chats in (1, 2, 3, 5, 10)
    },
    **{
        f"judges on {scores} scores": partial(of_questions, [*range(scores)] * 12)
        for scores in (8, 30)
    },
    **{
        f"suite with one of two tests {copies} times": partial(of_suite, copies)
        for copies in (2, 4)
    },
}


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("logs", nargs="+", help="logs, or folders of them")
    parser.add_argument("--runs", type=int, default=1000, help="simulations of a cell")
    given = parser.parse_args()
    records = read_records(given.logs)
    print("| task | questions | pieces | coverage |\n|---|---|---|---|")
    for number, run in records.current().drop_duplicates(["benchmark", "task"]).iterrows():
        items = records.main[number]
        items = items[items["counts"]].drop_duplicates("item")
        clusters, strata = items["cluster"].tolist(), items["stratum"].tolist()
        shown = coverage(of_questions(clusters, strata), given.runs)
        print(
            f"| {run['benchmark']}/{run['task']} | {len(items)} | {len(set(clusters))} | {shown} |"
        )
    print("\n| | before | after |\n|---|---|---|")
    for name, simulation in COMPARED.items():
        before, after = (
            coverage(simulation(is_known=is_known), given.runs) for is_known in (False, True)
        )
        print(f"| {name} | {before} | {after} |")


if __name__ == "__main__":
    main()
