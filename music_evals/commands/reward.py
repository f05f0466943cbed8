"""`music-evals reward`: rewards of replies, for a trainer in any language: JSON lines in, JSON
lines out.
"""

import json
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Semaphore
from typing import Annotated, Any

from typer import Argument, Option

from music_evals.commands.output import errors_in_a_line, failed

_AHEAD = 64  # lines that may be under way; the answers keep their order


def reward(
    task: Annotated[str, Argument(help="Which task, as `music-evals list` shows it.")],
    dataset: Annotated[
        str,
        Option(
            help="Data with the reference pieces of written music: a folder, or hf://datasets/…"
        ),
    ] = "generated",
    reasoned: Annotated[
        bool, Option("--reasoned", help="LilyBench: replies reason first.")
    ] = False,
) -> None:
    """Score replies for training: reads a {"row": {…}, "reply": "…"} per line, writes {"value",
    "parts", "reason"}.
    """
    # Here, so that `music-evals --help` need not wait for it.
    from music_evals.datasets_builders.lilybench_generation.references import (
        load_demonstrations,
        load_references,
    )
    from music_evals.notation.lilypond.sandbox.slots import cores
    from music_evals.rewards import Pieces, score
    from music_evals.rewards.scoring import judge_of

    with errors_in_a_line():
        pieces = None
        if task == "lilybench_generation":
            pieces = Pieces(load_references(dataset), load_demonstrations(dataset))
        elif dataset != "generated":
            raise ValueError(f"--dataset is for lilybench_generation; {task} needs none")
        judge_of(task, pieces=pieces)

    def answer(number: int, line: bytes) -> dict[str, Any]:
        try:
            entry = json.loads(line)
            is_cut = bool(entry.get("is_cut"))
            return score(
                task, entry["row"], entry["reply"], is_cut=is_cut, reasoned=reasoned, pieces=pieces
            )._asdict()
        except (TypeError, KeyError):
            return {"error": f'line {number}: it is no object with "row" and "reply"'}
        except Exception as error:
            return {"error": f"line {number}: {error}"}

    errors: list[str] = []
    ahead = Semaphore(_AHEAD)

    def write(job: Future[dict[str, Any]]) -> None:
        result = job.result()
        if "error" in result:
            errors.append(result["error"])
        try:
            print(json.dumps(result), flush=True)
        except OSError as error:  # nobody reads on
            errors.append(str(error))
        ahead.release()

    # Reading text holds the interpreter; LilyPond runs in processes of its own.
    with ThreadPoolExecutor(1) as writer, ThreadPoolExecutor(cores() if pieces else 1) as pool:
        for number, line in enumerate(sys.stdin.buffer, start=1):
            if line.strip():
                ahead.acquire()
                writer.submit(write, pool.submit(answer, number, line))
    if errors:
        raise failed(RuntimeError(f"{len(errors)} lines without a reward, the first: {errors[0]}"))
