"""ABC-Eval end to end: prompts of both protocols, scores, baselines, and the table beside
LilyBench.
"""

import pytest

from music_evals.datasets_builders.abc_eval import dataset
from music_evals.datasets_builders.lilybench.rows import TASKS
from music_evals.evals import abc_eval, lilybench
from music_evals.reports.records import read_records
from music_evals.reports.tables.abc_eval import tables
from tests import abc_eval_dataset, lilybench_dataset
from tests.abc_eval_dataset import write_files
from tests.evals.test_lilybench import headline, knowing
from tests.harness import metrics, run, run_scripted


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return abc_eval_dataset.write_small(tmp_path_factory.mktemp("small") / "abc_eval")


def make(name, dataset, **parameters):
    return getattr(abc_eval, name)(dataset=dataset, **parameters)


def prompt(task, number=0):
    _, message = list(task.dataset)[number].input
    return message.text  # type: ignore[union-attr]


def test_who_knows_the_answers_scores_in_full(small, tmp_path):
    tasks = [make(name, small) for name in TASKS]
    logs = run(tasks, tmp_path, model=knowing(tasks))
    assert [log.eval.task for log in logs] == [
        f"abc_eval_like_{name}_generated-seed5" for name in TASKS
    ]
    assert [headline(log) for log in logs] == [1] * 10


@pytest.mark.usefixtures("lilypond_runs")
def test_the_authors_folder_is_a_dataset_and_its_answers_are_read_as_published(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(dataset, "make_pieces", lambda *_: ([], {}))  # for strict rows
    folder = str(write_files(tmp_path / "csv"))
    order, errors = (
        make(name, folder, protocol="paper") for name in ("bar_sequencing", "error_detection")
    )
    assert prompt(order, 0).startswith(
        "Input: M:3/4\nL:1/4\nK:C\nC/D/E/F/G/E/|F/G/A/B/c/A/|B/c/d/e/f/d/\n0. a/g/f/e/d/c/\n1. "
        "e/f/g/e/d/c/\n2. D/F/A/F/E/G/\n3. G/E/C/E/D/B,/\n\nA task.\n\nTemplate: "
    )
    assert "Template: the indices as one string of digits" in prompt(order)
    replies = {
        "bar_sequencing": ["1032", "The order is 01234."],
        "error_detection": ["257", "bars 610", "0"],
    }
    for task, name in ((order, "bar_sequencing"), (errors, "error_detection")):
        texts = {prompt(task, number): reply for number, reply in enumerate(replies[name])}
        reply = lambda messages, _, texts=texts: texts[messages[-1].text]  # noqa: E731
        assert headline(run_scripted(task, tmp_path / name, reply, limit=None)) == 1


@pytest.mark.parametrize("model", ["baseline/reader", "baseline/chance", "baseline/majority"])
@pytest.mark.parametrize("protocol", ["strict", "paper"])
def test_baselines_answer_in_form(small, tmp_path, model, protocol):
    names = ("bar_count", "metadata_qa") if model == "baseline/reader" else TASKS
    for log in run([make(name, small, protocol=protocol) for name in names], tmp_path, model=model):  # type: ignore[arg-type]
        (figures,) = metrics(log).values()
        assert figures["in_form"] == 1, log.eval.task
        assert model != "baseline/reader" or protocol == "paper" or headline(log) == 1


def test_the_same_questions_in_two_notations_are_paired(small, tmp_path):
    other = lilybench_dataset.write_small(tmp_path / "lilybench", "generated")
    tasks = [make("bar_count", small), lilybench.bar_count(dataset=other)]
    tasks += [
        make("bar_count", small, protocol="paper"),
        lilybench.bar_count(dataset=other, protocol="paper"),
    ]
    ids = [{sample.id for sample in task.dataset} for task in tasks[:2]]
    assert ids[0] == ids[1]
    run(tasks[:1] + tasks[2:], tmp_path / "logs", model="baseline/majority")
    run(tasks[1:2], tmp_path / "logs", model=knowing(tasks[1:2]))
    run(tasks[:1], tmp_path / "logs", model=knowing(tasks[:1]))
    (table,) = tables(read_records(tmp_path / "logs"))
    found = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    paired = [row for row in found if row["Difference"] is not None]
    assert [
        (row["Model"], row["LilyPond"].value, row["ABC"].value, row["Difference"].value)
        for row in paired
    ] == [("scripted/model", 100, 100, 0)]
    assert [row["Condition"] for row in found if row not in paired] == ["protocol=paper"]
