"""The one way to a server of a model: of the model that is evaluated, of judges, of a reader.

`install` has Inspect open the door to each model that it asks, and log no secrets:

- A try has `TRY_SECONDS` in all, and a request twice as long; ``--attempt-timeout`` and
  ``--timeout`` change them. Every single read of a server that sends a byte each second succeeds,
  so the limits of the HTTP client alone end no such try.
- A reply has at most `MOST_BYTES`, also unpacked, and 50 tags ``<think>``. Text parts are read as
  text. A call of a tool that the model was not given is dropped: Inspect would answer it, and ask
  again without end.
- An error has at most 2,000 characters.
- Counts of tokens that no reply can have are unknown.
- Replies and errors are valid Unicode. A server may cut a character in two; the lone surrogate that
  is left cannot be sent back to the model, nor logged. It is written out (``\\ud83d``).
- A malformed reply (no choices, a tool call without a name) makes a provider raise errors of Python
  or pydantic. It is a failure, and Inspect repeats failures `MAX_RETRIES` times.
- A refusal for the rate of requests (HTTP 429) is no failure while the server answers others: see
  `Turns`.
- Keys, tokens and passwords are in no log: see `music_evals.notation.secrets`.
- Models of the provider ``hf`` reply greedily at temperature 0. That provider always samples, and
  `transformers` refuses to sample at temperature 0. Sampling from the one likeliest token gives the
  same, except for ties.
"""

import json
import logging
import re
import sys
import zlib
from collections.abc import AsyncIterator, Iterator
from contextvars import ContextVar
from functools import cache, partial, wraps
from typing import Any

import click
import rich
from inspect_ai.hooks import BeforeModelGenerate, Hooks, hooks
from inspect_ai.model import GenerateConfig, Model, ModelOutput
from inspect_ai.util import store
from tenacity import RetryCallState, RetryError, wait_exponential_jitter
from tenacity.wait import wait_base

from music_evals.notation.secrets import remember, scrub
from music_evals.scorers.readers.cleaning import valid_unicode
from music_evals.solvers.turns import Turns

TRY_SECONDS = 15 * 60
"""The time for one try of a request: enough for a model that reasons for ten minutes."""
MAX_RETRIES = 6
"""How often Inspect repeats a request: for about three minutes, with pauses of 3, 6, 12 … seconds.
``--max-retries`` changes it."""
MOST_BYTES = 1 << 24
"""The size of a reply, unpacked."""
MENDED = "replies_made_valid_unicode"
"""Where a sample's store counts the replies that were not valid."""
_LIMITS = GenerateConfig(
    max_retries=MAX_RETRIES, attempt_timeout=TRY_SECONDS, timeout=2 * TRY_SECONDS
)
_MALFORMED = (TypeError, ValueError, LookupError, AttributeError, AssertionError)
_MOST_OF_AN_ERROR = 2000  # characters; Inspect shows errors in time that is quadratic
_MOST_TAGS = 50  # Inspect reads <think> in time that is quadratic
_MOST_CHOICES = 64
_MOST_TOKENS = 10_000_000  # of a reply or a prompt
_NO_QUOTA = re.compile("insufficient_quota|billing_hard_limit_reached")
_READ_SECONDS = 600  # the SDKs' default for a single read
_LOGGERS = ("httpx", "httpx2", "inspect_ai.model._providers.util.hooks")
"""Loggers of addresses, which Inspect's traces have."""
_turns: dict[str, Turns] = {}
"""Name of a model → the turns of its requests."""
_waited: ContextVar[float] = ContextVar("waited", default=0.0)


class ReplyError(RuntimeError):
    """A server's reply cannot be used, and would be the same again."""


class MalformedReplyError(Exception):
    """A server's reply cannot be read; another one may."""


class NoReplyError(Exception):
    """The model has not replied in all tries; the message has the last error."""


def open_door(model: Model) -> None:
    """Guard a model's provider; a second call changes nothing."""
    api: Any = model.api
    if isinstance(api.generate, _Door):
        return
    secrets = {**model.model_args, "base_url": api.base_url}
    if str(api.api_key) not in str(model):  # servers that need no key get the name of a provider
        secrets["api_key"] = api.api_key
    remember(secrets)
    model.config = _LIMITS.merge(model.config)
    turns = _turns.setdefault(str(model), Turns(partial(_say_rate, str(model))))
    api.generate = _Door(api, turns)
    should_retry = api.should_retry
    api.should_retry = lambda error: isinstance(error, MalformedReplyError) or should_retry(error)
    usual = api.retry_wait() or wait_exponential_jitter(multiplier=3, max=30 * 60, jitter=3)
    api.retry_wait = lambda: _Pause(api, turns, usual)


class _Door:
    """A provider's method `generate`."""

    def __init__(self, api: Any, turns: Turns) -> None:
        self._api = api
        self._turns = turns
        self._generate = api.generate

    async def __call__(self, *arguments: Any, **options: Any) -> Any:
        config = options.get("config") or arguments[-1]
        remember(config.model_dump(include={"extra_headers", "extra_body"}))
        self._bound_replies()
        sent = self._turns.send()
        try:
            answer = await self._generate(*arguments, **options)
        except Exception as error:
            failure = self._failure(error, sent)
            if failure is error:
                raise
            raise failure from None
        self._turns.answer()
        parts = answer if isinstance(answer, tuple) else (answer,)
        if isinstance(parts[0], ModelOutput) and not options.get("tools"):
            for choice in parts[0].choices:
                choice.message.tool_calls = None
        has_failed = isinstance(parts[0], Exception)
        clean = tuple(self._clean(part, as_error=has_failed) for part in parts)
        return clean if isinstance(answer, tuple) else clean[0]

    def _bound_replies(self) -> None:
        for client in _http_clients(self._api):
            if _read_bounded not in client.event_hooks["response"]:
                client.event_hooks["response"].append(_read_bounded)
                client.headers["accept-encoding"] = "gzip"

    def _failure(self, error: Exception, sent: float) -> BaseException:
        """An error as it is raised: without secrets, and as that of a malformed reply if it is."""
        if refusal := _refusal(self._api, error):
            self._turns.refuse(sent, refusal.retry_after)
        cause = error.__cause__
        clean = _clean_error(cause if isinstance(cause, ReplyError) else error)
        # Errors of the command line are those of baselines, which cannot answer the task.
        if isinstance(error, _MALFORMED) and not isinstance(error, click.ClickException):
            why = str(clean) or "it is no completion"
            return MalformedReplyError(f"{type(error).__name__}: {why}")
        return clean

    def _clean(self, part: Any, *, as_error: bool = False) -> Any:
        """A reply, a record of the call or an error, without what cannot be logged; an error's
        message quotes the call.
        """
        if isinstance(part, Exception):
            return _clean_error(part)
        fields = part.model_dump(warnings=False)
        if fields.get("choices") == []:
            raise MalformedReplyError("it has no choices")
        valid = valid_unicode(fields)
        if valid != fields:
            store().set(MENDED, store().get(MENDED, 0) + 1)
        if as_error:
            valid = _clean(valid)
        return part if valid == fields else type(part).model_validate(valid)


class _Pause(wait_base):
    """How long a request waits after a failure; a refusal for the rate is none."""

    def __init__(self, api: Any, turns: Turns, usual: Any) -> None:
        self._api = api
        self._turns = turns
        self._usual = usual

    def __call__(self, retry_state: RetryCallState) -> float:
        retry_state.start_time += _waited.get()
        _waited.set(0.0)
        error = retry_state.outcome and retry_state.outcome.exception()
        if error and self._turns.are_kept and _refusal(self._api, error):
            retry_state.attempt_number -= 1
            return 0.0  # its turn comes later
        return float(self._usual(retry_state))


def _refusal(api: Any, error: BaseException) -> Any:
    """Inspect's `RetryDecision` if a server refuses a request for its rate."""
    decision = api.should_retry(error)
    is_of_rate = getattr(decision, "kind", "") == "rate_limit"
    is_spent = _NO_QUOTA.search(f"{error} {getattr(error, 'body', '')}")
    return decision if is_of_rate and not is_spent else None


def _clean_error(error: BaseException) -> BaseException:
    """An error as valid Unicode without secrets, with the errors behind it."""
    link: BaseException | None = error
    seen = set()  # an error may be its own context
    while link and id(link) not in seen:
        seen.add(id(link))
        link.args = tuple(_clean(value) for value in link.args)
        for name, value in vars(link).items():
            if isinstance(value, str | dict):
                setattr(link, name, _clean(value))
        link = link.__cause__ or link.__context__
    text = str(error)
    clean = _clean(text)
    return error if text == clean else RuntimeError(f"{type(error).__name__}: {clean}")


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        clean = scrub(str(valid_unicode(value)))
        left_out = len(clean) - _MOST_OF_AN_ERROR
        return f"{clean[:_MOST_OF_AN_ERROR]}… (and {left_out} more)" if left_out > 0 else clean
    return json.loads(scrub(json.dumps(value))) if isinstance(value, dict) else value


def _http_clients(api: Any) -> Iterator[Any]:
    """The clients of httpx that a provider sends by, also those within an SDK's client."""
    for holder in vars(api).values():
        within = getattr(holder, "_client", None)
        yield from (client for client in (holder, within) if hasattr(client, "event_hooks"))
        if within and hasattr(holder, "max_retries"):
            holder.max_retries = 0  # Inspect repeats requests
            if getattr(holder.timeout, "read", 0) == _READ_SECONDS:
                holder.timeout = type(holder.timeout)(TRY_SECONDS, connect=holder.timeout.connect)


async def _read_bounded(response: Any) -> None:
    """Have a client read a response of bounded size; a whole reply is mended."""
    if response.has_redirect_location and response.status_code not in (307, 308):
        raise ReplyError(
            f"the server sends the request elsewhere (HTTP {response.status_code}, "
            f"{response.headers['location']}); give the address that answers as base_url"
        )
    flavor = sys.modules[type(response).__module__.partition(".")[0]]  # httpx or httpx2
    source = response.stream
    parts = _unpacked(source, response.headers.pop("content-encoding", ""))
    if "event-stream" not in response.headers.get("content-type", ""):
        content = b"".join([part async for part in parts])
        await source.aclose()
        response.stream = flavor.ByteStream(_mended(content))
    else:
        response.stream = type(
            "Bounded",
            (flavor.AsyncByteStream,),
            {"__aiter__": lambda _: parts, "aclose": lambda _: source.aclose()},
        )()


async def _unpacked(source: Any, packing: str) -> AsyncIterator[bytes]:
    """The parts of a response; ReplyError above `MOST_BYTES`."""
    if packing not in ("", "identity", "gzip"):
        raise ReplyError(f"the server's reply is packed as {packing}, which nobody asked for")
    unpack = zlib.decompressobj(31) if packing == "gzip" else None
    left = MOST_BYTES
    async for packed in source:
        try:
            part = unpack.decompress(packed, left + 1) if unpack else packed
        except zlib.error as error:
            raise ReplyError(f"the server's reply cannot be unpacked: {error}") from None
        left -= len(part)
        if left < 0:
            raise ReplyError(f"the server's reply has more than {MOST_BYTES >> 20} MB")
        yield part


def _mended(content: bytes) -> bytes:
    """A completion with text in the place of text parts, without odd counts of tokens, and with
    bounded numbers of choices and tags.
    """
    try:
        reply = json.loads(content)
        reply["choices"] = reply["choices"][:_MOST_CHOICES]
        for choice in reply["choices"]:
            message = choice["message"]
            text = message.get("content")
            if isinstance(text, list):
                text = "".join(str(part.get("text", "")) for part in text)
            if text:
                *kept, last = text.split("<think", _MOST_TAGS)
                message["content"] = "<think".join([*kept, last.replace("<think", "")])
        if not _are_counts(reply.get("usage")):
            reply["usage"] = None
        return json.dumps(reply).encode()
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return content  # the provider says what is wrong


def _are_counts(usage: Any) -> bool:
    """Whether numbers of tokens can be those of a reply, or are not stated."""
    if isinstance(usage, dict):
        return all(_are_counts(value) for name, value in usage.items() if "tokens" in name)
    return usage is None or (isinstance(usage, int) and 0 <= usage <= _MOST_TOKENS)


def _say_rate(model: str, rate: float) -> None:
    """Say that a server limits the rate, and how long the rest of the samples takes."""
    from inspect_ai._control.eval_state import get_eval_states

    samples = sum(state.total - state.terminal for state in get_eval_states())
    minutes = samples / rate
    rest = f"{minutes * 60:.0f} seconds" if minutes < 2 else f"{minutes:.0f} minutes"
    rich.get_console().print(
        f"{model}: the server limits requests, to about {rate:.0f} a minute. No sample is lost; at "
        f"a request per sample, the {samples} samples left take {rest}.",
        style="yellow",
        markup=False,
        highlight=False,
    )


def _clean_record(record: logging.LogRecord) -> bool:
    record.msg = scrub(record.getMessage())
    record.args = ()
    return True


class BeforeRequest(Hooks):
    """Makes a request greedy, and has it wait for its turn."""

    def enabled(self) -> bool:
        """Whether it is needed; an enabled hook costs Inspect time in every sample."""
        return "transformers" in sys.modules or any(turns.are_kept for turns in _turns.values())

    async def on_before_model_generate(self, data: BeforeModelGenerate) -> None:
        """Replace a temperature of 0, and wait."""
        if data.model_name.startswith("hf/") and data.config.temperature == 0:
            data.config.temperature = None
            data.config.top_p = None
            data.config.top_k = 1
        if turns := _turns.get(data.model_name):
            _waited.set(_waited.get() + await turns.wait())


@cache
def install() -> None:
    """Have Inspect ask models through the door, and log no secrets.

    Inspect prints registered hooks at the start of every command, so this is for when a task or
    scorer is made.
    """
    from inspect_ai._util import json as inspect_json
    from inspect_ai.model._model import ModelGenerateError

    inspect_writer: Any = inspect_json
    to_json = inspect_writer.to_json
    inspect_writer.to_json = lambda *arguments, **options: scrub(
        to_json(*arguments, **options).decode()
    ).encode()

    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_clean_record)

    hooks(name="requests", description="sends requests as fast as the server takes them")(
        BeforeRequest
    )
    generate = Model.generate

    @wraps(generate)
    async def guarded(model: Model, *arguments: Any, **options: Any) -> ModelOutput:
        open_door(model)
        try:
            return await generate(model, *arguments, **options)
        except ModelGenerateError as error:  # its message has the whole request, which the log has
            if error.provider_message:
                error.args = (_clean(error.provider_message),)
            raise
        except RetryError as error:
            tries = error.last_attempt.attempt_number
            cause = error.last_attempt.exception()
            inner = cause and cause.__cause__
            why = f" ({type(inner).__name__}: {inner})" if inner else ""
            message = f"no reply in {tries} tries: {type(cause).__name__}: {cause}{why}"
            raise NoReplyError(message) from cause

    model_class: Any = Model
    model_class.generate = guarded
