"""One score: headline, tests, summary, page and results agree, and a report does not mislead about
what ran.
"""

import pytest

from music_evals.reports.overview import make_overview
from music_evals.reports.records import read_records
from music_evals.reports.summary import SUITE, aggregates
from tests.reports.logs import write_log

FLOOR = {"floors": {"": {"chance": {"value": 0.0}}}}


def test_no_metric_is_a_sentence_or_undefined(golden):
    for log in golden.headers.values():
        for score in log.results.scores if log.results else []:
            for name, metric in score.metrics.items():
                assert " " not in name
                assert metric.value == metric.value


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


def test_questions_of_two_benchmarks_count_once(tmp_path):
    means, notes = suite(tmp_path, {"vllm/a/b": ["muse", "mmau", "mmar"]})
    assert means == {"vllm/a/b": 37.5}, "the mean of 75 and 0, and not of 75, 0 and 0"
    assert any("4 of 4 questions of MMAU-music" in note and "left out" in note for note in notes)


def test_no_normalised_value_has_an_interval_above_100(golden):
    values = [one.normalised for one in aggregates(golden)[0] if one.normalised]
    assert len(values) > 5
    assert max(one.high for one in values if one.high is not None) <= 100


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


def test_the_overview_of_a_benchmark_without_published_figures(tmp_path):
    write_log(tmp_path, "CI", benchmark="ssmr", task="textual")
    assert make_overview(read_records(tmp_path)).sentences["SSMR-Bench"]
