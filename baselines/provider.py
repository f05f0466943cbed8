"""The Inspect model provider behind `baseline/reader` and `baseline/chance`."""

import json
from random import Random
from typing import Any

from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    ContentAudio,
    ContentImage,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    modelapi,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo

from music_evals.baselines import msu, muse, ziqi
from music_evals.baselines.conversation import Conversation, Turn
from music_evals.baselines.lilybench import conversation as lilybench

MODELS = ("reader", "chance")


@modelapi(name="baseline")
class BaselineAPI(ModelAPI):
    """Answers without a language model, deterministically for each prompt.

    Args:
        model_name: ``reader``, which parses the notation or computes the answer, or ``chance``, which draws uniformly
            from the options.
        base_url: not used.
        api_key: not used.
        config: not used; there is nothing to sample.
        error_rate: (reader) share of symbolic lines to garble on purpose, from 0 to 1, so that the refinement of
            LogicLM has something to do.

    Raises:
        PrerequisiteError: if there is no such baseline or the error rate is out of range.

    Example:
        inspect eval evals/muse.py --model baseline/reader -M error_rate=0.5 -T strategy=logiclm
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - the signature of every Inspect provider
        error_rate: float = 0.0,
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        if model_name not in MODELS:
            raise PrerequisiteError(
                f"there is no model baseline/{model_name}; there are: baseline/{', baseline/'.join(MODELS)}"
            )
        if model_args:
            raise PrerequisiteError(
                f"baseline/{model_name} knows no argument {next(iter(model_args))!r}; it knows error_rate"
            )
        if isinstance(error_rate, bool) or not isinstance(error_rate, int | float) or not 0 <= error_rate <= 1:
            raise PrerequisiteError(f"error_rate is {error_rate!r}; a number from 0 to 1 is needed")
        if error_rate and model_name != "reader":
            raise PrerequisiteError(f"error_rate is for baseline/reader; baseline/{model_name} has no use for it")
        self.error_rate = float(error_rate)

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002 - the name in the interface
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """Answer a conversation."""
        offered = () if tool_choice == "none" else tuple(tool.name for tool in tools)
        conversation = Conversation(tuple(_turn(message) for message in input), offered)
        random = Random(conversation.digest())
        is_reader = self.model_name == "reader"
        call: ToolCall | None = None
        if lilybench.recognises(conversation):
            reply = lilybench.read(conversation, random) if is_reader else lilybench.guess(conversation, random)
            text = reply if isinstance(reply, str) else ""
            if isinstance(reply, lilybench.ToolUse):
                call = ToolCall(id=f"call_{len(input)}", function=reply.tool, arguments={})
        elif msu.recognises(conversation):
            text = msu.read(conversation, random) if is_reader else msu.guess(conversation, random)
        elif ziqi.recognises(conversation):
            text = ziqi.read(conversation, random) if is_reader else ziqi.guess(conversation, random)
        else:
            text = muse.read(conversation, self.error_rate, random) if is_reader else muse.guess(conversation, random)
            if offered:
                arguments = {next(iter(tools[0].parameters.properties)): text}
                call = ToolCall(id=f"call_{len(input)}", function=offered[0], arguments=arguments)
        message = ChatMessageAssistant(content=text, source="generate", model=self.model_name)
        if call:
            message.content = ""
            message.tool_calls = [call]
        # Words stand in for tokens: a tokenizer would have to be downloaded.
        read, written = sum(len(turn.text.split()) for turn in conversation.turns), len(text.split())
        return ModelOutput(
            model=self.model_name,
            choices=[ChatCompletionChoice(message=message, stop_reason="tool_calls" if call else "stop")],
            usage=ModelUsage(input_tokens=read, output_tokens=written, total_tokens=read + written),
        )

    def max_connections(self) -> int:
        """Answers cost next to nothing, so many may be asked for at once."""
        return 100


def _turn(message: ChatMessage) -> Turn:
    media: tuple[str, ...] = ()
    if isinstance(message.content, list):
        media = tuple(
            content.audio if isinstance(content, ContentAudio) else content.image
            for content in message.content
            if isinstance(content, ContentAudio | ContentImage)
        )
    text = message.text
    if isinstance(message, ChatMessageAssistant) and message.tool_calls:
        text += json.dumps([call.arguments for call in message.tool_calls])
    if isinstance(message, ChatMessageTool) and message.error is not None:
        text += message.error.message
    return Turn(message.role, text, media)
