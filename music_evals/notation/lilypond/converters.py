"""LilyPond's converters, in the sandbox: midi2ly, musicxml2ly and convert-ly."""

import hashlib
import subprocess
from collections.abc import Sequence
from functools import cache as cached
from pathlib import Path

from music_evals.notation.cache import cache_get, cache_put
from music_evals.notation.lilypond.compiler import (
    TextError,
    lilypond_cache,
    lilypond_folder,
    lilypond_version,
    max_input_bytes,
    stop_reason,
)
from music_evals.notation.lilypond.sandbox.runner import Limits, run_confined

_LIMITS = Limits(seconds=60, output_bytes=16 << 20)


class ConversionError(TextError, ValueError):
    """A converter failed on a text or file; `is_measured` is False if that is the machine's doing,
    not the text's.
    """


def midi_to_lilypond(midi: bytes) -> str:
    """Convert MIDI to LilyPond code by midi2ly; ConversionError with its messages if it fails."""
    return _convert(
        "midi2ly", ["--quiet", "--output=score.ly", "score.midi"], midi, result="score.ly"
    )


def musicxml_to_lilypond(musicxml: str, *, limits: Limits = _LIMITS) -> str:
    """Convert MusicXML to LilyPond code with relative pitches by musicxml2ly; ConversionError if it
    fails.

    The sandbox is needed because musicxml2ly evaluates some of its input as Python.
    """
    arguments = ["--relative", "--loglevel=WARN", "--output=-", "score.xml"]
    return _convert("musicxml2ly", arguments, musicxml.encode(), limits=limits)


def modernise(text: str) -> str:
    """Bring LilyPond code to today's syntax by convert-ly; ConversionError if it fails, as without
    any version.

    `lilypond_cache` keeps the result.
    """
    content = text.encode()
    entry = f"{hashlib.sha256(lilypond_version().encode() + content).hexdigest()}.modern"
    if modern := cache_get(lilypond_cache(), entry, _LIMITS.output_bytes):
        return modern.decode()
    converted = _convert("convert-ly", ["--loglevel=WARN", "score.ly"], content)
    cache_put(lilypond_cache(), entry, converted.encode())
    return converted


def _convert(
    tool: str,
    arguments: Sequence[str],
    content: bytes,
    *,
    result: str | None = None,
    limits: Limits = _LIMITS,
) -> str:
    """Run a converter on a file with the name of the last argument; the text is in the file
    `result`, or printed.
    """
    if len(content) > max_input_bytes(limits):
        raise ConversionError(f"{tool} {stop_reason('input', limits)}")
    root = lilypond_folder()
    # The package wraps a shell script around each converter, which cannot run in the sandbox.
    python, script = (str(root / "libexec" / name) for name in ("python3.10", tool))
    bytecode = _bytecode(python, script, lilypond_cache() / "bytecode")
    ended = run_confined(
        [python, "-B", "-X", f"pycache_prefix={bytecode}", script, *arguments],
        {arguments[-1]: content},
        collect=[result] if result else [],
        readable=(root, bytecode) if bytecode.is_dir() else (root,),
        limits=limits,
    )
    messages = (
        " ".join(ended.stderr.replace(f"{root}/", "lilypond/").split())[-1000:] or "no message"
    )
    if ended.stopped:
        raise ConversionError(
            f"{tool} {stop_reason(ended.stopped, limits)}: {messages}",
            is_measured=ended.stopped != "clock",
        )
    text = ended.stdout if result is None else ended.files.get(result, b"").decode(errors="replace")
    if ended.status != 0 or not text:
        raise ConversionError(f"{tool} ended with {ended.status}: {messages}")
    return text


@cached
def _bytecode(python: str, script: str, folder: Path) -> Path:
    """Have Python write the bytecode of a converter's modules to a folder, if it can be written;
    return its real path.

    The bytecode in the package is useless: an installation dates the sources anew. Python would
    then compile them at each start, which takes four times as long as all other work.
    """
    folder = folder.resolve()
    # This needs no sandbox, since no input is read.
    subprocess.run(
        [python, "-X", f"pycache_prefix={folder}", script, "--version"], env={}, capture_output=True
    )
    return folder
