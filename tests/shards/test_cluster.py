"""Shards on a Ray cluster of two nodes, one of which is killed, with logs on an S3-compatible
server.
"""

import time

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
from tests.shards.test_shards import check_that_errors_are_returned

MEMORY = 100 << 20


@pytest.fixture
def bucket(monkeypatch):
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


def test_a_run_survives_a_node(bucket):
    nodes = Nodes(
        initialize_head=True,
        head_node_args={"num_cpus": 1, "include_dashboard": False, "object_store_memory": MEMORY},
    )
    second = nodes.add_node(num_cpus=1, object_store_memory=MEMORY)
    ray.init(address=nodes.address, log_to_driver=False, logging_level="error")
    finished, killed = 0, False

    def report(samples):
        nonlocal finished, killed
        finished += samples
        if finished and not killed:  # the first shard has ended; the second node asks another
            killed = True
            nodes.remove_node(second, allow_graceful=False)

    try:
        asked = Asked("ziqi", "comprehension", {})
        settings = Settings("baseline/chance", {}, None, {})
        errors = run_in_shards(
            [(asked, asked.make())], settings, f"{bucket}/run", 4, Cluster(), lambda _: report
        )
        while all(node["Alive"] for node in ray.nodes()):  # Ray may notice after the run has ended
            time.sleep(0.1)
    finally:
        ray.shutdown()
        nodes.shutdown()
    assert (errors, killed, finished) == ([], True, 240)
    (info,) = list_eval_logs(f"{bucket}/run")
    log = read_eval_log(info)
    ids = [sample.id for sample in log.samples or []]
    assert (log.status, len(ids), len(set(ids))) == ("success", 240, 240)
    code, output = run("report", f"{bucket}/run")
    assert (code, "baseline/chance" in output) == (0, True)


@pytest.fixture
def one_node():
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=MEMORY, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.mark.slow
def test_errors_and_datasets_are_as_without_a_cluster(one_node, tmp_path):
    check_that_errors_are_returned(Cluster(), tmp_path / "run")
    with spread():
        results = [str(result) for result in map_in_subprocess(work, ["a", "ends", *"bcdefghi"])]
    assert results == ["A", "ended its process with status 3", *"BCDEFGHI"]
    files = []
    for engine in ("ray", "processes"):
        folder = tmp_path / engine
        code, output = run("build", "--engine", engine, "msu", "--works", 3, "--out", folder)
        assert code == 0, output
        files.append(
            {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.parquet")}
        )
    assert files[0] == files[1] != {}
