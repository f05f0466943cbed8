"""How fast the suite asks questions with four options, beside bare Inspect and
lm-evaluation-harness.

All tools ask the same questions of ZIQI-Eval, each in a process of its own, and write a log of
every sample. The model is a dummy without delay: ``baseline/chance``, and the dummy of
lm-evaluation-harness.

    python perf/against_others.py data/ziqi [--questions 14000] [--shards 1,2,4] [--connections 64]
        [--lm-eval VENV/bin/python]

The dataset is a folder that `music-evals build ziqi` wrote. lm-evaluation-harness
(``lm_eval[api]``) needs an environment of its own; without `--lm-eval` it is left out. Memory is
the sum over a tool's processes, twice a second.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, NamedTuple

import psutil
import typer
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Dataset, MemoryDataset, Sample
from inspect_ai.scorer import pattern
from inspect_ai.solver import generate

from music_evals.evals.ziqi import comprehension

MODEL = "baseline/chance"
SUITE = "from music_evals.commands.main import app; app()"
LM_EVAL_TASK = """\
task: questions
dataset_path: json
dataset_kwargs: {data_files: {test: FOLDER/data/test.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: "{{input}}"
doc_to_target: "{{target}}"
generation_kwargs: {until: [], do_sample: false, temperature: 0, max_gen_toks: 100}
metric_list: [{metric: exact_match}]
"""


class Run(NamedTuple):
    """What one run took: seconds, CPU seconds, and peak memory of all processes in MiB."""

    seconds: float
    cpu: float
    mebibytes: float


def measure(command: Sequence[str], folder: Path) -> Run:
    """Run a command to its end; SystemExit with the end of its output if it fails."""
    paths = {"HF_HOME": f"{folder}/huggingface", "PYTHONPATH": str(Path(__file__).parents[1])}
    environment = {**os.environ, **paths, "HF_HUB_OFFLINE": "1"}
    output = folder / "output.txt"
    started, peak = time.perf_counter(), 0
    with output.open("wb") as file:
        process = subprocess.Popen(command, cwd=folder, stdout=file, stderr=file, env=environment)
        ended = 0
        while not ended:
            peak = max(peak, resident_bytes(process.pid))
            time.sleep(0.1 if time.perf_counter() - started < 20 else 0.5)
            ended, status, used = os.wait4(process.pid, os.WNOHANG)
    if status:
        sys.exit(f"{' '.join(command)} failed:\n{output.read_text(errors='replace')[-3000:]}")
    return Run(time.perf_counter() - started, used.ru_utime + used.ru_stime, peak / 2**20)


def resident_bytes(pid: int) -> int:
    try:
        root = psutil.Process(pid)
        return sum(process.memory_info().rss for process in (root, *root.children(recursive=True)))
    except psutil.NoSuchProcess:  # ended while it was counted
        return 0


def suite_command(dataset: Path, questions: int, shards: int, connections: int) -> list[str]:
    words = (
        f"run ziqi_comprehension --model {MODEL} -T dataset={dataset} --limit {questions} "
        f"--display none --shards {shards} --max-connections {max(1, connections // shards)} "
        f"--log-dir suite-{shards}"
    )
    return [sys.executable, "-c", SUITE, *words.split()]


def lm_eval_command(python: str, folder: Path, samples: Sequence[Sample]) -> list[str]:
    """Write the questions and the task of lm-evaluation-harness, and make its command."""
    lines = []
    for sample in samples:
        row = {"id": sample.id, "input": sample.input[0].text, "target": sample.target}
        lines.append(json.dumps(row))
    (folder / "data").mkdir()
    (folder / "data" / "test.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "questions.yaml").write_text(LM_EVAL_TASK.replace("FOLDER", str(folder)))
    words = (
        f"--model dummy --tasks questions --include_path {folder} --log_samples "
        f"--output_path {folder}/lm_eval"
    )
    return [python, "-m", "lm_eval", *words.split()]


def ask_bare(samples: Sequence[Sample], connections: int) -> None:
    """Ask the questions with nothing but Inspect."""
    bare = [Sample(id=sample.id, input=sample.input, target=sample.target) for sample in samples]
    task = Task(dataset=MemoryDataset(bare), solver=generate(), scorer=pattern("([ABCD])"))
    options = {"max_connections": connections, "max_tokens": 100}
    (log,) = inspect_eval(task, model=MODEL, display="none", log_dir="bare", **options)
    assert log.status == "success", log.error


def main(
    dataset: Path,
    questions: int = 14_000,
    shards: str = "1,2,4",
    connections: int = 64,
    lm_eval: str = "",
    bare: Annotated[bool, typer.Option("--bare", hidden=True)] = False,
) -> None:
    """Run every tool, and print a table."""
    dataset = dataset.resolve()
    data: Dataset = comprehension(dataset=str(dataset)).dataset
    samples = list(islice(data, questions))
    if bare:
        ask_bare(samples, connections)
        return
    limits = ["--questions", str(questions), "--connections", str(connections)]
    commands = {"bare Inspect": [sys.executable, __file__, str(dataset), *limits, "--bare"]}
    for count in map(int, shards.split(",")):
        command = suite_command(dataset, questions, count, connections)
        commands[f"music-evals, {count} shards"] = command
    with tempfile.TemporaryDirectory() as name:
        if lm_eval:
            commands["lm-evaluation-harness"] = lm_eval_command(lm_eval, Path(name), samples)
        runs = {tool: measure(command, Path(name)) for tool, command in commands.items()}
    print(f"{len(samples)} questions, load {os.getloadavg()[0]:.1f}\n")
    print(
        "| tool | samples a second | seconds | CPU seconds | peak MiB | seconds / bare Inspect's |"
    )
    print("|---|---|---|---|---|---|")
    for tool, run in runs.items():
        cells = (
            f"{len(samples) / run.seconds:.0f} | {run.seconds:.1f} | {run.cpu:.1f} | "
            f"{run.mebibytes:.0f} | {run.seconds / runs['bare Inspect'].seconds:.2f}"
        )
        print(f"| {tool} | {cells} |")


if __name__ == "__main__":
    typer.run(main)
