"""`music-evals curve`: figures against scipy and statsmodels, where the step is, and watching."""

import re
import sys
import time
from itertools import pairwise
from math import sqrt
from types import SimpleNamespace

import pandas as pd
import pytest
from scipy.stats import binomtest
from statsmodels.stats.proportion import proportion_confint

from music_evals.commands.main import main
from music_evals.reports import plots
from music_evals.reports.curves import PATTERN
from tests.commands.cli import run
from tests.reports.logs import write_log

# Of 40 questions, how many each step has right: the first ones, so that of two steps only one has
# questions right that the other has wrong.
RIGHT = {100: 12, 200: 26, 300: 30, 400: 29}


@pytest.fixture
def logs(tmp_path):
    folder = tmp_path / "logs"
    for step, right in RIGHT.items():
        write_log(folder, "C" * right + "I" * (40 - right), model=f"hf//checkpoints/step-{step}")
    return folder


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("hf//data/checkpoint-2000/", "2000"),
        ("vllm/org/model-step500-tokens4B", "500"),
        ("hf/x/step-100/checkpoint-7", "7"),
        ("hf/org/m_iter_0005000", "0005000"),
        ("hf//a/epoch=1-step=250.ckpt", "250"),
        ("hf//runs/500", "500"),
        ("1000.0", "1000.0"),
        ("hf/org/Qwen2.5-7B", None),
        ("1e6", None),
    ],
)
def test_a_name_has_its_step_behind_a_word_or_at_its_end(name, step):
    assert next(iter(re.findall(PATTERN, name)), None) == step


def test_figures_are_those_of_scipy_and_statsmodels(logs, tmp_path):
    code, output = run("curve", logs, "--out", tmp_path / "out")
    assert code == 0, output
    table = pd.read_csv(tmp_path / "out" / "curve.csv")
    assert table["Step"].tolist() == [*RIGHT]
    for row, right in zip(table.to_dict("records"), RIGHT.values(), strict=True):
        low, high = proportion_confint(right, 40, method="wilson")
        shown = [row["Score"], row["Score low"], row["Score high"]]
        assert shown == pytest.approx([2.5 * right, 100 * low, 100 * high])
        assert row["Score n"] == 40
    scores = [*RIGHT.values()]
    changes = [later - right for right, later in pairwise(scores)]
    ps = [binomtest(max(change, 0), abs(change)).pvalue for change in changes]
    assert table["Change"].tolist()[1:] == pytest.approx([2.5 * change for change in changes])
    assert table["p"].tolist()[1:] == pytest.approx(ps)
    since = [2.5 * (right - scores[0]) for right in scores[1:]]
    assert table["Since first"].tolist()[1:] == pytest.approx(since)
    # By hand: a deviate of 4.24 with 4 + 2 · 2/3 degrees of freedom, of three tests.
    assert table["p (Holm)"].tolist()[1:] == pytest.approx([3 * 0.0087, 1, 1], abs=1e-3)
    # Bonett and Price: 14 questions that only the second step has right.
    gained, lost = 15 / 42, 1 / 42
    half = 1.959964 * sqrt((gained + lost - (gained - lost) ** 2) / 42)
    ends = [table["Change low"][1], table["Change high"][1]]
    assert ends == pytest.approx([100 * (gained - lost - half), 100 * (gained - lost + half)])
    svg = (tmp_path / "out" / "curve.svg").read_text(encoding="utf-8")
    assert "hf//checkpoints/step-*" in svg


def test_steps_without_a_common_question_are_refused(tmp_path):
    write_log(tmp_path, "CI", model="x/step-1")
    other = [{"id": name, "asks": "?"} for name in "ab"]
    write_log(tmp_path, "CI", model="x/step-2", samples=other)
    code, output = run("curve", tmp_path)
    assert code == 1
    assert output == "Error: two steps of a task have no question in common\n"


@pytest.mark.parametrize("words", [("--by", "tokens"), ("--pattern", "(v9)")])
def test_without_a_step_it_fails(words, logs):
    code, output = run("curve", logs, *words)
    assert code == 1
    assert "no run has a step" in output


@pytest.mark.parametrize("pattern", ["v(", "step", "(v)([0-9]+)"])
def test_a_pattern_without_one_group_is_refused(tmp_path, pattern):
    code, output = run("curve", tmp_path, "--pattern", pattern)
    assert code == 2
    assert pattern in output


def test_without_matplotlib_a_line_says_what_is_left_out(logs, tmp_path, monkeypatch):
    monkeypatch.setattr(plots, "find_spec", lambda _: None)
    code, output = run("curve", logs, "--out", tmp_path / "out")
    assert code == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["curve.csv"]
    assert "curve.svg" in output.splitlines()[-1]


def test_watching_shows_complete_logs_and_ends_with_130(tmp_path, monkeypatch, capsys):
    seen = []

    def sleep(_):
        seen.append(capsys.readouterr().out)
        if len(seen) == 4:
            raise KeyboardInterrupt
        if len(seen) < 3:
            status = "success" if len(seen) == 1 else "error"
            write_log(tmp_path, "CI" * 20, model=f"x/step-{len(seen)}", status=status)

    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(sys, "argv", ["music-evals", "curve", str(tmp_path), "--watch", "5"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert ["x/step-*" in shown for shown in seen] == [False, True, False, False]


def test_trackers_get_scores_by_step(logs, tmp_path, monkeypatch):
    written = []

    class Writer:
        def __init__(self, _): ...
        def __enter__(self):
            return self

        def __exit__(self, *_): ...
        def add_scalar(self, *values):
            written.append(values)

    logged = []
    wandb_run = SimpleNamespace(define_metric=lambda *_, **__: None, log=logged.append)
    wandb = SimpleNamespace(init=lambda **_: wandb_run)
    monkeypatch.setitem(
        sys.modules, "torch.utils.tensorboard", SimpleNamespace(SummaryWriter=Writer)
    )
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    code, output = run("curve", logs, "--tensorboard", tmp_path / "events", "--wandb", "project")
    assert code == 0, output
    expected = [(step, 2.5 * right) for step, right in RIGHT.items()]
    assert [(step, score) for _, score, step in written] == expected
    assert [tuple(values.values()) for values in logged] == expected


def test_a_missing_tracker_is_named_in_a_line(logs, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "wandb", None)
    monkeypatch.setattr(sys, "argv", ["music-evals", "curve", str(logs), "--wandb", "project"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "wandb is not installed" in line
