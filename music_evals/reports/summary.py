"""The summary of a report: a row a model, a column a benchmark, with intervals, floors, and which data ran."""

from collections.abc import Sequence

from music_evals.reports.declared import average
from music_evals.reports.runs import Run, grouped
from music_evals.reports.tables import Cell, Figure, Footnotes, Table, common_notes


def summary_table(runs: Sequence[Run]) -> Table:
    """Lay out the mean of the main metrics of each benchmark's tasks, by model, with what is earned without music.

    Of a model's conditions the one counts under which most of the benchmark's tasks were run, of several such the one
    nearest to the tasks' defaults, and then the latest.
    """
    footnotes = Footnotes()
    titles = list(dict.fromkeys(run.part.title for run in runs))
    rows: list[list[Cell]] = []
    for model, mine in sorted(grouped(runs, lambda run: run.model).items()):
        chosen = {title: _chosen(some) for title, some in grouped(mine, lambda run: run.part.title).items()}
        means = [_mean(chosen[title], footnotes) if title in chosen else None for title in titles]
        data = [f"{title}: {some[0].facts.get('dataset_label')}" for title, some in chosen.items()]
        rows.append([model, *means, "; ".join(data)])
    floors = sorted({name for run in runs for name in run.floors})
    rows += [[f"floor: {name}", *(_floor(name, title, runs) for title in titles), None] for name in floors]
    title = "Summary: mean of the tasks' main metrics, in percent"
    notes = [*common_notes("summary"), *footnotes.notes()]
    return Table("summary", title, ("Model", *titles, "Data"), rows, notes)


def _chosen(runs: Sequence[Run]) -> list[Run]:
    """The runs of the condition that counts."""
    conditions = grouped(runs, lambda run: (run.key, run.cell[1:])).values()
    return max(conditions, key=lambda some: (len(some), -some[0].changes, max(run.created for run in some)))


def _mean(runs: Sequence[Run], footnotes: Footnotes) -> Figure | None:
    figures = [figure for run in runs if (figure := run.figure(scale=100, decimals=1))]
    if not figures:
        return None
    first, mean = runs[0], average(figures, decimals=1)
    tasks = "all tasks" if len(figures) == len(first.part.tasks) else ", ".join(run.task for run in runs)
    mark = footnotes.mark(f"{first.part.title}: {first.whole_condition}; {tasks}")
    low, high = (None if end is None else min(max(end, 0.0), 100.0) for end in (mean.low, mean.high))
    return Figure(mean.value, low, high, 1, ("" if first.is_papers else "†") + mark)


def _floor(name: str, title: str, runs: Sequence[Run]) -> Figure | None:
    """The mean of a floor over the tasks of a part, where each of those that were run has it."""
    tasks = {run.task: run.floors.get(name) for run in runs if run.part.title == title}
    known = [floor for floor in tasks.values() if floor is not None]
    return Figure(100 * sum(known) / len(known), decimals=1) if len(known) == len(tasks) else None
