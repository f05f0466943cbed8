"""LilyPond at work on texts: the MIDI that it makes of them, what it has to say, and its converters.

Every text runs in the sandbox of `sandbox`, one process a text, on all cores. Unless told otherwise LilyPond makes MIDI
alone (`settings/midi.ly`), which spares it the engraving, most of the work. MIDI and exit status stay what they were
(they did for 200 pieces of Mutopia, byte by byte), but for a text whose own Scheme fails in engraving, which goes
unnoticed. ``settings=""`` engraves all the same.

LilyPond itself comes with the package ``lilypond``: ``pip install 'music-evals[lilypond]'``. Functions here raise
`LilyPondError` where it is not installed, and `SandboxError` where there is no way to confine it.
"""

import hashlib
import io
import json
import re
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import astuple, dataclass, field
from functools import cache as cached
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal, TypedDict, Unpack

from music_evals.notation.cache import cache_folder, keep, kept
from music_evals.notation.lilypond import launcher
from music_evals.notation.lilypond.sandbox import Confinement, Limits, run_confined
from music_evals.notation.lilypond.slots import cores

NOT_MEASURED: Final = "not_measured"
"""Where a sample's store says why LilyPond could not do what was asked of it, through no fault of the text."""

_TEXT: Final = "score.ly"
_SETTINGS: Final = "settings.ly"
_MIDI_ONLY: Final = files("music_evals.notation.lilypond").joinpath("settings/midi.ly")
_MIDI_FILES: Final = ("*.midi", "*.mid")
_CACHE_FORMAT: Final = 2
_CACHE_ENTRY: Final = 64 << 20  # bytes that an entry of the cache may have
_AHEAD: Final = 16  # texts a worker that may be under way while the first of them is not done
_CONVERTING: Final = Limits(seconds=60, output_bytes=16 << 20)

# Without /proc, which a sandbox does not have, LilyPond's garbage collector finds the stack in another way.
_NOISE: Final = "GC Warning: pthread_getattr_np or pthread_attr_getstack failed for main thread\n"
_OUT_OF_MEMORY: Final = re.compile(
    r"out of memory|bad_alloc|cannot allocate|dynamic memory|too many heap sections", re.IGNORECASE
)
_ERROR: Final = re.compile(r"^.{0,200}?\berror: .{0,300}", re.MULTILINE | re.IGNORECASE)


class LilyPondError(RuntimeError):
    """LilyPond is not installed."""


class ConversionError(ValueError):
    """A text or file that LilyPond's converters do not take; `is_measured` says whether that is its own doing."""

    def __init__(self, message: str, *, is_measured: bool = True) -> None:
        super().__init__(message)
        self.is_measured = is_measured


@dataclass(frozen=True, slots=True)
class Compiled:
    """What LilyPond made of a text."""

    status: int | None  # exit status, or a negative signal; None if it was stopped
    # It used up its CPU time; did nothing for as long; wrote too much, to its messages or files; the text was too
    # large, and it was not started; or the clock ran out, twice, which says nothing of the text.
    stopped: Literal["time", "idle", "output", "input", "clock"] | None
    messages: str  # warnings and errors, in which the text is called score.ly
    midi: tuple[bytes, ...] = ()  # in the order in which LilyPond wrote them
    files: Mapping[str, bytes] = field(default_factory=dict)  # the others that were asked for
    limits: Limits = field(default_factory=Limits)

    @property
    def succeeded(self) -> bool:
        """Whether the exit status was 0. There may still be no MIDI: that is up to the text."""
        return self.status == 0

    @property
    def is_measured(self) -> bool:
        """Whether what became of it is the text's doing, and not the machine's."""
        return self.stopped != "clock"

    @property
    def problem(self) -> str | None:
        """Why it did not succeed, in one line."""
        if self.succeeded:
            return None
        limits = self.limits
        if self.stopped == "time":
            return f"stopped after {limits.seconds} s of CPU time"
        if self.stopped == "idle":
            return f"stopped after doing nothing for {limits.seconds} s"
        if self.stopped == "clock":
            return f"did not end in {limits.patience * limits.seconds} s, of which LilyPond got too few"
        if self.stopped == "output":
            return (
                f"stopped: more than {_size(limits.output_bytes)} of messages or {_size(limits.scratch_bytes)} of files"
            )
        if self.stopped == "input":
            return f"not started: a text of more than {_size(_most(limits))}"
        if _OUT_OF_MEMORY.search(self.messages[-4000:]):
            return f"needed more than {_size(limits.memory)} of memory"
        if self.status == -signal.SIGXFSZ:
            return f"wrote a file of more than {_size(limits.file_bytes)}"
        how = f"ended by signal {-self.status}" if self.status is not None and self.status < 0 else ""
        first = _ERROR.search(self.messages)
        return f"{how or f'exit status {self.status}'}: {first.group().strip() if first else 'no message'}"


class Running(TypedDict, total=False):
    """How LilyPond runs."""

    limits: Limits | None  # what a text may use up; default `Limits()`
    confinement: Confinement | None  # default is what `sandbox.available_confinement` finds
    workers: int | None  # how many texts are compiled at a time; default is one a core
    # A folder to keep results in, and to take them from where the same text was compiled in the same way by the same
    # LilyPond. Results that were stopped for their time are not kept.
    cache: Path | None


class Compiling(Running, total=False):
    """How texts are compiled."""

    settings: str | None  # LilyPond code that is read ahead of each text, instead of the default that makes MIDI alone
    collect: Sequence[str]  # patterns, such as *.svg, of the names of more files to hand back


def compile_texts(texts: Iterable[str], **how: Unpack[Compiling]) -> Iterator[Compiled]:
    """Compile LilyPond texts, several at a time, and yield what became of each, in their order.

    Each is a file of its own, and may include LilyPond's own files alone. They are taken as needed.
    """
    settings = how.get("settings")
    job = _Job(
        settings=_MIDI_ONLY.read_text(encoding="utf-8") if settings is None else settings,
        collect=tuple(how.get("collect", ())),
        limits=how.get("limits") or Limits(),
        confinement=how.get("confinement"),
        cache=how.get("cache"),
        stop=threading.Event(),
    )
    workers = how.get("workers") or cores()
    waiting: deque[Future[Compiled]] = deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="lilypond") as pool:
        try:
            for text in texts:
                waiting.append(pool.submit(job.compile, text))
                if len(waiting) > _AHEAD * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            job.stop.set()
            for future in waiting:
                future.cancel()


def compile_text(text: str, **how: Unpack[Compiling]) -> Compiled:
    """Compile one LilyPond text, as `compile_texts` does."""
    (compiled,) = compile_texts([text], **how)
    return compiled


def midi_to_lilypond(midi: bytes) -> str:
    """Turn MIDI into LilyPond code, by LilyPond's own midi2ly; ConversionError, with its messages, if it cannot."""
    arguments = ["--quiet", "--output=score.ly", "score.midi"]
    return _convert("midi2ly", arguments, "score.midi", midi, result="score.ly")


def musicxml_to_lilypond(musicxml: str, *, limits: Limits = _CONVERTING, confinement: Confinement | None = None) -> str:
    """Turn MusicXML into LilyPond code with relative pitches, by musicxml2ly; ConversionError if it cannot.

    It needs the sandbox, for musicxml2ly evaluates part of its input as Python.
    """
    arguments = ["--relative", "--loglevel=WARN", "--output=-", "score.xml"]
    return _convert("musicxml2ly", arguments, "score.xml", musicxml.encode(), limits, confinement)


def modernise(text: str, *, cache: bool = False) -> str:
    """Bring LilyPond code to today's syntax by convert-ly; ConversionError if it fails, as without any version.

    With `cache` the result is kept in `lilypond_cache`, and taken from there.
    """
    content = text.encode()
    name = f"{hashlib.sha256(lilypond_version().encode() + content).hexdigest()}.modern"
    if cache and (known := kept(lilypond_cache(), name, _CACHE_ENTRY)) is not None:
        digest, modern = known[:32], known[32:]
        if hashlib.sha256(modern).digest() == digest:
            return modern.decode()
    found = _convert("convert-ly", ["--loglevel=WARN", "score.ly"], "score.ly", content)
    if cache:
        modern = found.encode()
        keep(lilypond_cache(), name, hashlib.sha256(modern).digest() + modern)
    return found


@dataclass(frozen=True, slots=True)
class _Job:
    """What the texts of a batch have in common."""

    settings: str
    collect: tuple[str, ...]
    limits: Limits
    confinement: Confinement | None
    cache: Path | None
    stop: threading.Event

    def compile(self, text: str) -> Compiled:
        """Compile a text, or find what became of it before."""
        content = text.encode(errors="replace")
        if len(content) > _most(self.limits):
            return Compiled(None, "input", "", limits=self.limits)
        if self.cache is None:
            return self.run(content)
        entry = f"{self.key(content)}.compiled"
        if (known := _read_entry(self.cache, entry, self.limits)) is not None:
            return known
        compiled = self.run(content)
        if compiled.stopped not in ("time", "idle", "clock") and compiled.status != -signal.SIGKILL:
            _write_entry(self.cache, entry, compiled)
        return compiled

    def run(self, content: bytes) -> Compiled:
        """Let LilyPond work on a text."""
        root = _lilypond()
        ended = run_confined(
            [
                str(root / "bin" / "lilypond"),
                "--loglevel=WARN",
                "-dno-print-pages",
                f"-dinclude-settings={_SETTINGS}",
                _TEXT,
            ],
            {_TEXT: content, _SETTINGS: self.settings.encode()},
            collect=(*_MIDI_FILES, *self.collect),
            readable=(root,),
            limits=self.limits,
            confinement=self.confinement,
            stop=self.stop,
        )
        midi = {name: file for name, file in ended.files.items() if name.endswith((".midi", ".mid"))}
        return Compiled(
            ended.status,
            ended.stopped,
            ended.stderr.replace(_NOISE, "").replace(f"{launcher.SCRATCH}/", "").replace(f"{root}/", "lilypond/"),
            tuple(midi.values()),
            {name: file for name, file in ended.files.items() if name not in midi},
            self.limits,
        )

    def key(self, content: bytes) -> str:
        """Tell apart what may have different results."""
        limits = list(astuple(self.limits))[2:]  # without the time: only what ended in time is kept
        parts = [_CACHE_FORMAT, lilypond_version(), "confined", self.settings, self.collect, limits]
        return hashlib.sha256(json.dumps(parts).encode() + b"\0" + content).hexdigest()


def lilypond_cache() -> Path:
    """Return the folder in which LilyPond's results are kept by content."""
    return cache_folder() / "lilypond"


def lilypond_version() -> str:
    """Return the version of LilyPond, such as ``2.24.3``."""
    _lilypond()
    return version("lilypond")


@cached
def _lilypond() -> Path:
    """Find LilyPond's folder."""
    try:
        version("lilypond")
        import lilypond
    except (PackageNotFoundError, ImportError) as error:
        raise LilyPondError("LilyPond is not installed: pip install 'music-evals[lilypond]'") from error
    root = Path(lilypond.executable()).resolve().parents[1]
    if not (root / "bin" / "lilypond").is_file():
        raise LilyPondError(f"no LilyPond in {root}: pip install --force-reinstall 'music-evals[lilypond]'")
    return root


def _convert(
    tool: str,
    arguments: Sequence[str],
    name: str,
    content: bytes,
    limits: Limits = _CONVERTING,
    confinement: Confinement | None = None,
    result: str | None = None,
) -> str:
    """Run one of LilyPond's converters, which are Python scripts, without the shell that is wrapped around them."""
    root = _lilypond()
    if len(content) > _most(limits):
        raise ConversionError(f"{tool} gets {_size(_most(limits))} at most, not {len(content)} bytes")
    ended = run_confined(
        [str(root / "libexec" / "python3.10"), "-B", str(root / "libexec" / tool), *arguments],
        {name: content},
        collect=[result] if result else (),
        readable=(root,),
        limits=limits,
        confinement=confinement,
    )
    messages = " ".join(ended.stderr.replace(f"{root}/", "lilypond/").split())[-1000:]
    if ended.stopped:
        most = _size(limits.output_bytes)
        at = {"output": f"at {most} of output", "clock": f"after {limits.patience * limits.seconds} s"}
        what = at.get(ended.stopped, f"after {limits.seconds} s of CPU time, or of doing nothing")
        why = f"{tool} was stopped {what}: {messages or 'no message'}"
        raise ConversionError(why, is_measured=ended.stopped != "clock")
    text = ended.stdout if result is None else ended.files.get(result, b"").decode(errors="replace")
    if ended.status != 0 or not text:
        raise ConversionError(f"{tool} ended with {ended.status}: {messages or 'no message'}")
    return text


def _most(limits: Limits) -> int:
    """Say how large a text may be in bytes; half of the scratch folder is kept for what is made of it."""
    return min(limits.file_bytes, limits.scratch_bytes // 2)


def _size(count: int) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit:
            return f"{count / unit:.4g} {name}"
    return f"{count} bytes"


def _read_entry(cache: Path, name: str, limits: Limits) -> Compiled | None:
    """Read what `_write_entry` wrote; None if there is nothing, or if it is damaged."""
    if (content := kept(cache, name, _CACHE_ENTRY + 1)) is None:
        return None
    digest, body = content[:32], io.BytesIO(content[32:])
    if hashlib.sha256(body.getbuffer()).digest() != digest:
        return None
    header = launcher.unpack_header(body)
    header["midi"] = tuple(body.read(size) for size in header["midi"])
    header["files"] = {name: body.read(size) for name, size in header["files"]}
    return Compiled(**header, limits=limits)


def _write_entry(cache: Path, name: str, compiled: Compiled) -> None:
    """Keep a result, if it is not too large."""
    header = {name: getattr(compiled, name) for name in ("status", "stopped", "messages")}
    header["midi"] = [len(midi) for midi in compiled.midi]
    header["files"] = [(name, len(content)) for name, content in compiled.files.items()]
    body = launcher.pack(header, [*compiled.midi, *compiled.files.values()])
    if len(body) + 32 <= _CACHE_ENTRY:
        keep(cache, name, hashlib.sha256(body).digest() + body)
