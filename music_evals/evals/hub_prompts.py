"""What Inspect needs to run a benchmark from its repository on the Hub, without this package.

The config `prompted` holds a task's prompts as the task itself words them, a split a task, and ``eval.yaml`` says which
of Inspect's solvers and scorers go with them. Such a run sends a model the same messages with the same settings, and
differs in how replies are scored:

- A choice or a number is what follows the last label that the prompt asks for (``Final Answer:``), or the whole reply;
  a letter also begins its last line. The suite's own scorers read more forms, such as an option by its text.
- The order of measures is right or wrong, and not scored by Kendall's τ.
- Wrong measures are scored by the F1 of the words in the reply, rounded to two decimals, and averaged over all
  questions, not over the kinds of error.
- Of MSU-Bench only questions with a closed answer are asked: yes or no, a number, a metre, a key. A reply has to begin
  with it, spelled as in the row; the suite's rules know other spellings.

Source: https://inspect.aisi.org.uk/tasks.html#hugging-face, https://huggingface.co/docs/hub/eval-results
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any, Final, NamedTuple

import yaml
from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser
from typing_extensions import TypedDict

from music_evals import benchmarks
from music_evals.datasets_builders.dataset_io import (
    CARD_FILE,
    EVAL_FILE,
    PROMPTED,
    DatasetError,
    Text,
    canary,
    data_file,
    features_of,
    read_provenance,
    write_rows,
)
from music_evals.evals.registry import MODULES

FRAMEWORK: Final = "inspect-ai"
"""As the Hub's list of evaluation frameworks has it."""

_CLOSED: Final = re.compile(r"(?:yes|no|\d{1,4}/\d{1,2}|\d{1,4}|[A-G][♯♭#b]? (?:major|minor))", re.IGNORECASE)
"""Answers of MSU-Bench that a pattern reads."""
_CLOSED_TYPES: Final = ("yes_no", "number", "metre", "key")
_NUMBER: Final = r"\d{1,6}"
_ORDER: Final = "[0-3]{4}"


class PromptedRow(TypedDict):
    """A prompt with its answer."""

    id: str  # of the sample in the suite's own task
    benchmark: str
    task: str
    input: Text  # the user's message
    choices: list[str] | None  # the options that it lists
    target: Text
    cluster: str  # what questions have in common: a score, a piece; else the id
    asks: str  # what is asked, as JSON, for the baselines
    canary: str


FEATURES: Final = features_of(PromptedRow)
METADATA: Final = ("id", "benchmark", "task", "cluster", "asks", "canary")
"""Columns that become the metadata of a sample, of which reports and baselines know what was asked."""


class Prompted(NamedTuple):
    """The files by which a repository runs without this package, and the tasks that cannot, with the reason."""

    files: Mapping[str, Path]  # path in the repository → file
    left_out: Mapping[str, str]


def write_prompted(folder: Path, out: Path) -> Prompted:
    """Write the config `prompted` of a dataset folder, and ``eval.yaml``, to another folder.

    Args:
        folder: a dataset folder.
        out: an empty folder.

    Returns:
        The files; none where no task can be rendered.

    Raises:
        DatasetError: `folder` is no dataset folder.
    """
    made = read_provenance(folder)
    facts = benchmarks.dataset_facts(made.benchmark)
    about = benchmarks.load(facts.benchmark)
    files: dict[str, Path] = {}
    left_out: dict[str, str] = {}
    entries: list[dict[str, Any]] = []
    # The first dataset of a benchmark has its tasks' questions; others have none that a pattern could score.
    asked = about.tasks.values() if made.benchmark == about.name else ()
    for task in asked:
        if task.prompted is None:
            continue
        try:
            built = getattr(MODULES[about.name], task.name)(dataset=str(folder), **task.prompted)
        except ValueError as error:
            left_out[task.name] = str(error)
            continue
        samples = [sample for sample in built.dataset if _is_closed(sample)]
        path = data_file(PROMPTED, task.name)
        mark = canary(made.benchmark)
        if write_rows(out / path, [_row(sample, mark) for sample in samples], FEATURES, path, mark):
            files[path] = out / path
            entries.append(_entry(task.name, built, samples))
    if entries:
        files[EVAL_FILE] = out / EVAL_FILE
        title = facts.sources[made.source].title
        files[EVAL_FILE].write_text(eval_yaml(about, title, entries), encoding="utf-8")
    return Prompted(files, left_out)


def board_files(benchmark: str, board: str, repo: str) -> dict[str, bytes]:
    """Return the files of a board without data: ``eval.yaml`` and a card that says how to run it.

    Args:
        benchmark: name of the benchmark.
        board: name of the board, as ``[boards.NAME]`` in its ``benchmark.toml`` has it.
        repo: the board's repository, whose name is that of the data's with ``-NAME`` behind it.

    Raises:
        DatasetError: there is no such board, or the repository has another name.

    Example:
        >>> sorted(board_files("muse", "audio", "ORG/muse-audio"))
        ['README.md', 'eval.yaml']
    """
    about = benchmarks.load(benchmark)
    if board not in about.boards:
        raise DatasetError(f"{benchmark} has no board {board}; it has: {', '.join(about.boards) or 'none'}")
    if not repo.endswith(f"-{board}"):
        raise DatasetError(f"the repository of a board is called as that of the data, with -{board}; not {repo}")
    known, data = about.boards[board], repo.removesuffix(f"-{board}")
    # The fields that Inspect would need name columns that are not there: it refuses to run what it would not run right.
    spec = {"field_spec": {"input": "input", "target": "target"}, "solvers": [{"name": "generate"}]}
    entries = [
        {"id": name, "config": "default", "split": "test", **spec, "scorers": [{"name": "exact"}]}
        for name in known.tasks
    ]
    parameters = "".join(f" -T {name}={value}" for name, value in known.parameters.items())
    card = Template(_BOARD).substitute(
        title=known.title,
        summaries=_summaries(about, known.tasks),
        data=data,
        command="\n".join(
            f"inspect eval music_evals/{about.tasks[name].registry_name} -T dataset=hf://datasets/{data}@COMMIT"
            f"{parameters} --model vllm/ORG/MODEL"
            for name in known.tasks
        ),
    )
    return {EVAL_FILE: eval_yaml(about, known.title, entries).encode(), CARD_FILE: card.encode()}


_BOARD: Final = """\
---
pretty_name: $title
tags:
- music
- evaluation
---

# $title

A leaderboard without data of its own. Its rows are those of [$data](https://huggingface.co/datasets/$data), asked by
music-evals: $summaries. Inspect alone cannot run it.

```bash
$command
music-evals report logs --eval-results results
music-evals publish-results results
```
"""


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as such."""


_Dumper.add_representer(
    str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, "|" if "\n" in text else None)
)


def eval_yaml(about: benchmarks.Benchmark, title: str, entries: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of ``eval.yaml``: a title, and the entries of some tasks of a benchmark."""
    declared = {
        "name": title,
        "description": f"{about.title} ({about.url}). {_summaries(about, [entry['id'] for entry in entries])}.",
        "evaluation_framework": FRAMEWORK,
        "tasks": entries,
    }
    text: str = yaml.dump(declared, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
    return text


def _summaries(about: benchmarks.Benchmark, tasks: Sequence[str]) -> str:
    return "; ".join(f"{name}: {about.tasks[name].summary}" for name in tasks)


def pattern_of(asks: Mapping[str, Any]) -> str:
    """Return the expression that takes an answer out of a reply: one group, and a time linear in the reply's length.

    Args:
        asks: what the prompt asks for, as `music_evals.baselines.asking` has it.

    Example:
        >>> found = re.search(pattern_of({"form": "Answer: $answer", "answer_type": "number"}), "10? No.\\nAnswer: 12.")
        >>> found[1] if found else None
        '12'
    """
    before, after = "", r"\W{0,20}\Z"  # around an answer without a label: it is all of the reply
    match asks["answer_type"]:
        case "choice":
            answer = "|".join(map(_escaped, asks["answers"]))
            if all(one.isalpha() for one in asks["answers"]):  # or its last line, as "B. Minor"
                before, after = r"(?s:.*\n)?", rf"(?:[.):][^\n]{{0,200}})?{after}"
        case "number":
            answer = _NUMBER
        case "order":
            answer = _ORDER
        case _:
            answer, after = _CLOSED.pattern, r"(?!\w)"  # the reply begins with it
    label = Template(asks["form"]).substitute(answer="").strip("[]():：. \n") or "answer"
    labelled = rf"(?s:.*){_escaped(label)}\W{{0,20}}"
    return rf"\A(?:{labelled}|{before}\W{{0,20}}(?=(?:{answer}){after}))({answer})(?!\w)"


def _escaped(text: str) -> str:
    return re.escape(text).replace(r"\ ", " ")


def _is_closed(sample: Sample) -> bool:
    """Whether a pattern can tell that an answer is right; only MSU-Bench has other questions."""
    asks = _asks(sample)
    if asks["answer_type"] != "text":
        return True
    (question,) = (sample.metadata or {})["questions"]
    return question["answer_type"] in _CLOSED_TYPES and _CLOSED.fullmatch(str(sample.target)) is not None


def _asks(sample: Sample) -> dict[str, Any]:
    found: dict[str, Any] = (sample.input[-1].metadata or {})["asks"]  # type: ignore[union-attr]
    return found


def _row(sample: Sample, mark: str) -> PromptedRow:
    last, asks, about = sample.input[-1], _asks(sample), sample.metadata or {}
    cluster = next((about[name] for name in ("score_id", "piece", "question") if name in about), sample.id)
    assert isinstance(last, ChatMessageUser)
    assert isinstance(last.content, str)
    return {
        "id": str(sample.id),
        "benchmark": asks["benchmark"],
        "task": asks["task"],
        "input": last.content,
        "choices": sample.choices or about.get("options"),
        "target": str(sample.target),
        "cluster": str(cluster),
        "asks": json.dumps(asks, ensure_ascii=False),
        "canary": mark,
    }


def _entry(name: str, built: Task, samples: Sequence[Sample]) -> dict[str, Any]:
    """A task of ``eval.yaml``."""
    asks = _asks(samples[0])
    systems = {tuple(one.text for one in sample.input if isinstance(one, ChatMessageSystem)) for sample in samples}
    (system,) = systems  # the same for all samples of a task
    solvers: list[dict[str, Any]] = [
        # As a parameter, for braces in a template would be taken for the name of one.
        {"name": "system_message", "args": {"template": "{instruction}", "instruction": text}}
        for text in system
    ]
    solvers.append({"name": "generate", "args": built.config.model_dump(mode="json", exclude_none=True)})
    scorer: dict[str, Any] = {"name": "f1"}
    if asks["answer_type"] != "measures":
        scorer = {"name": "pattern", "args": {"pattern": pattern_of(asks)}}
    return {
        "id": name,
        "config": PROMPTED,
        "split": name,
        "field_spec": {"input": "input", "target": "target", "metadata": list(METADATA)},
        "solvers": solvers,
        "scorers": [scorer],
    }
