"""Try mutants on a collected suite: `-p tests.mutation.plugin --mutants FILE --kills FOLDER`."""

import ast
import gc
import json
import os
import shutil
import signal
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from types import CodeType, FunctionType

import pytest

from tests.mutation.mutate import mutated

SECONDS = 120  # of a mutant
KILLERS = 4


def pytest_addoption(parser):
    parser.addoption("--mutants", required=True)
    parser.addoption("--kills", required=True)
    parser.addoption("--share", default="0/1", help="which of how many processes this one is")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session):
    out = Path(session.config.option.kills)
    out.mkdir(exist_ok=True)
    items = {item.nodeid: item for item in session.items}
    number, processes = map(int, session.config.option.share.split("/"))
    mutants = json.loads(Path(session.config.option.mutants).read_text("utf-8"))
    for index in range(number, len(mutants), processes):
        report = out / f"{index:04}.jsonl"
        if not report.exists():
            _try_mutant(session, mutants[index], items, report)
    return True


def _try_mutant(session, mutant, items, report):
    tests = [items[name] for name in mutant["tests"] if name in items]
    path = Path(mutant["path"])
    source = path.read_text("utf-8")
    tree = mutated(source, mutant["place"])[0]
    report.write_text(json.dumps({name: mutant[name] for name in ("path", "line", "kind")}) + "\n")
    path.write_text(ast.unparse(tree), "utf-8")
    try:
        child = os.fork()
        if not child:
            _run_and_exit(session, tests, path.resolve(), tree, report)
        _wait(child)
    finally:
        path.write_text(source, "utf-8")


def _wait(child):
    end = time.monotonic() + SECONDS
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return
        time.sleep(0.02)


def _run_and_exit(session, tests, path, tree, report):
    try:
        os.setsid()
        config = session.config
        base = Path(tempfile.mkdtemp())
        config._tmp_path_factory._basetemp = base
        config.pluginmanager.unregister(name="terminalreporter")
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        failed = set()
        config.pluginmanager.register(_Failures(failed))
        put_in_place(str(path), tree)
        with report.open("a") as lines:
            for test, after in pairwise([*tests, None]):
                print(json.dumps({"began": test.nodeid}), file=lines, flush=True)
                session.shouldstop = session.shouldfail = False
                config.hook.pytest_runtest_protocol(item=test, nextitem=after)
                outcome = {"ended": test.nodeid, "failed": test.nodeid in failed}
                print(json.dumps(outcome), file=lines, flush=True)
                if len({name.partition("[")[0] for name in failed}) >= KILLERS:
                    break
        shutil.rmtree(base, ignore_errors=True)
    finally:
        os._exit(0)


class _Failures:
    def __init__(self, failed):
        self.failed = failed

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed.add(report.nodeid)


def put_in_place(path, tree):
    """Give the functions of a file that are in memory the code that a changed tree has."""
    codes = {
        (code.co_qualname, code.co_firstlineno): code
        for code in _codes(compile(tree, path, "exec"))
    }
    for function in [one for one in gc.get_objects() if isinstance(one, FunctionType)]:
        code = function.__code__
        changed = codes.get((code.co_qualname, code.co_firstlineno))
        if code.co_filename == path and changed and changed.co_freevars == code.co_freevars:
            function.__code__ = changed


def _codes(code):
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield part
            yield from _codes(part)
