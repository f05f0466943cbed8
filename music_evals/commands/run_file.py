"""The file that `music-evals run --config` reads, and that each run writes as ``run.yaml``.

A run also writes the JSON schema of the file, for editors.
"""

import json
from collections.abc import Mapping
from importlib.metadata import version
from inspect import signature
from pathlib import Path
from typing import Any

import fsspec
import yaml
from inspect_ai import eval_set
from inspect_ai.model import GenerateConfig
from pydantic import BaseModel, Field, ValidationError
from typer import BadParameter

from music_evals.notation.secrets import is_secret_name, kind_of_secret
from music_evals.notation.subprocesses import read_in_subprocess
from music_evals.reports.sanitize import reason

SCHEMA = "run.schema.json"


class Generation(GenerateConfig, extra="forbid"):
    """How the model generates, as Inspect names it; without a setting the task's own counts."""


class RunFile(BaseModel, extra="forbid", strict=True, use_attribute_docstrings=True):
    """A run of `music-evals run`; options of the command line win over this file."""

    models: list[str] = []
    """Models as Inspect names them; they run one after the other."""
    tasks: list[str] = []
    """Benchmarks (muse), tasks (muse_syncopation) or groups (sound)."""
    parameters: dict[str, Any] = {}
    """Parameters of the tasks, as -T."""
    generation: Generation = Generation()
    model_args: dict[str, Any] = {}
    """Arguments of the model's provider, as -M."""
    options: dict[str, Any] = {}
    """Other arguments of Inspect's `eval_set`, such as epochs or max_samples."""
    eval_config: dict[str, Any] = {}
    """More `options`; with `metadata`, a file of `music-evals subset` is a file of a run, too."""
    metadata: dict[str, Any] = {}
    """Metadata of the logs."""
    limit: int | None = Field(default=None, ge=1)
    """Only the first samples of each task."""
    published: bool = False
    """Ask the published test."""
    like: str | None = None
    """Ask as a laboratory's report states, such as qwen3-omni."""
    arms: str | None = None
    """Ask with other music: given,none,noise,other or some of these, or all."""
    wordings: bool = False
    """Ask in all three wordings of the prompts."""
    grid: bool = False
    """Every condition that the benchmarks declare."""
    shards: int | None = Field(default=None, ge=1)
    """Processes that share the samples of each task."""
    servers: str | None = None
    """Addresses of servers of the model, with commas between; shards take turns."""
    log_dir: str | None = None
    """Folder or address of the logs; several models have a folder each in it."""
    versions: dict[str, str] = {}
    """What the file was made with."""


COMMAND_LINE = (
    "limit",
    "published",
    "like",
    "arms",
    "wordings",
    "grid",
    "shards",
    "servers",
    "log_dir",
)
"""Keys that are options of `music-evals run` under the same name."""


class _Loader(yaml.SafeLoader):
    """Reads YAML, and refuses a key that is there twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        mapping = super().construct_mapping(node, deep)
        if len(mapping) < len(node.value):
            mark = node.start_mark
            raise yaml.MarkedYAMLError(problem="a key is given twice", problem_mark=mark)
        return mapping


def read_run_file(path: Path) -> RunFile:
    """Read a file; BadParameter names in one line the file, the key and what is accepted."""
    keys = ", ".join(RunFile.model_fields)
    try:
        file = read_in_subprocess(_parse, path)
        file.options |= file.eval_config
        if file.metadata:
            file.options["metadata"] = file.metadata
        if not (unknown := file.options.keys() - signature(eval_set).parameters.keys()):
            return file
        problem = f"options: Inspect's eval_set has no argument {', '.join(sorted(unknown))}"
    except ValidationError as error:
        problem = reason(error)
    except (OSError, ValueError, yaml.YAMLError) as error:
        problem = " ".join(str(error).split())
    raise BadParameter(f"{path}: {problem}; the keys are {keys}", param_hint="--config")


def _parse(path: Path) -> RunFile:
    try:
        values = yaml.load(path.read_text(encoding="utf-8"), _Loader)
        # Written out, aliases take the memory that they claim, which is limited here.
        return RunFile.model_validate(json.loads(json.dumps(values, default=str)))
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def versions() -> dict[str, str]:
    """Return the versions that can change what a run asks."""
    return {name: version(name) for name in ("music-evals", "inspect-ai")}


def write_run_file(folder: str, values: Mapping[str, Any]) -> None:
    """Write a run beside its logs, without keys and tokens, as ``run.yaml``; as ``run-2.yaml`` and
    so on if the folder holds other runs.
    """
    plain = json.loads(json.dumps({**values, "versions": versions()}, default=str))
    public = _public({name: value for name, value in plain.items() if value})
    text = yaml.safe_dump(public, sort_keys=False, allow_unicode=True)
    head = f"# yaml-language-server: $schema={SCHEMA}\n# Keys and tokens are left out.\n"
    content = f"{head}{text}".encode()
    files, path = fsspec.core.url_to_fs(folder)
    name, number = "run.yaml", 1
    while files.exists(f"{path}/{name}") and files.cat_file(f"{path}/{name}") != content:
        number += 1
        name = f"run-{number}.yaml"
    schema = json.dumps(RunFile.model_json_schema(), indent=1)
    for target, data in ((name, content), (SCHEMA, schema.encode())):
        try:
            files.pipe_file(f"{path}/{target}", data)
        except OSError as error:
            files.rm(f"{path}/{target}")  # a part of it, if the disk is full
            raise OSError(error.errno, error.strerror, f"{path}/{target}") from error


def _public(value: Any) -> Any:
    """A value without what may be secret."""
    if not isinstance(value, dict):
        return value
    names = [name for name in value if not _is_secret(name, value[name])]
    return {name: _public(value[name]) for name in names}


def _is_secret(name: str, value: Any) -> bool:
    if is_secret_name(name) or name.endswith("headers"):
        return True
    return not isinstance(value, dict) and kind_of_secret(str(value)) is not None
