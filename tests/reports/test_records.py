"""Records of logs: what tells runs apart, and logs that are odd, huge or hostile."""

import csv
import io
import json
import re
import zipfile

import pytest
from inspect_ai.model import GenerateConfig

from music_evals.reports.comparisons import comparison_tables
from music_evals.reports.page import html, markdown
from music_evals.reports.records import read_records
from music_evals.reports.report import make_report
from music_evals.reports.run_metadata import shown
from music_evals.reports.sanitize import plain
from music_evals.reports.table import Table
from tests.reports.logs import rows, write_log

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e=1+1"


def conditions(records):
    return records.runs["condition"].tolist()


@pytest.mark.parametrize(
    ("options", "condition"),
    [
        ({"params": {"shots": "five", "language": "en"}}, "shots=five, language=en"),
        ({"settings": GenerateConfig(temperature=0.7)}, "temperature=0.7"),
        ({"settings": GenerateConfig(seed=3)}, "sampling_seed=3"),
        ({"epochs": 2, "values": "CICI"}, "epochs=2"),
        ({"fields": {"solver": "other"}}, "solver=other"),
        ({"settings": GenerateConfig(max_retries=9, max_connections=3, timeout=5)}, "default"),
    ],
)
def test_what_can_change_an_answer_is_in_the_condition(tmp_path, options, condition):
    write_log(tmp_path, "CI")
    write_log(tmp_path, options.pop("values", "CI"), **options)
    found = read_records(tmp_path)
    assert conditions(found) == ["default", condition]
    assert found.runs["is_current"].all() == (condition != "default")


@pytest.mark.parametrize(
    ("name", "value"), [("token", 1), ("x", "/home/me/file"), ("x", "a" * 100), ("x", {"a": 1})]
)
def test_what_may_be_private_is_hidden(name, value):
    assert shown(name, value).startswith("…")
    assert shown(name, value) == shown(name, value)
    assert shown("judges", ["openai/gpt-5", "a/b"]) == "openai/gpt-5,a/b"


def test_of_many_models_the_best_are_paired_and_p_is_corrected_for_all_pairs(
    tmp_path,
):
    for right in range(14):
        write_log(tmp_path, "C" * right + "I" * (14 - right), model=f"vllm/a/m{right:02}")
    (table,) = comparison_tables(read_records(tmp_path))
    pairs = {frozenset(row[:2]) for row in zip(*_models_of(table), strict=True)}
    # 66 pairs of the 12 best, two with the best, two neighbours; 14 models have 91 pairs.
    assert len(table.rows) == len(pairs) == 70
    best, worst = "vllm/a/m13", "vllm/a/m00"
    assert {best, worst} in pairs
    assert {worst, "vllm/a/m01"} in pairs
    assert {worst, "vllm/a/m02"} not in pairs
    assert "21 pairs of models are left out." in table.notes
    # 13 answers that only the best has right: McNemar's p is 2 ** -12.
    for name, lowest in {"p": 2**-12, "p (Holm)": 91 * 2**-12}.items():
        place = table.columns.index(name)
        assert min(row[place].value for row in table.rows) == pytest.approx(lowest)


def _models_of(table):
    places = [table.columns.index(f"{which} model") for which in ("First", "Second")]
    return [[row[place] for row in table.rows] for place in places]


def test_a_small_log_cannot_take_much_memory(tmp_path):
    path = write_log(tmp_path, "CI")
    header = zipfile.ZipFile(path).read("header.json").decode()
    with zipfile.ZipFile(tmp_path / "1-bomb.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        lists = "[],".join([""] * 4_000_000)
        archive.writestr("header.json", f'{{"report": [{lists}[]], {header[1:]}')
    assert (tmp_path / "1-bomb.eval").stat().st_size < 30_000
    found = read_records(tmp_path)
    assert len(found.runs) == 1
    ((_, why),) = found.passed_over
    assert re.fullmatch(r"reading it needs more than 26\d MiB of memory", why)


def test_hostile_texts_are_shown_as_text(tmp_path):
    model = f"vllm/a/{HOSTILE}"
    write_log(
        tmp_path,
        "CI",
        model=model,
        about={"dataset_label": HOSTILE},
        samples=[{"theme": HOSTILE}, {}],
    )
    found = read_records(tmp_path)
    sections, left_out = make_report(found)
    assert left_out == []
    page, text = html("T", [], sections, {}), markdown("T", [], sections, {})
    for document in (page, text):
        assert "<script" not in document
        assert not {"\x1b", "\u202e"} & {*document}
    for section in sections:
        for table in section.tables:
            for row in csv.reader(io.StringIO(table.to_csv())):
                assert not any(cell.startswith(("=", "+", "@")) for cell in row)
    assert plain("a\tb\x00\ud800") == "a b��"


def test_frames_have_scores_by_group_floors_and_published_figures(golden):
    scores = golden.scores
    assert set(scores["source"]) == {"measured", "floor", "published"}
    levels = scores[scores["group"].str.startswith("level=")]
    assert {"level=1", "level=4"} <= set(levels["group"])
    paper = scores[
        (scores["source"] == "published") & (scores["metric"] == "table1/comprehension f1")
    ]
    assert paper.set_index("model")["value"]["GPT-4"] == 63.04
    assert json.loads(scores.head(3).to_json(orient="records"))
    assert rows(Table("t", "T", ("a",), [["b"]])) == [{"a": "b"}]


def test_tags_of_one_run_and_none_of_another_are_read_together(tmp_path):
    write_log(tmp_path, "CI", samples=[{"tags": "difficulty: easy"}, {"tags": "difficulty: hard"}])
    write_log(tmp_path, "CI", task="generation")
    scores = read_records(tmp_path).scores
    tagged = scores[scores["group"].str.startswith("tag=")]
    assert dict(zip(tagged["group"], tagged["value"], strict=True)) == {
        "tag=difficulty: easy": 1,
        "tag=difficulty: hard": 0,
    }


def test_metadata_of_a_sample_are_no_column_of_the_records(tmp_path):
    """A stranger's log names the number of another run, and then of none."""
    write_log(tmp_path, "C" * 7 + "I" * 9, model="vllm/a/one")
    for claimed in (0, 99, "x"):
        write_log(
            tmp_path,
            "IIII",
            model=f"vllm/b/{claimed}",
            samples=[{"run": claimed, "is_main": False}] * 4,
        )
    found = read_records(tmp_path)
    scores = [found.score(number) for number in range(4)]
    assert [score and score.value for score in scores] == [7 / 16, 0, 0, 0]
    assert found.passed_over == []


def test_a_header_alone_makes_no_published_test(tmp_path):
    """MMAR has 206 questions on music; ZIQI-Eval's 195 on generation have known ids."""
    about = {"dataset_label": "published", "dataset_source": "published"}
    mmar = {
        "benchmark": "mmar",
        "task": "music",
        "about": {**about, "prompt": "paper", "protocol": "paper"},
    }
    write_log(tmp_path, "C", **mmar)  # type: ignore[arg-type]
    write_log(tmp_path, "C" * 206, model="vllm/a/whole", **mmar)  # type: ignore[arg-type]
    write_log(tmp_path, "C" * 195, task="generation", about=about)
    ids = [{"question": f"music_generation-test-{number:04}"} for number in range(195)]
    write_log(
        tmp_path, "C" * 195, task="generation", about=about, model="vllm/a/whole", samples=ids
    )
    runs = read_records(tmp_path).runs
    assert runs["is_published_test"].tolist() == [False, True, False, True]
    assert runs["is_complete"].tolist() == [False, True, False, True]
    assert runs["condition"].tolist() == ["in part", "default"] * 2


@pytest.mark.parametrize("stated", [0.01, 0.9])
def test_a_log_with_a_false_chance_level_is_refused(stated, tmp_path):
    """By the options of the questions."""
    options = [{"options": list("abcde")}] * 10
    about = {"floors": {"": {"chance": {"value": stated}}}}
    write_log(tmp_path, "CI" * 5, task="generation", samples=options, about=about)
    ((_, reason),) = read_records(tmp_path).passed_over
    assert reason == f"its floors state a chance of {stated}; its questions have 0.2"
