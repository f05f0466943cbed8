"""LilyPond code that attacks its machine: nothing escapes, all texts end, and the other texts are
unharmed.

LilyPond's Scheme can read and write files, start programs and call any function of the C library,
so also make any system call. An attack writes its findings to ``found.txt``.
"""

import os
import re
import socket
import subprocess
import sys
import tempfile
import tomllib
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template

import pytest

from music_evals.notation.lilypond.compiler import Compiled, compile_text, compile_texts
from music_evals.notation.lilypond.converters import (
    ConversionError,
    midi_to_lilypond,
    musicxml_to_lilypond,
)
from music_evals.notation.lilypond.sandbox import Limits, available_confinement

lilypond = pytest.importorskip(
    "lilypond", reason="LilyPond is not installed: pip install -e '.[lilypond]'"
)

LIMITS = Limits(
    99,
    memory=450 << 20,
    file_bytes=4 << 20,
    scratch_bytes=8 << 20,
    scratch_files=200,
    output_bytes=1 << 17,
)
FEW = ("memory", "many files", "kills all", "crashes", "locks all", "nesting", "exits")
"""An attack of each kind: on memory, files, processes, the parser, and ends of LilyPond's own."""
SECRET = "a secret of the user"

ATTACKS = tomllib.loads(Path(__file__).with_name("hostile.toml").read_text(encoding="utf-8"))
STOPPED_BY_TIME, BOUNDED = ATTACKS["stopped_by_time"], ATTACKS["bounded"]
BOUNDED |= {"zeros": "\0" * 10_000, "no character": "\ud800 { c }"}
BOUNDED |= {"nesting": "{" * 100_000, "nested lists": "#" + "(" * 100_000}

GOOD = r'\version "2.24.3" \score { { c4 } \midi { } }'
SPY, SCORE = ATTACKS["scheme"]["tools"], r"\score { { c4 } \midi { } }"


@dataclass(frozen=True)
class Target:
    """A folder with a secret, and a server."""

    folder: Path
    secret: Path
    server: socket.socket

    def was_called(self):
        """Whether a connection waits; the kernel takes it before anybody accepts it."""
        with suppress(BlockingIOError):
            self.server.accept()[0].close()
            return True
        return False


@pytest.fixture
def target(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET, encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield Target(tmp_path, secret, server)


def findings(compiled):
    """The findings of an attack, by the names of its tries."""
    return dict(line.split(": ", 1) for line in compiled.files["found.txt"].decode().splitlines())


def spying(target):
    """An attack that only looks, so that it can also be tried unconfined."""
    port = target.server.getsockname()[1]
    address = f"#vu8(2 0 {port >> 8} {port & 255} 127 0 0 1 0 0 0 0 0 0 0 0)"
    names = {
        "SECRET": target.secret,
        "FOLDER": target.folder,
        "HOME": Path.home(),
        "ADDRESS": address,
    }
    return SPY + Template(ATTACKS["scheme"]["looks"]).substitute(names) + SCORE


def test_what_an_unconfined_text_can_do(target):
    """The attacks are real: without a sandbox, they find what the next test looks for in vain."""
    (target.folder / "score.ly").write_text(spying(target), encoding="utf-8")
    environment = {**os.environ, "SECRET_OF_THE_USER": SECRET}
    command = [lilypond.executable(), "--silent", "-dno-print-pages", "score.ly"]
    subprocess.run(command, cwd=target.folder, env=environment, check=True)
    results = findings(
        Compiled(0, None, "", (), {"found.txt": (target.folder / "found.txt").read_bytes()})
    )
    assert SECRET in results["secret"]
    assert SECRET in results["variable"]
    assert "secret.txt" in results["neighbours"]
    assert ("fork" in results, results["connect"], target.was_called()) == (True, "0", True)
    assert (target.folder / "shell.txt").read_text() == "shell\n"


def test_nothing_is_seen(target, confinement, monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_USER", SECRET)
    text = spying(target) + '#(try "root" (lambda () (scandir "/")))'
    compiled = compile_text(text, collect=["*.txt"], limits=LIMITS)
    results = findings(compiled)
    assert {"secret failed", "users failed", "fork failed"} <= set(results)
    assert not {"secret", "users", "fork"} & set(results)
    for name in ("neighbours", "processes", "variable"):
        assert results[name] == "#f", results
    assert results["connect"] == "-1"
    assert not target.was_called()
    assert "shell.txt" not in compiled.files
    # Of the home folder nothing but the way to LilyPond, or to the interpreter, which may be
    # installed there.
    assert set(re.findall(r'"([^"]*)"', results["home"])) <= {
        ".",
        "..",
        ".pyenv",
        ".local",
        ".venv",
        *_ways(),
    }
    system = {"lib", "lib32", "lib64", "libx32", "usr", "scratch", "launcher.py"}
    assert set(re.findall(r'"([^"]*)"', results["root"])) <= {".", "..", *system, *_ways()}
    assert compiled.succeeded
    assert len(compiled.midi) == 1


def _ways():
    """Name all folders on the ways to LilyPond and to the interpreter."""
    ways = [
        Path(lilypond.executable()).resolve(),
        Path(sys.executable).resolve(),
        Path(os.__file__).resolve(),
    ]
    return {part for way in ways for part in way.parts}


def test_nothing_is_written(target, confinement):
    folders = [target.folder, "/", "/usr/lib", "/dev/shm", tempfile.gettempdir()]
    folders.append(Path(lilypond.executable()).resolve().parents[1] / "share")
    places = [target.secret, *(Path(folder) / "new-of-lilypond.txt" for folder in folders)]
    tries = (
        f'#(try "{n}" (lambda () (call-with-output-file "{p}" newline)))'
        for n, p in enumerate(places)
    )
    removals = '#(try "remove" (lambda () (delete-file "/usr/lib/os-release")))'
    text = "\n".join([SPY, *tries, removals, SCORE])
    compiled = compile_text(text, collect=["*.txt"], limits=LIMITS)
    assert set(findings(compiled)) == {f"{n} failed" for n in range(len(places))} | {
        "remove failed"
    }
    assert target.secret.read_text(encoding="utf-8") == SECRET
    assert not [place for place in places if place != target.secret and place.exists()]


def test_system_calls_are_refused(confinement):
    calls = ATTACKS["calls"]
    column = ("x86_64", "aarch64").index(os.uname().machine)
    tries = [
        f'#(try "{name}" (lambda () (syscall {numbers[column]} {" ".join(map(str, arguments))})))'
        for name, (numbers, arguments, _) in calls.items()
    ]
    text = "\n".join([SPY, *tries, ATTACKS["scheme"]["privileges"], SCORE])
    compiled = compile_text(text, collect=["found.txt"], limits=LIMITS)
    results = findings(compiled)
    assert {name: results[name] for name in calls} == {
        name: f"(-1 {error})" for name, (_, _, error) in calls.items()
    }
    assert set(results) - set(calls) == {
        "uid failed",
        "device failed",
        "limit failed",
        "limit files failed",
    }
    assert compiled.succeeded


def test_own_code_does_not_run(confinement):
    mapped = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines()}
    library = next(path for path in mapped if Path(path).name.startswith("libm.so"))
    loader = next(path for path in mapped if Path(path).name.startswith("ld-linux"))
    attack = Template(ATTACKS["scheme"]["own_code"]).substitute(LIBRARY=library, LOADER=loader)
    compiled = compile_text(SPY + attack + SCORE, collect=["found.txt"], limits=LIMITS)
    results = findings(compiled)
    assert int(results["copied"]) == Path(loader).stat().st_size
    assert "library failed" in results, results
    assert "Permission denied" in results["loader failed"]
    assert compiled.succeeded


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_everything_ends(confinement, every):
    """All attacks in one batch, with good texts among them, that become what they would be alone.

    The attacks that meet the same limits in every sandbox are tried in the default one.
    """
    is_default = confinement == available_confinement()
    timed = dict(
        list(STOPPED_BY_TIME.items())[is_default::2]
    )  # some here, some in the other sandbox
    left_out = [] if is_default else ATTACKS["same_in_every_sandbox"]
    bounded = {name: text for name, text in BOUNDED.items() if name not in left_out}
    if not every:
        timed = dict(list(timed.items())[:2])
        bounded = {name: bounded[name] for name in FEW if name in bounded}
    texts = [GOOD, *bounded.values(), GOOD]
    first, *results, last = compile_texts(texts, limits=LIMITS, workers=6)
    assert len(first.midi) == 1
    assert first.midi == last.midi
    stopped = compile_texts(timed.values(), limits=replace(LIMITS, seconds=1), workers=6)
    for name, end in zip(timed, stopped, strict=True):
        waits = name.startswith(("sleeps", "waits", "includes"))
        assert end.stopped == ("slow" if waits else "time"), (name, end)
        assert end.is_measured, name
    ends = dict(zip(bounded, results, strict=True))
    for name, end in ends.items():
        assert sum(map(len, end.midi)) <= LIMITS.scratch_bytes, name
        assert len(end.messages) <= LIMITS.output_bytes + 100_000, name
        assert end.succeeded or end.problem, name
        assert "/scratch" not in end.messages, name
        for what, expected in ATTACKS["ends"].get(name, {}).items():
            assert getattr(end, what) == expected, (name, end)


def test_only_plain_files_come_back(target, confinement):
    attack = Template(ATTACKS["scheme"]["files"]).substitute(SECRET=target.secret)
    compiled = compile_text(SPY + attack, collect=["*"], limits=LIMITS)
    assert b"own" in compiled.midi
    assert set(compiled.midi) <= {b"own", b"\n"}
    assert set(compiled.files) == {"found.txt", "two\nlines.txt", "score.ly", "settings.ly"}
    assert target.secret.read_text(encoding="utf-8") == SECRET


def test_converters_are_confined(target, confinement):
    """What stands in an <alter> is evaluated by musicxml2ly, as Python."""

    def document(alteration):
        return Template(ATTACKS["musicxml"]).substitute(ALTERATION=alteration)

    with pytest.raises(ConversionError, match="No such file or directory"):
        musicxml_to_lilypond(document(f"open('{target.secret}')"))
    with pytest.raises(ConversionError, match="not permitted"):
        musicxml_to_lilypond(document("__import__('os').fork()"))
    write = f"open('{target.folder}/new.txt', 'w')"
    with pytest.raises(ConversionError):
        musicxml_to_lilypond(document(write))
    assert not (target.folder / "new.txt").exists()
    if confinement != available_confinement():
        return
    assert "cis'" in musicxml_to_lilypond(document("1"))
    loop = "[0 for _ in iter(int, 1)]"
    with pytest.raises(ConversionError, match="stopped after 1 s of CPU time"):
        musicxml_to_lilypond(document(loop), limits=Limits(seconds=1))
    with pytest.raises(ConversionError, match="midi2ly ended"):
        midi_to_lilypond(b"MThd" + b"\xff" * 1000)
