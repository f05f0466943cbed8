"""Whether all published data is still where `benchmark.toml` says: ``pytest -m live``, over the
network.

Each test asks for names, sizes and first bytes, and fetches whole only files of a few megabytes.
"""

import hashlib
from fnmatch import fnmatch
from types import SimpleNamespace

import httpx
import huggingface_hub
import pytest
from pooch.downloaders import doi_to_repository

from music_evals import benchmarks

pytestmark = pytest.mark.live

TIMEOUT = 60.0  # seconds
SMALL = 5_000_000  # bytes
MAGIC = {".gz": b"\x1f\x8b", ".zip": b"PK", ".parquet": b"PAR1"}  # how files of a kind begin


def all_remotes():
    """BENCHMARK PLACE → remote; what two benchmarks fetch stands once."""
    found = {}
    for name in benchmarks.dataset_names():
        for remote in benchmarks.dataset_facts(name).published[1].remotes:
            if remote not in found.values():
                found[f"{name} {remote.hub or remote.doi or remote.address}"] = remote
    return found


def first_bytes(address, count):
    """The first bytes of a file, and its size where the server states that."""
    headers = {"Accept-Encoding": "identity"}
    with httpx.stream(
        "GET", address, headers=headers, timeout=TIMEOUT, follow_redirects=True
    ) as response:
        response.raise_for_status()
        length = response.headers.get("Content-Length")
        content = b""
        for chunk in response.iter_raw():
            content += chunk
            if len(content) >= count:
                break
    return content[:count], int(length) if length else None


def check_beginning(address, name):
    """Check that a file begins as files of its kind do; returns its size where the server states
    that.
    """
    content, size = first_bytes(address, 64)
    expected = next((magic for ending, magic in MAGIC.items() if name.endswith(ending)), b"")
    assert content.startswith(expected)
    assert content
    assert not content.lstrip().lower().startswith((b"<!doctype", b"<html"))
    return size


def taken(remote, names):
    return [name for name in names if any(fnmatch(name, pattern) for pattern in remote.files)]


def check_repository(remote):
    api = huggingface_hub.HfApi()
    info = api.dataset_info(remote.hub, revision=remote.commit or None, files_metadata=True)
    assert not remote.commit or info.sha == remote.commit
    sizes = {file.rfilename: file.size or 0 for file in info.siblings or []}
    names = taken(remote, list(sizes))
    missing = [
        pattern for pattern in remote.files if not any(fnmatch(name, pattern) for name in names)
    ]
    assert not missing
    if remote.bytes is not None:
        assert sum(sizes[name] for name in names) == pytest.approx(remote.bytes, rel=0.02)
    address = huggingface_hub.hf_hub_url(
        remote.hub, names[0], repo_type="dataset", revision=info.sha
    )
    check_beginning(address, names[0])


def check_record(remote):
    record = SimpleNamespace(registry={})
    repository = doi_to_repository(remote.doi)
    repository.populate_registry(record)
    names = taken(remote, list(record.registry))
    assert names
    check_beginning(repository.download_url(names[0]), names[0])


def check_archive(remote):
    size = check_beginning(remote.address, remote.address)
    is_git = remote.checksum and not remote.checksum.startswith("md5:")
    if size is not None and remote.bytes is not None and not is_git:  # GitHub packs anew
        assert size == pytest.approx(remote.bytes, rel=0.02)


def check_file(remote):
    if remote.bytes is None or remote.bytes > SMALL:
        check_beginning(remote.address, remote.address)
        return
    content, _ = first_bytes(remote.address, SMALL)
    kind = "md5" if remote.checksum.startswith("md5:") else "sha256"
    assert hashlib.new(kind, content).hexdigest() == remote.checksum.removeprefix("md5:")
    assert len(content) == remote.bytes


REMOTES = all_remotes()


@pytest.mark.parametrize("remote", REMOTES.values(), ids=REMOTES)
def test_the_remote_is_as_its_facts_say(remote):
    if remote.hub:
        check_repository(remote)
    elif remote.doi:
        check_record(remote)
    elif remote.archive:
        check_archive(remote)
    else:
        check_file(remote)
