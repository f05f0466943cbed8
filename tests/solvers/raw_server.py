"""A server on this machine that sends to each request whatever a test says, also what is no HTTP."""

import json
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any


class Request(BaseHTTPRequestHandler):
    """A request, with its ``body``; ``closing`` is set when the server stops."""

    protocol_version = "HTTP/1.1"
    body: dict[str, Any]
    closing: Event

    def write(self, content):
        self.wfile.write(content)
        self.wfile.flush()

    def reply(self, content, status=200, headers=()):
        """Send JSON, or bytes as they are."""
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in (("Content-Type", "application/json"), *headers):
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.write(data)

    def repeat(self, content):
        """Send bytes again and again, as long as somebody listens."""
        while not self.closing.wait(0.05):
            self.write(content)

    def log_message(self, *_): ...


def completion(content="A", **fields):
    """A reply of OpenAI's protocol."""
    message = {"role": "assistant", "content": content}
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10},
        **fields,
    }


@contextmanager
def raw_server(answer):
    """Run a server, and yield its address."""
    stop = Event()

    class Handler(Request):
        closing = stop

        def do_POST(self):
            self.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with suppress(OSError):
                answer(self)

        def do_GET(self):
            self.body = {}
            answer(self)

    class Server(ThreadingHTTPServer):
        request_queue_size = 128

    with Server(("127.0.0.1", 0), Handler) as http:
        Thread(target=http.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{http.server_port}/v1"
        stop.set()
        http.shutdown()
