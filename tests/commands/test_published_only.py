"""A benchmark whose data is only published: its folder names no generated source, and its builder
composes nothing.
"""

import shutil
from dataclasses import replace
from importlib import reload
from pathlib import Path

import pytest
from typer.testing import CliRunner

from music_evals import benchmarks
from music_evals.commands import build
from music_evals.datasets_builders import musictheorybench as builder
from music_evals.evals import musictheorybench as tasks
from tests.commands.cli import run
from tests.datasets_builders.test_musictheorybench import published

ACCEPTED = (
    "dataset= accepts 'published', a folder (of published files, or as `music-evals build` writes "
    "it) or hf://datasets/ORG/NAME[@REVISION]"
)


@pytest.fixture(autouse=True)
def published_only(tmp_path, monkeypatch):
    """Use a copy of the benchmarks in which MusicTheoryBench has no generated source."""
    folder = Path(shutil.copytree(Path(benchmarks.__file__).parent, tmp_path / "benchmarks"))
    (folder / "musictheorybench" / "card-generated.md").unlink()
    facts = folder / "musictheorybench" / "benchmark.toml"
    before, _, generated = facts.read_text().partition(
        "[datasets.musictheorybench.sources.generated]"
    )
    facts.write_text(
        before + generated[generated.index("[datasets.musictheorybench.sources.published]") :]
    )
    with monkeypatch.context() as patch:
        patch.setattr(benchmarks, "_FOLDER", folder)
        for module in (builder, tasks):
            patch.setattr(module, "BENCHMARK", replace(builder.BENCHMARK, seed=None, generate=None))
        benchmarks.load.cache_clear()
        benchmarks.names.cache_clear()
        reload(build)
        yield
    benchmarks.load.cache_clear()
    benchmarks.names.cache_clear()
    reload(build)


def test_it_is_listed_built_run_and_reported(hub, tmp_path):
    code, output = run("list")
    assert (code, "musictheorybench_knowledge" in output) == (0, True)

    source, out = published(tmp_path / "source"), tmp_path / "musictheorybench"
    command = ["musictheorybench", "--out", str(out)]
    refused = CliRunner(env={"COLUMNS": "200"}).invoke(build.app, command)
    assert (refused.exit_code, "musictheorybench has published data only" in refused.output) == (
        2,
        True,
    )
    assert CliRunner().invoke(build.app, [*command, "--source", str(source)]).exit_code == 0

    evaluation = (
        "run",
        "musictheorybench_knowledge",
        "--model",
        "baseline/chance",
        "--display",
        "none",
    )
    code, output = run(*evaluation, "--log-dir", tmp_path / "refused")
    assert (
        code,
        f"musictheorybench has no generated dataset; {ACCEPTED}" in " ".join(output.split()),
    ) == (1, True)
    hub.push(
        "ORG/theory",
        {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*.*")},
    )
    for number, data in enumerate((out, "hf://datasets/ORG/theory")):
        code, output = run(
            *evaluation, "-T", f"dataset={data}", "--log-dir", tmp_path / "logs" / str(number)
        )
        assert (code, "questions per task: 8" in output) == (0, True), output
    code, output = run("report", tmp_path / "logs", "--out", tmp_path / "report")
    assert (code, "MusicTheoryBench" in output) == (0, True), output

    for command, message in (
        (
            ("publish", "musictheorybench", "--repo", "ORG/x"),
            f"musictheorybench has no generated dataset; {ACCEPTED}",
        ),
        (
            ("publish", "musictheorybench", "--repo", "ORG/x", "--dir", out),
            "may not be published: its card on the Hub",
        ),
        (
            ("build", "musictheorybench", "--audit"),
            f"musictheorybench has no generated dataset; {ACCEPTED}",
        ),
    ):
        code, output = run(*command)
        assert (code, message in output) == (1, True), output
