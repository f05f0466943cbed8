"""Datasets of mirdata: opened in a folder, and fetched by mirdata's own download.

mirdata keeps the list of a dataset's files, its index, apart from itself. It is looked for in the
dataset's folder, then in the cache; else it is fetched.
"""

import logging
from itertools import chain
from pathlib import Path
from typing import Any

from rich.console import Console

from music_evals.benchmarks import Remote
from music_evals.datasets_builders.dataset_io.download_errors import connection_problem
from music_evals.datasets_builders.dataset_io.downloads import cached_name, fetch_file
from music_evals.datasets_builders.dataset_io.provenance import DatasetError, list_names
from music_evals.notation.extras import require


def open_mirdata(loader: str, version: str, folder: Path, cache: Path) -> Any:
    """Return mirdata's dataset of a folder.

    Args:
        loader: the dataset's name in mirdata.
        version: of the dataset.
        folder: in mirdata's layout.
        cache: folder for the index, if it has to be fetched.

    Raises:
        DatasetError: mirdata has no such dataset or version, or its index cannot be fetched.
        MissingLibraryError: mirdata is not installed.
    """
    dataset = _initialize(loader, version, folder)
    index = dataset._index_data
    own = folder / index.filename
    if own.is_file():
        dataset.index_path = own
    elif index.remote:
        remote = Remote(file=index.remote.url, checksum=f"md5:{index.remote.checksum}")
        dataset.index_path = fetch_file(remote, cache)
    else:
        raise DatasetError(
            f"mirdata has no address for the index of {loader}: copy {index.filename} from "
            f"tests/indexes of mirdata's repository into {folder}"
        )
    return dataset


def fetch_mirdata(remote: Remote, root: Path) -> Path:
    """Fetch a dataset into a folder of the cache, unless it is there; return the folder.

    Files that are not as mirdata's index says are named on standard error.
    """
    done = root / cached_name(remote)
    if done.exists():
        return done.parent
    dataset = _initialize(remote.mirdata, remote.commit, done.parent)
    index = dataset._index_data
    # Otherwise mirdata writes the index among its own modules.
    index.indexes_dir = index.remote.destination_dir = str(done.parent)
    dataset.index_path = index.get_path()
    try:
        dataset.download(None if remote.files == ("*",) else [*remote.files])
        _, invalid = dataset.validate(verbose=False)
    except OSError as error:
        raise DatasetError(f"{remote.place}: {connection_problem(error)}") from error
    files = chain.from_iterable(group.values() for group in invalid.values())
    names = [*chain.from_iterable(files)]
    if names:
        line = f"warning: {len(names)} files of {remote.place} are not as its index says: "
        Console(stderr=True).print(line + list_names(names), markup=False, soft_wrap=True)
    done.touch()
    return done.parent


def _initialize(loader: str, version: str, folder: Path) -> Any:
    root, guard = logging.getLogger(), logging.NullHandler()
    root.addHandler(guard)  # otherwise the import of mirdata sets up logging for the whole process
    try:
        return require("mirdata", "mir").initialize(loader, data_home=str(folder), version=version)
    except ValueError as error:
        raise DatasetError(f"mirdata: {error}") from error
    finally:
        root.removeHandler(guard)
