"""Prompts on the Hub: Inspect runs each benchmark from its repository alone, and scores as the suite does."""

import json
import re
from itertools import takewhile
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
import yaml
from inspect_ai.log import EvalSample
from inspect_ai.scorer import value_to_float
from jsonschema import Draft202012Validator

from music_evals import benchmarks
from music_evals.evals.hub_prompts import pattern_of, write_prompted
from music_evals.evals.registry import MODULES
from music_evals.reports.hub_runs import ALONE
from music_evals.reports.logs import read_headers
from music_evals.reports.sections import make_report
from tests.hub_site import Site, write_muse

SPECIFICATION: Final = json.loads((Path(__file__).parent / "data" / "hub_specification.json").read_text())
TASKS: Final = {
    name: [task.name for task in benchmarks.load(name).tasks.values() if task.prompted is not None]
    for name in benchmarks.names()
}


class Scored(NamedTuple):
    """A sample: the messages that were sent, role and text of each, the reply, and its score."""

    sent: list[tuple[str, str]]
    reply: str
    score: float


def run_both(name: str, logs: str) -> list[tuple[str, dict[str, Scored], dict[str, Scored]]]:
    """Run a repository by Inspect alone, and the same samples by the suite: task, and samples by id of both."""
    from inspect_ai import eval as inspect_eval

    options: dict[str, Any] = {"log_dir": logs, "display": "none", "log_realtime": False}
    found = []
    models = ["baseline/chance", "baseline/majority"]
    for log in inspect_eval(f"hf/ORG/{name}", model=models, limit=20, **options):
        theirs = {sample.metadata["id"]: scored(sample) for sample in log.samples or []}
        task = json.loads((log.samples or [])[0].metadata["asks"])["task"]
        asked = benchmarks.load(name).tasks[task].prompted or {}
        made = getattr(MODULES[name], task)(dataset=f"hf://datasets/ORG/{name}", **asked)
        (own,) = inspect_eval(made, model=log.eval.model, sample_id=list(theirs), **options)
        found.append((task, theirs, {str(sample.id): scored(sample) for sample in own.samples or []}))
    return found


def scored(sample: EvalSample) -> Scored:
    (score,) = (sample.scores or {}).values()
    # What follows the reply, a picture of the music, was not sent.
    sent = takewhile(lambda message: message.role != "assistant", sample.messages)
    return Scored([(one.role, one.text) for one in sent], sample.output.completion, value_to_float()(score.value))


@pytest.mark.parametrize("name", TASKS)
def test_inspect_alone_asks_and_scores_as_the_suite_does(name: str, site: Site, tmp_path: Path) -> None:
    site.publish(name, "--yes")
    declared = yaml.safe_load(site.repo(name).head["eval.yaml"].data)
    Draft202012Validator(SPECIFICATION["eval.yaml"]).validate(declared)
    assert [task["id"] for task in declared["tasks"]] == TASKS[name]
    right = 0.0
    asked = set()
    for task, theirs, ours in site.client.call(run_both, name, str(tmp_path)):
        asked.add(task)
        assert theirs.keys() == ours.keys()
        for key, one in theirs.items():
            assert (one.sent, one.reply) == (ours[key].sent, ours[key].reply)
            # An order of measures is right or wrong there, where the suite has Kendall's τ.
            own = float(ours[key].score == 1) if task == "bar_sequencing" else ours[key].score
            assert one.score == pytest.approx(own, abs=0.005), (task, key, one.reply)
            right += one.score
    assert asked == set(TASKS[name])
    assert right > 0
    headers, unreadable = read_headers(sorted(tmp_path.glob("*.eval")))
    made = make_report(headers, {})
    assert (unreadable, made.passed_over) == ([], [])
    alone = [run for run in made.runs if ALONE in run.condition]
    assert {(run.part.benchmark, run.task) for run in alone} == {(name, task) for task in asked}
    assert not any(run.is_papers for run in alone)
    assert {run.facts["dataset"] for run in made.runs} == {f"hf://datasets/ORG/{name}"}
    assert all(run.gain() for run in alone if benchmarks.load(name).tasks[run.task].chance)


@pytest.mark.parametrize(
    ("answer_type", "form", "reply", "answer"),
    [
        ("choice", "Final Answer: $answer", "A or B?\nFinal Answer: B", "B"),
        ("choice", "Final Answer: $answer", "final answer:\n**(c)**", "c"),
        ("choice", "Final Answer: $answer", "Final Answer: A. No: Final Answer: D.", "D"),
        ("choice", "Final Answer: $answer", "(B)", "B"),
        ("choice", "Final Answer: $answer", "A third.\n\nB. Minor", "B"),
        ("choice", "Final Answer: $answer", "A piece in C", None),
        ("choice", "Final Answer: $answer", "Final Answer: Because", None),
        ("choice", "[[答案：$answer]]", "[[答案：C]]", "C"),
        ("choice", "[[答案：$answer]]", "答案: **C**", "C"),
        ("number", "$answer", " 24.", "24"),
        ("number", "$answer", "Answer: 24", "24"),
        ("number", "$answer", "24 measures", None),
        ("order", "$answer", "2031", "2031"),
        ("text", "$answer", "Yes.", "Yes"),
        ("text", "$answer", "3/4", "3/4"),
        ("text", "$answer", "B♭ major", "B♭ major"),
        ("text", "$answer", "Yes, in measure 3", "Yes"),
        ("text", "$answer", "There are 3", None),
    ],
)
def test_patterns_take_the_answer(answer_type: str, form: str, reply: str, answer: str | None) -> None:
    found = re.search(pattern_of({"answer_type": answer_type, "form": form, "answers": list("ABCD")}), reply, re.I)
    assert (found and found[1]) == answer


def test_what_cannot_be_put_as_text_is_left_out_and_told(tmp_path: Path) -> None:
    write_muse(tmp_path / "muse")
    for path in (tmp_path / "muse").glob("chord_quality/test-*"):
        path.unlink()
    made = write_prompted(tmp_path / "muse", tmp_path)
    data = "00000-of-00001.parquet"
    assert list(made.files) == [f"prompted/syncopation-{data}", f"prompted/transposition-{data}", "eval.yaml"]
    assert "is incomplete: chord_quality/test-00000-of-00001.parquet is missing" in made.left_out["chord_quality"]
