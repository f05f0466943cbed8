"""`music-evals check`: exit statuses on made logs, and the line for each score that fell."""

import pytest

from tests.commands.cli import run
from tests.reports.logs import write_log

RIGHT = 80  # of 100 in the base


@pytest.fixture
def base(tmp_path):
    folder = tmp_path / "base"
    write_log(folder, "C" * RIGHT + "I" * (100 - RIGHT))
    return folder


def log(folder, right, **changes):
    write_log(folder, "C" * right + "I" * (100 - right), **changes)
    return folder


@pytest.mark.parametrize(
    ("right", "max_drop", "says"),
    [
        (78, 3, "about 336 would, if the score did not change"),
        (60, 20, "the drop is too near to what is allowed"),
        (80, 0, "no number of questions would tell"),
    ],
)
def test_it_says_how_many_questions_would_do(right, max_drop, says, base, tmp_path):
    new = log(tmp_path / "new", right)
    code, output = run("check", new, "--against", base, "--max-drop", max_drop)
    assert code == 3
    assert says in output


def test_each_task_that_fell_has_a_line(base, tmp_path):
    log(base, 80, task="generation")
    new = log(log(tmp_path / "new", 50, model="x/y"), 50, model="x/y", task="generation")
    code, output = run("check", new, "--against", base)
    assert (code, len(output.splitlines())) == (1, 2)
    code, output = run("check", new, "--against", base, "--tasks", "ziqi_generation")
    assert (code, len(output.splitlines())) == (1, 1)
    assert "ziqi_generation: 80" in output


def test_other_questions_cannot_be_compared(base, tmp_path):
    new = tmp_path / "new"
    write_log(new, "C" * 99)
    code, output = run("check", new, "--against", base)
    assert code == 2
    assert "on the same questions" in output


def test_of_several_models_the_one_of_the_same_name_is_compared(base, tmp_path):
    new = log(log(tmp_path / "new", 80), 10, model="x/y")
    assert run("check", new, "--against", base, "--max-drop", 4)[0] == 0
    other = log(log(tmp_path / "other", 80, model="a/b"), 10, model="x/y")
    code, output = run("check", other, "--against", base)
    assert code == 2
    assert "no run, or several" in output


@pytest.mark.parametrize(
    "words",
    [
        ("--tasks", "muse"),
        ("--max-drop", "nan"),
        ("--max-drop", "-1"),
        ("--against", "nowhere"),
    ],
)
def test_mistakes_never_pass(words, base):
    code, output = run("check", base, "--against", base, *words)
    assert code == 2
    assert len(output.splitlines()) == 1 or "Usage" in output
