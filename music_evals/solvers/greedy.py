"""Greedy decoding for Hugging Face models: temperature 0 as `transformers` takes it.

Inspect's provider ``hf`` always samples, and `transformers` refuses to sample at temperature 0. Sampling from the one
likeliest token is the same as greedy decoding, but for equally likely tokens, of which any may be drawn.

Importing this module registers a hook of Inspect. Nothing imports it before a task is made: Inspect would announce
the hook at the start of every command.
"""

import sys
from typing import Final

from inspect_ai.hooks import BeforeModelGenerate, Hooks, hooks

_PROVIDER: Final = "hf/"


@hooks(name="greedy", description="temperature 0 as transformers takes it")
class Greedy(Hooks):
    """Asks models of the provider ``hf`` for the likeliest token where the temperature is 0, whoever set it."""

    def enabled(self) -> bool:
        """Whether such a model may be loaded; Inspect does more work for each sample where hooks are enabled."""
        return "transformers" in sys.modules

    async def on_before_model_generate(self, data: BeforeModelGenerate) -> None:
        """Replace a temperature of 0."""
        if data.model_name.startswith(_PROVIDER) and data.config.temperature == 0:
            data.config.temperature, data.config.top_p, data.config.top_k = None, None, 1
