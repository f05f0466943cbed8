"""Fetching published data when something is wrong: one clear line, nothing half-written, and a
repeat that heals.
"""

import errno
import shutil
from types import SimpleNamespace

import pytest

from music_evals import benchmarks
from music_evals.datasets_builders.dataset_io import DatasetError, describe_dataset
from music_evals.evals.registry import dataset_module
from tests.datasets_builders.test_published_sources import (
    put_mmar,
    put_mmau,
    put_muchomusic,
    put_rul_muchomusic,
    put_ziqi,
    remotes,
)
from tests.published_servers import rerouted, serve


@pytest.fixture
def servers(tmp_path):
    with serve() as running, rerouted(running, tmp_path):
        yield running


def refused(name):
    """The message with which the published dataset of a benchmark is refused."""
    with pytest.raises(DatasetError) as caught:
        describe_dataset("published", benchmark=dataset_module(name).BENCHMARK)
    text = str(caught.value)
    assert "\n" not in text
    return text


def rows(name):
    origin = describe_dataset("published", benchmark=dataset_module(name).BENCHMARK)
    return {config: dict(splits) for config, splits in origin.provenance.counts.items()}


def leftovers(tmp_path):
    """What lies in the cache besides whole files: parts of downloads, and folders of work."""
    paths = [path for path in (tmp_path / "cache").rglob("*") if path.suffix != ".lock"]
    return sorted(
        path.name for path in paths if path.name.startswith(".") or path.suffix == ".part"
    )


def test_a_gated_repository(servers, tmp_path):
    put_mmau(servers, tmp_path)
    servers.gated.add("gamma-lab-umd/MMAU-test-mini")
    text = refused("mmau")
    assert "is gated; accept its terms" in text
    assert "hf auth login" in text
    servers.gated.clear()
    assert rows("mmau") == {"music": {"test": 3}}


def test_a_repository_that_is_gone(servers):
    assert "the Hub has no such repository, or you have no access to it" in refused("mmau")


def test_a_mirror_takes_the_place_of_a_repository_that_is_gone(servers, tmp_path):
    put_muchomusic(servers, tmp_path)
    files = servers.repositories.pop("lmms-lab/muchomusic")
    assert "lmms-lab-audio/muchomusic: the Hub has no such repository" in refused("muchomusic")
    servers.repositories["lmms-lab-audio/muchomusic"] = files
    assert rows("muchomusic") == {"listening": {"test": 4}}


def test_a_revision_that_is_gone(servers, tmp_path):
    put_mmau(servers, tmp_path)
    files = servers.repositories["gamma-lab-umd/MMAU-test-mini"].popitem()[1]
    servers.repositories["gamma-lab-umd/MMAU-test-mini"] = {"d" * 40: files}
    assert "the Hub has no such branch, tag or commit" in refused("mmau")


def test_an_address_that_is_gone(servers):
    text = refused("ziqi")
    assert "it is gone, or the address is wrong (status 404)" in text
    assert "github.com/zcli-charlie/ZIQI-Eval/archive/31924fb755" in text


@pytest.mark.parametrize("kind", ["file", "archive"])
def test_a_wrong_checksum_names_both_sums_and_a_repeat_heals(servers, tmp_path, monkeypatch, kind):
    name, put = {"file": ("rul_muchomusic", put_rul_muchomusic), "archive": ("ziqi", put_ziqi)}[
        kind
    ]
    put(servers, tmp_path / "source")
    wrong = "0" * 64
    facts = tmp_path / "benchmarks" / name / "benchmark.toml"
    before = facts.read_text()
    (commit_line,) = [line for line in before.splitlines() if line.startswith(f"{kind} = ")]
    facts.write_text(before.replace(commit_line, f'{commit_line}\nchecksum = "{wrong}"'))
    benchmarks.load.cache_clear()
    benchmarks.names.cache_clear()
    text = refused(name)
    assert f"and {wrong} was expected" in text
    assert "removed, and the next try fetches it again" in text
    got = text.partition(" is ")[2].split(",")[0]
    assert len(got) == 64
    facts.write_text(before.replace(commit_line, f'{commit_line}\nchecksum = "{got}"'))
    benchmarks.load.cache_clear()
    benchmarks.names.cache_clear()
    assert rows(name)


def test_a_damaged_cache_of_the_hub_is_named_and_a_repeat_heals(servers, tmp_path):
    put_mmau(servers, tmp_path)
    assert rows("mmau")
    shutil.rmtree(tmp_path / "cache" / "datasets")
    (blob,) = (tmp_path / "hub").rglob("blobs/*")
    blob.chmod(0o644)
    data = bytearray(blob.read_bytes())
    data[100] ^= 1
    blob.write_bytes(data)
    assert (
        "test-00000-of-00001.parquet in the Hub's cache on this machine was damaged and has been "
        "removed" in refused("mmau")
    )
    assert rows("mmau") == {"music": {"test": 3}}


@pytest.mark.parametrize("at", ["archive", "file", "hub"])
def test_an_interrupted_download_goes_on(servers, tmp_path, monkeypatch, at):
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 1000)
    name, put = {
        "archive": ("ziqi", put_ziqi),
        "file": ("mmar", put_mmar),
        "hub": ("mmau", put_mmau),
    }[at]
    put(servers, tmp_path / "source")
    remote = next(remote for remote in remotes(name).values() if getattr(remote, at))
    if at == "hub":
        files = servers.repositories[remote.hub][remote.commit]
        path, size = max(
            ((f"{remote.hub}/{path}", len(data)) for path, data in files.items()),
            key=lambda one: one[1],
        )
    else:
        path = remote.address.removeprefix("https://")
        size = len(servers.files[path])
    servers.cut[path] = size // 2
    if at != "hub":  # the Hub's client goes on by itself
        assert "run the command again, it goes on where it stopped" in refused(name)
    assert rows(name)
    sent = [
        count for asked, count in servers.asked if asked.endswith(path.rpartition("/")[2]) and count
    ]
    assert size <= sum(sent) < size + 1000, servers.asked
    assert leftovers(tmp_path) == []


def test_a_server_that_cannot_go_on_sends_all_again(servers, tmp_path):
    put_ziqi(servers, tmp_path / "source")
    (path,) = servers.files
    servers.cut[path] = 1000
    refused("ziqi")
    (part,) = (tmp_path / "cache").rglob("*.part")
    part.write_bytes(
        b"x" * (len(servers.files[path]) + 1)
    )  # longer than the file, so that there is no such range
    with pytest.raises(DatasetError, match="has changed"):
        describe_dataset("published", benchmark=dataset_module("ziqi").BENCHMARK)
    assert rows("ziqi")


def test_too_little_room_is_said_before_anything_is_fetched(servers, tmp_path, monkeypatch):
    put_mmar(servers, tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=5000))
    assert "are to be fetched, and" in refused("mmar")
    assert "has 5 kB free; free some space, or name another folder in MUSIC_EVALS_CACHE" in refused(
        "mmar"
    )
    assert not [path for path, count in servers.asked if "resolve" in path and count]


def full(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("name", "put", "place"),
    [
        ("ziqi", put_ziqi, "music_evals.datasets_builders.dataset_io.archives._copy"),
        ("ziqi", put_ziqi, "httpx.stream"),
    ],
)
def test_a_full_disk(
    servers,
    tmp_path,
    monkeypatch,
    name,
    put,
    place,
):
    put(servers, tmp_path / "source")
    with monkeypatch.context() as patch:
        patch.setattr(place, full)
        text = refused(name)
    assert "the disk is full" in text
    assert "MUSIC_EVALS_CACHE" in text
    assert leftovers(tmp_path) == []
    assert rows(name)


def test_a_proxy_is_named_without_its_password(tmp_path, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://user:secret@127.0.0.1:9")
    monkeypatch.setenv("MUSIC_EVALS_CACHE", str(tmp_path / "cache"))
    text = refused("ziqi")
    assert "the connection by the proxy http://127.0.0.1:9 failed" in text
    assert "secret" not in text
