"""A chat server that answers every request with one text, streamed, and writes down what it was
asked.
"""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def serve(reply):
    """Yield the server's address, and the bodies of its requests, for the time of the block."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            facts = {
                "id": "1",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": "scripted",
            }
            ends = ({"role": "assistant", "content": reply}, None), ({}, "stop")
            chunks = [
                {**facts, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
                for delta, reason in ends
            ]
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            chunks.append({**facts, "choices": [], "usage": usage})
            lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks] + ["data: [DONE]\n\n"]
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.wfile.write("".join(lines).encode())

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        server.server_close()
