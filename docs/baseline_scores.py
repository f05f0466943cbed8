"""The scores of baselines on default data: a part of README.md.

It ends with a seal, a checksum of its text and of the versions behind its figures. A figure that is
changed by hand, and a new version of data, readers or tasks, break it.
"""

import subprocess
import tempfile
from hashlib import sha256
from statistics import fmean

from music_evals.datasets_builders import builder
from music_evals.evals.shared import declared_tasks
from music_evals.reports.records import Records, read_records
from music_evals.scorers import readers

MODELS = ("chance", "majority", "reader")
TITLES = {
    "muse": "MUSE from MIDI",
    "ziqi": "ZIQI-Eval",
    "musictheorybench": "MusicTheoryBench",
    "msu": "MSU-Bench, ABC",
    "lilybench": "LilyBench",
}
_TARGETS = ("muse", "ziqi", "musictheorybench", "msu_textual", "lilybench")


def seal(text: str) -> str:
    """Return the checksum of a part and of the versions of all that its figures rest on."""
    versions = [f"{name} {builder(name).BENCHMARK.version}" for name in TITLES]
    facts = [*versions, readers.VERSION, declared_tasks.VERSION, text]
    return sha256("\n".join(map(str, facts)).encode()).hexdigest()[:12]


def _records() -> Records:
    """Run the baselines, as `music-evals run` does; minutes."""
    with tempfile.TemporaryDirectory() as logs:
        for model in MODELS:
            command = ["music-evals", "run", *_TARGETS, "--model", f"baseline/{model}"]
            subprocess.run([*command, "--log-dir", logs, "--log-dir-allow-dirty"], check=True)
        return read_records(logs)


def baselines() -> str:
    """Return the mean of each benchmark's tasks by baseline, in percent."""
    records = _records()
    lines = [
        "| benchmark (questions) | random guessing | best constant answer "
        "| program that reads notation |",
        "|---|---|---|---|",
    ]
    for name, title in TITLES.items():
        runs = {model: records.current(name, model=f"baseline/{model}") for model in MODELS}
        questions = sum(len(records.main[run]) for run in runs["chance"].index)
        cells = []
        for own in runs.values():
            scores = {task: records.percent(run).value for run, task in own["task"].items()}
            if len(scores) == len(runs["chance"]):
                cells.append(f"{fmean(scores.values()):.1f}")
            else:
                some = ", ".join(f"{score:.1f} in `{task}`" for task, score in scores.items())
                cells.append(some or "does not answer")
        lines.append(f"| {title} ({questions}) | {' | '.join(cells)} |")
    return "\n".join(lines)
