"""How often 95% intervals hold the true value, in simulations with the questions of real logs.

    python perf/coverage.py logs

takes logs of any runs, for instance of ``music-evals run NAME --model baseline/chance``. For each
task it draws answers for the same questions, on the same pieces and in the same strata, and counts
how often the suite's interval holds the true score. Pieces have probabilities of their own with an
intraclass correlation of 0.2. The true score is drawn anew for each simulation, evenly from 0.2 to
0.9.
"""

from typing import Annotated

import numpy as np
import typer
from pandas import DataFrame

from music_evals.reports.records import read_records
from music_evals.scorers.metrics.estimates import estimate

CORRELATION = 0.2
RANGE = (0.2, 0.9)
LEAST, MOST = 93.0, 97.0


def coverage(items: DataFrame, runs: int) -> str:
    """The share of simulations whose interval holds the truth, in percent, and what that is
    called.
    """
    rng = np.random.default_rng(0)
    clusters, strata = items["cluster"].tolist(), items["stratum"].tolist()
    names, places = np.unique(clusters, return_inverse=True)
    correlation = 1e-6 if len(names) == len(clusters) else CORRELATION
    scale = 1 / correlation - 1
    outcomes = []
    for _ in range(runs):
        truth = rng.uniform(*RANGE)
        probabilities = rng.beta(truth * scale, (1 - truth) * scale, len(names))
        values = (rng.random(len(places)) < probabilities[places]).astype(float)
        result = estimate(values.tolist(), None, clusters, strata)
        if result and result.low is not None and result.high is not None:
            outcomes.append(result.low <= truth <= result.high)
    if not outcomes:
        return "no interval"
    share = 100 * float(np.mean(outcomes))
    if share < LEAST:
        return f"{share:.1f} (too low)"
    return f"{share:.1f} (conservative)" if share > MOST else f"{share:.1f}"


def main(
    logs: list[str],
    runs: Annotated[int, typer.Option(help="Simulations per task.")] = 1000,
) -> None:
    """Print a row for each task."""
    records = read_records(logs)
    print("| task | questions | pieces | coverage |\n|---|---|---|---|")
    for number, run in records.current().drop_duplicates(["benchmark", "task"]).iterrows():
        items = records.main[number]
        items = items[items["counts"]].drop_duplicates("item")
        task, pieces = f"{run['benchmark']}/{run['task']}", items["cluster"].nunique()
        print(f"| {task} | {len(items)} | {pieces} | {coverage(items, runs)} |", flush=True)


if __name__ == "__main__":
    typer.run(main)
