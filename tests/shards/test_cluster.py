"""Shards on a Ray cluster of two nodes, one of which is killed, with logs on an S3-compatible server."""

import time
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest
import ray
from inspect_ai.log import list_eval_logs, read_eval_log
from moto.server import ThreadedMotoServer
from ray.cluster_utils import Cluster as Nodes

from music_evals.notation.subprocesses import map_in_subprocess
from music_evals.shards.cluster import Cluster, spread
from music_evals.shards.running import Asked
from music_evals.shards.sharded_run import Settings, run_in_shards
from tests.commands.cli import run
from tests.notation.test_subprocesses import work

MEMORY = 100 << 20


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    fsspec.filesystem("s3", skip_instance_cache=True).mkdir("logs")
    yield "s3://logs"
    fsspec.filesystem("s3").clear_instance_cache()
    server.stop()


def test_a_run_survives_a_node(bucket: str) -> None:
    nodes = Nodes(
        initialize_head=True,
        head_node_args={"num_cpus": 1, "include_dashboard": False, "object_store_memory": MEMORY},
    )
    second = nodes.add_node(num_cpus=1, object_store_memory=MEMORY)
    ray.init(address=nodes.address, log_to_driver=False, logging_level="error")
    finished, killed = 0, False

    def report(samples: int) -> None:
        nonlocal finished, killed
        finished += samples
        if finished > 20 and not killed:
            killed = True
            nodes.remove_node(second, allow_graceful=False)

    try:
        asked = Asked("ziqi", "comprehension", {})
        settings = Settings("baseline/chance", {}, None, {})
        errors = run_in_shards([(asked, asked.make())], settings, f"{bucket}/run", 2, Cluster(), lambda _: report)
        while all(node["Alive"] for node in ray.nodes()):  # Ray may notice after the run has ended
            time.sleep(0.1)
    finally:
        ray.shutdown()
        nodes.shutdown()
    assert (errors, killed, finished) == ([], True, 240)
    (found,) = list_eval_logs(f"{bucket}/run")
    log = read_eval_log(found)
    assert log.samples
    assert (log.status, len(log.samples), len({sample.id for sample in log.samples})) == ("success", 240, 240)
    code, output = run("report", f"{bucket}/run")
    assert (code, "baseline/chance" in output) == (0, True)


def test_what_a_shard_meets_is_told(tmp_path: Path) -> None:
    asked = Asked("ziqi", "comprehension", {})
    settings = Settings("baseline/chance", {"error_rate": "much"}, 4, {})
    ray.init(num_cpus=1, include_dashboard=False, object_store_memory=MEMORY, log_to_driver=False)
    try:
        errors = run_in_shards([(asked, asked.make())], settings, str(tmp_path), 1, Cluster(), lambda _: lambda _: None)
    finally:
        ray.shutdown()
    assert len(errors) == 1
    assert errors[0].startswith("shard 1: ")
    assert "error_rate" in errors[0]


def test_a_dataset_built_by_a_cluster_is_the_same(tmp_path: Path) -> None:
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=MEMORY, log_to_driver=False)
    try:
        code, output = run("build", "--engine", "ray", "msu", "--works", 3, "--out", tmp_path / "ray")
        with spread():
            found = [str(one) for one in map_in_subprocess(work, ["a", "ends", *"bcdefghi"])]
    finally:
        ray.shutdown()
    assert found == ["A", "its process ended with status 3", *"BCDEFGHI"]
    assert code == 0, output
    assert run("build", "msu", "--works", 3, "--out", tmp_path / "here")[0] == 0
    one, other = (
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.parquet")}
        for folder in (tmp_path / "ray", tmp_path / "here")
    )
    assert one
    assert one == other
