"""What LilyPond makes of a piece does not depend on what else the machine does."""

import subprocess
import sys
from unittest.mock import patch

import pytest

from music_evals.evals.lilybench_generation import generation
from music_evals.notation.lilypond.writing import compile_reply
from tests.generation_dataset import make_dataset
from tests.harness import run, samples

SHORT = r'\version "2.24.3" \score { { \repeat unfold 300 { c8 d e f g a b c } } \midi { } }'
LONG = SHORT.replace("300", "3000")  # some 2.5 s of CPU time


@pytest.fixture
def busy():
    """Four processes that do nothing but work."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
    yield
    for loop in loops:
        loop.kill()
        loop.wait()


@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize(
    ("tasks", "pieces", "piece"), [(1, 4, LONG), (8, 4, LONG), (1, 200, SHORT)]
)
def test_scores_are_the_same(tasks, pieces, piece, tmp_path, counting, full):
    if not full:
        pytest.skip("with CAMPAIGN=full")
    from inspect_ai.model import get_model

    dataset = str(make_dataset(tmp_path / "data"))
    numbers = iter(range(10_000))
    # No two pieces are the same text, so that none is found in the cache.
    model = get_model("scripted/model", reply=lambda *_: f"{piece} %{next(numbers)}", memoize=False)
    made = [generation(dataset=dataset, media=0) for _ in range(tasks)]
    epochs = -(-pieces // 12)
    options = {"limit": min(pieces, 12), "epochs": epochs, "max_tasks": 8, "max_samples": 40}
    with patch.dict("os.environ", MUSIC_EVALS_CACHE=str(tmp_path / "cache")):
        logs = run(made, tmp_path / "logs", model, **options)
        assert compile_reply(piece).problem is None
    with counting(
        f"pieces compiled by {tasks} tasks of {pieces} pieces beside four busy processes"
    ) as tally:
        for log in logs:
            for sample in samples(log):
                with tally.case(sample.id):
                    assert sample.scores
                    assert sample.scores["written_music"].value == 1, sample.scores[
                        "written_music"
                    ].answer
