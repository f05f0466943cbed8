"""What merging a log costs, beside copying each entry with `zipfile`, which unpacks and compresses
it anew.

    python perf/merging.py LOG [--copies 40]

LOG is a log of any run with ids that are texts. Its samples are repeated so many times under new
ids. MiB is the peak of the process.
"""

import json
import resource
import tempfile
import time
from pathlib import Path
from zipfile import ZipFile

import typer

from music_evals.shards.merging import choose, merge, read_parts


def repeat(log: Path, target: str, copies: int) -> list[str]:
    """Write a log with copies of the samples of another, and return their ids."""
    with ZipFile(log) as source, ZipFile(target, "w", source.infolist()[0].compress_type) as copy:
        contents = {name: source.read(name).decode() for name in source.namelist()}
        rows = []
        for number in range(copies):
            for row in json.loads(contents["summaries.json"]):
                old, new = f'"{row["id"]}"', f"{row['id']}-{number}"
                text = contents[f"samples/{row['id']}_epoch_1.json"].replace(old, f'"{new}"')
                copy.writestr(f"samples/{new}_epoch_1.json", text)
                rows.append({**row, "id": new})
        copy.writestr("summaries.json", json.dumps(rows))
        for name in ("reductions.json", "header.json"):
            copy.writestr(name, contents[name])
    return [row["id"] for row in rows]


def main(log: Path, copies: int = 40) -> None:
    """Merge and copy, and print the CPU seconds for 1,000 samples and the memory."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = f"{folder}/source.eval", f"{folder}/target.eval"
        ids = repeat(log, source, copies)
        started = time.process_time()
        with ZipFile(source) as archive, ZipFile(target, "w") as copied:
            for entry in archive.infolist():
                copied.writestr(entry.filename, archive.read(entry), entry.compress_type)
        middle = time.process_time()
        parts = read_parts(source)
        merge(parts, choose(parts), target, ids=ids, samples=len(ids))
        for name, seconds in {
            "zipfile": middle - started,
            "merge": time.process_time() - middle,
        }.items():
            print(f"{name}: {seconds / len(ids) * 1000:.3f} s for 1,000 of {len(ids)} samples")
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB")


if __name__ == "__main__":
    typer.run(main)
