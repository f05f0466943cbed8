"""MUSE's effects of modality, shots and strategy on the accuracy, and the figure of its modality gap.

Source: arXiv 2510.22455, Table 1, Figure 1A and section 3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Final, NamedTuple

import pandas as pd

from music_evals.benchmarks import load, published
from music_evals.reports.declared import LABELS, average, finished
from music_evals.reports.figures import Panel, Series, panels_figure
from music_evals.reports.parts import Spec
from music_evals.reports.runs import Run, grouped
from music_evals.reports.tables import Cell as TableCell
from music_evals.reports.tables import Figure, Footnotes, Report, difference

WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    facet["parameter"]: facet["values"] for facet in load("muse").table["report"][0]["condition"] if "cell" in facet
}
"""Factor → its levels, each with its word, in the order of the paper's table."""

CONTRASTS: Final = [(factor, level, base) for factor, (base, *levels) in WORDS.items() for level in levels]
"""Effects: the factor, its level, and the level that is taken away."""


class Cell(NamedTuple):
    """One of the 36 conditions."""

    task: str
    modality: str
    shots: str
    strategy: str


TASKS: Final = tuple(load("muse").tasks)
CELLS: Final = [Cell(task, *levels) for levels in product(*WORDS.values()) for task in TASKS]
"""All 36 conditions, in the order of the paper's table."""


def effects(spec: Spec, runs: Sequence[Run]) -> Report:
    """Lay out what each factor does to the accuracy, over pairs of cells that differ in nothing else; draw the gap."""
    footnotes = Footnotes()
    models: list[tuple[list[TableCell], Mapping[Cell, Figure]]] = []
    models += [([model, "paper", None], figures) for model, figures in published_cells().items()]
    models += [([run.model, run.source, run.condition], figures) for run, figures in measured_cells(runs)]
    rows = [
        [*labels, _title(task), *(_effect(figures, task, contrast, footnotes) for contrast in CONTRASTS)]
        for labels, figures in models
        for task in TASKS
        if any(cell.task == task for cell in figures)
    ]
    headings = [f"{WORDS[factor][level]} − {WORDS[factor][base]}" for factor, level, base in CONTRASTS]
    frame = pd.DataFrame(rows, columns=[*LABELS, "Task", *headings], dtype=object)
    table = finished(runs[0].part, spec, frame, runs, footnotes)
    return Report([table], figures={"muse_modality_gap": modality_gap(runs)})


def modality_gap(runs: Sequence[Run]) -> str:
    """Draw accuracy from audio and from MIDI, joined by a line: steep where a model reads better than it hears."""
    models = [(f"{model} (paper)", figures, False) for model, figures in published_cells().items()]
    models += [(run.heading(), figures, True) for run, figures in measured_cells(runs)]
    asked = [task for task in TASKS if any(run.task == task for run in runs)]
    places = [Figure(place) for place in range(len(WORDS["modality"]))]
    panels = []
    for strategy, task in product(WORDS["strategy"], asked):
        series = []
        for (label, figures, is_measured), shots in product(models, WORDS["shots"]):
            known = [figures.get(Cell(task, modality, shots, strategy)) for modality in WORDS["modality"]]
            series.append(Series(label, places, known, is_measured, second=shots == "few"))
        chance = load("muse").tasks[task].chance or 0.0
        title = f"{_title(task)}, {WORDS['strategy'][strategy]}"
        panels.append(Panel(title, series, y="accuracy (%)", floor=100 * chance))
    return panels_figure(
        "MUSE: accuracy from audio and from MIDI", panels, list(WORDS["modality"].values()), across=len(asked),
        size=(2.3, 1.8), second="few-shot",
    )  # fmt: skip


def published_cells() -> dict[str, dict[Cell, Figure]]:
    """Take the paper's Table 1 by model and cell, in percent."""
    found: dict[str, dict[Cell, Figure]] = {}
    for row in published("muse", "table1").rows:
        model, *levels = row.labels.values()
        if all(levels):
            cells = found.setdefault(model, {})
            cells |= {Cell(task, *levels): Figure(value) for task, value in row.figures.items()}
    return found


def measured_cells(runs: Sequence[Run]) -> list[tuple[Run, dict[Cell, Figure]]]:
    """Take the accuracies of each condition by cell, in percent, and a run of it."""
    return [
        (some[0], {Cell(*run.cell): figure for run in some if (figure := run.figure(scale=100, decimals=2))})
        for some in grouped(runs, lambda run: run.key).values()
    ]


def _effect(
    figures: Mapping[Cell, Figure], task: str, contrast: tuple[str, str, str], footnotes: Footnotes
) -> Figure | None:
    factor, level, base = contrast
    wanted = [cell for cell in CELLS if cell.task == task and getattr(cell, factor) == level]
    pairs = [(cell, other) for cell in wanted if {cell, other := cell._replace(**{factor: base})} <= figures.keys()]
    if not pairs:
        return None
    means = average([figures[cell] for cell, _ in pairs]), average([figures[other] for _, other in pairs])
    found = difference(*means)
    if len(pairs) == len(wanted):
        return found
    return replace(found, mark=footnotes.mark(f"over {len(pairs)} of {len(wanted)} pairs"))


def _title(task: str) -> str:
    return task.replace("_", " ").capitalize()
