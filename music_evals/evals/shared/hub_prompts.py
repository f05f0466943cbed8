"""Files with which Inspect runs a benchmark from its repository on the Hub, without this package.

The config `prompted` holds the prompts of the tasks, one split per task. ``eval.yaml`` names the
solvers and scorers of Inspect that go with them. Such a run sends a model the same messages with
the same settings as the suite's own task. Its scores differ where Inspect's scorers read fewer
forms of an answer; ``docs/publishing.md`` lists the differences.

Source: https://inspect.aisi.org.uk/tasks.html#hugging-face,
https://huggingface.co/docs/hub/eval-results
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

import yaml
from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageSystem
from typing_extensions import TypedDict

from music_evals import benchmarks
from music_evals.datasets_builders.dataset_io import Text, canary, features_of, read_provenance
from music_evals.datasets_builders.dataset_io.provenance import (
    EVAL_FILE,
    PROMPTED,
    data_file,
    source_facts,
)
from music_evals.datasets_builders.dataset_io.writing import write_rows
from music_evals.evals.registry import MODULES
from music_evals.scorers.items import cluster_of
from music_evals.solvers.stimulus import question_message

# Answers of MSU-Bench that a pattern reads, and their types.
_CLOSED = re.compile(
    r"(?:yes|no|\d{1,4}/\d{1,2}|\d{1,4}|[A-G][♯♭#b]? (?:major|minor))", re.IGNORECASE
)
_CLOSED_TYPES = ("yes_no", "number", "metre", "key")

Entry = dict[str, Any]  # of ``eval.yaml``


class PromptRow(TypedDict):
    """A prompt with its answer."""

    id: str  # of the sample in the suite's own task
    benchmark: str
    task: str
    input: Text  # the user's message
    choices: list[str] | None  # the options in it
    target: Text
    cluster: str  # the score or piece that several questions share; else the id
    asks: str  # facts of the question for the baselines, as JSON
    canary: str


FEATURES = features_of(PromptRow)


class Prompts(NamedTuple):
    """The files by which a repository runs without this package."""

    files: Mapping[str, Path]  # path in the repository → file
    left_out: Mapping[str, str]  # task that cannot run → reason


def write_prompts(folder: Path, out: Path) -> Prompts:
    """Write the config `prompted` of a dataset folder, and ``eval.yaml``, to another folder.

    No file is written if no task has prompts of text. DatasetError if `folder` is no dataset
    folder.
    """
    provenance = read_provenance(folder)
    benchmark = benchmarks.load(benchmarks.dataset_facts(provenance.benchmark).benchmark)
    paths = {}
    left_out = {}
    entries = []
    # Only the first dataset of a benchmark, which has the benchmark's name, has questions that a
    # pattern can score.
    for task in benchmark.tasks.values() if provenance.benchmark == benchmark.name else ():
        if task.prompted is None:
            continue
        try:
            built = getattr(MODULES[benchmark.name], task.name)(
                dataset=str(folder), **task.prompted
            )
        except ValueError as error:
            left_out[task.name] = str(error)
            continue
        samples = [sample for sample in built.dataset if _is_closed(sample)]
        path = data_file(PROMPTED, task.name)
        mark = canary(provenance.benchmark)
        rows = [_row(sample, mark) for sample in samples]
        if write_rows(out / path, rows, FEATURES, path, mark):
            paths[path] = out / path
            entries.append(_entry(task.name, built, samples))
    if entries:
        paths[EVAL_FILE] = out / EVAL_FILE
        title = source_facts(provenance.benchmark, provenance.source).title
        paths[EVAL_FILE].write_text(_eval_yaml(benchmark, title, entries), encoding="utf-8")
    return Prompts(paths, left_out)


def _eval_yaml(about: benchmarks.Benchmark, title: str, entries: Sequence[Entry]) -> str:
    summaries = "; ".join(f"{entry['id']}: {about.tasks[entry['id']].summary}" for entry in entries)
    declared = {
        "name": title,
        "description": f"{about.title} ({about.url}). {summaries}.",
        "evaluation_framework": "inspect-ai",  # as the Hub's list of evaluation frameworks has it
        "tasks": entries,
    }
    return yaml.safe_dump(declared, sort_keys=False, allow_unicode=True, width=120)


def pattern_of(asks: Mapping[str, Any]) -> str:
    """Return the regular expression that reads the answer of a reply in its one group, in linear
    time.

    Args:
        asks: facts of the question, from `declared_tasks.question_metadata`.

    Example:
        >>> pattern = pattern_of({"form": "Answer: $answer", "answer_type": "number"})
        >>> re.search(pattern, "10? No.\\nAnswer: 12.")[1]
        '12'
    """
    before, after = "", r"\W{0,20}\Z"  # around an answer without a label, which is the whole reply
    match asks["answer_type"]:
        case "choice":
            answer = "|".join(map(_escape, asks["answers"]))
            # Or its last line, such as "B. Minor".
            if all(option.isalpha() for option in asks["answers"]):
                before = r"(?s:.*\n)?"
                after = rf"(?:[.):][^\n]{{0,200}})?{after}"
        case "number":
            answer = r"\d{1,6}"
        case "order":
            answer = "[0-3]{4}"
        case _:
            answer, after = _CLOSED.pattern, r"(?!\w)"  # the reply begins with it
    label = Template(asks["form"]).substitute(answer="").strip("[]():：. \n") or "answer"
    labelled = rf"(?s:.*){_escape(label)}\W{{0,20}}"
    return rf"\A(?:{labelled}|{before}\W{{0,20}}(?=(?:{answer}){after}))({answer})(?!\w)"


def _escape(text: str) -> str:
    return re.escape(text).replace(r"\ ", " ")


def _is_closed(sample: Sample) -> bool:
    """Whether a pattern can score a question; only MSU-Bench has questions that it cannot."""
    if question_message(sample)[1]["answer_type"] != "text":
        return True
    (question,) = (sample.metadata or {})["questions"]
    return (
        question["answer_type"] in _CLOSED_TYPES
        and _CLOSED.fullmatch(str(sample.target)) is not None
    )


def _row(sample: Sample, mark: str) -> PromptRow:
    message, asks = question_message(sample)
    metadata = sample.metadata or {}
    return {
        "id": str(sample.id),
        "benchmark": asks["benchmark"],
        "task": asks["task"],
        "input": message.text,
        "choices": sample.choices or metadata.get("options"),
        "target": str(sample.target),
        "cluster": cluster_of(metadata, sample.id),
        "asks": json.dumps(asks, ensure_ascii=False),
        "canary": mark,
    }


def _entry(name: str, built: Task, samples: Sequence[Sample]) -> Entry:
    """Return the entry of a task in ``eval.yaml``."""
    asks = question_message(samples[0])[1]
    # All samples of a task have the same system messages. Their text is a parameter, as braces in a
    # template are names.
    solvers = [
        {
            "name": "system_message",
            "args": {"template": "{instruction}", "instruction": message.text},
        }
        for message in samples[0].input
        if isinstance(message, ChatMessageSystem)
    ]
    solvers.append(
        {"name": "generate", "args": built.config.model_dump(mode="json", exclude_none=True)}
    )
    metadata = [column for column in FEATURES if column not in ("input", "choices", "target")]
    scorer: Entry = {"name": "f1"}
    if asks["answer_type"] != "measures":
        scorer = {"name": "pattern", "args": {"pattern": pattern_of(asks)}}
    return {
        "id": name,
        "config": PROMPTED,
        "split": name,
        "field_spec": {"input": "input", "target": "target", "metadata": metadata},
        "solvers": solvers,
        "scorers": [scorer],
    }
