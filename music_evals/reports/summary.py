"""The summary of a report: a row a model, a column a benchmark, with intervals, floors, and which data ran."""

from collections.abc import Sequence
from itertools import chain

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
    counted: list[Run] = []
    for model, mine in sorted(grouped(runs, lambda run: run.model).items()):
        chosen = {title: _chosen(some) for title, some in grouped(mine, lambda run: run.part.title).items()}
        means = [_mean(chosen[title], footnotes) if title in chosen else None for title in titles]
        data = [f"{title}: {some[0].facts.get('dataset_label')}" for title, some in chosen.items()]
        gains = [_gain(chosen[title]) if title in chosen else None for title in titles]
        rows.append([model, *chain.from_iterable(zip(means, gains, strict=True)), "; ".join(data)])
        counted += chain.from_iterable(chosen.values())
    chances: list[Cell] = []
    for name in dict.fromkeys(name for run in counted for name in run.floors_of()):
        floors: list[Cell] = [_floor(name, [run for run in counted if run.part.title == title]) for title in titles]
        chances = chances or floors
        if name == "chance" or any(floor not in (None, one) for floor, one in zip(floors, chances, strict=True)):
            cells = chain.from_iterable((floor, None) for floor in floors)
            rows.append([f"floor: {name}", *cells, None])
    title = "Summary: mean of the tasks' main metrics, in percent"
    notes = [*common_notes("summary"), *footnotes.notes()]
    headings = chain.from_iterable((title, f"{title}: gain") for title in titles)
    return Table("summary", title, ("Model", *headings, "Data"), rows, notes)


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


def _gain(runs: Sequence[Run]) -> Figure | None:
    gains = [gain for run in runs if (gain := run.gain(decimals=1))]
    return average(gains, decimals=1) if len(gains) == len(runs) else None


def _floor(name: str, runs: Sequence[Run]) -> Figure | None:
    """The mean of a floor over the tasks of a part, where each of those that were run has it."""
    tasks = {run.task: run.floors_of("", 100, 1).get(name) for run in runs}
    known = [floor for floor in tasks.values() if floor is not None]
    return average(known, decimals=1) if known and len(known) == len(tasks) else None
