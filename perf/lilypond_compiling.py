"""How fast LilyPond texts become MIDI: all texts through `compile_texts`, beside one plain LilyPond
process per text.

The texts are pieces of the Mutopia Project (the folder in the argument) that consist of one file
and include nothing. They are taken evenly, and convert-ly brings them to the current syntax before
the measurement. The plain process is ``lilypond -dno-print-pages``, one text after the other. It
runs in the same sandbox, because LilyPond executes what its input says; that adds some hundredths
of a second per text. Nothing is cached.

    python perf/lilypond_compiling.py MUTOPIA [--pieces 200]

The script checks that exit status and MIDI are the same, file by file. Target: at least 8 times as
fast on four cores.
"""

import resource
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import typer

from music_evals.notation.lilypond.compiler import Compiled, compile_texts
from music_evals.notation.lilypond.converters import ConversionError, modernise
from music_evals.notation.lilypond.sandbox import Limits, available_confinement
from music_evals.notation.lilypond.source import read_text

LIMITS = Limits(
    seconds=120
)  # long enough for every text, so that the plain process is never stopped


def modern(path: Path) -> str | None:
    try:
        return modernise(read_text(path))
    except ConversionError:
        return None


def choose(folder: Path, pieces: int) -> dict[str, str]:
    """Take pieces of one file evenly, without the files that cannot be converted."""
    files = sorted(path for path in folder.rglob("*.ly") if not path.parent.name.endswith("-lys"))
    paths = [path for path in files if b"\\include" not in path.read_bytes()]
    with ThreadPoolExecutor() as pool:
        texts = zip(paths, pool.map(modern, paths), strict=True)
        usable = [(str(path.relative_to(folder)), text) for path, text in texts if text is not None]
    pieces = min(pieces, len(usable))
    return dict(usable[number * len(usable) // pieces] for number in range(pieces))


def cpu_seconds() -> float:
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def compiled(
    texts: list[str], settings: str | None, workers: int | None
) -> tuple[float, float, list[Compiled]]:
    """Compile texts; return the seconds that it took, the CPU seconds of all processes, and the
    results.
    """
    cpu, started = cpu_seconds(), time.perf_counter()
    results = list(compile_texts(texts, settings=settings, limits=LIMITS, workers=workers))
    return time.perf_counter() - started, cpu_seconds() - cpu, results


def main(mutopia: Path, pieces: int = 200) -> None:
    """Compile pieces in both ways, and print the ratios and the differences."""
    print(f"sandbox: {available_confinement()}")
    texts = choose(mutopia, pieces)
    if not texts:
        sys.exit(f"{mutopia} holds no LilyPond file that includes nothing")
    print(f"{len(texts)} texts, {sum(map(len, texts.values())):,} characters")
    seconds, cpu, results = compiled(list(texts.values()), None, None)
    plain = compiled(list(texts.values()), "", 1)
    print(f"{seconds:.4g} s, plain {plain[0]:.4g} s, ratio {plain[0] / seconds:.3g}")
    print(f"CPU {cpu:.4g} s, plain {plain[1]:.4g} s, ratio {plain[1] / cpu:.3g}")
    for text, ours, theirs in zip(texts, results, plain[2], strict=True):
        if (ours.status, ours.midi) != (theirs.status, theirs.midi):
            print(
                f"DIFFERENT {text}: {len(ours.midi)} files, {ours.problem}; plain "
                f"{len(theirs.midi)}"
            )


if __name__ == "__main__":
    typer.run(main)
