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
from tests import lilybench_dataset
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
    """An OpenAI-type server; ``left`` says how often requests with a text get which malformed answer."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.left: dict[str, tuple[str, int]] = {}


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        request = self.rfile.read(int(self.headers["Content-Length"])).decode()
        message: dict[str, Any] = {"role": "assistant", "content": "Final Answer: A"}
        answer: dict[str, Any] = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
        answer["choices"] = [{"index": 0, "message": message, "finish_reason": "stop"}]
        for text, (kind, times) in self.server.left.items():
            if times and text in request:
                self.server.left[text] = (kind, times - 1)
                for name, value in MALFORMED[kind].items():
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
    task = ziqi.comprehension()
    asked = [sample.input[-1].text for sample in task.dataset[:120]]  # type: ignore[union-attr]
    texts = [text for text in asked if sum(text[-80:] in other for other in asked) == 1]
    server.left = {
        json.dumps(text[-80:], ensure_ascii=False)[1:-1]: (kind, times)
        for text, kind in zip(texts, MALFORMED, strict=False)
    }
    (log,) = inspect_eval(
        task, model=get_model("openai-api/odd/m", memoize=False), log_dir=str(tmp_path), limit=120, display="none"
    )
    assert log.status == "success", log.error
    assert log.results
    failed = sum(sample.error is not None for sample in samples(log))
    with counting(f"malformed answers, {times} times in a row") as tally:
        for kind, left in server.left.values():
            with tally.case(kind):
                assert left == 0 if times == 1 else left < times
    assert failed == 0 if times == 1 else 0 < failed <= len(MALFORMED)
    assert log.results.completed_samples == 120 - failed
    (run,) = read_records(log.location).runs.to_dict("records")
    assert (run["errors"], run["n"]) == (failed, 120 - failed)


def test_no_task_of_any_benchmark_is_ended(server: Server, counting: Counting, tmp_path: Path) -> None:
    data = {"msu": write_small(tmp_path / "msu"), "lilybench": lilybench_dataset.write_small(tmp_path / "lilybench")}
    with counting("malformed answers × tasks") as tally:
        for name in ("ziqi", "msu", "muse", "musictheorybench", "lilybench"):
            for task_name in benchmarks.load(name).tasks:
                with tally.case(f"{name} {task_name}"):
                    options = {"dataset": data[name]} if name in data else {}
                    options |= {"content": "title"} if name == "msu" else {}
                    task = getattr(MODULES[name], task_name)(**options)
                    server.left = {"": ("no choices", 1)}
                    (log,) = inspect_eval(
                        task,
                        model=get_model("openai-api/odd/m", memoize=False),
                        log_dir=str(tmp_path / "logs"),
                        limit=3,
                        display="none",
                    )
                    assert (log.status, server.left[""]) == ("success", ("no choices", 0)), log.error
