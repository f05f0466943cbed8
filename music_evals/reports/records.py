"""Logs as tidy data frames, from which all tables, tests and figures are made.

`read_records` reads logs of the suite's tasks. Logs may come from strangers: they are read by
processes with limits, their texts and numbers are bounded, and a log that cannot be used is passed
over with a reason.
"""

import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from hashlib import blake2b
from math import inf, isnan, nan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import pandas as pd
from inspect_ai.log import EvalLog, EvalResults
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
from music_evals.notation.subprocesses import LimitError, allowance_of, map_in_subprocess
from music_evals.reports.answers import answer_facts
from music_evals.reports.run_metadata import (
    DEFAULT,
    RunFingerprint,
    fingerprints,
    models_by_role,
    run_facts,
    shown,
    signature,
    wall_seconds,
)
from music_evals.reports.sanitize import plain, reason
from music_evals.scorers.items import (
    LARGEST,
    PLANNED,
    TAGS,
    best_of_key,
    items_of,
    places_of_best,
)
from music_evals.scorers.metrics.estimates import Estimate, Estimates, estimate
from music_evals.scorers.metrics.sequences import sequence_interval
from music_evals.scorers.metrics.written import ORIGINAL, original
from music_evals.scorers.readers import ERROR, Status

ALONE = "asked and scored by Inspect alone"
"""The condition of runs of a repository on the Hub, ``inspect eval hf/ORG/NAME``."""
PARTIAL = "in part"
"""What the condition of a run says that did not ask or score all samples."""
UNREAD: tuple[Status, ...] = ("unreadable", "empty", "cut")
"""Readings of replies that hold no answer that could be read, unless judges read them."""
READER = "reader"
"""The role of a model that reads what no rule does, see `music_evals.scorers.chosen_option`."""
GROUPS = ("theme", "subtheme", "kind", "level", "ladder_level", "rotation")
"""Columns of the items for which `scores` holds the main metric of each group."""

_OF_HUB = re.compile(r"hf/(?P<repo>[\w.-]+/[\w.-]+?)(?:@(?P<revision>[\w./-]+?))?(?:/\w+){0,2}")
_COMMIT = re.compile("[0-9a-f]{40}")
_HEADER, _START = "header.json", "_journal/start.json"  # of a run that did not end
_LOGS_PER_PROCESS = 50
_ROUNDED = 0.01  # a chance level that is as far from another one is the same
_LARGEST = 1e20  # above all seeds of 64 bits
_LONGEST = 1000  # characters of a text in a header, or in metadata
_SHOWN = 200  # characters of another text of a sample
_MOST = 1e12  # tokens, or seconds
_MOST_COLUMNS = 60
# Scorers whose metadata a summary of a sample cannot hold.
_WITH_DETAILS = (
    "judged",
    "written_music",
    "chat_answers",
)

_NOT_KEPT = ("prediction", "embedding")  # of these metadata

_Read = TypeVar("_Read")
_Row = dict[str, Any]
_Metadata = Mapping[str, Any]
Defaults = Callable[[str, str], _Metadata]
"""Benchmark and task → defaults of the task's parameters, for runs by Inspect alone, whose logs do
not hold them.
"""


@dataclass(frozen=True, eq=False)
class Records:
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
        by_run: the items of each run, of all scorers.
        main: the items of the main scorer of each run, without empty columns.
        estimates: the figures of each run by metric, group and kind of floor.
        headers: header of each run's log.
        passed_over: location of each other log, and why it is not used.
    """

    runs: pd.DataFrame
    scores: pd.DataFrame
    by_run: Mapping[int, pd.DataFrame]
    main: Mapping[int, pd.DataFrame]
    estimates: Mapping[int, Mapping[tuple[str, str, str], Estimate]]
    headers: Mapping[int, EvalLog]
    passed_over: Sequence[tuple[str, str]]

    @cached_property
    def items(self) -> pd.DataFrame:
        """A row per response to a question and scorer: ``run``, ``item``, ``epoch``, ``pair``
        (equal for the same question in two runs), ``question_key`` (equal for the same question in
        two benchmarks), ``cluster``, ``stratum``, ``value``, ``counts``, ``reading``, ``answer``
        and ``key`` (as `music_evals.scorers.items.Item` has them), ``target``, ``tokens``,
        ``seconds``, ``is_unread`` (None if the scorer reads no reply), and what the sample's and
        the score's metadata say.
        """
        if not self.by_run:
            return pd.DataFrame(columns=["run", "is_main"])
        return pd.concat(self.by_run.values(), ignore_index=True)

    def current(self, benchmark: str = "", **values: Any) -> pd.DataFrame:
        """Return the runs of a benchmark that are current, with these values of columns; probes are
        left out.
        """
        runs = self.runs[self.runs["is_current"] & ~self.runs["is_probe"]]
        if benchmark:
            runs = runs[runs["benchmark"] == benchmark]
        for name, value in values.items():
            accepted = value if isinstance(value, list) else [value]
            runs = runs[runs[name].isin(accepted)] if name in runs else runs.iloc[:0]
        return runs

    def score(self, run: int, metric: str = "", group: str = "") -> Estimate | None:
        """Return a measured figure of a run: the main metric, or another; None without it."""
        metric = metric or self.runs.at[run, "main_metric"]
        return self.estimates[run].get((metric, group, ""))

    def percent(self, run: int, metric: str = "", group: str = "") -> Estimate | None:
        """Return a measured figure of a run in percent; see `score`."""
        score = self.score(run, metric, group)
        return score and score.percent()

    def floors(self, run: int) -> Estimates:
        """Return the floors of the main metric of a run, by their kind: what is earned without the
        music.
        """
        figures = self.estimates[run].items()
        return {floor: figure for (_, group, floor), figure in figures if floor and not group}


def _no_defaults(_benchmark: str, _task: str) -> _Metadata:
    return {}


def read_records(
    logs: str | Path | Sequence[str | Path],
    *,
    defaults: Defaults = _no_defaults,
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
    by_run = {}
    passed_over = []
    with local_logs(*([logs] if isinstance(logs, str | Path) else logs)) as paths:
        results = read_each(partial(_read_log, defaults=defaults), paths)
        for number, (path, result) in enumerate(zip(paths, results, strict=True), start=1):
            if isinstance(result, str):
                passed_over.append((plain(str(path)), result))
            else:
                header, items = result
                items["run"] = len(headers)
                by_run[len(headers)] = items
                headers.append(header)
            progress(number, len(paths))
    main = {run: _main_items(items) for run, items in by_run.items()}
    headlines = [score_of(items) for items in main.values()]
    runs = list(map(_run, headers, fingerprints(headers), main.values(), headlines))
    frame = pd.DataFrame({"is_current": [], "is_probe": []}, dtype=bool)
    if runs:
        frame = _with_current(pd.DataFrame(runs))
    scores = []
    estimates: dict[int, dict[tuple[str, str, str], Estimate]] = {}
    for run, log in enumerate(headers):
        rows = [*_scores(run, log, main[run], headlines[run])]
        estimates[run] = {}
        for row in rows:
            key = row["metric"], row["group"], row.get("floor", "")
            estimates[run].setdefault(key, _estimate(row))
        scores += rows
    for benchmark in dict.fromkeys(run["benchmark"] for run in runs):
        scores += _published_scores(benchmark)
    return Records(
        frame, pd.DataFrame(scores), by_run, main, estimates, dict(enumerate(headers)), passed_over
    )


def read_each(read: Callable[[Path], _Read], paths: Sequence[Path]) -> Iterator[_Read | str]:
    """Read files in processes with limits, and yield what the function returns, or the reason why a
    file cannot be read.
    """
    attempts = map_in_subprocess(
        partial(_attempt, read), paths, allowance_of, per_process=_LOGS_PER_PROCESS
    )
    for result in attempts:
        yield f"reading it {result}" if isinstance(result, LimitError) else result


def _attempt(read: Callable[[Path], _Read], path: Path) -> _Read | str:
    try:
        return read(path)
    except MemoryError:
        raise
    except Exception as error:  # whatever a file that is no log makes a reader raise
        return reason(error)


def _read_log(path: Path, defaults: Defaults) -> tuple[EvalLog, pd.DataFrame]:
    """Read the header of a log and its items; an error if it cannot be used."""
    header = read_header(path)
    samples = list(_samples(path, header))
    _complete_facts(header, samples, defaults)
    _check_usable(header)
    items = pd.DataFrame(_items(header, samples))
    _check_chance(_Facts.model_validate(header.eval.metadata), items["chance"])
    run_facts(header)  # what it cannot show, the report could not either
    return header, items


def _main_items(items: pd.DataFrame) -> pd.DataFrame:
    """The items of the main scorer, without empty columns."""
    own = items if items["is_main"].all() else items[items["is_main"]]
    return own.drop(columns=[name for name in own if own[name].isna().all()])


def score_of(items: pd.DataFrame) -> Estimate | None:
    """Return the main metric over some items of a run: the headline, or that of a group; None
    without a value.
    """
    is_counted = items["counts"] & items["value"].notna()
    columns = [items[name][is_counted].tolist() for name in ("value", "item", "cluster", "stratum")]
    if "weight" in items:
        columns.append(items["weight"][is_counted].fillna(1).tolist())
    score = estimate(*columns)
    if score and PLANNED in items and not items["stratum"].any():
        facts = (int(items[name].iloc[0]) for name in (PLANNED, LARGEST))
        low, high = sequence_interval(*columns[:3], *facts)
        score = replace(score, low=low, high=high)
    if score is None or "is_unread" not in items:
        return score
    flags = items["is_unread"][is_counted].dropna()
    return replace(score, unread=float(flags.mean())) if len(flags) else score


@contextmanager
def local_logs(*places: str | Path) -> Iterator[list[Path]]:
    """Find the logs in files and folders; logs elsewhere, such as in ``s3://``, are fetched for the
    time of the block.

    Logs of shards that are not merged yet are left out. A FileNotFoundError names a place with
    nothing in it.
    """
    import fsspec
    from inspect_ai.log import list_eval_logs

    paths = set()
    with TemporaryDirectory() as fetched:
        for number, place in enumerate(places):
            files, root = fsspec.core.url_to_fs(str(place))
            if not files.exists(root):
                raise FileNotFoundError(f"{place} does not exist")
            logs = [root]
            if files.isdir(root):
                infos = list_eval_logs(files.unstrip_protocol(root))
                logs = [fsspec.core.url_to_fs(info.name)[1] for info in infos]
            for log in logs:
                path = Path(log)
                if "shards" in log.removeprefix(root).split("/")[:-1]:
                    continue
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
    """Read the header of a log, with its texts made `plain`; ValueError if a number is too
    large.
    """
    if not path.is_file():
        raise ValueError("it is not a file")
    if plain(str(path)) != str(path):
        raise ValueError("its name is not UTF-8, or holds control characters")
    if path.suffix == ".eval":
        with zipfile.ZipFile(path) as archive:
            is_finished = _HEADER in archive.namelist()
            data = archive.read(_HEADER if is_finished else _START)
    else:
        data = path.read_bytes()
    values = json.loads(data)
    for name in ("samples", "reductions"):
        values.pop(name, None)
    header = EvalLog.model_validate(_plain_values(values, "it"))
    header.location = str(path)
    return header


def _samples(path: Path, header: EvalLog) -> Iterator[_Sample]:
    """Read the samples of a log, or their summaries where these hold enough."""
    if path.suffix != ".eval":
        entries = json.loads(path.read_bytes()).get("samples") or []
        yield from map(_Sample.model_validate, entries)
        return
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        if any(name.startswith(_WITH_DETAILS) for name in _scorers(header)):
            for name in sorted(name for name in names if name.startswith("samples/")):
                yield _Sample.model_validate(json.loads(archive.read(name)))
        elif "summaries.json" in names:
            entries = json.loads(archive.read("summaries.json"))
            yield from map(_Sample.model_validate, entries)


def _scorers(log: EvalLog) -> list[str]:
    return [score.name for score in (log.results or EvalResults()).scores]


def _plain_values(value: Any, where: str) -> Any:
    """All values of a header with their texts made plain; ValueError for a number out of all
    bounds.
    """
    if isinstance(value, str):
        return plain(value, _LONGEST)
    if isinstance(value, dict):
        keys = [_plain_values(key, where) for key in value]
        values = [_plain_values(value[key], f"{where}.{key}") for key in value]
        return dict(zip(keys, values, strict=True))
    if isinstance(value, list | tuple):
        return [_plain_values(element, where) for element in value]
    if isinstance(value, int | float) and abs(value) > _LARGEST:
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
    log.eval.metadata = {
        "benchmark": benchmark,
        "config": task,
        "condition": params,
        "main_metric": _first_metric(log),
        "dataset": dataset,
        "dataset_label": named["repo"],
        "alone": True,
        "floors": {"": {} if facts.chance is None else {"chance": {"value": facts.chance}}},
    }
    if _COMMIT.fullmatch(named["revision"] or ""):
        log.eval.metadata["dataset_revision"] = named["revision"]


def _first_metric(log: EvalLog) -> str:
    """The accuracy or mean of the first scorer; nothing without any."""
    for score in (log.results or EvalResults()).scores[:1]:
        for name in ("accuracy", "mean"):
            if name in score.metrics:
                return f"{score.name}/{name}"
    return ""


def _check_usable(log: EvalLog) -> None:
    """Raise a ValueError for a log that cannot be used."""
    about = log.eval.metadata or {}
    if log.status != "success":
        cause = f" ({log.error.message.strip()})" if log.error else ""
        raise ValueError(f"its status is {log.status}, not success{cause}")
    if log.invalidated:
        raise ValueError("it was invalidated")
    benchmark = about.get("benchmark")
    if benchmark not in names() or about.get("config") not in load(benchmark).tasks:
        raise ValueError(f"no table is known for {benchmark or log.eval.task}")
    try:
        scorer = _Facts.model_validate(about).main_metric.partition("/")[0]
    except ValidationError as error:
        raise ValueError(f"its metadata cannot be used: {reason(error)}") from error
    if scorer not in _scorers(log):
        raise ValueError(f"it has no figures of the scorer {scorer}")
    if log.eval.config.log_samples is False:
        raise ValueError("its samples were not logged")


def _check_chance(facts: _Facts, chances: pd.Series) -> None:
    """Raise a ValueError if the options of the questions have another chance level than stated."""
    floor = facts.floors.get("", {}).get("chance")
    if floor is None or chances.isna().any():
        return
    true = float(chances.mean())
    if abs(floor.value - true) > _ROUNDED:
        raise ValueError(
            f"its floors state a chance of {floor.value:g}; its questions have {true:g}"
        )


# --- rows ---


def _items(log: EvalLog, samples: Sequence[_Sample]) -> list[_Row]:
    """The items of a log's samples, of each scorer; a sample that was asked again after an error
    counts once.
    """
    main_scorer, _, metric = (log.eval.metadata or {})["main_metric"].partition("/")
    rows: list[_Row] = []
    for sample in {(str(sample.id), sample.epoch): sample for sample in samples}.values():
        response = _response(sample, log.eval.model)
        for scorer in _scorers(log):
            if score := (sample.scores or {}).get(scorer):
                facts = {**response, "scorer": scorer, "is_main": scorer == main_scorer}
                rows += _item_rows(sample, score, facts)
    _count_best(rows)
    main = [row for row in rows if row["is_main"]]
    if metric == ORIGINAL:
        values = original([row["details"] for row in main])
        for row, value in zip(main, values, strict=True):
            row["value"] = value
    if not main:
        raise ValueError(f"none of its samples has a score of {main_scorer}")
    if all(isnan(row["value"]) for row in main):
        raise ValueError("none of its samples was scored")
    return rows


def _count_best(rows: Sequence[_Row]) -> None:
    """Make one item of answers of which the best counts; in place."""
    keys = [(row["scorer"], best_of_key(row)) for row in rows]
    best = places_of_best(keys, [row["value"] for row in rows])
    for place, (row, (_, key)) in enumerate(zip(rows, keys, strict=True)):
        if key is not None:
            row["item"], row["pair"] = key[0], _digest(key[0])
            row["counts"] = row["counts"] and place in best


def _response(sample: _Sample, model: str) -> _Row:
    """What is the same for all items of a sample."""
    usage = {plain(name): usage for name, usage in sample.model_usage.items()}.get(model)
    return {
        "sample": plain(str(sample.id), _SHOWN),
        "epoch": sample.epoch,
        "tokens": _bounded(usage.output_tokens if usage else None),
        "seconds": _bounded(sample.working_time),
    }


def _bounded(amount: float | None) -> float:
    return float(amount) if amount is not None and 0 <= amount <= _MOST else nan


def _item_rows(sample: _Sample, score: Score, facts: _Row) -> Iterator[_Row]:
    about = sample.metadata
    # Inspect numbers the samples of the Hub; the row has its own id.
    sample_id = str(about["id"] if {"id", "asks"} <= about.keys() else sample.id)
    for item in items_of(score, sample_id, about):
        if item.value is not None and not 0 <= item.value <= 1:
            raise ValueError(
                f"sample {plain(sample_id, _SHOWN)} has the score {item.value:g}; 0 to 1 is"
                " accepted"
            )
        # The twin of a question has another answer; it is paired with the question.
        target = str(about.get("twin_target", sample.target))
        if item.id != sample_id:
            target = str(item.details.get("target", ""))
        answer, key = (text and plain(text, _SHOWN) for text in (item.answer, item.key))
        row = {
            **_columns(about),
            **_columns(item.details),
            **facts,
            "item": plain(item.id, _SHOWN),
            "pair": _digest(item.id, target),
            "question_key": _question_key(about, item.id, target),
            "cluster": plain(item.cluster, _SHOWN),
            "stratum": plain(item.stratum, _SHOWN),
            "value": nan if item.value is None else item.value,
            "counts": item.counts,
            "answer": answer,
            "key": key,
            "target": plain(str(sample.target), _SHOWN),
            "is_unread": _is_unread(item.details),
            "chance": _chance(about),
            "details": None,
        }
        if facts["scorer"].startswith(_WITH_DETAILS):
            details = item.details.items()
            row["details"] = {name: fact for name, fact in details if name not in _NOT_KEPT}
        yield row


def _is_unread(details: _Metadata) -> bool | None:
    """Whether an item's reply holds no answer that could be read; None if its scorer does not
    say.
    """
    if details.get("reading") is None:
        return None
    return details["reading"] in UNREAD and not details.get("votes")


def _chance(about: _Metadata) -> float:
    """What guessing earns on a question, by the options that its sample shows; NaN without any."""
    options = about.get("options")
    return 1 / len(options) if isinstance(options, list) and options else nan


def _question_key(about: _Metadata, item: str, target: str) -> str:
    """What is equal for one question in two benchmarks: a checksum of its content, or of id, answer
    and options.
    """
    if "content" in about:
        return _digest(str(about["content"]))
    options = about.get("options")
    return _digest(item, target, *sorted(map(str, options if isinstance(options, list) else ())))


def _digest(*texts: str) -> str:
    return blake2b("\0".join(texts).encode(errors="surrogatepass"), digest_size=8).hexdigest()


def _columns(metadata: _Metadata) -> _Row:
    """What metadata say in numbers and texts."""
    columns: _Row = {}
    for name, value in metadata.items():
        if not name.isidentifier() or len(name) > _SHOWN or len(columns) == _MOST_COLUMNS:
            continue
        if isinstance(value, str):
            columns[name] = plain(value, _LONGEST)
        elif isinstance(value, int | float):
            columns[name] = value
    return columns


def _run(
    log: EvalLog, fingerprint: RunFingerprint, main: pd.DataFrame, headline: Estimate | None
) -> _Row:
    about, results = log.eval.metadata or {}, log.results or EvalResults()
    benchmark, label = about["benchmark"], about["dataset_label"]
    facts = load(benchmark).tasks[about["config"]]
    args = log.eval.task_args | log.eval.task_args_passed
    params = {name: _hashable(value) for name, value in args.items()}
    is_counted = main["counts"] & main["value"].notna()
    is_comparable, is_complete = _is_comparable(facts, params, about), _is_complete(log, main)
    if is_comparable and not _has_published_questions(facts, main):
        is_complete = False
    unread = headline.unread if headline else None
    is_alone = bool(about.get("alone"))
    words = _condition(log, fingerprint)
    if is_alone:
        words.append(ALONE)
    if not is_complete:
        words.append(PARTIAL)
    is_published_test = is_complete and is_comparable and not is_alone
    stopped = results.early_stopping.early_stops if results.early_stopping else []
    return params | {
        "params": {name: shown(name, value) for name, value in params.items()},
        "settings": fingerprint.settings,
        "signature": signature(log),
        "words": words,
        "section": facts.section_title,
        "benchmark": benchmark,
        "task": facts.name,
        "model": fingerprint.model,
        "condition": ", ".join(words) or DEFAULT,
        "data": ", ".join([label, *fingerprint.data]),
        "key": repr((benchmark, facts.name, fingerprint, is_alone, label)),
        "changes": len(fingerprint.params) + len(fingerprint.settings) + is_alone,
        "created": datetime.fromisoformat(log.eval.created),
        "main_metric": about["main_metric"],
        "unread": nan if unread is None else unread,
        "has_reader": READER in models_by_role(log),
        "errors": results.total_samples - results.completed_samples - len(stopped),
        **answer_facts(log, main),
        "seconds": wall_seconds(log),
        "reader_errors": int(main.get(ERROR, pd.Series()).notna().sum()),
        "n": main["item"][is_counted].nunique(),
        "clusters": main["cluster"][is_counted].nunique(),
        "is_complete": is_complete,
        "is_published_test": is_published_test,
        "is_alone": is_alone,
        "is_probe": params.get("twin") == "completion",
        "location": log.location,
        "log": log.location.rpartition("/")[2],
    }


def _condition(log: EvalLog, fingerprint: RunFingerprint) -> list[str]:
    """What differs from the defaults, with the model that reads replies."""
    words = [*fingerprint.params, *fingerprint.settings]
    if reader := models_by_role(log).get(READER):
        reading = f"{READER}={shown(READER, reader)}"
        if reading not in fingerprint.settings:
            words.append(reading)
    return words


def _is_complete(log: EvalLog, main: pd.DataFrame) -> bool:
    """Whether every sample was asked and scored; a question that nobody can decide does not
    matter.
    """
    results, config = log.results or EvalResults(), log.eval.config
    is_selection = config.limit is not None or config.sample_id is not None
    if is_selection or (log.eval.metadata or {}).get("rows_left_out"):
        return False
    wanted = (log.eval.dataset.samples or 0) * (config.epochs or 1)
    responses = len(main[["sample", "epoch"]].drop_duplicates())
    is_scored = main["value"].notna() | ~main["counts"]
    numbers = {wanted, responses, results.completed_samples, results.total_samples}
    return len(numbers) == 1 and bool(is_scored.all())


def _is_comparable(facts: TaskFacts, params: _Metadata, about: _Metadata) -> bool:
    """Whether a log says that it is of the published test, as the paper asked it: see
    ``[comparable]``.
    """
    accepted = dict(load(facts.benchmark).table.get("comparable", {}))
    defaults = {"stimulus", "twin", "answer", *accepted.pop("defaults", ())}
    if about.get("dataset_source") != dataset_facts(facts.benchmark).published[0]:
        return False
    if about.get("dataset_missing_files") or defaults & (about.get("condition") or {}).keys():
        return False
    stated = {**about, **params}
    for name, values in accepted.items():
        value = _hashable(stated.get(name))
        if value is not None and value not in map(_hashable, values):
            return False
    return True


def _has_published_questions(facts: TaskFacts, main: pd.DataFrame) -> bool:
    """Whether the samples are of all questions of the published test; the header of a log may say
    anything.
    """
    _, source = dataset_facts(facts.benchmark).published
    ids = main["item"] if "question" not in main else main["question"].fillna(main["item"])
    if ids.nunique() < source.questions.get(facts.name, inf):
        return False
    expected = source.fingerprints.get(facts.name)
    return expected is None or expected == fingerprint(ids.astype(str))


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


def _scores(
    run: int, log: EvalLog, main: pd.DataFrame, headline: Estimate | None
) -> Iterator[_Row]:
    """The figures of a run: the main metric, also by group, the other metrics of its log, and its
    floors.
    """
    facts = _Facts.model_validate(log.eval.metadata)
    yield _row(run, facts.main_metric, "", headline)
    for group, items in _groups(main):
        yield _row(run, facts.main_metric, group, score_of(items))
    for metric, figure in _logged_metrics(log):
        if metric != facts.main_metric:
            yield _row(run, metric, "", figure)
    for group, floors in facts.floors.items():
        named = re.fullmatch(r"by_(theme|ladder_level)/(.*)/accuracy", group)
        if group and not named:
            continue
        for kind, floor in floors.items():
            figure = Estimate(floor.value, floor.low, floor.high)
            row = _row(run, facts.main_metric, f"{named[1]}={named[2]}" if named else "", figure)
            yield {**row, "source": "floor", "floor": kind}


def _groups(main: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The groups of items that have figures of their own."""
    for column in GROUPS:
        if column in main and main[column].nunique() > 1:
            for name, group in main.groupby(main[column].astype(str).str.removesuffix(".0")):
                if (group["counts"] & group["value"].notna()).any():
                    yield f"{column}={name}", group
    for tag, group in _by_tag(main):
        yield f"tag={tag}", group


def _logged_metrics(log: EvalLog) -> Iterator[tuple[str, Estimate]]:
    """The metrics of a log, with the ends of their intervals."""
    for score in (log.results or EvalResults()).scores:
        metrics = score.metrics.items()
        values = {name: float(metric.value) for name, metric in metrics if not isnan(metric.value)}
        for name, value in values.items():
            if not name.endswith(("_low", "_high")):
                ends = values.get(f"{name}_low"), values.get(f"{name}_high")
                yield f"{score.name}/{name}", Estimate(value, *ends)


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
                figure = _row(None, f"{name}/{metric}", group, Estimate(value))
                whose = {"source": "published", "model": model, "benchmark": benchmark}
                yield figure | whose


def _row(run: int | None, metric: str, group: str, score: Estimate | None) -> _Row:
    score = score or Estimate(nan)
    return {
        "run": run,
        "metric": metric,
        "group": group,
        **{name: getattr(score, name) for name in ("value", "low", "high", "n")},
        "source": "measured",
        "unread": score.unread,
    }


def _estimate(row: _Row) -> Estimate:
    return Estimate(row["value"], row["low"], row["high"], row["n"], unread=row["unread"])
