"""What `import music_evals` offers, and the notebook in `examples`, cell by cell."""

import json
from pathlib import Path

import pytest

import music_evals as me

NOTEBOOK = Path(__file__).parents[1] / "examples" / "first_steps.ipynb"


def test_the_notebook_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    assert [*names["records"].runs["task"].sort_values()] == [
        "chord_quality",
        "syncopation",
        "transposition",
    ]
    assert len(names["table"].rows) == 3
    assert (names["scored"].value, names["scored"].metadata["reading"]) == ("C", "answered")


def test_what_there_is_not_is_named():
    assert {"read_records", "run", "score", "task"} <= {*dir(me)}
    for call, message in (
        (lambda: me.task("muse"), "muse is not one task"),
        (lambda: me.run("nothing", "baseline/chance"), "nothing names no benchmark or task"),
        (lambda: me.score("muse_chord_quality", 44, "A"), "has no question 44; it has 44"),
        (
            lambda: me.score("muse_chord_quality", "c-sharp-major", "A"),
            "has no question c-sharp-major",
        ),
        (lambda: me.task("muse_chord_quality", shots="many"), "valid values are: zero, few"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
