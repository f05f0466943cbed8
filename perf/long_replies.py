"""What a long reply costs: MUSE's syncopation task against a bare Inspect task, with replies of
8,000 characters.

The bare task sends the same prompts to the same model, with Inspect's own `generate` and `match`.

    python perf/long_replies.py [--samples 200] [--repeats 6] [--characters 8000]
"""

import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import typer
from harness import compare
from inspect_ai.model import ModelAPI, ModelOutput, modelapi
from inspect_ai.solver import generate

from music_evals.datasets_builders.muse.dataset import Counts, build_generated, write
from music_evals.evals.muse import syncopation

REPLIES: Mapping[str, tuple[str, str]] = {
    "label": ("The kick falls on the beat, and the snare does not. ", "\nFinal Answer: B"),
    "last line": ("The kick falls on the beat, and the snare does not. ", "\n**B**"),
    "waits": ("Wait, the kick falls on the beat. ", "\nFinal Answer: B"),
    "unread": ("The kick falls on the beat, and the snare does not. ", ""),
}
"""Kind → what a reply repeats, and how it ends."""
_characters = 8_000


@modelapi(name="perf")
class LongReplies(ModelAPI):
    """Answers each request with the reply of the kind that its name says."""

    async def generate(self, *_: Any, **__: Any) -> ModelOutput:
        """Return a reply of the kind."""
        words, ending = REPLIES[self.model_name.replace("_", " ")]
        text = (words * (_characters // len(words)))[: _characters - len(ending)] + ending
        return ModelOutput.from_content(self.model_name, text)


def main(samples: int = 200, repeats: int = 6, characters: int = 8_000) -> None:
    """Compare the suite with a bare Inspect task for each kind of reply."""
    global _characters
    _characters = characters
    with tempfile.TemporaryDirectory() as folder:
        write(build_generated(counts=Counts(samples, 2, 4)), Path(folder) / "muse")
        make = partial(syncopation, dataset=f"{folder}/muse", media=0)
        for kind in REPLIES:
            model = f"perf/{kind.replace(' ', '_')}"
            compare(
                f"{kind}, {characters} characters, {samples} samples",
                make,
                generate(),
                model,
                repeats,
            )


if __name__ == "__main__":
    typer.run(main)
