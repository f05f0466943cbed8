"""What merging a log costs, beside copying each entry with `zipfile`, which unpacks and compresses
it anew.

    python perf/merging.py LOG

LOG is a log of any run with some thousand samples. MiB is the peak of the process.
"""

import resource
import tempfile
import time
from pathlib import Path
from zipfile import ZipFile

import typer

from music_evals.shards.merging import choose, merge, read_parts


def main(log: Path) -> None:
    """Merge and copy, and print the CPU seconds for 1,000 samples and the memory."""
    with tempfile.TemporaryDirectory() as folder:
        target = f"{folder}/target.eval"
        started = time.process_time()
        with ZipFile(log) as archive, ZipFile(target, "w") as copied:
            for entry in archive.infolist():
                copied.writestr(entry.filename, archive.read(entry), entry.compress_type)
        middle = time.process_time()
        parts = read_parts(str(log))
        ids = parts[0].header.eval.dataset.sample_ids or []
        merge(parts, choose(parts), target, ids=ids, samples=len(ids))
        for name, seconds in {
            "zipfile": middle - started,
            "merge": time.process_time() - middle,
        }.items():
            print(f"{name}: {seconds / len(ids) * 1000:.3f} s for 1,000 of {len(ids)} samples")
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB")


if __name__ == "__main__":
    typer.run(main)
