"""How fast the suite asks four-option questions: beside bare Inspect, lm-evaluation-harness and lighteval.

All ask the same questions of ZIQI-Eval, each in a process of its own: first a dummy model with no delay
(``baseline/chance``, and what the others have), then one local server as OpenAI's that answers "A" after 20 ms, in yet
another process. All keep what each sample said (``--log_samples``, ``save_details``), as Inspect does.

    python perf/against_others.py data/ziqi [--questions 14000] [--shards 1,2,4] [--connections 64]
        [--lm-eval VENV/bin/python] [--lighteval VENV/bin/python] [--only dummy]

The dataset is a folder that `music-evals build ziqi` wrote. lm-evaluation-harness (``lm_eval[api]``) and lighteval
(``lighteval[litellm]``) need environments of their own; what is not given is left out. Memory is that of all processes
of a tool, summed twice a second. The number of cores from which the suite is faster than another tool is extrapolated.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated

import psutil
import typer
from aiohttp import web
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import pattern
from inspect_ai.solver import generate
from measuring import start

from music_evals.evals.ziqi import comprehension

DELAY = 0.02
FEW = 10
"""Questions of the run that shows what the start alone takes."""
COMMAND = "from music_evals.commands.main import app; app()"
MODELS = {"dummy": "baseline/chance", "server": "openai-api/local/dummy"}

LM_EVAL = """\
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
LIGHTEVAL_TASK = """\
from lighteval.metrics.metrics import Metrics
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc

def ask(line, task_name=None):
    return Doc(task_name=task_name, query=line["input"], choices=[line["target"]], gold_index=0)

TASKS_TABLE = [
    LightevalTaskConfig(
        name="questions", prompt_function=ask, hf_repo="FOLDER/data", hf_subset="default", hf_avail_splits=["test"],
        evaluation_splits=["test"], metrics=[Metrics.exact_match], generation_size=100, stop_sequence=[],
    )
]
"""
LIGHTEVAL = """\
import sys
from lighteval.logging.evaluation_tracker import EvaluationTracker
from lighteval.models.dummy.dummy_model import DummyModelConfig
from lighteval.models.endpoints.litellm_model import LiteLLMModelConfig
from lighteval.pipeline import ParallelismManager, Pipeline, PipelineParameters

url, connections, cache = sys.argv[1], int(sys.argv[2]), "FOLDER/cache"
model = DummyModelConfig(cache_dir=cache)
if url:
    model = LiteLLMModelConfig(
        model_name="openai/dummy", provider="openai", base_url=url, api_key="none", concurrent_requests=connections,
        max_model_length=32000, generation_parameters={"temperature": 0.0}, cache_dir=cache,
    )
pipeline = Pipeline(
    tasks="questions|0",
    pipeline_parameters=PipelineParameters(ParallelismManager.NONE, custom_tasks_directory="FOLDER/lighteval_task.py"),
    evaluation_tracker=EvaluationTracker(output_dir="FOLDER/lighteval", save_details=True),
    model_config=model,
)
pipeline.evaluate()
pipeline.save_and_push_results()
"""


@dataclass(frozen=True, slots=True)
class Run:
    """What one run took: seconds in all, of CPU, and peak memory of all processes."""

    seconds: float
    cpu: float
    mebibytes: float


def measured(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Run:
    """Run a command to its end; SystemExit with the end of what it said where it fails."""
    started, peak = time.perf_counter(), 0
    with open(folder / "said.txt", "w+b") as said:
        process = subprocess.Popen(command, cwd=folder, stdout=said, stderr=said, env={**os.environ, **environment})
        while True:
            peak = max(peak, _resident(process.pid))
            ended, status, used = os.wait4(process.pid, os.WNOHANG)
            if ended:
                break
            time.sleep(0.1 if time.perf_counter() - started < 20 else 0.5)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            sys.exit(f"{' '.join(command)} failed:\n{said.read().decode(errors='replace')[-3000:]}")
    return Run(time.perf_counter() - started, used.ru_utime + used.ru_stime, peak / 2**20)


def _resident(pid: int) -> int:
    total = 0
    try:
        root = psutil.Process(pid)
        for process in (root, *root.children(recursive=True)):
            total += process.memory_info().rss
    except psutil.NoSuchProcess:  # ended while it was counted
        pass
    return total


def commands(
    arm: str,
    url: str,
    folder: Path,
    dataset: Path,
    questions: int,
    shards: Sequence[int],
    connections: int,
    lm_eval: str,
    lighteval: str,
) -> dict[str, tuple[int, list[str]]]:
    """Return the number of processes and the command of each tool."""
    python, model = sys.executable, MODELS[arm]
    bare = [python, __file__, str(dataset), "--questions", str(questions), "--connections", str(connections)]
    found = {"bare Inspect": (1, [*bare, "--bare", model])}
    for count in shards:
        ours = f"run ziqi_comprehension --model {model} -T dataset={dataset} --limit {questions} --display none"
        ours += (
            f" --shards {count} --max-connections {max(1, connections // count)} --log-dir {folder}/ours-{arm}-{count}"
        )
        found[f"music-evals, {count} shards"] = (count, [python, "-c", COMMAND, *ours.split()])
    if lm_eval:
        asked = "--model dummy"
        if arm == "server":
            asked = (
                "--model local-chat-completions --apply_chat_template --model_args model=dummy,tokenizer_backend=None,"
            )
            asked += f"num_concurrent={connections},base_url={url}/chat/completions"
        asked += f" --tasks questions --include_path {folder} --log_samples --output_path {folder}/lm_eval-{arm}"
        found["lm-evaluation-harness"] = (1, [lm_eval, "-m", "lm_eval", *asked.split()])
    if lighteval:
        given = [url if arm == "server" else "", str(connections)]
        found["lighteval"] = (1, [lighteval, f"{folder}/run_lighteval.py", *given])
    return found


def prepare(folder: Path, dataset: Path, questions: int) -> int:
    """Write the questions and the other tools' tasks; return how many questions there are."""
    samples = list(islice(comprehension(dataset=str(dataset)).dataset, questions))
    rows = [{"id": one.id, "input": one.input[0].text, "target": one.target} for one in samples]
    (folder / "data").mkdir()
    (folder / "data" / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    texts = {"questions.yaml": LM_EVAL, "lighteval_task.py": LIGHTEVAL_TASK, "run_lighteval.py": LIGHTEVAL}
    for name, text in texts.items():
        (folder / name).write_text(text.replace("FOLDER", str(folder)))
    return len(rows)


def ask_bare(dataset: Path, model: str, questions: int, connections: int) -> None:
    """Ask the questions by nothing but Inspect."""
    asked = islice(comprehension(dataset=str(dataset)).dataset, questions)
    samples = [Sample(id=one.id, input=one.input, target=one.target) for one in asked]
    task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=pattern("([ABCD])"))
    logs = inspect_eval(task, model=model, display="none", log_dir="bare", max_connections=connections, max_tokens=100)
    assert logs[0].status == "success", logs[0].error


def serve() -> None:
    """Answer "A" to every chat after a delay, as OpenAI's server; print the port."""
    message = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "A"}}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    reply = {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "dummy",
        "choices": [message],
        "usage": usage,
    }
    body = json.dumps(reply).encode()

    async def answer(request: web.Request) -> web.Response:
        await request.read()
        await asyncio.sleep(DELAY)
        return web.Response(body=body, content_type="application/json")

    async def main() -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        print(runner.addresses[0][1], flush=True)
        await asyncio.Event().wait()

    asyncio.run(main())


def compare(
    arm: str,
    tools: Mapping[str, tuple[int, list[str]]],
    begin: Run,
    questions: int,
    env: Mapping[str, str],
    folder: Path,
) -> None:
    """Run all tools on one model, and print the table and what follows from it."""
    print(f"\n{arm}, {questions} questions, load {os.getloadavg()[0]:.1f}\n")
    print("| tool | processes | samples a second | seconds | CPU seconds | peak MiB | seconds / bare Inspect's |")
    print("|---|---|---|---|---|---|---|", flush=True)
    runs: dict[str, Run] = {}
    for name, (processes, command) in tools.items():
        run = runs[name] = measured(command, folder, env)
        ratio = run.seconds / next(iter(runs.values())).seconds
        print(
            f"| {name} | {processes} | {questions / run.seconds:.0f} | {run.seconds:.1f} | {run.cpu:.1f} "
            f"| {run.mebibytes:.0f} | {ratio:.2f} |",
            flush=True,
        )
    ours = [(processes, runs[name]) for name, (processes, _) in tools.items() if name.startswith("music-evals")]
    each = (ours[0][1].cpu - begin.cpu) / (questions - FEW)
    print(
        f"\nThe suite's start and end: {begin.seconds:.1f} s ({begin.cpu:.1f} s of CPU, {FEW} questions, one shard); "
        f"a sample: {1000 * each:.2f} ms of CPU, in all processes."
    )
    print("Extrapolated, with as many shards as cores, all idle: seconds = start and end + samples × CPU / cores.")
    for cores, run in ours:
        print(f"- {cores} cores: {begin.seconds + each * questions / cores:.1f} s (seen here {run.seconds:.1f} s)")
    for name, run in runs.items():
        if name.startswith("music-evals"):
            continue
        left = run.seconds - begin.seconds
        cores = f"from {int(each * questions / left) + 1} cores on" if left > 0 else "on no number of cores"
        print(f"- faster than {name} ({run.seconds:.1f} s): {cores}", flush=True)


def main(
    dataset: Path,
    questions: int = 14_000,
    shards: str = "1,2,4",
    connections: int = 64,
    lm_eval: str = "",
    lighteval: str = "",
    only: str = "",
    bare: Annotated[str, typer.Option(hidden=True)] = "",
    server: Annotated[bool, typer.Option(hidden=True)] = False,
) -> None:
    if bare:
        return ask_bare(dataset, bare, questions, connections)
    if server:
        return serve()
    for name, given in (("lm-evaluation-harness", lm_eval), ("lighteval", lighteval)):
        if not given:
            print(f"{name} is left out: its Python is not given")
    own = [sys.executable, __file__, str(dataset), "--server"]
    with (
        tempfile.TemporaryDirectory() as name,
        subprocess.Popen(own, stdout=subprocess.PIPE, text=True) as process,
    ):
        folder = Path(name)
        assert process.stdout is not None
        try:
            url = f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
            env = {
                "LOCAL_BASE_URL": url,
                "LOCAL_API_KEY": "none",
                "OPENAI_API_KEY": "none",
                "HF_HUB_OFFLINE": "1",
                "HF_HOME": f"{folder}/huggingface",
                "INSPECT_LOG_DIR": f"{folder}/logs",
                "PYTHONPATH": str(Path(__file__).parents[1]),
            }
            questions = prepare(folder, dataset.resolve(), questions)
            counts = [int(each) for each in shards.split(",")]
            for arm in MODELS if not only else [only]:
                given = (url, folder, dataset.resolve())
                few = commands(arm, *given, FEW, counts[:1], connections, "", "")
                (folder / "few").mkdir(exist_ok=True)
                begin = measured([one.replace("/ours-", "/few/ours-") for one in list(few.values())[1][1]], folder, env)
                tools = commands(arm, *given, questions, counts, connections, lm_eval, lighteval)
                compare(arm, tools, begin, questions, env, folder)
        finally:
            process.terminate()


if __name__ == "__main__":
    start(main, __doc__)
