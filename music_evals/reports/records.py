"""Logs as tidy data frames, from which all tables, tests and figures are made.

`read_records` reads logs of the suite's tasks. Logs may come from strangers: their sizes, texts and
numbers are bounded, and a log that cannot be used is passed over with a reason.
"""

import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from math import isnan, nan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import pandas as pd
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ModelUsage
from inspect_ai.scorer import Score
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from music_evals.benchmarks import (
    TaskFacts,
    dataset_facts,
    fingerprint,
    load,
    names,
    published,
    published_names,
)
from music_evals.reports.run_metadata import (
    DEFAULT,
    RunFingerprint,
    fingerprints,
    models_by_role,
    run_facts,
    shown,
    signature,
)
from music_evals.reports.sanitize import plain, reason
from music_evals.scorers.items import TAGS, items_of
from music_evals.scorers.metrics.estimates import Estimate, Estimates, estimate
from music_evals.scorers.metrics.written import ORIGINAL, original
from music_evals.scorers.readers import Status

ALONE: Final = "asked and scored by Inspect alone"
"""The condition of runs of a repository on the Hub, ``inspect eval hf/ORG/NAME``."""
PARTIAL: Final = "in part"
"""What the condition of a run says that did not ask or score all samples."""
UNREAD: Final[tuple[Status, ...]] = ("unreadable", "empty", "cut")
"""Readings of replies that hold no answer that could be read, unless judges read them."""
READER: Final = "reader"
"""The role of a model that reads what no rule does, see `music_evals.scorers.chosen_option`."""
GROUPS: Final = ("theme", "subtheme", "kind", "level", "rotation")
"""Columns of the items for which `scores` holds the main metric of each group."""

_OF_HUB: Final = re.compile(
    r"hf/(?P<repo>[\w.-]+/[\w.-]+?)(?:@(?P<revision>[\w./-]+?))?(?:/\w+){0,2}"
)
_COMMIT: Final = re.compile("[0-9a-f]{40}")
_HEADERS: Final = ("header.json", "_journal/start.json")
_HEADER_BYTES: Final = 1 << 26
_SAMPLE_BYTES: Final = 1 << 28
_ELEMENT_BYTES: Final = 1 << 22  # of the summary of a sample
_ELEMENT: Final = re.compile(r"[\s,]*([^\s,\]])")
_MOST_VALUES: Final = 2_000_000  # of a header, or of a sample
_JSON_BYTES: Final = 1 << 29  # of a log in JSON, or of the summaries of all samples
_LARGEST: Final = 1e20  # above all seeds of 64 bits
_LONGEST: Final = 1000  # characters of a text in a header, or in metadata
_SHOWN: Final = 200  # characters of another text of a sample
_MOST: Final = 1e12  # tokens, or seconds
_MOST_COLUMNS: Final = 60
_WITH_DETAILS: Final = (
    "judged",
    "written_music",
    "chat_answers",
)  # scorers whose metadata a summary of a sample cannot hold

_Row = dict[str, Any]
_Metadata = Mapping[str, Any]
Defaults = Callable[[str, str], _Metadata]
"""Benchmark and task → defaults of the task's parameters, for runs by Inspect alone, whose logs do
not hold them.
"""


class Records(NamedTuple):
    """The records of logs.

    Args:
        runs: a row per log: ``section`` (of the report), ``benchmark``, ``task``, ``model``,
            ``condition``, ``data``, ``created``, ``n`` (items in the main metric), ``is_complete``,
            ``is_published_test``, ``is_current`` (False for a run that another one of the same
            model, task, condition and data replaces), a column per parameter of the task, and
            others.
        scores: a row per figure: ``run``, ``metric``, ``group``, ``value``, ``low``, ``high``,
            ``n``, ``source`` (measured, floor or published; published figures have no run), and
            ``unread``: of the main metric, the share of replies that hold no answer that could be
            read.
        items: a row per response to a question and scorer: ``run``, ``item``, ``epoch``, ``pair``
            (equal for the same question in two runs), ``question_key`` (equal for the same question
            in two benchmarks), ``cluster``, ``stratum``, ``value``, ``counts``, ``reading``,
            ``answer``, ``target``, ``tokens``, ``seconds``, ``is_unread`` (None if the scorer reads
            no reply), and what the sample's and the score's metadata say.
        main: the items of the main scorer of each run, without empty columns.
        headers: header of each run's log.
        passed_over: location of each other log, and why it is not used.
    """

    runs: pd.DataFrame
    scores: pd.DataFrame
    items: pd.DataFrame
    main: Mapping[int, pd.DataFrame]
    headers: Mapping[int, EvalLog]
    passed_over: Sequence[tuple[str, str]]

    def current(self, section: str = "", **values: Any) -> pd.DataFrame:
        """Return the runs of a section that are current, with these values of columns; probes are
        left out.
        """
        runs = self.runs[self.runs["is_current"] & ~self.runs["is_probe"]]
        for name, value in {**({"section": section} if section else {}), **values}.items():
            if name not in runs:
                return runs.iloc[:0]
            runs = runs[runs[name].isin(value) if isinstance(value, list) else runs[name] == value]
        return runs

    def score(self, run: int, metric: str = "", group: str = "") -> Estimate | None:
        """Return a measured figure of a run: the main metric, or another; None without it."""
        rows = self.scores[(self.scores["run"] == run) & (self.scores["source"] == "measured")]
        metric = metric or self.runs.at[run, "main_metric"]
        rows = rows[(rows["metric"] == metric) & (rows["group"] == group)]
        return _estimate(rows.iloc[0]) if len(rows) else None

    def percent(self, run: int, metric: str = "", group: str = "") -> Estimate | None:
        """Return a measured figure of a run in percent; see `score`."""
        found = self.score(run, metric, group)
        return found.percent() if found else None

    def floors(self, run: int, group: str = "") -> Estimates:
        """Return the floors of the main metric of a run, by their kind: what is earned without the
        music.
        """
        rows = self.scores[(self.scores["run"] == run) & (self.scores["source"] == "floor")]
        rows = rows[rows["group"] == group]
        return {row["floor"]: _estimate(row) for _, row in rows.iterrows()}


def read_records(
    logs: str | Path | Sequence[str | Path],
    *,
    defaults: Defaults = lambda *_: {},
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Records:
    """Read logs of the suite's tasks into data frames.

    Args:
        logs: logs, or folders of them; also addresses such as ``s3://BUCKET/logs``.
        defaults: the defaults of tasks' parameters, for runs by Inspect alone.
        progress: is called with the number of logs read so far, and that of all.

    Returns:
        The records. Logs that cannot be used are in ``passed_over``.

    Raises:
        FileNotFoundError: there is nothing at one of the places.

    Example:
        >>> records = read_records("logs")  # doctest: +SKIP
        >>> records.runs[["task", "model", "condition", "n"]]  # doctest: +SKIP
    """
    headers: list[EvalLog] = []
    rows: list[list[_Row]] = []
    passed_over: list[tuple[str, str]] = []
    with local_logs(*([logs] if isinstance(logs, str | Path) else logs)) as paths:
        for number, path in enumerate(paths, start=1):
            try:
                header = read_header(path)
                samples = list(_samples(path, header))
                _complete_facts(header, samples, defaults)
                _check_usable(header)
                items_of_log = _items(header, samples)
                run_facts(header)  # what it cannot show, the report could not either
                headers.append(header)
                rows.append(items_of_log)
            except (
                Exception
            ) as error:  # whatever a reader of zip and JSON meets in a file that is no log
                passed_over.append((plain(str(path)), reason(error)))
            progress(number, len(paths))
    items = pd.DataFrame(
        [{**item, "run": run} for run, found in enumerate(rows) for item in found],
        columns=None if any(rows) else ["run", "is_main"],
    )
    by_run = dict(list(items.groupby("run"))) if len(items) else {}
    runs = [
        _run(log, fingerprint, by_run[run])
        for run, (log, fingerprint) in enumerate(zip(headers, fingerprints(headers), strict=True))
    ]
    frame = (
        _with_current(pd.DataFrame(runs))
        if runs
        else pd.DataFrame({"is_current": [], "is_probe": []}, dtype=bool)
    )
    scores = [row for run, log in enumerate(headers) for row in _scores(run, log, by_run[run])]
    for benchmark in dict.fromkeys(run["benchmark"] for run in runs):
        scores += _published_scores(benchmark)
    main = {run: group[group["is_main"]].dropna(axis=1, how="all") for run, group in by_run.items()}
    return Records(frame, pd.DataFrame(scores), items, main, dict(enumerate(headers)), passed_over)


def score_of(items: pd.DataFrame) -> Estimate | None:
    """Return the main metric over some items of a run: the headline, or that of a group; None
    without a value.
    """
    counted = items[items["counts"] & items["value"].notna()]
    found = estimate(*(counted[name].tolist() for name in ("value", "item", "cluster", "stratum")))
    if found is None or "is_unread" not in counted or counted["is_unread"].isna().all():
        return found
    return replace(found, unread=float(counted["is_unread"].dropna().mean()))


@contextmanager
def local_logs(*places: str | Path) -> Iterator[list[Path]]:
    """Find the logs in files and folders; logs elsewhere, such as in ``s3://``, are fetched for the
    time of the block.

    Logs of shards that are not merged yet are left out. A FileNotFoundError names a place with
    nothing in it.
    """
    import fsspec
    from inspect_ai.log import list_eval_logs

    paths: set[Path] = set()
    with TemporaryDirectory() as fetched:
        for number, place in enumerate(places):
            files, root = fsspec.core.url_to_fs(str(place))
            if not files.exists(root):
                raise FileNotFoundError(f"{place} does not exist")
            logs = [root]
            if files.isdir(root):
                infos = list_eval_logs(files.unstrip_protocol(root))
                logs = [fsspec.core.url_to_fs(info.name)[1] for info in infos]
                logs = [
                    log for log in logs if "shards" not in log.removeprefix(root).split("/")[:-1]
                ]
            for log in logs:
                path = Path(log)
                if "file" not in files.protocol:
                    path = Path(fetched) / f"{number}-{path.name}"
                    files.get_file(log, str(path))
                paths.add(path)
        yield sorted(paths)


# --- reading files ---


class _Sample(BaseModel):
    """What a report needs of a sample, or of Inspect's summary of it."""

    model_config = ConfigDict(protected_namespaces=())

    id: int | str
    epoch: int
    target: str | list[str]
    metadata: dict[str, Any] = {}
    scores: dict[str, Score] | None = None
    model_usage: dict[str, ModelUsage] = {}
    working_time: float | None = None


class _Floor(BaseModel, strict=True):
    value: float = Field(ge=0, le=1)
    low: float | None = Field(None, ge=0, le=1)
    high: float | None = Field(None, ge=0, le=1)


class _Facts(BaseModel, strict=True):
    """What the metadata of a usable log hold."""

    benchmark: str
    config: str
    dataset_label: str
    main_metric: str
    condition: dict[str, Any]
    floors: dict[str, dict[str, _Floor]] = {}


def read_header(path: Path) -> EvalLog:
    """Read the header of a log, with its texts made `plain`; ValueError if it is too large or a
    number is.
    """
    if not path.is_file():
        raise ValueError("it is not a file")
    if plain(str(path)) != str(path):
        raise ValueError("its name is not UTF-8, or holds control characters")
    if path.suffix == ".eval":
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                if entry.filename in _HEADERS:
                    _read_entry(archive, entry.filename, _HEADER_BYTES)
    else:
        _check_size("it", path.stat().st_size, _JSON_BYTES)
        data = path.read_bytes()
        _check_values("it", data)
        json.loads(data)  # Inspect's reader needs memory by the square of the depth of lists
    log = read_eval_log(str(path), header_only=True)
    header = EvalLog.model_validate(
        _plain_values(log.model_dump(exclude={"samples", "reductions"}), "it")
    )
    header.location = log.location
    return header


def _samples(path: Path, header: EvalLog) -> Iterator[_Sample]:
    """Read the samples of a log, or their summaries where these hold enough."""
    if path.suffix != ".eval":
        entries = json.loads(path.read_bytes()).get("samples") or []
        yield from map(_Sample.model_validate, entries)
        return
    scorers = [score.name for score in (header.results.scores if header.results else [])]
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        if any(name.startswith(_WITH_DETAILS) for name in scorers):
            for name in sorted(name for name in names if name.startswith("samples/")):
                yield _Sample.model_validate(json.loads(_read_entry(archive, name, _SAMPLE_BYTES)))
        elif "summaries.json" in names:
            _check_size(
                "its summaries.json", archive.getinfo("summaries.json").file_size, _JSON_BYTES
            )
            text = archive.read("summaries.json").decode()
            yield from map(_Sample.model_validate, _elements(text))


def _read_entry(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    _check_size(f"its {name}", archive.getinfo(name).file_size, most)
    data = archive.read(name)
    _check_values(f"its {name}", data)
    return data


def _elements(text: str) -> Iterator[Any]:
    """The elements of a list in JSON, one at a time: a list of empty lists needs 30 times its
    text.
    """
    decoder = json.JSONDecoder()
    if not text.lstrip().startswith("["):
        raise ValueError("its summaries.json holds no list")
    place = text.index("[") + 1
    while match := _ELEMENT.search(text, place):
        place = match.start(1)
        for size in (_ELEMENT_BYTES >> 6, _ELEMENT_BYTES):
            try:
                element, end = decoder.raw_decode(text[place : place + size])
            except json.JSONDecodeError:
                if place + size >= len(text):
                    raise
            else:
                break
        else:
            raise ValueError(
                f"a summary in its summaries.json has over {_ELEMENT_BYTES:,} characters"
            )
        yield element
        place += end


def _check_values(what: str, data: bytes) -> None:
    """Check what JSON will cost: a value costs up to 100 bytes, whatever is written of it."""
    values = data.count(b",") + data.count(b"[") + data.count(b"{")
    if values > _MOST_VALUES:
        raise ValueError(f"{what} has {values:,} values; at most {_MOST_VALUES:,} are read")


def _check_size(what: str, size: int, most: int) -> None:
    if size > most:
        raise ValueError(f"{what} has {size:,} bytes; at most {most:,} are read")


def _plain_values(value: Any, where: str) -> Any:
    """All values of a header with their texts made plain; ValueError for a number out of all
    bounds.
    """
    if isinstance(value, str):
        return plain(value, _LONGEST)
    if isinstance(value, dict):
        return {
            _plain_values(key, where): _plain_values(one, f"{where}.{key}")
            for key, one in value.items()
        }
    if isinstance(value, list | tuple):
        return [_plain_values(one, where) for one in value]
    if isinstance(value, int | float) and not isnan(value) and abs(value) > _LARGEST:
        raise ValueError(f"{where.removeprefix('it.')} is a number above {_LARGEST:.0e}")
    return value


def _complete_facts(log: EvalLog, samples: Sequence[_Sample], defaults: Defaults) -> None:
    """Add to the header of a run by Inspect alone what its samples say of benchmark and task."""
    named = _OF_HUB.fullmatch(log.eval.task)
    if log.eval.metadata is not None or named is None:
        return
    about = samples[0].metadata if samples else {}
    benchmark, task = str(about.get("benchmark")), str(about.get("task"))
    if benchmark not in names() or task not in load(benchmark).tasks:
        raise ValueError(
            f"hf/{named['repo']} is not a dataset of this suite: its samples name no benchmark and "
            "task"
        )
    facts, dataset = load(benchmark).tasks[task], f"hf://datasets/{named['repo']}"
    params = dict(facts.prompted or {})
    log.eval.task_args |= {**defaults(benchmark, task), **params, "dataset": dataset}
    scores = log.results.scores if log.results else []
    metric = next(
        (name for name in ("accuracy", "mean") if scores and name in scores[0].metrics), ""
    )
    log.eval.metadata = {
        "benchmark": benchmark,
        "config": task,
        "condition": params,
        "main_metric": f"{scores[0].name}/{metric}" if metric else "",
        "dataset": dataset,
        "dataset_label": named["repo"],
        "alone": True,
        "floors": {"": {} if facts.chance is None else {"chance": {"value": facts.chance}}},
        **(
            {"dataset_revision": named["revision"]}
            if _COMMIT.fullmatch(named["revision"] or "")
            else {}
        ),
    }


def _check_usable(log: EvalLog) -> None:
    """Raise a ValueError for a log that cannot be used."""
    about = log.eval.metadata or {}
    if log.status != "success":
        cause = f" ({log.error.message.strip()})" if log.error else ""
        raise ValueError(f"its status is {log.status}, not success{cause}")
    if log.invalidated:
        raise ValueError("it was invalidated")
    if (
        about.get("benchmark") not in names()
        or about.get("config") not in load(about["benchmark"]).tasks
    ):
        raise ValueError(f"no table is known for {about.get('benchmark') or log.eval.task}")
    try:
        scorer = _Facts.model_validate(about).main_metric.partition("/")[0]
    except ValidationError as error:
        raise ValueError(f"its metadata cannot be used: {reason(error)}") from error
    if all(score.name != scorer for score in (log.results.scores if log.results else [])):
        raise ValueError(f"it has no figures of the scorer {scorer}")
    if log.eval.config.log_samples is False:
        raise ValueError("its samples were not logged")


# --- rows ---


def _items(log: EvalLog, samples: Sequence[_Sample]) -> list[_Row]:
    """The items of a log's samples, of each scorer; a sample that was asked again after an error
    counts once.
    """
    scorers = [score.name for score in (log.results.scores if log.results else [])]
    main = (log.eval.metadata or {})["main_metric"].partition("/")[0]
    rows = []
    for sample in {(str(sample.id), sample.epoch): sample for sample in samples}.values():
        about = sample.metadata
        # Inspect numbers the samples of the Hub; the row has its own id.
        sample_id = str(about["id"] if {"id", "asks"} <= about.keys() else sample.id)
        usage = next(
            (one for model, one in sample.model_usage.items() if plain(model) == log.eval.model),
            None,
        )
        tokens = nan if usage is None else float(usage.output_tokens)
        seconds = nan if sample.working_time is None else sample.working_time
        tokens, seconds = (amount if 0 <= amount <= _MOST else nan for amount in (tokens, seconds))
        columns = _columns(about)
        for name in scorers:
            score = (sample.scores or {}).get(name)
            if score is None:
                continue
            for item in items_of(score, sample_id, about):
                if item.value is not None and not 0 <= item.value <= 1:
                    raise ValueError(
                        f"sample {plain(sample_id, _SHOWN)} has the score {item.value:g}; 0 to 1 is"
                        " accepted"
                    )
                # The twin of a question has another answer; it is paired with the question.
                target = str(about.get("twin_target", sample.target))
                target = target if item.id == sample_id else str(item.details.get("target", ""))
                details = {
                    name: fact
                    for name, fact in item.details.items()
                    if name not in ("prediction", "embedding")
                }
                rows.append(
                    {
                        **columns,
                        **_columns(item.details),
                        "scorer": name,
                        "is_main": name == main,
                        "sample": plain(str(sample.id), _SHOWN),
                        "item": plain(item.id, _SHOWN),
                        "epoch": sample.epoch,
                        "pair": _digest(item.id, target),
                        "question_key": _question_key(about, item.id, target),
                        "cluster": plain(item.cluster, _SHOWN),
                        "stratum": plain(item.stratum, _SHOWN),
                        "value": nan if item.value is None else item.value,
                        "counts": item.counts,
                        "answer": (
                            None if score.answer is None else plain(str(score.answer), _SHOWN)
                        ),
                        "target": plain(str(sample.target), _SHOWN),
                        "tokens": tokens,
                        "seconds": seconds,
                        "is_unread": _is_unread(item.details),
                        "details": details if name.startswith(_WITH_DETAILS) else None,
                    }
                )
    if (log.eval.metadata or {})["main_metric"].endswith(f"/{ORIGINAL}"):
        pieces = [row for row in rows if row["is_main"]]
        for row, is_original in zip(
            pieces, original([row["details"] for row in pieces]), strict=True
        ):
            row["value"] = float(is_original)
    if not any(row["is_main"] for row in rows):
        raise ValueError(f"none of its samples has a score of {main}")
    if all(isnan(row["value"]) for row in rows if row["is_main"]):
        raise ValueError("none of its samples was scored")
    return rows


def _is_unread(details: _Metadata) -> bool | None:
    """Whether an item's reply holds no answer that could be read; None if its scorer does not
    say.
    """
    reading = details.get("reading")
    return None if reading is None else reading in UNREAD and not details.get("votes")


def _question_key(about: _Metadata, item: str, target: str) -> str:
    """What is equal for one question in two benchmarks: a checksum of its content, or of id, answer
    and options.
    """
    options = about.get("options")
    shown = sorted(map(str, options)) if isinstance(options, list) else []
    return _digest(str(about["content"])) if "content" in about else _digest(item, target, *shown)


def _digest(*texts: str) -> str:
    return blake2b("\0".join(texts).encode(errors="surrogatepass"), digest_size=8).hexdigest()


def _columns(metadata: _Metadata) -> _Row:
    """What metadata say in numbers and texts."""
    short = {
        name: plain(value, _LONGEST) if isinstance(value, str) else value
        for name, value in metadata.items()
        if isinstance(value, str | int | float | bool)
        and name.isidentifier()
        and len(name) <= _SHOWN
    }
    return dict(list(short.items())[:_MOST_COLUMNS])


def _run(log: EvalLog, fingerprint: RunFingerprint, items: pd.DataFrame) -> _Row:
    about = log.eval.metadata or {}
    facts = load(about["benchmark"]).tasks[about["config"]]
    params = {
        name: _hashable(value)
        for name, value in (log.eval.task_args | log.eval.task_args_passed).items()
    }
    main = items[items["is_main"]]
    counted = main[main["counts"] & main["value"].notna()]
    is_comparable = _is_comparable(facts, params, about)
    is_complete = _is_complete(log, main) and (
        not is_comparable or _has_published_questions(facts, main)
    )
    headline = score_of(main)
    is_alone = bool(about.get("alone"))
    unread = nan
    if headline and headline.unread is not None:
        unread = headline.unread
    reader = models_by_role(log).get(READER, "")
    reading = {f"{READER}={shown(READER, reader)}"} if reader else set()
    words = [
        *fingerprint.params,
        *fingerprint.settings,
        *(reading - {*fingerprint.settings}),
        *([ALONE] if is_alone else []),
        *([] if is_complete else [PARTIAL]),
    ]
    return params | {
        "params": {name: shown(name, value) for name, value in params.items()},
        "settings": fingerprint.settings,
        "signature": signature(log),
        "words": words,
        "section": facts.section_title,
        "benchmark": about["benchmark"],
        "task": about["config"],
        "model": fingerprint.model,
        "condition": ", ".join(words) or DEFAULT,
        "data": ", ".join([about["dataset_label"], *fingerprint.data]),
        "key": repr(
            (about["benchmark"], about["config"], fingerprint, is_alone, about["dataset_label"])
        ),
        "changes": len(fingerprint.params) + len(fingerprint.settings) + is_alone,
        "created": datetime.fromisoformat(log.eval.created),
        "main_metric": about["main_metric"],
        "unread": unread,
        "has_reader": bool(reading),
        "errors": (
            results.total_samples - results.completed_samples if (results := log.results) else 0
        ),
        "n": counted["item"].nunique(),
        "clusters": counted["cluster"].nunique(),
        "is_complete": is_complete,
        "is_published_test": is_complete and is_comparable and not is_alone,
        "is_alone": is_alone,
        "is_probe": params.get("twin") == "completion",
        "location": log.location,
        "log": log.location.rpartition("/")[2],
    }


def _is_complete(log: EvalLog, main: pd.DataFrame) -> bool:
    """Whether every sample was asked and scored; a question that nobody can decide does not
    matter.
    """
    results, config = log.results, log.eval.config
    if results is None or config.limit is not None or config.sample_id is not None:
        return False
    if (log.eval.metadata or {}).get("rows_left_out") or (
        main["counts"] & main["value"].isna()
    ).any():
        return False
    wanted = (log.eval.dataset.samples or 0) * (config.epochs or 1)
    return (
        results.completed_samples
        == results.total_samples
        == wanted
        == len(main[["sample", "epoch"]].drop_duplicates())
    )


def _is_comparable(facts: TaskFacts, params: _Metadata, about: _Metadata) -> bool:
    """Whether a log says that it is of the published test, as the paper asked it: see
    ``[comparable]``.
    """
    benchmark = load(facts.benchmark)
    is_own = about.get("dataset_source") == dataset_facts(facts.benchmark).published[0]
    accepted = dict(benchmark.table.get("comparable", {}))
    changed = {"stimulus", "twin", "answer", *accepted.pop("defaults", ())} & (
        about.get("condition") or {}
    ).keys()
    known = {**about, **params}
    return (
        is_own
        and not changed
        and not about.get("dataset_missing_files")
        and all(
            _hashable(known[name]) in map(_hashable, values)
            for name, values in accepted.items()
            if known.get(name) is not None
        )
    )


def _has_published_questions(facts: TaskFacts, main: pd.DataFrame) -> bool:
    """Whether the samples are of all questions of the published test; the header of a log may say
    anything.
    """
    _, source = dataset_facts(facts.benchmark).published
    wanted, known = source.questions.get(facts.name), source.fingerprints.get(facts.name)
    ids = main["item"] if "question" not in main else main["question"].fillna(main["item"])
    return (
        wanted is not None
        and ids.nunique() >= wanted
        and known in (None, fingerprint(ids.astype(str)))
    )


def _hashable(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(map(_hashable, value))
    return str(value) if isinstance(value, dict) else value


def _with_current(runs: pd.DataFrame) -> pd.DataFrame:
    """Mark the run that counts among those alike: a complete one, then one of more samples, then
    the newest.

    A run that began in the future had a wrong clock, and is not the newest.
    """
    is_dated = runs["created"] <= datetime.now(UTC) + timedelta(days=1)
    order = runs.assign(is_dated=is_dated).sort_values(
        ["is_complete", "n", "is_dated", "created"], kind="stable"
    )
    last = order.groupby("key", sort=False).tail(1).index
    alike = runs.groupby("key")["key"].transform("size")
    return runs.assign(is_current=runs.index.isin(last), replaced=alike - 1)


def _scores(run: int, log: EvalLog, items: pd.DataFrame) -> Iterator[_Row]:
    """The figures of a run: the main metric, also by group, the other metrics of its log, and its
    floors.
    """
    about = log.eval.metadata or {}
    facts, main_metric = _Facts.model_validate(about), about["main_metric"]
    main = items[items["is_main"]]
    yield _row(run, main_metric, "", score_of(main))
    for column in GROUPS:
        if column in main and main[column].nunique() > 1:
            for name, group in main.groupby(main[column].astype(str).str.removesuffix(".0")):
                if found := score_of(group):
                    yield _row(run, main_metric, f"{column}={name}", found)
    for tag, group in _by_tag(main):
        yield _row(run, main_metric, f"tag={tag}", score_of(group))
    for score in log.results.scores if log.results else []:
        values = {
            name: float(metric.value)
            for name, metric in score.metrics.items()
            if not isnan(metric.value)
        }
        for name, value in values.items():
            metric, is_end = f"{score.name}/{name}", name.endswith(("_low", "_high"))
            if metric != main_metric and not is_end:
                yield _row(
                    run,
                    metric,
                    "",
                    Estimate(value, values.get(f"{name}_low"), values.get(f"{name}_high")),
                )
    for metric, floors in facts.floors.items():
        theme = re.fullmatch(r"by_theme/(.*)/accuracy", metric)
        for kind, floor in floors.items() if theme or not metric else ():
            group = f"theme={theme[1]}" if theme else ""
            row = _row(run, main_metric, group, Estimate(floor.value, floor.low, floor.high))
            yield {**row, "source": "floor", "floor": kind}


def _by_tag(items: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The items of each tag, and of each kind of tags that some items lack."""
    if "tags" not in items or items["tags"].isna().all():  # the column may be that of another run
        return
    tags = items["tags"].dropna().str.split(TAGS).explode()
    for name, group in tags.groupby(tags):
        yield str(name), items.loc[group.index]
    kinds = tags.str.partition(": ")[0]
    for name, group in kinds.groupby(kinds):
        rows = items.loc[group.index.unique()]
        if len(rows) < len(items):
            yield str(name), rows


def _published_scores(benchmark: str) -> Iterator[_Row]:
    """The figures of a benchmark's paper, as printed; their groups are the columns of text beside
    the model.
    """
    for name in published_names(benchmark):
        for row in published(benchmark, name).rows:
            labels = dict(row.labels)
            model = labels.pop("model", "")
            group = "; ".join(f"{column}={words}" for column, words in labels.items() if words)
            for metric, value in row.figures.items():
                figure = {
                    **_row(None, f"{name}/{metric}", group, Estimate(value)),
                    "source": "published",
                }
                yield {**figure, "model": model, "benchmark": benchmark}


def _row(run: int | None, metric: str, group: str, found: Estimate | None) -> _Row:
    found = found or Estimate(nan)
    ends = {"value": found.value, "low": found.low, "high": found.high, "n": found.n}
    return {
        "run": run,
        "metric": metric,
        "group": group,
        **ends,
        "source": "measured",
        "unread": found.unread,
    }


def _estimate(row: pd.Series) -> Estimate:
    low, high, n, unread = (
        None if pd.isna(row[name]) else float(row[name]) for name in ("low", "high", "n", "unread")
    )
    return Estimate(float(row["value"]), low, high, None if n is None else int(n), unread=unread)
