"""`music-evals reward`: rewards of replies, for a trainer in any language: JSON lines in, JSON lines out."""

import json
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from queue import Queue
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any

import typer

from music_evals.commands.output import failed

if TYPE_CHECKING:
    from music_evals.benchmarks import TaskFacts
    from music_evals.rewards import Pieces

_COLUMNS = ("id", "options", "target", "question", "answer", "answer_type")  # that rewards take
_CONFIGS = ("questions", "prompts")  # of datasets whose configs do not have the names of the tasks
_AHEAD = 64  # lines that may be under way; the answers keep their order


def reward(
    task: Annotated[str, typer.Argument(help="Which task, as `music-evals list` shows it.")],
    dataset: Annotated[
        str, typer.Option(help="Data of the ids, and reference pieces: 'generated', a folder, or hf://datasets/…")
    ] = "generated",
    reasoned: Annotated[bool, typer.Option("--reasoned", help="LilyBench: replies reason first.")] = False,
) -> None:
    """Score replies for training: reads a {"row": {…}, "reply": "…"} per line, writes {"value", "parts", "reason"}."""
    # Here, so that `music-evals --help` need not wait for it.
    from music_evals import benchmarks
    from music_evals.notation.lilypond.sandbox.slots import cores
    from music_evals.rewards import score
    from music_evals.rewards.scoring import judge_of

    facts = benchmarks.tasks_named(task)[:1]
    try:
        pieces = _pieces(dataset) if facts and facts[0].benchmark == "lilybench_generation" else None
        judge_of(task, pieces=pieces)
    except (ValueError, OSError) as error:
        raise failed(error) from error
    row_of = cache(lambda: _rows(facts[0], dataset))

    def answer(number: int, line: bytes) -> dict[str, Any]:
        try:
            row, reply = _read(line, row_of)
            return score(task, row, reply, reasoned=reasoned, pieces=pieces)._asdict()
        except Exception as error:
            return {"error": f"line {number}: {error}"}

    waiting: Queue[Future[dict[str, Any]] | None] = Queue(_AHEAD)
    errors: list[str] = []

    def write() -> None:
        while (job := waiting.get()) is not None:
            result = job.result()
            errors.extend([result["error"]] if "error" in result else [])
            try:
                print(json.dumps(result), flush=True)
            except OSError as error:  # nobody reads on
                errors.append(str(error))

    writer = Thread(target=write)
    writer.start()
    # Reading text holds the interpreter; LilyPond runs in processes of its own.
    with ThreadPoolExecutor(cores() if pieces else 1) as pool:
        for number, line in enumerate(sys.stdin.buffer, start=1):
            if line.strip():
                waiting.put(pool.submit(answer, number, line))
        waiting.put(None)
        writer.join()
    if errors:
        raise failed(RuntimeError(f"{len(errors)} lines without a reward, the first: {errors[0]}"))


def _read(line: bytes, rows: Callable[[], Mapping[str, Any]]) -> tuple[Any, str]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is no JSON ({error})") from error
    if not isinstance(entry, dict) or not isinstance(entry.get("reply"), str):
        raise ValueError('it is no object with "reply", a text')
    if isinstance(entry.get("row"), dict):
        return entry["row"], entry["reply"]
    if entry.get("id") not in rows():
        raise ValueError(f'it has no "row", and the dataset no id {entry.get("id")!r:.60}')
    return rows()[entry["id"]], entry["reply"]


def _rows(task: "TaskFacts", dataset: str) -> dict[str, Any]:
    """The rows of a task's dataset by id, of all splits, without music."""
    from music_evals.datasets_builders.dataset_io import describe_dataset, load_split
    from music_evals.evals.registry import dataset_module

    spec = dataset_module(task.benchmark).BENCHMARK
    config = next(name for name in (task.name, *_CONFIGS) if name in spec.features)
    columns = [name for name in spec.features[config] if name in _COLUMNS]
    splits = describe_dataset(dataset, benchmark=spec).provenance.counts[config]
    loaded = (load_split(dataset, config, split, benchmark=spec, columns=columns) for split in splits)
    return {row["id"]: row for rows in loaded for row in rows}


def _pieces(dataset: str) -> "Pieces":
    from music_evals.datasets_builders.lilybench_generation.references import load_demonstrations, load_references
    from music_evals.rewards import Pieces

    return Pieces(load_references(dataset), load_demonstrations(dataset))
