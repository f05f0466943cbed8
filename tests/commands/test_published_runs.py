"""The published test by one command, as a user types it: fetched from a server, and run again
without one.
"""

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log

from music_evals.benchmarks import dataset_facts
from tests.datasets_builders.test_published_sources import put_musictheorybench, put_ziqi
from tests.published_servers import rerouted, serve


def test_the_second_run_needs_no_network(tmp_path):
    options = ("--model", "baseline/chance", "--log-dir", tmp_path / "logs")
    task = ("evals/musictheorybench.py@knowledge", "-T", "dataset=published", "--display", "plain")
    remote = dataset_facts("musictheorybench").published[1].remotes[0]
    with serve() as servers:
        put_musictheorybench(servers, tmp_path / "source")
        first = servers.run(
            tmp_path, "music-evals", "run", "musictheorybench", "--published", *options
        )
    assert first.returncode == 0, first.stderr
    assert f"{remote.place} at {remote.commit[:10]}" in first.stderr
    asked = len(servers.asked)
    again = servers.run(tmp_path, "inspect", "eval", *task, *options)  # the server has stopped
    assert again.returncode == 0, again.stdout + again.stderr
    assert len(servers.asked) == asked > 0
    logs = [read_eval_log(log) for log in list_eval_logs(str(tmp_path / "logs"))]
    assert len(logs) == 3
    for log in logs:
        assert log.status == "success"
        assert log.eval.metadata
        assert log.eval.metadata["dataset_revision"] == remote.commit


@pytest.mark.slow
def test_an_interrupted_fetch_ends_the_run(tmp_path, monkeypatch):
    """The second task's fetch would go on where the first one's stopped, and the run would lack a
    task.
    """
    options = ("--model", "baseline/chance", "--log-dir", tmp_path / "logs")
    with serve() as servers:
        with rerouted(servers, tmp_path):
            put_ziqi(servers, tmp_path / "source")
        monkeypatch.setenv("BENCHMARKS", str(tmp_path / "benchmarks"))  # facts without checksums
        (archive,) = servers.files
        servers.cut[archive] = 100
        broken = servers.run(tmp_path, "music-evals", "run", "ziqi", "--published", *options)
    assert broken.returncode == 1
    assert broken.stderr.count("Error:") == 1
    assert not list_eval_logs(str(tmp_path / "logs"))
