"""What ran, from the headers of logs: what tells two runs apart, and tables of runs, data, settings
and software.

A `RunFingerprint` holds whatever can change an answer beside the task: its parameters that are not
as by default, the model's arguments and address, settings of generation, limits, epochs, models in
roles, another solver, the wording of a file of prompts, the version of the task, and the facts of
the data. A setting is shown if runs of the report differ in it. A setting that a log does not state
has its default.
"""

import json
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from operator import attrgetter
from typing import Any
from urllib.parse import urlsplit

import pandas as pd
from inspect_ai.log import EvalLog, EvalResults
from inspect_ai.model import ModelUsage

from music_evals.notation.grouping import group_by
from music_evals.reports.sanitize import plain
from music_evals.reports.table import Cell, Table, count, notes, text

DEFAULT = "default"
TRANSPORT = frozenset(
    (
        "max_retries",
        "timeout",
        "attempt_timeout",
        "stream_idle_timeout",
        "max_connections",
        "adaptive_connections",
    )
)
"""Settings of generation that say how requests are sent."""

_LIMIT_NAMES = (
    "message_limit",
    "token_limit",
    "turn_limit",
    "time_limit",
    "working_limit",
    "cost_limit",
)
_HARMLESS = TRANSPORT | {
    "batch",
    "cache",
    "cache_prompt",
    "logprobs",
    "top_logprobs",
    "prompt_logprobs",
}
_DATA = {
    "source_revision": "dataset_source_revision",
    "source_sha256": "dataset_source_sha256",
    "revision": "dataset_revision",
    "builder": "dataset_builder_version",
    "data_seed": "dataset_seed",
    "files_missing": "dataset_missing_files",
}
_WORD = re.compile(r"[\w.+:, -]{1,60}")
# Parameters whose values may hold a "/".
_NAMES_OF_MODELS = frozenset(("judges", "encoder", "reference", "reader"))
_SECRET = re.compile(r"key|token(?!s|_limit|izer)|secret|passw|credential|auth", re.IGNORECASE)
_CHECKSUM = re.compile(r"[0-9a-f]{32,64}")
_SHORT = 12  # characters of a checksum, enough to tell two apart


_Facts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RunFingerprint:
    """What tells a run from the others of a report.

    Args:
        model: the model, with the arguments in which its runs differ: ``vllm/some-model
            [dtype=float16]``.
        params: parameters of the task that are not as by default, as ``shots=few``.
        settings: settings in which runs differ, as ``temperature=0.7``.
        data: facts in which runs on data of one label differ, as ``revision=0123456789ab``.
    """

    model: str
    params: tuple[str, ...]
    settings: tuple[str, ...]
    data: tuple[str, ...]


def fingerprints(logs: Sequence[EvalLog]) -> list[RunFingerprint]:
    """Return what tells runs apart, given the headers of their logs, in the same order."""
    abouts = [log.eval.metadata or {} for log in logs]
    models = _differing([log.eval.model for log in logs], map(_model_facts, logs))
    settings = _differing([""] * len(logs), map(_settings, logs))
    # Another file of prompts is another value of the parameter; only its content is compared here.
    files = [log.eval.task_args.get("prompts") for log in logs]
    contents = [{"prompts_sha256": about.get("prompts_sha256")} for about in abouts]
    prompts = _differing(files, contents)
    labels = [(about.get("benchmark"), about.get("dataset_label")) for about in abouts]
    data = _differing(labels, map(_data, abouts))
    return [
        RunFingerprint(
            model=f"{log.eval.model} [{', '.join(arguments)}]" if arguments else log.eval.model,
            params=tuple(_words(about.get("condition") or {})),
            settings=(*changed, *wording),
            data=tuple(facts),
        )
        for log, about, arguments, changed, wording, facts in zip(
            logs, abouts, models, settings, prompts, data, strict=True
        )
    ]


def generation(log: EvalLog) -> _Facts:
    """Return the settings under which a run's model generated, with those of its task."""
    return log.eval.model_generate_config.merge(log.plan.config).model_dump(
        mode="json", exclude_none=True
    )


def models_by_role(log: EvalLog) -> dict[str, str]:
    """Return the names of the models beside the one that was evaluated, by their roles."""
    names = {}
    for role, models in (log.eval.model_roles or {}).items():
        listed = models if isinstance(models, list) else [models]
        names[role] = " and ".join(model.model for model in listed)
    return names


def shown(name: str, value: Any) -> str:
    """Return a value as it may be shown: paths and possible secrets as ``…`` and a short checksum.

    Example:
        >>> shown("max_tokens", 512), shown("password", 123)
        ('512', '…a665a4')
    """
    values = value if isinstance(value, list | tuple) else [value]
    if not _SECRET.search(name) and all(_is_public(name, element) for element in values):
        return ",".join(map(str, values))
    return f"…{sha256(_canonical(value).encode(errors='surrogatepass')).hexdigest()[:6]}"


def _is_public(name: str, value: Any) -> bool:
    """Whether a value is a number or a word, and no path."""
    if not isinstance(value, str):
        return value is None or isinstance(value, int | float)
    word = value.replace("/", "") if name in _NAMES_OF_MODELS else value
    return _WORD.fullmatch(word) is not None


def _words(values: _Facts) -> list[str]:
    return [f"{name}={shown(name, value)}" for name, value in values.items()]


def shortened(value: object) -> str | None:
    """Return a fact as text; of a checksum its beginning."""
    words = None if value is None else str(value)
    return words[:_SHORT] if words and _CHECKSUM.fullmatch(words) else words


def _data(about: _Facts) -> _Facts:
    return {name: about.get(key) for name, key in _DATA.items()}


def _differing(groups: Sequence[Hashable], facts: Iterable[_Facts]) -> list[list[str]]:
    """For each log, as ``name=value``, the facts in which logs of its group differ, without
    defaults.
    """
    facts_of_logs = list(facts)
    differing: list[dict[str, Any]] = [{} for _ in facts_of_logs]
    for places in group_by(range(len(groups)), groups.__getitem__).values():
        own = [facts_of_logs[place] for place in places]
        for name in sorted(set().union(*own)):
            values = [stated.get(name) for stated in own]
            if len(set(map(_canonical, values))) > 1:
                for place, value in zip(places, values, strict=True):
                    differing[place][name] = shortened(value) if name in _DATA else value
    return [_words(_stated(changed)) for changed in differing]


def _stated(facts: _Facts) -> dict[str, Any]:
    """Facts without those that are as by default."""
    return {name: value for name, value in facts.items() if value is not None}


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _model_facts(log: EvalLog) -> _Facts:
    facts = _stated(log.eval.model_args)
    if log.eval.model_base_url:
        address = urlsplit(log.eval.model_base_url)
        path = address.path.rstrip("/").removesuffix("/v1")
        facts["served_at"] = address.netloc.rpartition("@")[2] + path
    return facts


def _settings(log: EvalLog) -> _Facts:
    """Settings of a run that are not its task's own."""
    config, own = log.eval.config, (log.eval.metadata or {}).get("generation") or {}
    settings = {}
    for name, value in generation(log).items():
        if name not in _HARMLESS and own.get(name) != value:
            # A task may have a parameter called seed.
            settings["sampling_seed" if name == "seed" else name] = value
    for name in (*_LIMIT_NAMES, "token_limit_type"):
        settings[name] = getattr(config, name)
    if (config.epochs or 1) > 1:
        reducers = config.epochs_reducer or ["mean"]
        settings["epochs"] = config.epochs if reducers == ["mean"] else [config.epochs, *reducers]
    settings |= models_by_role(log)
    if log.eval.solver:
        settings["solver"] = log.eval.solver
        settings["solver_args"] = log.eval.solver_args or None
    settings["task_version"] = log.eval.task_version
    return settings


def signature(log: EvalLog) -> str:
    """Return in one line what a score must have in common with another one to be compared with it.

    These are task, parameters and settings that are not as by default, data with version or
    revision, the version of the readers, and that of the tasks:
    ``muse/syncopation|strategy=cot|data:generated-seed1@1.3.0|readers:3|v1.1.0``.
    """
    about = log.eval.metadata or {}
    settings = _stated(_settings(log))
    del settings["task_version"]
    changed = _words({**(about.get("condition") or {}), **settings})
    if selection := _selection(log):
        changed.append(f"only {selection}")
    revision = shortened(about.get("dataset_revision") or about.get("dataset_source_revision"))
    version = revision or about.get("dataset_builder_version", "?")
    parts = [
        f"{about['benchmark']}/{about['config']}",
        ",".join(changed) or DEFAULT,
        f"data:{about['dataset_label']}@{version}",
        f"readers:{about.get('readers', '?')}",
        f"v{log.eval.task_version}",
    ]
    return "|".join(parts)


# --- tables of what the numbers rest on ---


def metadata_tables(
    headers: Sequence[EvalLog], passed_over: Sequence[tuple[str, str]]
) -> list[Table]:
    """Make the table of runs, by date, and that of logs passed over (location and reason).

    What is the same in all runs is said once, in the notes.
    """
    tables = []
    if headers:
        runs = sorted(
            headers,
            key=lambda log: (_time(log.eval.created), log.eval.task, log.eval.model, log.location),
        )
        frame = pd.DataFrame([run_facts(log) for log in runs], dtype=object)
        frame = frame.dropna(axis=1, how="all")
        same = []
        if len(frame) > 1:
            same = [name for name in frame if len(set(map(str, frame[name]))) == 1]
        lines = [f"{name}: {text(frame[name].iloc[0])}." for name in same]
        cells = frame.drop(columns=same).where(frame.notna(), None)
        columns, rows = tuple(cells.columns), cells.to_numpy().tolist()
        tables.append(Table("basis_runs", "Runs", columns, rows, [*notes("basis_runs"), *lines]))
    if passed_over:
        rows = []
        for where, why in passed_over:
            # Reasons may name the path of a log; its folder is private.
            name = where.rpartition("/")[2]
            folder = where.removeprefix("file://").removesuffix(name)
            rows.append([plain(name), why.replace(folder, "")])
        tables.append(Table("basis_passed_over", "Logs passed over", ("Log", "Why"), rows))
    return tables


def run_facts(log: EvalLog) -> dict[str, Cell]:
    """Say what was run, on which data and with which settings and software; an error if the header
    is not usable.
    """
    about, revision = log.eval.metadata or {}, log.eval.revision
    packages = dict(sorted(log.eval.packages.items()))
    packages.pop("music_evals", None)
    commit = None
    if revision:
        commit = f"{revision.commit}, modified" if revision.dirty else revision.commit
    return {
        "Signature": signature(log),
        "Task": log.eval.task,
        "Arguments": _listed({**log.eval.task_args_passed, "dataset": None}),
        "Model": log.eval.model,
        **_amounts(log),
        **_data_facts(about),
        **_setting_facts(log),
        "Task version": shortened(log.eval.task_version),
        "music-evals": shortened(about.get("music_evals_version")),
        **packages,
        "Git commit": commit,
        "Log": plain(log.location.rpartition("/")[2]),
    }


def _amounts(log: EvalLog) -> dict[str, Cell]:
    """When a run began, how many samples it asked, and what it cost."""
    results, stats = log.results or EvalResults(), log.stats
    usages = dict(stats.model_usage)
    own = [usages.pop(log.eval.model)] if log.eval.model in usages else []
    return {
        "Begun": f"{_time(log.eval.created):%Y-%m-%d %H:%M}",
        "In dataset": count(log.eval.dataset.samples),
        "Only": _selection(log),
        "Epochs": count(log.eval.config.epochs or 1),
        "Asked": count(results.total_samples),
        "Completed": count(results.completed_samples),
        "Input tokens": _total(map(_input_tokens, own)),
        "Output tokens": _total(map(attrgetter("output_tokens"), own)),
        "Reasoning tokens": _total(map(attrgetter("reasoning_tokens"), own)),
        "Other models' tokens": _total(map(_all_tokens, usages.values())),
        "Seconds": count(wall_seconds(log)),
    }


def wall_seconds(log: EvalLog) -> float | None:
    """Return the seconds from the start of a task to its end; None if the log does not say."""
    start, end = log.stats.started_at, log.stats.completed_at
    return (_time(end) - _time(start)).total_seconds() if start and end else None


def _total(amounts: Iterable[int | None]) -> Cell:
    stated = [amount for amount in amounts if amount is not None]
    return count(sum(stated)) if stated else None


def _input_tokens(usage: ModelUsage) -> int:
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    return usage.input_tokens + cached


def _all_tokens(usage: ModelUsage) -> int:
    return _input_tokens(usage) + usage.output_tokens


def _data_facts(about: _Facts) -> dict[str, Cell]:
    keys = {"source": "dataset_source", **_DATA, "licence": "dataset_licence"}
    facts: dict[str, Cell] = {"Data": shortened(about.get("dataset_label"))}
    for name, key in keys.items():
        facts[name.replace("_", " ").capitalize()] = shortened(about.get(key))
    return facts


def _setting_facts(log: EvalLog) -> dict[str, Cell]:
    config = log.eval.config
    sampling = {name: value for name, value in generation(log).items() if name not in TRANSPORT}
    roles = [f"{role}: {models}" for role, models in sorted(models_by_role(log).items())]
    is_shuffled = "yes" if log.eval.dataset.shuffled or config.sample_shuffle else "no"
    return {
        "Served at": urlsplit(log.eval.model_base_url or "").hostname,
        "Provider": _listed(log.eval.model_args),
        "Generation": _listed(sampling),
        "Shuffled": is_shuffled,
        "Limits of a sample": _listed(config.model_dump(include={*_LIMIT_NAMES})),
        "Other roles": "; ".join(roles) or None,
    }


def _listed(values: _Facts) -> str | None:
    return ", ".join(_words(dict(sorted(_stated(values).items())))) or None


def _selection(log: EvalLog) -> str | None:
    """Which samples were asked; None for all."""
    limit, ids = log.eval.config.limit, log.eval.config.sample_id
    if ids is not None:
        return f"{len(ids)} named" if isinstance(ids, list) else "1 named"
    if limit is None:
        return None
    return f"first {limit}" if isinstance(limit, int) else f"{limit[0] + 1}–{limit[1]}"


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
