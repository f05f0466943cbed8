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
    ("right", "max_drop", "status"),
    [
        # 100 questions cannot show that no more than 3 points were lost, 200 could.
        (80, 3, 3),
        (80, 4, 0),
        (90, 3, 0),
        (76, 3, 3),
        (60, 3, 1),
        (60, 10, 1),
        # Just as much as is allowed, by the answers.
        (60, 20, 3),
        (60, 40, 0),
    ],
)
def test_a_score_fell_or_did_not_or_nobody_can_tell(right, max_drop, status, base, tmp_path):
    new = log(tmp_path / "new", right, model="hf//checkpoints/2")
    code, output = run("check", new, "--against", base, "--max-drop", max_drop)
    assert code == status, output
    assert len(output.splitlines()) == 1
    assert f"ziqi_comprehension: 80 (n 100) → {right} (n 100)" in output
    says = {
        0: f"1 compared; none fell by more than {max_drop:g} points",
        1: f"points; at most {max_drop:g} are allowed",
        3: f"Too few questions to tell whether ziqi_comprehension fell by more than {max_drop:g}",
    }
    assert says[status] in output


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


def test_collapse_of_the_new_run_is_said(base, tmp_path):
    keys = [{"key": "ABCD"[number % 4]} for number in range(100)]
    new = log(tmp_path / "new", 80, scores=keys, answers=["C"] * 100)
    code, output = run("check", new, "--against", base, "--max-drop", 4)
    assert code == 0
    assert "100% of the answers are C; the commonest key is A, 25%" in output


def test_each_task_that_fell_has_a_line(base, tmp_path):
    log(base, 80, task="generation")
    new = log(log(tmp_path / "new", 50, model="x/y"), 50, model="x/y", task="generation")
    code, output = run("check", new, "--against", base)
    assert (code, len(output.splitlines())) == (1, 2)
    code, output = run("check", new, "--against", base, "--tasks", "ziqi_generation")
    assert (code, len(output.splitlines())) == (1, 1)
    assert "ziqi_generation: 80" in output


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"params": {"shots": "few"}}, "with the same settings as"),
        ({"about": {"dataset_label": "generated-seed2"}}, "with the same settings as"),
        ({"task": "generation"}, "there is no finished run"),
        ({"status": "error"}, "there is no finished run"),
    ],
)
def test_what_cannot_be_compared_has_its_own_status(changes, message, base, tmp_path):
    code, output = run("check", log(tmp_path / "new", 80, **changes), "--against", base)
    assert code == 2, output
    assert message in output
    assert len(output.splitlines()) == 1


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
