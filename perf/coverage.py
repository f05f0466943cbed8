"""How often 95% intervals hold the true value, in simulations with the questions of real logs.

    python perf/coverage.py logs

takes logs of any runs, for instance of ``music-evals run NAME --model baseline/chance``. For each task it draws answers
for the same questions, on the same pieces and in the same strata, and counts how often the suite's interval holds the
true score. Pieces have probabilities of their own with an intraclass correlation of 0.2. The true score is drawn anew
for each simulation, evenly from 0.2 to 0.9. Three further tables show how intervals were made before: chats of 20
questions, unanimous judges, and a suite mean in which four benchmarks ask the same questions.
"""

import argparse
from collections.abc import Callable, Hashable, Sequence

import numpy as np

from music_evals.reports.records import read_records
from music_evals.scorers.metrics.estimates import Estimate, average, estimate

CORRELATION = 0.2
RANGE = (0.2, 0.9)
BOUNDS = (93.0, 97.0)


def probabilities(rng: np.random.Generator, mean: float, count: int, correlation: float = CORRELATION) -> np.ndarray:
    """Draw the probability of a right answer for each cluster: a beta distribution with this correlation."""
    scale = 1 / correlation - 1
    return rng.beta(mean * scale, (1 - mean) * scale, count)


def holds(found: Estimate | None, truth: float) -> bool | None:
    """Whether an interval holds the truth; None without an interval."""
    if found is None or found.low is None or found.high is None:
        return None
    return found.low <= truth <= found.high


def coverage(simulate: Callable[[np.random.Generator], bool | None], runs: int) -> str:
    """The share of simulations whose interval holds the truth, in percent."""
    rng = np.random.default_rng(0)
    outcomes = [outcome for _ in range(runs) if (outcome := simulate(rng)) is not None]
    return f"{100 * np.mean(outcomes):.1f}" if outcomes else "no interval"


def judged(share: str) -> str:
    """What a coverage is called."""
    if share == "no interval":
        return ""
    low, high = BOUNDS
    return "too low" if float(share) < low else "conservative" if float(share) > high else ""


def of_questions(clusters: Sequence[Hashable], strata: Sequence[Hashable]) -> Callable[..., bool | None]:
    """Simulate answers to questions on these pieces."""
    names = {name: place for place, name in enumerate(dict.fromkeys(clusters))}
    place = np.array([names[name] for name in clusters])
    is_alone = len(names) == len(clusters)

    def simulate(rng: np.random.Generator) -> bool | None:
        truth = rng.uniform(*RANGE)
        chances = np.full(len(place), truth) if is_alone else probabilities(rng, truth, len(names))[place]
        values = (rng.random(len(place)) < chances).astype(float).tolist()
        return holds(estimate(values, None, clusters, strata), truth)

    return simulate


def of_chats(chats: int, is_clustered: bool, questions: int = 20) -> Callable[..., bool | None]:
    """Simulate chats about the same questions; both questions and chats differ in how easy they are."""
    items = [question for _ in range(chats) for question in range(questions)]
    clusters = [f"chat {chat}" for chat in range(chats) for _ in range(questions)] if is_clustered else items

    def simulate(rng: np.random.Generator) -> bool | None:
        truth = rng.uniform(*RANGE)
        of_question = probabilities(rng, truth, questions)
        of_chat = probabilities(rng, truth, chats)
        chances = np.clip(of_question + of_chat[:, None] - truth, 0, 1)
        values = (rng.random((chats, questions)) < chances).astype(float).ravel().tolist()
        return holds(estimate(values, items, clusters), truth)

    return simulate


def of_judges(scores: int, is_clustered: bool, questions: int = 12) -> Callable[..., bool | None]:
    """Simulate whether judges are unanimous, on scores with twelve questions each."""
    clusters = [score for score in range(scores) for _ in range(questions)] if is_clustered else None

    def simulate(rng: np.random.Generator) -> bool | None:
        truth = rng.uniform(*RANGE)
        chances = probabilities(rng, truth, scores).repeat(questions)
        return holds(estimate((rng.random(len(chances)) < chances).astype(float).tolist(), None, clusters), truth)

    return simulate


def of_suite(copies: int, distinct: int, questions: int = 120) -> Callable[..., bool | None]:
    """Simulate a suite mean of benchmarks, of which the first ones ask the same questions in one manner."""

    def simulate(rng: np.random.Generator) -> bool | None:
        truths = rng.uniform(*RANGE, distinct)
        found = []
        for place, truth in enumerate(truths):
            one = estimate((rng.random(questions) < truth).astype(float).tolist())
            found += [one] * (copies if place == 0 else 1)
        weights = [copies, *[1] * (distinct - 1)]
        return holds(average([one for one in found if one]), float(np.average(truths, weights=weights)))

    return simulate


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", nargs="+", help="logs, or folders of them")
    parser.add_argument("--runs", type=int, default=1000, help="simulations of a cell")
    given = parser.parse_args()
    records = read_records(given.logs)
    print("| task | questions | pieces | strata | coverage | |\n|---|---|---|---|---|---|")
    for number, run in records.current().drop_duplicates(["benchmark", "task"]).iterrows():
        items = records.main[number]
        items = items[items["counts"]].drop_duplicates("item")
        clusters, strata = items["cluster"].tolist(), items["stratum"].tolist()
        share = coverage(of_questions(clusters, strata), given.runs)
        name = f"{run['benchmark']}/{run['task']}"
        print(f"| {name} | {len(items)} | {len(set(clusters))} | {len(set(strata))} | {share} | {judged(share)} |")
    before_after = {
        **{
            f"{chats} chat(s) of 20 questions": (of_chats(chats, False), of_chats(chats, True))
            for chats in (1, 2, 3, 5, 10)
        },
        **{f"judges on {scores} scores": (of_judges(scores, False), of_judges(scores, True)) for scores in (8, 30)},
        **{
            f"suite of {distinct} benchmarks, one of them {copies} times": (of_suite(copies, distinct), of_suite(1, distinct))
            for copies, distinct in ((4, 2), (4, 4), (2, 4))
        },
    }
    print("\n| | before | after | |\n|---|---|---|---|")
    for name, simulations in before_after.items():
        before, after = (coverage(simulate, given.runs) for simulate in simulations)
        print(f"| {name} | {before} | {after} | {judged(after)} |")


if __name__ == "__main__":
    main()
