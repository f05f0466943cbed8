"""How fast LilyPond texts become MIDI: all texts through `compile_texts`, beside one plain LilyPond process each.

The texts are pieces of the Mutopia Project (folder as argument) that consist of one file and include nothing, taken
evenly, brought to the current syntax by convert-ly ahead of all measuring. The plain process is ``lilypond
-dno-print-pages``, as usual for MIDI, one text after the other. It runs in the same sandbox, which costs it some
hundredths of a second a text: LilyPond executes what its input says. Nothing is cached.

    python perf/lilypond_compiling.py MUTOPIA [--pieces 200]

Checks that exit status and MIDI are the same, file by file. Target: at least 8 times as fast on four cores.
"""

import argparse
import resource
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from music_evals.notation.lilypond.compiler import Compiled, ConversionError, compile_texts, modernise
from music_evals.notation.lilypond.sandbox import Limits, available_confinement
from music_evals.notation.lilypond.source import read_text

LIMITS = Limits(seconds=120.0)  # enough for every engraving, so that the plain process is never stopped


def candidates(folder: Path) -> list[Path]:
    """Find the pieces of one file that include nothing."""
    files = sorted(path for path in folder.rglob("*.ly") if not path.parent.name.endswith("-lys"))
    return [path for path in files if b"\\include" not in path.read_bytes()]


def modern(path: Path) -> str | None:
    try:
        return modernise(read_text(path))
    except ConversionError:
        return None


def choose(folder: Path, pieces: int) -> dict[str, str]:
    """Take pieces evenly, and in place of one that cannot be converted the next."""
    paths = candidates(folder)
    with ThreadPoolExecutor() as pool:
        texts = {str(path.relative_to(folder)): text for path, text in zip(paths, pool.map(modern, paths), strict=True)}
    usable = [(name, text) for name, text in texts.items() if text is not None]
    pieces = min(pieces, len(usable))
    return dict(usable[number * len(usable) // pieces] for number in range(pieces))


def timed(texts: list[str], settings: str | None, workers: int | None) -> tuple[float, float, list[Compiled]]:
    """Compile texts; return the seconds that it took, the CPU seconds of all processes, and the results."""
    start, start_cpu = time.perf_counter(), cpu_seconds()
    results = list(compile_texts(texts, settings=settings, limits=LIMITS, workers=workers))
    return time.perf_counter() - start, cpu_seconds() - start_cpu, results


def cpu_seconds() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mutopia", type=Path)
    parser.add_argument("--pieces", type=int, default=200)
    options = parser.parse_args()
    print(f"sandbox: {available_confinement()}")
    texts = choose(options.mutopia, options.pieces)
    if not texts:
        sys.exit(f"{options.mutopia} holds no LilyPond file that includes nothing")
    print(f"{len(texts)} texts, {sum(map(len, texts.values())):,} characters")
    seconds, cpu, ours = timed(list(texts.values()), None, None)
    print(f"compile_texts: {seconds:.1f} s ({cpu:.1f} s of CPU), {len(texts) / seconds:.1f} texts a second")
    plain_seconds, plain_cpu, plain = timed(list(texts.values()), "", 1)
    rate = len(texts) / plain_seconds
    print(f"plain, one after the other: {plain_seconds:.1f} s ({plain_cpu:.1f} s of CPU), {rate:.2f} texts a second")
    print(f"ratio {plain_seconds / seconds:.1f}, of CPU time {plain_cpu / cpu:.2f}")
    for name, one, other in zip(texts, ours, plain, strict=True):
        if (one.status, one.midi) != (other.status, other.midi):
            print(f"DIFFERENT {name}: {len(one.midi)} files, {one.problem}; plain {len(other.midi)}, {other.problem}")
    same_status = sum(one.status == other.status for one, other in zip(ours, plain, strict=True))
    same_midi = sum(one.midi == other.midi for one, other in zip(ours, plain, strict=True))
    print(f"same exit status: {same_status} of {len(texts)}; same MIDI, byte by byte: {same_midi} of {len(texts)}")
    print(f"exit status 0: {sum(one.succeeded for one in ours)}; with MIDI: {sum(bool(one.midi) for one in ours)}")


if __name__ == "__main__":
    main()
