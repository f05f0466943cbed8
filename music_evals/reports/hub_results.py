"""Results of models for the Hub: the entries of ``.eval_results/*.yaml`` in model repositories.

An entry is the main metric of a run, from 0 to 1, for the leaderboard of the dataset that it ran
on. Complete runs on a pinned commit of data on the Hub count, of models with open weights, whose
name is that of their repository:

- of a task by Inspect alone (``inspect eval hf/ORG/NAME@COMMIT``);
- of a task under the condition of the dataset's prompts, if its main metric is what Inspect alone
  would earn.

Source: https://huggingface.co/docs/hub/eval-results
"""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

import pandas as pd
import yaml
from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml
from inspect_ai.log import EvalLog

from music_evals.benchmarks import load
from music_evals.reports.records import ALONE, Records
from music_evals.reports.tables.common import best_floor

FOLDER: Final = ".eval_results"
_DATA: Final = "hf://datasets/"
_DECIMALS: Final = 4
_HUB: Final = ("hf", "hf-inference-providers", "nnterp", "sglang", "transformer_lens", "vllm", "vllm-completions")
"""Providers that load a model by the name of its repository."""
_REPOSITORY: Final = re.compile(rf"(?:{'|'.join(_HUB)})/(?P<name>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?::[\w-]+)?")


def hub_results(records: Records, source: str | None = None) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Make the files of results, by path (``ORG/MODEL/.eval_results/NAME.yaml``).

    Args:
        records: of the logs; their current runs count.
        source: address of the folder where the logs are published, for links to them.

    Returns:
        The texts of the files, and the logs that are not in them, with the reason.
    """
    files: dict[str, dict[str, EvalResultEntry]] = {}
    locations: dict[tuple[str, str], str] = {}
    left_out: list[tuple[str, str]] = []
    for number, run in records.current().sort_values("created").iterrows():
        log = records.headers[number]
        if why := _unfit(records, number, run, log):
            left_out.append((run["location"], why))
            continue
        entry = _entry(records, number, run, log, source)
        path = f"{repository_of(log.eval.model)}/{FOLDER}/{entry.dataset_id.replace('/', '_')}.yaml"
        if earlier := locations.get((path, run["task"])):
            left_out.append((earlier, "a later run has the same model, data and task"))
        locations[path, run["task"]] = run["location"]
        files.setdefault(path, {})[run["task"]] = entry
    texts: dict[str, str] = {}
    for path, entries in sorted(files.items()):
        fields = eval_result_entries_to_yaml(list(entries.values()))
        texts[path] = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True)
    return texts, left_out


def repository_of(model: str) -> str | None:
    """Return the repository of the Hub that a model is loaded from; None if the name does not tell.

    >>> repository_of("vllm/Qwen/Qwen3-8B"), repository_of("hf-inference-providers/Qwen/Qwen3-8B:nebius")
    ('Qwen/Qwen3-8B', 'Qwen/Qwen3-8B')
    >>> repository_of("openai/gpt-5"), repository_of("vllm//data/models/mine")
    (None, None)
    """
    match = _REPOSITORY.fullmatch(model)
    return match["name"] if match else None


def _unfit(records: Records, number: int, run: pd.Series, log: EvalLog) -> str:
    """Say why a run is no result for the Hub; nothing if it is one."""
    about, task = log.eval.metadata or {}, load(run["benchmark"]).tasks[run["task"]]
    if not str(about.get("dataset")).startswith(_DATA):
        return f"it ran on {run['data']}, and not on data of the Hub"
    if "dataset_revision" not in about:
        return "it names no commit of its data; run hf/ORG/NAME@COMMIT"
    if not run["is_complete"]:
        return "it did not ask all questions"
    if records.score(number) is None:
        return f"it has no {run['main_metric']}"
    if repository_of(log.eval.model) is None:
        return f"{log.eval.model} is no model with a repository on the Hub that is known"
    if run["is_alone"]:
        return ""
    if about["condition"] != task.prompted:
        return f"its condition ({run['condition']}) is that of no leaderboard"
    if not task.scored_alike:
        return f"the leaderboard scores {run['task']} otherwise; run inspect eval hf/{_dataset(log)}@COMMIT"
    return ""


def _dataset(log: EvalLog) -> str:
    """The repository of a run's data."""
    metadata = log.eval.metadata or {}
    return str(metadata["dataset"]).removeprefix(_DATA).partition("@")[0]


def _entry(records: Records, number: int, run: pd.Series, log: EvalLog, source: str | None) -> EvalResultEntry:
    score = records.score(number)
    return EvalResultEntry(
        dataset_id=_dataset(log),
        task_id=run["task"],
        value=round(score.value if score else 0.0, _DECIMALS),
        dataset_revision=str((log.eval.metadata or {})["dataset_revision"]),
        date=run["created"].isoformat(),
        source_url=f"{source.rstrip('/')}/{quote(run['log'])}" if source else None,
        source_name="Inspect log" if source else None,
        notes="; ".join(_notes(records, number, run, log)),
    )


def _notes(records: Records, number: int, run: pd.Series, log: EvalLog) -> Iterator[str]:
    """What ran, and what the value rests on."""
    about, score = log.eval.metadata or {}, records.score(number)
    yield f"{run['main_metric']}, from 0 to 1"
    if score and score.low is not None and score.high is not None:
        yield f"95% interval {score.low:.{_DECIMALS}f} to {score.high:.{_DECIMALS}f}"
    yield f"n {run['n']}"
    floors = records.floors(number)
    if floor := best_floor(floors):
        kind = next(name for name, one in floors.items() if one == floor)
        yield f"best floor {floor.value:.{_DECIMALS}f} ({kind})"
    yield from (f"{name}={value}" for name, value in about["condition"].items())
    yield ALONE if run["is_alone"] else f"music-evals {about.get('music_evals_version', '')}".strip()
    settings = log.eval.model_generate_config.model_dump(mode="json", exclude_none=True)
    yield from (f"{name}={value}" for name, value in settings.items())
