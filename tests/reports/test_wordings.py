"""What the wording of the prompts changes, from runs of a model that minds the wording."""

import pytest
from inspect_ai.model import get_model

from music_evals.evals.musictheorybench import reasoning
from music_evals.reports.comparisons import comparison_tables
from music_evals.reports.records import read_records
from music_evals.scorers.metrics.estimates import Estimate
from tests.harness import run

RIGHT = {"Answer the multiple": 4, "Below is a question": 8, "You are asked about": 12}
"""How a wording begins, and how many of twelve questions the model answers right in it."""


def asked(messages):
    """The question and its options."""
    return messages[-1].text.splitlines()[-5:]


def wordings_of(folder, **options):
    """The table of runs in all three wordings, on the first twelve questions."""
    tasks = [reasoning(prompts=wording) for wording in (None, "second", "third")]
    samples = [*tasks[0].dataset]
    order = [asked(sample.input) for sample in samples]

    def reply(messages, _):
        text = messages[-1].text
        right = next(number for words, number in RIGHT.items() if text.startswith(words))
        place = order.index(asked(messages))
        key = str(samples[place].target)
        return f"Final Answer: {key if place < right else 'BCDA'['ABCD'.index(key)]}"

    model = get_model("scripted/model", reply=reply, memoize=False)
    run(tasks, folder, model, limit=12, **options)
    tables = {table.name: table for table in comparison_tables(read_records(folder))}
    return tables["wordings"]


@pytest.mark.parametrize(("epochs", "asking"), [(1, None), (2, 0.0)])
def test_parts_and_interval_are_those_of_the_answers(epochs, asking, tmp_path):
    table = wordings_of(tmp_path, epochs=epochs)
    ((*_, words, lowest, highest, mean, questions, wording, both, again),) = table.rows
    assert words == "first, second, third"
    shown = [cell.value for cell in (lowest, highest, mean) if isinstance(cell, Estimate)]
    assert shown == pytest.approx([100 / 3, 100, 200 / 3])
    assert isinstance(mean, Estimate)
    assert mean.n == 12
    assert mean.low is not None
    assert mean.low < 100 / 3  # three wordings say little of others
    parts = [cell.value for cell in (questions, wording, both) if isinstance(cell, Estimate)]
    # Of the means of 12 questions, 3 wordings and 36 cells: 1/33, 7/72 and 1/11.
    assert sum(parts) == pytest.approx(100)
    assert parts[1] > parts[0]
    assert (again.value if isinstance(again, Estimate) else None) == asking
