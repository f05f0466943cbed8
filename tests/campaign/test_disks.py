"""Disks that are full or cannot be written to: caches are not used, and what is written is whole or not there."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.campaign.conftest import Counting

# Runs in a process of its own, in which DISK is a disk of so many kilobytes, as full as it can be or read-only.
CASES = """
import json, sys
from pathlib import Path
disk, kind, full = Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "full"
import datasets
from tests.commands.cli import run
from tests.notation.lilypond.sandbox.test_hostile import GOOD
from music_evals.datasets_builders.dataset_io import make_provenance, write_dataset, DatasetError
from music_evals.encoders.vectors import read_vector, write_vector
from music_evals.notation.lilypond.compiler import compile_text
import numpy as np

def told(case, **facts):
    print(json.dumps({"case": f"{case} ({kind})", **facts}), flush=True)

compiled = compile_text(GOOD, cache=disk / "lilypond")
told("LilyPond's cache", works=compiled.succeeded)
write_vector(disk / "embeddings", "abc", np.ones(8, np.float32))
vector = read_vector(disk / "embeddings", "abc", 8)
told("cache of embeddings", works=vector is None or vector.tolist() == [1.0] * 8)
rows = {"bank": {"test": [{"id": str(n), "text": "x" * 5000 + str(n * 7919)} for n in range(200)]}}
features = {"bank": datasets.Features({"id": datasets.Value("string"), "text": datasets.Value("string")})}
try:
    made = make_provenance("muse", "1.0.0", "generated", seed=1)
    write_dataset(disk / "data", rows, features=features, provenance=made)
    told("writing a dataset", works=(disk / "data" / "provenance.json").exists())
except (DatasetError, OSError) as error:
    told("writing a dataset", works=not (disk / "data").exists(), reason=str(error))
commands = [("report", sys.argv[4], "--out", disk / "report")]
if full:
    commands.append(("build", "muse", "--out", disk / "muse"))
    commands.append(("build", "ziqi", "--out", disk / "ziqi"))
for command in commands:
    code, output = run(*command)
    out = command[-1]
    told(" ".join(command[:2])[:30], works=out.exists() if code == 0 else not out.exists(), reason=output[-300:])
left = sorted(path.name for path in disk.iterdir() if path.name.startswith(".") or path.suffix == ".part")
told("nothing is left over", works=not left, reason=" ".join(left))
"""
KINDS = {"full": "size=40k", "nearly full": "size=300k", "read-only": "size=40k,ro"}


@pytest.mark.parametrize("kind", KINDS)
def test_disks(kind: str, logs: Path, tmp_path: Path, counting: Counting, full: bool) -> None:
    if not full and kind != "full":
        pytest.skip("with CAMPAIGN=full")
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = f'mount -t tmpfs -o {KINDS[kind]} tmpfs "$1" && shift && exec "$@"'
    apart = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, "sh", str(disk)]
    if shutil.which("unshare") is None or subprocess.run([*apart, "true"]).returncode != 0:
        pytest.skip("no disk can be mounted here")
    words = [str(disk), kind, "full" if full else "part", str(logs)]
    done = subprocess.run([*apart, sys.executable, "-c", CASES, *words], capture_output=True, text=True)
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"case"')]
    with counting("disks that are full or cannot be written to") as tally:
        with tally.case(f"all cases come to their ends ({kind})"):
            assert done.returncode == 0, done.stderr[-1500:]
        for one in told:
            with tally.case(one["case"]):
                assert one["works"], one
