"""The Inspect model provider behind `baseline/reader`, `baseline/chance` and `baseline/playback`."""

import json
from pathlib import Path
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
from music_evals.baselines.lilybench import writing
from music_evals.baselines.playback import Playback, PlaybackError
from music_evals.notation.lilypond.source import SourceError

MODELS = ("reader", "chance", "playback")


@modelapi(name="baseline")
class BaselineAPI(ModelAPI):
    """Answers without a language model, deterministically for each prompt.

    Args:
        model_name: ``reader``, which parses the notation, computes the answer, or writes music by rule; ``chance``,
            which draws uniformly from the options, or notes; or ``playback``, which answers requests for music with
            the files of a folder.
        base_url: not used.
        api_key: not used.
        config: its seed makes one of several pieces for the same request, or says which file is played back; nothing
            else of it is used.
        error_rate: (reader) share of symbolic lines, or of pieces of music, to garble on purpose, from 0 to 1, so that
            the refinement of LogicLM, or a repair, has something to do.
        folder: (playback) with LilyPond files, ``*.ly``, in it or below; `music_evals.baselines.playback` says more.

    Raises:
        PrerequisiteError: if there is no such baseline, the error rate is out of range, or the folder holds no files.

    Example:
        inspect eval evals/muse.py --model baseline/reader -M error_rate=0.5 -T strategy=logiclm
        inspect eval evals/lilybench.py@generation --model baseline/playback -M folder=scores
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - the signature of every Inspect provider
        error_rate: float = 0.0,
        folder: str | Path | None = None,
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        if model_name not in MODELS:
            raise PrerequisiteError(
                f"there is no model baseline/{model_name}; there are: baseline/{', baseline/'.join(MODELS)}"
            )
        if model_args:
            raise PrerequisiteError(
                f"baseline/{model_name} knows no argument {next(iter(model_args))!r}; it knows "
                + {"reader": "error_rate", "chance": "none", "playback": "folder"}[model_name]
            )
        if isinstance(error_rate, bool) or not isinstance(error_rate, int | float) or not 0 <= error_rate <= 1:
            raise PrerequisiteError(f"error_rate is {error_rate!r}; a number from 0 to 1 is needed")
        if error_rate and model_name != "reader":
            raise PrerequisiteError(f"error_rate is for baseline/reader; baseline/{model_name} has no use for it")
        self.error_rate = float(error_rate)
        self.playback = _playback(model_name, folder)

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
        if self.playback:
            text = await _played(self.playback, conversation, config.seed)
        elif writing.recognises(conversation):
            seed = config.seed
            text = writing.read(conversation, seed, self.error_rate) if is_reader else writing.guess(conversation, seed)
        elif lilybench.recognises(conversation):
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


def _playback(model_name: str, folder: object) -> Playback | None:
    if model_name != "playback":
        if folder is not None:
            raise PrerequisiteError(f"folder is for baseline/playback; baseline/{model_name} has no use for it")
        return None
    if folder is None:
        raise PrerequisiteError("baseline/playback needs a folder with LilyPond files: -M folder=DIR")
    try:
        return Playback(Path(str(folder)))  # of a name in digits Inspect makes a number
    except PlaybackError as error:
        raise PrerequisiteError(f"baseline/playback: {error}") from error


async def _played(playback: Playback, conversation: Conversation, seed: int | None) -> str:
    if not writing.recognises(conversation):
        raise PrerequisiteError("baseline/playback only answers the prompts of lilybench's task generation")
    try:
        return await playback.reply(conversation, seed)
    except SourceError as error:
        raise PrerequisiteError(f"baseline/playback: {error}") from error


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
