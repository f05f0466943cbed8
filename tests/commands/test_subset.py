"""`music-evals subset`, runs of its file, and the estimates in a report."""

import json

import numpy as np
from inspect_ai.log import list_eval_logs, read_eval_log, write_eval_log

from tests.commands.cli import run
from tests.reports.logs import write_log

KINDS = [{"theme": f"theme {item % 4}"} for item in range(60)]


def write_logs(folder, models):
    """Models of graded skill, which answer 60 questions in four themes."""
    rng = np.random.default_rng(5)
    for model, skill in enumerate(np.linspace(0.2, 0.9, models)):
        values = "".join("C" if right else "I" for right in rng.random(60) < skill)
        write_log(folder, values, model=f"org/model-{model}", samples=KINDS)


def read(path):
    config = json.loads(path.read_text())
    assert {*config} == {"eval_config", "metadata"}, "keys of a run config of Inspect"
    (subset,) = config["metadata"]["subsets"].values()
    return config["eval_config"]["sample_id"], subset


def test_the_file_of_a_subset_runs_and_the_report_estimates_the_full_score(tmp_path):
    every, chosen, logs = tmp_path / "every", tmp_path / "chosen", tmp_path / "logs"
    run_task = ["run", "muse_syncopation", "--model", "baseline/chance", "--display", "none"]
    assert run(*run_task, "--log-dir", every)[0] == 0
    log = read_eval_log(list_eval_logs(str(every))[0])
    logs.mkdir()
    assert log.results
    assert log.samples
    scorer = log.results.scores[0].name
    for model in range(3):
        log.eval.model = f"org/model-{model}"
        for place, sample in enumerate(log.samples):
            assert sample.scores
            sample.scores[scorer].value = "C" if place % 4 <= model else "I"
        write_eval_log(log, str(logs / f"{model}.eval"))
    out = tmp_path / "subset.json"
    assert run("subset", logs, "--items", 8, "--out", out)[0] == 0
    code, output = run(*run_task, "--config", out, "--log-dir", chosen)
    assert code == 0, output
    _, subset = read(out)
    (header,) = [read_eval_log(info) for info in list_eval_logs(str(chosen))]
    assert sorted(str(sample.id) for sample in header.samples or ()) == sorted(subset["items"])
    code, output = run("report", chosen, "--full")
    assert code == 0, output
    assert "Estimates from subsets" in output
    assert "in part" in output


def test_logs_that_give_no_subset_are_refused_in_a_line(tmp_path):
    write_logs(tmp_path / "logs", 2)
    out = tmp_path / "subset.json"
    code, output = run("subset", tmp_path / "logs", "--items", 60, "--out", out)
    assert (code, len(output.splitlines())) == (1, 1)
    assert not out.exists()
