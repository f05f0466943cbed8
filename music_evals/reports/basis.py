"""What the numbers of a report rest on: runs, data, settings and software, taken from the headers of logs.

What does not tell one run from another is told once: runs are numbered by their date, and the other tables say which
of them a row is about. Paths of the machine and what may be a secret are left out.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlsplit

import pandas as pd
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelUsage

from music_evals.reports.identity import LIMITS, TRANSPORT, generation, setting, shortened
from music_evals.reports.tables import Cell, Report, Table, common_notes, of_frame, whole
from music_evals.reports.texts import plain

_DATA: Final = "dataset"  # the argument may be a folder; the table of the data tells what lay in it
_ABOUT_DATA: Final = {
    "Benchmark": "benchmark",
    "Dataset": "dataset_label",
    "Source": "dataset_source",
    "Source revision": "dataset_source_revision",
    "Source SHA-256": "dataset_source_sha256",
    "Revision on the Hub": "dataset_revision",
    "Builder": "dataset_builder_version",
    "Seed": "dataset_seed",
    "Licence": "dataset_licence",
    "Files missing": "dataset_missing_files",
}
_when: Final = datetime.fromisoformat


def basis_report(headers: Sequence[EvalLog], passed_over: Sequence[tuple[str, str]]) -> Report:
    """Make the tables of runs, data, settings and software, and of the logs passed over (location and reason)."""
    runs = sorted(headers, key=lambda log: (_when(log.eval.created), log.eval.task, log.eval.model, log.location))
    tables = []
    if runs:
        rows = [{"Run": str(number), **_run(log)} for number, log in enumerate(runs, start=1)]
        frame = pd.DataFrame(rows, dtype=object).dropna(axis=1, how="all")
        tables.append(of_frame("basis_runs", "Runs", frame, common_notes("basis_runs")))
        packages = sorted({name for log in runs for name in log.eval.packages} - {"music_evals"})
        tables += [
            _grouped("data", "Data", map(_data, runs)),
            _grouped("settings", "Models and settings", map(_settings_of, runs)),
            _grouped("software", "Software", (_software(log, packages) for log in runs)),
        ]
    if passed_over:
        # Errors name the path of a log, whose folder is nobody's business.
        why_not = [
            (plain(name := where.rpartition("/")[2]), why.replace(where.removeprefix("file://").removesuffix(name), ""))
            for where, why in passed_over
        ]
        tables.append(Table("basis_passed_over", "Logs passed over", ("Log", "Why"), why_not))
    return Report(tables)


def described(log: EvalLog) -> list[Mapping[str, Cell]]:
    """What the tables say of a log; an error where there is something in it of which they cannot tell."""
    return [_run(log), _data(log), _settings_of(log), _software(log, log.eval.packages)]


def distinctions(headers: Iterable[EvalLog]) -> list[str]:
    """Say what sets measured numbers apart from published ones, for all to see: generated data, and subsets."""
    logs = list(headers)
    abouts = [log.eval.metadata or {} for log in logs]
    made = {str(about.get("dataset_label")) for about in abouts if about.get("dataset_source") == "generated"}
    parts = sum(log.eval.config.limit is not None or log.eval.config.sample_id is not None for log in logs)
    found = [f"Generated data, not the paper's: {', '.join(sorted(made))}."] if made else []
    return found + ([f"Only some of the samples were asked in {parts} of {len(logs)} runs."] if parts else [])


def newest(headers: Iterable[EvalLog]) -> datetime:
    """Return when the latest of some logs was begun."""
    return max(_when(log.eval.created) for log in headers)


def _run(log: EvalLog) -> dict[str, Cell]:
    """What was run, how much of it came to an end, and what it took."""
    used = log.stats.model_usage.get(log.eval.model)
    others = [usage for name, usage in log.stats.model_usage.items() if name != log.eval.model]
    results = log.results
    asked, completed = (results.total_samples, results.completed_samples) if results else (None, None)
    unscored = max((score.unscored_samples or 0 for score in results.scores), default=None) if results else None
    begun, ended = log.stats.started_at, log.stats.completed_at
    return {
        "Task": log.eval.task,
        "Arguments": _settings(log.eval.task_args_passed, without=(_DATA,)),
        "Model": log.eval.model,
        "Begun": f"{_when(log.eval.created):%Y-%m-%d %H:%M}",
        "Status": f"{log.status}, invalidated" if log.invalidated else str(log.status),
        "In dataset": whole(log.eval.dataset.samples),
        "Only": _only(log),
        "Epochs": whole(log.eval.config.epochs or 1),
        "Asked": whole(asked),
        "Completed": whole(completed),
        "Failed": whole(None if asked is None or completed is None else asked - completed),
        "Unscored": whole(unscored),
        "Input tokens": whole(_input(used)) if used else None,
        "Output tokens": whole(used.output_tokens) if used else None,
        "Reasoning tokens": whole(used.reasoning_tokens) if used else None,
        "Other models' tokens": whole(sum(_input(usage) + usage.output_tokens for usage in others) if others else None),
        "Seconds": whole((_when(ended) - _when(begun)).total_seconds() if begun and ended else None),
        "Log": plain(log.location.rpartition("/")[2]),
    }


def _data(log: EvalLog) -> dict[str, Cell]:
    about = log.eval.metadata or {}
    return {heading: shortened(about.get(name)) for heading, name in _ABOUT_DATA.items()}


def _settings_of(log: EvalLog) -> dict[str, Cell]:
    """How a model was run."""
    roles = [
        f"{role}: {' and '.join(model.model for model in (models if isinstance(models, list) else [models]))}"
        for role, models in sorted((log.eval.model_roles or {}).items())
    ]
    limited = {name: getattr(log.eval.config, f"{name}_limit") for name in sorted(LIMITS)}
    limits = [f"{name}={value}" for name, value in limited.items() if value is not None]
    return {
        "Model": log.eval.model,
        "Served at": urlsplit(log.eval.model_base_url).hostname if log.eval.model_base_url else None,
        "Provider": _settings(log.eval.model_args),
        "Generation": _settings(generation(log), without=TRANSPORT),
        "Order of samples": _order(log),
        "Limits of a sample": ", ".join(limits) or None,
        "Other roles": "; ".join(roles) or None,
    }


def _software(log: EvalLog, packages: Iterable[str]) -> dict[str, Cell]:
    revision = log.eval.revision
    return {
        "Task version": shortened(log.eval.task_version),
        "music-evals": shortened((log.eval.metadata or {}).get("music_evals_version")),
        **{name: log.eval.packages.get(name) for name in packages},
        "Git commit": f"{revision.commit}{', modified' if revision.dirty else ''}" if revision else None,
    }


def _grouped(name: str, title: str, described: Iterable[Mapping[str, Cell]]) -> Table:
    """Make a row of each description, with the numbers of the runs that it fits, and columns that say anything."""
    frame = pd.DataFrame(described, dtype=object)
    runs = pd.Series(range(1, len(frame) + 1), name="Runs")
    frame = runs.groupby([frame[column] for column in frame], sort=False, dropna=False).agg(_ranges).reset_index()
    return of_frame(f"basis_{name}", title, frame.dropna(axis=1, how="all"), common_notes(f"basis_{name}"))


def _ranges(numbers: Iterable[int]) -> str:
    """Write numbers in order, with those that follow each other as a range."""
    ranges: list[tuple[int, int]] = []
    for number in numbers:
        first = ranges.pop()[0] if ranges and ranges[-1][1] == number - 1 else number
        ranges.append((first, number))
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in ranges)


def _settings(values: Mapping[str, Any], without: Collection[str] = ()) -> str | None:
    """Write settings as name=value, those of None left out and what may be private not shown."""
    kept = sorted((name, value) for name, value in values.items() if value is not None and name not in without)
    return ", ".join(f"{name}={setting(name, value)}" for name, value in kept) or None


def _order(log: EvalLog) -> str:
    """How the samples were put in order, by Inspect or by the task."""
    shuffle = log.eval.config.sample_shuffle
    seed = log.eval.task_args.get("seed") if shuffle is None and log.eval.dataset.shuffled else shuffle
    if isinstance(seed, int) and not isinstance(seed, bool):
        return f"shuffled, seed {seed}"
    return "shuffled" if log.eval.dataset.shuffled or shuffle else "as in the dataset"


def _only(log: EvalLog) -> str | None:
    """Which samples were asked, where not all."""
    limit, ids = log.eval.config.limit, log.eval.config.sample_id
    if ids is not None:
        return f"{len(ids)} named" if isinstance(ids, list) else "1 named"
    if limit is None:
        return None
    return f"first {limit}" if isinstance(limit, int) else f"{limit[0] + 1}–{limit[1]}"


def _input(used: ModelUsage) -> int:
    return used.input_tokens + (used.input_tokens_cache_read or 0) + (used.input_tokens_cache_write or 0)
