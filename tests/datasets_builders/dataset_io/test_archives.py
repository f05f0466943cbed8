"""Archives: what is unpacked, and what is refused with nothing outside the folder."""

import io
import tarfile
import zipfile

import pytest

from music_evals.datasets_builders.dataset_io import DatasetError, archives
from music_evals.datasets_builders.dataset_io.archives import unpack


def tar_of(path, *members):
    with tarfile.open(path, "w:gz") as archive:
        for info, content in members:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def member(name, kind=tarfile.REGTYPE, link=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def zip_of(path, *members, mode=0):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            archive.writestr(info, content, zipfile.ZIP_DEFLATED)
    return path


ZEROS = bytes(60_000_000)
HOSTILE = {
    "a link": (
        lambda path: tar_of(path, (member("a.wav", tarfile.SYMTYPE, "/etc/passwd"), b"")),
        "link or a device",
    ),
    "a hard link": (
        lambda path: tar_of(path, (member("a.wav", tarfile.LNKTYPE, "b"), b"")),
        "link or a device",
    ),
    "a device": (
        lambda path: tar_of(path, (member("a.wav", tarfile.CHRTYPE), b"")),
        "link or a device",
    ),
    "a path above": (lambda path: tar_of(path, (member("../a.wav"), b"x")), "leads out of"),
    "a path in the middle": (
        lambda path: tar_of(path, (member("b/../../a.wav"), b"x")),
        "leads out of",
    ),
    "an absolute path": (lambda path: tar_of(path, (member("/tmp/a.wav"), b"x")), "leads out of"),
    "a control character": (lambda path: tar_of(path, (member("a\n.wav"), b"x")), "leads out of"),
    "a name twice": (
        lambda path: tar_of(path, (member("a.wav"), b"x"), (member("./a.wav"), b"y")),
        "'a.wav' twice",
    ),
    "a bomb": (
        lambda path: tar_of(path, (member("a.wav"), ZEROS)),
        "unpacks to more than 100 times its size",
    ),
    "many": (
        lambda path: tar_of(path, *((member(f"{n}.wav"), b"") for n in range(30))),
        "more than 20 members",
    ),
    "no archive": (lambda path: path.write_bytes(b"<html>") and path, "is damaged or incomplete"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.setattr(archives, "MOST_MEMBERS", 20)
    make, message = HOSTILE[name]
    path = make(tmp_path / "a.tar.gz")
    with pytest.raises(DatasetError, match=message):
        unpack(path, tmp_path / "out")
    assert {file.name for file in tmp_path.iterdir()} <= {"a.tar.gz", "out"}


@pytest.mark.parametrize(
    ("members", "mode", "message"),
    [
        ([("../a.wav", b"x")], 0, "leads out of"),
        ([("a.wav", b"/etc/passwd")], 0o120777, "link or a device"),
        ([("a.wav", ZEROS)], 0, "unpacks to more than 100 times its size"),
    ],
)
def test_a_hostile_zip_is_refused(tmp_path, members, mode, message):
    path = zip_of(tmp_path / "a.zip", *members, mode=mode)
    with pytest.raises(DatasetError, match=message):
        unpack(path, tmp_path / "out")
    assert not (tmp_path / "a.wav").exists()
