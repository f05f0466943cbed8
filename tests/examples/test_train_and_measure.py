"""`examples/train_and_measure` with a tiny random model: what it trains on, and what it measures."""

import csv
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from music_evals.rewards import score

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPT = EXAMPLES / "train_and_measure" / "train_and_measure.py"


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    for name in ("torch", "transformers", "trl", "accelerate"):
        pytest.importorskip(name, reason="training needs the extra 'finetune'")
    return runpy.run_path(str(SCRIPT))


@pytest.mark.slow
def test_it_measures_each_checkpoint_and_learns_replies_that_are_right(
    script: dict[str, Any], tmp_path: Path
) -> None:
    rows = script["training_rows"](tmp_path / "rows", 8)
    for row in rows:
        reward = score(row["task"], row, row["completion"][0]["content"])
        assert (reward.value, reward.parts["format"]) == (1.0, 1.0), row["completion"]
    make_tiny_model = runpy.run_path(str(EXAMPLES / "grpo.py"))["make_tiny_model"]
    model, out = make_tiny_model(tmp_path / "tiny", rows, 1), tmp_path / "out"
    sizes = ("--rows", "8", "--batch", "4", "--checkpoints", "2", "--limit", "2", "--grpo-steps", "1")  # fmt: skip
    done = subprocess.run(
        [sys.executable, SCRIPT, "--model", model, "--out", out, *sizes],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    # Three tasks with 8 rows each, in batches of 4, are 6 steps.
    with (out / "curve" / "curve.csv").open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert [int(row["Step"]) for row in table] == [0, 3, 6] * 3
    measured = {path.parent.parent.name for path in out.rglob("checkpoint-*/*.eval")}
    assert measured == {"logs", "seed7", "options", "levels", "untrained"}
    assert len(list((out / "after").glob("*.eval"))) == 3
    assert (out / "report" / "report.html").is_file()
