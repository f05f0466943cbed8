"""LilyPond's converters, in the sandbox: midi2ly, musicxml2ly and convert-ly."""

import hashlib
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import cache as cached
from pathlib import Path
from typing import Final

from music_evals.notation.lilypond.compiler import (
    format_size,
    get_checked,
    lilypond_cache,
    lilypond_folder,
    lilypond_version,
    max_input_bytes,
    put_checked,
)
from music_evals.notation.lilypond.sandbox import Confinement, Ended, Limits, run_confined

_LIMITS: Final = Limits(seconds=60, output_bytes=16 << 20)
_TOGETHER: Final = 16  # texts for one process of convert-ly
_MAX_TOGETHER: Final = 200_000  # bytes of such a text


class ConversionError(ValueError):
    """A converter failed on a text or file; `is_measured` is False if that is the machine's doing, not the text's."""

    def __init__(self, message: str, *, is_measured: bool = True) -> None:
        super().__init__(message)
        self.is_measured = is_measured


def midi_to_lilypond(midi: bytes) -> str:
    """Convert MIDI to LilyPond code by midi2ly; ConversionError with its messages if it fails."""
    return _convert("midi2ly", ["--quiet", "--output=score.ly", "score.midi"], midi, result="score.ly")


def musicxml_to_lilypond(musicxml: str, *, limits: Limits = _LIMITS, confinement: Confinement | None = None) -> str:
    """Convert MusicXML to LilyPond code with relative pitches by musicxml2ly; ConversionError if it fails.

    The sandbox is needed because musicxml2ly evaluates some of its input as Python.
    """
    arguments = ["--relative", "--loglevel=WARN", "--output=-", "score.xml"]
    return _convert("musicxml2ly", arguments, musicxml.encode(), limits=limits, confinement=confinement)


def modernise(text: str, *, cache: bool = False) -> str:
    """Bring LilyPond code to today's syntax by convert-ly; ConversionError if it fails, as without any version.

    With `cache`, `lilypond_cache` keeps the result.
    """
    content = text.encode()
    if cache and (modern := _known_modern(content)) is not None:
        return modern
    modern = _convert("convert-ly", ["--loglevel=WARN", "score.ly"], content)
    if cache:
        put_checked(lilypond_cache(), _modern_entry(content), modern.encode())
    return modern


def modernise_together(texts: Iterable[str]) -> None:
    """Bring many texts to today's syntax by few processes of convert-ly, and keep the results for `modernise`.

    Texts that fail are left to `modernise`, which gives the reason.
    """
    contents = {text.encode() for text in texts}
    new = sorted(content for content in contents if len(content) <= _MAX_TOGETHER and _known_modern(content) is None)
    for start in range(0, len(new), _TOGETHER):
        batch = {f"{number:02d}.ly": content for number, content in enumerate(new[start : start + _TOGETHER])}
        ended = _run("convert-ly", ["--loglevel=WARN", "--edit", *batch], batch, collect=["*.ly"])
        if ended.status == 0 and ended.files.keys() == batch.keys():
            for name, content in batch.items():
                modern = ended.files[name].decode(errors="replace")
                put_checked(lilypond_cache(), _modern_entry(content), modern.encode())


def _modern_entry(content: bytes) -> str:
    return f"{hashlib.sha256(lilypond_version().encode() + content).hexdigest()}.modern"


def _known_modern(content: bytes) -> str | None:
    modern = get_checked(lilypond_cache(), _modern_entry(content))
    return None if modern is None else modern.decode()


def _convert(
    tool: str,
    arguments: Sequence[str],
    content: bytes,
    *,
    result: str | None = None,
    limits: Limits = _LIMITS,
    confinement: Confinement | None = None,
) -> str:
    """Run a converter on a file with the name of the last argument; the text is in the file `result`, or printed."""
    if len(content) > max_input_bytes(limits):
        most = format_size(max_input_bytes(limits))
        raise ConversionError(f"{tool} gets {most} at most, not {len(content)} bytes")
    ended = _run(tool, arguments, {arguments[-1]: content}, [result] if result else [], limits, confinement)
    messages = " ".join(ended.stderr.replace(f"{lilypond_folder()}/", "lilypond/").split())[-1000:] or "no message"
    if ended.stopped:
        reasons = {
            "output": f"at {format_size(limits.output_bytes)} of output",
            "clock": f"after {limits.patience * limits.seconds} s",
        }
        reason = reasons.get(ended.stopped, f"after {limits.seconds} s of CPU time, or of doing nothing")
        raise ConversionError(f"{tool} was stopped {reason}: {messages}", is_measured=ended.stopped != "clock")
    text = ended.stdout if result is None else ended.files.get(result, b"").decode(errors="replace")
    if ended.status != 0 or not text:
        raise ConversionError(f"{tool} ended with {ended.status}: {messages}")
    return text


def _run(
    tool: str,
    arguments: Sequence[str],
    files: Mapping[str, bytes],
    collect: Sequence[str] = (),
    limits: Limits = _LIMITS,
    confinement: Confinement | None = None,
) -> Ended:
    """Run a converter without the shell script that the package wraps around it."""
    root = lilypond_folder()
    python, script = (str(root / "libexec" / name) for name in ("python3.10", tool))
    bytecode = _bytecode(python, script, lilypond_cache() / "bytecode")
    command = [python, "-B", "-X", f"pycache_prefix={bytecode}", script, *arguments]
    readable = (root, bytecode) if bytecode.is_dir() else (root,)
    return run_confined(command, files, collect=collect, readable=readable, limits=limits, confinement=confinement)


@cached
def _bytecode(python: str, script: str, folder: Path) -> Path:
    """Have Python write the bytecode of a converter's modules to a folder, if it can be written; return its real path.

    The bytecode in the package is useless: an installation dates the sources anew. Python would then compile them at
    each start, which takes four times as long as all other work.
    """
    folder = folder.resolve()
    # This needs no sandbox, since no input is read.
    subprocess.run([python, "-X", f"pycache_prefix={folder}", script, "--version"], env={}, capture_output=True)
    return folder
