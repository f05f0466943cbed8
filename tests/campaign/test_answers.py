"""A server whose answers are no replies: each is asked for again, and then it is an error of its sample alone."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.model import get_model

from music_evals import benchmarks
from music_evals.evals import ziqi
from music_evals.evals.registry import MODULES
from music_evals.reports.records import read_records
from music_evals.solvers import replies
from tests.campaign.conftest import Counting
from tests.harness import samples
from tests.msu_dataset import write_small

CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"a": ' + "9" * 5000 + "}"}}
MALFORMED: dict[str, Any] = {
    "no choices": {"choices": None},
    "no model": {"model": None},
    "empty choices": {"choices": []},
    "content is a list": {"content": [1]},
    "content is a table": {"content": {"a": 1}},
    "content is a number": {"content": 7},
    "a tool call without a name": {"tool_calls": [{"id": "a", "type": "function", "function": {"arguments": "{}"}}]},
    "a tool call without an id": {"tool_calls": [{"type": "function", "function": {"name": "f", "arguments": "{}"}}]},
    "a huge integer": {"tool_calls": [CALL]},
    "an error with status 200": {"error": {"message": "overloaded"}, "choices": None},
}


class Server(ThreadingHTTPServer):
    """An OpenAI-type server; each request whose text holds `victim` has a malformed answer, `times` times."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.kind, self.victim, self.times = "", "", 0


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        request = self.rfile.read(int(self.headers["Content-Length"])).decode()
        message: dict[str, Any] = {"role": "assistant", "content": "Final Answer: A"}
        answer: dict[str, Any] = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
        answer["choices"] = [{"index": 0, "message": message, "finish_reason": "stop"}]
        if self.server.times and self.server.victim in request:
            self.server.times -= 1
            for name, value in MALFORMED[self.server.kind].items():
                (answer if name in ("choices", "model", "error") else message)[name] = value
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(replies, "PAUSE", 0.0)
    with Server() as http:
        monkeypatch.setenv("ODD_API_KEY", "none")
        monkeypatch.setenv("ODD_BASE_URL", f"http://127.0.0.1:{http.server_port}/v1")
        Thread(target=http.serve_forever, daemon=True).start()
        yield http
        http.shutdown()


@pytest.mark.parametrize("times", [1, 100])
def test_a_malformed_answer_ends_no_run(server: Server, counting: Counting, tmp_path: Path, times: int) -> None:
    with counting(f"malformed answers, {times} times in a row") as tally:
        for kind in MALFORMED:
            with tally.case(kind):
                task = ziqi.generation(language="en")
                server.kind, server.times = kind, times
                server.victim = json.dumps(task.dataset[3].input[0].text[-60:])[1:-1]  # type: ignore[union-attr]
                (log,) = inspect_eval(
                    task,
                    model=get_model("openai-api/odd/m", memoize=False),
                    log_dir=str(tmp_path / kind),
                    limit=20,
                    display="none",
                )
                assert log.status == "success", log.error
                assert log.results
                errors = sum(sample.error is not None for sample in samples(log))
                assert errors <= (0 if times == 1 else 1)
                assert log.results.completed_samples == 20 - errors
                (run,) = read_records(log.location).runs.to_dict("records")
                assert (run["errors"], run["n"]) == (errors, 20 - errors)


def test_no_task_of_any_benchmark_is_ended(server: Server, counting: Counting, tmp_path: Path) -> None:
    data = {"msu": write_small(tmp_path / "msu")}
    with counting("malformed answers × tasks") as tally:
        for name, module in MODULES.items():
            for task_name in benchmarks.load(name).tasks if name in ("ziqi", "msu", "muse", "musictheorybench") else ():
                with tally.case(f"{name} {task_name}"):
                    options = {"dataset": data[name], "content": "title"} if name in data else {}
                    task = getattr(module, task_name)(**options)
                    server.kind, server.victim, server.times = "no choices", "", 1
                    (log,) = inspect_eval(
                        task,
                        model=get_model("openai-api/odd/m", memoize=False),
                        log_dir=str(tmp_path / "logs"),
                        limit=3,
                        display="none",
                    )
                    assert log.status == "success", log.error
