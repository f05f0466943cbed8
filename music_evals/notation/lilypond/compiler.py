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
import secrets
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import astuple, dataclass, field
from functools import cache as cached
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Final, Literal, TypedDict, Unpack

from music_evals.notation.cache import cache_folder, cache_get, cache_put
from music_evals.notation.lilypond import launcher
from music_evals.notation.lilypond.languages import LANGUAGES
from music_evals.notation.lilypond.sandbox import Confinement, Ended, Limits, run_confined
from music_evals.notation.lilypond.slots import cores
from music_evals.notation.subprocesses import ELSEWHERE

NOT_MEASURED: Final = "not_measured"
"""Where a sample's store says why LilyPond could not do what was asked of it, through no fault of the text."""

_TEXT: Final = "score.ly"
_SETTINGS: Final = "settings.ly"
_MIDI_ONLY: Final = files("music_evals.notation.lilypond").joinpath("settings/midi.ly")
_MIDI_FILES: Final = ("*.midi", "*.mid")
_CACHE_FORMAT: Final = 3
_CACHE_ENTRY: Final = 64 << 20  # bytes that an entry of the cache may have
_AHEAD: Final = 16  # texts a worker that may be under way while the first of them is not done
_TOGETHER: Final = 16  # texts that one LilyPond works on
_TOGETHER_BYTES: Final = 200_000  # of them in all
_CONVERTING: Final = Limits(seconds=60, output_bytes=16 << 20)

# What could touch other texts of the same LilyPond: Scheme other than literals, names and three harmless calls,
# and names of files.
_CALL: Final = r"""\((?:ly:make-moment|set-global-staff-size|set-default-paper-size)[\w\s'"./+-]*\)"""
_PROGRAM: Final = re.compile(
    rf"""#(?!'[\w(]|\#(?:[tf]|x[0-9A-F])|-?\.?[0-9]|"|[A-Za-z]|{_CALL})|\$"""
    rf"""|\\(?:include\b(?!\s*"(?:{"|".join(LANGUAGES)})\.ly")|bookOutput|sourcefile|maininput)""",
    re.ASCII,
)
_FAILED: Final = re.compile(r'fatal error: failed files: "(?P<names>[^\n"]*)"\n?\Z')

# Without /proc, which a sandbox does not have, LilyPond's garbage collector finds the stack in another way.
_NOISE: Final = "GC Warning: pthread_getattr_np or pthread_attr_getstack failed for main thread\n"
_OUT_OF_MEMORY: Final = re.compile(
    r"out of memory|bad_alloc|cannot allocate|dynamic memory|too many heap sections", re.IGNORECASE
)
_ERROR: Final = re.compile(r"^.{0,200}?\berror: .{0,300}", re.MULTILINE | re.IGNORECASE)


Stopped = Literal["time", "idle", "output", "input", "clock"] | None
"""What ended LilyPond; None where it ended by itself."""


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
    stopped: Stopped
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
    # Whether one LilyPond may work on several texts, which spares it its start, most of the work on a short text. It
    # does so on texts that hold no program, within the limits of one; and on each alone where that goes wrong.
    together: bool


class Compiling(Running, total=False):
    """How texts are compiled."""

    settings: str | None  # LilyPond code that is read ahead of each text, instead of the default that makes MIDI alone
    collect: Sequence[str]  # patterns, such as *.svg, of the names of more files to hand back


def compile_texts(texts: Iterable[str], **how: Unpack[Compiling]) -> Iterator[Compiled]:
    """Compile LilyPond texts, several at a time, and yield what became of each, in their order.

    Each is a file of its own, and may include LilyPond's own files alone. They are taken as needed. Where `ELSEWHERE`
    puts the work elsewhere, LilyPond has to be there too, and what has begun there goes on where the caller ends.
    """
    settings = how.get("settings")
    elsewhere = ELSEWHERE.get()
    job = _Job(
        settings=_MIDI_ONLY.read_text(encoding="utf-8") if settings is None else settings,
        collect=tuple(how.get("collect", ())),
        limits=how.get("limits") or Limits(),
        confinement=how.get("confinement"),
        cache=how.get("cache"),
        stop=None if elsewhere else threading.Event(),
    )
    workers = elsewhere.workers if elsewhere else how.get("workers") or cores()
    size = _TOGETHER if how.get("together") else 1
    left = iter(texts)
    waiting: deque[Future[list[Compiled]]] = deque()
    pools = nullcontext(elsewhere.executor) if elsewhere else ThreadPoolExecutor(workers, thread_name_prefix="lilypond")
    with pools as pool:
        try:
            while some := list(islice(left, size)):
                waiting.append(pool.submit(job.compile, some))
                if len(waiting) * size > _AHEAD * workers:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        finally:
            if job.stop:
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
    if cache and (known := _known_modern(content)) is not None:
        return known
    found = _convert("convert-ly", ["--loglevel=WARN", "score.ly"], "score.ly", content)
    if cache:
        _keep_modern(content, found)
    return found


def modernise_together(texts: Iterable[str]) -> None:
    """Bring many texts to today's syntax by few starts of convert-ly, for `modernise` to find in the cache.

    Texts that do not come through are left to `modernise`, which says why.
    """
    contents = {text.encode() for text in texts}
    new = sorted(content for content in contents if len(content) <= _TOGETHER_BYTES and _known_modern(content) is None)
    for start in range(0, len(new), _TOGETHER):
        files = {f"{number:02d}.ly": content for number, content in enumerate(new[start : start + _TOGETHER])}
        arguments = ["--loglevel=WARN", "--edit", *files]
        ended = _run_converter("convert-ly", arguments, files, collect=["*.ly"])
        if ended.status == 0 and ended.files.keys() == files.keys():
            for name, content in files.items():
                _keep_modern(content, ended.files[name].decode(errors="replace"))


def _modern_entry(content: bytes) -> str:
    return f"{hashlib.sha256(lilypond_version().encode() + content).hexdigest()}.modern"


def _known_modern(content: bytes) -> str | None:
    known = cache_get(lilypond_cache(), _modern_entry(content), _CACHE_ENTRY)
    if known is None or hashlib.sha256(known[32:]).digest() != known[:32]:
        return None
    return known[32:].decode()


def _keep_modern(content: bytes, found: str) -> None:
    modern = found.encode()
    cache_put(lilypond_cache(), _modern_entry(content), hashlib.sha256(modern).digest() + modern)


@dataclass(frozen=True, slots=True)
class _Job:
    """What the texts of a batch have in common."""

    settings: str
    collect: tuple[str, ...]
    limits: Limits
    confinement: Confinement | None
    cache: Path | None
    stop: threading.Event | None

    def compile(self, texts: Sequence[str]) -> list[Compiled]:
        """Compile texts, or find what became of them before."""
        contents = [text.encode(errors="replace") for text in texts]
        done = [self.known(content) for content in contents]
        new = {number: content for number, content in enumerate(contents) if done[number] is None}
        found = self.run_together({n: content for n, content in new.items() if not _PROGRAM.search(texts[n])})
        for number, content in new.items():
            compiled = found[number] if number in found else self.run(content)
            if self.cache and compiled.stopped not in ("time", "idle", "clock") and compiled.status != -signal.SIGKILL:
                _write_entry(self.cache, self.entry(content), compiled)
            done[number] = compiled
        return [compiled for compiled in done if compiled]

    def known(self, content: bytes) -> Compiled | None:
        if len(content) > _most(self.limits):
            return Compiled(None, "input", "", limits=self.limits)
        return _read_entry(self.cache, self.entry(content), self.limits) if self.cache else None

    def run_together(self, contents: Mapping[int, bytes]) -> dict[int, Compiled]:
        """Let one LilyPond work on texts, as far as they go together; those that did not come through are absent."""
        groups: list[dict[int, bytes]] = [{}]
        for number, content in contents.items():
            if sum(map(len, groups[-1].values())) + len(content) > _TOGETHER_BYTES:
                groups.append({})
            groups[-1][number] = content
        return {number: one for group in groups if len(group) > 1 for number, one in self.run_group(group).items()}

    def run_group(self, contents: Mapping[int, bytes]) -> dict[int, Compiled]:
        # LilyPond reads the settings ahead of each text, so that what it says of one begins with the mark.
        mark = secrets.token_hex(16)
        said = f'(format port "~a~a\\n" "{mark[:16]}" "{mark[16:]}") (force-output port)'
        settings = f"{self.settings}\n#(let ((port (current-error-port))) {said})\n"
        names = {number: f"{number:02d}{_TEXT}" for number in contents}
        files = {names[number]: content for number, content in contents.items()}
        ended = self.lilypond(files, settings, [f"??{pattern}" for pattern in self.collect])
        before, *messages = self.messages(ended).split(f"{mark}\n")
        if ended.stopped or ended.status not in (0, 1) or before or len(messages) != len(contents):
            return {}
        failed: list[str] = []
        if last := _FAILED.search(messages[-1]):
            messages[-1], failed = messages[-1][: last.start()], last["names"].split()
        if bool(failed) != bool(ended.status) or not {*failed} <= files.keys():
            return {}
        found = {}
        for said, (number, name) in zip(messages, names.items(), strict=True):
            status = int(name in failed)
            said = said.replace(name, _TEXT) + f'fatal error: failed files: "{_TEXT}"\n' * status
            left = {path[2:]: file for path, file in ended.files.items() if path[:2] == name[:2]}
            found[number] = self.compiled(status, None, said, left)
        return found

    def run(self, content: bytes) -> Compiled:
        """Let LilyPond work on a text."""
        ended = self.lilypond({_TEXT: content}, self.settings, self.collect)
        return self.compiled(ended.status, ended.stopped, self.messages(ended), ended.files)

    def lilypond(self, texts: Mapping[str, bytes], settings: str, collect: Sequence[str]) -> Ended:
        root = _lilypond()
        options = ("--loglevel=WARN", "-dno-print-pages", f"-dinclude-settings={_SETTINGS}")
        return run_confined(
            [str(root / "bin" / "lilypond"), *options, *texts],
            {**texts, _SETTINGS: settings.encode()},
            collect=(*_MIDI_FILES, *collect),
            readable=(root,),
            limits=self.limits,
            confinement=self.confinement,
            stop=self.stop,
        )

    def messages(self, ended: Ended) -> str:
        said = ended.stderr.replace(_NOISE, "").replace(f"{launcher.SCRATCH}/", "")
        return said.replace(f"{_lilypond()}/", "lilypond/")

    def compiled(self, status: int | None, stopped: Stopped, messages: str, files: Mapping[str, bytes]) -> Compiled:
        midi = {name: file for name, file in files.items() if name.endswith((".midi", ".mid"))}
        others = {name: file for name, file in files.items() if name not in midi}
        return Compiled(status, stopped, messages, tuple(midi.values()), others, self.limits)

    def entry(self, content: bytes) -> str:
        return f"{self.key(content)}.compiled"

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


def _run_converter(
    tool: str,
    arguments: Sequence[str],
    files: Mapping[str, bytes],
    collect: Sequence[str] = (),
    limits: Limits = _CONVERTING,
    confinement: Confinement | None = None,
) -> Ended:
    """Run one of LilyPond's converters, without the shell script that is wrapped around it."""
    root = _lilypond()
    python, script = (str(root / "libexec" / name) for name in ("python3.10", tool))
    bytecode = _bytecode(python, script, lilypond_cache() / "bytecode")
    command = [python, "-B", "-X", f"pycache_prefix={bytecode}", script, *arguments]
    readable = (root, bytecode) if bytecode.is_dir() else (root,)
    return run_confined(command, files, collect=collect, readable=readable, limits=limits, confinement=confinement)


@cached
def _bytecode(python: str, script: str, folder: Path) -> Path:
    """Let Python keep the bytecode of a converter's modules in a folder, if it can be written; return its real path.

    The package has bytecode too, but an installation dates the sources anew, and then Python compiles them at each
    start, which takes four times as long as the rest of it.
    """
    folder = folder.resolve()
    # As no input is read, this needs no sandbox.
    subprocess.run([python, "-X", f"pycache_prefix={folder}", script, "--version"], env={}, capture_output=True)
    return folder


def _convert(
    tool: str,
    arguments: Sequence[str],
    name: str,
    content: bytes,
    limits: Limits = _CONVERTING,
    confinement: Confinement | None = None,
    result: str | None = None,
) -> str:
    """Run one of LilyPond's converters."""
    root = _lilypond()
    if len(content) > _most(limits):
        raise ConversionError(f"{tool} gets {_size(_most(limits))} at most, not {len(content)} bytes")
    collect = [result] if result else ()
    ended = _run_converter(tool, arguments, {name: content}, collect, limits, confinement)
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
    if (content := cache_get(cache, name, _CACHE_ENTRY + 1)) is None:
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
        cache_put(cache, name, hashlib.sha256(body).digest() + body)
