"""`music-evals doctor`: what of the suite works on this machine, and what to do about what does not.

Each check tries the thing itself: LilyPond is run, a note is rendered, a sandbox is entered, servers are asked.
All run at the same time, each within `LIMIT_SECONDS`.
"""

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Final, Literal, NamedTuple

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from music_evals import benchmarks

LIMIT_SECONDS: Final = 60.0
"""Longest that any check may take."""

EXTRAS: Final = {
    "hf": ("accelerate", "torch", "transformers"),
    "vllm": ("vllm",),
    "anthropic": ("anthropic",),
    "google": ("google-genai",),
}
"""Inspect's provider → the packages of the extra of the same name, without which it does not work."""

_NETWORK_SECONDS: Final = 5.0
_PACKAGES: Final = ("inspect-ai", "datasets", "huggingface_hub", "mido", "openai")
_DEFAULT_SERVER: Final = "http://127.0.0.1:8000/v1"

State = Literal["works", "absent", "broken"]
_STYLES: Final[dict[State, str]] = {"works": "green", "absent": "yellow", "broken": "red"}


class Finding(NamedTuple):
    """The outcome of a check; what is absent some uses do without."""

    state: State
    detail: str  # version, path or reason
    remedy: str = ""  # what to do about it; empty where it works


class Check(NamedTuple):
    """Something to be tried, and what does not work without it."""

    name: str
    needed_for: str
    run: Callable[[], Finding]
    required: bool = False  # whether the suite is of no use without it


def check_packages() -> Finding:
    """Say which versions of Python and of the main packages there are."""
    found = {"Python": sys.version.split()[0], **{name: _version(name) for name in _PACKAGES}}
    if absent := [name for name, known in found.items() if known is None]:
        return Finding("broken", f"not installed: {', '.join(absent)}", "install music-evals again with pip")
    return Finding("works", ", ".join(f"{name} {known}" for name, known in found.items()))


def check_benchmarks() -> Finding:
    """Say which benchmarks there are, with the number of their tasks."""
    found = [f"{name} ({len(benchmarks.load(name).tasks)} tasks)" for name in benchmarks.names()]
    return Finding("works", ", ".join(found))


def check_rendering() -> Finding:
    """Render a note with the default soundfont and listen whether it sounds."""
    import io

    import numpy as np
    import soundfile

    from music_evals.notation.audio.rendering import render_wav
    from music_evals.notation.audio.soundfont import default_soundfont
    from music_evals.notation.midi.files import write_midi
    from music_evals.notation.midi.performance import TICKS_PER_BEAT, Note, Performance

    remedy = "install the package that carries the soundfont again: pip install --force-reinstall pretty_midi"
    try:
        soundfont = default_soundfont()
        note = Performance((Note(0, 60, TICKS_PER_BEAT, 80),), tempo=120, meter=(4, 4), key=None)
        samples, _ = soundfile.read(io.BytesIO(render_wav(write_midi(note), soundfont=soundfont)))
    except Exception as error:  # whatever it is, it is the finding
        return Finding("broken", f"{type(error).__name__}: {error}", remedy)
    if not np.any(np.abs(samples) > 0.001):
        return Finding("broken", f"{soundfont} renders silence", remedy)
    return Finding("works", str(soundfont))


def check_lilypond() -> Finding:
    """Run LilyPond, from its Python package or from the path."""
    remedy = "pip install lilypond, or install LilyPond 2.24 or later and put it on the PATH"
    packaged = find_spec("lilypond") is not None
    if program := import_module("lilypond").executable() if packaged else shutil.which("lilypond"):
        return _run([str(program), "--version"], remedy)
    return Finding("absent", "no lilypond package and no program on the PATH", remedy)


def check_sandbox() -> Finding:
    """Enter a sandbox without network, with bubblewrap or else with `unshare`."""
    remedy = "install bubblewrap (apt install bubblewrap), and allow user namespaces to unprivileged users"
    commands = {
        "bubblewrap": ["bwrap", "--ro-bind", "/", "/", "--unshare-all", "--die-with-parent", "true"],
        "unshare": ["unshare", "--map-root-user", "--net", "true"],
    }
    reasons = []
    for name, command in commands.items():
        if shutil.which(command[0]) is None:
            reasons.append(f"{name} is not installed")
            continue
        finding = _run(command, remedy)
        if finding.state == "works":
            return Finding("works", name)
        reasons.append(f"{name}: {finding.detail}")
    return Finding("absent" if shutil.which("bwrap") is None else "broken", "; ".join(reasons), remedy)


def check_cache() -> Finding:
    """Say where datasets and results are kept, how large they are, and whether more can be kept."""
    from music_evals.notation.cache import FOLDERS, LIMIT, cache_folder, entries, limit_bytes, write_atomically

    root = cache_folder()
    sizes = [f"{name} {sum(size for _, size, _ in entries(root / name)) / 1e6:,.1f} MB" for name in FOLDERS]
    found = f"{root}: {', '.join(sizes)}"
    try:
        limit = limit_bytes()
        write_atomically(root / ".doctor", b"")
        (root / ".doctor").unlink()
    except (OSError, ValueError) as error:
        return Finding("broken", f"{found}; {error}", f"name another folder in MUSIC_EVALS_CACHE, or correct {LIMIT}")
    return Finding("works", f"{found}; of the last two at most {limit / 1e9:g} GB each ({LIMIT})")


def check_torch() -> Finding:
    """Import torch in a process of its own and see whether it finds a GPU."""
    if find_spec("torch") is None:
        return Finding("absent", "not installed", "pip install torch, or use models behind an API or a vLLM server")
    code = (
        "import torch; cuda = torch.cuda.is_available(); "
        "print(torch.__version__, 'on', torch.cuda.get_device_name() if cuda else 'the CPU')"
    )
    return _run([sys.executable, "-c", code], "pip install --force-reinstall torch")


def check_hub() -> Finding:
    """Ask the Hugging Face Hub, or the mirror in ``HF_ENDPOINT``, unless ``HF_HUB_OFFLINE`` is set."""
    from huggingface_hub import constants

    if constants.is_offline_mode():
        return Finding("absent", "HF_HUB_OFFLINE is set", "unset HF_HUB_OFFLINE to load or publish datasets")
    remedy = "check the network, HTTPS_PROXY and HF_ENDPOINT; generated datasets and folders work without the Hub"
    return _ask(constants.ENDPOINT, remedy)


def check_providers() -> Finding:
    """Say which of Inspect's providers can be used, of those that need an extra of this package."""
    missing = {name: missing_packages(name) for name in EXTRAS}
    absent = [f"{name}/ needs {', '.join(packages)}" for name, packages in missing.items() if packages]
    extras = ",".join(name for name, packages in missing.items() if packages)
    installed = ", ".join(f"{name}/" for name, packages in missing.items() if not packages)
    found = "; ".join([f"{installed} can be used"] * bool(installed) + absent)
    if not absent:
        return Finding("works", found)
    return Finding("absent", found, f"pip install 'music-evals[{extras}]', or those of them that you use")


def missing_packages(provider: str) -> list[str]:
    """Return the packages that a provider of models needs and that are not installed."""
    return [name for name in EXTRAS.get(provider, ()) if _version(name) is None]


def check_server() -> Finding:
    """List the models of the vLLM server at ``VLLM_BASE_URL``."""
    base = os.environ.get("VLLM_BASE_URL", _DEFAULT_SERVER).rstrip("/")
    remedy = "start one (vllm serve MODEL) and name it in VLLM_BASE_URL, or use a model behind another API"
    return _ask(f"{base}/models", remedy, key=os.environ.get("VLLM_API_KEY"))


CHECKS: Final = (
    Check("packages", "everything", check_packages, required=True),
    Check("benchmarks", "everything", check_benchmarks, required=True),
    Check("soundfont", "building stimuli", check_rendering, required=True),
    Check("LilyPond", "engraving and reading scores", check_lilypond),
    Check("sandbox", "running code that a model wrote", check_sandbox),
    Check("cache", "default datasets, and speed", check_cache),
    Check("torch", "models on this machine", check_torch),
    Check("providers", "models by Inspect's providers", check_providers),
    Check("Hugging Face Hub", "datasets and models from the Hub", check_hub),
    Check("vLLM server", "open models through vLLM", check_server),
)


def examine(checks: Sequence[Check] = CHECKS, *, limit: float = LIMIT_SECONDS) -> list[Finding]:
    """Run checks at the same time, each for at most so many seconds; one that fails or does not end is broken.

    >>> examine([Check("never", "nothing", threading.Event().wait)], limit=0.01)[0].detail
    'no answer within 0.01 s'
    """
    findings = [Finding("broken", f"no answer within {limit:g} s", "try again") for _ in checks]

    def run(index: int, check: Check) -> None:
        try:
            findings[index] = check.run()
        except Exception as error:  # a doctor must not die of the disease
            findings[index] = Finding("broken", f"{type(error).__name__}: {error}", "report this as a bug")

    # Daemons: a check that hangs (a name server that does not answer) must not keep the command from ending.
    threads = [threading.Thread(target=run, args=item, daemon=True) for item in enumerate(checks)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + limit
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return list(findings)


def doctor() -> None:
    """Say what works on this machine, and what to do about what does not."""
    console = Console()
    with console.status("examining this machine"):
        findings = examine(CHECKS)
    table = Table("", "state", "found", "needed for", "what to do")
    for column in table.columns:
        column.overflow = "fold"  # a path cut short is of no use
    for check, finding in zip(CHECKS, findings, strict=True):
        state = f"[{_STYLES[finding.state]}]{finding.state}[/]"
        # Details and paths may hold square brackets, which are no markup.
        table.add_row(check.name, state, *map(Text, (finding.detail, check.needed_for, finding.remedy)))
    console.print(table)
    pairs = zip(CHECKS, findings, strict=True)
    if failed := [check.name for check, found in pairs if check.required and found.state != "works"]:
        console.print(f"Without {' and '.join(failed)} the suite does not work.", style="red")
        raise typer.Exit(1)


def _version(distribution: str) -> str | None:
    """The version that is installed, if any."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _run(command: Sequence[str], remedy: str) -> Finding:
    """Run a program; its first line of output is the detail."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LIMIT_SECONDS / 2)
    except subprocess.TimeoutExpired as error:
        return Finding("broken", f"{command[0]} did not end within {error.timeout:g} s", remedy)
    except OSError as error:
        return Finding("broken", str(error), remedy)
    lines = (done.stdout or done.stderr).strip().splitlines()
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or lines
        return Finding("broken", lines[-1] if lines else f"exit status {done.returncode}", remedy)
    return Finding("works", lines[0] if lines else command[0])


def _ask(url: str, remedy: str, *, key: str | None = None) -> Finding:
    """Ask a server; where it lists models, their names are the detail."""
    import httpx

    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        response = httpx.get(url, headers=headers, timeout=_NETWORK_SECONDS, follow_redirects=True)
        response.raise_for_status()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        return Finding("absent", f"{url}: {reason}", remedy)
    try:
        models = [model["id"] for model in response.json()["data"]] if url.endswith("/models") else None
    except (ValueError, LookupError, TypeError):
        return Finding("broken", f"{url} answers, but not with a list of models", remedy)
    return Finding("works", url if models is None else f"{url}: {', '.join(models) or 'no models'}")
