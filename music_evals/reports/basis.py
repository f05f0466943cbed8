"""What the numbers of a report rest on: runs, data, settings and software, taken from the headers of logs.

What does not tell one run from another is told once: runs are numbered by their date, and the other tables say which
of them a row is about. Paths of the machine and what may be a secret are left out.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlsplit

from inspect_ai.log import EvalLog
from inspect_ai.model import ModelUsage

from music_evals.reports.tables import Cell, Figure, Report, Table

GENERATED: Final = "generated"
"""The source of data that this project made."""

# How requests are sent, which leaves the answers as they are.
_TRANSPORT: Final = frozenset(
    ("max_retries", "timeout", "attempt_timeout", "stream_idle_timeout", "max_connections", "adaptive_connections")
)
_DATA: Final = "dataset"  # the argument may be a folder; the table of the data tells what lay in it
_WORD: Final = re.compile(r"[\w.+:,-]{1,40}")
_SECRET: Final = re.compile(r"key|token|secret|passw|credential|auth", re.IGNORECASE)
_CHECKSUM: Final = 12  # characters, enough to tell two apart
_RUN: Final = (
    *("Run", "Task", "Arguments", "Model", "Begun", "Status", "In dataset", "Only", "Epochs"),
    *("Asked", "Completed", "Failed", "Unscored"),
    *("Input tokens", "Output tokens", "Reasoning tokens", "Other models' tokens", "Seconds", "Log"),
)


def basis_report(headers: Sequence[EvalLog], passed_over: Sequence[tuple[str, str]]) -> Report:
    """Make the tables of what the numbers rest on.

    Args:
        headers: headers of all logs that could be read, those that no table uses as well.
        passed_over: location of a log that was not used, and why.

    Returns:
        The tables of runs, data, settings and software, and of the logs passed over where there are any.

    Example:
        >>> [table.name for table in basis_report([], [("/logs/a.eval", "its status is error")]).tables]
        ['basis_passed_over']
    """
    runs = sorted(headers, key=lambda log: (_when(log.eval.created), log.eval.task, log.eval.model, log.location))
    tables = [runs_table(runs), data_table(runs), settings_table(runs), software_table(runs)] if runs else []
    return Report([*tables, *([_passed_over(passed_over)] if passed_over else [])], ())


def distinctions(headers: Iterable[EvalLog]) -> list[str]:
    """Say what sets measured numbers apart from published ones, for all to see.

    Args:
        headers: headers of the logs of a benchmark.

    Returns:
        A sentence on generated data and one on subsets, where there are any.

    Example:
        >>> distinctions([])
        []
    """
    abouts = [(log, log.eval.metadata or {}) for log in headers]
    made = sorted({str(about.get("dataset_label")) for _, about in abouts if about.get("dataset_source") == GENERATED})
    parts = sum(log.eval.config.limit is not None or log.eval.config.sample_id is not None for log, _ in abouts)
    found = [f"Generated data, not the paper's: {', '.join(made)}."] if made else []
    if parts:
        found.append(f"Only some of the samples were asked in {parts} of {len(abouts)} runs.")
    return found


def newest(headers: Iterable[EvalLog]) -> datetime:
    """Return when the latest of some logs was begun.

    Args:
        headers: headers of one log at least.

    Returns:
        The time, with its zone.

    Raises:
        ValueError: there is no log.
    """
    return max(_when(log.eval.created) for log in headers)


def runs_table(runs: Sequence[EvalLog]) -> Table:
    """Lay out what was run, how much of it came to an end, and what it took.

    Args:
        runs: headers, in the order of their numbers.

    Returns:
        The table; times in seconds.

    Example:
        >>> runs_table([]).name
        'basis_runs'
    """
    return _table(
        "basis_runs",
        "Runs",
        _RUN,
        [_described(number, log) for number, log in enumerate(runs, start=1)],
        (
            "Asked: samples of the run, each epoch counted. Failed: asked and not completed. Unscored: of the scorer "
            "that left most unscored. Begun: in UTC. Seconds: from the first sample to the last.",
            "Input tokens include those read from or written to a provider's cache; output tokens include those of "
            "reasoning where the provider counts them so. Other models: judges and other roles.",
        ),
    )


def data_table(runs: Sequence[EvalLog]) -> Table:
    """Lay out which data ran.

    Args:
        runs: headers, in the order of their numbers.

    Returns:
        The table: a row for each dataset.

    Example:
        >>> data_table([]).name
        'basis_data'
    """
    names = {
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
    return _grouped(
        "basis_data",
        "Data",
        list(names),
        [[_text((log.eval.metadata or {}).get(name)) for name in names.values()] for log in runs],
        ("Builder: version of the builder that made the rows.",),
    )


def settings_table(runs: Sequence[EvalLog]) -> Table:
    """Lay out how the models were run.

    Args:
        runs: headers, in the order of their numbers.

    Returns:
        The table: a row for each model and its settings.

    Example:
        >>> settings_table([]).name
        'basis_settings'
    """
    return _grouped(
        "basis_settings",
        "Models and settings",
        ("Model", "Served at", "Provider", "Generation", "Order of samples", "Limits of a sample", "Other roles"),
        [
            [
                log.eval.model,
                urlsplit(log.eval.model_base_url).hostname if log.eval.model_base_url else None,
                _settings(log.eval.model_args),
                _settings(log.eval.model_generate_config.model_dump(exclude_none=True), without=_TRANSPORT),
                _order(log),
                _settings(
                    {
                        name: getattr(log.eval.config, f"{name}_limit")
                        for name in ("message", "token", "turn", "time", "working", "cost")
                    }
                ),
                _roles(log),
            ]
            for log in runs
        ],
        (
            "What is not named has the provider's default. A name with … was set to what is not shown: a text of "
            "several words, a path, or what may be a secret.",
        ),
    )


def software_table(runs: Sequence[EvalLog]) -> Table:
    """Lay out which versions ran.

    Args:
        runs: headers, in the order of their numbers.

    Returns:
        The table: a row for each set of versions.

    Example:
        >>> software_table([]).name
        'basis_software'
    """
    packages = sorted({name for log in runs for name in log.eval.packages} - {"music_evals"})
    return _grouped(
        "basis_software",
        "Software",
        ("Task version", "music-evals", *packages, "Git commit"),
        [
            [
                _text(log.eval.task_version),
                (log.eval.metadata or {}).get("music_evals_version"),
                *(log.eval.packages.get(name) for name in packages),
                _commit(log),
            ]
            for log in runs
        ],
        ("Git commit: of the folder of the task; modified where it held changes that were not committed.",),
    )


def _described(number: int, log: EvalLog) -> list[Cell]:
    """The cells of a run."""
    used = log.stats.model_usage.get(log.eval.model)
    others = [usage for name, usage in log.stats.model_usage.items() if name != log.eval.model]
    asked, completed, unscored = _outcomes(log)
    return [
        str(number),
        log.eval.task,
        _settings(log.eval.task_args_passed, without=(_DATA,)),
        log.eval.model,
        f"{_when(log.eval.created):%Y-%m-%d %H:%M}",
        f"{log.status}, invalidated" if log.invalidated else str(log.status),
        _whole(log.eval.dataset.samples),
        _only(log),
        _whole(log.eval.config.epochs or 1),
        _whole(asked),
        _whole(completed),
        _whole(None if asked is None or completed is None else asked - completed),
        _whole(unscored),
        *((_whole(_input(used)), _whole(used.output_tokens), _whole(used.reasoning_tokens)) if used else (None,) * 3),
        _whole(sum(_input(usage) + usage.output_tokens for usage in others) if others else None),
        _whole(_seconds(log)),
        _file_name(log.location),
    ]


def _passed_over(passed_over: Sequence[tuple[str, str]]) -> Table:
    rows = [(_file_name(where), why.replace(_folder(where), "")) for where, why in passed_over]
    return Table("basis_passed_over", "Logs passed over", ("Log", "Why"), rows)


def _grouped(
    name: str, title: str, headings: Sequence[str], described: Sequence[Sequence[str | None]], notes: Sequence[str]
) -> Table:
    """Make a row of each description, with the numbers of the runs that it fits."""
    numbers: dict[tuple[str | None, ...], list[int]] = {}
    for number, row in enumerate(described, start=1):
        numbers.setdefault(tuple(row), []).append(number)
    rows = [[*row, _ranges(found)] for row, found in numbers.items()]
    return _table(name, title, (*headings, "Runs"), rows, notes)


def _table(
    name: str, title: str, headings: Sequence[str], rows: Sequence[Sequence[Cell]], notes: Sequence[str]
) -> Table:
    """Make a table of the columns that say anything."""
    kept = [place for place in range(len(headings)) if any(row[place] is not None for row in rows)]
    return Table(
        name, title, [headings[place] for place in kept], [[row[place] for place in kept] for row in rows], notes
    )


def _ranges(numbers: Sequence[int]) -> str:
    """Write numbers in order, with those that follow each other as a range."""
    ranges: list[tuple[int, int]] = []
    for number in numbers:
        first = ranges.pop()[0] if ranges and ranges[-1][1] == number - 1 else number
        ranges.append((first, number))
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in ranges)


def _settings(values: Mapping[str, Any], without: Collection[str] = ()) -> str | None:
    """Write settings as name=value, those of None left out and what may be private not shown."""
    kept = sorted((name, value) for name, value in values.items() if value is not None and name not in without)
    return ", ".join(f"{name}={_setting(name, value)}" for name, value in kept) or None


def _setting(name: str, value: Any) -> str:
    if isinstance(value, bool | int | float):
        return str(value)
    if isinstance(value, str) and _WORD.fullmatch(value) and not _SECRET.search(name):
        return value
    return "…"


def _roles(log: EvalLog) -> str | None:
    roles = log.eval.model_roles or {}
    found = [
        f"{role}: {' and '.join(model.model for model in (models if isinstance(models, list) else [models]))}"
        for role, models in sorted(roles.items())
    ]
    return "; ".join(found) or None


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


def _outcomes(log: EvalLog) -> tuple[int | None, int | None, int | None]:
    """How many samples were asked, completed, and left unscored by the scorer that left most."""
    if log.results is None:
        return None, None, None
    unscored = [score.unscored_samples or 0 for score in log.results.scores]
    return log.results.total_samples, log.results.completed_samples, max(unscored, default=None)


def _seconds(log: EvalLog) -> float | None:
    begun, ended = log.stats.started_at, log.stats.completed_at
    return (_when(ended) - _when(begun)).total_seconds() if begun and ended else None


def _input(used: ModelUsage) -> int:
    return used.input_tokens + (used.input_tokens_cache_read or 0) + (used.input_tokens_cache_write or 0)


def _commit(log: EvalLog) -> str | None:
    revision = log.eval.revision
    return f"{revision.commit}{', modified' if revision.dirty else ''}" if revision else None


def _file_name(location: str) -> str:
    return location.rpartition("/")[2]


def _folder(location: str) -> str:
    """The path of a log's folder, with the last stroke, as errors name it."""
    return location.removeprefix("file://").removesuffix(_file_name(location))


def _when(time: str) -> datetime:
    return datetime.fromisoformat(time)


def _whole(number: float | None) -> Figure | None:
    return None if number is None else Figure(number, decimals=0)


def _text(value: object) -> str | None:
    """A fact as text; of a checksum its beginning."""
    if value is None:
        return None
    text = str(value)
    return text[:_CHECKSUM] if re.fullmatch(r"[0-9a-f]{32,64}", text) else text
