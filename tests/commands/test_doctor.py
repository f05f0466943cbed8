"""`music-evals doctor`: each check in both of its outcomes, and the table."""

import json
import re
import threading
import tomllib
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from music_evals.commands import doctor
from music_evals.commands.doctor import Check
from music_evals.notation import extras
from tests.commands.cli import lines_of_table, run

CHECKS = {check.feature: check for check in doctor.CHECKS}


class _Server(BaseHTTPRequestHandler):
    def do_GET(self):
        bodies = {
            "/": b"hub",
            "/v1/models": json.dumps({"data": [{"id": "tiny"}]}).encode(),
            "/odd/models": b"[]",
        }
        body = bodies.get(self.path)
        self.send_response(200 if body else 503)
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with HTTPServer(("127.0.0.1", 0), _Server) as http:
        threading.Thread(
            target=http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        ).start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()


def program(folder, name, script):
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_servers_are_asked(server, monkeypatch):
    for name in (
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", server + "/")
    assert CHECKS["Hub"].run() == f"{server}/"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(Exception, match="offline"):
        CHECKS["Hub"].run()
    monkeypatch.setenv("VLLM_BASE_URL", f"{server}/v1/")
    assert CHECKS["vLLM server"].run() == f"{server}/v1: tiny"
    for url in (f"{server}/odd", f"{server}/nothing", "http://127.0.0.1:9", "no url at all"):
        monkeypatch.setenv("VLLM_BASE_URL", url)
        with pytest.raises(Exception):  # noqa: B017, PT011
            CHECKS["vLLM server"].run()


def test_programs_are_really_run(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "find_spec", lambda _name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    for feature in ("LilyPond", "sandbox"):
        with pytest.raises(OSError, match="No such file"):
            CHECKS[feature].run()
    program(tmp_path, "lilypond", "echo GNU LilyPond 2.24.4; echo more")
    assert CHECKS["LilyPond"].run() == "GNU LilyPond 2.24.4"
    program(tmp_path, "lilypond", "echo libguile is missing >&2; exit 127")
    with pytest.raises(RuntimeError, match="libguile is missing"):
        CHECKS["LilyPond"].run()
    program(tmp_path, "unshare", "exit 0")
    program(tmp_path, "bwrap", "echo no permission >&2; exit 1")
    assert CHECKS["sandbox"].run() == "unshare; not bubblewrap: no permission"
    program(tmp_path, "unshare", "exit 1")
    with pytest.raises(RuntimeError, match="unshare: exit status 1"):
        CHECKS["sandbox"].run()


def test_features_of_this_package_work_here(monkeypatch, tmp_path):
    monkeypatch.setenv("MUSIC_EVALS_CACHE", str(tmp_path))
    assert "inspect-ai " in CHECKS["packages"].run()
    assert CHECKS["cache"].run().startswith(f"{tmp_path}: datasets 0.0 MB")
    assert CHECKS["sound"].run().endswith(".sf2")
    monkeypatch.setattr(
        "music_evals.notation.audio.rendering.render_wav", lambda *_, **__: bytes(1000)
    )
    with pytest.raises(RuntimeError, match="renders silence"):
        CHECKS["sound"].run()


def test_the_table_names_what_to_install(monkeypatch):
    def absent():
        raise RuntimeError("[not here]")

    monkeypatch.setitem(extras.EXTRAS, "gone", ("no-such-package", "click"))
    assert extras.missing_packages("gone") == ["no-such-package"]
    gone = Check("gone", lambda: doctor._packages("no-such-package"), "pip install -e '.[gone]'")
    for required, code in ((False, 0), (True, 1)):
        checks = (
            Check("here", lambda: "[1.0]", "nothing"),
            gone,
            Check("odd", absent, "[do this]", required),
        )
        monkeypatch.setattr(doctor, "CHECKS", checks)
        status, output = run("doctor", columns=160)
        assert (status, "the suite does not work" in output) == (code, required)
        assert [line[1:5] for line in lines_of_table(output)] == [
            ["here", "yes", "[1.0]", ""],
            ["gone", "no", "no-such-package is not installed", "pip install -e '.[gone]'"],
            ["odd", "no", "[not here]", "[do this]"],
        ]


def test_extras_are_those_of_the_package():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    for extra, packages in extras.EXTRAS.items():
        declared = project["optional-dependencies"][extra]
        names = [re.split(r"[^\w-]", requirement)[0] for requirement in declared]
        assert tuple(name for name in names if name != "music-evals") == packages
