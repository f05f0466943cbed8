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
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Final
from urllib.parse import urlsplit

import pandas as pd
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelUsage

from music_evals.reports.sanitize import plain
from music_evals.reports.table import Cell, Table, count, notes, text

DEFAULT: Final = "default"
LIMITS: Final = ("message", "token", "turn", "time", "working", "cost")
"""Limits of a sample; in a log's configuration their names end in ``_limit``."""
TRANSPORT: Final = frozenset(
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

_HARMLESS: Final = TRANSPORT | {
    "batch",
    "cache",
    "cache_prompt",
    "logprobs",
    "top_logprobs",
    "prompt_logprobs",
}
_DATA: Final = {
    "source_revision": "dataset_source_revision",
    "source_sha256": "dataset_source_sha256",
    "revision": "dataset_revision",
    "builder": "dataset_builder_version",
    "data_seed": "dataset_seed",
    "files_missing": "dataset_missing_files",
}
_WORD: Final = re.compile(r"[\w.+:, -]{1,60}")
_NAMES_OF_MODELS: Final = frozenset(
    ("judges", "encoder", "reference", "reader")
)  # whose values may hold a "/"
_SECRET: Final = re.compile(
    r"key|token(?!s|_limit|izer)|secret|passw|credential|auth", re.IGNORECASE
)
_CHECKSUM: Final = re.compile(r"[0-9a-f]{32,64}")
_SHORT: Final = 12  # characters of a checksum, enough to tell two apart


_Facts = dict[str, Any]


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
    models = _differing([(log.eval.model, _model_facts(log)) for log in logs])
    settings = _differing([("", _settings(log)) for log in logs])
    # Another file of prompts is another value of the parameter; only its content is compared here.
    prompts = [{"prompts_sha256": about.get("prompts_sha256")} for about in abouts]
    wording = _differing(
        [(log.eval.task_args.get("prompts"), fact) for log, fact in zip(logs, prompts, strict=True)]
    )
    data = _differing(
        [((about.get("benchmark"), about.get("dataset_label")), _data(about)) for about in abouts]
    )
    return [
        RunFingerprint(
            f"{log.eval.model} [{', '.join(model)}]" if model else log.eval.model,
            tuple(
                f"{name}={shown(name, value)}"
                for name, value in (about.get("condition") or {}).items()
            ),
            (*setting, *words),
            tuple(facts),
        )
        for log, about, model, setting, words, facts in zip(
            logs, abouts, models, settings, wording, data, strict=True
        )
    ]


def generation(log: EvalLog) -> _Facts:
    """Return the settings under which a run's model generated, with those of its task."""
    return log.eval.model_generate_config.merge(log.plan.config).model_dump(
        mode="json", exclude_none=True
    )


def models_by_role(log: EvalLog) -> dict[str, str]:
    """Return the names of the models beside the one that was evaluated, by their roles."""
    named = {}
    for role, models in (log.eval.model_roles or {}).items():
        named[role] = " and ".join(
            model.model for model in (models if isinstance(models, list) else [models])
        )
    return named


def shown(name: str, value: Any) -> str:
    """Return a value as it may be shown: paths and possible secrets as ``…`` and a short checksum.

    Example:
        >>> shown("max_tokens", 512), shown("password", 123)
        ('512', '…a665a4')
    """
    values = value if isinstance(value, list | tuple) else [value]
    if not _SECRET.search(name):
        words = [
            str(one)
            for one in values
            if isinstance(one, bool | int | float)
            or (
                isinstance(one, str)
                and _WORD.fullmatch(one.replace("/", "") if name in _NAMES_OF_MODELS else one)
            )
        ]
        if len(words) == len(values):
            return ",".join(words)
    return f"…{sha256(_canonical(value).encode(errors='surrogatepass')).hexdigest()[:6]}"


def shortened(value: object) -> str | None:
    """Return a fact as text; of a checksum its beginning."""
    words = None if value is None else str(value)
    return words[:_SHORT] if words and _CHECKSUM.fullmatch(words) else words


def _differing(facts_of_logs: Sequence[tuple[Hashable, Mapping[str, Any]]]) -> list[list[str]]:
    """For each log, as ``name=value``, the facts in which logs of its group differ, without
    defaults.
    """
    words: list[list[str]] = [[] for _ in facts_of_logs]
    groups: dict[Hashable, list[int]] = {}
    for place, (group, _) in enumerate(facts_of_logs):
        groups.setdefault(group, []).append(place)
    for places in groups.values():
        for name in sorted({name for place in places for name in facts_of_logs[place][1]}):
            values = [facts_of_logs[place][1].get(name) for place in places]
            if len({_canonical(value) for value in values}) > 1:
                for place, value in zip(places, values, strict=True):
                    if value is not None:
                        words[place].append(
                            f"{name}={shown(name, shortened(value) if name in _DATA else value)}"
                        )
    return words


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _model_facts(log: EvalLog) -> _Facts:
    facts = {name: value for name, value in log.eval.model_args.items() if value is not None}
    if log.eval.model_base_url:
        address = urlsplit(log.eval.model_base_url)
        facts["served_at"] = address.netloc.rpartition("@")[2] + address.path.rstrip(
            "/"
        ).removesuffix("/v1")
    return facts


def _settings(log: EvalLog) -> _Facts:
    """Settings of a run that are not its task's own."""
    config, own = log.eval.config, (log.eval.metadata or {}).get("generation") or {}
    settings = {name: value for name, value in generation(log).items() if own.get(name) != value}
    # A task may have a parameter called seed.
    settings = {
        "sampling_seed" if name == "seed" else name: settings[name]
        for name in settings
        if name not in _HARMLESS
    }
    for name in (*(f"{limit}_limit" for limit in LIMITS), "token_limit_type"):
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


def _data(about: Mapping[str, Any]) -> _Facts:
    return {name: about.get(key) for name, key in _DATA.items()}


def signature(log: EvalLog) -> str:
    """Return in one line what a score must have in common with another one to be compared with it.

    These are task, parameters and settings that are not as by default, data with version or
    revision, the version of the readers, and that of the tasks:
    ``muse/syncopation|strategy=cot|data:generated-seed1@1.3.0|readers:3|v1.1.0``.
    """
    about = log.eval.metadata or {}
    settings = {
        name: value
        for name, value in _settings(log).items()
        if value is not None and name != "task_version"
    }
    changed = [
        f"{name}={shown(name, value)}"
        for name, value in {**(about.get("condition") or {}), **settings}.items()
    ]
    revision = shortened(about.get("dataset_revision") or about.get("dataset_source_revision"))
    data = f"data:{about['dataset_label']}@{revision or about.get('dataset_builder_version', '?')}"
    if selection := _selection(log):
        changed.append(f"only {selection}")
    parts = [f"{about['benchmark']}/{about['config']}", ",".join(changed) or DEFAULT, data]
    return "|".join([*parts, f"readers:{about.get('readers', '?')}", f"v{log.eval.task_version}"])


# --- tables of what the numbers rest on ---


def metadata_tables(
    headers: Sequence[EvalLog], passed_over: Sequence[tuple[str, str]]
) -> list[Table]:
    """Make the table of runs, by date, and that of logs passed over (location and reason).

    What is the same in all runs is said once, in the notes.
    """
    tables = []
    runs = sorted(
        headers,
        key=lambda log: (_time(log.eval.created), log.eval.task, log.eval.model, log.location),
    )
    if runs:
        frame = pd.DataFrame([run_facts(log) for log in runs], dtype=object).dropna(
            axis=1, how="all"
        )
        same = [name for name in frame if len(frame) > 1 and len(set(map(str, frame[name]))) == 1]
        cells = frame.drop(columns=same).where(frame.notna(), None)
        told = [f"{name}: {text(frame[name].iloc[0])}." for name in same]
        columns, rows = tuple(cells.columns), cells.to_numpy().tolist()
        tables.append(Table("basis_runs", "Runs", columns, rows, [*notes("basis_runs"), *told]))
    if passed_over:
        # Reasons may name the path of a log; its folder is private.
        rows = [
            [
                plain(name := where.rpartition("/")[2]),
                why.replace(where.removeprefix("file://").removesuffix(name), ""),
            ]
            for where, why in passed_over
        ]
        tables.append(Table("basis_passed_over", "Logs passed over", ("Log", "Why"), rows))
    return tables


def run_facts(log: EvalLog) -> dict[str, Cell]:
    """Say what was run, on which data and with which settings and software; an error if the header
    is not usable.
    """
    about, config, results, revision = (
        log.eval.metadata or {},
        log.eval.config,
        log.results,
        log.eval.revision,
    )
    usage = log.stats.model_usage.get(log.eval.model)
    others = [used for name, used in log.stats.model_usage.items() if name != log.eval.model]
    begun, ended = log.stats.started_at, log.stats.completed_at
    roles = [f"{role}: {models}" for role, models in sorted(models_by_role(log).items())]
    data = {
        name.replace("_", " ").capitalize(): shortened(about.get(key))
        for name, key in {"source": "dataset_source", **_DATA, "licence": "dataset_licence"}.items()
    }
    return {
        "Signature": signature(log),
        "Task": log.eval.task,
        "Arguments": _listed(
            {name: value for name, value in log.eval.task_args_passed.items() if name != "dataset"}
        ),
        "Model": log.eval.model,
        "Begun": f"{_time(log.eval.created):%Y-%m-%d %H:%M}",
        "In dataset": count(log.eval.dataset.samples),
        "Only": _selection(log),
        "Epochs": count(config.epochs or 1),
        "Asked": count(results.total_samples if results else None),
        "Completed": count(results.completed_samples if results else None),
        "Input tokens": count(_input_tokens(usage)) if usage else None,
        "Output tokens": count(usage.output_tokens) if usage else None,
        "Reasoning tokens": count(usage.reasoning_tokens) if usage else None,
        "Other models' tokens": count(
            sum(_input_tokens(one) + one.output_tokens for one in others) if others else None
        ),
        "Seconds": count(
            (_time(ended) - _time(begun)).total_seconds() if begun and ended else None
        ),
        "Data": shortened(about.get("dataset_label")),
        **data,
        "Served at": urlsplit(log.eval.model_base_url).hostname
        if log.eval.model_base_url
        else None,
        "Provider": _listed(log.eval.model_args),
        "Generation": _listed(
            {name: value for name, value in generation(log).items() if name not in TRANSPORT}
        ),
        "Shuffled": "yes" if log.eval.dataset.shuffled or config.sample_shuffle else "no",
        "Limits of a sample": _listed(
            {f"{name}_limit": getattr(config, f"{name}_limit") for name in LIMITS}
        ),
        "Other roles": "; ".join(roles) or None,
        "Task version": shortened(log.eval.task_version),
        "music-evals": shortened(about.get("music_evals_version")),
        **{
            name: version
            for name, version in sorted(log.eval.packages.items())
            if name != "music_evals"
        },
        "Git commit": f"{revision.commit}{', modified' if revision.dirty else ''}"
        if revision
        else None,
        "Log": plain(log.location.rpartition("/")[2]),
    }


def _listed(values: Mapping[str, Any]) -> str | None:
    known = sorted((name, value) for name, value in values.items() if value is not None)
    return ", ".join(f"{name}={shown(name, value)}" for name, value in known) or None


def _selection(log: EvalLog) -> str | None:
    """Which samples were asked; None for all."""
    limit, ids = log.eval.config.limit, log.eval.config.sample_id
    if ids is not None:
        return f"{len(ids)} named" if isinstance(ids, list) else "1 named"
    if limit is None:
        return None
    return f"first {limit}" if isinstance(limit, int) else f"{limit[0] + 1}–{limit[1]}"


def _input_tokens(usage: ModelUsage) -> int:
    return (
        usage.input_tokens
        + (usage.input_tokens_cache_read or 0)
        + (usage.input_tokens_cache_write or 0)
    )


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
