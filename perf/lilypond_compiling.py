"""How fast LilyPond texts become MIDI: all texts through `compile_texts`, beside one plain LilyPond process each.

The texts are pieces of the Mutopia Project (folder as argument) that consist of one file and include nothing, taken
evenly, brought to the current syntax by convert-ly ahead of all measuring. The plain process is ``lilypond
-dno-print-pages``, as usual for MIDI, one text after the other. It runs in the same sandbox, which costs it some
hundredths of a second a text: LilyPond executes what its input says. Nothing is cached.

    python perf/lilypond_compiling.py MUTOPIA [--pieces 200]

A third run lets one LilyPond work on several texts (``together``), as builds do.

Checks that exit status and MIDI are the same, file by file. Target: at least 8 times as fast on four cores.
"""

import resource
import sys
from concurrent.futures import ThreadPoolExecutor
from operator import eq
from pathlib import Path

from measuring import show, start, timed

from music_evals.notation.lilypond.compiler import Compiled, compile_texts
from music_evals.notation.lilypond.converters import ConversionError, modernise
from music_evals.notation.lilypond.sandbox import Limits, available_confinement
from music_evals.notation.lilypond.source import read_text

LIMITS = Limits(seconds=120)  # enough for every engraving, so that the plain process is never stopped


def modern(path: Path) -> str | None:
    try:
        return modernise(read_text(path))
    except ConversionError:
        return None


def choose(folder: Path, pieces: int) -> dict[str, str]:
    """Take pieces of one file evenly, and in place of one that cannot be converted the next."""
    files = sorted(path for path in folder.rglob("*.ly") if not path.parent.name.endswith("-lys"))
    paths = [path for path in files if b"\\include" not in path.read_bytes()]
    with ThreadPoolExecutor() as pool:
        texts = {str(path.relative_to(folder)): text for path, text in zip(paths, pool.map(modern, paths), strict=True)}
    usable = [(name, text) for name, text in texts.items() if text is not None]
    pieces = min(pieces, len(usable))
    return dict(usable[number * len(usable) // pieces] for number in range(pieces))


def compiled(
    texts: list[str], settings: str | None, workers: int | None, *, together: bool = False
) -> tuple[float, float, list[Compiled]]:
    """Compile texts; return the seconds that it took, the CPU seconds of all processes, and the results."""
    before = cpu_seconds()
    seconds, results = timed(
        lambda: list(compile_texts(texts, settings=settings, limits=LIMITS, workers=workers, together=together))
    )
    return seconds, cpu_seconds() - before, results


def cpu_seconds() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def main(mutopia: Path, pieces: int = 200) -> None:
    print(f"sandbox: {available_confinement()}")
    texts = choose(mutopia, pieces)
    if not texts:
        sys.exit(f"{mutopia} holds no LilyPond file that includes nothing")
    print(f"{len(texts)} texts, {sum(map(len, texts.values())):,} characters")
    seconds, cpu, ours = compiled(list(texts.values()), None, None)
    shared_seconds, shared_cpu, shared = compiled(list(texts.values()), None, None, together=True)
    plain_seconds, plain_cpu, plain = compiled(list(texts.values()), "", 1)
    show("compile_texts", seconds, "plain, one after the other", plain_seconds)
    show("the same in seconds of CPU", cpu, "plain", plain_cpu)
    show("compile_texts, together", shared_seconds, "plain, one after the other", plain_seconds)
    show("the same in seconds of CPU", shared_cpu, "plain", plain_cpu)
    print(f"alike, alone and together: {sum(map(eq, ours, shared))} of {len(texts)}")
    for name, one, other in zip(texts, ours, plain, strict=True):
        if (one.status, one.midi) != (other.status, other.midi):
            print(f"DIFFERENT {name}: {len(one.midi)} files, {one.problem}; plain {len(other.midi)}, {other.problem}")
    same_status = sum(one.status == other.status for one, other in zip(ours, plain, strict=True))
    same_midi = sum(one.midi == other.midi for one, other in zip(ours, plain, strict=True))
    print(f"same exit status: {same_status} of {len(texts)}; same MIDI, byte by byte: {same_midi} of {len(texts)}")
    print(f"exit status 0: {sum(one.succeeded for one in ours)}; with MIDI: {sum(bool(one.midi) for one in ours)}")


if __name__ == "__main__":
    start(main, __doc__)
