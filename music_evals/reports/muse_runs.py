"""Runs of MUSE, taken from the headers of Inspect logs."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import product
from typing import Any, Final, NamedTuple

from inspect_ai.log import EvalLog

from music_evals.reports.runs import Logged, by_condition, is_complete, latest, not_ended, notes_on_earlier
from music_evals.reports.tables import Figure

TASKS: Final = ("syncopation", "transposition", "chord_quality")
MODALITIES: Final = ("audio", "midi")
SHOTS: Final = ("zero", "few")
STRATEGIES: Final = ("standalone", "cot", "logiclm")
CHANCE: Final[Mapping[str, float]] = {"syncopation": 0.2, "transposition": 0.5, "chord_quality": 0.25}
"""What guessing earns, by the number of options."""

MAIN_SCORER: Final[Mapping[str, str]] = {
    "standalone": "final_answer",
    "cot": "final_answer",
    "logiclm": "solver_decision",
}
"""Whose accuracy the tables show: the paper scores LogicLM by its solver's decision."""

RECORDINGS: Final = "recordings"
"""Label of the data that the paper's numbers for audio are about."""

_ANSWERED: Final[Mapping[str, tuple[str, str]]] = {
    "standalone": ("answered", "mean"),
    "cot": ("answered", "mean"),
    "logiclm": ("formulation", "answered"),
}
_DEFAULTS: Final[Mapping[str, Any]] = {"seed": 0, "prompts": None, "structured_output": False, "tools": "text"}
_CELL_AND_DATA: Final = ("modality", "shots", "strategy", "dataset")


class Cell(NamedTuple):
    """One of the 36 conditions."""

    task: str
    modality: str
    shots: str
    strategy: str


CELLS: Final[Sequence[Cell]] = [
    Cell(task, modality, shots, strategy)
    for modality, shots, strategy, task in product(MODALITIES, SHOTS, STRATEGIES, TASKS)
]
"""All 36 conditions, in the order of the table."""


class Condition(NamedTuple):
    """What cells that can stand in one column have in common.

    `complete` says that no trial was left out or failed; `other` holds whatever else was asked for, as name=value.
    """

    model: str
    dataset: str
    complete: bool
    other: tuple[str, ...]

    def __str__(self) -> str:
        """Return it in words, without the model; what is as by default is left out."""
        return ", ".join([f"data {self.dataset}", *([] if self.complete else ["not all trials"]), *self.other])

    @property
    def is_papers_test(self) -> bool:
        """Whether these are the paper's trials, all of them."""
        return self.dataset == RECORDINGS and self.complete

    @property
    def source(self) -> str:
        """How tables mark its row."""
        return "measured" if self.is_papers_test else "measured †"

    @property
    def heading(self) -> str:
        """How a table names its column."""
        return f"{self.model}{'' if self.is_papers_test else ' †'} ({self})"


class Run(Logged[Condition]):
    """A run of one cell; its `task` is the cell in words, its metrics stand under the names of their scorers."""

    __slots__ = ()

    @property
    def cell(self) -> Cell:
        """Which cell it is of."""
        return Cell(*self.task.split())

    @property
    def main_scorer(self) -> str:
        """Whose accuracy the paper reports of the cell."""
        return MAIN_SCORER[self.cell.strategy]

    @property
    def accuracy(self) -> Figure:
        """The accuracy that the paper reports of the cell, in percent, with its interval."""
        figure = self.accuracy_by(self.main_scorer)
        return figure if self.answered >= 1 else Figure(figure.value, figure.low, figure.high, mark="*")

    @property
    def answered(self) -> float:
        """The share of trials with a valid final answer."""
        return self.metrics[_ANSWERED[self.cell.strategy]]

    @property
    def trials(self) -> int:
        """How many trials were scored."""
        return round(self.metrics[(self.main_scorer, "trials")])

    def accuracy_by(self, scorer: str) -> Figure:
        """Return the accuracy by a scorer, in percent, with its interval."""
        value, low, high = (100 * self.metrics[(scorer, name)] for name in ("accuracy", "ci95_low", "ci95_high"))
        return Figure(value, low, high)


def why_not(log: EvalLog) -> str:
    """Say why a log cannot be used.

    Args:
        log: header of a log.

    Returns:
        The reason, or nothing where it can be used.

    Example:
        >>> from inspect_ai.log import EvalConfig, EvalDataset, EvalSpec
        >>> spec = EvalSpec(
        ...     created="2026-01-01T00:00:00+00:00", task="t", dataset=EvalDataset(), model="m", config=EvalConfig()
        ... )
        >>> why_not(EvalLog(eval=spec, status="error"))
        'it is not of MUSE'
    """
    if (log.eval.metadata or {}).get("benchmark") != "muse":
        return "it is not of MUSE"
    if reason := not_ended(log):
        return reason
    strategy = log.eval.task_args["strategy"]
    needed = [MAIN_SCORER[strategy], _ANSWERED[strategy][0]]
    found = {score.name: score for score in (log.results.scores if log.results else [])}
    if missing := [name for name in needed if name not in found]:
        return f"it has no figures of the scorer {missing[0]}"
    return "" if found[needed[0]].scored_samples else "none of its trials was scored"


def read_runs(logs: Iterable[EvalLog]) -> list[Run]:
    """Take the runs of MUSE from the headers of logs.

    Args:
        logs: logs of any tasks; those that `why_not` names a reason for are passed over.

    Returns:
        A run for every cell and condition, by model; of several the latest, with the number of the earlier ones.

    Example:
        >>> read_runs([])
        []
    """
    return latest(run_of(log) for log in logs if not why_not(log))


def conditions(runs: Iterable[Run]) -> dict[Condition, dict[Cell, Run]]:
    """Put the cells of each condition together: condition → cell → run."""
    return by_condition(runs, lambda run: run.cell)


def notes_on(runs: Sequence[Run]) -> list[str]:
    """Say what the measured figures of a table need to have said of them.

    Args:
        runs: the runs that it shows.

    Returns:
        The notes.

    Example:
        >>> notes_on([])
        []
    """
    notes = []
    if any(run.answered < 1 for run in runs):
        notes.append(
            "* not every trial had a valid final answer, which counts as wrong, but for LogicLM, where the solver "
            "decides."
        )
    if any(not run.condition.is_papers_test for run in runs):
        notes.append(
            "† Not the paper's trials, and not to be compared with its figures: generated stimuli, a part of the "
            "recordings or not all trials, as the condition says."
        )
    return [*notes, *notes_on_earlier(runs)]


def run_of(log: EvalLog) -> Run:
    """Take the run from the header of a log, of which `why_not` names no reason against it."""
    about, asked = log.eval.metadata or {}, log.eval.task_args
    scores = log.results.scores if log.results else []
    metrics = {(score.name, metric.name): float(metric.value) for score in scores for metric in score.metrics.values()}
    condition = Condition(
        model=log.eval.model,
        dataset=about["dataset_label"],
        complete=is_complete(log, scores),
        other=tuple(
            f"{name}={value}"
            for name, value in sorted(asked.items())
            if name not in _CELL_AND_DATA and value != _DEFAULTS.get(name)
        ),
    )
    return Run(
        condition,
        " ".join(Cell(about["config"], asked["modality"], asked["shots"], asked["strategy"])),
        datetime.fromisoformat(log.eval.created),
        metrics | {(score.name, "trials"): float(score.scored_samples or 0) for score in scores},
    )
