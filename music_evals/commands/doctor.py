"""`music-evals doctor`: which features work on this machine, and how to install what is missing.

Each check tries the feature itself: it runs LilyPond, renders a note, enters a sandbox, asks
servers.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import NamedTuple

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from music_evals.notation.extras import EXTRAS, install


class Check(NamedTuple):
    """A feature and how to try it."""

    feature: str
    # Returns what was found; an exception says why the feature does not work.
    run: Callable[[], str]
    remedy: str
    required: bool = False  # whether the suite is of no use without it


def _packages(*names: str) -> str:
    return ", ".join(f"{name} {version(name)}" for name in names)


def _soundfont() -> str:
    from music_evals.notation.audio.rendering import render_wav
    from music_evals.notation.audio.soundfont import default_soundfont
    from music_evals.notation.midi.files import write_midi
    from music_evals.notation.midi.performance import TICKS_PER_BEAT, Note, Performance

    note = Performance((Note(0, 60, TICKS_PER_BEAT, 80),), tempo=120, meter=(4, 4), key=None)
    samples = render_wav(write_midi(note), soundfont=default_soundfont())[44:]  # behind the header
    if not any(samples):
        raise RuntimeError(f"{default_soundfont()} renders silence")
    return str(default_soundfont())


def _lilypond() -> str:
    is_packaged = find_spec("lilypond") is not None
    program = import_module("lilypond").executable() if is_packaged else shutil.which("lilypond")
    return _output_of(str(program or "lilypond"), "--version")


def _sandbox() -> str:
    try:
        _output_of("bwrap", "--ro-bind", "/", "/", "--unshare-all", "--die-with-parent", "true")
    except (OSError, RuntimeError) as error:
        _output_of("unshare", "--map-root-user", "--net", "true")
        return f"unshare; not bubblewrap: {error}"
    return "bubblewrap"


def _cache() -> str:
    from music_evals.notation.cache import (
        FOLDERS,
        LIMIT,
        cache_folder,
        entries,
        limit_bytes,
        write_atomically,
    )

    root = cache_folder()
    write_atomically(root / ".doctor", b"")
    (root / ".doctor").unlink()
    sizes = [
        f"{name} {sum(size for _, size, _ in entries(root / name)) / 1e6:,.1f} MB"
        for name in FOLDERS
    ]
    return (
        f"{root}: {', '.join(sizes)}; results have at most {limit_bytes() / 1e9:g} GB per folder "
        f"({LIMIT})"
    )


def _hub() -> str:
    from huggingface_hub import constants, get_session

    get_session().get(constants.ENDPOINT, timeout=5, follow_redirects=True).raise_for_status()
    return constants.ENDPOINT


def _server() -> str:
    import httpx

    url = os.environ.get("VLLM_BASE_URL", "http://127.0.0.1:8000/v1").rstrip("/")
    headers = {"Authorization": f"Bearer {os.environ.get('VLLM_API_KEY', 'inspectai')}"}
    models = (
        httpx.get(f"{url}/models", headers=headers, timeout=5).raise_for_status().json()["data"]
    )
    return f"{url}: {', '.join(model['id'] for model in models)}"


def _output_of(*command: str) -> str:
    """Run a program and return its first line of output."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=30)
    if done.returncode != 0:
        raise RuntimeError(
            (done.stderr.strip() or f"{command[0]}: exit status {done.returncode}").splitlines()[-1]
        )
    return done.stdout.partition("\n")[0]


_GPU = "import torch; print(torch.cuda.get_device_name())"
_PACKAGES = ("inspect-ai", "datasets", "huggingface_hub", "mido", "openai")
CHECKS = (
    Check(
        "packages",
        partial(_packages, *_PACKAGES),
        "install music-evals again with pip",
        required=True,
    ),
    Check("sound", _soundfont, "pip install --force-reinstall pretty_midi", required=True),
    Check("LilyPond", _lilypond, install("lilypond")),
    Check(
        "sandbox",
        _sandbox,
        "apt install bubblewrap, and allow user namespaces to unprivileged users",
    ),
    Check(
        "cache", _cache, "name another folder in MUSIC_EVALS_CACHE, or correct MUSIC_EVALS_CACHE_GB"
    ),
    *(Check(f"extra {e}", partial(_packages, *EXTRAS[e]), install(e)) for e in EXTRAS),
    Check(
        "GPU",
        partial(_output_of, sys.executable, "-c", _GPU),
        "only for hf/: install torch for your GPU",
    ),
    Check(
        "Hub",
        _hub,
        "check the network, HTTPS_PROXY and HF_ENDPOINT; generated data works without the Hub",
    ),
    Check("vLLM server", _server, "start one (vllm serve MODEL) and name it in VLLM_BASE_URL"),
)


def doctor() -> None:
    """Say which features work on this machine, and how to install what is missing."""
    console = Console()
    with console.status("examining this machine"), ThreadPoolExecutor() as pool:
        outcomes = [*zip(CHECKS, pool.map(_try, CHECKS), strict=True)]
    table = Table("feature", "works", "found", "what to do")
    for column in table.columns:
        column.overflow = "fold"  # a path cut short is of no use
    for check, (works, detail) in outcomes:
        # Details may hold square brackets, which are no markup.
        state, remedy = ("[green]yes[/]", "") if works else ("[yellow]no[/]", check.remedy)
        table.add_row(check.feature, state, Text(detail), Text(remedy))
    console.print(table)
    if not all(works for check, (works, _) in outcomes if check.required):
        console.print("Without the packages and sound the suite does not work.", style="red")
        raise typer.Exit(1)


def _try(check: Check) -> tuple[bool, str]:
    try:
        return True, check.run()
    except PackageNotFoundError as error:
        return False, f"{error.name} is not installed"
    except Exception as error:  # any failure of a feature is a finding
        return False, str(error) or type(error).__name__
