"""MUSE's report: the paper's figures, effects against statsmodels, and runs whose figures can be worked out by hand."""

from itertools import product
from typing import Any

import pytest
from inspect_ai.log import EvalLog, EvalMetric
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from music_evals.reports.special.muse import CELLS, WORDS, Cell
from music_evals.reports.tables import Figure, Table, difference
from tests.reports.made import made_log, reasons, reports, runs, score, tables

TRIALS = {"syncopation": 20, "transposition": 20, "chord_quality": 44}


def header(cell: Cell, right: int, *, label: str = "recordings", answered: float = 1.0, **given: Any) -> EvalLog:
    """The header of a log as a task of MUSE leaves it, with this many right answers."""
    of_log = {name: given.pop(name) for name in ("created", "limit", "status") if name in given}
    trials = of_log.get("limit") or TRIALS[cell.task]
    low, high = proportion_confint(right, trials, method="wilson")
    accuracy = {"": {"accuracy": right / trials}, "interval95": {"ci95_low": low, "ci95_high": high}}
    if cell.strategy == "logiclm":
        half = {"": {"accuracy": 0.5}, "interval95": {"ci95_low": 0.3, "ci95_high": 0.7}}
        counts = {"valid_first_try": 0.75, "refinements": 0.6, "no_decision": 0.0, "agreement": 0.5}
        scores = [
            score("solver_decision", accuracy, trials),
            score("final_answer", half, trials),
            score("formulation", {"": {"answered": answered, **counts}}, trials),
        ]
    else:
        scores = [score("final_answer", accuracy, trials), score("answered", {"": {"mean": answered}}, trials)]
    defaults = {"seed": 0, "prompts": None, "structured_output": False, "tools": "text", "dataset": label}
    asked = defaults | {name: getattr(cell, name) for name in ("modality", "shots", "strategy")} | given
    return made_log("muse", cell.task, *scores, samples=TRIALS[cell.task], label=label, asked=asked, **of_log)


def by_label(table: Table, *labels: str | None) -> dict[str, Any]:
    (found,) = [row for row in table.rows if tuple(row[: len(labels)]) == labels]
    return dict(zip(table.columns, found, strict=True))


@pytest.mark.parametrize(
    ("changed", "heading"),
    [
        ({"label": "generated-seed1"}, "some/model † (data generated-seed1)"),
        ({"label": "recordings-partial"}, "some/model † (data recordings-partial)"),
        ({"limit": 12}, "some/model † (data recordings, not all trials)"),
        ({"tools": "native", "seed": 3}, "some/model (data recordings, seed=3, tools=native)"),
    ],
)
def test_other_trials_are_marked_and_other_ways_of_asking_named(changed: dict[str, Any], heading: str) -> None:
    (run,) = runs(header(Cell("transposition", "audio", "zero", "logiclm"), 9, **changed))
    assert run.heading() == heading


def test_a_measured_cell_stands_beside_the_papers_models_with_a_star_where_answers_are_missing() -> None:
    table = tables(header(Cell("chord_quality", "midi", "zero", "cot"), 11, answered=0.9))["muse_table1_chord_quality"]
    assert [str(cell) for cell in by_label(table, "MIDI", "Zero-shot", "CoT").values()][3:] == [
        "100.00", "100.00", "25.00", "25.00* (14.57–39.44)", "25.00",
    ]  # fmt: skip
    assert table.columns[-2] == "some/model (data recordings)", "the paper's own trials have no mark"
    assert [row[-2] for row in table.rows].count(None) == 11
    assert any(note.startswith("* not every trial") for note in table.notes)


@pytest.mark.parametrize(("right", "other"), [(18, 9), (20, 0), (10, 10)])
def test_an_effect_of_one_pair_is_newcombes_interval(right: int, other: int) -> None:
    cells = [Cell("syncopation", modality, "zero", "cot") for modality in ("midi", "audio")]
    table = tables(header(cells[0], right), header(cells[1], other))["muse_effects"]
    found = by_label(table, "some/model")["MIDI − Audio"]
    low, high = confint_proportions_2indep(right, 20, other, 20, method="newcomb", compare="diff")
    assert found.value == pytest.approx(5 * (right - other))
    assert (found.low, found.high) == pytest.approx((100 * low, 100 * high))
    assert f"{found.mark} over 1 of 6 pairs" in table.notes
    assert by_label(table, "some/model")["Few-shot − Zero-shot"] is None, "nothing to compare with"


def test_an_effect_is_the_mean_difference_over_pairs_that_differ_in_it_alone() -> None:
    # Points: 50 for MIDI, 10 for few-shot, 5 for CoT and -15 for LogicLM.
    points = {"audio": 0, "midi": 10, "zero": 0, "few": 2, "standalone": 4, "cot": 5, "logiclm": 1}
    cells = [cell for cell in CELLS if cell.task == "transposition"]
    logs = [header(cell, sum(points[level] for level in cell[1:])) for cell in cells]
    row = list(by_label(tables(*logs)["muse_effects"], "some/model").values())
    assert row[:4] == ["some/model", "measured", "data recordings", "Transposition"]
    assert [found.value for found in row[4:]] == pytest.approx([50, 10, 5, -15])
    assert all(found.low < found.value < found.high and not found.mark for found in row[4:])
    # The cells of a third strategy have no part in the difference of two others.
    lone = tables(*(log for log in logs if log.eval.task_args["strategy"] != "cot"))
    assert by_label(lone["muse_effects"], "some/model")["LogicLM − Standalone"].value == pytest.approx(-15)


def test_differences_follow_the_papers_table_and_have_no_interval_without_two() -> None:
    gap = by_label(tables(header(CELLS[0], 1))["muse_effects"], "Qwen2.5-Omni", "paper", None, "Transposition")
    audio, midi = (75 + 65 + 50 + 90 + 60 + 35) / 6, (85 + 20 + 10 + 90 + 60 + 15) / 6
    assert gap["MIDI − Audio"] == Figure(pytest.approx(midi - audio))
    assert difference(Figure(3.0), Figure(1.0, 0.0, 2.0)) == Figure(2.0)


def test_logiclm_has_its_formulations_and_both_scores() -> None:
    cell = Cell("chord_quality", "audio", "few", "logiclm")
    row = by_label(tables(header(cell, 33))["muse_logiclm"], "some/model")
    assert row["Solver's decision"].value == pytest.approx(75)
    assert row["Final answer"] == Figure(50, 30, 70)
    low, high = proportion_confint(33, 44, method="wilson")
    assert (row["Valid at once"].low, row["Valid at once"].high) == pytest.approx((100 * low, 100 * high))
    assert "muse_logiclm" not in tables(header(cell._replace(strategy="cot"), 3))
    assert "Without extra round" not in row, "the log is an old one"
    new = header(cell, 33)
    assert new.results is not None
    extra = EvalMetric(name="accuracy_without_extra_round", value=0.5)
    new.results.scores[-1].metrics[extra.name] = extra
    found = by_label(tables(new)["muse_logiclm"], "some/model")["Without extra round"]
    low, high = proportion_confint(22, 44, method="wilson")
    assert (found.value, found.low, found.high) == pytest.approx((50, 100 * low, 100 * high))


def test_logs_that_cannot_be_used_are_named() -> None:
    cell = CELLS[0]
    unscored, foreign, broken, empty = (header(cell, 1) for _ in range(4))
    for log, names in ((unscored, ["answered"]), (empty, ["final_answer", "answered"])):
        assert log.results is not None
        log.results.scores = [one for one in log.results.scores if one.name in names]
    assert empty.results is not None
    empty.results.scores[0].scored_samples = 0
    foreign.eval.metadata, broken.status = {"benchmark": "another"}, "error"
    assert reasons(unscored, foreign, broken, empty) == [
        "no table is known for another",
        "it has no figures of the scorer final_answer",
        "its status is error, not success",
        "none of its trials was scored",
    ]
    assert reasons(header(cell, 1)) == []


def test_the_figure_joins_audio_and_midi_of_every_model() -> None:
    logs = [header(Cell("syncopation", *levels), 4) for levels in product(*WORDS.values())]
    svg = reports(*logs).figures["muse_modality_gap"]
    for text in ("Syncopation, LogicLM", "Audio", "MIDI", "chance", "few-shot", "Gemini 2.5 Pro (paper)"):
        assert f">{text}</text>" in svg
    assert ">some/model (data recordings)</text>" in svg
