"""A process with the unmodified Hub client in it, pointed at a test's server by HF_ENDPOINT; it runs what it is told.

The client reads HF_ENDPOINT when it is imported, so it needs a process of its own; one serves many steps, because
starting it takes seconds. The only thing in it that is changed is the clock: nothing waits between two attempts.
"""

import contextlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Outcome:
    """How a command ended: its status, what it wrote, and what the client logged or a traceback would show."""

    code: int
    text: str
    log: str


class HubClient:
    """The process, started at once; use it as a context manager."""

    def __init__(self, endpoint: str, home: Path) -> None:
        self.env = hub_environment(endpoint, home)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.hub_client"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self.env,
            cwd=ROOT,
            text=True,
        )

    def __enter__(self) -> "HubClient":
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=20)

    def run(self, *arguments: str | Path, token: str | None) -> Outcome:
        """Run ``music-evals``."""
        answer = self._ask({"arguments": [str(one) for one in arguments], "token": token})
        return Outcome(answer["code"], answer["text"], answer["log"])

    def call(self, source: str, *, token: str | None = None) -> Any:
        """Run Python; what it leaves as ``result`` comes back, an exception as the text of its traceback."""
        return self._ask({"source": source, "token": token})["result"]

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the client's process has ended"
        answer: dict[str, Any] = json.loads(line)
        return answer


def hub_environment(endpoint: str, home: Path) -> dict[str, str]:
    """Environment variables of a client: another Hub, an empty home, files uploaded over plain HTTP."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))}
    return {
        **kept,
        "HF_ENDPOINT": endpoint,
        "HF_HOME": str(home),
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "COLUMNS": "200",
        "INSPECT_CACHE_DIR": str(home / "inspect"),
    }


def _serve() -> None:
    import io
    import time
    import traceback

    from typer.testing import CliRunner

    answers = os.fdopen(os.dup(1), "w")
    time.sleep = lambda _: None
    # The client's logger keeps the stream that it finds at its import.
    sys.stderr = log = io.StringIO()
    import huggingface_hub.utils.logging

    huggingface_hub.utils.logging.get_logger()

    def run(arguments: list[str]) -> dict[str, Any]:
        from music_evals.commands.main import app

        log.seek(0)
        log.truncate()
        result = CliRunner().invoke(app, arguments)
        trace = "" if result.exception is None else "".join(traceback.format_exception(result.exception))
        return {"code": result.exit_code, "text": result.output, "log": log.getvalue() + trace}

    def call(source: str) -> dict[str, Any]:
        names: dict[str, Any] = {}
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(source, names)
        except Exception:
            return {"result": traceback.format_exc()}
        return {"result": names.get("result")}

    for line in sys.stdin:
        question = json.loads(line)
        if question["token"] is None:
            os.environ.pop("HF_TOKEN", None)
        else:
            os.environ["HF_TOKEN"] = question["token"]
        answer = run(question["arguments"]) if "arguments" in question else call(question["source"])
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    _serve()
