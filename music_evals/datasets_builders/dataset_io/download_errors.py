"""Errors of downloads and of the Hub's client, each as one line that says what to do, without the
user's token.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from errno import ENOSPC
from urllib.request import getproxies

import httpx

from music_evals.datasets_builders.dataset_io.provenance import DatasetError

_LOG_IN = "log in with `hf auth login`, or set HF_TOKEN"
_CHANGED = (
    "somebody else has changed the repository meanwhile; nothing was published, run the command "
    "again"
)
_ADVICE = {
    401: _LOG_IN,
    403: f"with a token that may write there, {_LOG_IN}",
    409: _CHANGED,
    412: _CHANGED,
}
_REFUSALS = dict.fromkeys((404, 410), "it is gone, or the address is wrong")


@contextmanager
def plain_errors(place: str, disk_advice: str = "") -> Iterator[None]:
    """Turn errors of a download or of the Hub's client into a DatasetError that begins with
    `place`, such as an address or the repository's name.

    `disk_advice` is said after an error of the file system.
    """
    # Here, because the Hub's client takes half a second to load.
    from huggingface_hub import get_token
    from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined]

    try:
        yield
    except DatasetError:
        raise
    except (HTTPError, httpx.HTTPError, OSError, RuntimeError, ValueError) as error:
        # A failed upload.
        cause = error.__cause__ if isinstance(error, RuntimeError) and error.__cause__ else error
        message, token = f"{place}: {_explain(cause, disk_advice)}", get_token()
        raise DatasetError(message.replace(token, "(the token)") if token else message) from None


def _explain(error: BaseException, disk_advice: str) -> str:
    from huggingface_hub.errors import (  # type: ignore[attr-defined]
        GatedRepoError,
        HfHubHTTPError,
        HTTPError,  # of httpx or httpx2, as the client's version has it
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    match error:
        case GatedRepoError():
            return (
                f"the repository is gated; accept its terms on its page of the Hub, then {_LOG_IN}"
            )
        case RepositoryNotFoundError():
            return (
                "the Hub has no such repository, or you have no access to it; if it is private, "
                f"{_LOG_IN}"
            )
        case RevisionNotFoundError():
            return "the Hub has no such branch, tag or commit"
        case LocalEntryNotFoundError() | OfflineModeIsEnabled():
            return "it is not in the local cache and the Hub cannot be reached"
        case HfHubHTTPError():
            status = error.response.status_code
            reason = " ".join((error.server_message or f"status {status}").split())
            return f"the Hub refused ({reason}); {_ADVICE.get(status, 'try again later')}"
        case httpx.HTTPStatusError():
            status = error.response.status_code
            reason = _REFUSALS.get(status, "the server refused")
            return f"{reason} (status {status})"
        case HTTPError() | httpx.HTTPError():
            return connection_problem(error)
        case OSError():
            return disk_problem(error) + disk_advice
        case UnicodeEncodeError():
            return f"the token of the Hub has a character that no token has; {_LOG_IN}"
    return str(error)


def disk_problem(error: OSError) -> str:
    """Say what to do about an error of the file system."""
    return "the disk is full" if error.errno == ENOSPC else str(error)


def connection_problem(error: BaseException) -> str:
    """Say that a connection failed, why, and by which proxy."""
    proxies = sorted(
        {address for name, address in getproxies().items() if name in ("http", "https", "all")}
    )
    by_proxy = f" by the proxy {', '.join(map(_without_password, proxies))}" if proxies else ""
    reason = " ".join(str(error).split()) or type(error).__name__
    return (
        f"the connection{by_proxy} failed ({reason:.200}); run the command again, it goes on where "
        "it stopped"
    )


def _without_password(address: str) -> str:
    before, _, host = address.rpartition("@")
    return f"{before.partition('://')[0]}://{host}" if before else address
