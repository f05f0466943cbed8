"""Secrets by their place, form and use; what is none stays."""

import json

import pytest

from music_evals.notation import secrets
from music_evals.notation.secrets import SecretError, check_text, remember, scrub


@pytest.fixture(autouse=True)
def unused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_used", set())


@pytest.mark.parametrize(
    "text",
    [
        "http://me:canary@host/v1",
        "s3://canary@host/v1",
        '{"api_key": "canary"}',
        "{'x-api-key': 'canary'}",
        '{"headers": {"Authorization": "Bearer canary"}}',
        json.dumps({"message": json.dumps({"password": "canary"})}),
        "https://host/v1?api_key=canary&n=1",
        "Authorization: Basic canary",
        '{"default_headers": {"X-Mine": "canary", "X-Other": "canary"}}',
    ],
)
def test_secrets_in_their_places(text: str) -> None:
    clean = scrub(text)
    assert "canary" not in clean
    assert secrets.HIDDEN in clean
    if text.startswith('{"'):
        json.loads(clean)
    if "X-Mine" not in text:
        with pytest.raises(SecretError, match=r"^run\.json holds .*; rename it$"):
            check_text(text, "run.json", "rename it")
    check_text(clean, "run.json", "")


@pytest.mark.parametrize(
    "text",
    [
        '{"key": "C major", "max_tokens": 12, "token": "B", "password": 12, "cookie": null}',
        "The secret: G. See https://host/v1?key=c&mode=dorian or write to me@host.",
        "data:audio/wav;base64,UklGRiQAAABXQVZFZm10IBAAAAABAAEA",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert scrub(text) == text
    check_text(text, "", "")


def test_secrets_in_use_are_hidden_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "canary-0001")
    monkeypatch.setenv("SOME_TOKEN_FILE", "/canary/0002")
    headers = {"X-Mine": "canary-0003", "X-Title": "canary-0004", "Cookie": "canary-0005"}
    remember({"base_url": "http://me:canary%2D0006@host", "default_headers": headers})
    text = "".join(f" canary-000{number}" for number in range(1, 8)) + " bWU6Y2FuYXJ5LTAwMDY="
    assert scrub(text) == " *** canary-0002 *** canary-0004 *** *** canary-0007 ***"
    with pytest.raises(SecretError, match="holds the value of SOME_API_KEY"):
        check_text("a canary-0001", "x", "")
