"""What asking questions with four options costs, beside bare Inspect and lm-evaluation-harness.

All tools ask the same questions of ZIQI-Eval, each in a process of its own, and write a log of
every sample. Models are dummies without delay; those of bare Inspect and of the suite's task write
the same reply.

    python perf/against_others.py data/ziqi [--questions 1000,3000,10000,14000] [--repeats 5]
        [--reply answer|long|unread] [--lm-eval VENV/bin/python]

The dataset is a folder that `music-evals build ziqi` wrote. lm-evaluation-harness
(``lm_eval[api]``) needs an environment of its own; without `--lm-eval` it is left out. The tools
take turns; a row has the least CPU time of all repeats. Memory is the peak of the tool's process.
A log's bytes are those of its file.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import typer
from inspect_ai import Task, task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import json_dataset
from inspect_ai.model import ModelAPI, ModelOutput, modelapi
from inspect_ai.scorer import pattern
from inspect_ai.solver import generate

CHARACTERS = 8_000
SENTENCE = "The kick falls on the beat, and the snare does not. "
LONG = SENTENCE * (CHARACTERS // len(SENTENCE))
REPLIES: Mapping[str, str] = {
    "answer": "[[答案：B]]",
    "long": f"{LONG}\n[[答案：B]]",
    "unread": LONG,
}
LM_EVAL_TASK = """\
task: questions
dataset_path: json
dataset_kwargs: {data_files: {test: FOLDER/questions.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: "{{input}}"
doc_to_target: "{{target}}"
generation_kwargs: {until: [], do_sample: false, temperature: 0, max_gen_toks: 100}
metric_list: [{metric: exact_match}]
"""


class Run(NamedTuple):
    """What one run took: CPU seconds, seconds, peak memory in MiB, and bytes of its logs."""

    cpu: float
    seconds: float
    mebibytes: float
    logged: int


@modelapi(name="dummy")
class Dummy(ModelAPI):
    """Writes one reply, named like the model."""

    async def generate(self, *_: Any, **__: Any) -> ModelOutput:
        """Return the reply."""
        return ModelOutput.from_content("dummy", REPLIES[self.model_name])


@task
def bare(questions: str) -> Task:
    """Ask the questions with nothing but Inspect."""
    return Task(json_dataset(questions), solver=generate(), scorer=pattern("([ABCD])"))


def ask(tool: str, dataset: str, folder: str, reply: str, limit: int) -> None:
    """Ask the questions in this process, as `inspect eval` does."""
    from music_evals.evals.ziqi import comprehension

    made = bare(f"{folder}/questions.jsonl") if tool == "bare" else comprehension(dataset=dataset)
    options = {"max_tokens": 100, "max_connections": 64, "display": "plain", "limit": limit}
    (log,) = inspect_eval(made, model=f"dummy/{reply}", log_dir=f"{folder}/logs", **options)
    assert log.status == "success", log.error


def measure(command: Sequence[str], folder: Path) -> Run:
    """Run a command to its end; SystemExit with the end of its output if it fails."""
    paths = {"HF_HOME": f"{folder}/huggingface", "PYTHONPATH": str(Path(__file__).parents[1])}
    environment = {**os.environ, **paths, "HF_HUB_OFFLINE": "1"}
    output = folder / "output.txt"
    before, started = _logged(folder), time.perf_counter()
    with output.open("wb") as file:
        process = subprocess.Popen(command, cwd=folder, stdout=file, stderr=file, env=environment)
        _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(command)} failed:\n{output.read_text(errors='replace')[-3000:]}")
    cpu, seconds = used.ru_utime + used.ru_stime, time.perf_counter() - started
    return Run(cpu, seconds, used.ru_maxrss / 1024, _logged(folder) - before)


def _logged(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.eval"))


def write_questions(dataset: Path, folder: Path, limit: int) -> int:
    """Write the questions, and the task of lm-evaluation-harness; return how many there are."""
    from music_evals.evals.ziqi import comprehension

    lines = []
    for sample in comprehension(dataset=str(dataset)).dataset[:limit]:
        row = {"id": sample.id, "input": sample.input[0].text, "target": sample.target}
        lines.append(json.dumps(row))
    (folder / "questions.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "questions.yaml").write_text(LM_EVAL_TASK.replace("FOLDER", str(folder)))
    return len(lines)


def commands(
    dataset: Path, folder: Path, reply: str, questions: int, lm_eval: str
) -> dict[str, list[str]]:
    """The command of each tool."""
    own = [str(dataset), str(folder), reply, str(questions)]
    tools = {
        "bare Inspect": [sys.executable, __file__, "ask", "bare", *own],
        "the suite's task": [sys.executable, __file__, "ask", "suite", *own],
    }
    if lm_eval:
        words = (
            f"-m lm_eval --model dummy --tasks questions --include_path {folder} --log_samples "
            f"--output_path {folder}/lm_eval"
        )
        tools["lm-evaluation-harness"] = [lm_eval, *words.split()]
    return tools


def main(
    dataset: Path,
    questions: str = "3000",
    repeats: int = 3,
    reply: str = "answer",
    lm_eval: str = "",
) -> None:
    """Run every tool in turn, and print a table for each number of questions."""
    dataset = dataset.resolve()
    for limit in map(int, questions.split(",")):
        runs: dict[str, list[Run]] = {}
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                count = write_questions(dataset, folder, limit)
                tools = commands(dataset, folder, reply, count, lm_eval)
                for tool, command in tools.items():
                    runs.setdefault(tool, []).append(measure(command, folder))
        print(f"\n{count} questions, reply {reply}, load {os.getloadavg()[0]:.1f}\n")
        print("| tool | CPU seconds | / bare Inspect's | seconds | peak MiB | bytes of log |")
        print("|---|---|---|---|---|---|")
        least = {tool: Run(*map(min, zip(*several, strict=True))) for tool, several in runs.items()}
        for tool, run in least.items():
            ratio = run.cpu / least["bare Inspect"].cpu
            cells = f"{run.cpu:.1f} | {ratio:.2f} | {run.seconds:.1f} | {run.mebibytes:.0f}"
            print(f"| {tool} | {cells} | {run.logged // count or '–'} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["ask"]:
        ask(*sys.argv[2:6], int(sys.argv[6]))
    else:
        typer.run(main)
