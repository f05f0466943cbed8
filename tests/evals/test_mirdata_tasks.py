"""Tasks on datasets of mirdata: from a folder of facts, and from a file of the user's."""

import pytest
from inspect_ai import eval as inspect_eval

from music_evals.evals import mir
from music_evals.evals.registry import MODULES
from music_evals.evals.shared.parameters import ParameterError
from tests import mirdata_sets

FACTS = """
[mirdata]
loader = "vocadito"
version = "1.0"
seconds = 10

[mirdata.tasks.listening]
annotation = "lyrics"
kind = "text"
question = "Which words are sung?"
"""


def test_a_stand_in_is_asked_by_default(tmp_path):
    (log,) = inspect_eval(
        MODULES["giantsteps_key"].key(),
        model="baseline/majority",
        limit=2,
        log_dir=str(tmp_path),
        display="none",
    )
    assert log.status == "success"
    assert log.eval.metadata
    assert log.eval.metadata["benchmark"] == "giantsteps_key"


def test_the_beats_of_a_song_have_room():
    """Two minutes at 120 beats a minute are 240 times such as "119.52, ", of some 8 tokens each."""
    tasks = {name: getattr(MODULES["ballroom"], name)() for name in ("beats", "tempo")}
    limits = {name: task.config.max_tokens for name, task in tasks.items()}
    assert limits["beats"] > 240 * 8 > limits["tempo"] == 1024


def test_a_file_of_facts_is_a_listening_test(tmp_path):
    pytest.importorskip("mirdata", reason="needs the extra 'mir'")
    source = mirdata_sets.vocadito(tmp_path / "source")
    file = tmp_path / "words.toml"
    file.write_text(FACTS)
    task = mir.listening(facts=str(file), dataset=str(source))
    (sample,) = task.dataset
    assert sample.target == "la la lu"
    assert "Which words are sung?" in sample.input[0].text
    # Another question is other data, though the name of the file is the same.
    file.write_text(FACTS.replace("Which words are sung?", "What is sung?"))
    (sample,) = mir.listening(facts=str(file), dataset=str(source)).dataset
    assert "What is sung?" in sample.input[0].text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[mirdata]\nloader = 'x'", r"cannot be read: \[mirdata\]: 'tasks'"),
        ("loader =", "Invalid value"),
        ("loader = 'x'", r"cannot be read: \[mirdata\]: 'tasks'"),
        ("mirdata = " + "[" * 20_000, "cannot be read: maximum recursion depth"),
    ],
)
def test_a_file_that_is_wrong_is_one_error(text, message, tmp_path):
    file = tmp_path / "facts.toml"
    file.write_text(text)
    with pytest.raises(ParameterError, match=message):
        mir.listening(facts=str(file))


def test_facts_have_to_be_named():
    with pytest.raises(ParameterError, match="facts= is missing"):
        mir.listening()
