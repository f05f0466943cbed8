"""Files fetched from the Hub and from other addresses: checked, resumed after a stop, and kept in a
cache.

`huggingface_hub` fetches the Hub's files. For the others, pooch checks the bytes and knows DOIs;
`resume` is the downloader that it is given. Errors are one line that says what to do.
"""

import hashlib
import json
import logging
import os
import re
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

import httpx
from rich.console import Console

from music_evals.benchmarks import Remote
from music_evals.datasets_builders.dataset_io.download_errors import (
    connection_problem,
    plain_errors,
)
from music_evals.datasets_builders.dataset_io.folders import files_in
from music_evals.datasets_builders.dataset_io.provenance import (
    DatasetError,
    file_sha256,
    list_names,
    text_sha256,
)
from music_evals.datasets_builders.progress import download_bar
from music_evals.notation.cache import write_atomically

_TIMEOUT = 60.0  # seconds without a byte
_RANGE_NOT_SATISFIABLE = 416
_PARTIAL_CONTENT = 206


_SHORT_COMMIT = re.compile(r"[0-9a-f]{7,39}")
_SMALL = 1_000_000  # bytes of a file that is checked at every use


def download_repository(
    repo: str,
    revision: str | None,
    files: Sequence[str] | None = None,
    *,
    check_all: bool = False,
) -> Path:
    """Download a dataset repository of the Hub; without a connection, find it in the Hub's cache.

    Args:
        repo: ``ORG/NAME``.
        revision: a branch or tag, or a commit's id or its beginning; None for ``main``.
        files: patterns of the files to download; None for all.
        check_all: whether large files in the cache are checked too, and not only small ones.

    Returns:
        The folder, which has the full id of the commit as its name.

    Raises:
        DatasetError: the repository or revision is not there or may not be read, the connection
            fails, or a file in the cache is damaged; such a file is removed, so that the next call
            downloads it again.
    """
    import huggingface_hub

    with plain_errors(f"hf://datasets/{repo}" + (f"@{revision}" if revision else "")):
        if revision and _SHORT_COMMIT.fullmatch(revision):  # the Hub serves files by full id only
            commits = huggingface_hub.HfApi().list_repo_commits(repo, repo_type="dataset")
            ids = (commit.commit_id for commit in commits)
            matches = [name for name in ids if name.startswith(revision)]
            revision = matches[0] if len(matches) == 1 else revision
        patterns = None if files is None else list(files)
        snapshot = huggingface_hub.snapshot_download(
            repo, repo_type="dataset", revision=revision, allow_patterns=patterns
        )
        _refuse_damaged(Path(snapshot), check_all)
    return Path(snapshot)


def _refuse_damaged(folder: Path, check_all: bool) -> None:
    """Remove damaged files from the Hub's cache, and raise DatasetError if there are any."""
    files = files_in(folder)
    checked = [name for name, path in files.items() if check_all or path.stat().st_size < _SMALL]
    damaged = [name for name in checked if not _is_intact(files[name])]
    for name in damaged:
        remove_cached(files[name])
    if damaged:
        raise DatasetError(
            f"{list_names(damaged)} in the Hub's cache on this machine was damaged and has been "
            "removed; run the command again to download it"
        )


def _is_intact(path: Path) -> bool:
    """Whether a file of the Hub's cache has the checksum that its blob is named by: SHA-256, or
    git's SHA-1.
    """
    from huggingface_hub.utils.sha import git_hash

    if not path.is_symlink():  # a cache without links does not keep the checksums
        return True
    name = Path(os.readlink(path)).name
    if len(name) == len(hashlib.sha256().hexdigest()):
        return file_sha256(path) == name
    return git_hash(path.read_bytes()) == name


def remove_cached(path: Path) -> None:
    """Remove a file from the Hub's cache: its link, its blob, and what that links to."""
    target = path.resolve()
    if path.is_symlink():
        (path.parent / os.readlink(path)).unlink(missing_ok=True)
    path.unlink(missing_ok=True)
    target.unlink(missing_ok=True)


def fetch_file(remote: Remote, folder: Path) -> Path:
    """Fetch the file or archive of a remote into a folder, unless it is there with the right
    checksum.

    DatasetError if the connection fails, the address is gone, or the checksum is another one; a
    file with a wrong checksum is not kept.
    """
    is_of_bytes = remote.file or remote.checksum.startswith("md5:")
    checksum = remote.checksum if is_of_bytes else None
    return _retrieve(remote.address, folder, cached_name(remote), checksum or None)


def cached_name(remote: Remote) -> str:
    """Return under which name a file, an archive, the listing of a DOI's record, or the mark of a
    complete dataset of mirdata is kept.
    """
    if remote.mirdata:
        return f"mirdata-{remote.mirdata}-{remote.commit}/.complete"
    if remote.doi:
        return f"{remote.doi.replace('/', '-')}.json"
    digest = text_sha256(remote.address)[:12]
    return f"{digest}-{remote.address.rpartition('/')[2]}"


def is_taken(remote: Remote, name: str) -> bool:
    """Whether a path is among the files that are taken of a remote."""
    return any(fnmatch(name, pattern) for pattern in remote.files)


def fetch_doi(remote: Remote, folder: Path) -> list[Path]:
    """Fetch the files of a record that a DOI names; the record states their checksums, and is asked
    once.
    """
    listing = folder / cached_name(remote)
    if not listing.exists():
        write_atomically(listing, json.dumps(_look_up_record(remote, folder)).encode())
    entries = json.loads(listing.read_bytes())
    names = [name for name in entries if is_taken(remote, name)]
    if not names:
        raise DatasetError(f"{remote.place} has no file {' or '.join(remote.files)}")
    return [
        _retrieve(entries[name]["address"], folder, name, entries[name]["checksum"])
        for name in names
    ]


def _look_up_record(remote: Remote, folder: Path) -> dict[str, dict[str, str]]:
    """File → its address and checksum."""
    import pooch
    from pooch.downloaders import doi_to_repository

    try:
        repository = doi_to_repository(remote.doi)
        record = pooch.create(folder, f"doi:{remote.doi}")
        repository.populate_registry(record)
    except (OSError, ValueError) as error:  # those of requests are of the former kind
        raise DatasetError(f"{remote.place}: {connection_problem(error)}") from error
    return {
        name: {"address": repository.download_url(name), "checksum": checksum}
        for name, checksum in record.registry.items()
    }


def _retrieve(address: str, folder: Path, name: str, checksum: str | None) -> Path:
    import pooch
    from filelock import FileLock

    pooch.get_logger().setLevel(logging.WARNING)
    folder.mkdir(parents=True, exist_ok=True)
    advice = "; free some space, or name another folder in MUSIC_EVALS_CACHE"
    with plain_errors(address, advice), FileLock(folder / f"{name}.lock"):
        try:
            path = pooch.retrieve(address, checksum, fname=name, path=folder, downloader=resume)
        except ValueError as error:  # pooch removes the bytes that it fetched
            problem = str(error)
            if sums := re.search(r"expected (\S+) but got (\w+)", problem):
                problem = (
                    f"its checksum is {sums[2]}, and {sums[1]} was expected; the file was removed, "
                    "and the next try fetches it again"
                )
            raise DatasetError(f"{address}: {problem}") from error
    return Path(path)


def resume(address: str, target: str | Path, _pooch: object = None) -> None:
    """Fetch a file; what an earlier call left in ``TARGET's folder/ADDRESS.part`` is not fetched
    again.
    """
    digest = text_sha256(address)[:12]
    partial = Path(target).with_name(f"{digest}.part")
    start = partial.stat().st_size if partial.exists() else 0
    headers = {"Accept-Encoding": "identity"}  # a range is one of the bytes that are sent
    if start:
        headers["Range"] = f"bytes={start}-"
    with httpx.stream(
        "GET", address, headers=headers, timeout=_TIMEOUT, follow_redirects=True
    ) as response:
        if response.status_code == _RANGE_NOT_SATISFIABLE:
            partial.unlink()
            raise httpx.RemoteProtocolError(
                "the file on the server has changed; run the command again"
            )
        response.raise_for_status()
        goes_on = response.status_code == _PARTIAL_CONTENT
        length = response.headers.get("Content-Length")
        offset = start if goes_on else 0
        with (
            partial.open("ab" if goes_on else "wb") as file,
            download_bar(Console(stderr=True)) as bar,
        ):
            task = bar.add_task(
                address.rpartition("/")[2],
                completed=offset,
                total=offset + int(length) if length else None,
            )
            for chunk in response.iter_raw():  # as it comes, so that a stop loses nothing
                file.write(chunk)
                bar.advance(task, len(chunk))
    partial.replace(target)
