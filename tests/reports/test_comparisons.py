"""Comparisons between runs: small logs on disk, whose figures can be worked out by hand."""

from collections.abc import Mapping
from math import nan
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from inspect_ai.log import EvalLog, EvalSample, EvalStats, read_eval_log, write_eval_log
from inspect_ai.model import ModelUsage
from inspect_ai.scorer import Score
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from music_evals.reports import comparisons
from music_evals.reports.tables import Figure, Report
from tests.reports.made import made_log, score, undrawn
from tests.reports.made import rows as rows_of

comparison_report = undrawn(comparisons.comparison_report)
ZERO = {"shots": "zero", "dataset": "generated"}
FIVE = {"shots": "five", "dataset": "generated"}
AUDIO = {"modality": "audio", "shots": "zero", "strategy": "standalone"}
MIDI = {**AUDIO, "modality": "midi"}


def log(
    folder: Path,
    values: Mapping[str, Any] | str,
    model: str = "some/model",
    asked: Mapping[str, Any] = ZERO,
    *,
    benchmark: str = "ziqi",
    config: str = "comprehension",
    label: str = "generated-seed1",
    clusters: int = 0,
    seconds: float = 1.0,
    **given: Any,
) -> EvalLog:
    """The header of a log, as it is read from disk.

    The values are those of samples by name, a list where a sample was asked in several epochs; or ``CCI`` for two right
    answers and a wrong one. So many samples are on one score, where `clusters` says so.
    """
    values = {f"q{place}": value for place, value in enumerate(values)} if isinstance(values, str) else values
    samples = [
        EvalSample(
            id=name,
            epoch=epoch,
            input="?",
            target=f"right answer of {name}",
            metadata={"score_id": f"op. {number // clusters}"} if clusters else {},
            scores={"main": Score(value=value)},
            model_usage={model: ModelUsage(output_tokens=5 * (number + 1))},
            working_time=seconds * (number + 1),
        )
        for number, (name, found) in enumerate(values.items())
        for epoch, value in enumerate(found if isinstance(found, list) else [found], start=1)
    ]
    scores = score("main", {}), score("answered", {})
    header = made_log(benchmark, config, *scores, samples=len(samples), label=label, asked=asked, model=model, **given)
    header.stats = EvalStats(started_at="2026-01-02T10:00:00+00:00", completed_at="2026-01-02T10:30:00+00:00")
    header.samples = samples
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{len(list(folder.iterdir()))}.eval"
    write_eval_log(header, path)
    return read_eval_log(str(path), header_only=True)


def rows(report: Report, name: str) -> list[dict[str, Any]]:
    return rows_of(next(table for table in report.tables if table.name == name))


def names(report: Report) -> list[str]:
    return [table.name for table in report.tables]


def test_models_are_compared_on_the_samples_that_both_have_a_score_of(tmp_path: Path) -> None:
    first = {**dict(enumerate("CCIIIIIIII")), "unscored": nan, "alone": "C"}
    second = {**dict(enumerate("ICCCCCCCII")), "unscored": "C"}
    report = comparison_report([log(tmp_path, second, "b/second"), log(tmp_path, first, "a/first")])
    (row,) = rows(report, "tests_models_ziqi")
    assert (row["First model"], row["Second model"], row["Task"]) == ("a/first", "b/second", "comprehension")
    assert [row[name].value for name in ("Pairs", "Unscored", "Not in both")] == [10, 1, 1]
    assert (row["First"].value, row["Second"].value) == (20, 70)
    assert row["Difference"].value == pytest.approx(50)
    assert row["p"].value == pytest.approx(mcnemar([[1, 1], [6, 2]], exact=True).pvalue)
    assert row["Test"] == "McNemar"


def test_p_is_corrected_for_all_rows_of_the_table(tmp_path: Path) -> None:
    patterns = {"a": "IIIIIIIIII", "b": "CCCCCCCIII", "c": "CCCCCCCCCC"}
    found = rows(comparison_report([log(tmp_path, *reversed(one)) for one in patterns.items()]), "tests_models_ziqi")
    assert [row["First model"] + row["Second model"] for row in found] == ["ab", "ac", "bc"]
    expected = multipletests([row["p"].value for row in found], method="holm")[1]
    assert [row["p (Holm)"].value for row in found] == pytest.approx(list(expected))
    assert found[1]["p (Holm)"].value == pytest.approx(3 * 2 / 2**10)


@pytest.mark.parametrize(
    "other",
    [{"label": "published"}, {"config": "generation"}, {"asked": FIVE}, {"benchmark": "lilybench"}],
    ids=["data", "task", "condition", "benchmark"],
)
def test_models_are_compared_under_the_same_condition_on_the_same_data_only(tmp_path: Path, other: Any) -> None:
    report = comparison_report([log(tmp_path, "CCCC", "a/first"), log(tmp_path, "IIII", "b/second", **other)])
    assert not [name for name in names(report) if name.startswith("tests_")]


def test_samples_of_one_id_with_other_right_answers_are_not_compared(tmp_path: Path) -> None:
    first = log(tmp_path, {"q0": "C"}, "a/first")
    second = log(tmp_path, {"q1": "C"}, "b/second")
    samples = read_eval_log(second.location)
    assert samples.samples
    samples.samples[0].id = "q0"
    write_eval_log(samples, second.location)
    assert names(comparison_report([first, read_eval_log(second.location, header_only=True)])) == ["costs"]


def test_conditions_that_differ_in_one_thing_are_compared_in_their_natural_order(tmp_path: Path) -> None:
    strict, paper = {**FIVE, "protocol": "strict"}, {**FIVE, "protocol": "paper"}
    logs = [log(tmp_path, "CCCCCCCC", asked=asked) for asked in (strict, paper)]
    logs.append(log(tmp_path, "IIIIIIII", asked={**ZERO, "protocol": "strict"}))
    found = rows(comparison_report(logs), "tests_conditions_ziqi")
    assert [[*list(row.values())[3:7], row["Difference"].value] for row in found] == [
        ["shots", "zero", "five", "protocol strict", 100],
        ["protocol", "paper", "strict", "shots five", 0],
    ]


def test_parameters_that_are_not_set_are_as_by_default_and_lists_are_told_by_their_items(tmp_path: Path) -> None:
    report = comparison_report(
        [log(tmp_path, "CI", asked=ZERO | {"subset": subset, "cued": None}) for subset in (["a", "b"], None)]
    )
    (row,) = rows(report, "tests_conditions_ziqi")
    assert (row["What"], row["First value"], row["Second value"], row["Else"]) == ("subset", "default", "a, b", None)


def test_questions_on_one_score_are_drawn_together(tmp_path: Path) -> None:
    msu = {"benchmark": "msu", "config": "textual", "clusters": 4}
    logs = [log(tmp_path, 20 * answer, model, {}, **msu) for model, answer in (("a/first", "I"), ("b/second", "C"))]
    (row,) = rows(comparison_report(logs), "tests_models_msu")
    assert row["p"].value == 2 / 2**5, "five scores, not twenty questions"
    assert row["Test"] == "sign flips"


# --- the effects on MUSE ---


def test_effects_are_pooled_over_the_other_factors_by_trial(tmp_path: Path) -> None:
    """Ten trials, each heard and read twice, zero-shot and few-shot; two are heard wrong both times, one once."""
    logs = []
    for shots, heard in (("zero", "IIICCCCCCC"), ("few", "IICCCCCCCC")):
        logs.append(log(tmp_path, heard, asked={**AUDIO, "shots": shots}, benchmark="muse", config="chords"))
        logs.append(log(tmp_path, "C" * 10, asked={**MIDI, "shots": shots}, benchmark="muse", config="chords"))
    found = {row["Effect"]: row for row in rows(comparison_report(logs), "tests_effects_muse")}
    assert set(found) == {"modality", "shots"}, "one strategy has no effect"
    modality = found["modality"]
    assert (modality["First value"], modality["Second value"], modality["Task"]) == ("audio", "midi", "chords")
    assert [modality[name].value for name in ("Trials", "Pairs")] == [10, 20]
    assert (modality["First"].value, modality["Second"].value) == (75, 100)
    # The differences of the three trials are 2, 2 and 1, and all three point the same way in 2 of 8 flips.
    assert modality["p"].value == 0.25
    assert found["shots"]["Difference"].value == pytest.approx(5)
    assert found["shots"]["p"].value == 1


def test_effects_over_all_tasks_and_all_models_but_the_baselines(tmp_path: Path) -> None:
    logs = [
        log(tmp_path, pattern, model, asked, benchmark="muse", config=config)
        for config in ("chords", "rhythm")
        for model in ("a/one", "b/two", "baseline/chance")
        for asked, pattern in ((AUDIO, "ICCC" if model == "b/two" else "IIII"), (MIDI, "CCCC"))
    ]
    found = {(row["Model"], row["Task"]): row for row in rows(comparison_report(logs), "tests_effects_muse")}
    models = ("all models", "a/one", "b/two", "baseline/chance")
    assert set(found) == {(model, task) for model in models for task in ("all tasks", "chords", "rhythm")}
    everything = found["all models", "all tasks"]
    assert [everything[name].value for name in ("Trials", "Pairs", "First")] == [8, 16, 37.5]


# --- samples ---


def test_samples_that_all_get_wrong_and_those_that_runs_disagree_on(tmp_path: Path) -> None:
    patterns = {"a/one": "ICICC", "b/two": "IIICC", "c/three": "ICCIC"}
    logs = [log(tmp_path / "sub folder", pattern, model) for model, pattern in patterns.items()]
    logs.append(log(tmp_path / "other", {"only here": "I"}, config="generation"))
    report = comparison_report(logs)
    (wrong,) = rows(report, "samples_wrong")
    assert (wrong["Sample"], wrong["Runs"].value) == ("q0", 3)
    assert wrong["In the viewer"].endswith("#/logs/sub%20folder/0.eval/samples/sample/q0/1/")
    disputed = rows(report, "samples_disputed")
    assert [row["Sample"] for row in disputed] == ["q1", "q2", "q3"]
    assert [row["Mean score"].value for row in disputed] == pytest.approx([200 / 3, 100 / 3, 200 / 3])
    assert (disputed[0]["Best in"], disputed[0]["Worst in"]) == ("a/one", "b/two")


def test_at_most_ten_samples_of_a_task_and_links_to_any_id(tmp_path: Path) -> None:
    values = {f"bach/bwv {number}#%ü": "I" for number in range(30)}
    report = comparison_report([log(tmp_path, values, model, {"shots": "zero"}) for model in ("a/one", "b/two")])
    found = rows(report, "samples_wrong")
    assert len(found) == 10
    for row in found:
        before, name, epoch = row["In the viewer"].removesuffix("/").rsplit("/", 2)
        assert (unquote(name), epoch) == (row["Sample"], "1")
        assert before.endswith("0.eval/samples/sample")


# --- costs ---


def test_medians_and_ninetieth_percentiles_of_tokens_and_seconds(tmp_path: Path) -> None:
    report = comparisons.comparison_report([log(tmp_path, {f"q{place}": "C" for place in range(20)})])
    (row,) = rows(report, "costs")
    # Seconds are 1, 2, … 20: the median lies between the 6th and the 15th with 95% confidence.
    assert row["Seconds, median"] == Figure(10.5, 6, 15, 2)
    assert row["Seconds, 90th percentile"].value == pytest.approx(18.1)
    assert row["Tokens, median"].value == 52.5
    assert row["Whole run (minutes)"].value == 30
    assert set(report.figures) == {"costs_seconds_ziqi", "costs_tokens_ziqi"}
    assert "some/model" in report.figures["costs_seconds_ziqi"]
    # Time that no log tells of is not drawn at nothing.
    assert set(comparison_report([log(tmp_path, "CI", seconds=0)]).figures) == {"costs_tokens_ziqi"}


# --- which logs ---


def test_of_several_runs_of_the_same_the_fullest_counts_and_it_is_said(tmp_path: Path) -> None:
    report = comparison_report(
        [
            log(tmp_path, "CCCC"),
            log(tmp_path, "II", created="2026-03-01T00:00:00+00:00"),
            log(tmp_path, "IIII", "other/model"),
        ]
    )
    (row,) = rows(report, "tests_models_ziqi")
    assert (row["First model"], row["Difference"].value, row["Pairs"].value) == ("other/model", 100, 4)
    notes = next(table.notes for table in report.tables if table.name == "tests_models_ziqi")
    assert any("some/model" in note and "of 2 runs the one of 2026-01-02 10:00 counts" in note for note in notes)


def test_epochs_are_averaged_and_then_no_longer_right_or_wrong(tmp_path: Path) -> None:
    first = {"q0": ["C", "I"], "q1": ["I", "I"]}
    second = {"q0": ["C", "C"], "q1": ["I", nan]}
    report = comparison_report([log(tmp_path, first, "a/first"), log(tmp_path, second, "b/second")])
    (row,) = rows(report, "tests_models_ziqi")
    assert (row["First"].value, row["Second"].value, row["Test"]) == (25, 50, "sign flips")


def test_logs_that_cannot_be_used_are_named_with_the_reason(tmp_path: Path) -> None:
    good = log(tmp_path, "C")
    empty = log(tmp_path, {})
    graded = log(tmp_path, {"q0": 70})
    damaged = log(tmp_path, "C")
    Path(damaged.location).write_bytes(b"no log")
    report = comparison_report([good, empty, graded, damaged])
    reasons = dict(report.passed_over)
    assert good.location not in reasons
    start = "not compared with others: its samples cannot be read: "
    assert reasons.pop(damaged.location) == f"{start}File is not a zip file (BadZipFile in summaries of samples.py)"
    assert reasons == {
        empty.location: f"{start}it holds no samples",
        graded.location: f"{start}scores of main are not from 0 to 1",
    }
