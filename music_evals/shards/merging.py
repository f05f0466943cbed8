"""Merges logs of parts of one run into one log, equal to the log of the complete run except for
times and ids.

A part is a log of some of the samples: of a shard, of ``--limit 1-500``, or of a process that was
killed. An ``.eval`` log is a zip archive with one entry per sample, the summaries of all samples,
and a header. The samples are copied unchanged, one at a time. The header is that of the first part.
Usage is added up, and Inspect computes the metrics from the scores of all samples.
"""

import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo

import fsspec
from inspect_ai.log import (
    EvalLog,
    EvalSample,
    EvalSampleReductions,
    list_eval_logs,
    read_eval_log,
    recompute_metrics,
    write_eval_log,
)
from inspect_ai.model import ModelUsage
from pydantic import ConfigDict, TypeAdapter

from music_evals.datasets_builders.dataset_io.folders import replace_file
from music_evals.reports.run_metadata import TRANSPORT, shown
from music_evals.reports.sanitize import plain

SHOWN = 3  # missing samples that an error names
LONGEST = 60  # characters of a value that an error shows

# Fields that may differ among parts of one run: ids, times, places, limits and settings of logging.
_SPEC = {
    "eval_set_id",
    "eval_id",
    "run_id",
    "task_id",
    "created",
    "task_file",
    "model_base_url",
    "revision",
}
_CONFIG = re.compile(r"limit|sample_id|log_.*|max_.*|score_display|acp_server")
_ENTRY = re.compile(r"samples/(.+_epoch_\d+)(?:\.json$|/)")
_JOURNAL = re.compile(r"_journal/summaries/(\d+)\.json")
_REDUCTIONS = TypeAdapter(
    list[EvalSampleReductions], config=ConfigDict(ser_json_inf_nan="constants")
)


class MergeError(ValueError):
    """Logs are not of one run, or samples are missing."""


@dataclass(frozen=True, slots=True)
class Part:
    """A log, and the names of the samples that can be taken from it."""

    location: str
    header: EvalLog
    samples: frozenset[str]
    failed: frozenset[str]  # the samples that ended in an error, also in `samples`

    @property
    def name(self) -> str:
        """Name of the file."""
        return self.location.rpartition("/")[2]


def sample_name(sample: str | int, epoch: int) -> str:
    """Return the name that a log gives a sample."""
    return f"{sample}_epoch_{epoch}"


def read_part(location: str) -> Part:
    """Read which samples an ``.eval`` log holds; a run without success gives those that ended
    without an error.

    MergeError if the path or address is no such log.
    """
    try:
        header = read_eval_log(location, header_only=True)
        with _archive(location) as archive:
            errors = {
                sample_name(summary["id"], summary["epoch"]): summary.get("error")
                for summary in _summaries(archive)
            }
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise MergeError(
            f"{location} cannot be read as a log of Inspect (.eval): {error}"
        ) from error
    failed = frozenset(name for name, error in errors.items() if error)
    if header.status != "success":
        return Part(location, header, frozenset(errors) - failed, frozenset())
    return Part(location, header, frozenset(errors), failed)


def read_parts(place: str, damaged: list[str] | None = None) -> list[Part]:
    """Read a log, or the logs below a folder, the oldest first.

    MergeError if a log cannot be read; with a list `damaged`, such a log goes into it.
    """
    files, path = fsspec.core.url_to_fs(place)
    if files.isfile(path):
        return [read_part(place)]
    logs = list_eval_logs(place, formats=["eval"], recursive=True)
    parts = []
    for info in sorted(logs, key=lambda info: (info.mtime or 0, info.name)):
        try:
            parts.append(read_part(info.name))
        except MergeError:
            if damaged is None:
                raise
            damaged.append(info.name)
    return parts


def choose(parts: Sequence[Part], *, first: bool = False) -> dict[str, Part]:
    """Choose the part from which each sample is taken, if possible one in which the sample did not
    fail.

    MergeError if several parts hold a sample without an error, unless `first` says to take the
    first of them.
    """
    taken: dict[str, Part] = {}
    for part in parts:
        for name in part.samples:
            other = taken.get(name)
            if other is None or name in other.failed:
                taken[name] = part
            elif name not in part.failed and not first:
                both = f"{other.name} and {part.name}"
                raise MergeError(f"sample {name} is in both {both}; a run asks each sample once")
    return taken


def check_together(parts: Sequence[Part], *, sizes: bool = True) -> None:
    """Check that logs have the same task, model, settings, data and versions; MergeError names a
    difference.

    With `sizes`, the numbers of samples in the data must agree, too. A shard's log has the number
    of its own samples.
    """
    if not parts:
        raise MergeError("there are no logs of Inspect (.eval)")
    first = _facts(parts[0].header, sizes)
    for part in parts[1:]:
        other = _facts(part.header, sizes)
        for name in sorted(first.keys() | other.keys()):
            if first.get(name) != other.get(name):
                shown = [_shown(name, facts.get(name, "not stated")) for facts in (first, other)]
                raise MergeError(
                    f"{parts[0].name} and {part.name} are not of one run: {name} is {shown[0]} in "
                    f"the first, {shown[1]} in the second"
                )


def merge(
    parts: Sequence[Part],
    taken: Mapping[str, Part],
    target: str,
    *,
    ids: Sequence[str | int],
    samples: int,
    limit: int | None = None,
) -> EvalLog:
    """Write one log of the samples of several, and return its header.

    Args:
        parts: logs of one run, as `check_together` makes sure.
        taken: the part of each sample, from `choose`.
        target: path or address of the log; an existing log is replaced.
        ids: of the run's samples, in the order of the data.
        samples: number of samples in the data.
        limit: limit of the run, in samples.

    Raises:
        MergeError: a sample of the run is in no part.
    """
    headers = [part.header for part in parts]
    epochs = range(1, (headers[0].eval.config.epochs or 1) + 1)
    wanted = [sample_name(sample_id, epoch) for epoch in epochs for sample_id in ids]
    if missing := [name for name in wanted if name not in taken]:
        raise MergeError(
            f"{len(missing)} of {len(wanted)} samples are in none of the logs, such as "
            f"{', '.join(missing[:SHOWN])}; finish their runs first, with the same command or with "
            "`inspect eval-retry LOG`"
        )
    log = _header(headers, ids, samples, limit)
    with _replacing(target) as path:
        _copy(parts, {name: taken[name] for name in wanted}, path, log)
        write_eval_log(log, path, header_only=True)
    log.samples, log.location = None, target
    return log


def _header(
    headers: Sequence[EvalLog], ids: Sequence[str | int], samples: int, limit: int | None
) -> EvalLog:
    """The header of the merged log, without usage and results."""
    log = headers[0].model_copy(deep=True)
    spec, stats = log.eval, log.stats
    spec.dataset.samples, spec.dataset.sample_ids = samples, list(ids)
    spec.config.limit = limit
    spec.config.sample_id = None if limit or len(ids) == samples else list(ids)
    if len({header.eval.model_base_url for header in headers}) > 1:
        spec.model_base_url = None
    log.status, log.error, log.results = "success", None, None
    stats.started_at = min(filter(None, [header.stats.started_at for header in headers]))
    stats.completed_at = max(header.stats.completed_at for header in headers)
    changes = chain.from_iterable(header.stats.connection_limit_history for header in headers)
    stats.connection_limit_history = sorted(changes, key=lambda change: change.timestamp)
    return log


def _copy(parts: Sequence[Part], taken: Mapping[str, Part], path: str, log: EvalLog) -> None:
    """Copy samples and summaries into a new archive; add usage and results to the log."""
    samples: dict[str, dict[str, Any]] = {}
    summaries: list[str] = []
    with ZipFile(path, "w") as merged:
        compression = 0
        for part in parts:
            names = {name for name, other in taken.items() if other is part}
            with _archive(part.location) as archive:
                for entry, name in _entries(archive, names):
                    content, compression = archive.read(entry), entry.compress_type
                    merged.writestr(entry.filename, content, compression)
                    if entry.filename.endswith((f"{name}.json", "/sample.json")):
                        samples[name] = _facts_of_sample(content)
                summaries += [
                    json.dumps(summary, separators=(",", ":"))
                    for summary in _summaries(archive)
                    if sample_name(summary["id"], summary["epoch"]) in names
                ]
        # The last digits of a sum depend on the order; Inspect adds in the order of the data.
        log.samples = [_scored(samples[name]) for name in taken if name in samples]
        log.stats.model_usage = _summed(samples, "model_usage")
        log.stats.role_usage = _summed(samples, "role_usage")
        recompute_metrics(log)
        merged.writestr("summaries.json", f"[{','.join(summaries)}]", compression)
        merged.writestr("reductions.json", _REDUCTIONS.dump_json(log.reductions or []), compression)


def _entries(archive: ZipFile, names: Container[str]) -> Iterator[tuple[ZipInfo, str]]:
    """The entries of samples with these names, each with the sample's name."""
    for entry in archive.infolist():
        match = _ENTRY.match(entry.filename)
        if match and match[1] in names:
            yield entry, match[1]


def _facts_of_sample(content: bytes) -> dict[str, Any]:
    """The fields of a sample that metrics and usage are computed from."""
    sample = json.loads(content)
    names = ("id", "epoch", "scores", "error", "metadata", "model_usage", "role_usage")
    return {name: sample.get(name) for name in names}


def _summed(samples: Mapping[str, Mapping[str, Any]], field: str) -> dict[str, ModelUsage]:
    """The usage of all samples, by model or role."""
    sums = defaultdict[str, ModelUsage](ModelUsage)
    for sample in samples.values():
        for model, usage in (sample[field] or {}).items():
            sums[model] += ModelUsage.model_validate(usage)
    return dict(sums)


def _scored(sample: Mapping[str, Any]) -> EvalSample:
    """A sample with what metrics are computed from."""
    fields = {name: sample[name] for name in ("id", "epoch", "scores", "error")}
    return EvalSample.model_validate(
        {**fields, "metadata": sample["metadata"] or {}, "input": "", "target": ""}
    )


def _summaries(archive: ZipFile) -> Iterator[dict[str, Any]]:
    """Summaries of samples; a run that did not end has them in several entries."""
    names = ["summaries.json"]
    if "summaries.json" not in archive.namelist():
        journal = filter(None, map(_JOURNAL.fullmatch, archive.namelist()))
        names = [match[0] for match in sorted(journal, key=lambda match: int(match[1]))]
    for name in names:
        yield from json.loads(archive.read(name))


def _facts(header: EvalLog, sizes: bool) -> dict[str, Any]:
    """The fields that all parts of a run share, flat: ``model_args.revision`` and the like."""
    spec = header.eval.model_dump(mode="json", exclude=_SPEC)
    del spec["dataset"]["sample_ids"]
    if not sizes:
        del spec["dataset"]["samples"]
    settings = spec["config"].items()
    spec["config"] = {name: value for name, value in settings if not _CONFIG.fullmatch(name)}
    spec["plan"] = header.plan.model_dump(mode="json")
    # A name has the package's name before it or not, depending on where Inspect was started.
    spec = json.loads(json.dumps(spec).replace('"music_evals/', '"'))
    for config in (spec["model_generate_config"], spec["plan"]["config"]):
        for name in TRANSPORT & config.keys():
            del config[name]
    return dict(_flat(spec, ""))


def _shown(name: str, value: Any) -> str:
    """A value that differs; `shown` hides values that may be secret."""
    if name.startswith(("model_args", "model_roles")):
        return shown(name, value)
    return plain(str(value), LONGEST)


def _flat(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for key, entry in value.items():
            yield from _flat(entry, f"{name}.{key}" if name else str(key))
    else:
        yield name, value


@contextmanager
def _archive(location: str) -> Iterator[ZipFile]:
    files, path = fsspec.core.url_to_fs(location)
    with files.open(path, "rb") as file, ZipFile(file) as archive:
        yield archive


@contextmanager
def _replacing(target: str) -> Iterator[str]:
    """Path of a file to write, which then replaces the target; leftovers of a killed process are
    removed.
    """
    files, path = fsspec.core.url_to_fs(target)
    if isinstance(files, fsspec.implementations.local.LocalFileSystem):
        with replace_file(Path(path)) as file:
            yield str(file)
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield f"{folder}/merged.eval"
            files.put_file(f"{folder}/merged.eval", path)
