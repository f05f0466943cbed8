"""Keys, tokens and passwords: which text holds one, and texts without them.

`scrub` is for whatever a run writes; `find_secret` checks what is to be published. A secret is
known by its place (a password in an address, a header or field of such a name), by its form (the
tokens of some services), or because it was used: the value of an environment variable, or what
`remember` was given.
"""

import json
import os
import re
from base64 import b64encode
from collections.abc import Iterator
from urllib.parse import unquote

HIDDEN = "***"  # in the place of a secret

_NAMES = (
    *("api_key", "api-key", "apikey", "access_key", "access-key", "private_key", "subscription-key"),
    *("authorization", "cookie", "credential", "credentials", "passwd", "password", "secret"),
    *("access_token", "access-token", "api_token", "auth_token", "auth-token", "hf_token"),
    *("refresh_token", "session_token", "session-token"),
)
"""Ends of names of fields and headers."""
_NAME = "|".join(_NAMES)
_PLACES = {
    "a password in an address": re.compile(
        r"(?P<head>://)(?P<secret>(?!\*)[^/\s\"'\\<>@]+)(?P<tail>@)"
    ),
    "the value of a field that has a secret's name": re.compile(
        rf"(?P<head>(?:{_NAME})(\\*[\"'])\s*:\s*\2(?:bearer |basic )?)"
        r"(?P<secret>(?!\*)[^\"'\\]+)(?P<tail>)",
        re.IGNORECASE,
    ),
    "a secret behind its name": re.compile(
        rf"(?P<head>(?:{_NAME})\s?[:=]\s?(?:bearer |basic )?)"
        r"(?P<secret>(?!\*)[^\s\"'\\&,;<>]{6,})(?P<tail>)",
        re.IGNORECASE,
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
_VARIABLE = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$")
_SHORTEST = 8  # characters of a text that is a secret wherever it is
_used: set[str] = set()


def remember(text: str) -> None:
    """Take the secrets of a text that are in their places, such as a provider's arguments as JSON:
    from now on `scrub` takes them out wherever they are.
    """
    for secret in {match["secret"] for _, match in _matches(text)}:
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
            text = place.sub(rf"\g<head>{HIDDEN}\g<tail>", text)
    return _HEADERS.sub(
        lambda match: match[1] + _HEADER_VALUE.sub(rf':\1"{HIDDEN}"', match[2]), text
    )


def _matches(text: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield what is at the place of a secret, with its kind."""
    in_address, *behind_names = _PLACES.items()
    lower = text.lower()
    has_name = any(name in lower for name in _NAMES)
    for kind, place in [in_address, *behind_names * has_name]:
        for match in place.finditer(text):
            yield kind, match


def find_secret(text: str, others: dict[str, str]) -> str:
    """Return the kind of secret that a text holds; an empty text if it holds none.

    Args:
        text: the text.
        others: kind of secret → a further secret.
    """
    return next(_kinds(text, others), "")


def _kinds(text: str, others: dict[str, str]) -> Iterator[str]:
    named = {f"the value of {name}": value for name, value in _variables().items()}
    used = dict.fromkeys(_used, "a secret of a model's server")
    for kind, value in {**named, **others}.items():
        if len(value) >= _SHORTEST and value in text:
            yield kind
    yield from (kind for value, kind in used.items() if value in text)
    if match := _TOKEN.search(text):
        yield f"what looks like a token or key ({match[1] or 'PRIVATE KEY'}…)"
    yield from (kind for kind, _ in _matches(text))


def _variables() -> dict[str, str]:
    """Environment variables whose names say that their values are secret."""
    return {
        name: value
        for name, value in os.environ.items()
        if len(value) >= _SHORTEST and _VARIABLE.search(name) and not value.startswith("/")
    }
