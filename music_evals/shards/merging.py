"""Logs of parts of one run put together into one log, equal to that of the whole run but for times and ids.

A part is the log of some of a run's samples: of a shard, of ``--limit 1-500``, or what is left of a process that was
killed. An ``.eval`` log is a zip archive with one entry a sample, the summaries of all samples, and a header. The
samples are copied as they stand, one at a time. The header is the first part's; usage is added up, and the metrics are
computed by Inspect from the scores of all samples.
"""

import json
import os
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile, ZipFile

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

from music_evals.datasets_builders.dataset_io.folders import locked_folder
from music_evals.reports.run_metadata import TRANSPORT, shown
from music_evals.reports.sanitize import plain

SHOWN: Final = 3  # of the samples that are missing
LONGEST: Final = 60  # characters of a value that differs

# What may differ among parts of one run: ids, times and places; and how many samples, tasks and requests are under way.
_SPEC: Final = {"eval_set_id", "eval_id", "run_id", "task_id", "created", "task_file", "model_base_url", "revision"}
_CONFIG: Final = re.compile(r"limit|sample_id|log_.*|max_.*|score_display|acp_server")
_ENTRY: Final = re.compile(r"samples/(.+_epoch_\d+)(?:\.json$|/)")
_JOURNAL: Final = re.compile(r"_journal/summaries/(\d+)\.json")
_REDUCTIONS: Final = TypeAdapter(list[EvalSampleReductions], config=ConfigDict(ser_json_inf_nan="constants"))


class MergeError(ValueError):
    """Logs do not belong together, or are not all of a run."""


@dataclass(frozen=True, slots=True)
class Part:
    """A log, and which samples it holds for good: by their names, as ``ID_epoch_EPOCH``."""

    location: str
    header: EvalLog
    samples: frozenset[str]
    failed: frozenset[str]  # those of them that ended in an error

    @property
    def name(self) -> str:
        """Of the file."""
        return self.location.rpartition("/")[2]


def read_part(location: str) -> Part:
    """Read which samples a log holds; of a run that did not end in success, those that ended without an error.

    Args:
        location: path or address of an ``.eval`` log.

    Raises:
        MergeError: it is no such log.
    """
    try:
        header = read_eval_log(location, header_only=True)
        with _archive(location) as archive:
            summaries = list(_summaries(archive))
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise MergeError(f"{location} cannot be read as a log of Inspect (.eval): {error}") from error
    names = {_name(each["id"], each["epoch"]): each.get("error") for each in summaries}
    failed = {name for name, error in names.items() if error}
    if header.status != "success":
        names = dict.fromkeys(names.keys() - failed)
        failed = set()
    return Part(location, header, frozenset(names), frozenset(failed))


def read_parts(place: str) -> list[Part]:
    """Read a log, or the logs below a folder, the oldest first; none where nothing is.

    Raises:
        MergeError: a log cannot be read.
    """
    files, path = fsspec.core.url_to_fs(place)
    if files.isfile(path):
        return [read_part(place)]
    logs = list_eval_logs(place, formats=["eval"], recursive=True)
    return [read_part(info.name) for info in sorted(logs, key=lambda info: (info.mtime or 0, info.name))]


def choose(parts: Sequence[Part], *, first: bool = False) -> dict[str, Part]:
    """Return which part each sample is taken from: one in which it did not fail, if there is such.

    Args:
        parts: the parts of a run.
        first: whether to take the first of several parts that hold a sample.

    Raises:
        MergeError: several parts hold a sample without an error, and `first` is not set.
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
    """Check that logs are of one run: its task, model, settings, data and versions.

    Args:
        parts: the logs.
        sizes: whether each log says how many samples the run's data have, and not how many it was given of them.

    Raises:
        MergeError: naming two logs, and what is different in them.
    """
    if not parts:
        raise MergeError("there are no logs of Inspect (.eval)")
    first = _facts(parts[0].header, sizes)
    for part in parts[1:]:
        other = _facts(part.header, sizes)
        for name in sorted(first.keys() | other.keys()):
            if first.get(name) != other.get(name):
                one, another = (_shown(name, facts.get(name, "not stated")) for facts in (first, other))
                raise MergeError(
                    f"{parts[0].name} and {part.name} are not of one run: {name} is {one} in the first, "
                    f"{another} in the second"
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
    """Write one log of the samples of several.

    Args:
        parts: logs of one run, as `check_together` has it.
        taken: which part each sample is taken from, as `choose` has it.
        target: path or address of the log to write; what is there is replaced.
        ids: of the samples that the run was to ask, in the order of its data.
        samples: how many samples the run's data have.
        limit: to how many samples the run was limited.

    Returns:
        The header of the log.

    Raises:
        MergeError: a sample that was to be asked is in no part.
    """
    epochs = range(1, (parts[0].header.eval.config.epochs or 1) + 1)
    wanted = [_name(each, epoch) for epoch in epochs for each in ids]
    if missing := [name for name in wanted if name not in taken]:
        raise MergeError(
            f"{len(missing)} of {len(wanted)} samples are in none of the logs, such as {', '.join(missing[:SHOWN])}; "
            "finish their runs first, with the same command or with `inspect eval-retry LOG`"
        )
    log = parts[0].header.model_copy(deep=True)
    log.eval.dataset.samples, log.eval.dataset.sample_ids = samples, list(ids)
    log.eval.config.limit = limit
    log.eval.config.sample_id = None if limit or len(ids) == samples else list(ids)
    if len({part.header.eval.model_base_url for part in parts}) > 1:
        log.eval.model_base_url = None
    log.status, log.error, log.results = "success", None, None
    log.stats.started_at = min(started for part in parts if (started := part.header.stats.started_at))
    log.stats.completed_at = max(part.header.stats.completed_at for part in parts)
    log.stats.connection_limit_history = sorted(
        chain.from_iterable(part.header.stats.connection_limit_history for part in parts),
        key=lambda change: change.timestamp,
    )
    with _written(target) as path:
        usage, roles = _copy(parts, {name: taken[name] for name in wanted}, path, log)
        log.stats.model_usage, log.stats.role_usage = usage, roles
        write_eval_log(log, path, header_only=True)
    log.samples, log.location = None, target
    return log


def _copy(
    parts: Sequence[Part], taken: Mapping[str, Part], path: str, log: EvalLog
) -> tuple[dict[str, ModelUsage], dict[str, ModelUsage]]:
    """Copy samples and summaries into a new archive; give the log its results; return what was used."""
    scored: list[EvalSample] = []
    used: tuple[defaultdict[str, ModelUsage], ...] = (defaultdict(ModelUsage), defaultdict(ModelUsage))
    summaries: list[str] = []
    with ZipFile(path, "w") as merged:
        compression = 0
        for part in parts:
            mine = {name for name, other in taken.items() if other is part}
            with _archive(part.location) as archive:
                for entry in archive.infolist():
                    found = _ENTRY.match(entry.filename)
                    if found is None or found[1] not in mine:
                        continue
                    content, compression = archive.read(entry), entry.compress_type
                    merged.writestr(entry.filename, content, compression)
                    if entry.filename.endswith((f"{found[1]}.json", "/sample.json")):
                        sample = json.loads(content)
                        scored.append(_thin(sample))
                        for sums, name in zip(used, ("model_usage", "role_usage"), strict=True):
                            for model, usage in sample.get(name, {}).items():
                                sums[model] += ModelUsage.model_validate(usage)
                summaries += [
                    json.dumps(each, separators=(",", ":"))
                    for each in _summaries(archive)
                    if _name(each["id"], each["epoch"]) in mine
                ]
        # Inspect computes metrics in the order of the data, which the last digits of a sum hang on.
        order = {name: place for place, name in enumerate(taken)}
        scored.sort(key=lambda sample: order[_name(sample.id, sample.epoch)])
        log.samples = scored
        recompute_metrics(log)
        merged.writestr("summaries.json", f"[{','.join(summaries)}]", compression)
        merged.writestr("reductions.json", _REDUCTIONS.dump_json(log.reductions or []), compression)
    return dict(used[0]), dict(used[1])


def _thin(sample: Mapping[str, Any]) -> EvalSample:
    """What metrics are computed from."""
    kept = {name: sample.get(name) for name in ("id", "epoch", "scores", "metadata", "error")}
    return EvalSample.model_validate({**kept, "metadata": kept["metadata"] or {}, "input": "", "target": ""})


def _summaries(archive: ZipFile) -> Iterator[dict[str, Any]]:
    """Summaries of samples; those of a run that did not end stand in several entries."""
    names = archive.namelist()
    journal = {int(found[1]): found[0] for name in names if (found := _JOURNAL.fullmatch(name))}
    for name in ["summaries.json"] if "summaries.json" in names else [journal[number] for number in sorted(journal)]:
        yield from json.loads(archive.read(name))


def _name(sample: str | int, epoch: int) -> str:
    return f"{sample}_epoch_{epoch}"


def _facts(header: EvalLog, sizes: bool) -> dict[str, Any]:
    """What is the same in all parts of a run, flat: ``model_args.revision`` and the like."""
    spec = header.eval.model_dump(mode="json", exclude=_SPEC)
    spec["dataset"] = {
        name: value for name, value in spec["dataset"].items() if name != "sample_ids" and (sizes or name != "samples")
    }
    spec["config"] = {name: value for name, value in spec["config"].items() if not _CONFIG.fullmatch(name)}
    spec["plan"] = header.plan.model_dump(mode="json")
    # Names have the package's ahead or not, by where Inspect was started.
    spec = json.loads(json.dumps(spec).replace('"music_evals/', '"'))
    for config in (spec["model_generate_config"], spec["plan"]["config"]):
        for name in TRANSPORT & config.keys():
            del config[name]
    return dict(_flat(spec, ""))


def _shown(name: str, value: Any) -> str:
    """A value that differs; those that may be secret are not told."""
    return shown(name, value) if name.startswith(("model_args", "model_roles")) else plain(str(value), LONGEST)


def _flat(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for key, one in value.items():
            yield from _flat(one, f"{name}.{key}" if name else str(key))
    else:
        yield name, value


@contextmanager
def _archive(location: str) -> Iterator[ZipFile]:
    """A log as an archive; one that lies elsewhere is fetched whole, as it has an entry a sample."""
    files, path = fsspec.core.url_to_fs(location)
    if isinstance(files, fsspec.implementations.local.LocalFileSystem):
        with ZipFile(path) as archive:
            yield archive
    else:
        with tempfile.TemporaryFile() as copy:
            with files.open(path, "rb") as source:
                while block := source.read(1 << 24):
                    copy.write(block)
            with ZipFile(copy) as archive:
                yield archive


@contextmanager
def _written(target: str) -> Iterator[str]:
    """Path of a file to write, which then takes its place as a whole; what a killed process left there is removed."""
    files, path = fsspec.core.url_to_fs(target)
    if isinstance(files, fsspec.implementations.local.LocalFileSystem):
        with locked_folder(Path(path).with_name(f".{Path(path).name}.partial")) as folder:
            yield f"{folder}/merged.eval"
            os.replace(folder / "merged.eval", path)
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield f"{folder}/merged.eval"
            files.put_file(f"{folder}/merged.eval", path)
