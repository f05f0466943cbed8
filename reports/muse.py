"""MUSE's results as the paper's Table 1: modality, shots and strategy down, the three tasks across.

Source: arXiv 2510.22455, Table 1.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from inspect_ai.log import EvalLog
from rich.table import Table

TASKS = ("syncopation", "transposition", "chord_quality")
MODALITIES = ("audio", "midi")
SHOTS = ("zero", "few")
STRATEGIES = ("standalone", "cot", "logiclm")
CHANCE: Mapping[str, float] = {"syncopation": 0.2, "transposition": 0.5, "chord_quality": 0.25}
"""What guessing earns, by the number of options."""

MAIN_SCORER: Mapping[str, str] = {"standalone": "final_answer", "cot": "final_answer", "logiclm": "solver_decision"}
"""Whose accuracy the table shows: the paper scores LogicLM by its solver's decision."""


class Cell(NamedTuple):
    """One of the 36 conditions."""

    task: str
    modality: str
    shots: str
    strategy: str


CELLS: Sequence[Cell] = [
    Cell(task, modality, shots, strategy)
    for modality, shots, strategy, task in product(MODALITIES, SHOTS, STRATEGIES, TASKS)
]
"""All 36 conditions, in the order of the table."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a log says of its cell.

    Args:
        accuracy: share of right answers, from 0 to 1.
        low: lower end of its 95% interval.
        high: upper end of its 95% interval.
        answered: share of samples with a valid final answer.
        samples: number of samples scored.
        data: which data ran.
    """

    accuracy: float
    low: float
    high: float
    answered: float
    samples: int
    data: str


def read_results(logs: Iterable[EvalLog]) -> dict[Cell, Result]:
    """Take the cells' results from the headers of logs.

    Args:
        logs: logs of MUSE tasks; logs that did not end in success are passed over, and of several logs of a cell
            the last one counts.

    Returns:
        The cells that have a result.
    """
    results: dict[Cell, Result] = {}
    for log in logs:
        if log.status != "success" or log.results is None or log.eval.metadata is None:
            continue
        about = log.eval.metadata
        if about.get("benchmark") != "muse":
            continue
        asked = log.eval.task_args
        cell = Cell(about["config"], asked["modality"], asked["shots"], asked["strategy"])
        scores = {score.name: score for score in log.results.scores}
        main = scores[MAIN_SCORER[cell.strategy]]
        logic = cell.strategy == "logiclm"
        answered = scores["formulation"].metrics["answered"] if logic else scores["answered"].metrics["mean"]
        results[cell] = Result(
            accuracy=main.metrics["accuracy"].value,
            low=main.metrics["ci95_low"].value,
            high=main.metrics["ci95_high"].value,
            answered=answered.value,
            samples=main.scored_samples or 0,
            data=about["dataset_label"],
        )
    return results


def table1(results: Mapping[Cell, Result], model: str) -> Table:
    """Lay results out like the paper's Table 1.

    Args:
        results: the cells' results; a cell without one shows a dash.
        model: name of the model, for the title.

    Returns:
        A table of accuracies in percent, each with its 95% interval, and a mark where not all was answered.

    Example:
        >>> result = Result(1.0, 0.84, 1.0, 1.0, 20, "generated-seed1")
        >>> table1({CELLS[0]: result}, "baseline/reader").row_count
        13
    """
    data = sorted({result.data for result in results.values()})
    table = Table(
        title=f"MUSE: accuracy in percent, 95% interval\nModel {model}, data {', '.join(data) or 'none'}",
        caption="* not every trial had a valid final answer. LogicLM is scored by its solver's decision.",
    )
    for heading in ("Mod.", "Shot", "Cond."):
        table.add_column(heading)
    for task in TASKS:
        table.add_column(task.replace("_", " ").capitalize(), justify="right", no_wrap=True)
    for modality, shots, strategy in product(MODALITIES, SHOTS, STRATEGIES):
        shown = [_shown(results.get(Cell(task, modality, shots, strategy))) for task in TASKS]
        table.add_row(modality, shots, strategy, *shown, end_section=strategy == STRATEGIES[-1])
    table.add_row("Chance", "", "", *[f"{100 * CHANCE[task]:.2f}" for task in TASKS])
    return table


def _shown(result: Result | None) -> str:
    if result is None:
        return "-"
    mark = "*" if result.answered < 1 else ""
    return f"{100 * result.accuracy:.2f}{mark} {100 * result.low:.0f}–{100 * result.high:.0f}"
