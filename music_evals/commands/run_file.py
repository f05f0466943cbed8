"""The file that `music-evals run --config` reads, and that each run writes as ``run.yaml``.

`RunFile` says what the file holds. ``run.schema.json`` is its JSON schema, for editors; a run
writes a copy beside ``run.yaml``.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import click
import fsspec
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from typer import BadParameter

from music_evals.datasets_builders.dataset_io.provenance import DatasetError
from music_evals.datasets_builders.dataset_io.secret_check import check_secrets

RUN_FILE, SCHEMA = "run.yaml", "run.schema.json"
_COUNTS = {"epochs", "max_connections", "max_samples", "max_subprocesses", "timeout", "time_limit"}
_MOST_FILES = 1000  # run.yaml, run-2.yaml, …

Value = str | bool | int | float
_SECRET = re.compile(
    r"(?:key|token|secret|passw(?:or)?d|credentials?|authorization|headers?)$", re.IGNORECASE
)
_SECRET_TEXT = re.compile(
    r"(?:key|token|secret|passw(?:or)?d|authorization)[\"']?\s*[:=]|bearer ", re.IGNORECASE
)
_USER = re.compile(r"(?<=://)[^/@\s]+@")  # in an address


class Generation(BaseModel):
    """How the model generates, as Inspect names it; without a setting the task's own counts."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)

    temperature: float | None = Field(default=None, ge=0)
    """0 takes the likeliest token."""
    top_p: float | None = Field(default=None, ge=0, le=1)
    top_k: int | None = Field(default=None, ge=-1)
    max_tokens: int | None = Field(default=None, ge=1)
    """Most new tokens of a reply."""
    seed: int | None = None
    """Seed of the model, if its provider takes one."""
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    reasoning_effort: str | None = None
    """Such as low, medium or high."""
    reasoning_tokens: int | None = Field(default=None, ge=0)


class RunFile(BaseModel):
    """A run of `music-evals run`; options of the command line win over this file."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)

    models: list[str] = []
    """Models as Inspect names them; they run one after the other."""
    tasks: list[str] = []
    """Benchmarks (muse) or tasks (muse_syncopation)."""
    parameters: dict[str, Any] = {}
    """Parameters of the tasks, as -T."""
    generation: Generation = Generation()
    """How the model generates."""
    model_args: dict[str, Any] = {}
    """Arguments of the model's provider, as -M."""
    options: dict[str, Value | list[Value]] = {}
    """Other options of `inspect eval-set`, with _ in the place of -, such as max_connections: 8."""
    limit: int | str | None = None
    """Only the first samples of each task (100), or some (101-200)."""
    published: bool = False
    """Ask the published test."""
    arms: str | None = None
    """Ask with other music: given,none,noise,other or some of these, or all."""
    grid: bool = False
    """Every condition that the benchmarks declare."""
    max_tasks: int | None = Field(default=None, ge=1)
    """Tasks under way at once."""
    shards: int | None = Field(default=None, ge=1)
    """Processes that share the samples of each task."""
    servers: str | None = None
    """Addresses of servers of the model, with commas between; shards take turns."""
    engine: Literal["processes", "ray"] | None = None
    """What runs the shards."""
    gpus_per_shard: float | None = Field(default=None, ge=0)
    """GPUs that Ray gives each shard."""
    log_dir: str | None = None
    """Folder or address of the logs; several models have a folder each in it."""
    versions: dict[str, str] = {}
    """What the file was made with."""

    def command_line(self) -> dict[str, Any]:
        """Return the options of `music-evals run` that have the same names there."""
        merged = {"generation", "model_args", "models", "options", "parameters", "tasks"}
        return self.model_dump(exclude=merged | {"versions"}, exclude_defaults=True)

    def inspect_values(self) -> dict[str, Any]:
        """Return the options of `inspect eval-set`, by name."""
        return {**self.generation.model_dump(exclude_none=True), **self.options}


def schema() -> dict[str, Any]:
    """Return the JSON schema of the file."""
    return RunFile.model_json_schema()


def read_run_file(path: Path) -> RunFile:
    """Read a file; BadParameter names in one line the file, the key and what is accepted."""
    try:
        values = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise _refused(path, f"cannot be read as YAML ({reason})") from None
    if not isinstance(values, dict):
        raise _refused(path, f"holds no keys; accepted are {', '.join(RunFile.model_fields)}")
    try:
        return RunFile.model_validate(values)
    except ValidationError as error:
        raise _refused(path, _first_fault(error)) from None


class _Loader(yaml.SafeLoader):
    """Reads YAML, and refuses a key that is there twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        mapping = super().construct_mapping(node, deep)
        if len(mapping) < len(node.value):
            keys = [str(key.value) for key, _ in node.value]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise yaml.constructor.ConstructorError(
                problem=f"{twice} is given twice", problem_mark=node.start_mark
            )
        return mapping


def _refused(path: Path, problem: str) -> BadParameter:
    return BadParameter(f"{path}: {problem}", param_hint="--config")


def _first_fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_context=False)[0]
    *places, name = map(str, fault["loc"])
    where = ".".join([*places, name])
    if fault["type"] != "extra_forbidden":
        return f"{where}: {fault['msg']}, not {fault['input']!r:.60}"
    accepted = (Generation if places else RunFile).model_fields
    if not places and name in Generation.model_fields:
        return f"{where}: belongs into generation, as generation: {{{name}: …}}"
    near = get_close_matches(name, accepted, 1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    return f"{where}: there is no such key{hint}; accepted are {', '.join(accepted)}"


def inspect_words(values: Mapping[str, Any], path: Path) -> list[str]:
    """Return options by name as words of a command line.

    Raises:
        BadParameter: `inspect eval-set` has no such option.
    """
    options = _inspect_options()
    words = []
    for name, value in values.items():
        option = options.get(name)
        if option is None:
            near = get_close_matches(name, options, 1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise _refused(path, f"options.{name}: `inspect eval-set` has no such option{hint}")
        flag = max(option.opts, key=len)
        if isinstance(option, click.Option) and option.is_flag:
            words += [flag] if value else []
        else:
            texts = [_text(element) for element in (value if isinstance(value, list) else [value])]
            words += [f"{flag}={text}" for text in texts]
    return words


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def inspect_values(words: Sequence[str]) -> dict[str, Any]:
    """Return the options in a command line by name, as a file holds them."""
    import inspect_ai._cli.eval as cli

    command = cli.eval_set_command
    context = click.Context(command, ignore_unknown_options=True, resilient_parsing=True)
    values, _, _ = command.make_parser(context).parse_args([*words])
    names = _inspect_options()
    return {name: _plain(value) for name, value in values.items() if name in names}


def _plain(value: Any) -> Any:
    """A value of a command line as a number, a flag or a text."""
    if isinstance(value, list):
        return [_plain(element) for element in value]
    if not isinstance(value, str):
        return value if isinstance(value, bool | int) else True  # True: an option without its value
    try:
        number = json.loads(value)
    except json.JSONDecodeError:
        return value
    return number if isinstance(number, bool | int | float) else value


def _inspect_options() -> dict[str, click.Parameter]:
    import inspect_ai._cli.eval as cli

    parameters = cli.eval_set_command.params
    return {str(each.name): each for each in parameters if isinstance(each, click.Option)}


def check_values(values: Mapping[str, Any]) -> None:
    """Raise BadParameter for options of Inspect that it takes although they make no sense."""
    try:
        Generation.model_validate({name: values[name] for name in _settings(values)})
    except ValidationError as error:
        raise BadParameter(_first_fault(error)) from None
    for name in _COUNTS & values.keys():
        value = values[name]
        if isinstance(value, int) and value < 1:
            raise BadParameter(f"{name}: {value} is not valid; 1 or more would be")


def _settings(values: Mapping[str, Any]) -> list[str]:
    return [name for name in values if name in Generation.model_fields]


def run_file(values: Mapping[str, Any], inspect: Mapping[str, Any]) -> RunFile:
    """Return the file of a run, from its own options and those of Inspect."""
    settings = {name: inspect[name] for name in _settings(inspect)}
    options = {name: inspect[name] for name in inspect if name not in settings}
    versions = {name: version(name) for name in ("music-evals", "inspect-ai")}
    generation = Generation(**settings)
    limit = values.get("limit")
    values = {**values, "limit": limit and _plain(limit)}
    return RunFile(**values, generation=generation, options=options, versions=versions)


@contextmanager
def noted(folder: str, run: RunFile) -> Iterator[str]:
    """Write a run beside its logs; after an error that keeps it from starting, remove the file.

    Its name is ``run.yaml``, or ``run-2.yaml`` and so on if the folder holds other runs. A value
    that may be a key or token is left out; a comment names it.
    """
    left_out: list[str] = []
    values = run.model_dump(exclude_defaults=True, exclude={"log_dir"})
    public = {name: value for name, value in _without_secrets(values, left_out).items() if value}
    comments = [f"# yaml-language-server: $schema={SCHEMA}"]
    if left_out:
        comments.append(f"# Left out, as they may be secret: {', '.join(left_out)}")
    text = yaml.safe_dump(public, sort_keys=False, allow_unicode=True)
    content = "\n".join([*comments, text])
    filesystem, path = fsspec.core.url_to_fs(folder)
    filesystem.makedirs(path, exist_ok=True)
    name = next(name for name in _names() if _is_free(filesystem, f"{path}/{name}", public))
    is_new = not filesystem.exists(f"{path}/{name}")
    package_schema = files(__package__).joinpath(SCHEMA).read_bytes()
    filesystem.pipe_file(f"{path}/{SCHEMA}", package_schema)
    filesystem.pipe_file(f"{path}/{name}", content.encode())
    try:
        yield name
    except Exception:
        if is_new:
            filesystem.rm_file(f"{path}/{name}")
        if is_new and name == RUN_FILE:
            filesystem.rm_file(f"{path}/{SCHEMA}")
        raise


def _names() -> Iterator[str]:
    yield RUN_FILE
    for number in range(2, _MOST_FILES):
        yield RUN_FILE.replace(".", f"-{number}.")


def _is_free(filesystem: Any, path: str, values: Mapping[str, Any]) -> bool:
    """Whether there is no file, or one of a run that differs in its versions at most."""
    if not filesystem.exists(path):
        return True
    try:
        before = yaml.safe_load(filesystem.cat_file(path))
    except (yaml.YAMLError, UnicodeDecodeError):
        return False
    return isinstance(before, dict) and {**before, "versions": 0} == {**values, "versions": 0}


def _without_secrets(value: Any, left_out: list[str], where: str = "") -> Any:
    """A value without what may be a secret; the places of these are added to a list."""
    if isinstance(value, Mapping):
        public = {}
        for name, element in value.items():
            place = f"{where}.{name}".lstrip(".")
            if _SECRET.search(str(name)) or _is_secret(element):
                left_out.append(place)
            else:
                public[name] = _without_secrets(element, left_out, place)
        return public
    if isinstance(value, list):
        open_values = [element for element in value if not _is_secret(element)]
        if len(open_values) < len(value):
            left_out.append(where)
        return [_without_secrets(element, left_out, where) for element in open_values]
    return _USER.sub("", value) if isinstance(value, str) else value


def _is_secret(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        check_secrets({"value": value.encode(errors="replace")})
    except DatasetError:
        return True
    return _SECRET_TEXT.search(value) is not None


def newer_note(run: RunFile, path: Path) -> str:
    """Return in a line which versions a file was made with, if they are not those at hand."""
    before = [f"{name} {made_with}" for name, made_with in run.versions.items()]
    at_hand = [f"{name} {_version(name)}" for name in run.versions]
    if before == at_hand:
        return ""
    return f"{path} was made with {', '.join(before)}; here is {', '.join(at_hand)}"


def _version(name: str) -> str:
    try:
        return version(name)
    except ModuleNotFoundError:  # PackageNotFoundError is one
        return "no version"
