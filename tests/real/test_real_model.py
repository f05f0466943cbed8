"""A real language model answers two tasks, in this process: SmolLM2 135M Instruct, as `hf/` runs it.

MUSIC_EVALS_REAL_MODEL names its folder, or its repository if the network may be used.
"""

import os

import pytest

import music_evals as me

pytestmark = pytest.mark.real
TASKS = ("musictheorybench_knowledge", "muse_chord_quality")


@pytest.fixture(scope="module")
def model():
    name = os.environ.get("MUSIC_EVALS_REAL_MODEL")
    if not name:
        pytest.skip(
            "MUSIC_EVALS_REAL_MODEL names no model, such as HuggingFaceTB/SmolLM2-135M-Instruct"
        )
    pytest.importorskip("transformers", reason="the extra hf is not installed")
    return f"hf/{name}"


@pytest.mark.parametrize("task", TASKS)
def test_replies_are_text_of_which_most_are_read(task, model, tmp_path):
    options = {"limit": 10, "max_tokens": 64, "display": "none"}
    records = me.run(task, model, logs=str(tmp_path), **options)
    run = records.runs.iloc[0]
    items = records.items
    assert (run["n"], run["errors"]) == (10, 0)
    assert items["tokens"].between(1, 64).all()
    assert (items["reading"] == "answered").mean() >= 0.5
    assert set(items["answer"].dropna()) <= {"A", "B", "C", "D", "I", "H"}


def test_an_instruction_moves_the_probability_of_the_options(model, tmp_path):
    options = {"limit": 10, "display": "none", "params": {"answer": "likelihood"}}
    records = me.run(TASKS[0], model, logs=str(tmp_path), **options)
    assert (records.items["options_mass"] > 0).all()
    assert 0 < records.score(0, "final_answer/probability").value < 1
