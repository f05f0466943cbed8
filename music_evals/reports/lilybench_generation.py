"""LilyBench's generation as the paper's Table 2, beside the published figures, and what stands behind its figures.

Source: arXiv 2606.08722, Table 2 and sections 4.1 and 5.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from inspect_ai.log import EvalLog

from music_evals.reports.figures import Point, js_against_fmd
from music_evals.reports.lilybench_generation_runs import REGIMES, Run, notes_on, read_runs, why_not
from music_evals.reports.published import Row, load
from music_evals.reports.tables import Cell, Figure, Footnotes, Report, Table

__all__ = ["report"]

PAPER: Final[Mapping[str, tuple[str, str]]] = {"bmdataset-test": ("test", "test"), "mutopia": ("Mut.", "Mutopia")}
"""The paper's references → their names in its Table 2 and in the transcription."""

DESCRIPTORS: Final = ("polyphony_rate", "groove_consistency", "scale_consistency")
_LABELS: Final = ("Regime", "Model", "Source", "Condition")
_FIGURES: Final = (("JS", "similarity_figures", "js", 2), ("FMD", "frechet_figures", "fmd", 3))


def report(logs: Sequence[EvalLog]) -> Report:
    """Make the tables and figures of LilyBench's generation.

    Args:
        logs: headers of logs of LilyBench; those that did not end in success are passed over.

    Returns:
        A table and, where there is something to draw, a figure for the paper's references and for every other set of
        references, with the runs that were judged against it; the tables that the runs have figures for; and the logs
        that could not be used.

    Example:
        >>> report([])
        Report(tables=(), passed_over=())
    """
    passed_over = tuple((log.location, reason) for log in logs if (reason := why_not(log)))
    runs = read_runs(logs)
    if not runs:
        return Report((), passed_over)
    others = dict.fromkeys(references for run in runs if (references := _other_references(run)))
    names = {"lilybench_table2": tuple(PAPER)}
    names |= {f"lilybench_generation_{number}": references for number, references in enumerate(others, start=1)}
    figures = {name: svg for name, references in names.items() if (svg := figure(runs, references))}
    tables = [main_table(runs, references, name) for name, references in names.items()]
    if any(run.condition.references for run in runs):
        tables.append(descriptors_table(runs))
    if any(run.condition.attempts > 1 for run in runs):
        tables.append(repairs_table(runs))
    return Report((*tables, novelty_table(runs)), passed_over, figures)


def main_table(runs: Sequence[Run], references: Sequence[str], name: str = "lilybench_table2") -> Table:
    """Lay out Table 2: in each regime the paper's models and then the measured ones.

    Args:
        runs: the runs; those that were judged against other references alone are left out.
        references: names of the references; for the paper's own the table has the published figures.
        name: of the table.

    Returns:
        The table; compile rates in percent, similarities from 0 to 100.

    Example:
        >>> table = main_table([], tuple(PAPER))
        >>> table.columns[4:]
        ('Comp. (%)', 'JS (test)', 'JS (Mut.)', 'FMD (test)', 'FMD (Mut.)')
        >>> [str(cell) for cell in table.rows[0][4:]]
        ['71.1', '83.27', '81.24', '0.933', '1.419']
    """
    is_paper = tuple(references) == tuple(PAPER)
    paper = load("lilybench_table2")
    asked = _judged(runs, references)
    footnotes = Footnotes()
    rows: list[list[Cell]] = []
    for regime in REGIMES.values():
        rows += [_published(row) for row in paper.rows if is_paper and row.labels["regime"] == regime]
        rows += [
            [
                *_labels(run),
                _compile_rate(run, footnotes),
                *(
                    _against(run, group, reference, metric, footnotes, decimals)
                    for _, group, metric, decimals in _FIGURES
                    for reference in references
                ),
            ]
            for run in asked
            if REGIMES[run.condition.regime] == regime
        ]
    short = [PAPER[reference][0] if is_paper else reference for reference in references]
    about = [
        "Comp.: pieces that LilyPond compiles to a MIDI file. JS: similarity of three descriptors of the MIDI to the "
        "reference, 100 where they are alike. FMD: Fréchet Music Distance of embeddings of the text, 0 where they are "
        "alike. The paper reads the three together.",
    ]
    if is_paper:
        about = [f"Paper: {paper.source}; test: BMdataset's test split, Mut.: Mutopia.", *about, *_ON_THE_PAPER]
    else:
        about.append("These references are not the paper's, and figures against them no match for its Table 2.")
    if not asked:
        about.append("No run was judged against these references.")
    elif not is_paper and not _points(asked, references):
        about.append("There is no figure of JS against FMD, because no run has both against one of these references.")
    if any(reference not in run.condition.references for run in asked for reference in references):
        about.append("A dash: not judged against this reference.")
    return Table(
        name,
        "LilyBench Table 2: generation" if is_paper else f"LilyBench generation against {' and '.join(references)}",
        (*_LABELS, "Comp. (%)", *(f"{figure} ({one})" for figure, *_ in _FIGURES for one in short)),
        rows,
        (*about, *footnotes.notes(), *notes_on(asked)),
    )


def descriptors_table(runs: Sequence[Run]) -> Table:
    """Lay out which descriptor moved, and where FMD tends with more pieces.

    Args:
        runs: the runs.

    Returns:
        The table: a row for each run and reference; similarities from 0 to 100.

    Example:
        >>> descriptors_table([]).columns[4:8]
        ('Reference', 'JS polyphony rate', 'JS groove consistency', 'JS scale consistency')
    """
    footnotes = Footnotes()
    rows: list[list[Cell]] = [
        [
            *_labels(run),
            reference,
            *(
                run.shown("similarity_figures", f"{reference}/{what}_{descriptor}", footnotes)
                for what in ("js", "shift")
                for descriptor in DESCRIPTORS
            ),
            run.shown("frechet_figures", f"{reference}/fmd_infinity", footnotes, 3),
        ]
        for run in runs
        for reference in run.condition.references
    ]
    words = [descriptor.replace("_", " ") for descriptor in DESCRIPTORS]
    return Table(
        "lilybench_descriptors",
        "LilyBench generation: descriptors, and FMD of many pieces",
        (*_LABELS, "Reference", *(f"{what} {word}" for what in ("JS", "Shift of") for word in words), "FMD∞"),
        rows,
        (
            "JS of one descriptor alone, 100 where it is distributed as in the reference. Shift: of its mean, in the "
            "reference's standard deviations.",
            "FMD∞: FMD extrapolated to infinitely many pieces, because it is the larger, the fewer there are.",
            *footnotes.notes(),
            *notes_on(runs),
        ),
    )


def repairs_table(runs: Sequence[Run]) -> Table:
    """Lay out the compile rate by attempts.

    Args:
        runs: the runs; those of one attempt are left out.

    Returns:
        The table, in percent.

    Example:
        >>> repairs_table([]).columns
        ('Regime', 'Model', 'Source', 'Condition', 'Pieces')
    """
    asked = [run for run in runs if run.condition.attempts > 1]
    most = max((run.condition.attempts for run in asked), default=0)
    footnotes = Footnotes()
    rows: list[list[Cell]] = [
        [
            *_labels(run),
            _pieces(run),
            *(
                run.shown("compile_figures", f"attempt_{attempt}", footnotes, 1, scale=100)
                if attempt <= run.condition.attempts
                else None
                for attempt in range(1, most + 1)
            ),
        ]
        for run in asked
    ]
    return Table(
        "lilybench_repairs",
        "LilyBench generation: compile rate in percent by attempts",
        (*_LABELS, "Pieces", *(f"After {attempt}" for attempt in range(1, most + 1))),
        rows,
        (
            "Share of pieces that compile after at most so many attempts; after a failed one the model sees LilyPond's "
            "message. A dash: so many attempts were not allowed. The paper has one.",
            *footnotes.notes(),
            *notes_on(asked),
        ),
    )


def novelty_table(runs: Sequence[Run]) -> Table:
    """Lay out how many pieces are near-copies of references or demonstrations.

    Args:
        runs: the runs.

    Returns:
        The table: for each run a row over all that it may have copied, and one for each set of pieces; in percent.

    Example:
        >>> novelty_table([]).columns[-3:]
        ('Pieces', 'Of', 'Near-copies (%)')
    """
    footnotes = Footnotes()
    rows: list[list[Cell]] = [
        [*_labels(run), _pieces(run), of, run.shown("novelty_figures", name, footnotes, 1, scale=100)]
        for run in runs
        for of, name in [("any", "near_copies"), *((of, f"{of}/near_copies") for of in run.copied_from)]
    ]
    return Table(
        "lilybench_novelty",
        "LilyBench generation: near-copies of references and demonstrations",
        (*_LABELS, "Pieces", "Of", "Near-copies (%)"),
        rows,
        (
            "Near-copies share most of their music, note by note, with one piece; a transposed copy is not found. "
            "Pieces too short to tell are left out of the share.",
            *footnotes.notes(),
            *notes_on(runs),
        ),
    )


def figure(runs: Sequence[Run], references: Sequence[str]) -> str | None:
    """Draw JS against FMD, with compile rates, beside the published cells where the references are the paper's.

    Args:
        runs: the runs; those without both figures against a reference are not drawn.
        references: names of the references, each a panel.

    Returns:
        The figure as SVG, or None where there is nothing to draw.
    """
    keys: list[str] = []
    panels: dict[str, list[Point]] = {reference: [] for reference in references}
    if tuple(references) == tuple(PAPER):
        rows = load("lilybench_table2").rows
        models = dict.fromkeys(row.labels["model"] for row in rows)
        keys.append(f"Paper: {', '.join(f'{model[0]} {model}' for model in models)}")
        for reference, (_, column) in PAPER.items():
            panels[reference] = [_published_point(row, column) for row in rows]
    for number, (run, points) in enumerate(_points(_judged(runs, references), references), start=1):
        keys.append(f"{number}: {run.condition.model} ({run.condition.source}; {run.condition})")
        for reference, (js, fmd, compile_rate) in points.items():
            regime = REGIMES[run.condition.regime]
            panels[reference].append(Point(str(number), regime, fmd, js, 100 * compile_rate, measured=True))
    if any(point.measured for points in panels.values() for point in points):
        keys.append("Bars: 95% intervals.")
    if any("†" in key for key in keys):
        keys.append("†: not the paper's procedure.")
    drawn = {reference: points for reference, points in panels.items() if points}
    return js_against_fmd("LilyBench generation: JS against FMD", drawn, keys) if drawn else None


_ON_THE_PAPER: Final = (
    "The paper's compile rates are no shares of the 200 prompts that it says a cell has: 71.1% of them would be 142.2.",
    "Section 5 has JS (test) rise from zero-shot to few-shot for Phi-4 and Codestral-22B, where the table has it fall, "
    "and DeepSeek-Coder-V2-Lite second in FMD (test) zero-shot, where it is first; section 4.1 calls Codestral-22B's "
    "FMD in the ablation the worst, where it is the best of the regime.",
)


def _points(
    runs: Sequence[Run], references: Sequence[str]
) -> list[tuple[Run, dict[str, tuple[Figure, Figure, float]]]]:
    """The runs that can be drawn: reference → JS, FMD and the compile rate from 0 to 1."""
    found = []
    for run in runs:
        compile_rate = run.value("compile_figures", "compile_rate")
        points = {}
        for reference in references:
            js, fmd = (run.figure(group, f"{reference}/{metric}") for _, group, metric, _ in _FIGURES)
            if js is not None and fmd is not None and compile_rate is not None:
                points[reference] = js, fmd, compile_rate
        if points:
            found.append((run, points))
    return found


def _judged(runs: Sequence[Run], references: Sequence[str]) -> list[Run]:
    """The runs that have figures against a reference; those against none at all stand with the paper's."""
    return [
        run
        for run in runs
        if set(run.condition.references) & set(references)
        or (not run.condition.references and tuple(references) == tuple(PAPER))
    ]


def _other_references(run: Run) -> tuple[str, ...]:
    return tuple(reference for reference in run.condition.references if reference not in PAPER)


def _published(row: Row) -> list[Cell]:
    return [
        row.labels["regime"],
        row.labels["model"],
        "paper",
        None,
        Figure(row.figures["compile rate"], decimals=1),
        *(
            Figure(row.figures[f"{figure} {column}"], decimals=decimals)
            for figure, _, _, decimals in _FIGURES
            for _, column in PAPER.values()
        ),
    ]


def _published_point(row: Row, column: str) -> Point:
    fmd, js = (Figure(row.figures[f"{figure} {column}"]) for figure in ("FMD", "JS"))
    return Point(row.labels["model"][0], row.labels["regime"], fmd, js, row.figures["compile rate"], measured=False)


def _labels(run: Run) -> tuple[str, str, str, str]:
    condition = run.condition
    return REGIMES[condition.regime], condition.model, condition.source, str(condition)


def _compile_rate(run: Run, footnotes: Footnotes) -> Figure:
    return run.shown("compile_figures", "compile_rate", footnotes, 1, scale=100)


def _against(run: Run, group: str, reference: str, metric: str, footnotes: Footnotes, decimals: int) -> Figure | None:
    if reference not in run.condition.references:
        return None
    return run.shown(group, f"{reference}/{metric}", footnotes, decimals)


def _pieces(run: Run) -> Figure:
    return Figure(run.value("compile_figures", "pieces") or 0, decimals=0)
