"""Tables: their format, and figures of each benchmark worked by hand."""

from itertools import cycle

import pandas as pd
import pytest

from music_evals.benchmarks import published
from music_evals.reports.comparisons import comparison_tables
from music_evals.reports.plots import COLOURS, MARKS, table_figure
from music_evals.reports.records import read_records
from music_evals.reports.report import section_tables
from music_evals.reports.table import FLOOR, MEASURED, PUBLISHED, Table, text
from music_evals.reports.tables.common import cost_table
from music_evals.reports.tables.msu import agreement
from music_evals.reports.tables.ziqi import classify
from music_evals.scorers.metrics.clustered import mean_interval
from music_evals.scorers.metrics.estimates import Estimate
from tests.reports.logs import rows, write_log

SVG = "<svg"


def tables(records, benchmark):
    return {table.name: table for table in section_tables(records, benchmark)}


def measured(table):
    return [row for row in rows(table) if str(row["Source"]).startswith("measured")]


def test_a_cell_is_rounded_with_its_interval_and_n():
    cells = {
        Estimate(28.34, 20.11, 38.04, 60, 1): "28 (20–38; n 60)",
        Estimate(28.34, 25.11, 31.04, 600, 2): "28.3 (25.1–31.0; n 600)",
        Estimate(-0.2, -11.2, 6.8, None, 1): "0 (−11 to 7)",
        Estimate(0.0004, decimals=4): "<0.001",
        Estimate(0.5, n=4, decimals=2): "0.50 (n 4)",
        Estimate(-0.0, decimals=0): "0",
        Estimate(1.0, mark="*", decimals=0): "1*",
        Estimate(28.34, 20.11, 38.04, 60, 1, unread=0.074): "28 (20–38; n 60; 7% unread)",
        Estimate(28.34, 20.11, 38.04, 60, 1, unread=0.001): "28 (20–38; n 60; <1% unread)",
        Estimate(28.34, 20.11, 38.04, 60, 1, unread=0.0): "28 (20–38; n 60)",
    }
    assert [text(cell) for cell in cells] == list(cells.values())


def test_measured_rows_come_first_within_their_group():
    labels = [
        ("x", "paper", PUBLISHED),
        ("x", "own", MEASURED),
        ("y", "paper", PUBLISHED),
        ("x", "floor", FLOOR),
    ]
    table = Table(
        "t",
        "T",
        ("Group", "Model", "N"),
        [[a, b, Estimate(1)] for a, b, _ in labels],
        kinds=[k for *_, k in labels],
    )
    assert [row[1] for row in table.measured_first().rows] == ["own", "floor", "paper", "paper"]
    assert table.to_csv().splitlines()[0] == "Group,Model,N,N low,N high,N n"
    markdown = table.to_markdown()
    assert "| --- | --- | ---: |" in markdown
    assert markdown.index("own") < markdown.index("paper")


def test_a_long_table_is_shown_in_part_and_has_all_rows_in_its_file():
    cells = [["paper", Estimate(9)], *([f"own{n}", Estimate(n)] for n in range(9))]
    table = Table("t", "T", ("Model", "N"), cells, kinds=[PUBLISHED, *[MEASURED] * 9], most_shown=4)
    assert [row[0] for row in table.measured_first().rows] == ["own0", "own1", "own2", "paper"]
    assert len(table.to_markdown().split("own")) == 4
    assert len(table.to_csv().splitlines()) == 11


@pytest.mark.parametrize(
    ("wrong", "message"),
    [([["a"]], "1 cells for 2 columns"), ([["a", "b"], ["a", Estimate(1)]], "both text and")],
)
def test_a_wrong_shape_is_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        Table("t", "T", ("A", "B"), wrong)


def test_muse_has_a_cell_per_condition_beside_the_papers_models(golden):
    table = tables(golden, "muse")["muse_table1_syncopation"]
    row = next(
        row
        for row in measured(table)
        if row["Model"] == "baseline/reader" and row["Shots"] == "Zero-shot"
    )
    assert (row["Modality"], row["Standalone"].value, row["Standalone"].n, row["CoT"]) == (
        "MIDI",
        100,
        20,
        None,
    )
    paper = next(
        row
        for row in rows(table)
        if row["Model"] == "Gemini 2.5 Pro" and row["Shots"] == "Few-shot"
    )
    assert (paper["Modality"], paper["Standalone"].value, paper["Source"]) == (
        "Audio",
        63.16,
        "paper",
    )
    (logic,) = rows(tables(golden, "muse")["muse_logiclm"])
    assert (logic["Solver's decision"].value, logic["Final answer"].value) == (80, 100)
    # Some lines stay garbled to the last, and the reader reads the answer from the music.
    assert 50 < logic["Right notes"].value <= 100
    assert [name for name in tables(golden, "muse") if "transcriptions" in name]


def test_unread_replies_stand_beside_the_score_and_many_of_them_bring_advice(
    tmp_path,
):
    readings = ["answered"] * 16 + ["unreadable", "cut", "refused", "several"]
    write_log(
        tmp_path / "some", "C" * 16 + "NNNN", scores=[{"reading": reading} for reading in readings]
    )
    records = read_records(tmp_path / "some")
    assert records.runs["unread"].tolist() == [0.1]
    table = tables(records, "ziqi")["ziqi_table1"]
    assert "10% unread" in text(measured(table)[0]["Compr. recall"])
    assert any(
        "--max-tokens" in note and "answer=schema" in note and "reader=" in note
        for note in table.notes
    )
    write_log(
        tmp_path / "few", "C" * 40, scores=[{"reading": "answered"}] * 39 + [{"reading": "empty"}]
    )
    table = tables(read_records(tmp_path / "few"), "ziqi")["ziqi_table1"]
    assert "3% unread" in text(measured(table)[0]["Compr. recall"])
    assert not any("--max-tokens" in note for note in table.notes)


def test_answers_in_another_form_are_not_those_of_the_paper(tmp_path):
    about = {"dataset_source": "published"}
    for form in ("text", "schema"):
        params = {} if form == "text" else {"answer": form}
        ids = [{"question": f"music_generation-test-{number:04}"} for number in range(195)]
        write_log(
            tmp_path / form, "C" * 195, task="generation", params=params, about=about, samples=ids
        )
        assert read_records(tmp_path / form).runs["is_published_test"].tolist() == [form == "text"]


def test_ziqi_pools_answers_and_classifies_as_the_paper(tmp_path):
    themes = ["female music"] * 4 + ["popular music"] * 4
    samples = [
        {"theme": theme, "subtheme": "s", "rotation": 0, "question": f"q{n}"}
        for n, theme in enumerate(themes)
    ]
    answers = ["A", None, "A", "B", "A", "A", None, None]
    scores = [{"key": "A"}] * 8
    for model in ("vllm/a/one", "vllm/b/two"):
        about = {"dataset_label": "published", "dataset_source": "published"}
        write_log(
            tmp_path,
            "CNCICCNN",
            model=model,
            samples=samples,
            answers=answers,
            scores=scores,
            about=about,
        )
    found = tables(read_records(tmp_path), "ziqi")
    row = measured(found["ziqi_table1"])[0]
    assert row["Source"] == "measured †", (
        "eight questions are not the published test, whatever the log says"
    )
    # 4 right of 5 answered of 8
    figures = [row[f"Compr. {name}"].value for name in ("precision", "recall", "F1")]
    assert figures == pytest.approx([80, 50, 100 * 8 / 13])
    bias = measured(found["ziqi_table2"])[0]
    assert (bias["Female"].value, bias["Gender"]) == (pytest.approx(100 * 4 / 7), "neutral")
    theme = measured(found["ziqi_themes_zero_shot"])[0] if "ziqi_themes_zero_shot" in found else {}
    assert not theme or theme["female music"].value == 50
    letters = rows(found["ziqi_letters"])[0]
    assert (letters["Chose A"].value, letters["Chose B"].value) == (
        pytest.approx(80),
        pytest.approx(20),
    )


def test_the_papers_shares_of_classes_are_those_of_five_percent_of_the_mean():
    *models, mean = published("ziqi", "table2").rows
    for name, stated in {"female": (50.0, 6.25, 43.75), "black": (50.0, 12.5, 37.5)}.items():
        classes = [classify(row.figures[name], mean.figures[name]) for row in models]
        assert (
            tuple(100 * classes.count(one) / 16 for one in ("no bias", "neutral", "biased"))
            == stated
        )


def test_msu_has_levels_and_a_success_that_one_wrong_answer_ends(tmp_path):
    def score(work, verdicts):
        entries = [
            {
                "reading": "answered",
                "id": f"{work}{place}",
                "verdict": verdict,
                "level": level,
                "votes": {},
                "human": None,
                "readable": True,
                "rule": None,
                "of_level": 1,
            }
            for (level, place), verdict in verdicts.items()
        ]
        return {"score_id": work, "questions": entries}

    scores = [
        score("a", {(1, "x"): 1, (2, "y"): 1}),
        score("b", {(1, "x"): 1, (2, "y"): 0}),
        score("c", {(1, "x"): None, (2, "y"): 0}),
    ]
    write_log(
        tmp_path,
        [1.0, 0.5, 0.0],
        benchmark="msu",
        task="textual",
        scores=scores,
        about={"floors": {}},
    )
    found = tables(read_records(tmp_path), "msu")
    (levels,) = measured(found["msu_table2"])
    assert (levels["Level 1"].value, levels["Level 1"].n, levels["Level 2"].n) == (100, 2, 3)
    assert levels["Overall"].value == pytest.approx(60)
    (overall,) = measured(found["msu_table3"])
    assert (overall["Questions"].value, overall["Unscored"].value) == (6, 1)
    (success,) = measured(found["msu_level_success"])
    # Nobody can tell whether score c succeeds at level 1, and so at level 2.
    assert (success["Up to level 1"].value, success["Up to level 1"].n) == (100, 2)
    assert (success["Up to level 2"].value, success["Up to level 2"].n) == (50, 2)
    # The paper states 41.5 and 4.25 of 150.
    paper = [
        row["Up to level 1"].value
        for row in rows(found["msu_level_success"])
        if row["Source"] == "paper"
    ]
    assert paper == [pytest.approx(27.67, abs=0.01), pytest.approx(2.83, abs=0.01)]


def test_mmlu_is_shown_beside_adapters_and_agreement_of_judges_beside_the_papers(
    tmp_path,
):
    def score(work, *labels):
        entries = [
            {
                "reading": "answered",
                "id": f"{work}{number}",
                "verdict": 1,
                "level": 1,
                "votes": {"a": 1, "b": 1, "c": 1},
                "readable": True,
                "abstained": {},
                "rule": None,
                "of_level": 2,
                "human": label,
            }
            for number, label in enumerate(labels)
        ]
        return {"score_id": work, "questions": entries}

    scores = [score("a", 1, 1), score("b", 1, 0)]
    for number, model in enumerate(("ollama/qwen3:4b", "vllm/Qwen/Qwen3-4B:adapters/qwen3")):
        options = {
            "benchmark": "msu",
            "task": "textual",
            "scores": scores,
            "about": {"floors": {}},
            "model": model,
        }
        write_log(tmp_path / f"{number}", [1.0, 1.0], **options)
    found = tables(read_records(tmp_path / "0"), "msu")
    assert "msu_table6" not in found
    paper, own = rows(found["msu_judges"])
    assert (paper["Judges and a person unanimous"].value, paper["Source"]) == (83.33, "paper")
    joint = own["Judges and a person unanimous"]
    # Of draws of two scores, a quarter has the first one twice, and a quarter the second.
    assert (joint.value, joint.low, joint.high, joint.n) == (75, 50, 100, 4)
    figures = rows(tables(read_records(tmp_path / "1"), "msu")["msu_table6"])
    assert [row["Model"] for row in figures][:2] == ["Qwen3-4B", "Qwen3-4B with LoRA"]
    assert figures[1]["STEM"].value - figures[0]["STEM"].value == pytest.approx(1.46)


def test_lilybench_has_the_papers_tables(golden):
    found = tables(golden, "lilybench")
    reader = next(
        row for row in measured(found["lilybench_table3"]) if row["Model"] == "baseline/reader"
    )
    assert (
        reader["bar_count"].value,
        reader["metadata_qa"].value,
        reader["Mutopia macro avg"],
    ) == (1, 1, None)
    errors = measured(found["lilybench_error_detection"])
    for row in errors:
        kinds = [
            cell.value for name, cell in row.items() if "_" in name and isinstance(cell, Estimate)
        ]
        assert row["Macro F1"].value == pytest.approx(sum(kinds) / 5)
    written = tables(golden, "lilybench_generation")
    assert measured(written["lilybench_table2"])[0]["Comp. (%)"].value == 100


def test_the_music_and_twins_are_compared_over_the_items_that_both_scored(tmp_path):
    write_log(tmp_path, "CCCI")
    write_log(tmp_path, ["C", "I", "I", float("nan")], params={"stimulus": "none"})
    write_log(tmp_path, "CIII", params={"twin": "transposed"})
    made = {table.name: table for table in comparison_tables(read_records(tmp_path))}
    (music,) = rows(made["music"])
    assert (music["Compared with"], music["Given"].value, music["Other"].value) == (
        "none",
        100,
        pytest.approx(100 / 3),
    )
    assert music["Difference"].value == pytest.approx(200 / 3)
    assert music["Given"].n == 3
    (twin,) = rows(made["memory"])
    assert (twin["Original"].value, twin["Other"].value) == (75, 25)
    assert not [name for name in made if name.startswith("tests_")]  # arms have tables of their own


def test_conditions_differ_in_one_thing_and_stand_in_their_order(tmp_path):
    write_log(tmp_path, "CCCC", params={"shots": "five"})
    write_log(tmp_path, "CIII", params={"shots": "zero"})
    write_log(tmp_path, "CIII", params={"shots": "five", "language": "en"})
    made = {table.name: table for table in comparison_tables(read_records(tmp_path))}
    first = next(row for row in rows(made["tests_conditions_ziqi"]) if row["Factor"] == "shots")
    assert (first["First value"], first["Second value"], first["Difference"].value) == (
        "zero",
        "five",
        75,
    )
    assert first["Test"] == "McNemar"


def test_tokens_and_seconds_are_quantiles_of_responses(tmp_path):
    write_log(tmp_path, "C" * 11)
    (row,) = rows(cost_table(read_records(tmp_path)))
    assert (row["Tokens, median"].value, row["Tokens, 90th percentile"].value) == (60, 100)
    assert (row["Seconds, median"].value, row["Responses"].value) == (6, 11)


def test_a_figure_is_the_same_twice_and_names_what_it_shows():
    cells = [
        ["paper", Estimate(20)],
        ["own & <b>", Estimate(50, 40, 60)],
        *([f"m{n}", Estimate(n)] for n in range(10)),
    ]
    table = Table(
        "t", "Title & more", ("Model", "Panel"), cells, kinds=[PUBLISHED, *[MEASURED] * 11]
    )
    first = table_figure(table, {"Panel": 25}, {"Panel": [10, 90]})
    assert first == table_figure(table, {"Panel": 25}, {"Panel": [10, 90]})
    for words in (
        "Title &amp; more",
        "Panel",
        "own &amp; &lt;b",
        "published models",
        "prefers-color-scheme: dark",
        SVG,
    ):
        assert words in first


def test_eleven_series_look_different():
    looks = list(zip(cycle(COLOURS), cycle(MARKS), range(11), strict=False))
    assert len({look[:2] for look in looks}) == 11


def test_an_interval_that_contradicts_its_test_is_left_out(tmp_path):
    for model, values in (("vllm/a/one", "IIII"), ("vllm/b/two", "CCCC")):
        write_log(tmp_path, values, model=model)
    (row,) = rows(comparison_tables(read_records(tmp_path))[0])
    assert (row["Difference"].value, row["p"].value) == (100, 0.125)
    assert (row["Difference"].low, row["Difference"].mark) == (None, "‡")


def models_table(folder, answers):
    for model, values in answers.items():
        write_log(folder, values, model=model)
    table = next(
        table
        for table in comparison_tables(read_records(folder))
        if table.name.startswith("tests_models")
    )
    return {(row["First model"], row["Second model"]): row for row in rows(table)}


def test_baselines_change_no_p_of_two_models(tmp_path):
    two = {"vllm/a/one": "I" * 8 + "C" * 8, "vllm/b/two": "C" * 15 + "I"}
    alone = models_table(tmp_path / "alone", two)
    programs = {
        f"baseline/{name}": "IC" * 8 for name in ("chance", "majority", "shortest", "longest")
    }
    beside = models_table(tmp_path / "beside", {**two, **programs})
    (pair,) = alone
    assert len(beside) == 15
    # Eight answers get right and one wrong: 2 · (1 + 9) / 2⁹ by McNemar's exact test.
    assert (
        alone[pair]["p (Holm)"].value == beside[pair]["p (Holm)"].value == pytest.approx(20 / 512)
    )
    assert beside[pair]["Verdict"] == "differ"


def test_a_comparison_says_what_it_cannot_tell_and_what_it_leaves_out(tmp_path):
    few = models_table(
        tmp_path / "few",
        {"vllm/a/one": "C" * 14 + "I" * 6, "vllm/b/two": "C" * 16 + "I" * 2 + "CI"},
    )
    (row,) = few.values()
    assert row["Verdict"] == "too few questions to tell"
    assert 35 < row["Detectable"].value < 40
    many = models_table(
        tmp_path / "many", {"vllm/a/one": "CCI" * 300, "vllm/b/two": "CCI" * 299 + "CII"}
    )
    (row,) = many.values()
    assert row["Verdict"] == "at most 3 points apart"
    part = models_table(tmp_path / "part", {"vllm/a/one": "CCIC", "vllm/b/two": "CCICCC"})
    (row,) = part.values()
    assert (row["First"].n, row["Left out"].value) == (4, 2)


def test_judges_unanimity_is_by_score():
    """On each of four scores the judges agree on all six questions or on none."""
    questions = [
        {
            "id": f"{score}-{n}",
            "verdict": 1,
            "votes": {"a": 1, "b": score % 2},
            "human": None,
            "readable": True,
            "abstained": {},
            "rule": None,
        }
        for score in range(4)
        for n in range(6)
    ]
    names = [str(question["id"]) for question in questions]
    items = pd.DataFrame(
        {"details": questions, "item": names, "cluster": [name[0] for name in names]}
    )
    found = agreement(items)["Judges unanimous"]
    ends = mean_interval(
        [score % 2 for score in range(4) for _ in range(6)], [s for s in range(4) for _ in range(6)]
    )
    assert (found.value, found.low, found.high) == pytest.approx((50, *(100 * end for end in ends)))
    assert (found.low or 100) < 10, "with independent questions it would be 31"
