"""What servers may send: no try is without an end, and no reply without a bound; refusals for the
rate lose nothing; no secret is in a file.
"""

import gzip
import json
import time
from pathlib import Path
from threading import Lock
from zipfile import ZipFile

import inspect_ai._util.zipfile  # noqa: F401 - teaches zipfile how logs are packed
import pytest
from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig, get_model
from tenacity import wait_fixed

from music_evals.evals.muse import chord_quality
from music_evals.scorers.judge import judged
from music_evals.solvers import door
from tests.commands.cli import run as command
from tests.harness import run, samples
from tests.scorers.test_judge import BATCH, REPLY, found, saying
from tests.solvers.raw_server import completion, raw_server

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setenv("RAW_API_KEY", "key-in-the-environment")
    monkeypatch.setattr(door, "wait_exponential_jitter", lambda **_: wait_fixed(0.1))
    monkeypatch.setattr(door, "_turns", {})


def model_at(address, **arguments):
    return get_model("openai-api/raw/m", base_url=f"http://{address}", memoize=False, **arguments)


def task():
    return chord_quality(modality="midi", strategy="standalone")


def asked(answer, folder, **options):
    with raw_server(answer) as address:
        return asked_at(address, folder, **options)


def asked_at(address, folder, **options):
    defaults = {"limit": 1, "fail_on_error": False}
    return run(task(), folder, model_at(address), **(defaults | options))[0]


def error_of(log):
    (sample,) = samples(log)
    assert sample.error
    return sample.error.message


def drip(request):
    request.write(OK + b"Content-Length: 1000000\r\n\r\n{")
    request.repeat(b" ")


def endless_headers(request):
    request.write(OK)
    request.repeat(b"X-More: 1\r\n")


def endless_continue(request):
    request.repeat(b"HTTP/1.1 100 Continue\r\n\r\n")


@pytest.mark.parametrize("answer", [drip, endless_headers, endless_continue])
def test_a_try_ends_though_the_server_never_does(answer, tmp_path):
    log = asked(answer, tmp_path, attempt_timeout=1, timeout=1)
    assert "no reply in 1 tries: AttemptTimeoutError" in error_of(log)


def test_a_try_is_long_enough_to_reason():
    model = model_at("localhost")
    door.open_door(model)
    config = model.config
    assert config.attempt_timeout == door.TRY_SECONDS > 10 * 60
    assert config.timeout == 2 * door.TRY_SECONDS


def packed(request):
    request.reply(gzip.compress(b" " * (1 << 20)), headers=(("Content-Encoding", "gzip"),))


def large(request):
    request.reply(b" " * (1 << 20))


def stream(request):
    request.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
    delta = {"index": 0, "delta": {"content": "A"}}
    chunk = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    request.repeat(f"data: {json.dumps({**chunk, 'choices': [delta]})}\n\n".encode() * 1_000)


@pytest.mark.parametrize("answer", [packed, large, stream])
def test_a_reply_has_a_bound_also_unpacked(answer, tmp_path, monkeypatch):
    monkeypatch.setattr(door, "MOST_BYTES", 1 << 19)
    with raw_server(answer) as address:
        model = model_at(address, stream=answer is stream)
        (log,) = run(task(), tmp_path, model, limit=1, fail_on_error=False)
    assert "the server's reply has more than 0 MB" in error_of(log)


def test_packed_replies_are_read(tmp_path):
    content = gzip.compress(json.dumps(completion("A")).encode())
    log = asked(
        lambda request: request.reply(content, headers=(("Content-Encoding", "gzip"),)), tmp_path
    )
    assert samples(log)[0].output.completion == "A"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (
            lambda request: request.reply({}, 302, (("Location", "/v1/chat/completions"),)),
            "the server sends the request elsewhere (HTTP 302, /v1/chat/completions)",
        ),
        (
            lambda request: request.reply(b"x", headers=(("Content-Encoding", "br"),)),
            "the server's reply is packed as br",
        ),
        (
            lambda request: request.reply(b"no gzip", headers=(("Content-Encoding", "gzip"),)),
            "the server's reply cannot be unpacked",
        ),
    ],
)
def test_what_no_second_try_changes_is_said_at_once(answer, error, tmp_path):
    assert error in error_of(asked(answer, tmp_path))


def test_text_parts_are_text(tmp_path):
    parts = [{"type": "text", "text": "Answer: "}, {"type": "text", "text": "A"}, {"type": "x"}]
    log = asked(lambda request: request.reply(completion(parts)), tmp_path)
    assert samples(log)[0].output.completion == "Answer: A"


def reply_of(change):
    """A completion after a change of its message."""
    reply = completion("Answer: A")
    change(reply["choices"][0]["message"])
    return reply


def test_calls_of_tools_that_nobody_gave_are_no_question(tmp_path):
    function = {"name": "search", "arguments": '{"q": 1}'}
    call = {"id": "x", "type": "function", "function": function}
    requests = []

    def answer(request):
        requests.append(request.body)
        request.reply(reply_of(lambda message: message.update(content=None, tool_calls=[call])))

    log = asked(answer, tmp_path)
    assert len(requests) == 1
    assert samples(log)[0].output.completion == ""


def test_errors_are_short_and_without_the_request(tmp_path):
    error = json.dumps({"error": {"message": "A" * 200_000}}).encode()
    log = asked(lambda request: request.reply(error, 400), tmp_path)
    message = error_of(log)
    assert "400" in message
    assert len(message) < 3000
    assert "Request:" not in message


def test_tags_and_choices_are_bounded(tmp_path):
    reply = completion("<think>" * 40_000 + "Answer: A")
    reply["choices"] += completion()["choices"] * 50_000
    log = asked(lambda request: request.reply(reply), tmp_path)
    output = samples(log)[0].output
    assert output.completion.endswith("Answer: A")
    assert len(output.choices) == 64
    assert output.completion.count("<think") == 50


def test_a_reply_that_is_no_completion_is_repeated(tmp_path):
    log = asked(lambda request: request.reply(b"data: {}", 200), tmp_path, max_retries=1)
    assert "no reply in 2 tries: MalformedReplyError" in error_of(log)


@pytest.mark.parametrize("count", [10**30, -1, "many", 1.5, float("nan")])
def test_odd_counts_of_tokens_are_unknown(count, tmp_path):
    usage = {"prompt_tokens": count, "completion_tokens": 1, "total_tokens": 10}
    log = asked(lambda request: request.reply(completion(usage=usage)), tmp_path)
    assert samples(log)[0].output.usage is None
    assert log.stats.model_usage == {}


class Limited:
    """A server that takes one request in so many seconds, and refuses the others."""

    def __init__(self, seconds, **headers):
        self.seconds, self.headers = seconds, tuple(headers.items())
        self.lock, self.next, self.refused, self.answered = Lock(), 0.0, 0, 0

    def __call__(self, request):
        with self.lock:
            takes = time.monotonic() >= self.next
            if takes:
                self.next = time.monotonic() + self.seconds
            self.refused += not takes
            self.answered += takes
        if takes:
            request.reply(completion("1" if "judge" in request.body["model"] else "A"))
        else:
            request.reply({"error": {"message": "slower"}}, 429, self.headers)


@pytest.mark.parametrize("headers", [{}, {"Retry-After": "1"}])
def test_a_limit_of_the_rate_loses_no_sample(headers, tmp_path):
    server = Limited(0.05, **headers)
    log = asked(server, tmp_path, limit=40, max_connections=40, max_retries=0)
    assert [sample.error for sample in samples(log)] == [None] * 40
    assert server.answered == 40
    assert server.refused > 0


def test_a_server_that_refuses_everything_ends_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr("music_evals.solvers.turns._FIRST", 0.2)
    log = asked(lambda request: request.reply({}, 429), tmp_path, max_retries=1)
    assert "no reply in 2 tries: RateLimitError" in error_of(log)


def test_spent_quota_is_a_failure(tmp_path):
    requests = []

    def answer(request):
        requests.append(request)
        error = {"message": "You exceeded your quota", "code": "insufficient_quota"}
        request.reply({"error": error}, 429)

    assert "no reply in 1 tries" in error_of(asked(answer, tmp_path, max_retries=0))
    assert len(requests) == 1


def judged_at(address, folder, monkeypatch, **options):
    """The questions of a sample that a judge at an address marks."""
    monkeypatch.setenv("RAW_BASE_URL", f"http://{address}")
    facts = {"questions": BATCH, "score_id": "s1"}
    sample = Sample(input="?", target="", id="s1", metadata=facts)
    model = get_model("scripted/model", reply=saying(REPLY), memoize=False)
    judge = f"openai-api/raw/judge-{folder.name}"  # Inspect keeps models by their names
    task = Task(dataset=[sample], scorer=judged([judge]))
    (log,) = run(task, folder, model, **options)
    return found(log).metadata["questions"]


def test_a_judge_that_fails_says_why_in_words(tmp_path, monkeypatch):
    with raw_server(lambda request: request.reply({}, 500)) as address:
        questions = judged_at(address, tmp_path, monkeypatch, max_retries=1)
    (why,) = questions[1]["abstained"].values()
    assert "NoReplyError: no reply in" in why
    assert "tries: InternalServerError: Error code: 500" in why


def test_a_judge_waits_for_its_turn(tmp_path, monkeypatch):
    with raw_server(Limited(0.3)) as address:
        questions = judged_at(address, tmp_path, monkeypatch)
    assert [question["verdict"] for question in questions] == [1, 1, 1]


SECRETS = {
    "in the address": "canary-01-address",
    "in a header": "canary-02-header",
    "in another header": "canary-03-custom",
    "in the query": "canary-04-query",
    "in a header of the settings": "canary-05-settings",
    "in the environment": "key-in-the-environment",
}


def echo(request):
    """Reply with all that was sent, in an error or as text, in turn."""
    said = f"You sent {request.path} {dict(request.headers)} {json.dumps(request.body)}"
    echo.calls = getattr(echo, "calls", 0) + 1  # type: ignore[attr-defined]
    status = (200, 401, 400)[echo.calls % 3]  # type: ignore[attr-defined]
    request.reply(completion(said) if status == 200 else {"error": {"message": said}}, status)


def texts(folder):
    """The text of all files in a folder, also of those within logs."""
    parts = []
    for path in filter(Path.is_file, folder.rglob("*")):
        if path.suffix == ".eval":
            with ZipFile(path) as log:
                parts += map(log.read, log.namelist())
        parts.append(path.read_bytes())
    return b"\n".join(parts).decode(errors="replace")


def test_no_secret_is_in_a_log(tmp_path):
    with raw_server(echo) as address:
        model = model_at(
            f"me:{SECRETS['in the address']}@{address}",
            default_headers={
                "x-api-key": SECRETS["in a header"],
                "X-Mine": SECRETS["in another header"],
            },
            default_query={"api_key": SECRETS["in the query"]},
            config=GenerateConfig(extra_headers={"X-Own": SECRETS["in a header of the settings"]}),
        )
        (log,) = run(task(), tmp_path, model, limit=6, fail_on_error=False)
    errors = [sample for sample in samples(log) if sample.error]
    assert len(errors) == 4
    text = texts(tmp_path)
    assert "You sent" in text
    assert {place: text.count(secret) for place, secret in SECRETS.items()} == dict.fromkeys(
        SECRETS, 0
    )


def test_a_site_takes_no_log_with_a_secret(tmp_path):
    logs = tmp_path / "logs"
    with raw_server(lambda request: request.reply(completion("A"))) as address:
        log = asked_at(address, logs)
    path = Path(log.location.removeprefix("file://"))
    with ZipFile(path, "a") as archive:
        archive.writestr("samples/more.json", '{"address": "http://me:canary-07@host"}')
    code, output = command("report", logs, "--site", tmp_path / "site")
    assert code == 1
    assert f"{path.name} (samples/more.json) holds a password in an address" in output
    assert "canary-07" not in output
    assert not (tmp_path / "site").exists()
