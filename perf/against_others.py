"""How fast the suite asks questions with four options, beside bare Inspect and
lm-evaluation-harness.

All tools ask the same questions of ZIQI-Eval, each in a process of its own. The first model is a
dummy without delay (``baseline/chance``, and the dummy of lm-evaluation-harness). The second is a
local server with OpenAI's protocol in another process, which answers "A" after 20 ms. All tools
write a log of every sample.

    python perf/against_others.py data/ziqi [--questions 14000] [--shards 1,2,4] [--connections 64]
        [--lm-eval VENV/bin/python] [--only dummy]

The dataset is a folder that `music-evals build ziqi` wrote. lm-evaluation-harness
(``lm_eval[api]``) needs an environment of its own; without `--lm-eval` it is left out. Memory is
the sum over a tool's processes, twice a second. The number of cores from which the suite is faster
than another tool is extrapolated.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, NamedTuple

import psutil
import typer
from aiohttp import web
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import pattern
from inspect_ai.solver import generate

from music_evals.evals.ziqi import comprehension

DELAY = 0.02
FEW = 10  # questions of the run that shows the cost of start and end
SUITE = "from music_evals.commands.main import app; app()"
MODELS = {"dummy": "baseline/chance", "server": "openai-api/local/dummy"}
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


def measure(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Run:
    """Run a command to its end; SystemExit with the end of its output if it fails."""
    started, peak = time.perf_counter(), 0
    with open(folder / "output.txt", "w+b") as output:
        process = subprocess.Popen(
            command, cwd=folder, stdout=output, stderr=output, env={**os.environ, **environment}
        )
        while True:
            peak = max(peak, resident_bytes(process.pid))
            ended, status, used = os.wait4(process.pid, os.WNOHANG)
            if ended:
                break
            time.sleep(0.1 if time.perf_counter() - started < 20 else 0.5)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            output.seek(0)
            sys.exit(
                f"{' '.join(command)} failed:\n{output.read().decode(errors='replace')[-3000:]}"
            )
    return Run(time.perf_counter() - started, used.ru_utime + used.ru_stime, peak / 2**20)


def resident_bytes(pid: int) -> int:
    try:
        root = psutil.Process(pid)
        return sum(process.memory_info().rss for process in (root, *root.children(recursive=True)))
    except psutil.NoSuchProcess:  # ended while it was counted
        return 0


def suite_command(
    model: str, dataset: Path, questions: int, shards: int, connections: int, logs: str
) -> list[str]:
    words = (
        f"run ziqi_comprehension --model {model} -T dataset={dataset} --limit {questions} --display"
        " none"
    )
    words += (
        f" --shards {shards} --max-connections {max(1, connections // shards)} --log-dir {logs}"
    )
    return [sys.executable, "-c", SUITE, *words.split()]


def lm_eval_command(python: str, server: str, connections: int, folder: Path) -> list[str]:
    """Make the command of lm-evaluation-harness, for a server's address or, without one, for its
    dummy model.
    """
    words = "--model dummy"
    if server:
        words = (
            "--model local-chat-completions --apply_chat_template --model_args "
            "model=dummy,tokenizer_backend=None,"
        )
        words += f"num_concurrent={connections},base_url={server}/chat/completions"
    words += (
        f" --tasks questions --include_path {folder} --log_samples --output_path {folder}/lm_eval"
    )
    return [python, "-m", "lm_eval", *words.split()]


def write_questions(folder: Path, dataset: Path, questions: int) -> int:
    """Write the questions and the task of lm-evaluation-harness; return the number of questions."""
    samples = islice(comprehension(dataset=str(dataset)).dataset, questions)
    rows = [
        {"id": sample.id, "input": sample.input[0].text, "target": sample.target}
        for sample in samples
    ]
    (folder / "data").mkdir()
    (folder / "data" / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "questions.yaml").write_text(LM_EVAL_TASK.replace("FOLDER", str(folder)))
    return len(rows)


def ask_bare(dataset: Path, model: str, questions: int, connections: int) -> None:
    """Ask the questions with nothing but Inspect."""
    asked = islice(comprehension(dataset=str(dataset)).dataset, questions)
    samples = [Sample(id=sample.id, input=sample.input, target=sample.target) for sample in asked]
    task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=pattern("([ABCD])"))
    logs = inspect_eval(
        task,
        model=model,
        display="none",
        log_dir="bare",
        max_connections=connections,
        max_tokens=100,
    )
    assert logs[0].status == "success", logs[0].error


async def serve() -> None:
    """Answer "A" to every chat after a delay, with OpenAI's protocol; print the port."""
    message = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": "A"},
    }
    reply = {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "dummy",
        "choices": [message],
    }
    reply["usage"] = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}

    async def answer(request: web.Request) -> web.Response:
        await request.read()
        await asyncio.sleep(DELAY)
        return web.json_response(reply)

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


def report(runs: Mapping[str, Run], start: Run, questions: int, shards: Sequence[int]) -> None:
    """Print the table of all runs, and what follows from it for other numbers of cores."""
    bare = runs["bare Inspect"].seconds
    print(
        "| tool | samples a second | seconds | CPU seconds | peak MiB | seconds / bare Inspect's |"
    )
    print("|---|---|---|---|---|---|")
    for name, run in runs.items():
        cells = (
            f"{questions / run.seconds:.0f} | {run.seconds:.1f} | {run.cpu:.1f} | "
            f"{run.mebibytes:.0f}"
        )
        print(f"| {name} | {cells} | {run.seconds / bare:.2f} |")
    per_sample = (runs[f"music-evals, {shards[0]} shards"].cpu - start.cpu) / (questions - FEW)
    print(
        f"\nThe suite's start and end: {start.seconds:.1f} s; a sample: {1000 * per_sample:.2f} ms "
        "of CPU."
    )
    print(
        "Extrapolated to as many shards as cores, all idle: seconds = start and end + samples × CPU"
        " / cores."
    )
    for name, run in runs.items():
        if not name.startswith("music-evals"):
            left = run.seconds - start.seconds
            cores = (
                f"from {int(per_sample * questions / left) + 1} cores on"
                if left > 0
                else "on no number of cores"
            )
            print(f"- faster than {name} ({run.seconds:.1f} s): {cores}", flush=True)


def main(
    dataset: Path,
    questions: int = 14_000,
    shards: str = "1,2,4",
    connections: int = 64,
    lm_eval: str = "",
    only: str = "",
    bare: Annotated[str, typer.Option(hidden=True)] = "",
    server: Annotated[bool, typer.Option(hidden=True)] = False,
) -> None:
    """Run every tool on both models, and print a table for each model."""
    if bare:
        return ask_bare(dataset, bare, questions, connections)
    if server:
        return asyncio.run(serve())
    dataset, counts = dataset.resolve(), [int(count) for count in shards.split(",")]
    own = [sys.executable, __file__, str(dataset)]
    with (
        tempfile.TemporaryDirectory() as name,
        subprocess.Popen([*own, "--server"], stdout=subprocess.PIPE, text=True) as process,
    ):
        try:
            folder = Path(name)
            assert process.stdout is not None
            url = f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
            keys = dict.fromkeys(("LOCAL_API_KEY", "OPENAI_API_KEY"), "none")
            paths = {
                "HF_HOME": f"{folder}/huggingface",
                "PYTHONPATH": str(Path(__file__).parents[1]),
            }
            environment = {**keys, **paths, "LOCAL_BASE_URL": url, "HF_HUB_OFFLINE": "1"}
            questions = write_questions(folder, dataset, questions)
            for arm, model in MODELS.items():
                if only not in ("", arm):
                    continue
                limits = ["--questions", str(questions), "--connections", str(connections)]
                commands = {"bare Inspect": [*own, *limits, "--bare", model]}
                for count in counts:
                    logs = f"{folder}/{arm}-{count}"
                    command = suite_command(model, dataset, questions, count, connections, logs)
                    commands[f"music-evals, {count} shards"] = command
                if lm_eval:
                    address = url if arm == "server" else ""
                    commands["lm-evaluation-harness"] = lm_eval_command(
                        lm_eval, address, connections, folder
                    )
                few = suite_command(
                    model, dataset, FEW, counts[0], connections, f"{folder}/{arm}-few"
                )
                start = measure(few, folder, environment)
                runs = {
                    tool: measure(command, folder, environment)
                    for tool, command in commands.items()
                }
                print(f"\n{arm}, {questions} questions, load {os.getloadavg()[0]:.1f}\n")
                report(runs, start, questions, counts)
        finally:
            process.terminate()


if __name__ == "__main__":
    typer.run(main)
