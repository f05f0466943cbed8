"""What goes wrong between this machine and the Hub, in plain words and never with the token in them."""

import re
from collections.abc import Iterator
from typing import Final

from huggingface_hub import get_token
from huggingface_hub.errors import (  # type: ignore[attr-defined]
    HfHubHTTPError,
    HTTPError,  # of httpx or httpx2, as the client's version has it
    RepositoryNotFoundError,
)

LOG_IN: Final = "log in with `hf auth login`, or set HF_TOKEN"
TRANSPORT_ERRORS: Final = (HTTPError, OSError)  # what the client raises where the Hub refuses or cannot be reached
_TOKEN: Final = re.compile(r"[!-~]+")
_HIDDEN: Final = "(the token)"


def token_problem() -> str | None:
    """Say why the token cannot be one, if so: asked first, because the HTTP client's own error quotes the token."""
    token = get_token()
    if token is None or _TOKEN.fullmatch(token):
        return None
    return f"the token for the Hub holds characters that no token has; {LOG_IN}"


def explain(error: BaseException, repo: str) -> str:
    """Say in one message, without the token, what an error of the client means.

    >>> explain(ConnectionError("unreachable"), "ORG/muse")
    'ORG/muse: the connection failed: unreachable; run it again, what has arrived is kept'
    """
    token = get_token()
    return _message(error, repo).replace(token or _HIDDEN, _HIDDEN)


def _message(error: BaseException, repo: str) -> str:
    causes = list(_causes(error))
    refused = next((cause for cause in causes if isinstance(cause, HfHubHTTPError)), None)
    if refused is None:
        transport = next((cause for cause in causes if isinstance(cause, TRANSPORT_ERRORS)), None)
        if transport is None:
            return f"{repo}: {error}"
        what = str(transport) or type(transport).__name__
        return f"{repo}: the connection failed: {what}; run it again, what has arrived is kept"
    said = " ".join((refused.server_message or "").split()) or f"status {refused.response.status_code}"
    match refused.response.status_code:
        case 401 if not isinstance(refused, RepositoryNotFoundError):
            return f"{repo}: the Hub does not accept the token ({said}); {LOG_IN}"
        case 401 | 404 if isinstance(refused, RepositoryNotFoundError):
            return f"the Hub has no repository {repo}, or you have no access to it; if it is private, {LOG_IN}"
        case 403:
            return f"{repo}: the Hub refuses access ({said}); with a token that may write there, {LOG_IN}"
        case 409 | 412:
            return f"{repo}: somebody else has changed it meanwhile ({said}); nothing was published, run it again"
        case 413 | 507:
            return f"{repo}: the Hub has no room for it ({said}); nothing was published"
        case _:
            return f"{repo}: the Hub refused ({said})"


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        yield at
        at = at.__cause__ or at.__context__
