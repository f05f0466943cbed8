"""The Inspect model provider behind `baseline/chance`, `/majority`, `/reader` and `/playback`."""

from pathlib import Path
from typing import Any

import anyio
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.solver._task_state import sample_state
from inspect_ai.tool import ToolChoice, ToolInfo

from music_evals.baselines.asking import BaselineError, Request, read_conversation
from music_evals.baselines.chance import commonest, guess
from music_evals.baselines.playback import Playback
from music_evals.baselines.reader import check, read
from music_evals.notation.lilypond.sandbox.slots import cores

MODELS = ("chance", "majority", "reader", "playback")


class BaselineAPI(ModelAPI):
    """Answers the tasks of music-evals without a language model, always the same to the same
    conversation.

    Args:
        model_name: ``chance`` answers by chance; ``majority`` gives the most common answer;
            ``reader`` computes the answer from the music; ``playback`` gives the files of a folder.
        config: the seed selects one of many pieces by chance, or the file that is played back.
        folder: (playback) folder with LilyPond files, ``*.ly``, in it or in its subfolders.

    Raises:
        BaselineError: a name, argument or folder is not as above, or the model cannot answer a
            task.

    Example:
        inspect eval evals/muse.py --model baseline/reader -T strategy=logiclm
        inspect eval evals/lilybench_generation.py --model baseline/playback -M folder=scores
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - the signature of every Inspect provider
        folder: str | Path | None = None,
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        if model_name not in MODELS:
            raise BaselineError(
                f"there is no model baseline/{model_name}; there are: "
                f"baseline/{', baseline/'.join(MODELS)}"
            )
        accepted = "folder" if model_name == "playback" else "none"
        for name, value in {"folder": folder, **model_args}.items():
            if value is not None and name != accepted:
                raise BaselineError(
                    f"baseline/{model_name} knows no argument {name!r}; it knows {accepted}"
                )
        self.playback = Playback(folder) if model_name == "playback" else None
        self._one_a_core = anyio.CapacityLimiter(cores())

    def check_conversation(self, messages: list[ChatMessage]) -> None:
        """Check that the reader can answer such a conversation; `BaselineError` if not."""
        if self.model_name == "reader":
            check(read_conversation(messages))

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002 - the name in the interface
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """Answer a conversation."""
        sample = sample_state()
        request = read_conversation(input, sample.metadata if sample else {})
        text = await self._answer(request, config.seed)
        message = ChatMessageAssistant(content=text, source="generate", model=self.model_name)
        # Words are counted, not tokens: a tokenizer would have to be downloaded.
        words_read = sum(len(message.text.split()) for message in input)
        words = len(text.split())
        return ModelOutput(
            model=self.model_name,
            choices=[ChatCompletionChoice(message=message, stop_reason="stop")],
            usage=ModelUsage(
                input_tokens=words_read, output_tokens=words, total_tokens=words_read + words
            ),
        )

    async def _answer(self, request: Request, seed: int | None) -> str:
        match self.model_name:
            case "chance":
                return guess(request, seed)
            case "majority":
                return commonest(request)
            case "reader":
                return await read(request, self._one_a_core)
        assert self.playback is not None
        return await self.playback.reply(request, seed, self._one_a_core)

    def max_connections(self) -> int:
        """Return how many conversations are answered at a time; answers cost next to nothing."""
        return 100
