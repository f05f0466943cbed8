"""The published data of a benchmark, fetched from where its folder of facts says (``remotes``).

What is fetched is kept: the Hub's files in the Hub's own cache, others in the folder ``published``
of this project's. A second call needs no network. A call after a stop goes on where it stopped.
"""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from music_evals.benchmarks import Remote, Source, format_bytes
from music_evals.datasets_builders.dataset_io.archives import is_archive, unpack
from music_evals.datasets_builders.dataset_io.download_errors import plain_errors
from music_evals.datasets_builders.dataset_io.downloads import (
    cached_name,
    download_repository,
    fetch_doi,
    fetch_file,
    is_taken,
)
from music_evals.datasets_builders.dataset_io.folders import files_in, locked_folder
from music_evals.datasets_builders.dataset_io.mirdata_sets import fetch_mirdata
from music_evals.datasets_builders.dataset_io.provenance import DatasetError, FetchError
from music_evals.notation.cache import cache_folder, write_atomically

PUBLISHED = "published"
"""The dataset argument for the published data of a benchmark."""
_SHORT = 10  # digits of a commit in messages


class PublishedFiles(NamedTuple):
    """The published files of a dataset in one folder."""

    folder: Path
    revisions: str | None  # place and revision of each source, if they are known


class _Wanted(NamedTuple):
    """What is taken from a remote."""

    remote: Remote
    revision: str
    bytes: int | None  # to fetch, if it is known
    paths: Sequence[str] = ()  # of files of a repository on the Hub


@contextmanager
def published_files(dataset: str, source: Source) -> Iterator[PublishedFiles]:
    """Fetch the published files of a dataset into a folder that exists for the time of the block.

    Prints to standard error what is fetched: place, revision, bytes and licence.

    Args:
        dataset: its name.
        source: where its files are.

    Raises:
        DatasetError: the dataset has no remotes.
        FetchError: the disk has too little room, a file cannot be had, or it is not the file that
            the facts name.
    """
    if not source.remotes:
        reason = source.by_hand or f"nothing says where the published data of {dataset} is"
        raise DatasetError(f"{reason}; name a folder with a copy of it")
    root = cache_folder() / PUBLISHED
    with locked_folder(root / f".{dataset}.partial") as partial:
        try:
            files = _fetch_all(source, root, partial / "files")
        except DatasetError as error:
            raise FetchError(str(error)) from error
        yield files


def _fetch_all(source: Source, root: Path, folder: Path) -> PublishedFiles:
    wanted = [_look_up(remote, root) for remote in source.remotes]
    _announce(source.title, wanted, root)
    needed = sum(entry.bytes or 0 for entry in wanted)
    free = shutil.disk_usage(root).free
    if needed > free:
        raise DatasetError(
            f"{format_bytes(needed)} are to be fetched, and {root} has {format_bytes(free)} free; "
            "free some space, or name another folder in MUSIC_EVALS_CACHE (and in HF_HOME for "
            "files of the Hub)"
        )
    shutil.rmtree(folder, ignore_errors=True)  # what a killed process left
    for entry in wanted:
        _fetch(entry, root, folder / entry.remote.folder)
    places = ", ".join(f"{entry.remote.place}@{entry.revision}" for entry in wanted)
    return PublishedFiles(folder, places)


def _fetch(wanted: _Wanted, root: Path, target: Path) -> None:
    """Fetch the files of a remote, and put them or links to them into a folder."""
    remote = wanted.remote
    target.mkdir(parents=True, exist_ok=True)
    if remote.hub:
        snapshot = download_repository(remote.hub, wanted.revision, wanted.paths, check_all=True)
        for name in wanted.paths:
            _link(snapshot / name, target / name)
    elif remote.doi:
        for path in fetch_doi(remote, root):
            if is_archive(path):
                unpack(path, target)
            else:
                _link(path, target / path.name)
    elif remote.mirdata:
        for path in fetch_mirdata(remote, root).iterdir():
            _link(path, target / path.name)
    elif remote.file:
        _link(fetch_file(remote, root), target / remote.address.rpartition("/")[2])
    else:
        _unpack_archive(remote, fetch_file(remote, root), target)


def contents_checksum(files: Mapping[str, Path]) -> str:
    """Return the SHA-256 over the paths of files and git's ids of their contents, in order of the
    paths.

    A listing of a git repository gives the same checksum (``git ls-tree -r COMMIT``), without the
    files.
    """
    from huggingface_hub.utils.sha import git_hash

    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{git_hash(files[name].read_bytes())}\n".encode())
    return digest.hexdigest()


def _announce(title: str, wanted: Sequence[_Wanted], root: Path) -> None:
    lines = [f"fetching {title}, once:"]
    for entry in wanted:
        remote = entry.remote
        shown = entry.revision if remote.doi else entry.revision[:_SHORT]
        lines.append(f"  {remote.place} at {shown}: {_size(entry, root)}; licence: {remote.terms}")
        if remote.hub and not remote.commit:
            lines.append(
                f"  warning: no commit is known for {remote.hub}, so the head of its main branch is"
                " taken; the log names the commit"
            )
    lines.append(
        f"  into {root} and the Hub's cache ({format_bytes(shutil.disk_usage(root).free)} free)"
    )
    Console(stderr=True).print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)


def _size(wanted: _Wanted, root: Path) -> str:
    """What is left to fetch of a remote, in words."""
    remote = wanted.remote
    is_cached = wanted.bytes == 0 if remote.hub else (root / cached_name(remote)).exists()
    if is_cached:
        return "fetched before"
    return format_bytes(wanted.bytes or 0) if remote.hub else remote.size


# --- the Hub ---


def _look_up(remote: Remote, root: Path) -> _Wanted:
    """Find the commit of a repository or, if it cannot be had, of its mirror, and which files are
    taken.
    """
    if not remote.hub:
        return _Wanted(remote, remote.revision or "unknown", remote.bytes)
    try:
        return _look_up_repository(remote, root)
    except DatasetError:
        if not remote.mirror:
            raise
        return _look_up_repository(replace(remote, hub=remote.mirror, commit=""), root)


def _look_up_repository(remote: Remote, root: Path) -> _Wanted:
    """A branch is resolved once and remembered."""
    import huggingface_hub
    from huggingface_hub.utils.tqdm import tqdm as hub_tqdm

    class Silent(hub_tqdm):
        def __init__(self, *values: Any, **options: Any) -> None:
            super().__init__(*values, **{**options, "disable": True})  # type: ignore[no-untyped-call]

    remembered = root / f"{remote.hub.replace('/', '--')}.commit"
    revision = remote.commit or (remembered.read_text() if remembered.exists() else None)
    download: Callable[..., Any] = partial(
        huggingface_hub.snapshot_download,
        remote.hub,
        repo_type="dataset",
        revision=revision,
        allow_patterns=[*remote.files],
    )
    with plain_errors(remote.place):
        try:
            files = download(dry_run=True, tqdm_class=Silent)
        except huggingface_hub.errors.DryRunError as error:
            return _cached_files(remote, download, error)
    if not files:
        raise DatasetError(f"{remote.place} has no file {' or '.join(remote.files)}")
    commit = files[0].commit_hash
    if not remote.commit:
        write_atomically(remembered, commit.encode())
    missing = sum(file.file_size or 0 for file in files if file.will_download)
    return _Wanted(remote, commit, missing, [file.filename for file in files])


def _cached_files(remote: Remote, download: Callable[..., Any], error: Exception) -> _Wanted:
    """Take the files from the Hub's cache, because the Hub cannot be asked; raise why if they are
    not there.
    """
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        folder = Path(download(local_files_only=True))
    except LocalEntryNotFoundError:
        raise error.__cause__ or error from None
    taken = [name for name in files_in(folder) if is_taken(remote, name)]
    return _Wanted(remote, folder.name, 0, taken)


# --- archives and files ---


def _link(path: Path, link: Path) -> None:
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(os.path.realpath(path))


def _unpack_archive(remote: Remote, archive: Path, target: Path) -> None:
    """Unpack the files that are taken, and check them; an archive that fails is removed."""
    try:
        # The folder of the repository and commit.
        files = unpack(archive, target, partial(is_taken, remote), strip=1)
        if not files:
            raise DatasetError(f"{remote.address} holds no {' or '.join(remote.files)}")
        is_of_contents = remote.checksum and not remote.checksum.startswith("md5:")
        if is_of_contents and (contents := contents_checksum(files)) != remote.checksum:
            raise DatasetError(
                f"{remote.address}: the checksum of its files is {contents}, and {remote.checksum} "
                "was expected"
            )
    except DatasetError as error:
        archive.unlink()
        raise DatasetError(f"{error}; it was removed, and the next try fetches it again") from error
