"""Tables of MUSE: accuracy, LogicLM's formulations and transcriptions.

Source: arXiv 2510.22455, Tables 1 and 2 and section 3.
"""

from functools import partial
from itertools import product
from math import isnan, nan

from music_evals.benchmarks import load, published
from music_evals.reports.records import Records, score_of
from music_evals.reports.table import MEASURED, PUBLISHED, Cell, Table, notes
from music_evals.reports.tables.common import (
    LABELS,
    Figures,
    condition_rows,
    items_with,
    labels,
    make_table,
    paper_labels,
    percent,
    run_notes,
    run_table,
    share_of,
    title_of,
)
from music_evals.scorers.metrics.estimates import Estimate, Estimates

MODALITIES = {"audio": "Audio", "midi": "MIDI"}
SHOTS = {"zero": "Zero-shot", "few": "Few-shot"}
STRATEGIES = {"standalone": "Standalone", "cot": "CoT", "logiclm": "LogicLM"}
_FACTORS = ("modality", "shots", "strategy")


def tables(records: Records) -> list[Table]:
    """Make the tables of MUSE."""
    tasks = load("muse").tasks
    return [
        *(_table1(records, task) for task in tasks),
        formulations(records),
        *(transcriptions(records, task) for task in tasks),
    ]


def _table1(records: Records, task: str) -> Table:
    """Accuracy by modality, shots and strategy."""
    runs = records.current("muse", task=task)
    rows = []
    kinds = []
    for modality, shots in product(MODALITIES, SHOTS):
        first = [MODALITIES[modality], SHOTS[shots]]
        if len(runs):
            for model, figures in _published(task, modality, shots).items():
                rows.append([*first, *paper_labels(model), *map(figures.get, STRATEGIES)])
                kinds.append(PUBLISHED)
        measured = records.current("muse", task=task, modality=modality, shots=shots)
        for cells, group in condition_rows(measured, without=_FACTORS):
            scores = {run["strategy"]: records.percent(number) for number, run in group.iterrows()}
            rows.append([*first, *cells, *map(scores.get, STRATEGIES)])
            kinds.append(MEASURED)
    chance = 100 * (load("muse").tasks[task].chance or 0)
    title = f"MUSE Table 1, {title_of(task).lower()}: accuracy in percent, {chance:.0f} by chance"
    columns = ("Modality", "Shots", *LABELS, *STRATEGIES.values())
    lines = [*notes("muse_table1"), *run_notes(runs)]
    return Table(f"muse_table1_{task}", title, columns, rows, lines, kinds, is_drawn=True)


def _published(task: str, modality: str, shots: str) -> dict[str, Estimates]:
    """The paper's figures of a task, by model and strategy."""
    models: dict[str, Estimates] = {}
    for row in published("muse", "table1").rows:
        condition = row.labels["modality"], row.labels["shots"]
        if condition == (modality, shots) and task in row.figures:
            figures = models.setdefault(row.labels["model"], {})
            figures[row.labels["strategy"]] = Estimate(row.figures[task], decimals=2)
    return models


def formulations(records: Records, benchmark: str = "muse") -> Table:
    """Make the table of what happened to LogicLM's formulations in a benchmark."""

    def fact(column: str, run: int) -> Cell:
        items = items_with(records, run, column)
        return share_of(items[column], items)

    def final_answer(run: int) -> Cell:
        items = records.by_run[run]
        return percent(score_of(items[items["scorer"] == "final_answer"]))

    def refinements(run: int) -> Cell:
        return Estimate(float(records.main[run]["refinements"].mean()), decimals=2)

    figures: Figures = {
        "Solver's decision": records.percent,
        "Without extra round": partial(fact, "accuracy_without_extra_round"),
        "Final answer": final_answer,
        "Valid at once": partial(fact, "valid_first_try"),
        "Refinements": refinements,
        "No decision": partial(fact, "no_decision"),
        "Agreement": partial(fact, "agreement"),
    }
    # Only the log of a valid formulation has it.
    if any("right_notes" in items for items in records.main.values()):
        figures["Right notes"] = partial(fact, "right_notes")
    return run_table(
        f"{benchmark}_logiclm",
        f"{load(benchmark).title}: LogicLM's formulations, in percent of the trials",
        records.current(benchmark, strategy="logiclm"),
        figures,
        groups={"Task": "task", "Modality": "modality", "Shots": "shots"},
        without=_FACTORS,
        note="muse_logiclm",
    )


def transcriptions(records: Records, task: str, benchmark: str = "muse") -> Table:
    """Make the table of a task's items: the true transcription beside the models', as in Table
    2.
    """
    measured = []
    runs = records.current(benchmark, task=task, strategy="logiclm")
    for number, run in runs.iterrows():
        for _, item in items_with(records, number, "transcription").iterrows():
            right = item.get("right_notes", nan)
            figures = {
                "True": item.get("true_transcription"),
                "Model's": item["transcription"],
                "Right notes": None if isnan(right) else Estimate(right).percent(),
                "Decision": "right" if item["value"] else "wrong",
            }
            measured.append(([item["item"], *labels(run, without=("strategy",))], figures))
    paper = [row.labels for row in published("muse", "table2").rows if row.labels["task"] == task]
    return make_table(
        f"{benchmark}_transcriptions_{task}",
        f"{load(benchmark).title}, {title_of(task).lower()}: transcriptions by LogicLM",
        ["True", "Model's", "Right notes", "Decision"],
        sorted(measured, key=str),
        runs[:0],  # the notes on runs speak of intervals, which single items lack
        groups=["Item"],
        published=[([row["item"], *paper_labels(row["model"])], row) for row in paper],
        note="muse_transcriptions",
        most_shown=50,
    )
