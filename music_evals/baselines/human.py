"""The Inspect model provider behind `human/NAME`: the answers that a person gave to `music-evals listen`."""

import re
from collections.abc import Mapping
from typing import Any, Final

from inspect_ai.model import ModelAPI, ModelOutput
from inspect_ai.solver._task_state import sample_state

from music_evals.baselines.asking import BaselineError

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")  # it is part of paths


class HumanAPI(ModelAPI):
    """Gives a person's replies, which `music-evals listen` puts into ``replies``: id of the sample → reply.

    Raises:
        BaselineError: the name is not valid, or the person did not answer a sample.
    """

    def __init__(
        self, model_name: str, base_url: str | None = None, api_key: str | None = None, **options: Any
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], **{k: v for k, v in options.items() if k == "config"})
        if not _NAME.fullmatch(model_name):
            raise BaselineError(
                f"the name {model_name!r:.60} is not valid; accepted: at most 40 of A to Z, a to z, 0 to 9, '.', '-' "
                "and '_', with a letter or digit first"
            )
        self.replies: Mapping[str, str] = {}

    async def generate(self, *_: Any, **__: Any) -> ModelOutput:
        """Return the person's reply to the sample."""
        sample = sample_state()
        if sample is None or str(sample.sample_id) not in self.replies:
            raise BaselineError(f"{self.model_name} gave no answer; music-evals listen TASK --name {self.model_name}")
        return ModelOutput.from_content(self.model_name, self.replies[str(sample.sample_id)])
