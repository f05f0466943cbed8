"""The package as others get it: from a clone without symbolic links, as wheel and sdist."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from music_evals.evals import muse

ROOT = Path(__file__).parents[1]
BUILD = (
    "import sys; from setuptools import build_meta as b; print(getattr(b, 'build_' + "
    "sys.argv[1])(sys.argv[2]))"
)


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """The files of the checkout, with each link as a small text file: what Git makes where links
    are not allowed.
    """
    folder = tmp_path_factory.mktemp("clone") / "music-evals"
    subprocess.run(
        ["git", "-c", "core.symlinks=false", "clone", "-q", str(ROOT), str(folder)], check=True
    )
    # What is not committed yet counts as well.
    changed = subprocess.run(
        ["git", "ls-files", "-mo", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for name in changed.splitlines():
        if (ROOT / name).is_file() and not (ROOT / name).is_symlink():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
        elif not (ROOT / name).exists():
            (folder / name).unlink(missing_ok=True)
    assert not (folder / "evals").is_symlink()
    return folder


def sdist_names(path):
    with tarfile.open(path) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


@pytest.mark.slow
def test_wheel_and_sdist_of_a_clone_without_links_hold_all_files(clone, tmp_path):
    for kind in ("wheel", "sdist"):
        subprocess.run(
            [sys.executable, "-c", BUILD, kind, str(tmp_path)],
            cwd=clone,
            check=True,
            capture_output=True,
        )
    (wheel,), (sdist,) = tmp_path.glob("*.whl"), tmp_path.glob("*.tar.gz")
    house = clone / "music_evals"
    suffixes = {".py", ".toml", ".md", ".csv", ".ly", ".html", ".css", ".typed"}
    wanted = {
        str(path.relative_to(clone))
        for path in house.rglob("*")
        if path.is_file() and path.suffix in suffixes
    }
    wanted |= {"music_evals/py.typed"}
    assert len(wanted) > 150
    assert wanted <= set(zipfile.ZipFile(wheel).namelist())
    assert wanted <= sdist_names(sdist)

    muse.chord_quality()  # makes the default data for the package as well
    installed = tmp_path / "site-packages"  # by which Inspect knows an installed package
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        "--target",
        str(installed),
    ]
    subprocess.run([*pip, str(wheel)], check=True, capture_output=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    script = "from inspect_ai import eval; import music_evals; print(music_evals.__file__); "
    script += (
        "(log,) = eval('music_evals/muse_chord_quality', model='baseline/chance', limit=2, "
        "display='none'); "
    )
    script += "print(log.status, log.eval.task_registry_name)"
    said = subprocess.run(
        [sys.executable, "-c", script],
        cwd=elsewhere,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
    )
    assert said.stdout.split() == [
        str(installed / "music_evals" / "__init__.py"), "success", "music_evals/muse_chord_quality",
    ], said.stderr  # fmt: skip
