"""Replies that are not valid Unicode, over a real connection: they end no run, and are marked."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai.model import get_model

from music_evals.evals.lilybench import generation, metadata_qa
from music_evals.evals.muse import chord_quality
from music_evals.solvers.replies import MENDED
from tests.generation_dataset import make_dataset
from tests.harness import run, samples
from tests.lilybench_dataset import write_small

BROKEN = "half a clef: \ud834 { c'4 "


class Server(ThreadingHTTPServer):
    """A server as OpenAI's, whose replies hold lone surrogates, which JSON can write and UTF-8 cannot."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[dict[str, Any]] = []


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(asked)
        message: dict[str, Any] = {"role": "assistant", "content": BROKEN, "reasoning_content": BROKEN}
        reason = "stop"
        if asked.get("tools") and asked.get("tool_choice") != "none" and len(asked["messages"]) < 4:
            arguments = json.dumps({"identifier": BROKEN, "number": 1})
            call = {"id": "call", "type": "function"}
            call |= {"function": {"name": asked["tools"][0]["function"]["name"], "arguments": arguments}}
            message, reason = message | {"tool_calls": [call]}, "tool_calls"
        choice = {"index": 0, "message": message, "finish_reason": reason}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        reply = {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": "m",
            "choices": [choice],
            "usage": usage,
        }
        content = json.dumps(reply).encode()  # surrogates as \ud834
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    served = Server()
    threading.Thread(target=served.serve_forever, daemon=True).start()
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    monkeypatch.setenv("BROKEN_API_KEY", "none")
    monkeypatch.setenv("BROKEN_BASE_URL", f"http://127.0.0.1:{served.server_address[1]}/v1")
    yield served
    served.shutdown()
    served.server_close()


@pytest.mark.parametrize(
    "task",
    [
        lambda _: chord_quality(modality="midi", strategy="standalone"),
        lambda _: chord_quality(modality="midi", strategy="logiclm"),
        lambda _: chord_quality(modality="midi", strategy="logiclm", tools="native"),
        lambda folder: metadata_qa(dataset=write_small(folder / "data"), strategy="logiclm"),
        lambda folder: generation(dataset=str(make_dataset(folder / "data")), attempts=2, media=0),
    ],
)
def test_lone_surrogates_end_no_run_and_are_marked(task: Any, server: Server, tmp_path: Path) -> None:
    made: Task = task(tmp_path)
    (log,) = run(made, tmp_path, get_model("openai-api/broken/m", memoize=False), limit=2)
    for sample in samples(log):
        assert sample.error is None
        assert sample.scores
        assert sample.store[MENDED] >= 1
        assert sample.output.completion.startswith("half a clef: \\ud834")
    assert json.dumps(server.asked, ensure_ascii=False).encode()
