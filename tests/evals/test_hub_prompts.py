"""Prompts on the Hub: Inspect runs each benchmark from its repository alone, and scores as the
suite does.
"""

import json
import re
from collections.abc import Callable
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from inspect_ai import eval as inspect_eval
from inspect_ai.scorer import value_to_float
from jsonschema import Draft202012Validator

from music_evals import benchmarks
from music_evals.evals.registry import MODULES
from music_evals.reports.records import read_records

SPECIFICATION = json.loads((Path(__file__).parent / "data" / "hub_specification.json").read_text())
TASKS = {
    name: tasks
    for name in benchmarks.names()
    if (
        tasks := [
            task.name for task in benchmarks.load(name).tasks.values() if task.prompted is not None
        ]
    )
}
Folders = Callable[[str], Path]


class Scored(NamedTuple):
    """A sample: the messages that were sent, role and text of each, the reply, and its score."""

    sent: list[tuple[str, str]]
    reply: str
    score: float


def scored(sample):
    (score,) = (sample.scores or {}).values()
    # Messages after the reply, such as a picture of the music, were not sent.
    sent = takewhile(lambda message: message.role != "assistant", sample.messages)
    texts = [(message.role, message.text) for message in sent]
    return Scored(texts, sample.output.completion, value_to_float()(score.value))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name not in ("muse", "msu", "lilybench")))
        for name in TASKS
    ],
)
def test_inspect_alone_asks_and_scores_as_the_suite_does(name, hub, built_datasets, tmp_path):
    hub.publish(built_datasets(name), "--yes")
    declared = yaml.safe_load(hub.files(f"ORG/{name}")["eval.yaml"])
    Draft202012Validator(SPECIFICATION["eval.yaml"]).validate(declared)
    assert [task["id"] for task in declared["tasks"]] == TASKS[name]
    options = {
        "log_dir": str(tmp_path / "logs"),
        "display": "none",
        "log_realtime": False,
    }
    options["model"] = "baseline/majority"
    tasks = [
        getattr(MODULES[name], task)(
            dataset=f"hf://datasets/ORG/{name}",
            **(benchmarks.load(name).tasks[task].prompted or {}),
        )
        for task in TASKS[name]
    ]
    right = 0.0
    limit = 4 if name in ("muse", "msu", "lilybench") else 8
    alone = inspect_eval(f"hf/ORG/{name}", limit=limit, **options)
    ids = [sample.metadata["id"] for log in alone for sample in log.samples or []]
    own = inspect_eval(tasks, sample_id=ids, **options)
    for log, twin in zip(alone, own, strict=True):
        ours = {str(sample.id): scored(sample) for sample in twin.samples or []}
        for sample in log.samples or []:
            alone_score, own_score = scored(sample), ours[sample.metadata["id"]]
            assert (alone_score.sent, alone_score.reply) == (own_score.sent, own_score.reply)
            # An order of measures is right or wrong there, where the suite has Kendall's τ.
            expected = (
                float(own_score.score == 1)
                if sample.metadata["task"] == "bar_sequencing"
                else own_score.score
            )
            assert alone_score.score == pytest.approx(expected, abs=0.005), (
                sample.metadata["id"],
                alone_score.reply,
            )
            right += alone_score.score
    assert right > 0
    records = read_records(options["log_dir"])
    assert not records.passed_over
    runs = records.runs[records.runs["is_alone"]]
    assert set(zip(runs["benchmark"], runs["task"], strict=True)) == {
        (name, task) for task in TASKS[name]
    }
    assert not runs["is_published_test"].any()
    assert set(runs["data"]) == {f"ORG/{name}"}
    assert all(
        records.floors(run)
        for run in runs.index
        if benchmarks.load(name).tasks[runs.at[run, "task"]].chance
    )


def test_the_pages_example_of_a_result_is_what_the_hub_takes():
    page = (Path(__file__).parents[2] / "docs" / "publishing.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    validator = Draft202012Validator(SPECIFICATION["eval_results"])
    assert list(validator.iter_errors(yaml.safe_load(example))) == []
