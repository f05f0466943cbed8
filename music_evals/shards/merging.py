"""Merges logs of parts of one run into one log, equal to the log of the complete run except for
times and ids.

A part is a log of some of the samples: of a shard, of ``--limit 1-500``, or of a process that was
killed. An ``.eval`` log is a zip archive with one entry per sample, the summaries of all samples,
and a header. The samples are copied as they are compressed, one at a time. The header is that of
the first part. Usage is added up, and Inspect computes the metrics from the scores of all samples:
those of the samples themselves, because summaries shorten texts.
"""

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any, NamedTuple
from zipfile import BadZipFile, ZipFile

import fsspec
from inspect_ai.log import (
    EvalLog,
    EvalSampleReductions,
    list_eval_logs,
    read_eval_log,
    recompute_metrics,
    write_eval_log,
)
from inspect_ai.model import ModelUsage
from inspect_ai.scorer import Score
from pydantic import ConfigDict, TypeAdapter
from pydantic_core import from_json, to_json

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
_JOURNAL = "_journal/summaries/"
_BLOCK = 1 << 20  # characters of summaries that are read at once
_SCORES = TypeAdapter(dict[str, Score])
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
    failed: frozenset[str]  # the samples that ended in an error

    @property
    def name(self) -> str:
        """Name of the file."""
        return self.location.rpartition("/")[2]


class _Scored(NamedTuple):
    """What metrics are computed from, of a sample; Inspect takes 0.4 ms to make an `EvalSample`."""

    id: str | int
    scores: dict[str, Score]
    metadata: dict[str, Any]
    error: Any


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
                for _, summary in _summaries(archive)
            }
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise MergeError(
            f"{location} cannot be read as a log of Inspect (.eval): {error}"
        ) from error
    failed = frozenset(name for name, error in errors.items() if error)
    samples = errors.keys() if header.status == "success" else errors.keys() - failed
    return Part(location, header, frozenset(samples), failed)


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
        log.samples = _copy(parts, {name: taken[name] for name in wanted}, path, log)
        recompute_metrics(log)
        log.samples = None
        with ZipFile(path, "a") as merged:
            merged.compression = merged.filelist[0].compress_type
            merged.writestr("reductions.json", _REDUCTIONS.dump_json(log.reductions or []))
        write_eval_log(log, path, header_only=True)
    log.location = target
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
    stats.model_usage, stats.role_usage = {}, {}
    begun = filter(None, [header.stats.started_at for header in headers])
    stats.started_at = min(begun, default="")
    stats.completed_at = max(header.stats.completed_at for header in headers)
    stats.connection_limit_history = []  # each process had its own
    return log


def _copy(parts: Sequence[Part], taken: Mapping[str, Part], path: str, log: EvalLog) -> list[Any]:
    """Copy samples and summaries into a new archive, and add usage to the log; return what metrics
    are computed from, in the order of `taken`.
    """
    scored = dict.fromkeys(taken)
    with ZipFile(path, "w") as merged:
        for part in parts:
            with _archive(part.location) as archive:
                has_texts = _has_reductions(archive)
                for name, content in _copy_samples(part, taken, archive, merged):
                    sample = from_json(content)
                    scored[name] = _scored(sample, has_texts)
                    _add(log.stats.model_usage, sample.get("model_usage"))
                    _add(log.stats.role_usage, sample.get("role_usage"))
        for name, scores in scored.items():
            if not scores:
                raise MergeError(f"{taken[name].location} is damaged: it lacks sample {name}")
        _copy_summaries(parts, taken, merged)
    # The last digits of a sum depend on the order; Inspect adds in the order of the data.
    return list(scored.values())


def _has_reductions(archive: ZipFile) -> bool:
    """Whether a log may have means over epochs, which have the texts of scores."""
    entry = archive.NameToInfo.get("reductions.json")
    return entry is None or entry.file_size > len("[]")


def _copy_samples(
    part: Part, taken: Mapping[str, Part], archive: ZipFile, merged: ZipFile
) -> Iterator[tuple[str, bytes]]:
    """Copy the entries of samples as they are compressed, which `zipfile` has no function for;
    yield the name and the JSON of each sample.
    """
    source: Any = archive.fp
    target: Any = merged.fp
    entries = sorted(archive.infolist(), key=lambda entry: entry.header_offset)
    ends = [*(entry.header_offset for entry in entries[1:]), archive.start_dir]
    for entry, end in zip(entries, ends, strict=True):
        match = _ENTRY.match(entry.filename)
        if not match or taken.get(match[1]) is not part:
            continue
        try:
            content = archive.read(entry)  # checks the checksum
        except Exception as error:  # each compression has its own class
            raise MergeError(f"{part.location} is damaged at {entry.filename}: {error}") from error
        source.seek(entry.header_offset)
        entry_bytes = source.read(end - entry.header_offset)
        entry.header_offset, entry.extra = merged.start_dir, b""
        merged.start_dir += target.write(entry_bytes)
        merged.filelist.append(entry)
        if entry.filename.endswith((f"{match[1]}.json", "/sample.json")):
            yield match[1], content


def _copy_summaries(parts: Sequence[Part], taken: Mapping[str, Part], merged: ZipFile) -> None:
    """Write the summaries of the samples that are taken."""
    merged.compression = merged.filelist[0].compress_type
    with merged.open("summaries.json", "w", force_zip64=True) as file:
        before = "["
        for part in parts:
            with _archive(part.location) as archive:
                for text, summary in _summaries(archive):
                    if taken.get(sample_name(summary["id"], summary["epoch"])) is part:
                        file.write(f"{before}{text}".encode())
                        before = ","
        file.write(b"]")


def _scored(sample: dict[str, Any], has_texts: bool) -> _Scored:
    """What metrics are computed from, of a sample, with or without the texts of its scores."""
    scores = sample["scores"] or {}
    if not has_texts:
        for score in scores.values():
            score["explanation"] = None
    shared = _shared_scores(to_json(scores, inf_nan_mode="constants"))
    return _Scored(sample["id"], shared, sample.get("metadata") or {}, sample.get("error"))


@lru_cache(10_000)
def _shared_scores(text: bytes) -> dict[str, Score]:
    """Scores of a sample; equal ones, as in a task with options, are in memory once."""
    return _SCORES.validate_json(text)


def _add(totals: dict[str, ModelUsage], usage: Mapping[str, Any] | None) -> None:
    """Add the usage of a sample, by model or by role."""
    for model, counts in (usage or {}).items():
        totals[model] = totals.get(model, ModelUsage()) + ModelUsage(**counts)


def _summaries(archive: ZipFile) -> Iterator[tuple[str, dict[str, Any]]]:
    """Summaries of samples, as text and value; a run that did not end has them in several
    entries.
    """
    names = ["summaries.json"]
    if "summaries.json" not in archive.namelist():
        names = [name for name in archive.namelist() if name.startswith(_JOURNAL)]
    for name in names:
        with archive.open(name) as file:
            yield from _objects(file)


def _objects(file: IO[bytes]) -> Iterator[tuple[str, Any]]:
    """The objects of a list in JSON, as text and value, without reading the list at once."""
    decode, reader = json.JSONDecoder().raw_decode, TextIOWrapper(file, "utf-8")
    text, end = "", 0
    for block in iter(partial(reader.read, _BLOCK), ""):
        text, end = text[end:] + block, 0
        with suppress(json.JSONDecodeError):  # the next block has the rest
            while (start := text.find("{", end)) >= 0:
                value, end = decode(text, start)
                yield text[start:end], value
    if "{" in text[end:]:
        raise ValueError("the summaries of its samples are cut")


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
