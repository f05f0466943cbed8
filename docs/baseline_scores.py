"""The scores of baselines on default data: parts of README.md and docs/what_a_score_rests_on.md.

Each part ends with a seal, a checksum of its text and of the versions behind its figures. A figure
that is changed by hand, and a new version of data, readers or tasks, break it.
"""

import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from statistics import fmean

from music_evals import benchmarks
from music_evals.datasets_builders import builder
from music_evals.evals.shared import declared_tasks
from music_evals.reports.records import Records, read_records
from music_evals.scorers import readers

MODELS = ("chance", "majority", "reader")
STIMULI = ("given", "none", "noise", "other")
TITLES = {
    "muse": "MUSE from MIDI",
    "ziqi": "ZIQI-Eval",
    "musictheorybench": "MusicTheoryBench",
    "msu": "MSU-Bench, ABC",
    "lilybench": "LilyBench",
}
_TARGETS = ("muse", "ziqi", "musictheorybench", "msu_textual", "lilybench")
_ARMS = {
    "reader": ("muse", "msu_textual", "lilybench_bar_count", "lilybench_metadata_qa"),
    "majority": ("muse_syncopation", "ziqi_generation", "msu_textual"),
    "chance": ("ziqi_generation",),
}


def seal(text: str) -> str:
    """Return the checksum of a part and of the versions of all that its figures rest on."""
    versions = [f"{name} {builder(name).BENCHMARK.version}" for name in TITLES]
    facts = [*versions, readers.VERSION, declared_tasks.VERSION, text]
    return sha256("\n".join(map(str, facts)).encode()).hexdigest()[:12]


@cache
def _records() -> Records:
    """Run the baselines, as `music-evals run` does; minutes."""
    with tempfile.TemporaryDirectory() as logs:
        for model in MODELS:
            _run(_TARGETS, model, logs)
            _run(_ARMS[model], model, logs, "--arms", "all")
        return read_records(logs)


def _run(targets: Sequence[str], model: str, logs: str, *options: str) -> None:
    command = ["music-evals", "run", *targets, "--model", f"baseline/{model}", "--log-dir", logs]
    subprocess.run([*command, "--log-dir-allow-dirty", *options], check=True)


def baselines() -> str:
    """Return the mean of each benchmark's tasks by baseline, in percent."""
    records = _records()
    lines = [
        "| benchmark (questions) | random guessing | best constant answer "
        "| program that reads notation |",
        "|---|---|---|---|",
    ]
    for name, title in TITLES.items():
        runs = {
            model: records.current(name, model=f"baseline/{model}", stimulus="given")
            for model in MODELS
        }
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


def arms() -> str:
    """Return the baselines' scores with each stimulus, in percent."""
    records = _records()
    lines = [
        "| | questions | music | no music | noise | other music |",
        "|---|---|---|---|---|---|",
    ]
    for model in reversed(MODELS):
        runs = records.current(model=f"baseline/{model}")
        for (name, task), group in runs.groupby(["benchmark", "task"], sort=False):
            by_stimulus = dict(zip(group["stimulus"], group.index, strict=True))
            if len(by_stimulus) > 1:
                scores = [records.percent(by_stimulus[each]).value for each in STIMULI]
                shown = " | ".join(f"{score:.1f}" for score in scores)
                questions = len(records.main[by_stimulus["given"]])
                title = f"{model}, {benchmarks.load(name).title} `{task}`"
                lines.append(f"| {title} | {questions} | {shown} |")
    return "\n".join(lines)
