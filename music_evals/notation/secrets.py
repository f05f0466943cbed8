"""Keys, tokens and passwords: which text holds one, and texts without them.

`scrub` is for whatever a run writes; `kind_of_secret` is for what is published. A secret is known
by its place (a password in an address, a field or header of such a name), by its form (the tokens
of some services), or because it is in use: the value of an environment variable, or what `remember`
was given.
"""

import json
import os
import re
from base64 import b64encode
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

HIDDEN = "***"  # in the place of a secret

_NAME = (
    "api_key|api-key|apikey|access_key|access-key|private_key|private-key|subscription_key"
    "|subscription-key|authorization|cookie|credential|passwd|credentials|password|secret"
    "|access_token|access-token|api_token|auth_token|auth-token|hf_token|refresh_token"
    "|session_token|session-token"
)
"""Ends of names of fields and headers whose values are hidden in any text."""
_PLACES = {
    "a password in an address": re.compile(r"(?P<head>://)(?P<secret>(?!\*)[^/\s\"'\\<>@]+)(?=@)"),
    "a key in the query of an address": re.compile(
        r"(?P<head>[?&](?:key|token|sig|signature|code)=)(?P<secret>(?!\*)[^&#\s\"'\\<>]{8,})"
    ),
    "the value of a field with the name of a secret": re.compile(
        rf"(?i)(?P<head>(?:{_NAME})(\\*[\"'])\s*:\s*\2(?:bearer |basic )?)"
        r"(?P<secret>(?!(?:bearer |basic )?\*)[^\"'\\]+)",
    ),
    "a secret behind its name": re.compile(
        rf"(?i)(?P<head>(?:{_NAME})\s?[:=]\s?(?:bearer |basic )?)"
        r"(?P<secret>(?!(?:bearer |basic )?\*)(?:(?<=basic )|(?<=bearer )|(?=\S{6}))"
        r"[^\s\"'\\&,;<>]+)",
    ),
}
"""Kind of secret → where it is in a text."""
_HEADERS = re.compile(r"(\"(?:default|extra)_headers\"\s*:\s*\{)([^{}]*)(?=\})")
_HEADER_VALUE = re.compile(r":(\s*)\"(?:[^\"\\]|\\.)*\"")
# Tokens of the Hub, OpenAI and Anthropic, GitHub, GitLab, AWS, Google and Slack; and private keys.
_TOKEN = re.compile(
    r"(?<![A-Za-z0-9])(hf_|api_org_|sk-|gh[pousr]_|github_pat_|glpat-|AKIA|ASIA|AIza|xox[a-z]-)[\w-]{16,}"
    r"|-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY"
)
_SECRET_NAME = re.compile(r"(?i)(key|token|secret|passw(or)?d|credentials?|authorization|cookie)$")
_SHORTEST = 8  # characters of a text that is hidden wherever it is
_used: set[str] = set()


class SecretError(ValueError):
    """A text that is to be published holds a secret; the message has the place and the kind."""


def is_secret_name(name: str) -> bool:
    """Whether a value of this name is a secret, in arguments or in the environment.

    Example:
        >>> is_secret_name("x-api-key"), is_secret_name("max_tokens")
        (True, False)
    """
    return _SECRET_NAME.search(name) is not None


def remember(value: Any, name: str = "") -> None:
    """Take the secrets in the arguments of a provider: from now on `scrub` hides them in any text.

    Args:
        value: arguments by name, at any depth. In a text, what is in the place of a secret is
            secret, and all of it if its name is that of a secret, or it is a header with a digit.
        name: of the value.
    """
    if isinstance(value, dict):
        for key, item in value.items():
            hides = name.endswith("headers") and re.search(r"\d", str(item))
            remember(item, f"{key}_key" if hides else str(key))
    elif isinstance(value, str):
        secrets = {match["secret"] for _, match in _matches(value)}
        if is_secret_name(name):
            secrets.add(value.rpartition(" ")[2])  # behind Bearer or Basic
        for secret in secrets:
            plain = unquote(secret)
            encoded = b64encode(plain.encode()).decode() if ":" in plain else ""
            forms = {secret, plain, encoded, secret.rpartition(":")[2], plain.rpartition(":")[2]}
            _used.update(form for form in forms if len(form) >= _SHORTEST)


def scrub(text: str) -> str:
    """Return a text without secrets; JSON stays valid.

    Example:
        >>> scrub('{"base_url": "http://me:pw@host/v1", "api-key": "abc", "key": "C major"}')
        '{"base_url": "http://***@host/v1", "api-key": "***", "key": "C major"}'
    """
    for secret in sorted({*_used, *_variables().values()}, key=len, reverse=True):
        text = text.replace(secret, HIDDEN).replace(json.dumps(secret)[1:-1], HIDDEN)
    if any(True for _ in _matches(text)):
        for place in _PLACES.values():
            text = place.sub(rf"\g<head>{HIDDEN}", text)
    return _HEADERS.sub(
        lambda match: match[1] + _HEADER_VALUE.sub(rf':\1"{HIDDEN}"', match[2]), text
    )


def kind_of_secret(text: str) -> str | None:
    """Return what kind of secret a text holds; None without one."""
    for name, value in _variables().items():
        if value in text:
            return f"the value of {name}"
    if match := _TOKEN.search(text):
        return f"what looks like a token or key ({match[1] or 'PRIVATE KEY'}…)"
    return next((kind for kind, _ in _matches(text)), None)


def _matches(text: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield what is at the place of a secret, with its kind."""
    in_address, in_query, *behind_names = _PLACES.items()
    lower = text.lower()
    has_name = any(name in lower for name in _NAME.split("|"))
    for kind, place in [in_address, in_query, *behind_names * has_name]:
        for match in place.finditer(text):
            yield kind, match


def _variables() -> dict[str, str]:
    """Environment variables with secrets; not those with the path of a file."""
    return {
        name: value
        for name, value in os.environ.items()
        if len(value) >= _SHORTEST and is_secret_name(name) and not value.startswith("/")
    }
