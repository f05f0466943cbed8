"""Tables of LilyBench: the paper's Tables 2 and 3, and what is behind their figures.

Source: arXiv 2606.08722, Tables 2 and 3, sections 3.2, 3.3 and 4.2.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import Any

import pandas as pd

from music_evals.benchmarks import load, published
from music_evals.reports.records import Records, score_of
from music_evals.reports.table import Cell, Table
from music_evals.reports.tables.common import (
    Figures,
    Row,
    condition_rows,
    make_table,
    paper_labels,
    percent,
    run_table,
    share_of,
    title_of,
)
from music_evals.scorers.metrics import written
from music_evals.scorers.metrics.estimates import Estimate, average
from music_evals.scorers.score_tasks import CLEAN, count_estimates

AVERAGED = (
    "bar_count",
    "metadata_qa",
    "bar_sequencing",
    "next_bar_prediction",
    "metadata_prediction",
    "music_captioning",
    "composer_recognition",
    "genre_recognition",
)
"""The tasks on Mutopia that the paper averages."""
PAPER_PIECES = 1000
"""Of how many pieces the paper's Fréchet distances are; the distance falls with their number."""
PAPER_REFERENCES = {"bmdataset-test": "test", "mutopia": "Mut."}
CATEGORIES = (
    "invalid_metadata",
    "invalid_content",
    "invalid_bar_duration",
    "melodic_leap",
    "accidental_outside_key",
)
Pieces = Mapping[int, list[Any]]


def tables(records: Records) -> list[Table]:
    """Make the tables of understanding."""
    return [_table3(records), _bar_count(records), _error_detection(records)]


def _table3(records: Records) -> Table:
    """All tasks, with the paper's averages."""
    columns = [*load("lilybench").tasks, "Mutopia macro avg", "Mutopia weighted avg"]
    paper: dict[str, dict[str, Cell]] = {}
    for row in published("lilybench", "table3").rows:
        for model, value in row.figures.items():
            paper.setdefault(model, {})[row.labels["task"]] = Estimate(value)
    rows = []
    runs = records.current("lilybench")
    for cells, group in condition_rows(runs):
        scores = {run["task"]: records.score(number) for number, run in group.iterrows()}
        averaged = [score for score in map(scores.get, AVERAGED) if score]
        if len(averaged) == len(AVERAGED):
            scores[columns[-2]] = average(averaged)
            scores[columns[-1]] = average(averaged, [score.n or 0 for score in averaged])
        rows.append((cells, scores))
    title = "LilyBench Table 3: understanding"
    printed = [(paper_labels(model), figures) for model, figures in paper.items()]
    return make_table("lilybench_table3", title, columns, rows, runs, published=printed)


def _bar_count(records: Records) -> Table:
    """How far numbers of measures are off."""

    def within(name: str, run: int) -> Cell:
        items = records.main[run].reindex(columns=["answer", "right_answer", "item"])
        answers = items["answer"].astype(object).where(items["answer"].fillna("") != "", None)
        figures = count_estimates(
            answers.tolist(),
            items["right_answer"].tolist(),
            items["item"].nunique(),
            is_paper=records.runs.at[run, "protocol"] == "paper",
        )
        return figures.get(name)

    figures: Figures = {"Exact": records.score}
    for name in ("within_1", "within_5", "within_10", "median_absolute_error"):
        figures[title_of(name)] = partial(within, name)
    runs = records.current("lilybench", task="bar_count")
    return run_table("lilybench_bar_count", "LilyBench: errors of bar_count", runs, figures)


def _error_detection(records: Records) -> Table:
    """F1 by category of error."""

    def mean_f1(category: str, run: int) -> Cell:
        items = records.main[run]
        return score_of(items[items["stratum"] == category].assign(counts=True))

    def rate(is_clean: bool, run: int) -> Cell:
        """Exact answers on scores with an error; measures named on those without one."""
        items = records.main[run]
        if "answer" not in items:
            items = items.assign(answer=None)
        group = items[(items["stratum"] == CLEAN) == is_clean]
        answers = group["answer"].fillna("none")
        flags = answers != "none" if is_clean else answers == group["right_answer"]
        share = share_of(flags, group)
        return share and share.times(0.01, 3)

    figures: Figures = {category: partial(mean_f1, category) for category in CATEGORIES}
    figures |= {
        "Macro F1": records.score,
        "Exact": partial(rate, False),
        "False alarms": partial(rate, True),
    }
    paper: list[Row] = []
    for row in published("lilybench", "table3").rows:
        if row.labels["task"] == "error_detection":
            for model, value in row.figures.items():
                paper.append((paper_labels(model), {"Macro F1": Estimate(value)}))
    runs = records.current("lilybench", task="error_detection")
    title = "LilyBench: error_detection, F1 by category"
    return run_table("lilybench_error_detection", title, runs, figures, published=paper)


# --- generation ---


def generation_tables(records: Records) -> list[Table]:
    """Make the tables of generation."""
    runs = records.current("lilybench_generation")
    pieces = {number: list(records.main[number]["details"]) for number in runs.index}
    return [_table2(records, runs, pieces)]


_PRINTED = {
    "compile rate": ("Comp. (%)", 1),
    "JS test": ("JS (test)", 2),
    "JS Mutopia": ("JS (Mut.)", 2),
    "FMD test": ("FMD (test)", 3),
    "FMD Mutopia": ("FMD (Mut.)", 3),
}
"""Column of the paper's Table 2 → our heading, and decimals."""


def _table2(records: Records, runs: pd.DataFrame, pieces: Pieces) -> Table:
    """Compile rate, JS and FMD against the paper's references."""

    def figure(name: str, run: int) -> Cell:
        is_of_paper = name.partition("/")[0] in PAPER_REFERENCES
        is_biased = name.endswith("/fmd") and len(written.embedded(pieces[run])) != PAPER_PIECES
        return None if is_of_paper and is_biased else records.score(run, f"written_music/{name}")

    figures = {
        "Original (%)": partial(_rate, pieces, of=written.original),
        "Comp. (%)": partial(_rate, pieces, of=partial(map, itemgetter("compiles"))),
        "With notes (%)": partial(_rate, pieces, of=partial(map, itemgetter("has_notes"))),
    }
    names = chain.from_iterable(own[0]["references"] for own in pieces.values())
    references = {**PAPER_REFERENCES, **{name: PAPER_REFERENCES.get(name, name) for name in names}}
    for title, name in {"JS": "js", "FMD": "fmd", "FMD∞": "fmd_infinity"}.items():
        for reference, short in references.items():
            figures[f"{title} ({short})"] = partial(figure, f"{reference}/{name}")
    paper = []
    for row in published("lilybench_generation", "table2").rows:
        values = {}
        for name, (heading, decimals) in _PRINTED.items():
            if name in row.figures:
                values[heading] = Estimate(row.figures[name], decimals=decimals)
        paper.append(([row.labels["regime"], *paper_labels(row.labels["model"])], values))
    groups, title = {"Regime": "regime"}, "LilyBench Table 2: generation"
    return run_table(
        "lilybench_table2",
        title,
        runs,
        figures,
        groups=groups,
        published=paper,
        without=("regime",),
    )


def _rate(pieces: Pieces, run: int, *, of: Callable[[Sequence[Any]], Iterable[float]]) -> Cell:
    """The mean of a value of a run's pieces."""
    return percent(written.rate(pieces[run], [*of(pieces[run])]))
