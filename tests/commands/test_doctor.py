"""`music-evals doctor`: each check in both of its outcomes, and the table."""

import json
import re
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from music_evals.commands import doctor
from music_evals.commands.doctor import Check, Finding, examine
from tests.commands.cli import run

ROOT = Path(__file__).parents[2]


class _Server(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        bodies = {"/": b"hub", "/v1/models": json.dumps({"data": [{"id": "tiny"}]}).encode(), "/odd/models": b"[]"}
        body = bodies.get(self.path)
        self.send_response(200 if body else 503)
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Server) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """No check of these tests leaves this machine."""
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setenv("VLLM_BASE_URL", "http://127.0.0.1:9/v1")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def program(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_server_lists_its_models(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_BASE_URL", f"{server}/v1/")
    assert doctor.check_server() == Finding("works", f"{server}/v1/models: tiny")
    monkeypatch.setenv("VLLM_BASE_URL", f"{server}/odd")
    assert doctor.check_server().state == "broken"
    for absent in (f"{server}/nothing", "http://127.0.0.1:9", "no url at all"):
        monkeypatch.setenv("VLLM_BASE_URL", absent)
        found = doctor.check_server()
        assert found.state == "absent"
        assert "VLLM_BASE_URL" in found.remedy


def test_hub(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctor.check_hub().state == "absent"
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", server + "/")
    assert doctor.check_hub().state == "works"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert doctor.check_hub().detail == "HF_HUB_OFFLINE is set"


def test_lilypond_is_really_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "find_spec", lambda _name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = doctor.check_lilypond()
    assert (found.state, "pip install lilypond" in found.remedy) == ("absent", True)
    program(tmp_path, "lilypond", "echo GNU LilyPond 2.24.4; echo more")
    assert doctor.check_lilypond() == Finding("works", "GNU LilyPond 2.24.4")
    program(tmp_path, "lilypond", "echo libguile is missing >&2; exit 127")
    assert doctor.check_lilypond()[:2] == ("broken", "libguile is missing")


def test_sandbox_is_really_entered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert doctor.check_sandbox().detail == "bubblewrap is not installed; unshare is not installed"
    program(tmp_path, "unshare", "exit 0")
    assert doctor.check_sandbox() == Finding("works", "unshare")
    program(tmp_path, "bwrap", "echo no permission >&2; exit 1")
    assert doctor.check_sandbox() == Finding("works", "unshare")
    program(tmp_path, "unshare", "exit 1")
    assert doctor.check_sandbox()[:2] == ("broken", "bubblewrap: no permission; unshare: exit status 1")


def test_soundfont_must_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctor.check_rendering().state == "works"

    def gone() -> Path:
        raise FileNotFoundError("no soundfont anywhere")

    monkeypatch.setattr("music_evals.notation.audio.soundfont.default_soundfont", gone)
    found = doctor.check_rendering()
    assert (found.state, "no soundfont anywhere" in found.detail) == ("broken", True)


def test_check_that_fails_or_hangs_is_a_finding() -> None:
    def failing() -> Finding:
        raise RuntimeError("odd")

    checks = [Check("a", "", failing), Check("b", "", threading.Event().wait)]
    told = [found[:2] for found in examine(checks, limit=0.2)]
    assert told == [("broken", "RuntimeError: odd"), ("broken", "no answer within 0.2 s")]


def test_table_and_exit_status(monkeypatch: pytest.MonkeyPatch) -> None:
    def of(state: doctor.State) -> Finding:
        return Finding(state, "[found]", "" if state == "works" else "[do this]")

    def with_findings(required: doctor.State, optional: doctor.State) -> tuple[int, str]:
        needed = Check("rendering", "all", lambda: of(required), required=True)
        monkeypatch.setattr(doctor, "CHECKS", (needed, Check("extras", "some", lambda: of(optional))))
        return run("doctor", columns=160)

    code, output = with_findings("works", "absent")
    assert (code, "[found]" in output, "[do this]" in output) == (0, True, True)
    code, output = with_findings("broken", "works")
    assert (code, "Without rendering the suite does not work." in output) == (1, True)


def test_doctor_on_this_machine() -> None:
    code, output = run("doctor")
    assert code == 0, output
    assert not [check.name for check in doctor.CHECKS if check.name not in output]


def test_providers_name_the_extra_that_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "EXTRAS", {"here": ("click",), "gone": ("no-such-package", "click")})
    found = doctor.check_providers()
    assert found[:2] == ("absent", "here/ can be used; gone/ needs no-such-package")
    assert found.remedy.startswith("pip install 'music-evals[gone]'")


def test_extras_of_providers_are_those_of_the_package() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for provider, packages in doctor.EXTRAS.items():
        assert tuple(re.split(r"[^\w-]", one)[0] for one in extras[provider]) == packages
