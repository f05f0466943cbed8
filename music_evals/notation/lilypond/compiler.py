"""Compiles LilyPond texts: the MIDI that LilyPond makes of each, and its messages.

Every text runs in the sandbox, in a process of its own, on all cores. By default LilyPond makes
only MIDI (`settings/midi.ly`), which saves engraving, most of the work. MIDI and exit status stay
the same (byte by byte for 200 pieces of Mutopia). The one exception: an error of a text's own
Scheme in engraving goes unnoticed. ``settings=""`` engraves too.

The package ``lilypond`` contains LilyPond itself: ``pip install -e '.[lilypond]'``.
Functions raise `LilyPondError` if it is not installed, and `SandboxError` if it cannot be confined.
"""

import hashlib
import json
import re
import secrets
import signal
import threading
from base64 import b64decode, b64encode
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import astuple, dataclass, field
from functools import cache as cached
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from typing import Literal, TypedDict, Unpack

from music_evals.notation.cache import cache_folder, cache_get, cache_put
from music_evals.notation.extras import install
from music_evals.notation.lilypond.sandbox import launcher
from music_evals.notation.lilypond.sandbox.runner import Ended, Files, Limits, run_confined
from music_evals.notation.lilypond.sandbox.slots import cores
from music_evals.notation.lilypond.syntax.languages import LANGUAGES
from music_evals.notation.subprocesses import ELSEWHERE
from music_evals.notation.toml_files import read_resource

_TEXT = "score.ly"
_SETTINGS = "settings.ly"
_CACHE_FORMAT = 6
_MAX_ENTRY = 128 << 20  # bytes of an entry of the cache
_AHEAD = 16  # texts per worker that may be under way while the first of them is not done
_TOGETHER = 16  # texts for one LilyPond process
_SHORT = 12_500  # bytes of a text that is compiled together with others
_RANDOM = 8  # random bytes with which the name of each of them begins
_START = 2 * _RANDOM  # hexadecimal digits

# Code that could affect other texts in the same LilyPond process: names of files, and Scheme other
# than literals, names and three harmless calls.
_CALL = r"""\((?:ly:make-moment|set-global-staff-size|set-default-paper-size)[\w\s'"./+-]*\)"""
_PROGRAM = re.compile(
    rf"""(?a)#(?!'[\w(]|\#(?:[tf]|x[0-9A-F])|-?\.?[0-9]|"|[A-Za-z]|{_CALL})|\$"""
    rf"""|\\(?:include\b(?!\s*"(?:{"|".join(LANGUAGES)})\.ly")|bookOutput|sourcefile|maininput)"""
    r"|output-filename",
)
_FAILED = re.compile(r'fatal error: failed files: "(?P<names>[^\n"]*)"\n?\Z')

# The sandbox has no /proc, so LilyPond's garbage collector finds the stack in another way, and
# prints this.
_NOISE = "GC Warning: pthread_getattr_np or pthread_attr_getstack failed for main thread\n"
_OUT_OF_MEMORY = re.compile(
    r"(?i)out of memory|bad_alloc|cannot allocate|dynamic memory|too many heap sections"
)
_ERROR = re.compile(r"(?mi)^.{0,200}?\berror: .{0,300}")


# None if LilyPond ended by itself
Stopped = Literal["time", "slow", "output", "input", "broken", "clock"] | None


class TextError(Exception):
    """LilyPond or a converter failed on a text; `is_measured` is False if that is the machine's
    doing, not the text's.
    """

    def __init__(self, message: str, *, is_measured: bool = True) -> None:
        super().__init__(message)
        self.is_measured = is_measured


class LilyPondError(RuntimeError):
    """LilyPond is not installed."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """The result of compiling a text."""

    status: int | None  # exit status, or a negative signal; None if it was stopped
    # "time": it used up its CPU time. "slow": it took longer, and not because the machine is busy.
    # "output": its messages or files were too large. "input": the text was too large, and LilyPond
    # was not started. "clock": the clock ran out twice, through no fault of the text.
    stopped: Stopped
    messages: str  # warnings and errors, in which the text is called score.ly
    midi: tuple[bytes, ...] = ()  # in the order in which LilyPond wrote them
    files: Files = field(default_factory=dict)  # other files that match `Compiling.collect`
    limits: Limits = field(default_factory=Limits)

    @property
    def succeeded(self) -> bool:
        """Whether the exit status was 0. There may still be no MIDI, which depends on the text."""
        return self.status == 0

    @property
    def is_measured(self) -> bool:
        """Whether the result is the text's doing, and not the machine's."""
        return self.stopped != "clock"

    @property
    def problem(self) -> str | None:
        """Why it did not succeed, in one line; None if it did."""
        if self.succeeded:
            return None
        limits = self.limits
        if self.stopped:
            return stop_reason(self.stopped, limits)
        if _OUT_OF_MEMORY.search(self.messages[-4000:]):
            return f"needed more than {format_size(limits.memory)} of memory"
        if self.status == -signal.SIGXFSZ:
            return f"wrote a file of more than {format_size(limits.file_bytes)}"
        status = self.status or 0
        end = f"ended by signal {-status}" if status < 0 else f"exit status {self.status}"
        first = _ERROR.search(self.messages)
        return f"{end}: {first[0].strip() if first else 'no message'}"


def stop_reason(stopped: str, limits: Limits) -> str:
    """Return why a program was stopped within its limits, in one line; `stopped` is that of
    `Compiled` or `Ended`.
    """
    output, scratch = format_size(limits.output_bytes), format_size(limits.scratch_bytes)
    reasons = {
        "time": f"stopped after {limits.seconds} s of CPU time",
        "slow": f"takes longer than {limits.seconds} s",
        "broken": "ended the sandbox that it ran in",
        "clock": (
            f"did not end in {limits.patience * limits.seconds} s, of which LilyPond got too few"
        ),
        "output": f"stopped: more than {output} of messages or {scratch} of files",
        "input": f"not started: a text of more than {format_size(max_input_bytes(limits))}",
    }
    return reasons[stopped]


class Running(TypedDict, total=False):
    """How LilyPond runs."""

    limits: Limits | None  # what a text may use up; default `Limits()`
    workers: int | None  # number of texts at a time; default is one per core
    # A folder for results. A result is taken from there if the same LilyPond compiled the same text
    # with the same options. Results that were stopped for their time are not kept.
    cache: Path | None
    # Whether one LilyPond process may compile several texts, which saves most of the work on short
    # texts. Only texts without programs are compiled together, within the limits of one text; if
    # that fails, each is compiled alone.
    together: bool


class Compiling(Running, total=False):
    """How texts are compiled."""

    # LilyPond code that is read ahead of each text; the default makes only MIDI.
    settings: str | None
    collect: Sequence[str]  # patterns, such as *.svg, of the names of further files to return


def compile_texts(texts: Iterable[str], **options: Unpack[Compiling]) -> Iterator[Compiled]:
    """Compile LilyPond texts, several at a time, and yield the results in order.

    A text may include only LilyPond's own files. Texts are taken from the iterable as needed. If
    `ELSEWHERE` is set, the work is done there; LilyPond must be installed there too, and started
    work is finished even if the caller ends.
    """
    settings = options.get("settings")
    if settings is None:
        settings = read_resource(__package__, "settings/midi.ly")
    collect, limits = tuple(options.get("collect", ())), options.get("limits") or Limits()
    batch_size = _TOGETHER if options.get("together") else 1
    remaining = iter(texts)
    waiting: deque[Future[list[Compiled]]] = deque()
    stop = threading.Event()
    elsewhere = ELSEWHERE.get()
    # An event cannot be pickled.
    job = _Job(settings, collect, limits, options.get("cache"), None if elsewhere else stop)
    pools: AbstractContextManager[Executor]
    if elsewhere:
        pools, workers = nullcontext(elsewhere.executor), elsewhere.workers
    else:
        workers = options.get("workers") or cores()
        pools = ThreadPoolExecutor(workers, thread_name_prefix="lilypond")
    with pools as pool:
        try:
            while batch := list(islice(remaining, batch_size)):
                waiting.append(pool.submit(job.compile, batch))
                if len(waiting) * batch_size > _AHEAD * workers:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        finally:
            stop.set()
            for future in waiting:
                future.cancel()


def compile_text(text: str, **options: Unpack[Compiling]) -> Compiled:
    """Compile one LilyPond text, as `compile_texts` does."""
    (compiled,) = compile_texts([text], **options)
    return compiled


@dataclass(frozen=True, slots=True)
class _Job:
    settings: str
    collect: tuple[str, ...]
    limits: Limits
    cache: Path | None
    stop: threading.Event | None

    def compile(self, texts: Sequence[str]) -> list[Compiled]:
        """Compile texts, or take their results from the cache."""
        contents = [text.encode(errors="replace") for text in texts]
        results = [self.cached_result(content) for content in contents]
        new = {
            number: content for number, content in enumerate(contents) if results[number] is None
        }
        short = {
            number: content
            for number, content in new.items()
            if len(content) <= _SHORT and not _PROGRAM.search(texts[number])
        }
        shared = self.run_group(short) if len(short) > 1 else {}
        for number, content in new.items():
            compiled = shared.get(number) or self.run(content)
            self.store(content, compiled)
            results[number] = compiled
        return [compiled for compiled in results if compiled]

    def store(self, content: bytes, compiled: Compiled) -> None:
        """Put a result into the cache, unless the machine may have had a part in it."""
        is_timed = compiled.stopped in ("time", "slow", "clock")
        if self.cache and not is_timed and compiled.status != -signal.SIGKILL:
            files = {name: b64encode(file).decode() for name, file in compiled.files.items()}
            midi = [b64encode(file).decode() for file in compiled.midi]
            entry = [compiled.status, compiled.stopped, compiled.messages, midi, files]
            cache_put(self.cache, self.entry(content), json.dumps(entry).encode())

    def cached_result(self, content: bytes) -> Compiled | None:
        """The result without running LilyPond: from the cache, or because the text is too large."""
        if len(content) > max_input_bytes(self.limits):
            return Compiled(None, "input", "", limits=self.limits)
        entry = cache_get(self.cache, self.entry(content), _MAX_ENTRY) if self.cache else None
        if entry is None:
            return None
        status, stopped, messages, midi, files = json.loads(entry)
        files = {name: b64decode(file) for name, file in files.items()}
        return Compiled(status, stopped, messages, tuple(map(b64decode, midi)), files, self.limits)

    def run_group(self, contents: Mapping[int, bytes]) -> dict[int, Compiled]:
        """Compile texts by one LilyPond process; empty if the results cannot be told apart."""
        # LilyPond reads the settings ahead of each text, so that its messages on a text begin with
        # the mark.
        mark = secrets.token_hex(16)
        show = f'(format port "~a~a\\n" "{mark[:16]}" "{mark[16:]}") (force-output port)'
        settings = f"{self.settings}\n#(let ((port (current-error-port))) {show})\n"
        # No text knows the name of another one, so that none can write a file under it.
        texts = {f"{secrets.token_hex(_RANDOM)}{_TEXT}": text for text in contents.values()}
        patterns = [f"{'?' * _START}{pattern}" for pattern in self.collect]
        ended = self.lilypond(texts, settings, patterns)
        return dict(zip(contents, self.separate(ended, mark, texts.keys()), strict=False))

    def separate(self, ended: Ended, mark: str, names: Collection[str]) -> list[Compiled]:
        """The results of texts that ran together; empty if they cannot be told apart."""
        before, *messages = self.messages(ended).split(f"{mark}\n")
        if ended.status not in (0, 1) or before or len(messages) != len(names):
            return []
        failed = " ".join(_FAILED.findall(messages[-1])).split()
        messages[-1] = _FAILED.sub("", messages[-1])
        if bool(failed) != bool(ended.status) or not {*failed} <= {*names}:
            return []
        if not {path[:_START] for path in ended.files} <= {name[:_START] for name in names}:
            return []
        results = []
        for name, message in zip(names, messages, strict=True):
            status = int(name in failed)
            summary = f'fatal error: failed files: "{_TEXT}"\n' * status
            start, outputs = name[:_START], ended.files.items()
            own = {path[_START:]: file for path, file in outputs if path.startswith(start)}
            results.append(self.compiled(status, None, message.replace(name, _TEXT) + summary, own))
        return results

    def run(self, content: bytes) -> Compiled:
        ended = self.lilypond({_TEXT: content}, self.settings, self.collect)
        return self.compiled(ended.status, ended.stopped, self.messages(ended), ended.files)

    def lilypond(self, texts: Files, settings: str, collect: Sequence[str]) -> Ended:
        root = lilypond_folder()
        options = ("--loglevel=WARN", "-dno-print-pages", f"-dinclude-settings={_SETTINGS}")
        return run_confined(
            [str(root / "bin" / "lilypond"), *options, *texts],
            {**texts, _SETTINGS: settings.encode()},
            collect=("*.midi", "*.mid", *collect),
            readable=(root,),
            limits=self.limits,
            stop=self.stop,
        )

    def messages(self, ended: Ended) -> str:
        text = ended.stderr.replace(_NOISE, "").replace(f"{launcher.SCRATCH}/", "")
        return text.replace(f"{lilypond_folder()}/", "lilypond/")

    def compiled(
        self, status: int | None, stopped: Stopped, messages: str, outputs: Files
    ) -> Compiled:
        files = dict(outputs)
        midi = tuple(files.pop(name) for name in outputs if name.endswith((".midi", ".mid")))
        return Compiled(status, stopped, messages, midi, files, self.limits)

    def entry(self, content: bytes) -> str:
        # Without the time: only results that ended in time are kept.
        limits = astuple(self.limits)[2:]
        parts = [_CACHE_FORMAT, lilypond_version(), self.settings, self.collect, limits]
        key = json.dumps(parts).encode() + b"\0" + content
        return f"{hashlib.sha256(key).hexdigest()}.compiled"


def lilypond_cache() -> Path:
    """Return the folder of the cache of LilyPond's results."""
    return cache_folder() / "lilypond"


def lilypond_version() -> str:
    """Return LilyPond's version, such as ``2.24.3``; LilyPondError if it is not installed."""
    lilypond_folder()
    return version("lilypond")


@cached
def lilypond_folder() -> Path:
    """Return the folder of the installed LilyPond; LilyPondError if there is none."""
    try:
        version("lilypond")
        import lilypond
    except (PackageNotFoundError, ImportError) as error:
        raise LilyPondError(f"LilyPond is not installed: {install('lilypond')}") from error
    root = Path(lilypond.executable()).resolve().parents[1]
    if not (root / "bin" / "lilypond").is_file():
        raise LilyPondError(
            f"no LilyPond in {root}: pip install --force-reinstall lilypond==2.24.3"
        )
    return root


def max_input_bytes(limits: Limits) -> int:
    """Return the largest size of a text; half of the scratch folder is reserved for LilyPond's
    output.
    """
    return min(limits.file_bytes, limits.scratch_bytes // 2)


def format_size(count: int) -> str:
    """Format a number of bytes, such as ``64 MiB``."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit:
            return f"{count / unit:.4g} {name}"
    return f"{count} bytes"
