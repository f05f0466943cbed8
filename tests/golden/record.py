"""What the suite does today, in a form that later versions can be compared with; `README.md` says
how it is used.

Run as ``python -m tests.golden.record [datasets] [prompts] [scores] [logs] [report]`` it writes the
record anew.
"""

import ast
import hashlib
import json
import os
import re
import sys
import tempfile
import tomllib
from contextlib import chdir
from importlib import import_module
from pathlib import Path

import pyarrow.parquet as pq
from inspect_ai import eval as inspect_eval
from inspect_ai import score
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import (
    ChatMessageUser,
    ContentAudio,
    ContentImage,
    ContentText,
    get_model,
)
from typer.testing import CliRunner

from music_evals.commands.main import app
from music_evals.datasets_builders.lilybench.dataset import build_mutopia
from music_evals.datasets_builders.lilybench.dataset import write as write_plan
from music_evals.datasets_builders.lilybench.rows import TASKS
from tests import garbled  # noqa: F401 - registers a model
from tests.abc_eval_dataset import write_files
from tests.golden import replies

HERE = Path(__file__).parent
PUBLISHED = HERE.parents[2] / "shared" / "data"
FULL = os.environ.get("GOLDEN") == "full"

BUILDS = {
    "muse": ("muse",),
    "muse recordings": ("muse", "--source", str(PUBLISHED / "muse"), "--allow-partial"),
    "muse_ten": ("muse_ten",),
    "ziqi": ("ziqi",),
    "ziqi published": ("ziqi", "--source", str(PUBLISHED / "ziqi")),
    "msu of one work": ("msu", "--works", "1"),
    "lilybench of eight pieces": (),
    "abc_eval of made files": ("abc_eval", "--source"),
}
COSTLY = {
    "msu": ("msu",),
    "lilybench": ("lilybench",),
    "lilybench of Mutopia": ("lilybench", "--source", str(PUBLISHED / "mutopia")),
    "lilybench_generation": ("lilybench_generation",),
    "abc_eval": ("abc_eval",),
}
"""What `music-evals build` is called with; the costly ones only with ``GOLDEN=full``."""
ASKED = (
    "muse",
    "muse recordings",
    "muse_ten",
    "ziqi",
    "ziqi published",
    "abc_eval of made files",
)
"""Datasets that the prompts are taken from; the others are in the folder `data`."""

BENCHMARKS = (
    "muse",
    "muse_ten",
    "ziqi",
    "msu",
    "lilybench",
    "lilybench_generation",
    "abc_eval",
)
SAMPLES = 3  # prompts of each condition
SHOWN = 600  # characters of a long text's beginning and of its end


# --- datasets ---


def run(*arguments):
    result = CliRunner(env={"COLUMNS": "200"}).invoke(
        app, [str(one) for one in arguments], catch_exceptions=False
    )
    if result.exit_code:
        raise RuntimeError(result.output)
    return result.output


def can_build(name):
    return str(PUBLISHED) not in " ".join({**BUILDS, **COSTLY}[name]) or PUBLISHED.is_dir()


def build(name, out):
    arguments = {**BUILDS, **COSTLY}[name]
    if arguments[-1:] == ("--source",):
        run("build", *arguments, write_files(out.with_name("files")), "--out", out)
    elif arguments:
        run("build", *arguments, "--out", out)
    else:  # fewer rows than the paper's: no command line asks for that
        few = {**dict.fromkeys(TASKS, 4), "error_detection": 5}
        write_plan(
            build_mutopia(HERE / "data" / "mutopia", HERE / "data" / "emopia", seed=5, sizes=few),
            out,
        )
    return out


def dataset_record(folder):
    """Checksums of a dataset's rows, and what its provenance says that does not depend on the
    machine.
    """
    made = json.loads((folder / "provenance.json").read_text(encoding="utf-8"))
    kept = (
        "benchmark",
        "builder_version",
        "source",
        "licence",
        "seed",
        "source_sha256",
        "anomalies",
    )
    return {
        **{name: made[name] for name in kept},
        "missing": sum(map(len, made["missing"].values())),
        "files": {
            name: _rows(folder / name) if name.endswith(".parquet") else digest
            for name, digest in sorted(made["files"].items())
        },
    }


def _rows(path):
    file = pq.ParquetFile(path)
    digest = hashlib.sha256(
        json.dumps({field.name: str(field.type) for field in file.schema_arrow}).encode()
    )
    for batch in file.iter_batches(64):
        for row in batch.to_pylist():
            text = json.dumps(row, sort_keys=True, ensure_ascii=False, default=_sha256)
            digest.update(text.encode("utf-8", "surrogatepass") + b"\n")
    return f"{file.metadata.num_rows} rows, {digest.hexdigest()}"


def _sha256(data):
    return hashlib.sha256(data).hexdigest()


# --- prompts ---


def task_named(benchmark, name):
    return getattr(import_module(f"music_evals.evals.{benchmark}"), name)


def values(given):
    """Parameters from words such as ``shots=few``."""
    pairs = (word.split("=", 1) for word in given)
    plain = re.compile(r"\d+(\.\d+)?|True|False")
    return {name: ast.literal_eval(text) if plain.fullmatch(text) else text for name, text in pairs}


def task_of(benchmark, condition, folders):
    """The task of a condition such as ``syncopation shots=few, muse recordings``; None without that
    dataset.
    """
    asked, _, dataset = condition.partition(", ")
    name, *parameters = asked.split()
    folder = folders.get(dataset or benchmark, HERE / "data" / (dataset or benchmark))
    return (
        task_named(benchmark, name)(dataset=str(folder), **values(parameters))
        if folder.exists()
        else None
    )


def prompts_record(benchmark, conditions, folders):
    """Condition → its first prompts as roles and short checksums; checksum → text."""
    texts = {}

    def part(content):
        if isinstance(content, ContentText):
            key = _sha256(content.text.encode())[:10]
            if "published" not in condition:  # questions of others are not ours to hand on
                texts[key] = _shortened(content.text).split("\n")
            return key
        data = content.audio if isinstance(content, ContentAudio) else content.image
        assert isinstance(content, ContentAudio | ContentImage)
        return f"{content.type} {_sha256(data.encode())[:10]}"

    prompts = {}
    for condition in conditions:
        task = task_of(benchmark, condition, folders)
        if task is None:
            continue
        prompts[condition] = []
        for sample in list(task.dataset)[:SAMPLES]:
            given = (
                [ChatMessageUser(content=sample.input)]
                if isinstance(sample.input, str)
                else sample.input
            )
            told = []
            for message in given:
                parts = (
                    [ContentText(text=message.content)]
                    if isinstance(message.content, str)
                    else message.content
                )
                told.append(" ".join([message.role, *map(part, parts)]))
            prompts[condition].append(" | ".join(told))
    return {"prompts": prompts, "texts": dict(sorted(texts.items()))}


def _shortened(text):
    left_out = len(text) - 2 * SHOWN
    return (
        text if left_out <= 100 else f"{text[:SHOWN]}\n… {left_out} characters …\n{text[-SHOWN:]}"
    )


# --- logs and reports ---


def make_logs(out):
    """Run what `runs.toml` lists, on the data in this folder or the default one, and write the
    logs, cut short.
    """
    runs = tomllib.loads((HERE / "runs.toml").read_text(encoding="utf-8"))
    number = 0
    for group, lines in runs.items():
        benchmark = "lilybench_generation" if group == "generation" else group
        data = f"data/{group}" if (HERE / "data" / group).is_dir() else "generated"
        for line in lines:
            number += 1
            name, model, *words = line.split()
            params = {"dataset": data, **values(words)}
            options = {key: params.pop(key) for key in ("epochs", "limit") if key in params}
            provider, rate = "baseline", {}
            if "error_rate" in params:
                provider, rate = "garbled", {"error_rate": params.pop("error_rate")}
            with chdir(HERE), tempfile.TemporaryDirectory() as folder:
                task = task_named(benchmark, name)(**params)
                subject = get_model(f"{provider}/{model}", **rate)
                (log,) = inspect_eval(
                    task,
                    model=subject,
                    log_dir=folder,
                    display="none",
                    log_realtime=False,
                    **options,
                )
                assert log.status == "success", log.error
                cut(log)
                write_eval_log(log, str(out / f"{number:02}-{name}-{model}.eval"))


def cut(log):
    """Leave out what no report and no scorer reads: events, sounds and pictures, long prompts."""
    for sample in log.samples or []:
        sample.events, sample.attachments = [], {}
        sample.input = "cut"
        for message in sample.messages[:-1]:
            message.content = "cut"
        for score_ in (sample.scores or {}).values():
            score_.explanation = None


def scored_again(path):
    """A log, and the same scored anew by the scorers that it names."""
    log = read_eval_log(str(path), resolve_attachments=True)
    with chdir(HERE):  # the logs name their data by relative paths
        scorers = [
            replies.scorer_named(one.name.rpartition("/")[2], **(one.options or {}))
            for one in log.eval.scorers or []
        ]
        return log, score(log, scorers, action="overwrite", display="none")


def sample_values(log):
    """The values of all scores, as text, so that a missing one equals itself."""
    return [
        str(one.value) for sample in log.samples or [] for one in (sample.scores or {}).values()
    ]


def figures(log):
    """Scorer → metric → value; as text, so that what is not defined equals itself."""
    scores = log.results.scores if log.results else []
    return {
        one.name: {name: f"{metric.value:.10g}" for name, metric in one.metrics.items()}
        for one in scores
    }


def tables(out):
    """The CSV files of a report, by name; where a log lies does not count."""
    run("report", HERE / "logs", "--out", out)
    here = str(HERE.resolve())
    return {
        path.name: path.read_text(encoding="utf-8").replace(here, "")
        for path in sorted(out.glob("*.csv"))
    }


# --- the record on disk ---


def recorded(name):
    return json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))


def write(name, content, depth=4):
    """Write a record as JSON, with a line of its own for what lies at most so deep."""
    (HERE / f"{name}.json").write_text(_lines(content, depth) + "\n", encoding="utf-8")


def _lines(content, depth, indent="\n "):
    if not depth or not content or not isinstance(content, dict | list):
        return json.dumps(content, ensure_ascii=False)
    if isinstance(content, list):
        return (
            "["
            + ",".join(indent + _lines(one, depth - 1, indent + " ") for one in content)
            + indent[:-1]
            + "]"
        )
    entries = (
        f"{indent}{json.dumps(key, ensure_ascii=False)}: {_lines(one, depth - 1, indent + ' ')}"
        for key, one in content.items()
    )
    return "{" + ",".join(entries) + indent[:-1] + "}"


def main(wanted):
    with tempfile.TemporaryDirectory() as cache:
        os.environ["MUSIC_EVALS_CACHE"] = cache
        names = [name for name in (*BUILDS, *(COSTLY if FULL else ())) if can_build(name)]
        folders = {}
        if {"datasets", "prompts"} & set(wanted):
            folders = {name: build(name, Path(cache) / "made" / name) for name in names}
        if "datasets" in wanted:
            made = {name: dataset_record(folder) for name, folder in folders.items()}
            write("datasets", recorded("datasets") | made)
        if "prompts" in wanted:
            for benchmark in BENCHMARKS:
                name = f"prompts/{benchmark}"
                write(name, prompts_record(benchmark, recorded(name)["prompts"], folders))
        if "scores" in wanted:
            write(
                "scores",
                replies.scores_record(HERE / "data" / "generation", recorded("scores")),
                depth=2,
            )
        if "logs" in wanted:
            for path in (HERE / "logs").glob("*.eval"):
                path.unlink()
            make_logs(HERE / "logs")
        if "report" in wanted:
            for path in (HERE / "report").glob("*.csv"):
                path.unlink()
            for name, text in tables(Path(cache) / "report").items():
                (HERE / "report" / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:] or ["datasets", "prompts", "scores", "logs", "report"])
