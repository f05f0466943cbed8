"""Greedy decoding for Hugging Face models: temperature 0 as `transformers` takes it.

Inspect's provider ``hf`` always samples, and `transformers` refuses to sample at temperature 0.
Sampling from the one likeliest token gives the same, except for ties. Importing this module
registers a hook. Inspect prints registered hooks at the start of every command, so the module is
imported only when a task is made.
"""

import sys

from inspect_ai.hooks import BeforeModelGenerate, Hooks, hooks


@hooks(name="greedy", description="temperature 0 as transformers takes it")
class Greedy(Hooks):
    """Asks models of the provider ``hf`` for the likeliest token if the temperature is 0."""

    def enabled(self) -> bool:
        """Whether such a model may be loaded; an enabled hook costs Inspect time in every
        sample.
        """
        return "transformers" in sys.modules

    async def on_before_model_generate(self, data: BeforeModelGenerate) -> None:
        """Replace a temperature of 0."""
        if data.model_name.startswith("hf/") and data.config.temperature == 0:
            data.config.temperature, data.config.top_p, data.config.top_k = None, None, 1
