"""The summary of a report: a row a model, a column a benchmark, with intervals, floors, and which data ran."""

from collections.abc import Sequence

import pandas as pd

from music_evals.reports.declared import average
from music_evals.reports.runs import Run
from music_evals.reports.tables import Cell, Figure, Footnotes, Table


def summary_table(runs: Sequence[Run]) -> Table:
    """Lay out the mean of the main metrics of each benchmark's tasks, by model, with what is earned without music.

    Of a model's conditions the one counts under which most of the benchmark's tasks were run, of several such the one
    nearest to the tasks' defaults, and then the latest.
    """
    footnotes = Footnotes()
    cells = pd.DataFrame(
        [
            {"model": model, "part": title, "figure": _mean(some, footnotes), "data": _data(some)}
            for (model, title), found in _by(runs).items()
            for some in [_chosen(found)]
        ]
    )
    titles = list(dict.fromkeys(run.part.title for run in runs))
    models = sorted(dict.fromkeys(run.model for run in runs))
    figures = cells.pivot(index="model", columns="part", values="figure").reindex(index=models, columns=titles)
    shown = figures.astype(object).where(figures.notna(), None)
    data = cells.groupby("model")["data"].agg("; ".join)
    rows: list[list[Cell]] = [[model, *shown.loc[model], data[model]] for model in models]
    floors = sorted({name for run in runs for name in run.floors})
    rows += [[f"floor: {name}", *(_floor(name, title, runs) for title in titles), None] for name in floors]
    return Table(
        "summary",
        "Summary: mean of the tasks' main metrics, in percent",
        ["Model", *titles, "Data"],
        rows,
        [
            "A cell: the mean over the tasks of a benchmark that were run, with its 95% interval where all have one. "
            "Of several conditions that counts under which most tasks were run, and of those the one nearest to the "
            "tasks' defaults. The sections have each task and condition.",
            "Floors: what guessing earns, or always giving the commonest answer.",
            "† Not the paper's test: not to be compared with published figures.",
            *footnotes.notes(),
        ],
    )


def _by(runs: Sequence[Run]) -> dict[tuple[str, str], list[Run]]:
    found: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        found.setdefault((run.model, run.part.title), []).append(run)
    return found


def _chosen(runs: Sequence[Run]) -> list[Run]:
    """The runs of the condition that counts."""
    conditions: dict[tuple[object, ...], list[Run]] = {}
    for run in runs:
        conditions.setdefault((run.key, run.cell[1:]), []).append(run)
    return max(conditions.values(), key=lambda some: (len(some), -some[0].changes, max(run.created for run in some)))


def _mean(runs: Sequence[Run], footnotes: Footnotes) -> Figure | None:
    figures = [figure for run in runs if (figure := run.figure(scale=100, decimals=1))]
    if not figures:
        return None
    first = runs[0]
    tasks = "all tasks" if len(figures) == len(first.part.tasks) else ", ".join(run.task for run in runs)
    levels = [
        text for facet in first.part.condition if (text := first.words[facet.name]) and (facet.cell or facet.column)
    ]
    mean = average(figures, decimals=1)
    words = ", ".join([*levels, first.condition])
    mark = ("" if first.is_papers else "†") + footnotes.mark(f"{first.part.title}: {words}; {tasks}")
    return Figure(mean.value, mean.low, mean.high, 1, mark)


def _data(runs: Sequence[Run]) -> str:
    return f"{runs[0].part.title}: {runs[0].facts.get('dataset_label')}"


def _floor(name: str, title: str, runs: Sequence[Run]) -> Figure | None:
    """The mean of a floor over the tasks of a part, where each of those that were run has it."""
    tasks = {run.task: run.floors.get(name) for run in runs if run.part.title == title}
    known = [floor for floor in tasks.values() if floor is not None]
    return Figure(100 * sum(known) / len(known), decimals=1) if len(known) == len(tasks) else None
