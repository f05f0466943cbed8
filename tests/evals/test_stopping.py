"""Runs that stop early: what is asked, what the log and the report say, and that a comparison ends."""

import pytest
from inspect_ai import eval as evaluate

from music_evals.evals.muse import chord_quality
from music_evals.evals.shared.parameters import ParameterError
from music_evals.reports.records import read_records


def run(folder, model, **parameters):
    (log,) = evaluate(
        chord_quality(**parameters), model=model, log_dir=str(folder), display="none", max_samples=1
    )
    assert log.status == "success"
    return log


def test_a_run_stops_when_its_interval_is_narrow(tmp_path):
    log = run(tmp_path, "baseline/reader", stopping=40)
    assert log.results
    assert log.results.early_stopping
    assert log.results.early_stopping.metadata["met"] is True
    low, high = log.results.early_stopping.metadata["score"]
    assert high - low <= 0.4
    assert 0 < log.results.completed_samples < log.results.total_samples
    (logged,) = (score for score in log.results.scores if score.name == "final_answer")
    assert logged.metrics["accuracy_low"].value == pytest.approx(low, abs=0.15)
    records = read_records(tmp_path)
    score = records.score(0)
    assert score
    assert score.low == logged.metrics["accuracy_low"].value
    assert records.runs.at[0, "errors"] == 0
    assert records.runs.at[0, "condition"] == "stopping=40, in part"


def test_a_comparison_stops_when_it_is_decided(tmp_path):
    stored = run(tmp_path / "stored", "baseline/majority")
    log = run(tmp_path / "new", "baseline/reader", stopping=stored.location)
    assert log.results
    assert log.results.early_stopping
    low, high = log.results.early_stopping.metadata["share_of_questions_won"]
    assert 0.5 < low < high == 1
    assert log.results.completed_samples < log.results.total_samples
    same = run(tmp_path / "same", "baseline/majority", stopping=stored.location)
    assert same.results
    assert same.results.completed_samples == same.results.total_samples


@pytest.mark.parametrize("rule", [0, 100, "no.eval"])
def test_a_rule_that_cannot_be_kept_is_refused(rule):
    with pytest.raises(ParameterError, match=f"stopping={rule}"):
        chord_quality(stopping=rule)
