"""Inspect's variables, names of -T and -M, servers that fail, and the commands that come next."""

import os
import subprocess
import sys
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log

from music_evals.commands import output
from tests.commands.cli import run

ROOT = Path(__file__).parents[2]
TASK = "musictheorybench_knowledge"


def logs_in(folder):
    return [read_eval_log(info, header_only=True) for info in list_eval_logs(str(folder))]


@pytest.mark.parametrize("name", ["evals/muse.py@syncopation", "music_evals/muse"])
def test_a_name_that_no_task_takes_ends_a_run_of_inspect(name, tmp_path):
    command = [sys.executable, "-m", "inspect_ai", "eval", name, "--model", "baseline/chance"]
    command += ["-T", "shot=five", "--display", "none", "--log-dir", str(tmp_path)]
    # In the clone, `python -m` finds its egg-info first, which hides the entry point.
    folder = ROOT if name.startswith("evals/") else tmp_path
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode != 0
    assert "there is no parameter shot; there are: dataset" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert not list(tmp_path.glob("*.eval"))


def test_all_tasks_of_a_benchmark_have_a_name(tmp_path):
    command = [sys.executable, "-m", "inspect_ai", "eval", "music_evals/musictheorybench"]
    command += ["--model", "baseline/chance", "--limit", "1", "--display", "none"]
    command += ["--log-dir", str(tmp_path / "logs"), "-T", "answer=text"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    tasks = {log.eval.task_registry_name for log in logs_in(tmp_path / "logs")}
    assert tasks == {f"music_evals/musictheorybench_{task}" for task in ("knowledge", "reasoning")}


def test_an_argument_that_no_provider_takes_is_named(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    code, text = run("run", TASK, "--model", "openai/some", "-M", "foo=1")
    assert code == 2
    assert "openai/some cannot be made with foo: " in text


@contextmanager
def server_of_chats():
    """A server that knows no path but that of chat completions."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            body = b'{"detail": "Not Found"}'
            self.send_response(404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def test_a_server_that_knows_chats_alone_is_named_with_what_helps(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    asked = ("run", TASK, "--model", "openai/some", "--limit", "1", "--display", "none")
    with server_of_chats() as address:
        code, text = run(*asked, "--log-dir", tmp_path, "--model-base-url", address)
    assert code == 1
    assert f"{address} may serve chat completions alone: add -M responses_api=false" in text
    assert "Next:" not in text


def test_a_connection_that_fails_names_its_address_and_no_next_command(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    asked = ("run", TASK, "--model", "openai/some", "--limit", "1", "--display", "none")
    code, text = run(*asked, "--max-retries", "0", "--log-dir", tmp_path)
    assert code == 1
    assert "no connection to http://127.0.0.1:9/v1" in text
    assert "OPENAI_BASE_URL" in text
    assert "Next:" not in text


@pytest.mark.parametrize(
    ("script", "words", "expected"),
    [
        ("/env/bin/music-evals", ["python", "/env/bin/music-evals"], "/env/bin/music-evals"),
        ("/p/music_evals/__main__.py", ["py3", "-m", "music_evals", "run"], "py3 -m music_evals"),
        ("-c", ["python", "-c", "…"], "music-evals"),
    ],
)
def test_the_next_command_begins_as_this_one_did(script, words, expected, monkeypatch):
    monkeypatch.setattr(sys, "argv", [script])
    monkeypatch.setattr(sys, "orig_argv", words)
    assert output.program() == expected


def test_under_uvx_the_next_command_has_its_words(monkeypatch):
    """As `uv` starts it; `sh` stands in for it, as the parent of a process of its own."""
    asked = "import sys; from music_evals.commands.output import program; sys.argv = ['/x/bin/music-evals']; print(program())"
    script = f'"{sys.executable}" -c "$PROGRAM"; :'
    words = ["uv", "tool", "uvx", "--from", ".[hf]", "music-evals", "run"]
    environment = {**os.environ, "UV": "/bin/uv", "PROGRAM": asked}
    parent = f"import os; os.execv('/bin/sh', ['/x/uv', '-c', {script!r}, *{words[1:]!r}])"
    done = subprocess.run(
        [sys.executable, "-c", parent],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "uvx --from '.[hf]' music-evals", done.stderr


def test_the_module_is_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "music_evals", "--version"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    assert done.stdout.startswith("music-evals ")
