"""Running tasks in tests: with the baselines, or with a model whose replies the test writes."""

from collections.abc import Awaitable, Callable
from inspect import isawaitable

from inspect_ai import eval as inspect_eval
from inspect_ai.log import read_eval_log
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    get_model,
    modelapi,
)

Reply = Callable[[list[ChatMessage], GenerateConfig], str | ModelOutput | Awaitable[str]]


@modelapi(name="scripted")
class ScriptedAPI(ModelAPI):
    """A model whose replies a test writes."""

    def __init__(
        self,
        model_name,
        base_url=None,
        api_key=None,
        config=None,
        *,
        reply,
    ):
        super().__init__(model_name, base_url, api_key, [], config or GenerateConfig())
        self.reply = reply

    async def generate(
        self,
        input,  # noqa: A002
        tools,
        tool_choice,
        config,
    ):
        reply = self.reply(input, config)
        if isawaitable(reply):
            reply = await reply
        if isinstance(reply, ModelOutput):
            return reply
        return ModelOutput.from_content(self.model_name, reply)


def run(tasks, folder, model="baseline/reader", **options):
    logs = inspect_eval(
        tasks, model=model, log_dir=str(folder), display="none", log_realtime=False, **options
    )
    for log in logs:
        assert log.status == "success", log.error
    return list(logs)


def run_scripted(task, folder, reply, **options):
    """Run one sample, unless another `limit` is given."""
    return run(
        task,
        folder,
        get_model("scripted/model", reply=reply, memoize=False),
        **{"limit": 1, **options},
    )[0]


def metrics(log):
    """The metrics in a log's results, by scorer."""
    assert log.results is not None
    return {
        one.name: {name: metric.value for name, metric in one.metrics.items()}
        for one in log.results.scores
    }


def samples(log):
    whole = read_eval_log(log.location, resolve_attachments=True)
    assert whole.samples
    return whole.samples
