"""Judges of MSU-Bench are calibrated: by a person's marks, and on pairs of known truth."""

import random
import subprocess
import sys

import pytest
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import get_model

from music_evals.evals.msu import textual
from music_evals.evals.shared.calibration import (
    enter_labels,
    judged_pairs,
    labelling_task,
    pairs_task,
)
from music_evals.listening.session import open_session
from music_evals.reports.records import read_records
from music_evals.reports.tables.msu import agreement
from tests.harness import run


def judge(reply):
    return get_model("scripted/judge", reply=reply, memoize=False)


def tags(messages):
    """The reference and the answer that a judge sees."""
    text = messages[-1].text
    reference, answer = (
        text.partition(f"<{tag}>\n")[2].partition(f"\n</{tag}>")[0]
        for tag in ("reference", "student")
    )
    return reference, answer


def marks(log):
    """What a person says of answers."""
    found = []
    for sample in log.samples or ():
        questions = ((sample.scores or {})["judged"].metadata or {})["questions"]
        found += [question["human"] for question in questions if question["human"] is not None]
    return found


@pytest.fixture(scope="module")
def judged_log(tmp_path_factory):
    """A log of answers all of which the judge calls right."""
    roles = {"lenient": judge(lambda *_: "1")}
    answers = "\n".join(f"{number}. C major" for number in range(1, 13))
    model = get_model("scripted/model", reply=lambda *_: answers, memoize=False)
    task = textual(judges=["lenient"], cache=False)
    (log,) = run(task, tmp_path_factory.mktemp("logs"), model, model_roles=roles)
    return log


def test_a_person_marks_a_random_part_and_the_report_corrects_the_judge(judged_log, tmp_path):
    log = read_eval_log(judged_log.location)
    person = get_model("human/ANNA", memoize=False)
    session = open_session(labelling_task(log, 10), person, tmp_path)
    assert len(session.samples) == 10
    wrong = {str(sample.id) for sample in random.Random(1).sample(session.samples, 4)}
    for sample in session.samples:
        session.keep(str(sample.id), "wrong" if str(sample.id) in wrong else "right")
    enter_labels(log, 10, session.replies, "ANNA")
    place = tmp_path / "labelled.eval"
    write_eval_log(log, str(place))
    (items,) = read_records(str(place)).main.values()
    figures = agreement(items)
    assert figures["Judges and people"].value == pytest.approx(60)
    assert figures["Corrected by people"].value == pytest.approx(60)
    labelled = read_eval_log(str(place))
    edits = [
        edit.provenance.author
        for sample in labelled.samples or ()
        for score in (sample.scores or {}).values()
        for edit in score.history
        if edit.provenance
    ]
    assert set(edits) == {"ANNA"}


def test_who_stops_early_leaves_a_random_part(judged_log, tmp_path):
    log = read_eval_log(judged_log.location)
    task = labelling_task(log, 10)
    first = [str(sample.id) for sample in task.dataset][:7]
    # An answer behind one that is not marked yet is no part of the sample.
    enter_labels(log, 10, dict.fromkeys([*first[:3], *first[4:]], "right"), "ANNA")
    assert len(marks(log)) == 3
    enter_labels(log, 10, dict.fromkeys(first, "right"), "ANNA")
    assert len(marks(log)) == 7


def test_a_log_without_judges_is_refused(tmp_path):
    (log,) = run(textual(cache=False), tmp_path, limit=1)
    with pytest.raises(ValueError, match="has no answers that judges marked"):
        labelling_task(log, 10)


def test_the_command_names_what_is_wrong(tmp_path):
    (tmp_path / "junk.eval").write_text("junk", encoding="utf-8")
    command = [sys.executable, "-m", "music_evals", "calibrate-judge"]
    for arguments, message in (
        ([], "a log and --name, or --judge alone, is needed"),
        (["junk.eval", "--name", "ANNA"], "junk.eval: it cannot be used"),
        (["none.eval", "--name", "ANNA"], "none.eval"),
    ):
        ended = subprocess.run(
            [*command, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert ended.returncode in (1, 2)
        assert message in ended.stderr
        assert len(ended.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("reply", "right", "wrong"),
    [
        (lambda messages, _: str(int(tags(messages)[0] in tags(messages)[1])), 100, (0, 0)),
        (lambda *_: "1", 100, (100, 100)),
        (lambda *_: "I cannot say.", 0, (100, 100)),
    ],
    ids=["by the letters", "lenient", "silent"],
)
def test_pairs_tell_a_judge_that_reads_from_one_that_does_not(reply, right, wrong, tmp_path):
    (log,) = run(pairs_task(3), tmp_path, judge(reply))
    of_right, of_wrong, difference, silent = judged_pairs(log)
    assert of_right.value == right
    assert wrong[0] <= of_wrong.value <= wrong[1]
    assert difference.value == pytest.approx(right - of_wrong.value)
    assert (of_right.n, silent) == (3, 6 if right == 0 else 0)
