"""Archives of published files (zip, and tar in any compression), opened member by member.

A member is unpacked only if it is wanted, and never outside the target folder. Links and devices
are refused. The number of members, their bytes, and their bytes per byte of the archive are
bounded.
"""

import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from lzma import LZMAError
from pathlib import Path, PurePosixPath
from typing import IO, Any

from music_evals.datasets_builders.dataset_io.provenance import DatasetError

SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
MOST_MEMBERS = 500_000
MOST_BYTES = 200_000_000_000
MOST_RATIO = 100  # unpacked bytes per byte of the archive
_ALWAYS_ALLOWED = 50_000_000  # bytes; small archives of text may have a high ratio
_CHUNK = 1 << 20
_DAMAGED = (
    tarfile.TarError,
    zipfile.BadZipFile,
    EOFError,
    zlib.error,
    LZMAError,
    RuntimeError,
)

_Member = tuple[str, Callable[[], Any] | None]
"""The path of a member, and what opens it; None for a link or a device."""


def is_archive(path: Path) -> bool:
    """Return whether a file is an archive, by its name.

    >>> is_archive(Path("mmar-audio.tar.gz")), is_archive(Path("clip.wav"))
    (True, False)
    """
    return path.name.lower().endswith(SUFFIXES)


def unpack(
    archive: Path,
    folder: Path,
    is_wanted: Callable[[str], bool] = lambda _: True,
    *,
    strip: int = 0,
) -> dict[str, Path]:
    """Unpack the wanted members of an archive.

    Args:
        archive: the archive.
        folder: where the members go, under their own paths.
        is_wanted: gets the path of a member.
        strip: how many folders at the beginning of the paths are left out.

    Returns:
        Path of each member that was unpacked, without the folders that are left out → the file.

    Raises:
        DatasetError: the archive is damaged or exceeds a bound, or a wanted member is a link or a
            device, has a path that leads out of the folder, or comes twice.
    """
    unpacked: dict[str, Path] = {}
    left = min(MOST_BYTES, max(MOST_RATIO * archive.stat().st_size, _ALWAYS_ALLOWED))
    try:
        is_zip = archive.name.lower().endswith(".zip")
        members = _zip_members(archive) if is_zip else _tar_members(archive)
        for number, (name, open_member) in enumerate(members):
            if number >= MOST_MEMBERS:
                raise DatasetError(f"{archive.name} has more than {MOST_MEMBERS:,} members")
            if not is_wanted(name):
                continue
            name = "/".join(_parts(archive, name)[strip:])
            target = folder / name
            if name in unpacked:
                raise DatasetError(f"{archive.name} has {name!r:.100} twice")
            if open_member is None:
                raise DatasetError(
                    f"{archive.name}: {name!r:.100} is a link or a device; only files are accepted"
                )
            with open_member() as stream:
                left -= _copy(stream, target, left)
            if left < 0:
                raise DatasetError(
                    f"{archive.name} unpacks to more than {MOST_RATIO} times its size or "
                    f"{MOST_BYTES:,} bytes"
                )
            unpacked[name] = target
    except _DAMAGED as error:
        raise DatasetError(
            f"{archive.name} is damaged or incomplete: {error or type(error).__name__}"
        ) from error
    return unpacked


def _zip_members(archive: Path) -> Iterator[_Member]:
    with zipfile.ZipFile(archive) as opened:
        for info in opened.infolist():
            if not info.is_dir():
                # 0 if the archive was not made on Unix.
                is_file = stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG)
                yield info.filename, partial(opened.open, info) if is_file else None


def _tar_members(archive: Path) -> Iterator[_Member]:
    with tarfile.open(archive) as opened:
        for info in opened:
            if not info.isdir():
                yield info.name, partial(opened.extractfile, info) if info.isreg() else None
        # The checksum of a compressed archive is behind its last member, and is compared when it is
        # read.
        rest = opened.fileobj
        for _ in range(_ALWAYS_ALLOWED // _CHUNK):
            if rest is None or not rest.read(_CHUNK):
                break


def _parts(archive: Path, name: str) -> tuple[str, ...]:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not name.isprintable():
        raise DatasetError(
            f"{archive.name}: the path {name!r:.100} leads out of the archive's folder"
        )
    return path.parts


def _copy(stream: IO[bytes], target: Path, most: int) -> int:
    """Copy a member, but stop behind the most bytes; return how many were copied."""
    target.parent.mkdir(parents=True, exist_ok=True)
    copied = 0
    with target.open("wb") as file:
        while copied <= most and (chunk := stream.read(_CHUNK)):
            copied += file.write(chunk)
    return copied
