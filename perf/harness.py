"""What LogicLM adds to Inspect's own time: MUSE's syncopation against a bare Inspect task.

The bare task sends the same prompts to the same model, with Inspect's own `generate` and `match`.
It sends two requests, as many as a formulation that is valid at once. It does so once with a tool
call in between and once without: the difference is the cost of the tool event in a log of LogicLM.

Both tasks run alternately in one process with the same flags, from making the task to writing its
log. Times are of the CPU: other work on the machine changes them least. Sound and pictures in the
log are off (`media=0`).

    python perf/harness.py [--samples 500] [--repeats 10] [--model baseline/chance]
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import typer
from inspect_ai import Task, task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, GenerateConfig, execute_tools
from inspect_ai.scorer import match
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolCall, ToolDef

from music_evals.datasets_builders.muse.dataset import Counts, build_generated, write
from music_evals.evals.muse import syncopation


@solver
def ask_twice(with_tool: bool) -> Solver:
    """Send two requests, as LogicLM does, with or without a tool call between them."""

    async def count(transcription: str) -> str:
        return str(len(transcription))

    tool = ToolDef(count, description="Counts characters.", parameters={"transcription": "A text."})

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state = await generate(state)
        if with_tool:
            call = ToolCall(
                id="1", function=tool.name, arguments={"transcription": state.output.completion}
            )
            await execute_tools([ChatMessageAssistant(content="", tool_calls=[call])], [tool])
        state.messages.append(
            ChatMessageUser(content="And your answer?\nReply with a single line:\nFinal Answer: X")
        )
        return await generate(state)

    return solve


def bare_task(samples: list[Sample], asker: Solver) -> Task:
    """Make a task of Inspect's own parts, in a module as the suite's tasks: Inspect looks up its
    package once a run.
    """

    @task
    def bare() -> Task:
        config = GenerateConfig(temperature=0.0)
        return Task(dataset=MemoryDataset(samples), solver=asker, scorer=match(), config=config)

    return bare()


def measure(make: Callable[[], Task], model: str) -> float:
    """Run a task; return its CPU seconds.

    The display and its metrics are off: Inspect computes them more often in a longer run.
    """
    started = time.process_time()
    options = {"display": "none", "score_display": False, "log_realtime": False}
    with tempfile.TemporaryDirectory() as folder:
        (log,) = inspect_eval(make(), model=model, log_dir=folder, **options)
    assert log.status == "success", log.error
    return time.process_time() - started


def compare(title: str, make: Callable[[], Task], asker: Solver, model: str, repeats: int) -> None:
    """Run a task and a bare one alternately, and print the median ratio of their CPU times.

    The first pair pays for imports and caches, and is left out.
    """
    samples = list(make().dataset)
    makers = (make, lambda: bare_task(samples, asker))
    pairs = [[measure(maker, model) for maker in makers] for _ in range(repeats + 1)][1:]
    ratios = sorted(ours / theirs for ours, theirs in pairs)
    suite, bare = map(statistics.median, zip(*pairs, strict=True))
    print(
        f"{title}: {suite:.4g} s of CPU, bare Inspect {bare:.4g} s, median ratio of "
        f"{repeats} pairs {statistics.median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f})",
        flush=True,
    )


def main(samples: int = 500, repeats: int = 10, model: str = "baseline/chance") -> None:
    """Compare LogicLM with two requests, with a tool call between them and without."""
    with tempfile.TemporaryDirectory() as folder:
        write(build_generated(counts=Counts(samples, 2, 4)), Path(folder) / "muse")
        make = partial(syncopation, dataset=f"{folder}/muse", strategy="logiclm", media=0)
        for requests, with_tool in (("two calls and a tool", True), ("two calls", False)):
            title = f"LogicLM against {requests}, {samples} samples"
            compare(title, make, ask_twice(with_tool), model, repeats)


if __name__ == "__main__":
    typer.run(main)
