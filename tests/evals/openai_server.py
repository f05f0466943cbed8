"""A server of OpenAI's protocol on this machine: it keeps the requests, and replies as a test
says.
"""

import json
from collections.abc import Callable
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import log
from threading import Thread
from typing import Any

Respond = Callable[[dict[str, Any]], str | dict[str, float]]
"""Takes a request; returns the text of the reply, or the probabilities of its first token."""


@contextmanager
def openai_server(respond):
    """Run a server; yield its address and the requests, each with its ``path``."""
    requests = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            request["path"] = self.path
            requests.append(request)
            body = json.dumps(_response(request, respond(request))).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_): ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}/v1", requests
        http.shutdown()


def _response(request, reply):
    is_chat = request["path"].endswith("/chat/completions")
    text = reply if isinstance(reply, str) else max(reply, key=lambda token: reply[token])
    choice = {
        "index": 0,
        "finish_reason": "stop" if isinstance(reply, str) else "length",
    }
    choice |= {"message": {"role": "assistant", "content": text}} if is_chat else {"text": text}
    if not isinstance(reply, str):
        top = {token: log(share) for token, share in reply.items()}
        entries = [
            {"token": token, "logprob": logarithm, "bytes": None}
            for token, logarithm in top.items()
        ]
        choice["logprobs"] = {"content": [{**entries[0], "top_logprobs": entries}]}
        if not is_chat:
            choice["logprobs"] = {
                "tokens": [text],
                "token_logprobs": [top[text]],
                "top_logprobs": [top],
            }
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }
