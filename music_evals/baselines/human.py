"""The Inspect model provider behind `human/NAME`: the answers that a person gave to `music-evals
listen`.
"""

from collections.abc import Mapping
from typing import Any

from inspect_ai.model import ModelAPI, ModelOutput
from inspect_ai.solver._task_state import sample_state

from music_evals.baselines.asking import BaselineError


class HumanAPI(ModelAPI):
    """Gives a person's replies, which `music-evals listen` puts into ``replies``: id of the sample
    → reply.
    """

    replies: Mapping[str, str] = {}

    async def generate(self, *_: Any, **__: Any) -> ModelOutput:
        """Return the person's reply to the sample; `BaselineError` if there is none."""
        sample = sample_state()
        if sample is None or str(sample.sample_id) not in self.replies:
            raise BaselineError(
                f"{self.model_name} gave no answer; music-evals listen TASK --name "
                f"{self.model_name}"
            )
        return ModelOutput.from_content(self.model_name, self.replies[str(sample.sample_id)])
