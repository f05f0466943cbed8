"""Secrets by their place, form and use; what is none stays."""

import json

import pytest

from music_evals.notation import secrets
from music_evals.notation.secrets import kind_of_secret, remember, scrub


@pytest.fixture(autouse=True)
def unused(monkeypatch):
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
        "https://host/v1?n=1&key=long-canary#x",
        "Authorization: Basic canary",
        '{"default_headers": {"X-Mine": "canary", "X-Other": "canary"}}',
    ],
)
def test_secrets_in_their_places(text):
    clean = scrub(text)
    assert "canary" not in clean
    assert secrets.HIDDEN in clean
    if text.startswith('{"'):
        json.loads(clean)
    if "X-Mine" not in text:
        assert kind_of_secret(text) in secrets._PLACES
    assert kind_of_secret(clean) is None


@pytest.mark.parametrize(
    "text",
    [
        '{"key": "C major", "max_tokens": 12, "token": "B", "password": 12, "cookie": null}',
        "The secret: G. See https://host/v1?key=c&mode=dorian or write to me@host.",
        "data:audio/wav;base64,UklGRiQAAABXQVZFZm10IBAAAAABAAEA",
    ],
)
def test_what_is_no_secret_stays(text):
    assert scrub(text) == text
    assert kind_of_secret(text) is None


def test_secrets_in_use_are_hidden_anywhere(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "canary-0001")
    monkeypatch.setenv("SOME_TOKEN_FILE", "/canary/0002")
    headers = {"X-Mine": "canary-0003", "X-Title": "canary-title", "Cookie": "canary-0005"}
    remember({"base_url": "http://me:canary%2D0006@host", "default_headers": headers})
    text = (
        "".join(f" canary-000{number}" for number in range(1, 8))
        + " canary-title bWU6Y2FuYXJ5LTAwMDY="
    )
    assert scrub(text) == " *** canary-0002 *** canary-0004 *** *** canary-0007 canary-title ***"
    assert kind_of_secret("a canary-0001") == "the value of SOME_API_KEY"
