"""One score: headline, tests, summary, page and results agree, and a report does not mislead about
what ran.
"""

import json

import pytest

from music_evals.reports.overview import make_overview
from music_evals.reports.page import html
from music_evals.reports.records import read_records
from music_evals.reports.report import make_report, section_tables
from music_evals.reports.results import as_json
from music_evals.reports.site import board_table
from music_evals.reports.summary import SUITE, aggregates, summary_table
from music_evals.scorers.metrics.estimates import Estimate
from tests.reports.logs import rows, write_log

FLOOR = {"floors": {"": {"chance": {"value": 0.0}}}}


def test_no_metric_is_a_sentence_or_undefined(golden):
    for log in golden.headers.values():
        for score in log.results.scores if log.results else []:
            for name, metric in score.metrics.items():
                assert " " not in name
                assert metric.value == metric.value


def test_summary_page_leaderboard_and_results_agree(golden):
    summary = {
        (row["Model"], row["Benchmark"].removesuffix(" †")): row
        for row in rows(summary_table(golden))
    }
    means = {key: row["Score"] for key, row in summary.items()}
    results = json.loads(as_json(golden, "test"))
    for one in results["aggregates"]:
        shown = means[one["model"], one["section"]]
        if shown is not None:
            assert (one["score"]["value"], one["score"]["n"]) == (shown.value, shown.n)
    board = {
        (row["Model"], row["Benchmark"].removesuffix(" †")): row["Score"]
        for row in rows(board_table(aggregates(golden)[0], {}))
    }
    assert board == {key: score for key, score in means.items() if key[1] != SUITE}
    overview = make_overview(golden)
    for row in rows(overview.table):
        for section in set(row) - {"Model"}:
            name, _, is_normalised = section.partition(", ")
            column = "Normalised" if is_normalised else "Score"
            shown = summary.get((row["Model"], name), {}).get(column)
            assert (row[section] and row[section].value) == (shown and shown.value)
    sections, left_out = make_report(golden)
    assert left_out == []
    chance = means["baseline/chance", "MUSE"]
    shown_interval = f"<span>{chance.low:.0f}–{chance.high:.0f};</span> <span>n 84</span>"
    assert shown_interval in html("T", [], sections[:1], {}, overview)


TASKS = {
    "muse": "syncopation",
    "ziqi": "generation",
    "musictheorybench": "knowledge",
    "mmau": "music",
    "mmar": "music",
}
SAME = [{"content": f"{number}"} for number in range(4)]


def suite(tmp_path, models):
    """Models → the benchmarks that each ran, of which mmau and mmar ask the same questions."""
    for model, benchmarks in models.items():
        for benchmark in benchmarks:
            answers, samples = ("IIII", SAME) if benchmark in ("mmau", "mmar") else ("CCCI", ())
            options = {"task": TASKS[benchmark], "model": model, "about": FLOOR, "samples": samples}
            write_log(tmp_path, answers, benchmark=benchmark, **options)  # type: ignore[arg-type]
    found, notes = aggregates(read_records(tmp_path))
    suites = {
        one.model: one.normalised.value for one in found if one.section == SUITE and one.normalised
    }
    return {model: suites.get(model) for model in models}, notes


def test_only_models_with_the_same_benchmarks_have_a_suite_mean(tmp_path):
    means, notes = suite(tmp_path, {"vllm/a/full": ["muse", "ziqi"], "vllm/b/part": ["muse"]})
    assert means == {"vllm/a/full": 75, "vllm/b/part": None}
    assert any("vllm/b/part" in note for note in notes)


def test_questions_of_two_benchmarks_count_once(tmp_path):
    means, notes = suite(tmp_path, {"vllm/a/b": ["muse", "mmau", "mmar"]})
    assert means == {"vllm/a/b": 37.5}, "the mean of 75 and 0, and not of 75, 0 and 0"
    assert any("4 of 4 questions of MMAU-music" in note and "left out" in note for note in notes)


def test_benchmarks_that_only_a_baseline_ran_are_not_of_the_suite(tmp_path):
    models = {
        "vllm/a/b": ["muse", "ziqi"],
        "baseline/chance": ["muse", "ziqi", "mmau"],
        "baseline/reader": ["mmau"],
    }
    means, _ = suite(tmp_path, models)
    assert means == {"vllm/a/b": 75, "baseline/chance": 75, "baseline/reader": None}


def test_no_normalised_value_has_an_interval_above_100(golden):
    values = [one.normalised for one in aggregates(golden)[0] if one.normalised]
    assert len(values) > 5
    assert max(one.high for one in values if one.high is not None) <= 100


def test_n_stands_beside_every_measured_score(golden):
    for section in dict.fromkeys(golden.runs["section"]):
        for table in section_tables(golden, section):
            measured = [
                row for row in rows(table) if str(row.get("Source", "")).startswith("measured")
            ]
            for row in measured:
                for heading, cell in row.items():
                    if (
                        isinstance(cell, Estimate)
                        and cell.low is not None
                        and not heading.startswith("floor")
                    ):
                        assert cell.n is not None, (table.name, heading)
    table = summary_table(golden)
    assert "n 84" in table.to_markdown()
    assert ",84," in table.to_csv()
    assert "n 84" in html("T", [], make_report(golden)[0][:1], {})


@pytest.mark.parametrize(
    ("midi", "audio", "sentence"),
    [
        (
            "C" * 38 + "II",
            "C" * 12 + "I" * 28,
            "a reads MIDI but does not hear: 95 (1/3 tasks; 83–99; n 40) from MIDI, 30 (",
        ),
        ("C" * 38 + "II", "C" * 30 + "I" * 10, "a reads MIDI and hears: "),
        ("C" * 22 + "I" * 18, "C" * 14 + "I" * 26, "a reads MIDI and may hear: "),
        ("C" * 12 + "I" * 28, "C" * 10 + "I" * 30, "a neither reads MIDI nor hears: "),
    ],
)
def test_a_sentence_says_whether_a_model_reads_and_hears(tmp_path, midi, audio, sentence):
    for modality, values in (("midi", midi), ("audio", audio)):
        params = {"modality": modality}
        write_log(
            tmp_path,
            values,
            benchmark="muse",
            task="chord_quality",
            model="vllm/org/a",
            params=params,
        )
    found = make_overview(read_records(tmp_path)).sentences["MUSE"]
    assert found.startswith(sentence)
    assert found.endswith("from sound, floor 25.0.")


def test_a_compile_rate_is_not_presented_as_quality(golden):
    assert "compile rate, not quality" in make_overview(golden).sentences["LilyBench: generation"]
    (row,) = [row for row in rows(summary_table(golden)) if "generation" in row["Benchmark"]]
    assert row["Score"].mark == "‡"
    assert any(
        note.startswith("‡") and "random notes" in note
        for note in summary_table(golden).shown_notes()
    )


def test_the_overview_of_a_benchmark_without_published_figures(tmp_path):
    write_log(tmp_path, "CI", benchmark="ssmr", task="textual")
    assert make_overview(read_records(tmp_path)).sentences["SSMR-Bench"]
