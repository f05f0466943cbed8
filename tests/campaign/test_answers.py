"""A server whose answers are no replies: each is asked for again, and then it is an error of its
sample alone.
"""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.model import get_model

from music_evals import benchmarks
from music_evals.evals import ziqi
from music_evals.evals.registry import MODULES
from music_evals.reports.records import read_records
from tests import lilybench_dataset
from tests.harness import samples
from tests.msu_dataset import write_small

CALL = {
    "id": "a",
    "type": "function",
    "function": {"name": "f", "arguments": '{"a": ' + "9" * 5000 + "}"},
}
MALFORMED = {
    "no choices": {"choices": None},
    "no model": {"model": None},
    "empty choices": {"choices": []},
    "content is a list": {"content": [1]},
    "content is a table": {"content": {"a": 1}},
    "content is a number": {"content": 7},
    "a tool call without a name": {
        "tool_calls": [{"id": "a", "type": "function", "function": {"arguments": "{}"}}]
    },
    "a tool call without an id": {
        "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": "{}"}}]
    },
    "a huge integer": {"tool_calls": [CALL]},
    "an error with status 200": {"error": {"message": "overloaded"}, "choices": None},
    "no message": {"choices": [{"index": 0, "finish_reason": "stop", "message": None}]},
    "no choice": {"choices": [None]},
    "half a character": {"content": "Final Answer: A \ud834"},
    "half a character in a call": {
        "tool_calls": [{**CALL, "function": {"name": "f", "arguments": '{"x": "\\ud800"}'}}]
    },
    "null": {"body": b"null"},
    "a list": {"body": b"[]"},
    "a number": {"body": b"3"},
    "a text": {"body": b'"x"'},
    "true": {"body": b"true"},
    "nothing": {"body": b""},
    "a page": {"body": b"<html><title>It works</title></html>"},
    "half an answer": {"body": b'{"id": "x", "choices": [{"mess'},
    "no Unicode": {"body": b'{"id": "\xff\xfe'},
    "status 500": {"status": 500},
    "status 502 with a page": {"status": 502, "body": b"<html>Bad Gateway</html>"},
    "status 429": {"status": 429},
    "status 400 with half a character": {
        "status": 400,
        "body": b'{"error": {"message": "\\ud834"}}',
    },
    "a cut connection": {"status": 0},
}
NOT_REPEATED = {"status 400 with half a character"}  # the request is to blame
STUBBORN = (
    "no choices",
    "content is a list",
    "a huge integer",
    "half an answer",
    "status 500",
    "a cut connection",
)  # a kind for each way to fail
LIMIT = 80  # samples, of which not a tenth may fail
WHOLE = ("choices", "model", "error", "status", "body")  # of the answer, and not of its message


class Server(ThreadingHTTPServer):
    """An OpenAI-type server; ``left`` says how often requests with a text get which malformed
    answer.
    """

    request_queue_size = 200

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.left: dict[str, tuple[str, int]] = {}


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self):
        request = self.rfile.read(int(self.headers["Content-Length"])).decode()
        message = {"role": "assistant", "content": "Final Answer: A"}
        answer = {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
        }
        answer["choices"] = [{"index": 0, "message": message, "finish_reason": "stop"}]
        for text, (kind, times) in self.server.left.items():
            if times and text in request:
                self.server.left[text] = (kind, times - 1)
                for name, value in MALFORMED[kind].items():
                    (answer if name in WHOLE else message)[name] = value
        status = answer.pop("status", 200)
        body = answer["body"] if "body" in answer else json.dumps(answer).encode()
        if not status:
            self.close_connection = True
            return
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_): ...


@pytest.fixture
def server(monkeypatch):
    async def no_pause(_): ...

    monkeypatch.setattr("inspect_ai.model._retry._sleep", no_pause)
    with Server() as http:
        monkeypatch.setenv("ODD_API_KEY", "none")
        monkeypatch.setenv("ODD_BASE_URL", f"http://127.0.0.1:{http.server_port}/v1")
        Thread(target=http.serve_forever, daemon=True).start()
        yield http
        http.shutdown()


@pytest.mark.parametrize(
    ("kinds", "times"),
    [([*MALFORMED], 1), (STUBBORN, 100)],
    ids=["once", "always"],
)
def test_a_malformed_answer_ends_no_run(server, counting, tmp_path, full, kinds, times):
    if kinds == STUBBORN and not full:
        pytest.skip("with CAMPAIGN=full")
    task = ziqi.comprehension()
    asked = [sample.input[-1].text for sample in task.dataset[:LIMIT]]  # type: ignore[union-attr]
    texts = [text for text in asked if sum(text[-80:] in other for other in asked) == 1]
    server.left = {
        json.dumps(text[-80:], ensure_ascii=False)[1:-1]: (kind, times)
        for text, kind in zip(texts, kinds, strict=False)
    }
    (log,) = inspect_eval(
        task,
        model=get_model("openai-api/odd/m", memoize=False),
        log_dir=str(tmp_path),
        limit=LIMIT,
        display="none",
    )
    assert log.status == "success", log.error
    assert log.results
    failed = sum(sample.error is not None for sample in samples(log))
    with counting(f"malformed answers, {times} times in a row") as tally:
        for kind, left in server.left.values():
            with tally.case(kind):
                assert left == 0 if times == 1 else left < times
    least = len(NOT_REPEATED.intersection(kinds))
    assert failed == (least if times == 1 else len(kinds))
    assert log.results.completed_samples == LIMIT - failed
    (run,) = read_records(log.location).runs.to_dict("records")
    assert (run["errors"], run["n"]) == (failed, LIMIT - failed)


def test_no_benchmark_is_ended(server, counting, tmp_path):
    data = {
        "msu": write_small(tmp_path / "msu"),
        "lilybench": lilybench_dataset.write_small(tmp_path / "lilybench"),
    }
    with counting("malformed answers × tasks") as tally:
        for name in ("ziqi", "msu", "muse", "musictheorybench", "lilybench"):
            for task_name in [*benchmarks.load(name).tasks][:2]:
                with tally.case(f"{name} {task_name}"):
                    options = {"dataset": data[name]} if name in data else {}
                    options |= {"content": "title"} if name == "msu" else {}
                    task = getattr(MODULES[name], task_name)(**options)
                    server.left = {"": ("no choices", 1)}
                    (log,) = inspect_eval(
                        task,
                        model=get_model("openai-api/odd/m", memoize=False),
                        log_dir=str(tmp_path / "logs"),
                        limit=1,
                        display="none",
                    )
                    assert (log.status, server.left[""]) == ("success", ("no choices", 0)), (
                        log.error
                    )
