"""Replies that are not valid Unicode: they end no run, are marked, and go back to the model as
valid text.
"""

import json

import pytest
from inspect_ai.model import ChatMessageAssistant, ModelOutput

from music_evals.evals.lilybench import metadata_qa
from music_evals.evals.lilybench_generation import generation
from music_evals.evals.muse import chord_quality
from music_evals.solvers.door import MENDED
from tests.generation_dataset import make_dataset
from tests.harness import run_scripted, samples
from tests.lilybench_dataset import write_small

BROKEN = "half a clef: \ud834 { c'4 "


@pytest.mark.parametrize(
    "task",
    [
        lambda _: chord_quality(modality="midi", strategy="standalone"),
        lambda _: chord_quality(modality="midi", strategy="logiclm"),
        lambda folder: metadata_qa(dataset=write_small(folder / "data")),
        lambda folder: generation(dataset=str(make_dataset(folder / "data")), attempts=2, media=0),
    ],
)
def test_lone_surrogates_end_no_run_and_are_marked(task, tmp_path):
    def reply(messages, _):
        assert json.dumps(
            [message.model_dump() for message in messages], ensure_ascii=False, default=str
        ).encode()
        return ModelOutput.from_message(ChatMessageAssistant(content=BROKEN))

    for sample in samples(run_scripted(task(tmp_path), tmp_path, reply)):
        assert sample.scores
        assert sample.store[MENDED] >= 1
        assert sample.output.completion.startswith("half a clef: \\ud834")
