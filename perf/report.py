"""What a report of many logs costs, against reading the same logs into Inspect's data frames.

The logs are those of two tasks run on `baseline/chance`, about 100 samples each, copied under the
names of other models: two logs a model, with other answers. The copies hold header and summaries,
which is what both sides read. Each measurement is a process of its own.

    python perf/report.py [--logs 10,100,1000]
"""

import os
import random
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

import typer
import zipfile_zstd  # noqa: F401 - teaches zipfile the compression of Inspect's logs

_TASKS = "music_evals/musictheorybench_knowledge music_evals/ziqi_generation"
_REPORT = "from music_evals.commands.main import main; main()"
_FRAMES = (
    "import sys; from inspect_ai.analysis import evals_df, samples_df;"
    " evals_df(sys.argv[1], quiet=True); samples_df(sys.argv[1], quiet=True)"
)


def copy_log(log: Path, copy: Path, model: str) -> None:
    """Copy a log as that of another model, whose answers are right or wrong at random."""
    with ZipFile(log) as archive, ZipFile(copy, "w") as target:
        for name in ("_journal/start.json", "summaries.json", "header.json"):
            parts = archive.read(name).decode().replace("baseline/chance", model).split('"value":')
            if name == "summaries.json":
                parts[1:] = [
                    f'"{random.choice("CI")}"{part[part.index(",") :]}' for part in parts[1:]
                ]
            target.writestr(name, '"value":'.join(parts))


def measure(title: str, *command: str) -> None:
    """Print what Python code costs in a process of its own."""
    process = os.posix_spawn(sys.executable, [sys.executable, "-c", *command], os.environ)
    _, status, usage = os.wait4(process, 0)
    seconds = usage.ru_utime + usage.ru_stime
    print(f"{title}: {seconds:.1f} s of CPU, {usage.ru_maxrss / 1024:.0f} MiB, status {status}")


def main(logs: str = "10,100,1000") -> None:
    """Compare reports of these numbers of logs with Inspect's data frames."""
    with tempfile.TemporaryDirectory() as folder:
        flags = f"--model baseline/chance --log-dir {folder}/run --display none"
        os.system(f"inspect eval {_TASKS} {flags}")
        originals = sorted(Path(folder).glob("run/*.eval"))
        for number in map(int, logs.split(",")):
            copies = Path(folder) / f"{number}"
            copies.mkdir()
            for place in range(number):
                name = f"mockllm/model-{place // 2}"
                copy_log(originals[place % 2], copies / f"{place}.eval", name)
            report = _REPORT, "report", str(copies)
            measure(f"report of {number} logs", *report)
            measure(f"report --out of {number} logs", *report, "--out", f"{copies}-out")
            measure(f"evals_df and samples_df of {number} logs", _FRAMES, str(copies))


if __name__ == "__main__":
    typer.run(main)
